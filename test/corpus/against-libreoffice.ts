import { join } from 'node:path';
import { openSource } from '../../src/files/open.js';
import { type Cell, displayText, isBlank } from '../../src/model/row.js';
import { type Comparison, explained, newComparison, unexplained } from './comparison.js';
import { csvFiles } from './csv-files.js';
import { xlsxFiles } from './xlsx-files.js';
import { READ } from './xlsx-read.js';
import { letters } from './xlsx-write.js';
import { unpackZip } from './zip-bytes.js';

/** LibreOffice and files, given by who has them (bench/differential.mjs): tests do not need it. */
export interface Office {
  /** Opens files and saves them in another form, in the folder `to`. */
  convert(paths: readonly string[], to: string, target: string, filter?: string): void;
  /** Records of a CSV file; undefined where there is none. */
  read(path: string): string[][] | undefined;
  write(path: string, bytes: Buffer): void;
}

/** Comma, quotation marks, UTF-8, texts quoted, cells as shown, every sheet in a file of its own. */
const AS_SHOWN = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true,true,false,false,-1';
const TWISTS = READ.filter(({ name }) => !/gzip|long-cell|far-cell|last-row|dimension|giant/.test(name));

/** Workbooks as LibreOffice shows them, against ours, cell by cell. */
export async function compareWorkbooks(
  seed: number,
  count: number,
  folder: string,
  office: Office,
): Promise<Comparison> {
  const comparison = newComparison();
  const files = xlsxFiles(seed, count, TWISTS, {})
    .filter(({ name }) => !name.includes('no-references'))
    .map((file, i) => ({ ...file, path: join(folder, `b${i}.xlsx`) }));
  for (const { path, bytes } of files) office.write(path, bytes);
  const shown = join(folder, 'shown');
  office.convert(
    files.map(({ path }) => path),
    shown,
    AS_SHOWN,
  );
  for (const [i, file] of files.entries()) {
    comparison.files++;
    const theirs = office.read(join(shown, `b${i}-Data & more.csv`));
    if (!theirs || theirs.every((record) => record.every((text) => text === ''))) {
      explained(comparison, 'libreoffice-finds-no-cells');
      continue;
    }
    const source = await openSource(file.path);
    const formulas = formulasOf(file.bytes);
    await compareRows(
      comparison,
      file.name,
      source.meta.header_row!,
      source.meta.headings,
      source.rows(),
      theirs,
      (cell, there, reference) => {
        const verdict = againstLibreOffice(cell, there);
        return verdict === undefined && formulas.has(reference) ? 'libreoffice-computes-formulas' : verdict;
      },
    );
  }
  return comparison;
}

