import type { Page, PageCell, PageLine } from '../../files/workbook/page.js';
import { LOOKS, type Look } from '../../files/workbook/styles.js';
import { GOOD_OUTCOMES, OUTCOMES } from '../../model/outcome.js';
import { count, duration, fileName, rowsForPerson, type Summary, when } from '../summary.js';
import { actedOrphans, headline, orphanRule, outcomeWords, readingFacts, SHEETS, scopeSentence } from '../words.js';

const WIDTHS = [36, 14, 20, 20, 14, 42];
const ALL = WIDTHS.length;
const MOST_WARNINGS = 50;

type Facts = NonNullable<Summary['reconcile']>;

/** The sheet that is shown first: what differs, what was put right, what needs somebody, and how it was found out. */
export function summarySheet(summary: Summary): Page {
  const facts = summary.reconcile;
  const lines: PageLine[] = [
    { cells: [{ text: `Reconciliation: ${summary.job}`, look: LOOKS.title, span: ALL }], height: 26 },
    whole(headline(summary), LOOKS.lead, 21),
    whole(
      `${when(summary.finished_at)} · company ${summary.company} · ${summary.service ?? ''} · ${fileName(summary.source?.path ?? '')}`,
      LOOKS.aside,
    ),
    ...banners(summary),
  ];
  if (facts) {
    lines.push(...glance(summary, facts), ...people(summary, facts), ...fields(facts), ...orphans(summary, facts));
    lines.push(...reading(summary, facts));
  }
  lines.push(...theRun(summary));
  if (summary.warnings.length > 0) {
    lines.push(...section('Good to know'));
    for (const text of summary.warnings.slice(0, MOST_WARNINGS)) lines.push(whole(text, LOOKS.said));
    const more = summary.warnings.length - MOST_WARNINGS;
    if (more > 0) lines.push(whole(`${count(more)} more in summary.json`, LOOKS.remark));
  }
  return { name: SHEETS.summary, widths: WIDTHS, lines };
}

function whole(text: string, look: Look, height?: number): PageLine {
  return { cells: [{ text, look, span: ALL }], ...(height === undefined || text.length > 120 ? {} : { height }) };
}

const BLANK: PageLine = { cells: [] };

function section(title: string): PageLine[] {
  return [BLANK, { cells: [{ text: title, look: LOOKS.section, span: ALL }], height: 20 }];
}

function banners({ status, reason, dry_run: dry, reconcile }: Summary): PageLine[] {
  const lines: PageLine[] = [];
  if (reason !== undefined) {
    const lead = status === 'braked' ? 'Stopped by a brake. ' : '';
    lines.push(whole(lead + reason, LOOKS.bad, 22));
  }
  if (dry)
    lines.push(whole('Report only: nothing was written to the service. This is what would happen.', LOOKS.info, 22));
  if (reconcile?.orphans.held_reason !== undefined)
    lines.push(whole(`Orphans are held: ${reconcile.orphans.held_reason}`, LOOKS.info, 22));
  return lines.length > 0 ? [BLANK, ...lines] : lines;
}

interface Fact {
  readonly note?: string;
  readonly sheet?: string;
  /** Part of the line above. */
  readonly part?: boolean;
  readonly bad?: boolean;
}

function fact(label: string, value: number | string, { note = '', sheet, part, bad }: Fact = {}): PageLine {
  const name: PageCell = sheet
    ? { text: label, look: LOOKS.link, link: sheet }
    : { text: label, look: part ? LOOKS.indented : LOOKS.name };
  if (typeof value === 'string') return { cells: [name, { text: value, look: LOOKS.said, span: ALL - 1 }] };
  const look = bad && value > 0 ? LOOKS.badCount : part ? LOOKS.minorCount : LOOKS.count;
  const cells: PageCell[] = [name, { text: String(value), look }];
  return { cells: note === '' ? cells : [...cells, { text: note, look: LOOKS.remark, span: ALL - 2 }] };
}

function glance({ rows, source, dry_run: dry }: Summary, facts: Facts): PageLine[] {
  const { differences, orphans, scope, previous, compared } = facts;
  const before = previous ? `; the run before had ${count(previous.rows)}` : '';
  const lines = [
    ...section('At a glance'),
    fact('Rows of the file', rows.total, {
      note: `${source ? `${fileName(source.path)}` : 'No file'}${before}.`,
    }),
    fact('Records the file is about', scope.records, { note: scopeSentence(facts) }),
  ];
  if (compared) {
    lines.push(
      fact('Agree', compared.agree, { note: 'The same in every field that is compared. Nothing to do.' }),
      fact('Differ', compared.differ, {
        note: `In at least one field; ${count(differences.fields)} fields in all.`,
        ...(compared.differ > 0 ? { sheet: SHEETS.differences } : {}),
      }),
      fact(dry ? 'Would be put right' : 'Put right', compared.put_right, {
        note: `The file’s values ${dry ? 'would be' : 'were'} written to the record.`,
        part: true,
      }),
      fact('Left to the service', compared.left_to_service, {
        note: 'They differ only in fields where the service’s value stands.',
        part: true,
      }),
    );
    if (compared.not_put_right > 0)
      lines.push(
        fact('Not put right', compared.not_put_right, {
          note: 'Held back, in conflict, refused or not reached: see the sheet Invalid.',
          part: true,
        }),
      );
  } else lines.push(fact('Differ', differences.rows));
  lines.push(
    fact(dry ? 'To create' : 'Created', rows.created, {
      note: 'In the file and not in the service.',
      ...(rows.created > 0 ? { sheet: SHEETS.create } : {}),
    }),
    fact('Orphans', orphans.total, {
      note: `In the service and not in the file; ${count(orphans.fresh)} of them new.`,
      ...(orphans.total > 0 ? { sheet: SHEETS.orphans } : {}),
    }),
  );
  const person = rowsForPerson(rows) - rows.not_attempted;
  lines.push(
    fact('Need a person', person, {
      note: person > 0 ? 'Below is what they need.' : 'Nobody has to do anything.',
      bad: true,
    }),
  );
  return lines;
}

