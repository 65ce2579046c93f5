import type { Page, PageCell, PageLine } from '../../files/workbook/page.js';
import { LOOKS, type Look } from '../../files/workbook/styles.js';
import { GOOD_OUTCOMES, OUTCOMES } from '../../model/outcome.js';
import { count, duration, fileName, requestsText, rowsForPerson, type Summary, when } from '../summary.js';
import { headline, orphanParts, orphanRule, outcomeWords, readingFacts, SHEETS, scopeSentence } from '../words.js';

const WIDTHS = [36, 14, 20, 20, 14, 42];
const ALL = WIDTHS.length;
const MOST_WARNINGS = 50;

type Facts = NonNullable<Summary['reconcile']>;

/** The sheet that is shown first: what differs, what was put right, what needs somebody, and how it was found out. */
export function summarySheet(summary: Summary): Page {
  const { reconcile: facts, warnings } = summary;
  const more = warnings.length - MOST_WARNINGS;
  const lines: PageLine[] = [
    { cells: [{ text: `Reconciliation: ${summary.job}`, look: LOOKS.title, span: ALL }], height: 26 },
    whole(headline(summary), LOOKS.lead, 21),
    whole(
      `${when(summary.finished_at)} · company ${summary.company} · ${summary.service ?? ''} · ${fileName(summary.source?.path ?? '')}`,
      LOOKS.aside,
    ),
    ...banners(summary),
    ...(facts
      ? [
          ...section('At a glance', glance(summary, facts)),
          ...section('What needs a person', people(summary, facts)),
          ...section('Differences by field', fields(facts)),
        ]
      : []),
    ...section('How it was found out', found(summary)),
    ...section('Good to know', [
      ...warnings.slice(0, MOST_WARNINGS).map((text) => whole(text, LOOKS.said)),
      ...(more > 0 ? [whole(`${count(more)} more in summary.json`, LOOKS.remark)] : []),
    ]),
  ];
  return { name: SHEETS.summary, widths: WIDTHS, lines };
}

function whole(text: string, look: Look, height?: number): PageLine {
  return { cells: [{ text, look, span: ALL }], ...(height === undefined || text.length > 120 ? {} : { height }) };
}

function section(title: string, lines: readonly PageLine[]): PageLine[] {
  if (lines.length === 0) return [];
  return [{ cells: [] }, { cells: [{ text: title, look: LOOKS.section, span: ALL }], height: 20 }, ...lines];
}

function banners({ status, reason, dry_run: dry, reconcile }: Summary): PageLine[] {
  const held = reconcile?.orphans.held_reason;
  const lines = [
    ...(reason === undefined
      ? []
      : [whole(`${status === 'braked' ? 'Stopped by a brake. ' : ''}${reason}`, LOOKS.bad, 22)]),
    ...(dry
      ? [whole('Report only: nothing was written to the service. This is what would happen.', LOOKS.info, 22)]
      : []),
    ...(held === undefined ? [] : [whole(`Orphans are held: ${held}`, LOOKS.info, 22)]),
  ];
  return lines.length > 0 ? [{ cells: [] }, ...lines] : [];
}

/** A number with its meaning. `sheet`: where its rows stand; `part`: of the line above. */
function fact(
  label: string,
  value: number,
  note: string,
  { sheet, part, bad }: { readonly sheet?: string; readonly part?: boolean; readonly bad?: boolean } = {},
): PageLine {
  const name: PageCell =
    sheet !== undefined && value > 0
      ? { text: label, look: LOOKS.link, link: sheet }
      : { text: label, look: part ? LOOKS.indented : LOOKS.name };
  const look = bad && value > 0 ? LOOKS.badCount : part ? LOOKS.minorCount : LOOKS.count;
  return {
    cells: [name, { text: String(value), look }, { text: note, look: LOOKS.remark, span: ALL - 2 }],
  };
}

