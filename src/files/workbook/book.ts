import { shorten } from '../../model/control-characters.js';
import { columnName } from '../table/cell-range.js';
import type { ByteSink } from '../table-sink.js';
import { createStyles, type Look, type Styles } from './styles.js';
import {
  CELL_CHARACTERS,
  escapeXml,
  listElement,
  MAIN_NAMESPACE,
  RELATIONS_NAMESPACE,
  textElement,
  XML_HEADER,
} from './xml.js';
import { createZipWriter, type WriteText } from './zip.js';

/** UTF-16 units of XML that are handed on at once. */
const PIECE = 64 * 1024;

/** Points of a row of one line. */
export const LINE_HEIGHT = 15;

/** Notes of a sheet; beyond them cells have their look alone. A note is held in memory until its sheet is whole. */
const MOST_NOTES = 100_000;

/** What a sheet is before its first row. */
export interface SheetHead {
  /** As `sheetName` and `uniqueName` make it. */
  readonly name: string;
  readonly hidden?: boolean;
  /** Widths of the columns in characters, and the look of their blank cells. */
  readonly columns?: readonly { readonly width: number; readonly look?: Look }[];
  /**
   * Rows and columns that stay where they are. `first`: the 0-based column that is shown beside them when the sheet is
   * opened; the next one unless stated.
   */
  readonly frozen?: {
    readonly rows: number;
    readonly columns?: number;
    readonly first?: number;
  };
}

/** The list that cells of a range offer. */
export interface DataValidation {
  readonly range: string;
  /** The values that may be chosen: `"a,b"`, or the name of a list. */
  readonly values: string;
  /** What is said where the rule is broken, and whether the value may be kept; nothing is said, and all is taken, without. */
  readonly error?: { readonly style: 'stop' | 'warning'; readonly title: string; readonly text: string };
}

/** A sheet while its rows are written, and what stands behind them. */
export class SheetWriter {
  /** The range that is filtered, and whose numbers in text cells are no mistake: its heading first. */
  filtered: string | undefined;
  readonly validations: DataValidation[] = [];
  readonly notes: Note[] = [];
  #piece = '';

  constructor(readonly write: WriteText) {}

  /** Adds a row of cells; numbers ascend. Wait for what it returns before the next one. */
  row(number: number, cells: string, height?: number): Promise<unknown> | undefined {
    this.#piece += `<row r="${number}"${height === undefined ? '' : ` ht="${height}" customHeight="1"`}>${cells}</row>`;
    return this.#piece.length >= PIECE ? this.flush() : undefined;
  }