/** Where formulas stand: LibreOffice computes them anew, whatever result the file holds. */
function formulasOf(bytes: Buffer): ReadonlySet<string> {
  const sheets = (unpackZip(bytes) ?? []).filter(({ name }) => /sheet\d+\.xml$/i.test(name));
  const cells = sheets.flatMap(({ data }) => [
    ...data.toString('utf8').matchAll(/<(?:x:)?c r=["']([A-Z]+\d+)["'][^>]*><(?:x:)?f/g),
  ]);
  return new Set(cells.map(([, reference]) => reference!));
}

type Judge = (cell: Cell | undefined, theirs: string, reference: string) => string | true | undefined;

async function compareRows(
  comparison: Comparison,
  name: string,
  headerRow: number,
  headings: readonly string[],
  batches: AsyncIterable<readonly { row: number; cells: readonly Cell[] }[]>,
  theirs: readonly (readonly string[])[],
  judge: Judge,
): Promise<void> {
  const ours = new Map<number, readonly Cell[]>([[headerRow, headings]]);
  for await (const batch of batches) for (const { row, cells } of batch) ours.set(row, cells);
  for (let row = headerRow; row <= Math.max(theirs.length, ...ours.keys()); row++) {
    for (let column = 0; column < headings.length; column++) {
      comparison.cells++;
      const cell = ours.get(row)?.[column];
      const text = theirs[row - 1]?.[column] ?? '';
      const verdict = judge(cell, text, `${letters(column)}${row}`);
      if (verdict === true) continue;
      if (verdict) explained(comparison, verdict);
      else
        unexplained(
          comparison,
          `${name} ${letters(column)}${row}: ${JSON.stringify(cell)}, there: ${JSON.stringify(text)}`,
        );
    }
  }
}

function againstLibreOffice(cell: Cell | undefined, theirs: string): ReturnType<Judge> {
  const shown = displayText(cell);
  if (shown === theirs || (isBlank(cell) && theirs.trim() === '')) return true;
  if (cell === undefined) return undefined;
  if (typeof cell === 'string') {
    if (cell.replaceAll('\r\n', '\n') === theirs.replaceAll('\r\n', '\n')) return true;
    if (cell.trim() === theirs.trim()) return 'libreoffice-trims-results';
    if (cell === theirs.replaceAll('_x005F_', '_')) return 'libreoffice-keeps-escapes';
    return undefined;
  }
  if (cell.t === 'f') return 'libreoffice-computes-formulas';
  if (cell.t === 'e') return /^(?:#|Err:)/.test(theirs) ? 'libreoffice-names-of-errors' : undefined;
  if (cell.t === 'b') return undefined;
  if (shown === theirs.trim()) return 'blanks-at-the-ends';
  if (cell.format === undefined)
    return Math.abs(Number(theirs) - Number(cell.value)) <= 1e-9 * Math.abs(Number(cell.value))
      ? 'general-shows-every-digit'
      : undefined;
  if (cell.format === 'mm-dd-yy') return 'short-date-as-iso';
  const plain = cell.format === 'm/d/yy h:mm' ? theirs.replace(/\/(?:19|20)(\d\d) /, '/$1 ') : theirs;
  if (plain === shown) return 'short-date-of-the-locale';
  if (cell.t === 'd' && minutesOf(shown) - minutesOf(plain) === 1) return 'libreoffice-cuts-seconds';
  if (cell.t === 'd' && cell.value < '1900-03-01') return 'libreoffice-days-before-march-1900';
  return undefined;
}

function minutesOf(text: string): number {
  const [, hour = '', minute = ''] = /(\d+):(\d\d)$/.exec(text) ?? [];
  return Number(hour) * 60 + Number(minute);
}

/** CSV files that LibreOffice opens as text and saves again. */
export async function compareCsv(seed: number, count: number, folder: string, office: Office): Promise<Comparison> {
  const comparison = newComparison();
  const good = csvFiles(seed, count * 4).filter(({ name }) => /good|duplicate|mixed|ragged-short/.test(name));
  const kinds = [',', ';', '\t', '|'].flatMap((delimiter) =>
    ['utf-8', 'windows-1252', 'utf-16le'].map((encoding) => ({ delimiter, encoding })),
  );
  for (const [k, { delimiter, encoding }] of kinds.entries()) {
    const files = good
      .filter(
        ({ expected }) =>
          'table' in expected &&
          expected.table.delimiter === delimiter &&
          expected.table.encoding === encoding &&
          expected.table.header_row === 1,
      )
      .slice(0, Math.ceil(count / 6))
      .map((file, i) => ({ ...file, path: join(folder, `c${k}-${i}.csv`), name: `${file.name}` }));
    if (files.length === 0) continue;
    for (const { path, bytes } of files) office.write(path, bytes);
    const to = join(folder, `csv${k}`);
    const charset = { 'utf-8': 76, 'windows-1252': 1, 'utf-16le': 65535 }[encoding];
    const text = Array.from({ length: 12 }, (_, i) => `${i + 1}/2`).join('/');
    office.convert(
      files.map(({ path }) => path),
      to,
      AS_SHOWN.replace(',-1', ',0'),
      `Text - txt - csv (StarCalc):${delimiter.charCodeAt(0)},34,${charset},1,${text}`,
    );
    for (const [i, file] of files.entries()) {
      comparison.files++;
      const theirs = office.read(join(to, `c${k}-${i}.csv`));
      if (!theirs) {
        unexplained(comparison, `${file.name}: LibreOffice saved nothing`);
        continue;
      }
      const { meta, rows } = await openSource(file.path);
      await compareRows(comparison, file.name, 1, meta.headings, rows(), theirs, (cell, there) =>
        againstText(displayText(cell), there),
      );
    }
  }
  return comparison;
}

function againstText(ours: string, theirs: string): ReturnType<Judge> {
  const same = (text: string) => text.replace(/\r\n?/g, '\n');
  if (same(ours) === same(theirs) || (ours.trim() === '' && theirs.trim() === '')) return true;
  // Its own file again goes through its own quoting, and tabs are what it makes of them in a cell.
  if (ours.replaceAll('\t', ' ') === theirs.replaceAll('\t', ' ')) return 'libreoffice-tabs';
  return undefined;
}
