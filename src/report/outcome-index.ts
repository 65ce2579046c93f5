import type { FileHandle } from 'node:fs/promises';
import { RunError } from '../model/error.js';
import { type Issue, warning } from '../model/issue.js';
import type { Outcome } from '../model/outcome.js';
import type { OpenSource } from '../model/source.js';
import { type DiffText, parseLine, readJournalHeads } from './journal.js';
import { createRowIndex, type RowIndex, type RowPlace } from './row-index.js';
import { readPieces } from './scattered-read.js';

/** An outcome with the changes that were planned for the row. */
export interface RowResult {
  readonly outcome: Outcome;
  readonly diff: readonly DiffText[];
}

/** Places of outcomes, and what was learned of rows after they were written: their ids, and what their records told. */
export type JournalIndex = RowIndex & {
  readonly ids: ReadonlyMap<number, number>;
  readonly late: ReadonlyMap<number, readonly Issue[]>;
};

/**
 * Where the outcome of each row stands in the journal. A second outcome of a row throws a `RunError`, unless the
 * first says that nothing was written: `not_attempted` and `failed` end with the row's real outcome once the run is
 * resumed. A row that has an intent and no outcome is `open`.
 */
export async function indexOutcomes(journal: string): Promise<JournalIndex> {
  const index = createRowIndex();
  const ids = new Map<number, number>();
  const late = new Map<number, readonly Issue[]>();
  for await (const block of readJournalHeads(journal)) {
    for (const { entry, offset, length } of block) {
      if (entry.t === 'ids') {
        for (const [row, id] of entry.ids) ids.set(row, id);
        for (const [row, issues] of entry.issues ?? []) late.set(row, issues);
      }
      if (entry.t !== 'outcome' && entry.t !== 'intent') continue;
      const row = 'outcome' in entry ? entry.outcome.ref.row : entry.row;
      const { state } = index.get(row);
      const replaceable = state === 'none' || state === 'open' || state === 'not_attempted' || state === 'failed';
      if (entry.t === 'intent') {
        if (replaceable) index.set(row, 'open', offset, length);
        continue;
      }
      const kind = 'outcome' in entry ? entry.outcome.kind : entry.kind!;
      if (replaceable) {
        index.set(row, kind, offset, length);
      } else {
        throw new RunError(
          'failed',
          `The journal ${journal} has two outcomes for row ${row}: ${state} and ${kind}. ` +
            'The totals would not be the truth, so no report is written. Check whether two processes ran this run at once.',
        );
      }
    }
  }
  return Object.assign(index, { ids, late });
}

/**
 * Gives every row of a run that stopped early its outcome: sent without an answer on record is `unknown`,
 * everything else the run did not get to is `not_attempted`. Returns the rows of the file: the run may have stopped
 * before it had counted them.
 */
export async function settleRest(index: RowIndex, source: OpenSource): Promise<number> {
  let rows = 0;
  for await (const batch of source.rows()) {
    for (const { row } of batch) {
      rows++;
      const { state, offset, length } = index.get(row);
      if (state === 'none') index.set(row, 'not_attempted', 0, 0);
      else if (state === 'open') index.set(row, 'unknown', offset, length);
    }
  }
  return rows;
}

/** Throws a `RunError` unless each of the rows read has exactly one outcome. */
export function assertComplete(index: RowIndex, rows: number, journal: string): void {
  let open = 0;
  let firstOpen: number | undefined;
  for (const batch of index.batches(PER_READ)) {
    for (const { row, state } of batch) {
      if (state !== 'open') continue;
      open++;
      firstOpen ??= row;
    }
  }
  if (open > 0) {
    throw incomplete(
      journal,
      `row ${firstOpen} was sent and has no outcome${open > 1 ? `, and ${open - 1} more` : ''}`,
    );
  }
  if (index.size !== rows) throw incomplete(journal, `${rows} rows were read and ${index.size} have an outcome`);
}

function incomplete(journal: string, found: string): RunError {
  return new RunError(
    'failed',
    `The journal ${journal} does not account for every row: ${found}. ` +
      'The totals would not be the truth, so no report is written. Resume the run to settle what is open.',
  );
}

/** Rows whose outcomes are read and held at a time. */
export const PER_READ = 1000;

/** The results of the given rows, in their order. `stopped` says why a row without a line of its own was not reached. */
export async function readResults(
  file: FileHandle,
  journal: string,
  places: readonly RowPlace[],
  stopped: string,
  ids: ReadonlyMap<number, number> = new Map(),
  late: ReadonlyMap<number, readonly Issue[]> = new Map(),
): Promise<RowResult[]> {
  const lines = await readPieces(file, places);
  return places.map((place, at) => {
    const line = lines[at];
    if (!line?.length) return { outcome: notReached(place.row, stopped), diff: [] };
    const entry = parseLine(line, journal, place.row);
    if (entry?.t === 'outcome')
      return { outcome: withLate(withId(withReason(entry.outcome, stopped), ids), late), diff: entry.diff ?? [] };
    if (entry?.t === 'intent') return { outcome: leftOpen(entry, stopped), diff: [] };
    throw new RunError('failed', `The journal ${journal} changed while the reports were written. Write them again.`);
  });
}

/** A row that was skipped because the run stopped says so, like those that were never looked at. */
function withReason(outcome: Outcome, stopped: string): Outcome {
  if (
    outcome.kind !== 'not_attempted' ||
    stopped === '' ||
    outcome.issues.some((issue) => issue.code === 'run_stopped')
  )
    return outcome;
  return { ...outcome, issues: [...outcome.issues, warning('run_stopped', stopped)] };
}

/** Adds an id that was learned later. Attempts tell a record that was really created from one of a dry run. */
function withId(outcome: Outcome, ids: ReadonlyMap<number, number>): Outcome {
  if (outcome.id !== undefined) return outcome;
  const id = ids.get(outcome.ref.row);
  if (id !== undefined) return { ...outcome, id };
  if (outcome.kind !== 'created' || outcome.attempts === 0) return outcome;
  const message =
    'The record was created; the service did not tell its id, and it could not be learned by looking it up.';
  return { ...outcome, issues: [...outcome.issues, warning('id_unknown', message)] };
}

/** Adds what the record told when its id was learned. */
function withLate(outcome: Outcome, late: ReadonlyMap<number, readonly Issue[]>): Outcome {
  const issues = late.get(outcome.ref.row);
  return issues === undefined ? outcome : { ...outcome, issues: [...outcome.issues, ...issues] };
}

function notReached(row: number, stopped: string): Outcome {
  const issues = [warning('run_stopped', stopped)];
  return { ref: { row }, kind: 'not_attempted', key: '', attempts: 0, issues, changed: [] };
}

function leftOpen(intent: { row: number; key: string; id?: number }, stopped: string): Outcome {
  const message = `${stopped} The row was on its way to the service; resuming the run finds out whether it arrived.`;
  const outcome: Outcome = {
    ref: { row: intent.row },
    kind: 'unknown',
    key: intent.key,
    attempts: 1,
    issues: [{ code: 'outcome_unknown', severity: 'error', message, origin: 'local' }],
    changed: [],
  };
  return intent.id === undefined ? outcome : { ...outcome, id: intent.id };
}