function people({ rows, dry_run: dry }: Summary, { orphans, compared }: Facts): PageLine[] {
  const kinds = OUTCOMES.filter((kind) => !GOOD_OUTCOMES.has(kind) && rows[kind] > 0);
  const lines = section('What needs a person');
  const refused = compared?.orphans_for_person ?? 0;
  if (kinds.length === 0 && refused === 0) lines.push(whole('No row needs a person.', LOOKS.good, 20));
  for (const kind of kinds) {
    const { label, meaning, next = '' } = outcomeWords(kind, dry, 'reconcile');
    lines.push(
      fact(label, rows[kind], {
        note: `${meaning} ${next}`.trim(),
        sheet: kind === 'ambiguous' ? SHEETS.ambiguous : SHEETS.invalid,
        bad: kind !== 'not_attempted',
      }),
    );
  }
  if (refused > 0)
    lines.push(
      fact('Orphans not settled', refused, {
        note: 'They were to be acted on, and were not: the reason stands beside each of them.',
        sheet: SHEETS.orphans,
        bad: true,
      }),
    );
  if (orphans.held > 0)
    lines.push(
      fact('Orphans held back', orphans.held, {
        note: orphans.held_reason ?? 'Why stands beside each of them.',
        sheet: SHEETS.orphans,
      }),
    );
  return lines;
}

function fields({ differences }: Facts): PageLine[] {
  if (differences.by_field.length === 0) return [];
  const head = (text: string, first = false): PageCell => ({ text, look: first ? LOOKS.heading : LOOKS.headingRight });
  const lines: PageLine[] = [
    ...section('Differences by field'),
    {
      cells: [
        head('Field', true),
        head('Rows'),
        head('File’s value stands'),
        head('Service’s stands'),
        head('Cleared'),
      ],
      height: 20,
    },
  ];
  const number = (n: number): PageCell => ({ text: String(n), look: LOOKS.minorCount });
  const byMost = [...differences.by_field].sort((a, b) => b.file + b.service - (a.file + a.service));
  for (const { field, file, service, cleared } of byMost)
    lines.push({
      cells: [
        { text: field, look: LOOKS.indented },
        number(file + service),
        number(file),
        number(service),
        number(cleared),
      ],
    });
  const sum: PageCell[] = [
    differences.fields,
    differences.file_stands,
    differences.service_stands,
    differences.cleared,
  ].map((n) => ({ text: String(n), look: LOOKS.count }));
  lines.push({ cells: [{ text: 'All', look: LOOKS.name }, ...sum] });
  return lines;
}

function orphans(summary: Summary, facts: Facts): PageLine[] {
  const { orphans: found } = facts;
  const { acted, refused, left, planned } = actedOrphans(summary, facts);
  const { total, fresh, waiting, settled, held } = found;
  const lines = [...section('Orphans'), whole(orphanRule(found), LOOKS.remark)];
  if (total === 0) return [...lines, whole('There are none.', LOOKS.said)];
  lines.push(
    fact('New', fresh, { note: 'Not missing in the run before.', part: true }),
    planned ? fact('Would be acted on', left, { part: true }) : fact('Acted on', acted, { part: true }),
    ...(left > 0 && !planned ? [fact('Not acted on', left, { note: 'Nothing was done to them.', part: true })] : []),
    ...(refused > 0
      ? [fact('Not settled', refused, { note: 'They were to be acted on, and need a person.', part: true, bad: true })]
      : []),
    fact('Wait', waiting, { note: 'Not missing often enough yet.', part: true }),
    fact('Held back', held, { note: found.held_reason ?? '', part: true }),
    fact('Settled', settled, { note: 'They have the job’s values already.', part: true }),
  );
  return lines;
}

function reading({ detected = [] }: Summary, facts: Facts): PageLine[] {
  const found = [...readingFacts(facts), ...detected.map((text) => ['Detected', text] as const)];
  return [...section('How it was found out'), ...found.map(([label, text]) => fact(label, text))];
}

function theRun(summary: Summary): PageLine[] {
  const { requests, source } = summary;
  const lines = [
    ...section('The run'),
    fact('Run', summary.run),
    fact('Job', `${summary.job} (${summary.resource}s)`),
    fact('Company', String(summary.company)),
  ];
  if (summary.service !== undefined) lines.push(fact('Service', summary.service));
  if (source) {
    lines.push(fact('File', fileName(source.path)), fact('SHA-256', source.sha256));
  }
  lines.push(
    fact('Began', when(summary.started_at)),
    fact('Took', duration(summary.seconds)),
    fact(
      'Requests',
      `${count(requests.total)}: ${count(requests.reads)} reads, ${count(requests.writes)} writes, ${count(requests.retries)} retries`,
    ),
    fact('Reports', summary.reports.join(', ')),
  );
  return lines;
}
