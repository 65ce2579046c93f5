import type { IssueCode } from '../model/issue.js';
import { GOOD_OUTCOMES, OUTCOMES, type OutcomeKind } from '../model/outcome.js';
import type { OrphanLine, ReconcileFacts } from '../model/reconcile.js';
import type { Difference } from './reconcile/compare.js';
import {
  count,
  counted,
  isRehearsal,
  type RunKind,
  type RunStatus,
  rowsInPlace,
  rowsToLookAt,
  type Summary,
  when,
} from './summary.js';

/** How all reports say things, so that each is said in one way: outcomes, faults, differences, orphans, the run as a whole. */

/** How reports name an outcome, what it means, and what the reader does about it. */
interface Words {
  readonly label: string;
  readonly meaning: string;
  /** The same in a dry run, where it differs. */
  readonly rehearsed?: { readonly label?: string; readonly meaning: string };
  /** Only for outcomes that need a person. */
  readonly next?: string;
}

const WORDS: Readonly<Record<OutcomeKind, Words>> = {
  created: {
    label: 'Created',
    meaning: 'A new record was made.',
    rehearsed: { label: 'Would be created', meaning: 'A new record would be made.' },
  },
  updated: {
    label: 'Updated',
    meaning: 'An existing record got new values; everything else in it was kept.',
    rehearsed: { label: 'Would be updated', meaning: 'An existing record would get new values.' },
  },
  unchanged: {
    label: 'Unchanged',
    meaning: 'The record has these values already; nothing was sent.',
    rehearsed: { meaning: 'The record has these values already; nothing would be sent.' },
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
const UNDO: Readonly<Partial<Record<OutcomeKind, Partial<Words>>>> = {
  updated: {
    label: 'Put back',
    meaning: 'The record has its earlier values again; one that the run created is retired.',
    rehearsed: {
      label: 'Would be put back',
      meaning: 'The record would get its earlier values again; one that the run created would be retired.',
    },
  },
  unchanged: {
    label: 'As before',
    meaning: 'The record has its earlier values already; nothing was sent.',
    rehearsed: { meaning: 'The record has its earlier values already; nothing would be sent.' },
  },
  invalid: {
    label: 'Cannot be undone',
    meaning: 'It cannot be put back; the message says why. Nothing was sent.',
    next: 'Do what the message says, or put the record right in the service.',
  },
  conflict: {
    label: 'Changed since',
    meaning: 'Somebody changed the record after the run; what they entered was left alone.',
    next: 'Look at the record in the service and decide which value stands.',
  },
  at_risk: { next: 'Read which fields are named, and put the record right in the service.' },
  rejected: { next: 'Read what the service names, and put the record right there.' },
  failed: { next: 'Nothing is wrong with the record: undo the run again when the service is well.' },
  unknown: { next: 'Look the record up in the service, then undo the run again: what is back already is left alone.' },
  not_attempted: {
    meaning: 'The run stopped before this record.',
    next: 'Resume the run where it was interrupted, else undo again: what is back already is left alone.',
  },
};

/** What is said otherwise of the rows of a nightly file: nobody corrects and imports it, the next one comes by itself. */
const RECONCILE: Readonly<Partial<Record<OutcomeKind, Partial<Words>>>> = {
  updated: {
    label: 'Put right',
    meaning: 'The record differed and got the file’s values; everything else in it was kept.',
    rehearsed: { label: 'Would be put right', meaning: 'The record differs and would get the file’s values.' },
  },
  unchanged: {
    meaning: 'Nothing of the record was to be put right; nothing was sent.',
    rehearsed: { meaning: 'Nothing of the record is to be put right; nothing would be sent.' },
  },
  invalid: { next: 'Correct it in the system that writes the file; the next run takes it up.' },
  duplicate: { next: 'Give each its own key in the system that writes the file.' },
  ambiguous: { next: 'Remove the double in the service, or give one of the records another key.' },
  conflict: { next: 'Look at the record in the service and decide which value stands; the next run compares it anew.' },
  rejected: { next: 'Correct what the service names; the next run takes it up.' },
  failed: { next: 'Nothing is wrong with the row: the next run takes it up, or `rowferry runs retry` does now.' },
  unknown: { next: 'The next run finds out; `rowferry runs retry` does now.' },
  not_attempted: {
    next: 'Resume or approve the run, or wait for the next one: what is right already is left alone.',
  },
};

/** What is said otherwise of rows that have no key. */
const APPEND: Readonly<Partial<Record<OutcomeKind, Partial<Words>>>> = {
  duplicate: {
    meaning: 'An earlier row of this file is the same in every mapped column; the earlier one was handled.',
    next: 'Delete the row: imported again, it becomes a second record. Or let the job skip such rows: match: { duplicates: first }.',
  },
};

/** Whose words a run has. */
type WordsOf = RunKind | 'append';

export const wordsOf = ({ kind, append }: Pick<Summary, 'kind' | 'append'>): WordsOf => (append ? 'append' : kind);

const OTHERWISE: Readonly<Partial<Record<WordsOf, Readonly<Partial<Record<OutcomeKind, Partial<Words>>>>>>> = {
  append: APPEND,
  undo: UNDO,
  reconcile: RECONCILE,
};

/** `run`: what kind of run the row is of; the same outcome asks for something else of a nightly file or an undo. */
export function outcomeWords(
  kind: OutcomeKind,
  dryRun: boolean,
  run: WordsOf = 'import',
): { label: string; meaning: string; next?: string } {
  const { label, meaning, rehearsed, next }: Words = { ...WORDS[kind], ...OTHERWISE[run]?.[kind] };
  const chosen =
    dryRun && rehearsed ? { label: rehearsed.label ?? label, meaning: rehearsed.meaning } : { label, meaning };
  return next === undefined ? chosen : { ...chosen, next };
}

// Faults

/** What a reader of a report does about a fault, in one sentence. A test holds the list against the codes. */
const ADVICE: Readonly<Partial<Record<IssueCode, string>>> = {
  required: 'Fill in the cell, or give the column a default in the job.',
  too_long: 'Shorten the text to the length the message names.',
  wrong_length: 'Give exactly the number of characters the message names.',
  not_a_number: 'Write plain digits, such as 1200.50; if the file uses decimal commas, say so in the job.',
  not_an_integer: 'Write a whole number without decimals.',
  out_of_range: 'Check the amount; the message names the smallest and largest value.',
  not_a_date: 'Write the date as 2026-03-31, or state the file’s date format in the job.',
  ambiguous_date: 'State the date format in the job (source, dates): it is never guessed.',
  not_in_list: 'Use one of the values the message lists, or translate yours in the job (values).',
  not_an_email: 'Correct the e-mail address.',
  not_a_boolean: 'Write yes or no.',
  reference_not_found:
    'Correct the spelling, or create the record first; of suppliers and customers the job can do that (references).',
  reference_created: 'Nothing, if the name is spelt right: look at the list of what is created.',
  reference_ambiguous: 'Write the id instead of the name, or rename one of the records.',
  pair_incomplete: 'Fill in both values, or leave both blank.',
  rule_customer_required: 'Name the customer of the contract.',
  rule_supplier_required: 'Name the supplier of the contract.',
  rule_start_before_end: 'Correct the start or the end date.',
  rule_notice_period: 'Shorten the notice period or correct the dates.',
  rule_service_start: 'Move the service start into the contract’s time.',
  rule_nrc_total: 'Correct the non-recurring cost or the total.',
  rule_blended_sum: 'Make capex and opex add up to the total.',
  contract_type_change: 'Create a new contract instead: the type of an existing one is fixed.',
  status_not_writable: 'Use active or archived, or translate the status in the job.',
  field_not_updatable: 'Leave the column out of updates, or change the value in the service itself.',
  excel_error: 'Repair the formula, or replace it by its value.',
  number_precision_lost: 'Format the column as text and enter the number again from its source.',
  duplicate_key: 'Keep one of the rows, or correct the key.',
  duplicate_row: 'Delete one of the two rows.',
  not_a_record: 'Nothing, unless the row is a record: then state source.footer: keep in the job.',
  near_match: 'Write the key as the record or row that is named has it, or make both look different.',
  ambiguous_match: 'Remove the double in the service, or match by id.',
  would_lose_value: 'Map the named fields, or allow the loss in the job; "rowferry doctor --probe" can lift the doubt.',
  changed_meanwhile: 'Decide which value stands and import the row again.',
  service_rejected: 'Correct what the service names in its message.',
  service_unreachable: 'Import the row again when the service is well; the row itself is fine.',
  outcome_unknown: 'Look the record up in the service before sending the row again.',
  ragged_row: 'Look for a delimiter inside a value: put such a value in quotes, and give the row one cell per heading.',
  stray_quote: 'Double the quotation mark inside the value, or remove it.',
  nul_character: 'Remove the NUL character; the file may have been cut or mixed up on its way.',
  misread_text: 'State the right source.encoding, or type the text anew. If it is right, nothing.',
  control_character: 'Remove the invisible character, for instance by typing the value again.',
  invalid_encoding: 'Save the file as UTF-8, or state its encoding in the job.',
  cell_too_long: 'Shorten the text; it may be several rows run together by a missing quotation mark.',
  template_conflict: 'Give the row values of the template the record holds.',
  parent_not_written: 'Put the row it refers to right first; then import both.',
  reference_cycle: 'Break the circle: leave one of the references blank.',
  record_not_found: 'Correct the key, or let the job create records (match, missing: create).',
  record_exists: 'Leave the row out, or let the job update records (match, existing: update).',
  id_unknown: 'Look the record up in the service if you need its id.',
  value_normalised: 'Nothing to do, unless the stored form is not what you meant.',
  no_retire_values:
    'Undo the run again and say what its records are to be given, for instance --retire lifecycle_stage=Retired.',
  old_value_unknown: 'Look at the field in the service, and set it there.',
  run_stopped: 'Resume the run where it was interrupted, else import the file again.',
};

export function advice(code: IssueCode): string {
  return ADVICE[code] ?? 'Read the message of each row.';
}

// Reconciliations. `dry`: a report-only run, in which things would be.

type Facts = NonNullable<Summary['reconcile']>;

/** What became of a difference. */
export function resultOf({ action, outcome }: Difference, dry: boolean): string {
  if (action === 'kept') return 'Left to the service';
  if (outcome === 'updated') {
    if (action === 'clear') return dry ? 'Would be cleared' : 'Cleared';
    return dry ? 'Would be put right' : 'Put right';
  }
  return outcomeWords(outcome, dry, 'reconcile').label;
}

/** Whether the service's value becomes, or would become, the file's. */
export function changes({ action, outcome }: Difference): boolean {
  return action !== 'kept' && (outcome === 'updated' || outcome === 'not_attempted');
}

export function standsWord({ stands }: Difference): string {
  return stands === 'file' ? 'the file’s' : 'the service’s';
}

export function orphanState({ state, outcome }: OrphanLine): string {
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
      return outcome === undefined ? 'Would be acted on' : orphanOutcome(outcome);
  }
}

function orphanOutcome(outcome: OutcomeKind): string {
  if (outcome === 'updated') return 'Acted on';
  return outcomeWords(outcome, false, 'reconcile').label;
}

/** What the job does with orphans, in one sentence. */
export function orphanRule({ action, after }: ReconcileFacts['orphans']): string {
  if (action === 'report') return 'The job reports orphans and leaves them alone.';
  const what = action === 'archive' ? 'archives' : 'sets the job’s values in';
  const nights = after === 1 ? 'at once' : `after ${after} runs in a row without it, each with another file`;
  return `The job ${what} an orphan ${nights}.`;
}

/** What became of the orphans that a run was to act on. */
interface ActedOrphans {
  /** They have the job's values now. */
  readonly acted: number;
  /** They could not be acted on, and need a person. */
  readonly refused: number;
  /** Nothing was done to them. */
  readonly left: number;
  /** Nothing was to be written, or the run stopped before the first of them: those that are left would be acted on. */
  readonly planned: boolean;
}

function actedOrphans(summary: Pick<Summary, 'dry_run' | 'status'>, { orphans, compared }: Facts): ActedOrphans {
  const refused = compared?.orphans_for_person ?? 0;
  const acted = compared?.orphans_acted ?? 0;
  const left = Math.max(orphans.acted - acted - refused, 0);
  return { acted, refused, left, planned: isRehearsal(summary) && acted + refused === 0 };
}

/** `10 acted on`, `2 need a person` */
function actedParts({ acted, refused, left, planned }: ActedOrphans): string[] {
  return [
    ...(acted > 0 ? [`${count(acted)} acted on`] : []),
    ...(refused > 0 ? [`${count(refused)} ${refused === 1 ? 'needs' : 'need'} a person`] : []),
    ...(left > 0 ? [`${count(left)} ${planned ? 'would be acted on' : 'not acted on'}`] : []),
  ];
}

/** `10 acted on, 30 wait, 4 held back` */
export function orphanParts(summary: Summary, facts: Facts): string {
  const { waiting, settled, held } = facts.orphans;
  return [
    ...actedParts(actedOrphans(summary, facts)),
    ...(waiting > 0 ? [`${count(waiting)} ${waiting === 1 ? 'waits' : 'wait'}`] : []),
    ...(held > 0 ? [`${count(held)} held back`] : []),
    ...(settled > 0 ? [`${count(settled)} settled already`] : []),
  ].join(', ');
}

/** A number of a comparison, and what it is made of; `bad`: it needs somebody. */
interface GlanceLine {
  readonly bad: boolean;
  readonly n: number;
  readonly what: string;
  readonly made: string;
}

/** A comparison in a few numbers. */
export function glance(summary: Summary, facts: Facts): GlanceLine[] {
  const { rows, dry_run: dry } = summary;
  const { compared, differences, orphans } = facts;
  const person = rowsToLookAt(rows);
  const line = (n: number, what: string, made = '', bad = false): GlanceLine => ({ bad, n, what, made });
  const joined = (...parts: (string | false)[]) => parts.filter((part) => part !== false && part !== '').join(', ');
  const of = (n: number, what: string) => n > 0 && `${count(n)} ${what}`;
  const kinds = OUTCOMES.filter((kind) => !GOOD_OUTCOMES.has(kind) && kind !== 'not_attempted');
  return [
    line(compared?.agree ?? rows.unchanged, 'agree'),
    line(
      compared?.differ ?? differences.rows,
      'differ',
      compared &&
        joined(
          of(compared.put_right, dry ? 'would be put right' : 'put right'),
          of(compared.left_to_service, 'left to the service'),
          of(compared.not_put_right, 'not put right'),
        ),
    ),
    line(rows.created, dry ? 'to create' : 'created'),
    line(rows.skipped, 'skipped', 'by the job’s own rule'),
    line(
      orphans.total,
      orphans.total === 1 ? 'orphan' : 'orphans',
      joined(of(orphans.fresh, 'new'), orphanParts(summary, facts)),
    ),
    line(
      person,
      person === 1 ? 'needs a person' : 'need a person',
      joined(...kinds.map((kind) => of(rows[kind], outcomeWords(kind, false, 'reconcile').label.toLowerCase()))),
      true,
    ),
    line(rows.not_attempted, 'not reached', 'the run stopped before them', true),
  ].filter(({ n, what }) => n > 0 || what === 'agree' || what === 'differ');
}

/** Where the records of the service went: all, outside the scope, without a key; '' where every one can be meant. */
export function scopeSentence({ scope, read }: ReconcileFacts): string {
  const parts: string[] = [];
  if (read.records !== scope.records) parts.push(`${count(read.records)} read`);
  if (scope.outside > 0)
    parts.push(`${count(scope.outside)} outside the job’s scope${scope.described ? ` (${scope.described})` : ''}`);
  else if (scope.described) parts.push(`scope: ${scope.described}`);
  if (scope.without_key > 0)
    parts.push(`${count(scope.without_key)} without a value in the key, so that no row can mean them`);
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
        ? `Run ${previous.run} of ${when(previous.at)}, ${count(previous.rows)} rows`
        : 'No earlier run: this is the first.',
    ],
    ...(approved
      ? [['Approved', `By ${approved.by}, ${when(approved.at)}: the plan of run ${approved.run}`] as const]
      : []),
  ];
}

