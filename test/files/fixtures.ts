import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterAll } from 'vitest';
import { csvEncoder } from '../../src/files/csv/write.js';
import { encodeText } from '../../src/files/encoding/encoding.js';
import type { SourceLimits } from '../../src/files/limits.js';
import { openSource } from '../../src/files/open.js';
import { RunError } from '../../src/model/error.js';
import type { SheetRow } from '../../src/model/row.js';
import type { OpenSource, SourceOptions } from '../../src/model/source.js';

/** A folder of this test file, removed at its end, and a writer of files in it. */
export async function scratch(): Promise<{
  folder: string;
  file: (name: string, content: Buffer | string) => Promise<string>;
}> {
  const folder = await mkdtemp(join(tmpdir(), 'rowferry-files-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return {
    folder,
    async file(name, content) {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
  };
}

/** Writes rows as a CSV file; of a Unicode encoding with a byte order mark where that is wanted. */
export async function writeCsv(
  path: string,
  rows: readonly (readonly string[])[],
  style: { readonly encoding?: string; readonly delimiter?: string; readonly newline?: string },
  bom = false,
): Promise<void> {
  const { encoding = 'utf-8' } = style;
  const mark = bom && encoding.startsWith('utf-') ? encodeText('\ufeff', encoding) : Buffer.alloc(0);
  await writeFile(path, Buffer.concat([mark, csvEncoder(style)(rows)]));
}

export async function allRows(source: OpenSource): Promise<SheetRow[]> {
  const rows: SheetRow[] = [];
  for await (const batch of source.rows()) rows.push(...batch);
  return rows;
}

export async function read(path: string, options: SourceOptions = {}, limits: Partial<SourceLimits> = {}) {
  const source = await openSource(path, options, limits);
  return { meta: source.meta, rows: await allRows(source) };
}

/** The RunError an action ends in. */
export async function refusal(action: Promise<unknown>): Promise<RunError> {
  const result = await action.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (result instanceof RunError) return result;
  throw new Error(`expected a RunError, got ${result === undefined ? 'success' : String(result)}`);
}

export interface ZipPart {
  readonly name: string;
  readonly data: Buffer | string;
  readonly stored?: boolean;
  /** Sizes and checksum as the headers state them, where they are to lie. */
  readonly statedSize?: number;
  readonly statedCrc?: number;
  readonly flags?: number;
  /** Sizes and checksum behind the data (a data descriptor), none in the header before it. */
  readonly descriptor?: boolean;
  /** Sizes in the 64-bit extra field of the directory. */
  readonly zip64?: boolean;
  /** The compression method as the headers state it. */
  readonly statedMethod?: number;
  /** The data of this other part, by its position: both entries point to the same bytes. */
  readonly shares?: number;
}

/** A zip file, byte by byte. `comment` stands at its end, as the header of it says. */
export function zipOf(parts: readonly ZipPart[], comment: Buffer | string = ''): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const part of parts) {
    const data = Buffer.from(part.data as string);
    const packed = part.stored ? data : deflateRawSync(data, { level: 6 });
    const name = Buffer.from(part.name, 'utf8');
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(part.zip64 ? 45 : 20, 0);
    fields.writeUInt16LE((part.flags ?? 0x0800) | (part.descriptor ? 8 : 0), 2);
    fields.writeUInt16LE(part.statedMethod ?? (part.stored ? 0 : 8), 4);
    fields.writeUInt16LE(0x21, 8);
    fields.writeUInt32LE(part.statedCrc ?? crc32(data), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(part.statedSize ?? data.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const sizes = Buffer.from(fields.subarray(10, 22));
    const head = Buffer.from(fields);
    if (part.descriptor) head.fill(0, 10, 22);
    const descriptor = part.descriptor ? Buffer.concat([Buffer.from('PK\x07\x08', 'latin1'), sizes]) : Buffer.alloc(0);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), head, name, packed, descriptor]);
    let extra = Buffer.alloc(0);
    if (part.zip64) {
      extra = Buffer.alloc(20);
      extra.writeUInt16LE(1, 0);
      extra.writeUInt16LE(16, 2);
      extra.writeBigUInt64LE(BigInt(part.statedSize ?? data.length), 4);
      extra.writeBigUInt64LE(BigInt(packed.length), 12);
      fields.fill(0xff, 14, 22);
      fields.writeUInt16LE(extra.length, 24);
    }
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(part.shares === undefined ? offset : offsets[part.shares]!, 10);
    centrals.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, tail, name, extra]));
    offsets.push(offset);
    if (part.shares !== undefined) continue;
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(centrals);
  const comments = Buffer.from(comment as string);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  end.writeUInt16LE(comments.length, 16);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06', 'latin1'), end, comments]);
}

