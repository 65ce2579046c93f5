import { type RunError, runFailure } from '../model/error.js';
import { type Issue, warning } from '../model/issue.js';
import { GOOD_OUTCOMES, type Outcome } from '../model/outcome.js';
import type { OpenSource } from '../model/source.js';
import type { RowResult, RowStore, RunStore, StoredRow } from '../store/run-store.js';

/** The results of the rows in the order of the file. `stopReason` says why a row without an outcome was not reached. */
export function* results(rows: RowStore, stopReason: string, where?: string): Generator<readonly RowResult[]> {
  const name = fieldNamer(rows.store.names);
  for (const batch of rows.rows(where)) yield batch.map((row) => name(resultOf(row, stopReason)));
}

/** How a row ended as reports tell it; one that was sent without an answer on record is `unknown`, any other `not_attempted`. */
export function resultOf(row: StoredRow, stopReason: string): RowResult {
  if (!row.result) {
    const outcome = row.op ? unknownOutcome(row, stopReason) : notAttempted(row.row, stopReason);
    return { outcome, diff: [] };
  }
  const { outcome, diff } = row.result;
  // `late`: what the record told when its id was learned.
  const added = [...closingIssues(outcome, stopReason), ...row.late];
  return { outcome: added.length === 0 ? outcome : { ...outcome, issues: [...outcome.issues, ...added] }, diff };
}

/** A field, or a sentence with fields, by the names that people read. */
export const withFieldNames = (text: string, names: RunStore['names']): string =>
  text.replace(/(?<![\w.])(?:template\.\d+\.\d+(?!\.?\w)|form\.\d+\b)/g, (field) => names[field] ?? field);

/** Gives results the names of fields that people read. */
export function fieldNamer(names: RunStore['names']): (result: RowResult) => RowResult {
  if (Object.keys(names).length === 0) return (result) => result;
  const nameOf = (text: string) => withFieldNames(text, names);
  return ({ outcome, diff }) => {
    const issues = outcome.issues.map((issue) => {
      const message = nameOf(issue.message);
      return issue.field ? { ...issue, message, field: nameOf(issue.field) } : { ...issue, message };
    });
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
 * Makes sure that each row of the file has its outcome. Of a run that stopped, those it did not get to are made known first, from
 * its `stoppedSource`. Returns the number of rows.
 * @throws RunError where a run that came to its end does not account for every row.
 */
export async function assertComplete(
  rows: RowStore,
  path: string,
  expected: number | undefined,
  stoppedSource: OpenSource | undefined,
): Promise<number> {
  if (stoppedSource) {
    let read = 0;
    for await (const batch of stoppedSource.rows()) {
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
  return runFailure(
    `The journal ${path} does not account for every row: ${found}. ` +
      'The totals would not be the truth, so no report is written. Resume the run to settle what is open.',
  );
}

/** What is to be said of an outcome at the end of the run, beside what was noted with it. */
function closingIssues({ kind, id, attempts, issues }: Outcome, stopReason: string): Issue[] {
  // A row that was skipped because the run stopped says so, like those that were never looked at.
  if (kind === 'not_attempted' && stopReason !== '' && !issues.some(({ code }) => code === 'run_stopped'))
    return [warning('run_stopped', stopReason)];
  // Attempts tell a record that was really created from one of a dry run.
  if (kind !== 'created' || id !== undefined || attempts === 0) return [];
  const message =
    'The record was created; the service did not tell its id, and it could not be learned by looking it up.';
  return [warning('id_unknown', message)];
}

function notAttempted(row: number, stopReason: string): Outcome {
  const issues = [warning('run_stopped', stopReason)];
  return { ref: { row }, kind: 'not_attempted', key: '', attempts: 0, issues, changed: [] };
}

function unknownOutcome({ row, key, record }: StoredRow, stopReason: string): Outcome {
  const message = `${stopReason} The row was on its way to the service; resuming the run finds out whether it arrived.`;
  return {
    ref: { row },
    kind: 'unknown',
    key,
    attempts: 1,
    issues: [{ code: 'outcome_unknown', severity: 'error', message, origin: 'local' }],
    changed: [],
    ...(record === undefined ? {} : { id: record }),
  };
}