// The run as a whole

/** The run in one sentence, for the top of every report. */
export function headline(summary: Summary): string {
  const { rows, status } = summary;
  if (rows.total === 0) return nothingRead(summary);
  const parts = summary.reconcile
    ? compared(summary, summary.reconcile)
    : summary.kind === 'undo'
      ? putBack(summary)
      : takenUp(summary, rowsIn(summary));
  const sentence = `${[...parts, ...lost(summary)].join('; ')}.`;
  const lead = summary.dry_run && status === 'braked' ? 'A brake would stop this run' : LEAD[status];
  if (!lead) return capital(sentence);
  // The run stopped behind its last row: that it failed is not to be read as its rows not being in.
  const after = !summary.reconcile && summary.kind !== 'undo' && rowsInPlace(rows) === rows.total;
  return after ? `${lead}, after its last row: ${small(sentence)}` : `${lead}: ${sentence}`;
}

const LEAD: Readonly<Partial<Record<RunStatus, string>>> = {
  braked: 'Stopped by a brake',
  failed: 'The run failed',
  interrupted: 'The run was interrupted',
};

function nothingRead({ status, kind, reconcile }: Summary): string {
  if (status === 'failed') return 'The run failed before any row was read.';
  if (status === 'braked') return 'Stopped by a brake: the file holds no data rows; nothing was written.';
  if (kind === 'undo') return 'The run wrote nothing that could be put back.';
  const orphans = reconcile?.orphans.total ?? 0;
  return orphans > 0 ? `The file holds no data rows; ${orphaned(orphans)}.` : 'The file holds no data rows.';
}

