import { writeAtomically } from '../files/atomic-write.js';
import { LACKS_KEY, LINE_KEY, markEscapedBytes, REVIEW_MARKER } from '../files/cell-faults.js';
import { csvEncoder } from '../files/csv/write.js';
import { encodeText, isEncodable } from '../files/encoding/encoding.js';
import { type JsonMember, jsonMembers, parseJsonLine } from '../files/ndjson.js';
import { createBook, sheetName } from '../files/workbook/book.js';
import { type BookColumn, type Mark, type MarkedRow, writeTableSheet } from '../files/workbook/table.js';
import type { Outcome } from '../model/outcome.js';
import { type Cell, displayText, type RowFault, type SheetRow } from '../model/row.js';
import type { SourceFormat, SourceMeta } from '../model/source.js';
import { faultsOf, issueSentence, REJECTED_COLUMNS, rejectedLine } from './report-lines.js';

/** A row that needs a person: as the file has it, and how it ended. */
export interface RejectedRow {
  readonly row: SheetRow;
  /** Absent in a copy of the file, which has none of our columns. */
  readonly outcome?: Outcome;
}

type ColumnsOf = (field: string) => readonly number[];

export interface RejectedOptions {
  readonly meta: SourceMeta;
  /** 0-based positions of the columns that a field is mapped from, for faults that name a field only. */
  readonly columnsOf?: ColumnsOf;
  /** What people may choose from in the column at a 0-based position. */
  readonly choicesOf?: (column: number) => readonly string[];
  /** 0-based positions of the columns that tell a row's record. */
  readonly keyColumns?: readonly number[];
  /** The job names the heading row by number, so the heading must stand in that row again. */
  readonly keepHeaderRow?: boolean;
  /** All rows, and none of our columns: the file as it was corrected. */
  readonly copy?: boolean;
  /** The job names the sheet by this number, so it must stand there again. */
  readonly sheetNumber?: number;
}

const OWN_COLUMNS: ReadonlySet<string> = new Set(REJECTED_COLUMNS);

/** Rows of an OpenDocument spreadsheet are written as .xlsx, which its programs open and which is read by the same job. */
export function rejectedName(format: SourceFormat, name = 'rejected'): string {
  return `${name}.${format === 'ods' ? 'xlsx' : format}`;
}

/**
 * Writes the rows that need a person in the form of the input: the original columns in their order with their original
 * text (duplicate and blank headings too), then `_row`, `_outcome`, `_codes`, `_message`. Columns of that name from an
 * earlier round are replaced.
 *
 * A row with more cells than headings keeps its surplus cells behind `_message`, without a heading: nothing is lost, and
 * the row stays ragged, so importing it unedited is refused again instead of dropping them. To correct it, move the
 * values where they belong and clear the surplus cells. A row with fewer cells gets blank ones, and behind `_message` a
 * cell that asks to be deleted once the row is right: until then it is ragged, too. So does a row whose quotation marks
 * could not be read with certainty. Bytes that are no text are spelled out behind U+FFFD, which is refused again. Of NDJSON each line keeps its members as they stand; a line that was refused
 * for its form carries `_line`, which is its text where it is no object, until somebody deletes it.
 *
 * CSV keeps delimiter (and the line that names it), line end, encoding and byte order mark. Characters of a message that the encoding lacks
 * come out as `?`; should a cell itself not fit, the whole file is UTF-8 with a byte order mark.
 * In a workbook the cells at fault are filled and carry the message as a note, columns with lists offer them, the key and
 * the reasons are in sight when it is opened, and a formula without a stored result is an error there, because it would be
 * worked out from other rows. `rows` may be called more than once.
 * Returns a warning for the summary where the file could not keep the input's form.
 */
export async function writeRejected(
  path: string,
  rows: () => AsyncIterable<readonly RejectedRow[]>,
  options: RejectedOptions,
): Promise<string | undefined> {
  if (options.meta.format === 'csv') return writeCsv(path, rows, options);
  const write = options.meta.format === 'ndjson' ? writeNdjson : writeXlsx;
  await write(path, rows(), options);
  return undefined;
}

/** Positions of the columns that are kept. */
function originalColumns({ meta: { headings }, copy }: RejectedOptions): number[] {
  return [...headings.keys()].filter((at) => copy || !OWN_COLUMNS.has((headings[at] ?? '').trim().toLowerCase()));
}

/** The headings of the columns that are added. */
const addedColumns = ({ copy }: RejectedOptions): readonly string[] => (copy ? [] : REJECTED_COLUMNS);

/** A row's cells in output order, with the four columns of ours. */
function outputCells(rejected: RejectedRow, kept: readonly number[], width: number, ours: readonly Cell[]): Cell[] {
  const { row } = rejected;
  const surplus = row.cells.slice(width).filter((cell) => cell !== REVIEW_MARKER);
  const originalCell = (at: number): Cell => {
    const text = row.faults?.find((one) => one.index === at && one.text)?.text ?? row.cells[at] ?? '';
    const hasEscapedBytes = row.faults?.some(({ code, index }) => index === at && code === 'invalid_encoding');
    return hasEscapedBytes && typeof text === 'string' ? markEscapedBytes(text) : text;
  };
  return [
    ...kept.map(originalCell),
    ...ours,
    ...(surplus.length === 0 && looksCorrected(rejected) ? [REVIEW_MARKER] : surplus),
  ];
}

