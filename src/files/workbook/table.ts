import { RunError } from '../../model/error.js';
import { grouped } from '../../model/grouped.js';
import { type Cell, shownText } from '../../model/row.js';
import type { TableAbout, TableColumn, TableKind, TableRows } from '../../model/table.js';
import { columnName, SHEET_COLUMNS, SHEET_ROWS } from '../table/cell-range.js';
import type { ByteSink } from '../table-sink.js';
import {
  type Book,
  type Check,
  freeName,
  LINE,
  numberedName,
  openBook,
  type Sheet,
  type SheetHead,
  sheetName,
  textCell,
} from './book.js';
import { type CellKind, type CellNews, type CellWriter, cellWriter, valueLook } from './cells.js';
import { type PageLine, writePage } from './page.js';
import { LOOKS, type Tone } from './styles.js';

export interface BookColumn extends Omit<TableColumn, 'kind'> {
  readonly kind: CellKind;
  /** Characters; as wide as the heading and the first rows want, from 8 to 60, unless stated. */
  readonly width?: number;
  /** Of a column of cells as they were: it is ours, and beside theirs. */
  readonly soft?: boolean;
  /** Values beside the choices are taken without a word. */
  readonly open?: boolean;
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
export type BookRow = readonly Cell[] | MarkedRow;

export interface Mark {
  readonly tone: Tone;
  readonly note?: string;
}

/** A table of a workbook: a sheet, or as many as its rows take (`Assets`, `Assets (2)`). */
export interface BookTable {
  readonly name: string;
  readonly columns: readonly BookColumn[];
  readonly rows: AsyncIterable<readonly BookRow[]>;
  /** Said where there are no rows. */
  readonly empty?: string;
  /** Rows above it stay empty; 1 unless stated. */
  readonly headingRow?: number;
  /** Columns that stay in sight, unless they are wide, and a column that is to be in sight when the sheet is opened. */
  readonly inSight?: { readonly columns: number; readonly column: number };
  /** Said when the sheet is opened, beside its first heading. */
  readonly hint?: NonNullable<Check['prompt']>;
  /** Rows of a sheet, its heading included; as many as a sheet has unless stated. */
  readonly sheetRows?: number;
}

/** Texts that were cut to what a cell can hold, 32,767 characters; they end with `…`. */
export interface Shortened {
  readonly cells: number;
  /** The first of them, at most 10: sheet, reference (`C17`) and heading of the cell. */
  readonly first: readonly { readonly sheet: string; readonly cell: string; readonly heading: string }[];
}

/** What was written of a table. */
interface WrittenBook {
  /** Data rows. */
  readonly rows: number;
  /** The names of the sheets that hold them, in order. */
  readonly sheets: readonly string[];
  readonly shortened?: Shortened;
  /** Marks whose note the sheet had no room for, where there are any. */
  readonly withoutNote?: number;
}

/** Data rows that one sheet can hold. */
export const DATA_ROWS = SHEET_ROWS - 1;

/** Rows whose texts say how wide the columns are. */
const SAMPLE = 1_000;

/** Blank rows below the data that have the lists too, for rows that people add. */
const SPARE_ROWS = 1_000;

const KEPT_PLACES = 10;
const HEADING_HEIGHT = 21;
const READ_ONLY = 'For information: a change in this column is ignored.';

/** Throws `RunError('usage')` for a table with more columns than a sheet has. */
export function assertFits(path: string, columns: readonly TableColumn[]): void {
  if (columns.length <= SHEET_COLUMNS) return;
  throw new RunError(
    'usage',
    `${path}: the table has ${grouped(columns.length)} columns, a sheet of a workbook at most ` +
      `${grouped(SHEET_COLUMNS)}. Write it as .csv, or choose fewer columns.`,
  );
}

/** A workbook of one table and a sheet that says what it is. `rowsPerSheet`: data rows of a sheet. */
export async function writeBook(
  sink: ByteSink,
  columns: readonly TableColumn[],
  rows: TableRows,
  about: TableAbout,
  rowsPerSheet = DATA_ROWS,
): Promise<WrittenBook> {
  const name = sheetName(about.title);
  const cover = freeName('About', [name]);
  const book = await openBook(sink, about.title, [name, cover]);
  const sheetRows = Math.min(rowsPerSheet + 1, SHEET_ROWS);
  const written = await writeTable(book, { name, columns, rows, sheetRows }, [name, cover]);
  await writePage(book, { name: cover, ...coverOf(about, columns) });
  await book.end();
  return written;
}

/**
 * Writes a table in one pass, on as many sheets as it takes: a frozen, filterable heading with notes, columns as wide as
 * they want, lists to choose from. Holds the first 1,000 rows in memory, and nothing that grows with the others. `names`: of
 * all sheets of the workbook.
 */
export async function writeTable(book: Book, table: BookTable, names: readonly string[]): Promise<WrittenBook> {
  const { columns, headingRow = 1, sheetRows = SHEET_ROWS } = table;
  const feed = rowFeed(table.rows);
  const sheets: string[] = [];
  const places: Shortened['first'][number][] = [];
  let [count, cut, silent] = [0, 0, 0];
  try {
    const widths = columnWidths(columns, await feed.sample(SAMPLE));
    const checks = checksOf(book, columns);
    const news: CellNews = {
      lines: 1,
      shortened(i, row) {
        cut++;
        if (places.length >= KEPT_PLACES) return;
        places.push({ sheet: sheets.at(-1)!, cell: columnName(i) + row, heading: columns[i]?.heading ?? '' });
      },
    };
    const writers: Partial<Record<Tone, CellWriter[]>> = {};
    const writerOf = (tone: Tone, i: number): CellWriter => {
      const own = tone === 'plain' && columns[i]?.readOnly ? 'soft' : tone;
      writers[tone] ??= [];
      writers[tone][i] ??= cellWriter(book.styles, columns[i]?.kind ?? 'cell', i, own, news);
      return writers[tone][i];
    };

    const fill = async (sheet: Sheet) => {
      let row = headingRow;
      await sheet.row(row, headings(book, columns, row), HEADING_HEIGHT);
      headingNotes(sheet, columns, row);
      while (row < sheetRows && !sheet.full && (feed.ready || (await feed.more()))) {
        const { cells, tone = 'plain', marks } = marked(feed.take());
        const number = String(++row);
        news.lines = 1;
        let xml = '';
        for (let i = 0; i < cells.length; i++) {
          const cell = cells[i]!;
          const mark = marks?.get(i);
          if (mark?.note !== undefined && !sheet.note(row, i, mark.note)) silent++;
          if (cell !== '') xml += writerOf(mark?.tone ?? tone, i)(cell, number);
          // A cell that is blank, or becomes so, has its look, too.
          else if (mark)
            xml += textCell(
              columnName(i) + number,
              '',
              book.styles.of(valueLook(columns[i]?.kind ?? 'cell', mark.tone)),
            );
        }
        const full = sheet.row(row, xml, news.lines > 1 ? Math.min(news.lines, 4) * LINE : undefined);
        if (full) await full;
      }
      count += row - headingRow;
      if (row === headingRow && table.empty !== undefined)
        await sheet.row(row + 1, textCell(`A${row + 1}`, table.empty, book.styles.of(LOOKS.aside)));
      const last = Math.max(row, headingRow + 1);
      sheet.filter(`A${headingRow}:${columnName(columns.length - 1)}${last}`);
      if (table.hint) sheet.check({ range: `A${headingRow}`, type: 'none', formulas: [], prompt: table.hint });
      for (const { at, check } of checks) {
        const range = `${columnName(at)}${headingRow + 1}:${columnName(at)}${Math.min(row + SPARE_ROWS, sheetRows)}`;
        sheet.check({ ...check, range });
      }
    };

    const head: Omit<SheetHead, 'name'> = {
      columns: columns.map(({ kind, readOnly }, i) => ({
        width: widths[i]!,
        ...(kind === 'cell' ? {} : { look: valueLook(kind, readOnly ? 'soft' : 'plain') }),
      })),
      frozen: {
        rows: headingRow,
        ...inSight(table, widths),
        ...(table.hint ? { chosen: `A${headingRow}` } : {}),
      },
    };
    do {
      const number = sheets.length + 1;
      const name = number === 1 ? table.name : freeName(numberedName(table.name, number), [...names, ...sheets]);
      sheets.push(name);
      await book.sheet({ name, ...head }, fill);
    } while (await feed.more());
    return {
      rows: count,
      sheets,
      ...(cut > 0 ? { shortened: { cells: cut, first: places } } : {}),
      ...(silent > 0 ? { withoutNote: silent } : {}),
    };
  } finally {
    await feed.close();
  }
}

/** Characters that a screen has beside each other, and those of them that may stay where they are. */
const SCREEN = 170;
const STILL = 90;

function inSight({ inSight: wanted }: BookTable, widths: readonly number[]) {
  if (!wanted) return {};
  const widthOf = (from: number, to: number) => widths.slice(from, to).reduce((sum, width) => sum + width, 0);
  const columns = widthOf(0, wanted.columns) <= STILL ? wanted.columns : 0;
  const room = SCREEN - widthOf(0, columns);
  let first = columns;
  while (first < wanted.column && widthOf(first, wanted.column + 1) > room) first++;
  return { columns, first };
}

function marked(row: BookRow): MarkedRow {
  return 'cells' in row ? row : { cells: row };
}

function headings({ styles }: Book, columns: readonly BookColumn[], row: number): string {
  const cells = columns.map(({ heading, kind, readOnly, soft }, i) => {
    const look =
      kind === 'cell' ? (soft ? LOOKS.ownHeading : LOOKS.plainHeading) : readOnly ? LOOKS.headingSoft : LOOKS.heading;
    return textCell(columnName(i) + row, heading, styles.of(look));
  });
  return cells.join('');
}

/** What a column holds, shown when the pointer rests on its heading; every column for information says that it is one. */
function headingNotes(sheet: Sheet, columns: readonly BookColumn[], row: number): void {
  for (const [i, { note = '', readOnly }] of columns.entries()) {
    const text = [note, ...(readOnly ? [READ_ONLY] : [])].filter((line) => line !== '').join('\n');
    if (text !== '') sheet.note(row, i, text);
  }
}

/** Characters that a list may have inside its rule; longer lists stand on a sheet of their own. */
const INLINE = 255;

/** The lists of the columns that people fill in. */
function checksOf(book: Book, columns: readonly BookColumn[]) {
  return columns.flatMap(({ heading, choices = [], readOnly, open }, at) => {
    const values = [...new Set(choices)].filter((choice) => choice !== '');
    if (values.length === 0 || readOnly) return [];
    // Programs split at commas and trim; a quotation mark would end the list.
    const inline = values.join(',').length <= INLINE && values.every((value) => !/[,"\n]|^\s|\s$/.test(value));
    const formula = inline ? `"${values.join(',')}"` : book.list(heading, values);
    const text = `${heading} takes one of the values of its list: ${values.join(', ')}`;
    const error = { style: 'stop' as const, title: 'Not in the list', text };
    return [{ at, check: { type: 'list' as const, formulas: [formula], ...(open ? {} : { error }) } }];
  });
}

const [LEAST, MOST] = [8, 60];

/** Room for the button of the filter beside a heading. */
const BUTTON = 4;

/** As wide as the headings, which are bold, and the first rows want, in characters. */
function columnWidths(columns: readonly BookColumn[], sample: readonly BookRow[]): number[] {
  return columns.map(({ heading, kind, width: stated }, i) => {
    if (stated !== undefined) return stated;
    let width = Math.ceil(shownWidth(heading) * 1.1) + BUTTON;
    for (const row of sample) {
      const text = shownText(marked(row).cells[i]);
      if (text === '') continue;
      const wanted = kind === 'money' ? text.length + Math.ceil(text.length / 3) + 3 : shownWidth(text) + 2;
      if (wanted > width) width = wanted;
      if (width >= MOST) break;
    }
    return Math.min(Math.max(width, LEAST), MOST);
  });
}

/** The longest line of a text in characters as wide as digits: those of East Asia and pictures count twice. */
function shownWidth(text: string): number {
  let [width, longest] = [0, 0];
  for (let i = 0; i < text.length && longest <= MOST; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xdc00 && code <= 0xdfff) continue;
    if (code === 0x0a) width = 0;
    else width += code >= 0x1100 && !(code >= 0x2000 && code <= 0x206f) ? 2 : 1;
    if (width > longest) longest = width;
  }
  return longest;
}

/** Rows one at a time out of batches: without a promise for each row, and with a look ahead. */
function rowFeed<Row>(rows: AsyncIterable<readonly Row[]>) {
  const source = rows[Symbol.asyncIterator]();
  let batch: readonly Row[] = [];
  let [at, ended] = [0, false];
  /** Waits for the next rows, `count` of them; false where none is left. */
  const more = async (count = 1) => {
    while (!ended && batch.length - at < count) {
      const { done, value } = await source.next();
      if (done) ended = true;
      else [batch, at] = [at < batch.length ? batch.slice(at).concat(value) : value, 0];
    }
    return at < batch.length;
  };
  return {
    more,
    /** The first rows, at most `count`, which stay to be taken. */
    async sample(count: number): Promise<readonly Row[]> {
      await more(count);
      return batch.slice(0, count);
    },
    /** Whether a row can be taken at once. */
    get ready() {
      return at < batch.length;
    },
    /** The next row; only where `ready` or `more` said that there is one. */
    take: () => batch[at++]!,
    /** Ends the source, wherever it stands. */
    async close() {
      if (!ended) await source.return?.();
    },
  };
}

/**
 * The sheet that says what a workbook is: its title, the facts about it, and what its columns hold. Whether a column can
 * be changed is told where some cannot, that is in a table made to be changed and imported again.
 */
function coverOf({ title, facts }: TableAbout, columns: readonly TableColumn[]) {
  const editable = columns.some(({ readOnly }) => readOnly);
  const names = [...columns.map(({ heading }) => heading), ...facts.map(([label]) => label)];
  const first = Math.min(Math.max(16, ...names.map((name) => name.length + 2)), 44);
  const heads = ['Column', 'Holds', ...(editable ? ['Can be changed'] : []), 'Note'];
  const lines: PageLine[] = [
    [{ text: title, look: LOOKS.title }],
    ...facts.map(([label, value]) => [
      { text: label, look: LOOKS.label },
      { text: value, look: LOOKS.fact },
    ]),
    [],
    heads.map((text) => ({ text, look: LOOKS.heading })),
    ...columns.map((column) => {
      const { heading, readOnly, note = '' } = column;
      const texts = [heading, holds(column), ...(editable ? [readOnly ? 'no' : 'yes'] : []), note];
      return texts.map((text) => ({ text, look: readOnly ? LOOKS.listedSoft : LOOKS.listed }));
    }),
  ];
  return { widths: [first, 48, ...(editable ? [17] : []), 80], lines };
}

/** `Date`, `One of: Deployed, Stock`. */
function holds({ kind, choices }: TableColumn): string {
  if (!choices || choices.length === 0) return KIND_WORDS[kind];
  const some = choices.length <= 12 && choices.join(', ').length <= 200;
  return some ? `One of: ${choices.join(', ')}` : `One of ${grouped(choices.length)} values of a list`;
}

/** What a column of a kind holds, in words for people. */
const KIND_WORDS: Readonly<Record<TableKind, string>> = {
  text: 'Text',
  id: 'Id (whole number)',
  integer: 'Whole number',
  decimal: 'Number',
  money: 'Amount',
  date: 'Date',
  boolean: 'TRUE or FALSE',
  json: 'List (JSON)',
};