function rowsIn(summary: Summary): string[] {
  const { rows, dry_run: dry, status, skipped } = summary;
  const inPlace = rowsInPlace(rows);
  const total = rows.total;
  const parts: string[] = [];
  if (LEAD[status] && rows.created + rows.updated === 0) {
    parts.push(dry ? 'nothing would be written' : 'nothing was written');
  } else if (rows.unchanged === total) {
    parts.push(`${all(total)} ${are(total)} in the service already; nothing ${dry ? 'would be' : 'was'} sent`);
  } else if (inPlace === total) {
    parts.push(`${all(total)} ${dry ? 'would go' : are(total)} in`);
  } else {
    const went = skipped?.existing ? 'went' : are(inPlace);
    parts.push(`${count(inPlace)} of ${count(total)} rows ${dry ? 'would go' : went} in`);
  }
  return [...parts, ...skips(summary), ...left(rows, '')];
}

/** Why rows were skipped, one part for each reason. */
function skips({ rows, skipped = { existing: 0, repeated: 0, no_record: 0 } }: Summary): string[] {
  const { existing, repeated, no_record: none } = skipped;
  const rest = rows.skipped - existing - repeated - none;
  return [
    ...(existing > 0
      ? [
          existing === 1
            ? '1 has a record, which stays as it is'
            : `${count(existing)} have records, which stay as they are`,
        ]
      : []),
    ...(repeated > 0 ? [`${count(repeated)} ${repeated === 1 ? 'repeats' : 'repeat'} an earlier row`] : []),
    ...(none > 0 ? [`${count(none)} ${none === 1 ? 'is no record' : 'are no records'}`] : []),
    ...(rest > 0 ? [`${count(rest)} ${was(rest)} skipped by the job’s own rule`] : []),
  ];
}

