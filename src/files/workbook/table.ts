import { formatNumber } from '../../model/count-text.js';
import { usageError } from '../../model/error.js';
import { type Cell, displayText } from '../../model/row.js';
import type { TableAbout, TableColumn, TableRows } from '../../model/table.js';
import { columnName, SHEET_COLUMNS, SHEET_ROWS } from '../table/cell-range.js';
import type { ByteSink } from '../table-sink.js';
import { type BookWriter, createBook, LINE_HEIGHT, type SheetWriter, sheetName, textCell, uniqueName } from './book.js';
import { type CellKind, type CellReport, type CellWriter, cellWriter, valueLook } from './cells.js';
import { LOOKS, type Tone } from './styles.js';

export interface BookColumn extends Omit<TableColumn, 'kind'> {
  readonly kind: CellKind;
  /** Characters; as wide as the heading and the first rows want, from 8 to 60, unless stated. */
  readonly width?: number;
  /** Of a column of cells as they were: it is ours, and beside theirs. */
  readonly isOurs?: boolean;
  /** Values beside the choices are taken without a word. */
  readonly allowsOthers?: boolean;
}

/** A row whose cells have looks. */
export interface MarkedRow {
  readonly cells: readonly Cell[];
  /** Of the whole row; `plain` unless stated. */
  readonly tone?: Tone;
  /** Of single cells, by 0-based column. */
  readonly marks?: ReadonlyMap<number, Mark>;
}

/** A cell beyond the columns is of the kind `cell`. */
export type TableRow = readonly Cell[] | MarkedRow;

export interface Mark {
  readonly tone: Tone;
  readonly note?: string;
}

/** A table of a workbook: a sheet. Rows beyond those that it has are left out, and its last one says so. */
export interface BookTable {
  readonly name: string;
  readonly columns: readonly BookColumn[];
  readonly rows: AsyncIterable<readonly TableRow[]>;
  /** Said where there are no rows. */
  readonly empty?: string;
  /** Rows above it stay empty; 1 unless stated. */
  readonly headingRow?: number;
  /** Columns that stay in sight, unless they are wide, and a column that is to be in sight when the sheet is opened. */
  readonly inSight?: { readonly columns: number; readonly column: number };
}

/** Texts that were cut to what a cell can hold, 32,767 characters; they end with `…`. */
export interface Shortened {
  readonly cells: number;
  /** Of the first one: `C17`. */
  readonly first: string;
}

/** What was written of a table. */
export interface WrittenSheet {
  /** Data rows. */
  readonly rows: number;
  /** The name of the sheet that holds them. */
  readonly sheet: string;
  readonly shortened?: Shortened;
}

/** Data rows that one sheet can hold; the last row of a sheet is left to say that there are more. */
export const DATA_ROWS = SHEET_ROWS - 2;

/** Rows whose texts say how wide the columns are. */
const SAMPLE = 1_000;

/** Blank rows below the data that have the lists too, for rows that people add. */
const SPARE_ROWS = 1_000;

const HEADING_HEIGHT = 21;
const READ_ONLY = 'For information: a change in this column is ignored.';

/** Throws `RunError('usage')` for a table with more columns than a sheet has. */
export function assertFits(path: string, columns: readonly TableColumn[]): void {
  if (columns.length <= SHEET_COLUMNS) return;
  throw usageError(
    `${path}: the table has ${formatNumber(columns.length)} columns, a sheet of a workbook at most ` +
      `${formatNumber(SHEET_COLUMNS)}. Write it as .csv, or choose fewer columns.`,
  );
}

/** A workbook of one table and a sheet that says what it is. */
export async function writeBook(
  sink: ByteSink,
  columns: readonly TableColumn[],
  rows: TableRows,
  { title, facts }: TableAbout,
): Promise<WrittenSheet> {
  const name = sheetName(title);
  const book = await createBook(sink, [name, ABOUT]);
  const written = await writeTableSheet(book, { name, columns, rows });
  await writeTableSheet(book, {
    name: uniqueName(ABOUT, [name]),
    columns: [
      { heading: title, kind: 'text', width: 24 },
      { heading: '', kind: 'text', width: 100 },
    ],
    rows: inOneBatch(facts),
  });
  await book.end();
  return written;
}

