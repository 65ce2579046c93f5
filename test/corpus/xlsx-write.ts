import type { ExpectedCell } from './corpus-file.js';
import type { Dialect } from './xlsx-dialects.js';
import type { ZipEntry } from './zip-bytes.js';

/** A cell of a workbook to be written, and what a person sees there. */
export interface BookCell {
  readonly kind: 'text' | 'number' | 'boolean' | 'error' | 'iso';
  /** The text, or what stands in `<v>`. */
  readonly raw: string;
  /** Number format: a code, or the number of a built-in one. */
  readonly code?: string | number;
  readonly formula?: string;
  /** A formula whose value was never stored. */
  readonly uncached?: boolean;
  /** The text in pieces of different style. */
  readonly rich?: boolean;
  readonly phonetic?: boolean;
  readonly shows: ExpectedCell;
}

/** `null` = no cell; `styled` = a cell that holds nothing. */
export type BookSlot = BookCell | null | 'styled';

export interface BookSheet {
  readonly name: string;
  readonly state?: 'hidden' | 'veryHidden';
  /** By row number, ascending. */
  readonly rows: readonly { readonly row: number; readonly cells: readonly BookSlot[]; readonly hidden?: boolean }[];
  readonly merges?: readonly string[];
  readonly columns?: string;
  /** Rows to stand behind the others, as they are. */
  readonly more?: string;
}

export interface Book {
  readonly sheets: readonly BookSheet[];
  readonly date1904?: boolean;
}

export const xmlEscape = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;')
    .replaceAll('\r', '&#13;');

