import { type ByPlace, choicesByPlace, numbersByPlace } from '../../compact/by-place.js';
import { parseJson } from '../../model/json.js';
import { OUTCOMES, type OutcomeKind } from '../../model/outcome.js';
import type { Json, RequestCounts } from '../../service/port.js';
import type { RowStore, RunStore } from '../../store/run-store.js';

/** An intent without an outcome: the request may have taken effect. */
export interface OpenIntent {
  readonly op: 'create' | 'update';
  readonly at: number;
  /** Updates: the record's id. */
  readonly id?: number;
  /** Updates: the record as it was before. */
  before?: Json;
}

/**
 * What the store tells of earlier processes of a run. `not_attempted` and `failed` finish nothing: both are known not
 * to be written.
 */
export interface Past {
  readonly begun: boolean;
  /** Whether anything was sent, or was about to be, for whichever rows of the run. */
  readonly sent: boolean;
  /** The brakes on the plan let the run pass: what is left of it is not held against them again. */
  readonly passed: boolean;
  /** Rows that are finished. */
  readonly outcomes: ByPlace<OutcomeKind>;
  /** Keys, as text, of rows whose records were created by requests with empty answers, and whose ids are still to be learned. */
  readonly nameless: ReadonlyMap<number, string>;
  readonly open: ReadonlyMap<number, OpenIntent>;
  /** Ids of rows that were created or updated, for rows that refer to them. */
  readonly ids: Pick<ByPlace<number>, 'get'>;
  /** A process was killed: requests that it had under way are not on record. */
  readonly cutOff: boolean;
  /** Requests of the earlier processes, as far as they are on record. */
  readonly requests: Readonly<RequestCounts>;
  /** What the earlier processes warned of; rows that have their outcome are not looked at again. */
  readonly warned: readonly string[];
  /** Set where every row has its outcome and only the reports may be missing. */
  readonly finished?: Finished;
}

/** What a run that got through its file had found out, for reports that are written again. */
interface Finished {
  readonly warnings: readonly string[];
  readonly detected: readonly string[];
}

/**
 * Reads what the store tells of some rows of a run. Of a retry its first process finds open what the run before had left so.
 * `isTaken`: rows that another run has taken up, and that are left to it.
 */
export function readPast(store: RunStore, rows: RowStore, isTaken = (_: number): boolean => false): Past {
  const outcomes = choicesByPlace(OUTCOMES);
  const open = new Map<number, OpenIntent>();
  const ids = numbersByPlace();
  const nameless = new Map<number, string>();
  let failed = 0;
  for (const batch of rows.rows('op is not null or kind is not null')) {
    for (const { row, op, at, record, key, kind, id } of batch) {
      if (kind === undefined && op !== undefined)
        open.set(row, { op, at: at ?? 0, ...(record === undefined ? {} : { id: record }) });
      if (kind === 'failed') failed++;
      if (kind === undefined || kind === 'not_attempted' || (kind === 'failed' && !isTaken(row))) continue;
      outcomes.set(row, kind);
      if (kind !== 'created' && kind !== 'updated') continue;
      if (id !== undefined) ids.set(row, id);
      else if (kind === 'created') nameless.set(row, key);
    }
  }
  for (const batch of rows.whole(`op = 'update' and kind is null`)) {
    for (const { row, before } of batch) {
      const intent = open.get(row);
      if (intent && before !== undefined) intent.before = (parseJson(before) as { record: Json }).record;
    }
  }
  const { sent } = store;
  const { begun, cutOff, requests } = store.processes;
  const passed = store.kept('passed') === true;
  const finished = store.kept('finished') as Finished | undefined;
  const past = { begun, sent, passed, outcomes, open, ids, nameless, requests, cutOff, warned: store.warned };
  return finished && failed === 0 ? { ...past, finished } : past;
}