/** A retry of a reconciliation compares nothing, and its total is not that of the file. */
function takenUp({ kind, of_run: of, rows, status }: Summary, parts: string[]): string[] {
  if (kind !== 'reconcile' || of === undefined || LEAD[status]) return parts;
  const these = rows.total === 1 ? 'one row' : `${count(rows.total)} rows`;
  return [`${these} of the run ${of} ${was(rows.total)} taken up again`, ...parts.map(small)];
}

/** A reconciliation: what was put right, and what is left. */
function compared({ rows, dry_run: dry, status }: Summary, facts: NonNullable<Summary['reconcile']>): string[] {
  const { updated, created } = rows;
  const parts: string[] = [];
  const were = (n: number) => (dry ? 'would be' : was(n));
  if (updated > 0) parts.push(`${counted(updated, 'record')} ${were(updated)} put right`);
  if (created > 0) parts.push(`${updated > 0 ? count(created) : counted(created, 'record')} ${were(created)} created`);
  const { total, fresh } = facts.orphans;
  const orphans = actedOrphans({ dry_run: dry, status }, facts);
  if (parts.length === 0) {
    const agreed = facts.compared?.agree ?? rows.unchanged;
    if (LEAD[status] && orphans.acted > 0) parts.push('no row was put right');
    else if (LEAD[status]) parts.push(dry ? 'nothing would be written' : 'nothing was written');
    else if (agreed === rows.total) parts.push(`the file and the service agree in ${all(rows.total).toLowerCase()}`);
    else parts.push(dry ? 'nothing would be put right' : 'nothing was to be put right');
  }
  if (total > 0) parts.push(orphaned(total, [...(fresh > 0 ? [`${count(fresh)} new`] : []), ...actedParts(orphans)]));
  return [...parts, ...left(rows, 'row')];
}

