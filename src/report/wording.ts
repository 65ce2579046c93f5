import { GOOD_OUTCOMES, OUTCOMES, type OutcomeKind } from '../model/outcome.js';
import type { OrphanLine, ReconcileFacts } from '../model/reconcile.js';
import type { Difference } from './reconcile/compare.js';
import {
  countText,
  formatNumber,
  isPlanOnly,
  type RunKind,
  type RunStatus,
  rowsInPlace,
  rowsToReview,
  type Summary,
  timeText,
} from './summary.js';

/** How all reports say things, so that each is said in one way: outcomes, faults, differences, orphans, the run as a whole. */

/** How reports name an outcome, what it means, and what the reader does about it. */
interface OutcomeText {
  readonly label: string;
  readonly meaning: string;
  /** The same in a dry run, where it differs. */
  readonly inDryRun?: { readonly label?: string; readonly meaning: string };
  /** Only for outcomes that need a person. */
  readonly next?: string;
}

const WORDS: Readonly<Record<OutcomeKind, OutcomeText>> = {
  created: {
    label: 'Created',
    meaning: 'A new record was made.',
    inDryRun: { label: 'Would be created', meaning: 'A new record would be made.' },
  },
  updated: {
    label: 'Updated',
    meaning: 'An existing record got new values; everything else in it was kept.',
    inDryRun: { label: 'Would be updated', meaning: 'An existing record would get new values.' },
  },
  unchanged: {
    label: 'Unchanged',
    meaning: 'The record has these values already; nothing was sent.',
    inDryRun: { meaning: 'The record has these values already; nothing would be sent.' },
  },
  skipped: {
    label: 'Skipped',
    meaning:
      'Left out by the job’s own rule for existing or missing records or for rows that are alike, or no record at all: a total, a note, the heading again.',
  },
  invalid: {
    label: 'Invalid',
    meaning: 'A value breaks a rule or a name was not found. Checked here, never sent.',
    next: 'Correct the cells that the reasons name.',
  },
  duplicate: {
    label: 'Duplicate',
    meaning: 'An earlier row of this file has the same key; the earlier one was handled.',
    next: 'Keep the one row that is right, or give each its own key. Take the others out: imported again by itself, such a row overwrites the record of the earlier one.',
  },
  ambiguous: {
    label: 'Ambiguous',
    meaning: 'Several records of the service match the row’s key, so none was touched.',
    next: 'Decide which record is meant: use its id, or remove the double in the service.',
  },
  at_risk: {
    label: 'Held back',
    meaning: 'The update would have destroyed a value that cannot be carried over, so it was not sent.',
    next: 'Read which fields are named. Map them in the job, let `rowferry doctor --probe` find out whether the service keeps them, or allow the loss with at_risk: warn.',
  },
  conflict: {
    label: 'Conflict',
    meaning: 'Somebody else changed the same field after the row was planned; nothing was sent.',
    next: 'Look at the record in the service, decide which value stands, and import the row again.',
  },
  rejected: {
    label: 'Refused',
    meaning: 'The service refused the row; its own words are in the message.',
    next: 'Correct what the service names.',
  },
  failed: {
    label: 'Failed',
    meaning: 'The service could not be reached or kept failing; the row was certainly not written.',
    next: 'Nothing is wrong with the row: import it again when the service is well.',
  },
  unknown: {
    label: 'Unknown',
    meaning: 'Sent, but no answer tells whether it took effect. It is never sent again blindly.',
    next: 'Look the record up in the service. If it is there, delete the row; if not, empty its _outcome cell and import it again.',
  },
  not_attempted: {
    label: 'Not reached',
    meaning: 'The run stopped before this row.',
    next: 'Resume the run where it was interrupted; after a brake import the file again: rows that are in will be found unchanged.',
  },
};

