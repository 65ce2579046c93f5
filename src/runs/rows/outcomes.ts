import type { Change, DiffText, FieldDiff, ParentRow } from '../../model/change.js';
import { RunError } from '../../model/error.js';
import type { Outcome, OutcomeKind } from '../../model/outcome.js';
import { isEmpty, valueText } from '../../model/value.js';
import { changedFields } from '../../pipeline/apply/write.js';
import type { Mapping } from '../../pipeline/map/map.js';
import { parseBrake, trippedByRejections } from '../../pipeline/plan/brakes.js';
import type { ResolvedRow } from '../../pipeline/rows.js';
import { isNew, withFieldNames } from '../../report/results.js';
import { BRAKE_PREFIX, type RowResult, type RunStore } from '../../store/run-store.js';
import type { Run } from '../run/run.js';
import { readRows } from './row-files.js';

/** Notes the outcome of a row in the store and in the run's tally. */
export function recordOutcome(run: Run, outcome: Outcome, diff: readonly FieldDiff[] = []): void {
  run.rowStore.addOutcome({ outcome, diff: diff.map(diffText) });
  run.tally[outcome.kind]++;
}

/** Notes the outcome of a row that needs no request; in a dry run also what a request would have come to. */
export function recordSettled(run: Run, change: Change): void {
  const { ref, key, issues } = change;
  const kind = outcomeOf(change);
  // What would have changed is told of rows that may be written, not of those that cannot.
  const diff = kind !== 'invalid' ? plannedDiff(change) : undefined;
  const id = 'id' in change ? change.id : undefined;
  const changed = kind === 'updated' ? changedFields(diff) : [];
  recordOutcome(run, { ref, kind, key, attempts: 0, issues, changed, ...(id === undefined ? {} : { id }) }, diff);
}

/** The same for a row of a run that is stopped before it writes. */
export function recordUnsent(run: Run, change: Change): void {
  if (change.kind !== 'create' && change.kind !== 'update') {
    recordSettled(run, change);
    return;
  }
  const { ref, key, issues } = change;
  const outcome = { ref, kind: 'not_attempted' as const, key, attempts: 0, issues };
  if (change.kind === 'create') recordOutcome(run, { ...outcome, changed: Object.keys(change.fields) });
  else {
    const diff = plannedDiff(change);
    recordOutcome(run, { ...outcome, id: change.id, changed: changedFields(diff) }, diff);
  }
}

/** What a change would make of its record, the reference to the record of another row with it. */
function plannedDiff(change: Change): readonly FieldDiff[] | undefined {
  const diff = 'diff' in change ? change.diff : undefined;
  if (change.kind !== 'update' || !change.after) return diff;
  const { field, old = null } = change.after;
  return [...change.diff, { field, old, new: recordOfRow(change.after), kind: 'set' }];
}

const recordOfRow = ({ row }: ParentRow): string => `the record of row ${row}`;

/** Whether a row makes a record that nobody has made: what it would hold stands with the row, and is noted nowhere else. */
function isPlanned(outcome: Outcome, dryRun: boolean): boolean {
  return isNew(outcome) && (dryRun || outcome.kind === 'not_attempted');
}

/** Headings of the file by what the reports call their fields. One that gives several fields would call all of them the same. */
export function headingsOf({ store: { names } }: Pick<Run, 'store'>, { columns }: Pick<Mapping, 'columns'>) {
  const own = columns.filter(({ heading }) => columns.filter((other) => other.heading === heading).length === 1);
  return Object.fromEntries(own.map(({ field, heading }) => [withFieldNames(field, names), heading]));
}

/** The values that the record of a row would get. */
export function plannedValues({ set, after }: ResolvedRow, names: RunStore['names']): readonly DiffText[] {
  const values: DiffText[] = [];
  const add = (field: string, value: string) =>
    values.push({ field: withFieldNames(field, names), old: '', new: value, kind: 'set' });
  for (const field of Object.keys(set)) if (!isEmpty(set[field])) add(field, valueText(set[field]));
  if (after && isEmpty(set[after.field])) add(after.field, recordOfRow(after));
  return values;
}

/** Results with the values of the records that are only planned; both they and the rows stand in the order of the file. */
export async function* addPlannedValues(
  results: Iterable<readonly RowResult[]>,
  { request: { dryRun }, folder, store: { names } }: Pick<Run, 'request' | 'folder' | 'store'>,
): AsyncGenerator<readonly RowResult[]> {
  const stored = readRows(folder.resolved);
  let rows: readonly ResolvedRow[] = [];
  let at = 0;
  try {
    for (const batch of results) {
      const filled: RowResult[] = [];
      for (const result of batch) {
        const { outcome } = result;
        if (!isPlanned(outcome, dryRun)) {
          filled.push(result);
          continue;
        }
        while ((rows[at]?.ref.row ?? 0) < outcome.ref.row) {
          if (++at < rows.length) continue;
          const next = await stored.next();
          if (next.done) throw new Error(`${folder.resolved} lacks row ${outcome.ref.row}`);
          rows = next.value;
          at = 0;
        }
        filled.push({ outcome, diff: plannedValues(rows[at] as ResolvedRow, names) });
      }
      yield filled;
    }
  } finally {
    await stored.return(undefined);
  }
}

function outcomeOf(change: Change): OutcomeKind {
  return change.kind === 'settled' ? change.outcome : OUTCOME_OF_CHANGE[change.kind];
}

const OUTCOME_OF_CHANGE = { create: 'created', update: 'updated', unchanged: 'unchanged' } as const;

/** The brake on refusals, looked at after each outcome. Overridden, it is a warning: once, when it would have stopped the run. */
export function checkRejections(run: Run): RunError | undefined {
  const { brakes, match } = run.job;
  // What is met by its id is a record as much as a row; orphans, which are met by nothing else, are no rows.
  const what = String(match.key) === 'id' ? 'records' : 'rows';
  const sentence = trippedByRejections(brakes, run.tally.rejected, run.rows, { corrected: run.corrected, what });
  if (sentence === undefined) return undefined;
  const overridden = 'Brake overridden by --force: max_rejected:';
  const isWarned = run.warnings.some((text) => text.startsWith(overridden));
  if (!isWarned) recordBrake(run, sentence);
  if (!run.request.force) return new RunError('braked', sentence);
  if (!isWarned) run.warn(`Brake overridden by --force: ${sentence}`);
  return undefined;
}

/** Which brakes tripped, and over what, is kept: also where they are overridden. */
export function recordBrake({ store }: Pick<Run, 'store'>, sentence: string): void {
  const { name, found } = parseBrake(sentence);
  store.setValue(`${BRAKE_PREFIX}${name}`, found);
}

function diffText(diff: FieldDiff): DiffText {
  return { field: diff.field, old: valueText(diff.old), new: valueText(diff.new), kind: diff.kind };
}