function glance(summary: Summary, facts: Facts): PageLine[] {
  const { rows, source, dry_run: dry } = summary;
  const { differences, orphans, scope, previous, compared } = facts;
  const before = previous ? `; the run before had ${count(previous.rows)}` : '';
  const person = rowsForPerson(rows) - rows.not_attempted;
  const part = { part: true };
  return [
    fact('Rows of the file', rows.total, `${source ? fileName(source.path) : 'No file'}${before}.`),
    fact('Records the file is about', scope.records, scopeSentence(facts)),
    ...(compared
      ? [
          fact('Agree', compared.agree, 'The same in every field that is compared. Nothing to do.'),
          fact('Differ', compared.differ, `In at least one field; ${count(differences.fields)} fields in all.`, {
            sheet: SHEETS.differences,
          }),
          fact(
            dry ? 'Would be put right' : 'Put right',
            compared.put_right,
            `The file’s values ${dry ? 'would be' : 'were'} written to the record.`,
            part,
          ),
          fact(
            'Left to the service',
            compared.left_to_service,
            'They differ only in fields where the service’s value stands.',
            part,
          ),
          ...(compared.not_put_right > 0
            ? [
                fact(
                  'Not put right',
                  compared.not_put_right,
                  'Held back, in conflict, refused or not reached: see the sheet Invalid.',
                  part,
                ),
              ]
            : []),
        ]
      : [fact('Differ', differences.rows, '')]),
    fact(dry ? 'To create' : 'Created', rows.created, 'In the file and not in the service.', { sheet: SHEETS.create }),
    fact('Orphans', orphans.total, `In the service and not in the file; ${count(orphans.fresh)} of them new.`, {
      sheet: SHEETS.orphans,
    }),
    ...(orphans.total > 0
      ? [whole([orphanParts(summary, facts), orphanRule(orphans)].filter(Boolean).join('. '), LOOKS.remark)]
      : []),
    fact('Need a person', person, person > 0 ? 'Below is what they need.' : 'Nobody has to do anything.', {
      bad: true,
    }),
  ];
}

function people({ rows, dry_run: dry }: Summary, { orphans, compared }: Facts): PageLine[] {
  const refused = compared?.orphans_for_person ?? 0;
  const lines = OUTCOMES.filter((kind) => !GOOD_OUTCOMES.has(kind) && rows[kind] > 0).map((kind) => {
    const { label, meaning, next = '' } = outcomeWords(kind, dry, 'reconcile');
    const sheet = kind === 'ambiguous' ? SHEETS.ambiguous : SHEETS.invalid;
    return fact(label, rows[kind], `${meaning} ${next}`.trim(), { sheet, bad: kind !== 'not_attempted' });
  });
  const sheet = SHEETS.orphans;
  if (refused > 0) {
    const why = 'They were to be acted on, and were not: the reason stands beside each of them.';
    lines.push(fact('Orphans not settled', refused, why, { sheet, bad: true }));
  }
  if (lines.length === 0) lines.push(whole('No row needs a person.', LOOKS.good, 20));
  if (orphans.held > 0) {
    const why = orphans.held_reason ?? 'Why stands beside each of them.';
    lines.push(fact('Orphans held back', orphans.held, why, { sheet }));
  }
  return lines;
}

function fields({ differences }: Facts): PageLine[] {
  if (differences.by_field.length === 0) return [];
  const line = (name: string, look: Look, numbers: readonly number[], of: Look): PageLine => ({
    cells: [{ text: name, look }, ...numbers.map((n): PageCell => ({ text: String(n), look: of }))],
  });
  const heads = ['Rows', 'File’s value stands', 'Service’s stands', 'Cleared'];
  const byMost = [...differences.by_field].sort((a, b) => b.file + b.service - (a.file + a.service));
  const { fields: all, file_stands, service_stands, cleared } = differences;
  return [
    {
      cells: [
        { text: 'Field', look: LOOKS.heading },
        ...heads.map((text): PageCell => ({ text, look: LOOKS.headingRight })),
      ],
      height: 20,
    },
    ...byMost.map((one) =>
      line(one.field, LOOKS.indented, [one.file + one.service, one.file, one.service, one.cleared], LOOKS.minorCount),
    ),
    line('All', LOOKS.name, [all, file_stands, service_stands, cleared], LOOKS.count),
  ];
}

function found(summary: Summary): PageLine[] {
  const { reconcile, detected = [], requests, run, seconds, source } = summary;
  const facts: (readonly [label: string, text: string])[] = [
    ...(reconcile ? readingFacts(reconcile) : []),
    ...detected.map((text) => ['Detected', text] as const),
    ['Run', `${run}, ${duration(seconds)}, ${requestsText(requests)}`],
    ...(source ? [['File', `${fileName(source.path)}, SHA-256 ${source.sha256}`] as const] : []),
  ];
  return facts.map(([label, text]) => ({
    cells: [
      { text: label, look: LOOKS.name },
      { text, look: LOOKS.said, span: ALL - 1 },
    ],
  }));
}
