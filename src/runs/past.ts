import { access } from 'node:fs/promises';
import { type ByPlace, choicesByPlace, numbersByPlace } from '../compact/by-place.js';
import { OUTCOMES, type OutcomeKind } from '../model/outcome.js';
import { readLog } from '../report/append-log.js';
import { readJournal } from '../report/journal.js';
import { parseJson } from '../service/json.js';
import type { Json, RequestCounts } from '../service/port.js';
import type { RunFolder } from './layout.js';

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
 * What the journal tells of earlier processes of a run. `not_attempted` and `failed` finish nothing: both are known not
 * to be written.
 */
export interface Past {
  readonly begun: boolean;
  /** Whether anything was sent, or was about to be. */
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
export interface Finished {
  readonly warnings: readonly string[];
  readonly detected: readonly string[];
}

/** Reads the journal; of a run that was not begun there is none. `openBefore`: what an earlier run has left open. */
export async function readPast(
  folder: RunFolder,
  openBefore: ReadonlyMap<number, OpenIntent> = new Map(),
): Promise<Past> {
  const outcomes = choicesByPlace(OUTCOMES);
  const open = new Map(openBefore);
  const ids = numbersByPlace();
  const nameless = new Map<number, string>();
  const failed = new Set<number>();
  const requests: RequestCounts = { total: 0, reads: 0, writes: 0, retries: 0 };
  let latest: RequestCounts | undefined;
  let finished: Finished | undefined;
  const warned: string[] = [];
  let begun = false;
  let sent = false;
  let passed = false;
  let cutOff = false;
  /** The entry read last is one with which a process ends in order. */
  let ended = true;
  const there = await access(folder.journal).then(
    () => true,
    () => false,
  );
  if (!there) return { begun, sent, passed, outcomes, open, ids, nameless, requests, cutOff: false, warned };
  for await (const { entry } of readJournal(folder.journal)) {
    begun = true;
    if (entry.t === 'run') cutOff ||= !ended;
    ended = entry.t === 'phase' && (entry.phase === 'requests' || entry.phase === 'finished');
    if (entry.t === 'run') {
      add(requests, latest);
      latest = undefined;
    } else if (entry.t === 'phase') {
      if (entry.phase === 'requests') latest = entry.data as RequestCounts;
      if (entry.phase === 'passed') passed = true;
      if (entry.phase === 'warned') warned.push(entry.data as string);
      if (entry.phase === 'finished') finished = entry.data as Finished;
    } else if (entry.t === 'intent') {
      sent = true;
      const { op, at, id } = entry;
      open.set(entry.row, { op, at, ...(id === undefined ? {} : { id }) });
    } else if (entry.t === 'ids') {
      for (const [row, id] of entry.ids) {
        ids.set(row, id);
        nameless.delete(row);
      }
    } else if (entry.t === 'outcome') {
      if (entry.requests) {
        const [total, reads, writes, retries] = entry.requests;
        latest = { total, reads, writes, retries };
      }
      const { ref, kind, id, key } = entry.outcome;
      open.delete(ref.row);
      if (kind === 'not_attempted') continue;
      if (kind === 'failed') {
        failed.add(ref.row);
        continue;
      }
      failed.delete(ref.row);
      outcomes.set(ref.row, kind);
      if (id === undefined) {
        if (kind === 'created') nameless.set(ref.row, key);
      } else if (kind === 'created' || kind === 'updated') ids.set(ref.row, id);
    }
  }
  cutOff ||= !ended;
  add(requests, latest);
  await addRecords(folder, open);
  const past = { begun, sent, passed, outcomes, open, ids, nameless, requests, cutOff, warned };
  return finished && failed.size === 0 ? { ...past, finished } : past;
}

function add(total: RequestCounts, more: Readonly<RequestCounts> | undefined): void {
  for (const kind of ['total', 'reads', 'writes', 'retries'] as const) total[kind] += more?.[kind] ?? 0;
}

/** Requests of this process and of those before it. */
export function allRequests(past: Pick<Past, 'requests'>, counts: Readonly<RequestCounts> | undefined): RequestCounts {
  const total = { ...past.requests };
  add(total, counts);
  return total;
}

async function addRecords(folder: RunFolder, open: Map<number, OpenIntent>): Promise<void> {
  if (![...open.values()].some((intent) => intent.op === 'update')) return;
  for await (const lines of readLog(folder.before)) {
    for (const { bytes } of lines) {
      const entry = parseJson(bytes.toString('utf8')) as { row: number; record: Json };
      const intent = open.get(entry.row);
      if (intent) intent.before = entry.record;
    }
  }
}
