import type { ByteSink } from '../../files/table-sink.js';
import { openBook } from '../../files/workbook/book.js';
import { writePage } from '../../files/workbook/page.js';
import { type BookTable, type MarkedRow, writeTable } from '../../files/workbook/table.js';
import { GOOD_OUTCOMES, type Outcome } from '../../model/outcome.js';
import type { OrphanLine } from '../../model/reconcile.js';
import { outcomeWords } from '../outcome-words.js';
import { faultsOf, outcomeSentence, sentence } from '../report-lines.js';
import type { Summary } from '../summary.js';
import type { Difference } from './differences.js';
import type { Found } from './found.js';
import { changesText } from './orphan-lines.js';
import { SHEETS } from './sheet-names.js';
import { summarySheet } from './summary-sheet.js';
import { changes, orphanState, resultOf, standsWord } from './words.js';

/**
 * reconcile.xlsx: what a person wants to know in the morning, a sheet each. Tables that are longer than a sheet go on on
 * further ones. Memory does not grow with them.
 */
export async function writeBook(sink: ByteSink, summary: Summary, found: Found, rowsPerSheet?: number): Promise<void> {
  const dry = summary.dry_run;
  const tables = [
    toCreate(found, dry),
    differences(found, summary),
    orphans(found),
    ambiguous(found),
    invalid(found, dry),
  ];
  const names = [SHEETS.summary, ...tables.map(({ name }) => name)];
  const book = await openBook(sink, `Reconciliation ${summary.job} ${summary.run}`, names);
  await writePage(book, summarySheet(summary));
  for (const table of tables)
    await writeTable(book, rowsPerSheet ? { ...table, sheetRows: rowsPerSheet } : table, names);
  await book.end();
}

function toCreate(found: Found, dry: boolean): BookTable {
  return {
    name: SHEETS.create,
    columns: [
      { heading: 'Row', kind: 'number', width: 10 },
      { heading: 'Key', kind: 'text' },
      { heading: 'Result', kind: 'text' },
      { heading: 'Id', kind: 'id' },
      { heading: 'Message', kind: 'text' },
    ],
    rows: mapped(
      found.created(),
      (outcome): MarkedRow => ({
        cells: [
          String(outcome.ref.row),
          outcome.key,
          outcomeWords(outcome.kind, dry, 'reconcile').label,
          idText(outcome),
          outcome.issues.map(sentence).join('; '),
        ],
      }),
    ),
    empty: 'Nothing is to be created: the service has a record for every row that could be compared.',
  };
}

function differences(found: Found, { dry_run: dry, reconcile }: Summary): BookTable {
  const differ = reconcile?.compared?.differ ?? 0;
  return {
    name: SHEETS.differences,
    columns: [
      { heading: 'Row', kind: 'number', width: 10 },
      { heading: 'Key', kind: 'text' },
      { heading: 'Id', kind: 'id' },
      { heading: 'Column', kind: 'text' },
      { heading: 'Field', kind: 'text' },
      { heading: 'In the service', kind: 'text' },
      { heading: 'In the file', kind: 'text' },
      { heading: 'Which stands', kind: 'text', width: 16 },
      { heading: 'Result', kind: 'text', width: 20 },
    ],
    rows: mapped(found.differences(), (one) => differenceRow(one, dry)),
    empty:
      differ > 0
        ? 'The run stopped before the rows that differ; how many they are, and in which fields, stands on the sheet Summary.'
        : 'No field differs: every row that could be compared agrees with its record.',
  };
}

/** The place of the file's value. */
const NEW = 6;
const CHANGED = new Map([[NEW, { tone: 'changed' }]] as const);
const CLEARED = new Map([[NEW, { tone: 'cleared' }]] as const);

function differenceRow(one: Difference, dry: boolean): MarkedRow {
  const cells = [
    String(one.row),
    one.key,
    one.id === undefined ? '' : String(one.id),
    one.column ?? '',
    one.field,
    one.service,
    one.file,
    standsWord(one),
    resultOf(one, dry),
  ];
  if (one.stands === 'service') return { cells, tone: 'soft' };
  return changes(one) ? { cells, marks: one.action === 'clear' ? CLEARED : CHANGED } : { cells };
}

