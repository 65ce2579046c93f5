import { RunError } from '../model/error.js';
import { type Issue, warning } from '../model/issue.js';
import { GOOD_OUTCOMES, type Outcome } from '../model/outcome.js';
import type { OpenSource } from '../model/source.js';
import type { EndedRow, RowResult, RowStore, RunStore } from '../store/run-store.js';

/** The results of the rows in the order of the file. `stopReason` says why a row without an outcome was not reached. */
export function* results(rows: RowStore, stopReason: string, where?: string): Generator<readonly RowResult[]> {
  const name = fieldNamer(rows.store.names);
  for (const batch of rows.endedRows(where)) yield batch.map((row) => name(resultOf(row, stopReason)));
}

/** How a row ended as reports tell it; one that was sent without an answer on record is `unknown`, any other `not_attempted`. */
export function resultOf(row: EndedRow, stopReason: string): RowResult {
  const { result } = row;
  if (result)
    return {
      outcome: withLateIssues(withUnknownId(withStopReason(result.outcome, stopReason)), row.late),
      diff: result.diff,
    };
  return {
    outcome: row.open ? unknownOutcome(row.row, row.open, stopReason) : notAttempted(row.row, stopReason),
    diff: [],
  };
}

/** A field by the name that people read. */
export const fieldName = (field: string, names: RunStore['names']): string =>
  names[field] ?? (field.startsWith('form.') ? field.replace(/^form\.\d+/, (form) => names[form] ?? form) : field);

/** Gives the fields of results the names that people read. */
export function fieldNamer(names: RunStore['names']): (result: RowResult) => RowResult {
  if (Object.keys(names).length === 0) return (result) => result;
  const nameOf = (field: string) => fieldName(field, names);
  return ({ outcome, diff }) => {
    const issues = outcome.issues.map((issue) => (issue.field ? { ...issue, field: nameOf(issue.field) } : issue));
    return {
      outcome: { ...outcome, issues, changed: outcome.changed.map(nameOf) },
      diff: diff.map((one) => ({ ...one, field: nameOf(one.field) })),
    };
  };
}

/** A row that was made into a record, or would have been if the run had not stopped before it. */
export function isNew({ kind, id, changed }: Outcome): boolean {
  return kind === 'created' || (kind === 'not_attempted' && id === undefined && changed.length > 0);
}

/** Outcomes of the rows that need a person, in input order. */
export function* outcomesForPerson(rows: RowStore, stopReason = ''): Generator<Outcome> {
  const good = [...GOOD_OUTCOMES].map((kind) => `'${kind}'`).join(', ');
  for (const batch of results(rows, stopReason, `kind is null or kind not in (${good})`)) {
    for (const { outcome } of batch) yield outcome;
  }
}

/**
 * Makes sure that each row of the file has its outcome. Of a run that stopped, those it did not get to are made known first.
 * Returns the number of rows.
 * @throws RunError where a run that came to its end does not account for every row.
 */
export async function assertComplete(
  rows: RowStore,
  path: string,
  {
    isStopped,
    source,
    expected,
  }: { readonly isStopped: boolean; readonly source?: OpenSource; readonly expected?: number },
): Promise<number> {
  if (isStopped && source) {
    let read = 0;
    for await (const batch of source.rows()) {
      read += batch.length;
      rows.addRows(batch.map(({ row }) => row));
    }
    const recorded = rows.count();
    if (recorded !== read) throw incomplete(path, `${read} rows were read and ${recorded} are known`);
    return read;
  }
  const open = rows.count('kind is null and op is not null');
  const [first] = rows.rows('kind is null and op is not null').next().value ?? [];
  if (first)
    throw incomplete(path, `row ${first.row} was sent and has no outcome${open > 1 ? `, and ${open - 1} more` : ''}`);
  const ended = rows.count('kind is not null');
  if (expected !== undefined && ended !== expected)
    throw incomplete(path, `${expected} rows were read and ${ended} have an outcome`);
  return ended;
}

function incomplete(path: string, found: string): RunError {
  return new RunError(
    'failed',
    `The journal ${path} does not account for every row: ${found}. ` +
      'The totals would not be the truth, so no report is written. Resume the run to settle what is open.',
  );
}

/** A row that was skipped because the run stopped says so, like those that were never looked at. */
function withStopReason(outcome: Outcome, stopReason: string): Outcome {
  if (
    outcome.kind !== 'not_attempted' ||
    stopReason === '' ||
    outcome.issues.some((issue) => issue.code === 'run_stopped')
  )
    return outcome;
  return { ...outcome, issues: [...outcome.issues, warning('run_stopped', stopReason)] };
}

/** Says of a record that its id is not known. Attempts tell one that was really created from one of a dry run. */
function withUnknownId(outcome: Outcome): Outcome {
  if (outcome.id !== undefined || outcome.kind !== 'created' || outcome.attempts === 0) return outcome;
  const message =
    'The record was created; the service did not tell its id, and it could not be learned by looking it up.';
  return { ...outcome, issues: [...outcome.issues, warning('id_unknown', message)] };
}

/** Adds what the record told when its id was learned. */
function withLateIssues(outcome: Outcome, late: readonly Issue[]): Outcome {
  return late.length === 0 ? outcome : { ...outcome, issues: [...outcome.issues, ...late] };
}

function notAttempted(row: number, stopReason: string): Outcome {
  const issues = [warning('run_stopped', stopReason)];
  return { ref: { row }, kind: 'not_attempted', key: '', attempts: 0, issues, changed: [] };
}

function unknownOutcome(row: number, { key, record }: NonNullable<EndedRow['open']>, stopReason: string): Outcome {
  const message = `${stopReason} The row was on its way to the service; resuming the run finds out whether it arrived.`;
  return {
    ref: { row },
    kind: 'unknown',
    key,
    attempts: 1,
    issues: [{ code: 'outcome_unknown', severity: 'error', message, origin: 'local' }],
    changed: [],
    ...(record === null ? {} : { id: record }),
  };
}
