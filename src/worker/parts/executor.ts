import { randomBytes } from 'node:crypto';
import type { Job } from 'bullmq';
import type { RunContext, WorkerContext, WriteAnswer, WriteRequest } from '../../runs/context.js';
import { isFreshAt, type PartContext, sendPart } from '../../runs/send-part.js';
import type { Letters } from './letters.js';
import { pack, unpack } from './pack.js';
import type { Message, PartData, PartResult } from './protocol.js';

export interface ExecutorOptions
  extends Pick<RunContext, 'settings' | 'signal' | 'log'>,
    Pick<WorkerContext, 'channel' | 'observe'> {
  readonly letters: Letters;
  /** Lock of a part, in milliseconds. */
  readonly leaseMs: number;
}

/** A coordinator that does not answer for so long is gone. */
const GRANT_WAIT_MS = 10_000;
const ASK_EVERY_MS = 1_000;
const MOST_RUNS = 1_000;
/** Answers are reported as they come, so that little is open when this worker is lost. */
const REPORT_EVERY_MS = 250;

/** Sends the requests of parts, whosever run they belong to; `protocol.ts` says under which conditions. */
export function partExecutor(options: ExecutorOptions) {
  /** Runs that the log has named. */
  const helped = new Set<string>();
  return async (job: Job, token: string | undefined): Promise<PartResult> => {
    const { letters, leaseMs, log } = options;
    const { packed, company, count, run } = job.data as PartData;
    const name = randomBytes(8).toString('hex');
    const stopping = new AbortController();
    const onStop = () => stopping.abort(options.signal.reason);
    options.signal.addEventListener('abort', onStop, { once: true });
    if (options.signal.aborted) onStop();
    let heard: Heard = () => undefined;
    const listener = {
      message(message: Message) {
        if ('grant' in message && message.grant === name) heard({ coordinatorNow: message.now });
        else if ('deny' in message && message.deny === name) heard(undefined);
        else if ('cancel' in message && message.cancel === name) stopping.abort('cancelled');
      },
    };
    letters.listen(job.id ?? '', listener);
    const lock = holdLock(job, token, leaseMs, () => stopping.abort('the lock was lost'));
    try {
      // It may have taken long from the queue to here.
      await lock.renewed;
      const askedAt = performance.now();
      const grant = await askFor(job, name, letters, stopping.signal, (set) => {
        heard = set;
      });
      if (!grant) return { refused: name };
      const requests = unpack(packed) as WriteRequest[];
      if (requests.length !== count) throw new Error(`part ${job.id} holds ${requests.length} requests, not ${count}`);
      if (!helped.has(run)) log.info({ run, part: job.id }, 'sending parts of a run');
      if (helped.size > MOST_RUNS) helped.clear();
      helped.add(run);
      const all: [number, WriteAnswer | null][] = [];
      let fresh: [number, WriteAnswer | null][] = [];
      let reporting: Promise<void> = Promise.resolve();
      const report = setInterval(() => {
        if (fresh.length === 0) return;
        const answers = pack(fresh);
        all.push(...fresh);
        fresh = [];
        reporting = reporting.then(() => letters.send(job, { from: name, answers }).catch(() => undefined));
      }, REPORT_EVERY_MS);
      try {
        const isFresh = freshness(grant, askedAt);
        const context: PartContext = { ...options, signal: stopping.signal, company, maySend: lock.held, isFresh };
        const counts = await sendPart(requests, context, (index, answer) =>
          fresh.push([index, slim(requests[index], answer)]),
        );
        await reporting;
        return { from: name, answers: pack([...all, ...fresh]), writes: counts.writes, retries: counts.retries };
      } finally {
        clearInterval(report);
      }
    } catch (error) {
      log.warn({ err: error, part: job.id, run }, 'part.failed');
      throw error;
    } finally {
      lock.release();
      letters.forget(job.id ?? '', listener);
      options.signal.removeEventListener('abort', onStop);
    }
  };
}

interface Grant {
  /** What the coordinator's clock showed when it granted, in milliseconds since 1970. */
  readonly coordinatorNow: number;
}

type Heard = (grant: Grant | undefined) => void;

/**
 * Whether the record of an update need not be read again, reckoned on this process's own clock. It was granted after it was
 * asked for: so the coordinator's clock shows no more than what it showed then and the time since.
 */
function freshness({ coordinatorNow }: Grant, askedAt: number): PartContext['isFresh'] {
  return (request) => isFreshAt(coordinatorNow + performance.now() - askedAt, request);
}

/** The record of an answer to a create is of no use to the coordinator. */
function slim(request: WriteRequest | undefined, answer: WriteAnswer | undefined): WriteAnswer | null {
  if (answer?.kind !== 'done' || request?.op !== 'create') return answer ?? null;
  return { kind: 'done', ...(answer.id === undefined ? {} : { id: answer.id }) };
}

/** Asks until there is an answer; undefined where it is no, or there is none in time. */
async function askFor(
  job: Job,
  name: string,
  letters: Letters,
  signal: AbortSignal,
  onHeard: (set: Heard) => void,
): Promise<Grant | undefined> {
  return new Promise((resolve) => {
    const began = performance.now();
    const done = (grant: Grant | undefined) => {
      clearInterval(timer);
      signal.removeEventListener('abort', stop);
      resolve(grant);
    };
    const stop = () => done(undefined);
    onHeard(done);
    const ask = () => {
      if (performance.now() - began > GRANT_WAIT_MS) return done(undefined);
      letters.send(job, { ask: name }).catch(() => undefined);
    };
    const timer = setInterval(ask, ASK_EVERY_MS);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    ask();
  });
}

/**
 * Holds the job's lock and reckons, on this process's own clock, how long it is surely held: from before each renewal that
 * came through, the first of them at once. A process that was paused, or cut off from the store, so knows at once that the
 * part may be another's.
 */
function holdLock(job: Job, token: string | undefined, leaseMs: number, lost: () => void) {
  const margin = leaseMs / 10;
  let heldUntil = 0;
  let renewing = false;
  const held = () => performance.now() < heldUntil;
  const renew = async () => {
    if (renewing || token === undefined) return;
    renewing = true;
    const at = performance.now();
    try {
      heldUntil = (await job.extendLock(token, leaseMs)) ? at + leaseMs - margin : 0;
    } catch {
      // The store is away: what was held is held until its time is over.
    }
    renewing = false;
    if (!held()) lost();
  };
  const renewed = renew();
  const timer = setInterval(() => (held() ? void renew() : lost()), Math.max(100, leaseMs / 5));
  return { held, renewed, release: () => clearInterval(timer) };
}