function orphans(found: Found): BookTable {
  return {
    name: SHEETS.orphans,
    columns: [
      { heading: 'Id', kind: 'id' },
      { heading: 'Key', kind: 'text' },
      { heading: 'Name', kind: 'text' },
      { heading: 'Missing since', kind: 'day', width: 18 },
      { heading: 'Runs without it', kind: 'number', width: 20 },
      { heading: 'What becomes of it', kind: 'text' },
      { heading: 'Changes', kind: 'text' },
      { heading: 'Why', kind: 'text' },
    ],
    rows: mapped(found.orphans(), (orphan): MarkedRow => ({ cells: orphanCells(orphan), ...tone(orphan) })),
    empty: 'No orphans: the file has a row for every record that it is about.',
  };
}

function orphanCells(orphan: OrphanLine): string[] {
  return [
    String(orphan.id),
    orphan.key,
    orphan.name,
    orphan.since,
    String(orphan.absences),
    orphanState(orphan),
    changesText(orphan),
    [orphan.why, orphan.message].filter((text) => text !== undefined && text !== '').join('; '),
  ];
}

const STATE = 5;
const ACTED = new Map([[STATE, { tone: 'changed' }]] as const);

function tone({ state, outcome }: OrphanLine): Pick<MarkedRow, 'tone' | 'marks'> {
  if (state === 'done') return { tone: 'soft' };
  return state === 'act' && (outcome === undefined || outcome === 'updated') ? { marks: ACTED } : {};
}

function ambiguous(found: Found): BookTable {
  return {
    name: SHEETS.ambiguous,
    columns: [
      { heading: 'Row', kind: 'number', width: 10 },
      { heading: 'Key', kind: 'text' },
      { heading: 'Why', kind: 'text' },
    ],
    rows: mapped(
      found.outcomes((kind) => kind === 'ambiguous'),
      (outcome): MarkedRow => ({
        cells: [
          String(outcome.ref.row),
          outcome.key,
          faultsOf(outcome).map(sentence).join('; ') || outcomeSentence(outcome, 'reconcile'),
        ],
      }),
    ),
    empty: 'Nothing is ambiguous: no key of the file belongs to several records.',
  };
}

/** One line a fault, so that they can be filtered by column. */
function invalid(found: Found, dry: boolean): BookTable {
  return {
    name: SHEETS.invalid,
    columns: [
      { heading: 'Row', kind: 'number', width: 10 },
      { heading: 'Key', kind: 'text' },
      { heading: 'Id', kind: 'id' },
      { heading: 'Outcome', kind: 'text' },
      { heading: 'Column', kind: 'text' },
      { heading: 'Value', kind: 'text' },
      { heading: 'Code', kind: 'text' },
      { heading: 'What is wrong, and what to do', kind: 'text' },
    ],
    rows: (async function* () {
      for await (const batch of found.outcomes(isInvalid)) yield batch.flatMap((outcome) => faultRows(outcome, dry));
    })(),
    empty: 'No row needs a person.',
  };
}

function faultRows(outcome: Outcome, dry: boolean): MarkedRow[] {
  const head = [
    String(outcome.ref.row),
    outcome.key,
    idText(outcome),
    outcomeWords(outcome.kind, dry, 'reconcile').label,
  ];
  const faults = faultsOf(outcome);
  if (faults.length === 0) return [{ cells: [...head, '', '', '', outcomeSentence(outcome, 'reconcile')] }];
  return faults.map(({ column, field, value, code, message }) => ({
    cells: [...head, column ?? field ?? '', value ?? '', code, message],
  }));
}

function idText({ id }: Outcome): string {
  return id === undefined ? '' : String(id);
}

/** Rows that need a person, other than ambiguous ones, which have a sheet of their own. */
function isInvalid(kind: Outcome['kind']): boolean {
  return !GOOD_OUTCOMES.has(kind) && kind !== 'ambiguous';
}

async function* mapped<From, To>(
  batches: AsyncIterable<readonly From[]>,
  to: (one: From) => To,
): AsyncGenerator<readonly To[]> {
  for await (const batch of batches) yield batch.map(to);
}
