import type { CorpusFile, ExpectedCell, ExpectedRow, ExpectedTable } from './corpus-file.js';
import { type Random, randomOf } from './random.js';
import { headingsOf } from './values.js';
import { anyCell, textCell } from './xlsx-cells.js';
import { DIALECTS, type Dialect } from './xlsx-dialects.js';
import { type Book, type BookSheet, type BookSlot, bookParts } from './xlsx-write.js';
import { packZip, type ZipEntry, type ZipForm } from './zip-bytes.js';

/** A workbook being made: its sheet of data, and what must come out of it. */
export interface BookDraft {
  readonly random: Random;
  readonly dialect: Dialect;
  date1904: boolean;
  sheets: BookSheet[];
  readonly headings: string[];
  headerRow: number;
  rows: { row: number; cells: BookSlot[]; hidden?: boolean }[];
  merges: string[];
  columns: string;
  more: string;
  says: string[];
  expected: ExpectedRow[] | undefined;
}

/** A change to a good workbook; what it returns stands for the parts, the file or the outcome. */
export interface BookTwist {
  readonly name: string;
  readonly faults: readonly number[];
  /** Dialects in which the twist cannot be said. */
  readonly not?: (dialect: Dialect) => boolean;
  readonly draft?: (draft: BookDraft) => void;
  readonly parts?: (parts: ZipEntry[], draft: BookDraft) => ZipEntry[];
  readonly bytes?: (bytes: Buffer, draft: BookDraft) => Buffer;
  readonly file?: Partial<CorpusFile>;
}

const shown = (slot: BookSlot | undefined): ExpectedCell => (!slot || slot === 'styled' ? '' : slot.shows);

function draftOf(random: Random, dialect: Dialect): BookDraft {
  const width = random.between(3, 7);
  const headings = headingsOf(random, width);
  const date1904 = random.chance(0.2);
  const rows: BookDraft['rows'] = [{ row: 1, cells: headings.map((text) => textCell(text)) }];
  let row = 1;
  for (let count = random.between(3, 10); count > 0; count--) {
    row += random.chance(0.1) ? 2 : 1;
    const cells = headings.map((_, i) => (i === 0 ? textCell(`K-${row}`) : anyCell(random, date1904)));
    rows.push({ row, cells });
  }
  return {
    random,
    dialect,
    date1904,
    sheets: [],
    headings,
    headerRow: 1,
    rows,
    merges: [],
    columns: '',
    more: '',
    says: [],
    expected: undefined,
  };
}

/** The data rows as they must come out of the draft as it stands. */
export function expectedRows({ rows, headerRow, headings }: BookDraft): ExpectedRow[] {
  return rows
    .filter(({ row }) => row > headerRow)
    .map(({ row, cells }) => ({ row, cells: headings.map((_, i) => shown(cells[i])) }));
}

function tableOf(draft: BookDraft): ExpectedTable {
  const { headings, headerRow, says } = draft;
  const rows = draft.expected ?? expectedRows(draft);
  return { headings, header_row: headerRow, sheet: 'Data & more', rows, says };
}

export function bookFile(name: string, seed: number, twist: BookTwist, form?: ZipForm): CorpusFile {
  const random = randomOf(seed);
  const dialects = DIALECTS.filter((dialect) => !twist.not?.(dialect));
  const draft = draftOf(random, random.pick(dialects));
  twist.draft?.(draft);
  const { dialect, rows, merges, columns, more } = draft;
  const book: Book = {
    date1904: draft.date1904,
    sheets: [...draft.sheets, { name: 'Data & more', rows, merges, columns, more }],
  };
  const made = bookParts(book, dialect);
  const parts = twist.parts?.(made, draft) ?? made;
  const bytes = packZip(parts, form ?? dialect.zip);
  return {
    name: `${name}-${dialect.name}-${twist.name}.xlsx`,
    faults: twist.faults,
    bytes: twist.bytes?.(bytes, draft) ?? bytes,
    expected: { table: tableOf(draft) },
    ...twist.file,
  };
}

/** Workbooks of one seed: every twist in turn, each in a dialect that can say it. `form`: one way of packing for all. */
export function xlsxFiles(seed: number, count: number, twists: readonly BookTwist[], form?: ZipForm): CorpusFile[] {
  return Array.from({ length: count }, (_, i) =>
    bookFile(`xlsx-${String(i).padStart(4, '0')}`, seed * 200_003 + i, twists[i % twists.length]!, form),
  );
}

/** Name of the part that holds the sheet of data, after its folder. */
const sheetPart = (draft: BookDraft) => `worksheets/sheet${draft.sheets.length + 1}.xml`;

export const isSheet = (name: string, draft: BookDraft) => name.toLowerCase().endsWith(sheetPart(draft));

/** The parts with the one that holds the sheet of data changed. */
export function withPart(
  parts: readonly ZipEntry[],
  draft: BookDraft,
  change: (part: ZipEntry) => ZipEntry,
): ZipEntry[] {
  return parts.map((part) => (isSheet(part.name, draft) ? change(part) : part));
}
