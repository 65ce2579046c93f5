import { writeSafely } from '../../files/safe-write.js';
import { openBook } from '../../files/workbook/book.js';
import { type Page, type PageLine, writePage } from '../../files/workbook/page.js';
import { LOOKS, type Look } from '../../files/workbook/styles.js';
import { type BookColumn, type BookTable, type MarkedRow, writeTable } from '../../files/workbook/table.js';
import { GOOD_OUTCOMES, OUTCOMES, type Outcome } from '../../model/outcome.js';
import type { OrphanLine } from '../../model/reconcile.js';
import { faultsOf, outcomeSentence, sentence } from '../report-lines.js';
import { count, duration, fileName, requestsText, type Summary, when } from '../summary.js';
import {
  capital,
  changes,
  glance,
  headline,
  orphanState,
  outcomeWords,
  readingFacts,
  resultOf,
  SHEETS,
  scopeSentence,
  standsWord,
} from '../words.js';
import { changesText, type Difference, type Found } from './compare.js';

const ROW: BookColumn = { heading: 'Row', kind: 'integer', width: 10 };
const KEY: BookColumn = { heading: 'Key', kind: 'text' };
const ID: BookColumn = { heading: 'Id', kind: 'id' };
const texts = (...headings: readonly string[]) => headings.map((heading): BookColumn => ({ heading, kind: 'text' }));

/**
 * reconcile.xlsx: what a person wants to know in the morning, a sheet each. Memory does not grow with the tables.
 */
export async function writeBook(path: string, summary: Summary, found: Found): Promise<void> {
  const dry = summary.dry_run;
  const differ = summary.reconcile?.compared?.differ ?? 0;
  const tables: BookTable[] = [
    {
      name: SHEETS.create,
      columns: [ROW, KEY, ...texts('Result'), ID, ...texts('Message')],
      rows: mapped(found.created(), (outcome) => [
        [...headOf(outcome), labelOf(outcome, dry), idText(outcome), outcome.issues.map(sentence).join('; ')],
      ]),
      empty: 'Nothing is to be created: the service has a record for every row that could be compared.',
    },
    {
      name: SHEETS.differences,
      columns: [
        ROW,
        KEY,
        ID,
        ...texts('Column', 'Field', 'In the service', 'In the file'),
        { heading: 'Which stands', kind: 'text', width: 16 },
        { heading: 'Result', kind: 'text', width: 20 },
      ],
      rows: mapped(found.differences(), (one) => [differenceRow(one, dry)]),
      empty:
        differ > 0
          ? 'The run stopped before the rows that differ; how many they are, and in which fields, stands on the sheet Summary.'
          : 'No field differs: every row that could be compared agrees with its record.',
    },
    {
      name: SHEETS.orphans,
      columns: [
        ID,
        ...texts('Key', 'Name'),
        { heading: 'Missing since', kind: 'date', width: 18 },
        { heading: 'Runs without it', kind: 'integer', width: 20 },
        ...texts('What becomes of it', 'Changes', 'Why'),
      ],
      rows: mapped(found.orphans(), (orphan) => [orphanRow(orphan)]),
      empty: 'No orphans: the file has a row for every record that it is about.',
    },
    {
      name: SHEETS.ambiguous,
      columns: [ROW, KEY, ...texts('Why')],
      rows: mapped(found.outcomes(['ambiguous']), (outcome) => {
        const why = faultsOf(outcome).map(sentence).join('; ') || outcomeSentence(outcome, 'reconcile');
        return [[...headOf(outcome), why]];
      }),
      empty: 'Nothing is ambiguous: no key of the file belongs to several records.',
    },
    {
      name: SHEETS.invalid,
      columns: [ROW, KEY, ID, ...texts('Outcome', 'Column', 'Value', 'Code', 'What is wrong, and what to do')],
      // Ambiguous rows have a sheet of their own.
      rows: mapped(
        found.outcomes(OUTCOMES.filter((kind) => !GOOD_OUTCOMES.has(kind) && kind !== 'ambiguous')),
        (outcome) => faultRows(outcome, dry),
      ),
      empty: 'No row needs a person.',
    },
  ];
  const names = [SHEETS.summary, ...tables.map(({ name }) => name)];
  await writeSafely(path, async (write) => {
    const book = await openBook({ write }, names);
    await writePage(book, summarySheet(summary));
    for (const table of tables) await writeTable(book, table);
    await book.end();
  });
}

async function* mapped<From, To>(batches: AsyncIterable<readonly From[]>, rows: (one: From) => readonly To[]) {
  for await (const batch of batches) yield batch.flatMap(rows);
}

const headOf = ({ ref, key }: Outcome) => [String(ref.row), key];
const idText = ({ id }: { readonly id?: number }) => (id === undefined ? '' : String(id));
const labelOf = ({ kind }: Outcome, dry: boolean) => outcomeWords(kind, dry, 'reconcile').label;

/** The place of the file's value. */
const NEW = 6;
const CHANGED = new Map([[NEW, { tone: 'changed' }]] as const);
const CLEARED = new Map([[NEW, { tone: 'cleared' }]] as const);