const ABOUT = 'About';

async function* inOneBatch(rows: readonly (readonly string[])[]): TableRows {
  yield rows;
}

/**
 * Writes a table in one pass: a frozen, filterable heading with notes, columns as wide as they want, lists to choose from.
 * Holds the first 1,000 rows in memory, and nothing that grows with the others.
 */
export async function writeTableSheet(book: BookWriter, table: BookTable): Promise<WrittenSheet> {
  const { name, columns, headingRow = 1 } = table;
  const source = table.rows[Symbol.asyncIterator]();
  let next = await source.next();
  let sample: readonly TableRow[] = [];
  for (; !next.done && sample.length < SAMPLE; next = await source.next()) sample = sample.concat(next.value);
  async function* batches() {
    yield sample;
    for (; !next.done; next = await source.next()) yield next.value;
  }
  const widths = columnWidths(columns, sample.slice(0, SAMPLE));
  const validations = validationsOf(book, columns);
  let [row, cut, first] = [headingRow, 0, ''];
  const report: CellReport = {
    lines: 1,
    shortened(i, at) {
      cut++;
      first ||= columnName(i) + at;
    },
  };
  const isChosen = (tone: Tone, i: number) => tone === 'fault' && (columns[i]?.choices?.length ?? 0) > 0;
  const writers: Partial<Record<Tone, CellWriter[]>> = {};
  const writerOf = (tone: Tone, i: number): CellWriter => {
    const own = tone === 'plain' && columns[i]?.readOnly ? 'soft' : tone;
    writers[tone] ??= [];
    writers[tone][i] ??= cellWriter(book.styles, columns[i]?.kind ?? 'cell', i, own, report, isChosen(tone, i));
    return writers[tone][i];
  };
  const writeAside = (sheet: SheetWriter, text: string) =>
    sheet.row(row + 1, textCell(`A${row + 1}`, text, book.styles.of(LOOKS.aside)));

  const addRow = (sheet: SheetWriter, { cells, tone = 'plain', marks }: MarkedRow) => {
    const number = String(++row);
    report.lines = 1;
    let xml = '';
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i]!;
      const mark = marks?.get(i);
      if (mark?.note !== undefined) sheet.note(row, i, mark.note);
      if (cell !== '') xml += writerOf(mark?.tone ?? tone, i)(cell, number);
      // A cell that is blank, or becomes so, has its look, too.
      else if (mark)
        xml += textCell(
          columnName(i) + number,
          '',
          book.styles.of(valueLook(columns[i]?.kind ?? 'cell', mark.tone, isChosen(mark.tone, i))),
        );
    }
    return sheet.row(row, xml, report.lines > 1 ? Math.min(report.lines, 4) * LINE_HEIGHT : undefined);
  };

  const fill = async (sheet: SheetWriter) => {
    await sheet.row(row, headings(book, columns, row), HEADING_HEIGHT);
    headingNotes(sheet, columns, row);
    filling: for await (const batch of batches()) {
      for (const one of batch) {
        if (row === SHEET_ROWS - 1) {
          await writeAside(sheet, MORE);
          break filling;
        }
        const full = addRow(sheet, toMarkedRow(one));
        if (full) await full;
      }
    }
    if (row === headingRow && table.empty !== undefined) await writeAside(sheet, table.empty);
    const last = Math.max(row, headingRow + 1);
    sheet.filtered = `A${headingRow}:${columnName(columns.length - 1)}${last}`;
    for (const { at, check } of validations) {
      const range = `${columnName(at)}${headingRow + 1}:${columnName(at)}${Math.min(row + SPARE_ROWS, SHEET_ROWS)}`;
      sheet.validations.push({ ...check, range });
    }
  };

  try {
    await book.sheet(
      {
        name,
        columns: columns.map(({ kind, readOnly }, i) => ({
          width: widths[i]!,
          ...(kind === 'cell' ? {} : { look: valueLook(kind, readOnly ? 'soft' : 'plain') }),
        })),
        frozen: { rows: headingRow, ...frozenView(table, widths) },
      },
      fill,
    );
  } finally {
    if (!next.done) await source.return?.();
  }
  return { rows: row - headingRow, sheet: name, ...(cut > 0 ? { shortened: { cells: cut, first } } : {}) };
}