  async flush(): Promise<void> {
    await this.write(this.#piece);
    this.#piece = '';
  }

  /** A note on the cell at a row and a 0-based column, where the sheet has room for it. */
  note(row: number, column: number, text: string, title = ''): void {
    if (this.notes.length < MOST_NOTES) this.notes.push({ row, column, text: text.slice(0, NOTE_CHARACTERS), title });
  }
}

export type BookWriter = Awaited<ReturnType<typeof createBook>>;

interface Part {
  readonly name: string;
  readonly hidden: boolean;
  readonly notes: boolean;
}

const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * Writes a workbook in one pass, sheet by sheet. Holds its looks, its lists and the notes of one sheet; nothing grows with
 * the rows. The same content gives the same bytes: no time of writing is in it. `names`: of the sheets that will follow.
 */
export async function createBook(sink: ByteSink, names: readonly string[]) {
  const zip = createZipWriter(sink);
  const styles = createStyles();
  const part = (name: string, text: string) => zip.part(name, (write) => write(text));
  const sheets: Part[] = [];
  const lists: { readonly title: string; readonly values: readonly string[]; readonly name: string | undefined }[] = [];
  const listSheet = uniqueName('Lists', names);

  /** Writes one sheet; those that are shown stand in the order in which they are written. */
  async function sheet(head: SheetHead, fill: (sheet: SheetWriter) => Promise<void>): Promise<void> {
    const number = sheets.length + 1;
    let notes: readonly Note[] = [];
    await zip.part(`xl/worksheets/sheet${number}.xml`, async (write) => {
      await write(sheetStart(head, styles, number === 1));
      const writer = new SheetWriter(write);
      await fill(writer);
      await writer.flush();
      await write(sheetEnd(writer));
      notes = writer.notes;
    });
    sheets.push({ name: head.name, hidden: head.hidden ?? false, notes: notes.length > 0 });
    if (notes.length === 0) return;
    const relations = [
      ['vmlDrawing', `../drawings/vmlDrawing${number}.vml`],
      ['comments', `../comments${number}.xml`],
    ] as const;
    await part(`xl/worksheets/_rels/sheet${number}.xml.rels`, relationsPart(relations));
    await zip.part(`xl/comments${number}.xml`, (write) => writeComments(notes, write));
    await zip.part(`xl/drawings/vmlDrawing${number}.vml`, (write) => writeNoteShapes(notes, head, write));
  }

  // First what tells programs that the file is a workbook.
  await part('_rels/.rels', relationsPart([['officeDocument', 'xl/workbook.xml']]));
  return {
    styles,
    sheet,
    /** Puts values on the hidden sheet of lists, as a column with a title. Returns the formula that means them. */
    list(title: string, values: readonly string[], name?: string): string {
      lists.push({ title, values, name });
      return name ?? listRange(listSheet, lists.length - 1, values.length);
    },
    /** Writes what is left; nothing may follow. */
    async end(): Promise<void> {
      if (lists.length > 0) {
        const style = styles.of({ format: '@' });
        await sheet({ name: listSheet, hidden: true }, async (to) => {
          for (let row = 0; row <= Math.max(...lists.map(({ values }) => values.length)); row++) {
            const texts = lists.map(({ title, values }) => (row === 0 ? title : values[row - 1]));
            const cells = texts.map((text, at) =>
              text === undefined ? '' : textCell(`${columnName(at)}${row + 1}`, text, style),
            );
            await to.row(row + 1, cells.join(''));
          }
        });
      }
      const ranges = lists.flatMap(({ name, values }, at) =>
        name === undefined ? [] : [[name, listRange(listSheet, at, values.length)] as const],
      );
      await part('xl/styles.xml', styles.part());
      await part('xl/workbook.xml', bookPart(sheets, ranges));
      const relations = sheets.map((_, i) => ['worksheet', `worksheets/sheet${i + 1}.xml`] as const);
      await part('xl/_rels/workbook.xml.rels', relationsPart([...relations, ['styles', 'styles.xml']]));
      await part('[Content_Types].xml', contentTypesPart(sheets));
      await zip.end();
    },
  };
}

const listRange = (sheet: string, at: number, values: number) =>
  `${quotedName(sheet)}!$${columnName(at)}$2:$${columnName(at)}$${values + 1}`;

/** A text cell of a sheet that is not written by the million. */
export function textCell(reference: string, text: string, style: number): string {
  return text === ''
    ? `<c r="${reference}" s="${style}"/>`
    : `<c r="${reference}" s="${style}"${textElement(shorten(text, CELL_CHARACTERS))}`;
}

// Sheets

interface Note {
  readonly row: number;
  readonly column: number;
  readonly text: string;
  readonly title: string;
}

function sheetStart(head: SheetHead, styles: Styles, first: boolean): string {
  const cols = (head.columns ?? []).map(({ width, look }, i) => {
    const style = look === undefined ? '' : ` style="${styles.of(look)}"`;
    return `<col min="${i + 1}" max="${i + 1}" width="${width}"${style} customWidth="1"/>`;
  });
  const { columns: frozenColumns = 0, first: firstColumn = frozenColumns } = head.frozen ?? {};
  const view =
    (first ? ' tabSelected="1"' : '') +
    (frozenColumns === 0 && firstColumn > 0 ? ` topLeftCell="${columnName(firstColumn)}1"` : '') +
    ' workbookViewId="0"';
  return (
    `${XML_HEADER}<worksheet xmlns="${MAIN_NAMESPACE}" xmlns:r="${RELATIONS_NAMESPACE}">` +
    `<sheetViews><sheetView${view}>${panes(head)}</sheetView></sheetViews>` +
    `<sheetFormatPr defaultRowHeight="${LINE_HEIGHT}"/>` +
    (cols.length > 0 ? `<cols>${cols.join('')}</cols>` : '') +
    '<sheetData>'
  );
}

function panes({ frozen }: SheetHead): string {
  if (!frozen) return '';
  const { rows, columns = 0, first = columns } = frozen;
  const corner = `${columnName(first)}${rows + 1}`;
  const active = columns === 0 ? 'bottomLeft' : 'bottomRight';
  const split = columns === 0 ? '' : ` xSplit="${columns}"`;
  const pane = `<pane${split} ySplit="${rows}" topLeftCell="${corner}" activePane="${active}" state="frozen"/>`;
  const others = columns === 0 ? '' : '<selection pane="topRight"/><selection pane="bottomLeft"/>';
  return `${pane}${others}<selection pane="${active}" activeCell="${corner}" sqref="${corner}"/>`;
}

/** What follows the rows; programs insist on this order. */
function sheetEnd({ filtered, validations, notes }: SheetWriter): string {
  return (
    '</sheetData>' +
    (filtered === undefined ? '' : `<autoFilter ref="${filtered}"/>`) +
    listElement('dataValidations', validations.map(validationElement)) +
    // Without it a program marks every id and serial number as a number stored as text.
    (filtered === undefined
      ? ''
      : `<ignoredErrors><ignoredError sqref="${filtered}" numberStoredAsText="1"/></ignoredErrors>`) +
    (notes.length > 0 ? '<legacyDrawing r:id="rId1"/>' : '') +
    '</worksheet>'
  );
}

/** Characters of what is said of a cell, and of its title. */
const [RULE, RULE_TITLE] = [225, 32];

function validationElement({ range, values, error }: DataValidation): string {
  const message =
    error &&
    ` errorStyle="${error.style}" showErrorMessage="1" errorTitle="${escapeXml(shorten(error.title, RULE_TITLE))}" error="${escapeXml(shorten(error.text, RULE))}"`;
  return (
    `<dataValidation type="list" allowBlank="1"${message ?? ''} ` +
    `sqref="${range}"><formula1>${escapeXml(values)}</formula1></dataValidation>`
  );
}

// Notes

const NOTE_CHARACTERS = 2_000;

/** Pixels of a note, of a row, and of a column beyond the table. */
const NOTE_WIDTH = 290;
const ROW_HEIGHT = 20;
const OTHER_COLUMN = 64;
/** Characters of a line of a note of that width. */
const LINE_CHARACTERS = 44;
/** Shapes that one number of a drawing stands for. */
const SHAPES = 1_024;
/** Notes that are handed on at once. */
const NOTES_PIECE = 500;

async function inPieces(notes: readonly Note[], write: WriteText, of: (note: Note, at: number) => string) {
  for (let from = 0; from < notes.length; from += NOTES_PIECE) {
    const piece = notes.slice(from, from + NOTES_PIECE);
    await write(piece.map((note, i) => of(note, from + i)).join(''));
  }
}

/** The part `xl/commentsN.xml`. */
async function writeComments(notes: readonly Note[], write: WriteText): Promise<void> {
  const run = (text: string, bold: string) =>
    `<r><rPr>${bold}<sz val="9"/><rFont val="Calibri"/></rPr><t xml:space="preserve">${escapeXml(text)}</t></r>`;
  await write(
    `${XML_HEADER}<comments xmlns="${MAIN_NAMESPACE}"><authors><author>rowferry</author></authors><commentList>`,
  );
  await inPieces(notes, write, ({ row, column, text, title }) => {
    const head = title === '' ? '' : run(`${title}\n`, '<b/>');
    return `<comment ref="${columnName(column)}${row}" authorId="0"><text>${head}${run(text, '')}</text></comment>`;
  });
  await write('</commentList></comments>');
}

/** The drawing that says where the notes appear, in the only form that spreadsheet programs take it in. */
async function writeNoteShapes(notes: readonly Note[], head: SheetHead, write: WriteText): Promise<void> {
  const ids = Array.from({ length: Math.ceil((notes.length + 1) / SHAPES) }, (_, i) => i + 1).join(',');
  await write(
    '<xml xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" ' +
      'xmlns:x="urn:schemas-microsoft-com:office:excel">' +
      `<o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="${ids}"/></o:shapelayout>` +
      '<v:shapetype id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">' +
      '<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>',
  );
  await inPieces(
    notes,
    write,
    (note, i) =>
      `<v:shape id="_x0000_s${SHAPES + 1 + i}" type="#_x0000_t202" style="position:absolute;visibility:hidden" ` +
      'fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/><v:shadow on="t" color="black" obscured="t"/>' +
      '<v:path o:connecttype="none"/><v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div></v:textbox>' +
      `<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>${anchor(note, head)}</x:Anchor>` +
      `<x:AutoFill>False</x:AutoFill><x:Row>${note.row - 1}</x:Row><x:Column>${note.column}</x:Column></x:ClientData></v:shape>`,
  );
  await write('</xml>');
}

/** Column and pixel of the left edge, row and pixel of the top, the same of right and bottom: large enough for the text. */
function anchor({ row, column, text, title }: Note, { columns = [] }: SheetHead): string {
  let right = column + 1;
  let left = NOTE_WIDTH;
  for (; ; right++) {
    const width = columns[right]?.width;
    // Pixels of a column at the usual size of a character.
    const room = width === undefined ? OTHER_COLUMN : Math.trunc(width * 7) + 5;
    if (left <= room) break;
    left -= room;
  }
  const lines = [...(title === '' ? [] : [title]), ...text.split('\n')].reduce(
    (sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_CHARACTERS)),
    0,
  );
  const top = Math.max(row - 1, 0);
  const rows = Math.min(Math.ceil((lines * LINE_HEIGHT + 14) / ROW_HEIGHT), 20);
  return `${column + 1}, 8, ${top}, 6, ${right}, ${left}, ${top + rows}, 6`;
}