/** What is said otherwise of the records that an undo put back. */
const UNDO: Readonly<Partial<Record<OutcomeKind, Partial<OutcomeText>>>> = {
  updated: {
    label: 'Put back',
    meaning: 'The record has its earlier values again; one that the run created is retired.',
    inDryRun: {
      label: 'Would be put back',
      meaning: 'The record would get its earlier values again; one that the run created would be retired.',
    },
  },
  unchanged: {
    label: 'As before',
    meaning: 'The record has its earlier values already; nothing was sent.',
    inDryRun: { meaning: 'The record has its earlier values already; nothing would be sent.' },
  },
  invalid: {
    label: 'Cannot be undone',
    meaning: 'It cannot be put back; the message says why. Nothing was sent.',
  },
  conflict: {
    label: 'Changed since',
    meaning: 'Somebody changed the record after the run; what they entered was left alone.',
  },
};

/** What is said otherwise of the rows of a nightly file. */
const RECONCILE: Readonly<Partial<Record<OutcomeKind, Partial<OutcomeText>>>> = {
  updated: {
    label: 'Put right',
    meaning: 'The record differed and got the file’s values; everything else in it was kept.',
    inDryRun: { label: 'Would be put right', meaning: 'The record differs and would get the file’s values.' },
  },
  unchanged: {
    meaning: 'Nothing of the record was to be put right; nothing was sent.',
    inDryRun: { meaning: 'Nothing of the record is to be put right; nothing would be sent.' },
  },
};

/** Nobody corrects and imports the rows of an undo or of a nightly file: the next run takes them up. */
const NEXT: Readonly<Partial<Record<Wording, string>>> = {
  undo: 'Look at the record in the service and put it right there, or undo the run again: what is back already is left alone.',
  reconcile: 'Put it right in the system that writes the file, or in the service; the next run compares it anew.',
};

/** What is said otherwise of rows that have no key. */
const APPEND: Readonly<Partial<Record<OutcomeKind, Partial<OutcomeText>>>> = {
  duplicate: {
    meaning: 'An earlier row of this file is the same in every mapped column; the earlier one was handled.',
    next: 'Delete the row: imported again, it becomes a second record. Or let the job skip such rows: match: { duplicates: first }.',
  },
};

/** Whose words a run has. */
type Wording = RunKind | 'append';

export const wordingOf = ({ kind, append }: Pick<Summary, 'kind' | 'append'>): Wording => (append ? 'append' : kind);

const OVERRIDES: Readonly<Partial<Record<Wording, Readonly<Partial<Record<OutcomeKind, Partial<OutcomeText>>>>>>> = {
  append: APPEND,
  undo: UNDO,
  reconcile: RECONCILE,
};

/** `run`: what kind of run the row is of; the same outcome asks for something else of a nightly file or an undo. */
export function outcomeWords(
  kind: OutcomeKind,
  dryRun: boolean,
  run: Wording = 'import',
): { label: string; meaning: string; next?: string } {
  const { label, meaning, inDryRun, next }: OutcomeText = { ...WORDS[kind], ...OVERRIDES[run]?.[kind] };
  const chosen =
    dryRun && inDryRun ? { label: inDryRun.label ?? label, meaning: inDryRun.meaning } : { label, meaning };
  return next === undefined ? chosen : { ...chosen, next: NEXT[run] ?? next };
}

// Reconciliations. `dry`: a report-only run, in which things would be.

type Facts = NonNullable<Summary['reconcile']>;

/** What became of a difference. */
export function differenceResult({ action, outcome }: Difference, dry: boolean): string {
  if (action === 'kept') return 'Left to the service';
  if (outcome === 'updated') {
    if (action === 'clear') return dry ? 'Would be cleared' : 'Cleared';
    return dry ? 'Would be put right' : 'Put right';
  }
  return outcomeWords(outcome, dry, 'reconcile').label;
}

/** Whether the service's value becomes, or would become, the file's. */
export function takesFileValue({ action, outcome }: Difference): boolean {
  return action !== 'kept' && (outcome === 'updated' || outcome === 'not_attempted');
}

