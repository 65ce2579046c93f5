import { randomBytes } from 'node:crypto';
import { isFreshAt, type PartContext, sendPart } from '../../runs/rows/dispatch.js';
import type {
  Carried,
  CarriedAnswer,
  Carrier,
  CarrierContext,
  RunContext,
  WorkerContext,
  WriteAnswer,
} from '../../runs/run/context.js';
import { repeatEvery } from '../rights.js';
import { type Job, type SharedStore, UnrecoverableError } from '../store/port.js';
import { openCarrier } from './carrier.js';
import {
  type Message,
  type Messenger,
  type MessengerOptions,
  MOST_STALLS,
  openMessenger,
  PARTS_AT_ONCE,
  type PartResult,
  pack,
  partsQueue,
  requestsOf,
  type Signed,
} from './protocol.js';

interface PartsOptions extends Omit<ExecutorOptions, 'messenger' | 'log'>, MessengerOptions {
  readonly store: SharedStore;
  readonly service: string;
}

/** How often it is looked who is there to share the work, in milliseconds. */
const COUNT_EVERY_MS = 2_000;
/** Reports of answers pass through the events; nobody reads them later. */
const KEPT_EVENTS = 1_000;
const KEEP_ENDED = { age: 600, count: 200 };

export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Both ends of the parts in one process: it sends parts of others, and has its own sent. */
export async function openParts(options: PartsOptions) {
  const { store, leaseMs, signal, log } = options;
  const name = partsQueue(options.service);
  const queue = store.queue(name, { streams: { events: { maxLen: KEPT_EVENTS } } });
  const events = store.events(name);
  await events.waitUntilReady();
  const messenger = openMessenger(events, options);
  const worker = store.worker(name, partExecutor({ ...options, messenger }), {
    concurrency: PARTS_AT_ONCE,
    lockDuration: leaseMs,
    maxStalledCount: MOST_STALLS,
    removeOnComplete: KEEP_ENDED,
    removeOnFail: KEEP_ENDED,
  });
  // What is taken while this process ends would go back at once, to be taken here once more.
  const stopTaking = () => void worker.close();
  if (signal.aborted) stopTaking();
  else signal.addEventListener('abort', stopTaking, { once: true });
  let workerCount = 1;
  const count = async () => {
    try {
      workerCount = await store.workers(name);
    } catch (error) {
      log.debug({ err: error }, 'parts.count');
    }
  };
  await count();
  const endCounting = repeatEvery(COUNT_EVERY_MS, count);
  return {
    queue,
    async carrier(run: string, context: CarrierContext): Promise<Carrier> {
      // A short run would be over before the next count.
      await count();
      return openCarrier({ ...context, run, queue, messenger, leaseMs, workerCount: () => workerCount });
    },
    async close() {
      endCounting();
      signal.removeEventListener('abort', stopTaking);
      await worker.close();
      await events.close();
      await queue.close();
    },
  };
}

interface ExecutorOptions
  extends Pick<RunContext, 'settings' | 'signal'>,
    Pick<WorkerContext, 'channel' | 'observe'>,
    Pick<MessengerOptions, 'log'> {
  readonly messenger: Messenger;
  /** Lock and grant of a part, in milliseconds. */
  readonly leaseMs: number;
}

/** A coordinator that does not answer for so long is gone. */
const GRANT_WAIT_MS = 10_000;
const ASK_EVERY_MS = 1_000;
/** Answers are reported as they come, so that little is open when this worker is lost. */
const REPORT_EVERY_MS = 250;