// Names

const LONGEST = 31;

/** At most 31 characters, none of `[]:*?/\`, no apostrophe at either end, and not a name that programs keep for themselves. */
export function sheetName(title: string): string {
  const clean = title
    .replace(/[[\]:*?/\\\p{Cc}\ufffe\uffff\p{Surrogate}]/gu, ' ')
    .trim()
    .slice(0, LONGEST)
    .replace(/\p{Surrogate}$/u, '')
    .replace(/^['\s]+|['\s]+$/g, '');
  return clean === '' || clean.toLowerCase() === 'history' ? 'Table' : clean;
}

/** `name`, or with a number where a sheet of another's name would be meant. Case makes no difference to programs. */
export function uniqueName(name: string, existing: readonly string[]): string {
  const used = new Set(existing.map((one) => one.toLowerCase()));
  let free = name;
  for (let number = 2; used.has(free.toLowerCase()); number++) free = `${name.slice(0, LONGEST - 5)} (${number})`;
  return free;
}

/** The name as formulas write it. */
function quotedName(name: string): string {
  return `'${name.replaceAll("'", "''")}'`;
}

// The package

/** A part `_rels/….rels`; the relations are `rId1`, `rId2`, … in order. */
function relationsPart(relations: readonly (readonly [type: string, target: string])[]): string {
  const items = relations.map(([type, target], i) => {
    return `<Relationship Id="rId${i + 1}" Type="${RELATIONS_NAMESPACE}/${type}" Target="${target}"/>`;
  });
  return `${XML_HEADER}<Relationships xmlns="${PACKAGE}/relationships">${items.join('')}</Relationships>`;
}