export function authorityText({ stands }: Difference): string {
  return stands === 'file' ? 'the file’s' : 'the service’s';
}

/** `lifecycle_stage: Deployed → Retired` */
export function changesText({ changes = [] }: OrphanLine): string {
  return changes.map(({ field, old, new: value }) => `${field}: ${old || '(none)'} → ${value || '(none)'}`).join('; ');
}

export function orphanStateText({ state, outcome }: OrphanLine): string {
  switch (state) {
    case 'report':
      return 'Reported only';
    case 'wait':
      return 'Waits: not missing often enough yet';
    case 'done':
      return 'Settled: has the values already';
    case 'held':
      return 'Held back';
    case 'act':
      if (outcome === undefined) return 'Would be acted on';
      return outcome === 'updated' ? 'Acted on' : outcomeWords(outcome, false, 'reconcile').label;
  }
}

/** What the job does with orphans, in one sentence. */
export function orphanRule({ action, after }: ReconcileFacts['orphans']): string {
  if (action === 'report') return 'The job reports orphans and leaves them alone.';
  const what = action === 'archive' ? 'archives' : 'sets the job’s values in';
  const nights = after === 1 ? 'at once' : `after ${after} runs in a row without it, each with another file`;
  return `The job ${what} an orphan ${nights}.`;
}

/** `10 acted on`, `4 held back`: of those that there are. */
const countParts = (...of: readonly (readonly [n: number, what: string])[]): string[] =>
  of.flatMap(([n, what]) => (n > 0 ? [`${formatNumber(n)} ${what}`] : []));

const needPerson = (n: number) => `${n === 1 ? 'needs' : 'need'} a person`;

/** What became of the orphans that a run was to act on. Where nothing was written to any, those that are left would be acted on. */
function actedParts(summary: Pick<Summary, 'dry_run' | 'status'>, { orphans, compared }: Facts): string[] {
  const { orphans_acted: acted = 0, orphans_for_person: refused = 0 } = compared ?? {};
  const remaining = Math.max(orphans.acted - acted - refused, 0);
  const planned = isPlanOnly(summary) && acted + refused === 0;
  return countParts(
    [acted, 'acted on'],
    [refused, needPerson(refused)],
    [remaining, planned ? 'would be acted on' : 'not acted on'],
  );
}

/** `10 acted on, 30 waiting, 4 held back` */
export function orphanParts(summary: Summary, facts: Facts): string {
  const { waiting, settled, held } = facts.orphans;
  const others = countParts([waiting, 'waiting'], [held, 'held back'], [settled, 'settled already']);
  return [...actedParts(summary, facts), ...others].join(', ');
}

/** A comparison in a few numbers, and what each is made of; `needsAttention`: it needs somebody. */
export function keyFigures(summary: Summary, facts: Facts) {
  const { rows, dry_run: dry } = summary;
  const { compared, differences, orphans } = facts;
  const person = rowsToReview(rows);
  const line = (n: number, what: string, details = '', needsAttention = false) => ({
    needsAttention,
    n,
    what,
    details,
  });
  const kinds = OUTCOMES.filter((kind) => !GOOD_OUTCOMES.has(kind) && kind !== 'not_attempted');
  const details = kinds.map(
    (kind) => [rows[kind], outcomeWords(kind, false, 'reconcile').label.toLowerCase()] as const,
  );
  const { put_right: right = 0, left_to_service: kept = 0, not_put_right: wrong = 0 } = compared ?? {};
  const differ = countParts(
    [right, dry ? 'would be put right' : 'put right'],
    [kept, 'left to the service'],
    [wrong, 'not put right'],
  );
  const missing = [...countParts([orphans.fresh, 'new']), orphanParts(summary, facts)].filter((part) => part !== '');
  return [
    line(compared?.agree ?? rows.unchanged, 'agree'),
    line(compared?.differ ?? differences.rows, 'differ', differ.join(', ')),
    line(rows.created, dry ? 'to create' : 'created'),
    line(rows.skipped, 'skipped'),
    line(orphans.total, orphans.total === 1 ? 'orphan' : 'orphans', missing.join(', ')),
    line(person, needPerson(person), countParts(...details).join(', '), true),
    line(rows.not_attempted, 'not reached', 'the run stopped before them', true),
  ].filter(({ n, what }) => n > 0 || what === 'agree' || what === 'differ');
}