/** Text as it stands between tags: a text that looks escaped is escaped once more. */
const sheetText = (text: string) => xmlEscape(text.replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_'));

export function letters(index: number): string {
  return (index >= 26 ? letters(Math.floor(index / 26) - 1) : '') + String.fromCharCode(65 + (index % 26));
}

/** The parts of a workbook in the spelling of a dialect. */
export function bookParts(book: Book, dialect: Dialect): ZipEntry[] {
  const p = dialect.prefix ? `${dialect.prefix}:` : '';
  const uri = dialect.strict
    ? {
        main: 'http://purl.oclc.org/ooxml/spreadsheetml/main',
        rel: 'http://purl.oclc.org/ooxml/officeDocument/relationships',
      }
    : {
        main: 'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
        rel: 'http://schemas.openxmlformats.org/officeDocument/2006/relationships',
      };
  const ns = `xmlns${dialect.prefix ? `:${dialect.prefix}` : ''}="${uri.main}" xmlns:r="${uri.rel}"`;
  const named = (xml: string) => (p === '' ? xml : xml.replace(/<(\/?)(?=\w)/g, `<$1${p}`));
  const codes: (string | number)[] = [];
  const strings: string[] = [];

  const sheets = book.sheets.map((sheet) => sheetXml(sheet, dialect, ns, named, styleOf, sharedOf));
  function styleOf(code: string | number | undefined): number {
    if (code === undefined) return 0;
    if (!codes.includes(code)) codes.push(code);
    return codes.indexOf(code) + 1;
  }
  function sharedOf(xml: string): number {
    const at = strings.indexOf(xml);
    return at >= 0 ? at : strings.push(xml) - 1;
  }
  const target = (name: string) =>
    dialect.targets === 'absolute' ? `/xl/${name}` : dialect.targets === 'dotted' ? `./../xl/${name}` : name;
  const relation = (id: string, type: string, name: string) =>
    `<Relationship Id="${id}" Type="${uri.rel}/${type}" Target="${name}"/>`;
  const package_ = 'http://schemas.openxmlformats.org/package/2006';
  const parts: [string, string][] = [
    ['[Content_Types].xml', contentTypes(book.sheets.length, strings.length > 0)],
    [
      '_rels/.rels',
      `<Relationships xmlns="${package_}/relationships">${relation('rId1', 'officeDocument', dialect.targets === 'absolute' ? '/xl/workbook.xml' : 'xl/workbook.xml')}</Relationships>`,
    ],
    [
      'xl/workbook.xml',
      named(
        `<workbook ${ns}><workbookPr${book.date1904 ? ' date1904="1"' : ''}/><bookViews><workbookView xWindow="0"/></bookViews><sheets>${book.sheets
          .map(
            ({ name, state }, i) =>
              `<sheet name="${xmlEscape(name)}" sheetId="${i + 3}"${state ? ` state="${state}"` : ''} r:id="rId${i + 1}"/>`,
          )
          .join('')}</sheets><calcPr calcId="191029"/></workbook>`,
      ),
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships xmlns="${package_}/relationships">${book.sheets.map((_, i) => relation(`rId${i + 1}`, 'worksheet', target(`worksheets/sheet${i + 1}.xml`))).join('')}${relation('rId90', 'styles', target('styles.xml'))}${strings.length > 0 ? relation('rId91', 'sharedStrings', target('sharedStrings.xml')) : ''}</Relationships>`,
    ],
    ['xl/styles.xml', named(stylesXml(codes, ns))],
    ...sheets.map((xml, i): [string, string] => [`xl/worksheets/sheet${i + 1}.xml`, xml]),
  ];
  if (strings.length > 0) {
    const all = strings.map((xml) => `<si>${xml}</si>`).join(dialect.pretty ? '\n  ' : '');
    parts.push([
      'xl/sharedStrings.xml',
      named(`<sst ${ns} count="${strings.length}" uniqueCount="${strings.length}">${all}</sst>`),
    ]);
  }
  if (dialect.order === 'reversed') parts.reverse();
  return parts.map(([name, xml]) => ({
    name: dialect.order === 'upper-case' && /sheet\d|styles/.test(name) ? name.replace('xl/w', 'XL/W') : name,
    data: (dialect.bom ? '\ufeff' : '') + dialect.declaration + xml,
  }));
}

function contentTypes(sheets: number, strings: boolean): string {
  const type = (name: string, kind: string) =>
    `<Override PartName="/xl/${name}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${kind}+xml"/>`;
  const all = Array.from({ length: sheets }, (_, i) => type(`worksheets/sheet${i + 1}.xml`, 'worksheet'));
  return (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    `<Default Extension="xml" ContentType="application/xml"/>${type('workbook.xml', 'sheet.main')}${type('styles.xml', 'styles')}${all.join('')}${strings ? type('sharedStrings.xml', 'sharedStrings') : ''}</Types>`
  );
}

function stylesXml(codes: readonly (string | number)[], ns: string): string {
  const ids = codes.map((code, i) => (typeof code === 'number' ? code : 164 + i));
  const own = codes.map((code, i) =>
    typeof code === 'string' ? `<numFmt numFmtId="${ids[i]}" formatCode="${xmlEscape(code)}"/>` : '',
  );
  return (
    `<styleSheet ${ns}><numFmts count="${own.filter((x) => x).length}">${own.join('')}</numFmts>` +
    '<fonts count="1"><font><sz val="11"/></font></fonts><cellStyleXfs count="1"><xf numFmtId="14" fontId="0"/></cellStyleXfs>' +
    `<cellXfs count="${ids.length + 1}"><xf numFmtId="0" fontId="0" xfId="0"/>${ids.map((id) => `<xf numFmtId="${id}" fontId="0" xfId="0" applyNumberFormat="1"><alignment horizontal="left"/></xf>`).join('')}</cellXfs>` +
    '<dxfs count="1"><dxf><numFmt numFmtId="170" formatCode="yyyy"/></dxf></dxfs></styleSheet>'
  );
}

function sheetXml(
  sheet: BookSheet,
  dialect: Dialect,
  ns: string,
  named: (xml: string) => string,
  styleOf: (code: string | number | undefined) => number,
  sharedOf: (xml: string) => number,
): string {
  const q = dialect.quote;
  const gap = dialect.pretty ? '\n    ' : '';
  const t = (text: string) =>
    `<t${/^\s|\s$|\n/.test(text) ? ` xml:space=${q}preserve${q}` : ''}>${sheetText(text)}</t>`;
  const textXml = (cell: BookCell) => {
    const cut = cell.rich ? Math.floor(cell.raw.length / 2) : 0;
    const whole =
      cut > 0
        ? `<r>${t(cell.raw.slice(0, cut))}</r><r><rPr><b/><sz val="11"/></rPr>${t(cell.raw.slice(cut))}</r>`
        : t(cell.raw);
    return cell.phonetic ? `${whole}<rPh sb="0" eb="1"><t>ナマエ</t></rPh><phoneticPr fontId="1"/>` : whole;
  };
  const cellXml = (cell: Exclude<BookSlot, null>, reference: string) => {
    const r = dialect.refs ? ` r=${q}${reference}${q}` : '';
    if (cell === 'styled') return `<c${r} s=${q}0${q}/>`;
    const style = styleOf(cell.code);
    const s = style > 0 || dialect.row(1, 1) !== '' ? ` s=${q}${style}${q}` : '';
    const type = (name: string) => ` t=${q}${name}${q}`;
    const f = cell.formula === undefined ? '' : `<f${dialect.formula}>${xmlEscape(cell.formula)}</f>`;
    if (cell.uncached) return `<c${r}${s}>${f}${dialect.name === 'openpyxl' ? '<v/>' : ''}</c>`;
    const v = `${f}<v>${xmlEscape(cell.raw)}</v>`;
    switch (cell.kind) {
      case 'text':
        if (f !== '' || (dialect.strings === 'str' && !cell.rich && !cell.phonetic)) {
          return `<c${r}${s}${type('str')}>${f}<v>${sheetText(cell.raw)}</v></c>`;
        }
        if (dialect.strings === 'inline') return `<c${r}${type('inlineStr')}${s}><is>${textXml(cell)}</is></c>`;
        return `<c${r}${s}${type('s')}><v>${sharedOf(textXml(cell))}</v></c>`;
      case 'number':
        return `<c${r}${s}${dialect.typed ? type('n') : ''}>${v}</c>`;
      case 'boolean':
        return `<c${r}${s}${type('b')}>${v}</c>`;
      case 'error':
        return `<c${r}${s}${type('e')}>${v}</c>`;
      case 'iso':
        return `<c${r}${s}${type('d')}>${v}</c>`;
    }
  };
  let before = 0;
  const rows = sheet.rows.map(({ row, cells, hidden }) => {
    // Without numbers a row is the one after the row before it, so the rows between are written empty.
    const between = dialect.rowRefs ? '' : '<row></row>'.repeat(row - before - 1);
    before = row;
    const slots = dialect.refs ? cells : cells.map((slot) => slot ?? 'styled');
    const xml = slots.map((slot, i) => (slot === null ? '' : gap + cellXml(slot, letters(i) + row))).join('');
    const number = dialect.rowRefs ? ` r=${q}${row}${q}` : '';
    return `${between}${gap}<row${number}${dialect.row(row, cells.length)}${hidden ? ` hidden=${q}1${q}` : ''}>${xml}${gap}</row>`;
  });
  const merges = (sheet.merges ?? []).map((range) => `<mergeCell ref="${range}"/>`).join('');
  const width = Math.max(1, ...sheet.rows.map(({ cells }) => cells.length));
  const dimension = dialect.dimension ? `<dimension ref="A1:${letters(width - 1)}${before || 1}"/>` : '';
  const columns = sheet.columns ?? '';
  const root = dialect.prefix ? '' : dialect.root;
  return named(
    `<worksheet ${ns}${root}>${dimension}${dialect.head}${columns}<sheetData>${rows.join('')}${sheet.more ?? ''}</sheetData>${merges ? `<mergeCells count="${sheet.merges!.length}">${merges}</mergeCells>` : ''}${dialect.foot}</worksheet>`,
  );
}
