import { randomBytes } from 'node:crypto';
import type { Carried, CarriedAnswer, Carrier, CarrierContext, WriteAnswer } from '../../runs/run/context.js';
import { pause } from '../../runs/run/context.js';
import type { Job, Queue } from '../store/port.js';
import type { Messenger, PartListener } from './protocol.js';
import { answersOf, type Message, type PartData, type PartResult, pack } from './protocol.js';

/**
 * A part as its coordinator sees it.
 *
 *   adding → queued → granted → done
 *   queued: vanished → adding again (it was never sent); failed → adding again once, then done, unsent
 *   granted: nothing heard of its executor for a lease → lost → done; what has no answer is open
 */
class Part {
  /** Undefined until it is on the queue. */
  job: Job | undefined;
  /** The executor that may send it. */
  granted: string | undefined;
  /** Its last asking: by the executor's clock, and by this process's. */
  askedAt = Number.NEGATIVE_INFINITY;
  heardAt = 0;
  cancelled = false;
  done = false;
  /** Hears nothing of it any more. */
  stopListening: () => void = () => undefined;
  readonly answers: Promise<CarriedAnswer | undefined>[];
  readonly #settlers: ((answer: CarriedAnswer | undefined) => void)[] = [];

  /** `failures`: executors that failed before they were granted these requests. */
  constructor(
    readonly requests: readonly Carried[],
    readonly mostRefused: number | undefined,
    readonly failures = 0,
  ) {
    this.answers = requests.map(() => new Promise((resolve) => this.#settlers.push(resolve)));
  }

  /** What has an answer keeps it. */
  settle(index: number, answer: CarriedAnswer | undefined): void {
    this.#settlers[index]?.(answer);
  }

  /** Settles everything that has no answer yet; no reading is ever open. */
  settleRest(answer: WriteAnswer | undefined): void {
    for (const [at, { op }] of this.requests.entries()) this.settle(at, op === 'read' ? undefined : answer);
  }

  /** Takes the answers that its executor sends. */
  acceptAnswers(packed: string): void {
    for (const [index, answer] of answersOf(packed, this.requests)) this.settle(index, answer ?? undefined);
  }
}

export const LOST: WriteAnswer = {
  kind: 'open',
  answered: false,
  reason: 'the worker that was sending it was lost',
};

interface CarrierOptions extends CarrierContext {
  readonly run: string;
  readonly queue: Queue;
  readonly messenger: Messenger;
  readonly leaseMs: number;
  /** Processes that take parts now. */
  readonly workerCount: () => number;
}

/** Parts on the queue are held in the store's memory: never more than these, however many workers there are. */
const MOST_PARTS = 32;
/** Events may be missed: the queue itself is asked this often. */
const POLL_EVERY_MS = 2_000;
/** What so many executors failed over is not given to another one. */
const MOST_FAILURES = 2;
/** After an interruption answers of other workers are waited for this long; then their rows stay open, for the resumption. */
const LAST_ANSWERS_MS = 15_000;

/** The coordinator's end of the parts of one run; `protocol.ts` says how it speaks with executors. */
export function openCarrier(options: CarrierOptions): Carrier {
  const { run, company, resource, queue, messenger, signal, log, workerCount, leaseMs, mayWrite, now } = options;
  // Parts of an earlier process of this run are none of ours, and nothing that was said about them is said about ours.
  const prefix = `${run}.${randomBytes(8).toString('hex')}.`;
  const activeParts = new Map<string, Part>();
  const sent = { reads: 0, writes: 0, retries: 0 };
  let number = 0;
  let lost = false;
  let polling: Promise<void> | undefined;
  const timer = setInterval(() => {
    polling ??= poll().finally(() => {
      polling = undefined;
    });
  }, POLL_EVERY_MS);
  timer.unref();

  async function add(part: Part): Promise<void> {
    const id = `${prefix}${number++}`;
    const { requests, mostRefused } = part;
    const listener: PartListener = {
      message: (message) =>
        void onMessage(id, part, message).catch((error: unknown) =>
          log.warn({ part: id, err: error }, 'part.not_heard'),
        ),
      completed: (result) => onCompleted(id, part, result),
      failed: () => onFailed(id, part),
    };
    activeParts.set(id, part);
    messenger.listen(id, listener);
    part.stopListening = () => messenger.forget(id, listener);
    try {
      const data = {
        ...{ v: 4, run, company, resource, count: requests.length, packed: pack(requests) },
        ...(mostRefused !== undefined && { most_refused: mostRefused }),
      } as PartData;
      part.job = await queue.add('part', messenger.signedPart(id, data), { jobId: id, attempts: 1 });
      if (part.done) removeJob(id);
    } catch (error) {
      // The store may have taken it and lost the answer: then it may be granted by now, and goes on as any other.
      log.warn({ part: id, err: error }, 'part.not_added');
      if (part.done || part.granted !== undefined) return;
      // Nobody is granted a part that is no longer under way.
      drop(id, part);
      part.settleRest(undefined);
    }
  }

  function drop(id: string, part: Part): void {
    part.done = true;
    activeParts.delete(id);
    part.stopListening();
    removeJob(id);
  }

  function removeJob(id: string): void {
    queue.remove(id).catch(() => undefined);
  }

  async function onMessage(id: string, part: Part, message: Message): Promise<void> {
    if (part.done) return;
    if ('answers' in message) {
      if (message.from === part.granted) part.acceptAnswers(message.answers);
      return;
    }
    if (!('ask' in message)) return;
    part.job ??= await queue.getJob(id);
    const { job } = part;
    if (!job || part.done) return;
    const { ask, at } = message;
    const grants = !part.cancelled && mayWrite();
    if (part.granted === undefined && grants) part.granted = ask;
    if (part.granted !== ask) return reply(job, { deny: ask });
    // What was said before, and is said once more by somebody else.
    if (at <= part.askedAt) return;
    part.askedAt = at;
    part.heardAt = performance.now();
    await reply(job, grants ? { grant: ask, at, now: now() } : { cancel: ask });
  }

  /** Of an earlier process of this run, or of a run that held the right to write that is this run's now. */
  function isOrphaned({ id, data }: Job): boolean {
    if (id?.startsWith(prefix)) return false;
    const { run: other, ...part } = (data ?? {}) as Partial<PartData>;
    return other === run || (part.company === company && part.resource === resource);
  }

  async function reply(job: Job, message: Message): Promise<void> {
    await messenger
      .send(job, message)
      .catch((error: unknown) => log.warn({ part: job.id, err: error }, 'part.no_reply'));
  }

  function onCompleted(id: string, part: Part, result: PartResult | undefined): void {
    if (part.done) return;
    if (!result) onFailed(id, part);
    // The grant may have got lost on its way to the one who asked.
    else if ('refused' in result) {
      if (part.granted === undefined || part.granted === result.refused) requeue(id, part);
    } else if (result.from === part.granted) {
      try {
        part.acceptAnswers(result.answers);
      } catch (error) {
        markLost(id, part, `its answers cannot be read: ${String(error)}`);
        return;
      }
      sent.reads += result.reads;
      sent.writes += result.writes;
      sent.retries += result.retries;
      drop(id, part);
      part.settleRest(LOST);
    }
  }

  /** The queue says so. Of a part that was granted, its executor alone can tell. */
  function onFailed(id: string, part: Part): void {
    if (!part.done && part.granted === undefined) requeue(id, part, part.failures + 1);
  }

  /** It was never granted, so it was never sent. */
  function requeue(id: string, part: Part, failures = part.failures): void {
    drop(id, part);
    if (part.cancelled || failures >= MOST_FAILURES) {
      part.settleRest(undefined);
      return;
    }
    const fresh = new Part(part.requests, part.mostRefused, failures);
    for (const [at, answer] of fresh.answers.entries()) void answer.then((value) => part.settle(at, value));
    void add(fresh);
  }

  function markLost(id: string, part: Part, reason: string): void {
    log.warn({ part: id, reason }, 'part.lost');
    lost = true;
    drop(id, part);
    part.settleRest(LOST);
  }

  /** Asks the queue what became of the parts of which nothing is heard. */
  async function poll(): Promise<void> {
    for (const [id, part] of [...activeParts]) {
      if (part.done || !part.job) continue;
      try {
        const job = await queue.getJob(id);
        const ended = job?.finishedOn !== undefined;
        if (ended && !job.failedReason) onCompleted(id, part, messenger.result(id, job.returnvalue));
        if (part.done) continue;
        if (part.granted === undefined) {
          if (!job) requeue(id, part);
          else if (ended) onFailed(id, part);
        } else if (performance.now() - part.heardAt > leaseMs)
          markLost(id, part, 'its executor was not heard of for a lease');
        // It may have missed that it is to stop.
        else if (job && part.cancelled) await reply(job, { cancel: part.granted });
      } catch (error) {
        log.debug({ part: id, err: error }, 'part.look');
      }
    }
  }

  /** What was not granted is taken back; what was, ends as soon as its executor hears of it. */
  function cancel(): void {
    for (const [id, part] of [...activeParts]) {
      part.cancelled = true;
      if (part.granted === undefined) {
        drop(id, part);
        part.settleRest(undefined);
      } else if (part.job) void reply(part.job, { cancel: part.granted });
    }
  }

  function stop(): void {
    cancel();
    if (activeParts.size === 0) return;
    setTimeout(() => {
      for (const [id, part] of [...activeParts]) markLost(id, part, 'its answers did not come in time');
    }, LAST_ANSWERS_MS).unref();
  }
  signal.addEventListener('abort', stop, { once: true });

  return {
    get parts() {
      const count = workerCount();
      return count < 2 || signal.aborted ? 0 : Math.min(MOST_PARTS, 2 * count + 1);
    },
    carry(requests, mostRefused) {
      const part = new Part(requests, mostRefused);
      if (signal.aborted) part.settleRest(undefined);
      else void add(part);
      return part.answers;
    },
    cancel,
    async quiesce() {
      const began = performance.now();
      for (let isLogged = false; ; isLogged = true) {
        const jobs = await queue.getJobs(['waiting', 'delayed', 'prioritized', 'active']);
        let orphaned = jobs.filter((job) => job?.id !== undefined && isOrphaned(job));
        for (const { id = '' } of orphaned) await queue.remove(id).catch(() => undefined);
        // By then no grant but ours counts. What is not signed was never granted, or by a worker with another secret.
        if (performance.now() - began > leaseMs)
          orphaned = orphaned.filter(({ id = '', data }) => messenger.part(id, data) !== undefined);
        if (orphaned.length === 0 || signal.aborted) return;
        if (!isLogged) log.info({ parts: orphaned.length }, 'waiting until parts of an earlier coordinator have ended');
        await pause(200, signal);
      }
    },
    sent,
    get lost() {
      return lost;
    },
    async close() {
      signal.removeEventListener('abort', stop);
      clearInterval(timer);
      stop();
      await polling;
    },
  };
}