/** Where the records of the service went: all, outside the scope, without a key; '' where every one can be meant. */
export function scopeSentence({ scope, read }: ReconcileFacts): string {
  const parts: string[] = [];
  if (read.records !== scope.records) parts.push(`${formatNumber(read.records)} read`);
  if (scope.outside > 0)
    parts.push(
      `${formatNumber(scope.outside)} outside the job’s scope${scope.described ? ` (${scope.described})` : ''}`,
    );
  else if (scope.described) parts.push(`scope: ${scope.described}`);
  if (scope.without_key > 0)
    parts.push(`${formatNumber(scope.without_key)} without a value in the key, so that no row can mean them`);
  return parts.length > 0 ? `${parts.join('; ')}.` : '';
}

/** How the service was read, and what the run was compared with. */
export function readingFacts({ read, scope, previous, approved }: Facts): (readonly [label: string, text: string])[] {
  return [
    ['Reading', read.described],
    [
      'Certain',
      read.certified
        ? 'Yes: no record that was there all the time can have been missed.'
        : 'No: records may have been missed, so that orphans cannot be told.',
    ],
    ['Scope', scope.described ?? 'All records of the service'],
    [
      'Compared with',
      previous
        ? `Run ${previous.run} of ${timeText(previous.at)}, ${formatNumber(previous.rows)} rows`
        : 'No earlier run: this is the first.',
    ],
    ...(approved
      ? [['Approved', `By ${approved.by}, ${timeText(approved.at)}: the plan of run ${approved.run}`] as const]
      : []),
  ];
}

// The run as a whole

/** The run in one sentence, for the top of every report. */
export function headline(summary: Summary): string {
  const { rows, status, kind, reconcile } = summary;
  // The file of a run that ended before it began was not read.
  if (summary.file !== undefined) return `${STATUS_LEAD[status]} before it began.`;
  const parts =
    rows.total === 0
      ? [kind === 'undo' ? 'the run wrote nothing that could be put back' : 'the file holds no data rows']
      : reconcile
        ? comparisonParts(summary, reconcile)
        : kind === 'undo'
          ? undoParts(summary)
          : importParts(summary);
  const sentence = `${[...parts, ...lossParts(summary)].join('; ')}.`;
  const lead = summary.dry_run && status === 'braked' ? 'A brake would stop this run' : STATUS_LEAD[status];
  return lead ? `${lead}: ${sentence}` : capitalize(sentence);
}

const STATUS_LEAD: Readonly<Partial<Record<RunStatus, string>>> = {
  braked: 'Stopped by a brake',
  failed: 'The run failed',
  interrupted: 'The run was interrupted',
};

function importParts({ rows, dry_run: dry, status }: Summary): string[] {
  const inPlace = rowsInPlace(rows);
  const total = rows.total;
  const parts: string[] = [];
  if (STATUS_LEAD[status] && rows.created + rows.updated === 0) {
    parts.push(dry ? 'nothing would be written' : 'nothing was written');
  } else if (rows.unchanged === total) {
    parts.push(`${all(total, 'row')} ${are(total)} in the service already; nothing ${dry ? 'would be' : 'was'} sent`);
  } else if (inPlace === total) {
    parts.push(`${all(total, 'row')} ${dry ? 'would go' : are(total)} in`);
  } else {
    parts.push(`${formatNumber(inPlace)} of ${formatNumber(total)} rows ${dry ? 'would go' : are(inPlace)} in`);
  }
  return [...parts, ...countParts([rows.skipped, `${was(rows.skipped)} skipped`]), ...remainingParts(rows)];
}