/** Faults that are gone once the row is written: cells are filled up, quotation marks set right. */
const MENDED_FAULTS: ReadonlySet<string> = new Set<RowFault['code']>(['ragged_row', 'stray_quote']);

/** Whether the row, as it is written, would be taken for right. A fault in a column that is not imported is no reason. */
function looksCorrected({ row, outcome }: RejectedRow): boolean {
  if (!row.faults?.some(({ code }) => MENDED_FAULTS.has(code))) return false;
  const { issues = [] } = outcome ?? {};
  return issues.length === 0 || issues.some(({ code }) => MENDED_FAULTS.has(code));
}

/** Our four columns where cells have types: the row is a number. */
function ownCells(outcome: Outcome | undefined): Cell[] {
  if (!outcome) return [];
  const [row = '', ...texts] = rejectedLine(outcome);
  return [{ t: 'n', value: row, shown: row }, ...texts];
}

class NotEncodable extends Error {}

async function writeCsv(
  path: string,
  rows: () => AsyncIterable<readonly RejectedRow[]>,
  options: RejectedOptions,
): Promise<string | undefined> {
  const { meta } = options;
  const encoding = meta.encoding ?? 'utf-8';
  try {
    await writeCsvIn(path, rows(), options, encoding, meta.bom ?? encoding.startsWith('utf-16'));
    return undefined;
  } catch (error) {
    if (!(error instanceof NotEncodable)) throw error;
    await writeCsvIn(path, rows(), options, 'utf-8', true);
    return `${rejectedName('csv')} is written as UTF-8, because ${encoding} lacks characters that the rows hold.`;
  }
}

async function writeCsvIn(
  path: string,
  rows: AsyncIterable<readonly RejectedRow[]>,
  options: RejectedOptions,
  encoding: string,
  bom: boolean,
): Promise<void> {
  const { meta, keepHeaderRow } = options;
  const newline = meta.newline ?? '\r\n';
  const kept = originalColumns(options);
  const encode = csvEncoder({ encoding, delimiter: meta.delimiter, newline });
  const outputRows = (batch: readonly RejectedRow[], ours: (outcome: Outcome) => readonly string[]): string[][] =>
    batch.map((one) =>
      outputCells(one, kept, meta.headings.length, one.outcome ? ours(one.outcome) : []).map(displayText),
    );
  const headings = kept.map((at) => meta.headings[at] ?? '');
  /** What the encoding lacks of a message is lost, of the rows never. */
  const assertEncodable = (cells: readonly (readonly string[])[]): void => {
    if (!encoding.startsWith('utf-') && !isEncodable(cells.flat().join('\n'), encoding)) throw new NotEncodable();
  };
  await writeAtomically(path, async (write) => {
    if (bom) await write(encodeText('\ufeff', encoding));
    if (meta.hinted) await write(encodeText(`sep=${meta.delimiter}${newline}`, encoding));
    if (keepHeaderRow) await write(encodeText(newline.repeat((meta.header_row ?? 1) - 1), encoding));
    assertEncodable([headings]);
    await write(encode([[...headings, ...addedColumns(options)]]));
    for await (const batch of rows) {
      assertEncodable(outputRows(batch, () => []));
      await write(encode(outputRows(batch, rejectedLine)));
    }
  });
}

async function writeXlsx(
  path: string,
  rows: AsyncIterable<readonly RejectedRow[]>,
  options: RejectedOptions,
): Promise<void> {
  const { meta, columnsOf, choicesOf, keyColumns = [], keepHeaderRow, sheetNumber = 1, copy = false } = options;
  const kept = originalColumns(options);
  const width = meta.headings.length;
  async function* lines() {
    for await (const batch of rows) {
      yield batch.map((rejected) => {
        const faults = marksOf(rejected, meta.headings, columnsOf).filter(({ at }) => kept.includes(at));
        const marks = new Map(
          faults.map(({ at, note }): [number, Mark] => [kept.indexOf(at), { tone: 'fault', note }]),
        );
        return withoutFormulas(outputCells(rejected, kept, width, ownCells(rejected.outcome)), marks);
      });
    }
  }
  const columns = [
    ...kept.map((at): BookColumn => {
      const choices = choicesOf?.(at) ?? [];
      return { heading: meta.headings[at] ?? '', kind: 'cell', choices, allowsOthers: true };
    }),
    ...addedColumns(options).map((heading): BookColumn => ({ heading, kind: 'cell', isOurs: true })),
  ];
  const key = kept.findIndex((at) => keyColumns.includes(at));
  const name = sheetName(meta.sheet ?? 'Rejected');
  const emptySheets = Array.from({ length: sheetNumber - 1 }, (_, i) => `${name.slice(0, 24)} (${i + 1})`);
  await writeAtomically(path, async (write) => {
    const book = await createBook({ write }, [...emptySheets, name]);
    for (const empty of emptySheets) await book.sheet({ name: empty }, async () => {});
    await writeTableSheet(book, {
      name,
      columns,
      rows: lines(),
      ...(keepHeaderRow && meta.header_row !== null ? { headingRow: meta.header_row } : {}),
      ...(copy ? {} : { inSight: { columns: key + 1, column: columns.length - 1 } }),
    });
    await book.end();
  });
}