/** Sends the requests of parts, whosever run they belong to; `protocol.ts` says under which conditions. */
export function partExecutor(options: ExecutorOptions) {
  return async (job: Job, token: string | undefined): Promise<Signed<PartResult>> => {
    const { messenger, leaseMs } = options;
    const id = job.id ?? '';
    const part = messenger.part(id, job.data);
    if (!part) throw new UnrecoverableError('It is not signed by a worker, or not with the secret of this one.');
    const { run, company, most_refused: mostRefused } = part;
    const log = options.log.child({ run, part: id });
    const name = randomBytes(8).toString('hex');
    const stopping = new AbortController();
    const onStop = () => stopping.abort(options.signal.reason);
    options.signal.addEventListener('abort', onStop, { once: true });
    if (options.signal.aborted) onStop();
    let right: ReturnType<typeof holdSendRight> | undefined;
    const listener = {
      message(message: Message) {
        if ('grant' in message && message.grant === name) right?.granted(message);
        else if ('deny' in message && message.deny === name) right?.denied();
        else if ('cancel' in message && message.cancel === name) stopping.abort('cancelled');
      },
    };
    messenger.listen(id, listener);
    try {
      // What is wrong with it shows before anybody counts on it.
      const requests = requestsOf(part);
      right = holdSendRight(job, token, leaseMs, name, messenger, stopping);
      if (!(await right.firstGrant)) return messenger.signedResult(id, { refused: name });
      const { isHeld, isFresh } = right;
      log.debug('sending a part');
      const all: IndexedAnswer[] = [];
      let unreported: IndexedAnswer[] = [];
      let reporting: Promise<void> = Promise.resolve();
      const report = setInterval(() => {
        if (unreported.length === 0) return;
        const answers = packAnswers(unreported);
        all.push(...unreported);
        unreported = [];
        reporting = reporting.then(() => messenger.send(job, { from: name, answers }).catch(() => undefined));
      }, REPORT_EVERY_MS);
      try {
        const context: PartContext = {
          ...{ ...options, log, signal: stopping.signal, company, maySend: isHeld, isFresh },
          ...(mostRefused !== undefined && { mostRefused }),
        };
        const { reads, writes, retries } = await sendPart(requests, context, (index, answer) =>
          unreported.push([index, trimAnswer(requests[index], answer)]),
        );
        await reporting;
        return messenger.signedResult(id, {
          from: name,
          answers: packAnswers([...all, ...unreported]),
          reads,
          writes,
          retries,
        });
      } finally {
        clearInterval(report);
      }
    } catch (error) {
      log.warn({ err: error }, 'part.failed');
      throw error;
    } finally {
      right?.release();
      messenger.forget(id, listener);
      options.signal.removeEventListener('abort', onStop);
    }
  };
}

type IndexedAnswer = [number, CarriedAnswer | null];

/** The record of an answer to a create is of no use to the coordinator. */
function trimAnswer(request: Carried | undefined, answer: CarriedAnswer | undefined): CarriedAnswer | null {
  return answer?.kind === 'done' && request?.op === 'create' ? withoutRecord(answer) : (answer ?? null);
}

function withoutRecord({ kind, id }: Extract<WriteAnswer, { kind: 'done' }>): WriteAnswer {
  return { kind, ...(id === undefined ? {} : { id }) };
}

/** Records that are too large for the queue are read by the coordinator, where it has a use for them. */
function packAnswers(answers: readonly IndexedAnswer[]): string {
  try {
    return pack(answers);
  } catch {
    return pack(
      answers.map(([index, answer]) => [
        index,
        answer?.kind === 'done' ? withoutRecord(answer) : answer?.kind === 'read' ? null : answer,
      ]),
    );
  }
}

/**
 * The right to send a part: the job's lock and the coordinator's grant, asked for again and again. Each is reckoned, on this
 * process's own clock, for a lease from before it was asked for. A process that was paused, or cut off from the store or the
 * coordinator, so knows at once that the part may be another's; and nobody but the coordinator can say otherwise.
 */
function holdSendRight(
  job: Job,
  token: string | undefined,
  leaseMs: number,
  name: string,
  messenger: Messenger,
  stopping: AbortController,
) {
  const margin = leaseMs / 10;
  const began = performance.now();
  let [lockedUntil, grantedUntil] = [0, 0];
  /** The coordinator's clock when it granted first, less this one's when it asked: no less than what they differ by. */
  let clockAheadMs: number | undefined;
  let renewing = false;
  let settle: (granted: boolean) => void = () => undefined;
  const firstGrant = new Promise<boolean>((resolve) => {
    settle = resolve;
  });
  const isHeld = () => performance.now() < Math.min(lockedUntil, grantedUntil);
  const lost = () => {
    settle(false);
    stopping.abort('the right to send the part was lost');
  };
  const renew = async () => {
    if (renewing || token === undefined) return;
    renewing = true;
    const at = performance.now();
    try {
      lockedUntil = (await job.extendLock(token, leaseMs)) ? at + leaseMs - margin : 0;
      if (lockedUntil === 0) lost();
      else await messenger.send(job, { ask: name, at });
    } catch {
      // The store is away: what was held is held until its time is over.
    }
    renewing = false;
  };
  const renewOrLose = () => {
    const isWaiting = clockAheadMs === undefined && performance.now() - began < GRANT_WAIT_MS;
    if (isWaiting || isHeld()) void renew();
    else lost();
  };
  const timer = setInterval(renewOrLose, Math.max(100, Math.min(ASK_EVERY_MS, leaseMs / 5)));
  stopping.signal.addEventListener('abort', () => settle(false), { once: true });
  if (stopping.signal.aborted) settle(false);
  else void renew();
  return {
    firstGrant,
    isHeld,
    isFresh: ((request) =>
      isFreshAt(performance.now() + (clockAheadMs ?? 0), request)) satisfies PartContext['isFresh'],
    granted({ at, now }: { readonly at: number; readonly now: number }) {
      grantedUntil = Math.max(grantedUntil, at + leaseMs - margin);
      clockAheadMs ??= now - at;
      settle(true);
    },
    denied: lost,
    release: () => clearInterval(timer),
  };
}