function differenceRow(one: Difference, dry: boolean): MarkedRow {
  const { row, key, column = '', field, service, file } = one;
  const cells = [
    ...[String(row), key, idText(one), column, field, service, file],
    ...[standsWord(one), resultOf(one, dry)],
  ];
  if (one.stands === 'service') return { cells, tone: 'soft' };
  return changes(one) ? { cells, marks: one.action === 'clear' ? CLEARED : CHANGED } : { cells };
}

const ACTED = new Map([[5, { tone: 'changed' }]] as const);

function orphanRow(orphan: OrphanLine): MarkedRow {
  const { id, key, name, since, absences, state, outcome } = orphan;
  const why = [orphan.why, orphan.message].filter((text) => text !== undefined && text !== '').join('; ');
  const cells = [
    ...[String(id), key, name, since, String(absences)],
    ...[orphanState(orphan), changesText(orphan), why],
  ];
  if (state === 'done') return { cells, tone: 'soft' };
  return state === 'act' && (outcome === undefined || outcome === 'updated') ? { cells, marks: ACTED } : { cells };
}

/** One line a fault, so that they can be filtered by column. */
function faultRows(outcome: Outcome, dry: boolean): string[][] {
  const head = [...headOf(outcome), idText(outcome), labelOf(outcome, dry)];
  const faults = faultsOf(outcome);
  if (faults.length === 0) return [[...head, '', '', '', outcomeSentence(outcome, 'reconcile')]];
  return faults.map(({ column, field, value, code, message }) => [
    ...[...head, column ?? field ?? ''],
    ...[value ?? '', code, message],
  ]);
}

const MOST_WARNINGS = 50;

type Told = readonly [label: string, text: string];

/** The sheet that is shown first: what differs, what was put right, what needs somebody, and how it was found out. */
function summarySheet(summary: Summary): Page {
  const { reconcile: facts, warnings, dry_run: dry, source, reason, status } = summary;
  const file = source ? fileName(source.path) : '';
  const held = facts?.orphans.held_reason;
  const lines: PageLine[] = [
    [{ text: `Reconciliation: ${summary.job}`, look: LOOKS.title }],
    [{ text: headline(summary), look: LOOKS.label }],
    [
      {
        text: `${when(summary.finished_at)} · company ${summary.company} · ${summary.service ?? ''} · ${file}`,
        look: LOOKS.aside,
      },
    ],
    ...(reason === undefined
      ? []
      : [whole(`${status === 'braked' ? 'Stopped by a brake. ' : ''}${reason}`, LOOKS.bad)]),
    ...(dry ? [whole('Report only: nothing was written to the service. This is what would happen.')] : []),
    ...(held === undefined ? [] : [whole(`Orphans are held: ${held}`)]),
    ...(facts
      ? [
          ...section('At a glance', [
            number('Rows of the file', summary.rows.total, ''),
            number('Records the file is about', facts.scope.records, scopeSentence(facts)),
            ...glance(summary, facts).map(({ n, what, made, bad }) =>
              number(capital(what), n, made, bad ? LOOKS.badCount : LOOKS.count),
            ),
          ]),
          ...section(
            'Differences by field',
            [...facts.differences.by_field]
              .sort((a, b) => b.file + b.service - (a.file + a.service))
              .map(({ field, file, service, cleared }) => {
                const made = `the file’s value stands in ${count(file)}, the service’s in ${count(service)}, ${count(cleared)} cleared`;
                return number(field, file + service, made);
              }),
          ),
        ]
      : []),
    ...section('How it was found out', found(summary).map(told)),
    ...section(
      'Good to know',
      warnings.slice(0, MOST_WARNINGS).map((text) => told(['', text])),
    ),
  ];
  return { name: SHEETS.summary, widths: [34, 14, 100], lines };
}

const whole = (text: string, look: Look = LOOKS.label): PageLine => [{ text, look }];

const told = ([label, text]: Told): PageLine => [
  { text: label, look: LOOKS.label },
  { text: '', look: LOOKS.fact },
  { text, look: LOOKS.fact },
];

function section(title: string, lines: readonly PageLine[]): PageLine[] {
  return lines.length === 0 ? [] : [[], [{ text: title, look: LOOKS.section }], ...lines];
}

function number(label: string, n: number, note: string, look: Look = LOOKS.count): PageLine {
  return [
    { text: label, look: LOOKS.label },
    { text: String(n), look },
    { text: note, look: LOOKS.fact },
  ];
}

function found({ reconcile, detected = [], requests, run, seconds, source }: Summary): Told[] {
  return [
    ...(reconcile ? readingFacts(reconcile) : []),
    ...detected.map((text): Told => ['Detected', text]),
    ['Run', `${run}, ${duration(seconds)}, ${requestsText(requests)}`],
    ...(source ? [['File', `${fileName(source.path)}, SHA-256 ${source.sha256}`] as const] : []),
  ];
}