/**
 * A formula without a stored result would be worked out from the rows that happen to stand around it here, and its wrong
 * result taken for the value. An error stands for it, which is refused until somebody writes the value; a note tells the
 * formula.
 */
function withoutFormulas(cells: readonly Cell[], marks: Map<number, Mark>): MarkedRow {
  const safe = cells.map((cell, at): Cell => {
    if (typeof cell === 'string' || cell.t !== 'f') return cell;
    const note = `${displayText(cell)} stood here, without a stored result. Write the value.`;
    if (!marks.has(at)) marks.set(at, { tone: 'fault', note });
    return { t: 'e', value: '#REF!' };
  });
  return { cells: safe, marks };
}

/** The cells at fault and what to say of each; several faults of a cell share a note. */
export function marksOf(
  { row, outcome }: RejectedRow,
  headings: readonly string[],
  columnsOf: ColumnsOf | undefined,
): { readonly at: number; readonly note: string }[] {
  const notes = new Map<number, string[]>();
  const mark = (at: number, message: string) => {
    const list = notes.get(at);
    if (!list) notes.set(at, [message]);
    else if (!list.includes(message)) list.push(message);
  };
  for (const issue of outcome ? faultsOf(outcome) : []) {
    const named = issue.column === undefined ? -1 : headings.indexOf(issue.column);
    if (named >= 0) mark(named, issue.message);
    else for (const at of (issue.field !== undefined && columnsOf?.(issue.field)) || []) mark(at, issueSentence(issue));
  }
  for (const { index, message } of row.faults ?? []) if (index !== undefined) mark(index, message);
  return [...notes].map(([at, list]) => ({ at, note: list.join('\n') }));
}

async function writeNdjson(
  path: string,
  rows: AsyncIterable<readonly RejectedRow[]>,
  { meta, copy = false }: RejectedOptions,
): Promise<void> {
  const encoding = meta.encoding ?? 'utf-8';
  const headings = meta.headings.filter((heading) => !heading.startsWith('_'));
  await writeAtomically(path, async (write) => {
    if (encoding.startsWith('utf-16')) await write(encodeText('\ufeff', encoding));
    for await (const batch of rows) {
      const text = batch.map((one) => `${copy ? (one.row.line ?? '') : rejectedObject(one, headings)}\n`).join('');
      await write(encoding.startsWith('utf-') ? encodeText(text, encoding) : text.replace(NOT_ASCII, escaped));
    }
  });
}

/**
 * The members of the line as they stand in it, so that what is nested stays nested and what stands twice stays twice,
 * then the names of those keys of the file that it lacks, then ours. Without these names, a key that no rejected line holds
 * would be a missing heading to the job; with a value it would be given.
 */
function rejectedObject({ row, outcome }: RejectedRow, headings: readonly string[]): string {
  const line = row.line ?? '';
  const found = parseJsonLine(line);
  const pairs = typeof found === 'string' ? undefined : found;
  const formFault = row.faults?.some(({ code }) => code === 'ragged_row') ?? false;
  const members = pairs ? jsonMembers(line) : [];
  const kept = members.filter(
    ({ name }) =>
      !OWN_COLUMNS.has(name.trim().toLowerCase()) && name !== LACKS_KEY && !(formFault && name === LINE_KEY),
  );
  // What is nested under a key has a heading of its own; the key is there, and once.
  const present = new Set([...(pairs ?? []).map(([heading]) => heading), ...members.map(({ name }) => name)]);
  const names = headings.filter((heading) => !present.has(heading));
  const lacking = names.length > 0 ? [`"${LACKS_KEY}":${JSON.stringify(JSON.stringify(names))}`] : [];
  const ours = ownCells(outcome).map((cell, at) => `${JSON.stringify(REJECTED_COLUMNS[at])}:${jsonText(cell)}`);
  if (formFault) ours.push(lineMember(line, members, pairs !== undefined));
  return `{${[...kept.map(({ text }) => text), ...lacking, ...ours].join(',')}}`;
}

/** Keeps a line that was refused for its form from being taken for right; of an earlier round it stays as it was. */
function lineMember(line: string, members: readonly JsonMember[], object: boolean): string {
  const earlier = members.some(({ name }) => name === '_outcome') && members.find(({ name }) => name === LINE_KEY);
  if (earlier) return earlier.text;
  return `${JSON.stringify(LINE_KEY)}:${JSON.stringify(object ? 'delete this member when the row is right' : line)}`;
}

/** Only texts hold such characters, in JSON. */
const NOT_ASCII = /[^\0-\x7f]/g;

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

function jsonText(cell: Cell): string {
  return typeof cell === 'object' && cell.t === 'n' ? cell.value : JSON.stringify(displayText(cell));
}
