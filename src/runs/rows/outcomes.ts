import type { Change, DiffText, FieldDiff } from '../../model/change.js';
import { RunError } from '../../model/error.js';
import type { Outcome, OutcomeKind } from '../../model/outcome.js';
import { isEmpty, valueText } from '../../model/value.js';
import { changedFields } from '../../pipeline/apply/write.js';
import { brakeIn, trippedByRejections } from '../../pipeline/plan/brakes.js';
import { BRAKE } from '../../store/run-store.js';
import type { Run } from '../run/run.js';

/** Notes the outcome of a row in the store and in the run's tally. */
export function note(run: Run, outcome: Outcome, diff: readonly FieldDiff[] = []): void {
  run.rowStore.outcome({ outcome, diff: diff.map(asText) });
  run.tally[outcome.kind]++;
}

/** Notes the outcome of a row that needs no request; in a dry run also what a request would have come to. */
export function noteSettled(run: Run, change: Change): void {
  const { ref, key, issues } = change;
  const kind = outcomeOf(change);
  // What would have changed is told of rows that may be written, not of those that cannot.
  const diff = kind === 'invalid' ? undefined : diffOf(change);
  const id = 'id' in change ? change.id : undefined;
  const changed = kind === 'updated' ? changedFields(diff) : [];
  note(run, { ref, kind, key, attempts: 0, issues, changed, ...(id === undefined ? {} : { id }) }, diff);
}

/** The same for a row of a run that is stopped before it writes. */
export function noteUnsent(run: Run, change: Change): void {
  if (change.kind !== 'create' && change.kind !== 'update') {
    noteSettled(run, change);
    return;
  }
  const { ref, key, issues } = change;
  const outcome = { ref, kind: 'not_attempted' as const, key, attempts: 0, issues };
  if (change.kind === 'create') note(run, { ...outcome, changed: Object.keys(change.fields) }, diffOf(change));
  else note(run, { ...outcome, id: change.id, changed: changedFields(change.diff) }, change.diff);
}

/** What a change comes to, old → new: of a new record every value that it would get. */
function diffOf(change: Change): readonly FieldDiff[] | undefined {
  if (change.kind !== 'create') return 'diff' in change ? change.diff : undefined;
  const { fields, after } = change;
  const parent = after && isEmpty(fields[after.field]) ? { [after.field]: `the record of row ${after.row}` } : {};
  return Object.entries({ ...fields, ...parent }).flatMap(([field, value]) =>
    isEmpty(value) ? [] : [{ field, old: null, new: value, kind: 'set' as const }],
  );
}

function outcomeOf(change: Change): OutcomeKind {
  switch (change.kind) {
    case 'create':
      return 'created';
    case 'update':
      return 'updated';
    case 'unchanged':
      return 'unchanged';
    case 'settled':
      return change.outcome;
  }
}

/** The brake on refusals, looked at after each outcome. Overridden, it is a warning: once, when it would have stopped the run. */
export function checkRejections(run: Run): RunError | undefined {
  const { brakes, match } = run.job;
  // What is met by its id is a record as much as a row; orphans, which are met by nothing else, are no rows.
  const what = String(match.key) === 'id' ? 'records' : 'rows';
  const sentence = trippedByRejections(brakes, run.tally.rejected, run.rows, { corrected: run.corrected, what });
  if (sentence === undefined) return undefined;
  const overridden = 'Brake overridden by --force: max_rejected:';
  const isKnown = run.warnings.some((text) => text.startsWith(overridden));
  if (!isKnown) noteBrake(run, sentence);
  if (!run.request.force) return new RunError('braked', sentence);
  if (!isKnown) run.warn(`Brake overridden by --force: ${sentence}`);
  return undefined;
}

/** Which brakes tripped, and over what, is kept: also where they are overridden. */
export function noteBrake({ store }: Pick<Run, 'store'>, sentence: string): void {
  const { name, found } = brakeIn(sentence);
  store.keep(`${BRAKE}${name}`, found);
}

function asText(diff: FieldDiff): DiffText {
  return { field: diff.field, old: valueText(diff.old), new: valueText(diff.new), kind: diff.kind };
}