/** `xl/workbook.xml`: `rIdN` is sheet N. */
function bookPart(sheets: readonly Part[], ranges: readonly (readonly [name: string, range: string])[]): string {
  const sheetElements = sheets.map(
    ({ name, hidden }, i) =>
      `<sheet name="${escapeXml(name)}" sheetId="${i + 1}"${hidden ? ' state="hidden"' : ''} r:id="rId${i + 1}"/>`,
  );
  const names = ranges.map(([name, range]) => `<definedName name="${name}">${escapeXml(range)}</definedName>`);
  return (
    `${XML_HEADER}<workbook xmlns="${MAIN_NAMESPACE}" xmlns:r="${RELATIONS_NAMESPACE}"><workbookPr/>` +
    '<bookViews><workbookView xWindow="0" yWindow="0" windowWidth="28800" windowHeight="15000" activeTab="0"/></bookViews>' +
    `<sheets>${sheetElements.join('')}</sheets>${names.length > 0 ? `<definedNames>${names.join('')}</definedNames>` : ''}</workbook>`
  );
}

/** `[Content_Types].xml` */
function contentTypesPart(sheets: readonly Part[]): string {
  const override = (part: string, type: string) => `<Override PartName="/${part}" ContentType="${type}"/>`;
  const parts = sheets.flatMap(({ notes }, i) => [
    override(`xl/worksheets/sheet${i + 1}.xml`, `${TYPE}.worksheet+xml`),
    ...(notes ? [override(`xl/comments${i + 1}.xml`, `${TYPE}.comments+xml`)] : []),
  ]);
  return (
    `${XML_HEADER}<Types xmlns="${PACKAGE}/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Default Extension="xml" ContentType="application/xml"/>' +
    (sheets.some(({ notes }) => notes)
      ? '<Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>'
      : '') +
    override('xl/workbook.xml', `${TYPE}.sheet.main+xml`) +
    override('xl/styles.xml', `${TYPE}.styles+xml`) +
    `${parts.join('')}</Types>`
  );
}