const MORE = 'There are more lines than a sheet holds. The CSV files of the run have all of them.';

/** Characters that a screen has beside each other, and those of them that may stay where they are. */
const SCREEN = 170;
const MAX_FROZEN_WIDTH = 90;

function frozenView({ inSight: wanted }: BookTable, widths: readonly number[]) {
  if (!wanted) return {};
  const widthOf = (from: number, to: number) => widths.slice(from, to).reduce((sum, width) => sum + width, 0);
  const columns = widthOf(0, wanted.columns) <= MAX_FROZEN_WIDTH ? wanted.columns : 0;
  const room = SCREEN - widthOf(0, columns);
  let first = columns;
  while (first < wanted.column && widthOf(first, wanted.column + 1) > room) first++;
  return { columns, first };
}

function toMarkedRow(row: TableRow): MarkedRow {
  return 'cells' in row ? row : { cells: row };
}

function headings({ styles }: BookWriter, columns: readonly BookColumn[], row: number): string {
  const cells = columns.map(({ heading, kind, readOnly, isOurs }, i) => {
    const look =
      kind === 'cell'
        ? isOurs
          ? LOOKS.ownHeading
          : LOOKS.plainHeading
        : readOnly
          ? LOOKS.readOnlyHeading
          : LOOKS.heading;
    return textCell(columnName(i) + row, heading, styles.of(look));
  });
  return cells.join('');
}

/** What a column holds, shown when the pointer rests on its heading; every column for information says that it is one. */
function headingNotes(sheet: SheetWriter, columns: readonly BookColumn[], row: number): void {
  for (const [i, { note = '', readOnly }] of columns.entries()) {
    const text = [note, ...(readOnly ? [READ_ONLY] : [])].filter((line) => line !== '').join('\n');
    if (text !== '') sheet.note(row, i, text);
  }
}

/** Characters that a list may have inside its rule; longer lists stand on a sheet of their own. */
const INLINE = 255;

/** The lists of the columns that people fill in. */
function validationsOf(book: BookWriter, columns: readonly BookColumn[]) {
  return columns.flatMap(({ heading, choices = [], readOnly, allowsOthers }, at) => {
    const values = [...new Set(choices)].filter((choice) => choice !== '');
    if (values.length === 0 || readOnly) return [];
    // Programs split at commas and trim; a quotation mark would end the list.
    const inline = values.join(',').length <= INLINE && values.every((value) => !/[,"\n]|^\s|\s$/.test(value));
    const formula = inline ? `"${values.join(',')}"` : book.list(heading, values);
    const text = `${heading} takes one of the values of its list: ${values.join(', ')}`;
    const error = { style: 'stop' as const, title: 'Not in the list', text };
    return [{ at, check: { values: formula, ...(allowsOthers ? {} : { error }) } }];
  });
}

const [MIN_WIDTH, MAX_WIDTH] = [8, 60];

/** Room for the button of the filter beside a heading. */
const BUTTON = 4;

/** As wide as the headings, which are bold, and the first rows want, in characters. */
function columnWidths(columns: readonly BookColumn[], sample: readonly TableRow[]): number[] {
  return columns.map(({ heading, kind, width: stated }, i) => {
    if (stated !== undefined) return stated;
    let width = Math.ceil(textWidth(heading) * 1.1) + BUTTON;
    for (const row of sample) {
      const text = displayText(toMarkedRow(row).cells[i]);
      if (text === '') continue;
      const wanted = kind === 'money' ? text.length + Math.ceil(text.length / 3) + 3 : textWidth(text) + 2;
      if (wanted > width) width = wanted;
      if (width >= MAX_WIDTH) break;
    }
    return Math.min(Math.max(width, MIN_WIDTH), MAX_WIDTH);
  });
}

/** The longest line of a text in characters. */
function textWidth(text: string): number {
  return text.includes('\n') ? Math.max(...text.split('\n').map(({ length }) => length)) : text.length;
}