/** An undo: its rows are the records that the run had written. */
function putBack({ rows, dry_run: dry, status, stay = 0 }: Summary): string[] {
  const { total, updated, unchanged } = rows;
  const parts: string[] = [];
  const staying = dry ? 'would stay' : stay === 1 ? 'stays' : 'stay';
  const kept = stay > 0 ? [`${counted(stay, 'record')} created for them ${staying}`] : [];
  const of = total === 1 ? 'the only record' : updated === total ? `all ${count(total)} records` : undefined;
  if (updated > 0) {
    const told = of ?? `${count(updated)} of ${count(total)} records`;
    parts.push(dry ? `${told} would be put back` : `put back ${told}`);
  } else if (unchanged === total) {
    const every = total === 1 ? 'the only record' : `all ${count(total)} records`;
    return [`${every} ${are(total)} as before already; nothing ${dry ? 'would be' : 'was'} sent`, ...kept];
  } else parts.push(LEAD[status] || !dry ? 'nothing was put back' : 'nothing would be put back');
  if (unchanged > 0) parts.push(`${count(unchanged)} ${are(unchanged)} as before already`);
  return [...parts, ...kept, ...left(rows, '')];
}

/** What is left of the rows. */
function left(rows: Summary['rows'], word: '' | 'row'): string[] {
  const [person, missed] = [rowsToLookAt(rows), rows.not_attempted];
  const named = (n: number) => (word === '' ? count(n) : counted(n, word));
  return [
    ...(person > 0 ? [`${named(person)} ${person === 1 ? 'needs' : 'need'} a person`] : []),
    ...(missed > 0 ? [`${named(missed)} ${was(missed)} not reached`] : []),
  ];
}

/** What rows that ended well have cost. */
function lost({ losses, dry_run: dry }: Summary): string[] {
  const { destroyed = 0, missing = 0 } = losses ?? {};
  return [
    ...(destroyed > 0 ? [`${counted(destroyed, 'update')} ${dry ? 'would destroy' : 'destroyed'} values`] : []),
    ...(missing > 0 ? [`${count(missing)} ${was(missing)} created without all values`] : []),
  ];
}

function orphaned(total: number, parts: readonly string[] = []): string {
  return `${counted(total, 'orphan')}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`;
}

function small(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function are(n: number): string {
  return n === 1 ? 'is' : 'are';
}

function all(total: number): string {
  return total === 1 ? 'The only row' : `All ${count(total)} rows`;
}

function was(n: number): string {
  return n === 1 ? 'was' : 'were';
}