export interface SheetSpec {
  readonly name?: string;
  readonly state?: string;
  /** What stands inside `<worksheet>`; plain `<row>`s are put into `<sheetData>`. */
  readonly xml: string;
}

export interface BookSpec {
  readonly sheets: readonly SheetSpec[];
  readonly strings?: string;
  /** Number format codes; style n+1 is the n-th of them, style 0 is General. */
  readonly formats?: readonly (string | number)[];
  readonly date1904?: boolean;
  readonly strict?: boolean;
  readonly prefix?: string;
  readonly extra?: readonly ZipPart[];
  readonly replace?: Readonly<Record<string, Partial<ZipPart>>>;
}

export const escapeXml = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);

/** The parts of a workbook with the least a workbook needs. */
export function bookParts(spec: BookSpec): ZipPart[] {
  const main = spec.strict
    ? 'http://purl.oclc.org/ooxml/spreadsheetml/main'
    : 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const rel = spec.strict
    ? 'http://purl.oclc.org/ooxml/officeDocument/relationships'
    : 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const p = spec.prefix ? `${spec.prefix}:` : '';
  const ns = `xmlns${spec.prefix ? `:${spec.prefix}` : ''}="${main}" xmlns:r="${rel}"`;
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
  const codes = (spec.formats ?? []).map((format, i) => (typeof format === 'number' ? format : 164 + i));
  const parts: ZipPart[] = [
    {
      name: '[Content_Types].xml',
      data: `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    },
    {
      name: '_rels/.rels',
      data: `${head}<Relationships xmlns="x"><Relationship Id="rId1" Type="${rel}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      data:
        `${head}<${p}workbook ${ns}><${p}workbookPr${spec.date1904 ? ' date1904="1"' : ''}/><${p}sheets>` +
        spec.sheets
          .map((sheet, i) => {
            const state = sheet.state ? ` state="${sheet.state}"` : '';
            return `<${p}sheet name="${escapeXml(sheet.name ?? `Sheet${i + 1}`)}" sheetId="${i + 1}"${state} r:id="s${i + 1}"/>`;
          })
          .join('') +
        `</${p}sheets></${p}workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data:
        `${head}<Relationships xmlns="x">` +
        spec.sheets
          .map((_, i) => `<Relationship Id="s${i + 1}" Type="${rel}/worksheet" Target="worksheets/sheet${i + 1}.xml"/>`)
          .join('') +
        `<Relationship Id="st" Type="${rel}/styles" Target="/xl/styles.xml"/>` +
        (spec.strings === undefined
          ? ''
          : `<Relationship Id="ss" Type="${rel}/sharedStrings" Target="sharedStrings.xml"/>`) +
        '</Relationships>',
    },
    {
      name: 'xl/styles.xml',
      data:
        `${head}<${p}styleSheet ${ns}><${p}numFmts>` +
        (spec.formats ?? [])
          .map((format, i) =>
            typeof format === 'string' ? `<${p}numFmt numFmtId="${164 + i}" formatCode="${escapeXml(format)}"/>` : '',
          )
          .join('') +
        `</${p}numFmts><${p}cellStyleXfs><${p}xf numFmtId="14"/></${p}cellStyleXfs><${p}cellXfs><${p}xf numFmtId="0"/>` +
        codes.map((id) => `<${p}xf numFmtId="${id}" applyNumberFormat="1"/>`).join('') +
        `</${p}cellXfs></${p}styleSheet>`,
    },
    ...spec.sheets.map((sheet, i) => ({
      name: `xl/worksheets/sheet${i + 1}.xml`,
      data:
        `${head}<${p}worksheet ${ns}>` +
        (/^<(?:\w+:)?row/.test(sheet.xml) || sheet.xml === ''
          ? `<${p}sheetData>${sheet.xml}</${p}sheetData>`
          : sheet.xml) +
        `</${p}worksheet>`,
    })),
    ...(spec.strings === undefined
      ? []
      : [{ name: 'xl/sharedStrings.xml', data: `${head}<${p}sst ${ns}>${spec.strings}</${p}sst>` }]),
    ...(spec.extra ?? []),
  ];
  return parts.map((part) => ({ ...part, ...spec.replace?.[part.name] }));
}

export function bookOf(spec: BookSpec): Buffer {
  return zipOf(bookParts(spec));
}

/** `<row>`s of inline strings, from row `first` on. */
export function textRows(rows: readonly (readonly string[])[], first = 1): string {
  return rows
    .map((cells, i) => {
      const row = first + i;
      const xml = cells.map((text, c) =>
        text === ''
          ? ''
          : `<c r="${columnLetters(c)}${row}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`,
      );
      return `<row r="${row}">${xml.join('')}</row>`;
    })
    .join('');
}

export function columnLetters(index: number): string {
  return (index >= 26 ? columnLetters(Math.floor(index / 26) - 1) : '') + String.fromCharCode(65 + (index % 26));
}