/** A reconciliation: what was put right, and what is left. */
function comparisonParts(summary: Summary, facts: Facts): string[] {
  const { rows, dry_run: dry, status } = summary;
  const { updated, created } = rows;
  const parts: string[] = [];
  const were = (n: number) => (dry ? 'would be' : was(n));
  if (updated > 0) parts.push(`${countText(updated, 'record')} ${were(updated)} put right`);
  if (created > 0)
    parts.push(`${updated > 0 ? formatNumber(created) : countText(created, 'record')} ${were(created)} created`);
  if (parts.length === 0) {
    const agreed = facts.compared?.agree ?? rows.unchanged;
    if (STATUS_LEAD[status] && facts.compared?.orphans_acted) parts.push('no row was put right');
    else if (STATUS_LEAD[status]) parts.push(dry ? 'nothing would be written' : 'nothing was written');
    else if (agreed === rows.total) parts.push(`the file and the service agree in ${all(rows.total, 'row')}`);
    else parts.push(dry ? 'nothing would be put right' : 'nothing was to be put right');
  }
  return [...parts, ...orphansText(summary), ...remainingParts(rows, (n) => countText(n, 'row'))];
}

/** `2 orphans (1 new, 1 acted on)`; empty where there are none, and of other runs. */
export function orphansText(summary: Summary): string[] {
  const { reconcile: facts } = summary;
  if (!facts || facts.orphans.total === 0) return [];
  const parts = [...countParts([facts.orphans.fresh, 'new']), ...actedParts(summary, facts)].join(', ');
  return [`${countText(facts.orphans.total, 'orphan')}${parts === '' ? '' : ` (${parts})`}`];
}

/** An undo: its rows are the records that the run had written. */
function undoParts({ rows, dry_run: dry, status, stay = 0 }: Summary): string[] {
  const { total, updated, unchanged } = rows;
  const staying = dry ? 'would stay' : stay === 1 ? 'stays' : 'stay';
  const kept = stay > 0 ? [`${countText(stay, 'record')} created for them ${staying}`] : [];
  if (unchanged === total)
    return [
      `${all(total, 'record')} ${are(total)} as before already; nothing ${dry ? 'would be' : 'was'} sent`,
      ...kept,
    ];
  const recordsText =
    updated === total ? all(total, 'record') : `${formatNumber(updated)} of ${formatNumber(total)} records`;
  const done = dry ? `${recordsText} would be put back` : `put back ${recordsText}`;
  const none = STATUS_LEAD[status] || !dry ? 'nothing was put back' : 'nothing would be put back';
  const same = countParts([unchanged, `${are(unchanged)} as before already`]);
  return [updated > 0 ? done : none, ...same, ...kept, ...remainingParts(rows)];
}

/** What is left of the rows. */
function remainingParts(rows: Summary['rows'], named: (n: number) => string = formatNumber): string[] {
  const [person, missed] = [rowsToReview(rows), rows.not_attempted];
  return [
    ...(person > 0 ? [`${named(person)} ${needPerson(person)}`] : []),
    ...(missed > 0 ? [`${named(missed)} ${was(missed)} not reached`] : []),
  ];
}

/** What rows that ended well have cost. */
function lossParts({ losses, dry_run: dry }: Summary): string[] {
  const { destroyed = 0, missing = 0 } = losses ?? {};
  return [
    ...(destroyed > 0 ? [`${countText(destroyed, 'update')} ${dry ? 'would destroy' : 'destroyed'} values`] : []),
    ...countParts([missing, `${was(missing)} created without all values`]),
  ];
}

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const are = (n: number): string => (n === 1 ? 'is' : 'are');

const was = (n: number): string => (n === 1 ? 'was' : 'were');

const all = (total: number, what: string): string =>
  total === 1 ? `the only ${what}` : `all ${formatNumber(total)} ${what}s`;
