import { RunError } from '../../model/error.js';
import type { RequestCounts } from '../../model/progress.js';
import { eachLimit } from '../../pipeline/apply/apply.js';
import {
  Halted,
  isFreshAt,
  type ReadAnswer,
  type ReadRequest,
  type WriterOptions,
} from '../../pipeline/apply/write.js';
import type { ResourceName } from '../../resources/spec.js';
import type { Readable, Service, WriteAnswer, WriteRequest } from '../../service/port.js';
import { openService } from '../../service/service.js';
import type { Carried, CarriedAnswer, Carrier, RunContext, WorkerContext } from '../run/context.js';
import { serviceOptions, sharedOptions } from '../run/open-service.js';

/** Requests in one part: the unit of distribution. */
export const PART_SIZE = 500;
/** Fewer are sent sooner than they are carried. */
const MIN_CARRIED = 50;

/**
 * Sends writing requests: from here, or, where a carrier has takers, gathered into parts that go to whatever worker is
 * free. What a carrier gives back unsent, and what is sent again, is sent from here. Once the run has stopped, what was gathered or given back is
 * not sent: it throws `Halted`. An update whose record has to be read again by then is `unsent`, withheld as `stale`, wherever it waited.
 * Records that are read again before their updates go the same way; what comes back unread is read by who asked.
 */
export function dispatcher(
  service: Service,
  { resource, carrier, size, stopped, refusalsLeft, now }: Dispatch,
): Pick<WriterOptions, 'send' | 'readAgain'> {
  const sendOwn = (request: WriteRequest, again?: boolean) =>
    service.write(request, () => isFreshAt(now(), request), again);
  if (!carrier) return { send: sendOwn };
  const sendHere = async (request: WriteRequest, again?: boolean): Promise<WriteAnswer> => {
    if (stopped()) throw new Halted();
    // Many may wait for their turn when the run stops.
    const answer = await service.write(request, () => !stopped() && isFreshAt(now(), request), again);
    if (answer.kind === 'unsent' && answer.withheld === 'stale' && stopped()) throw new Halted();
    return answer;
  };
  const notRead = async () => undefined;
  /** What came of the others of its part is noted before: it may stop the run. */
  const back = async (request: WriteRequest): Promise<WriteAnswer> => {
    await new Promise(setImmediate);
    return sendHere(request);
  };
  const send = batchRequests<WriteRequest, WriteAnswer>(carrier, size, stopped, sendOwn, back, refusalsLeft);
  const read = batchRequests<ReadRequest, ReadAnswer | undefined>(carrier, size, stopped, notRead, notRead);
  return {
    send: (request, again = false) => (again ? sendHere(request, again) : send(request)),
    async readAgain(id) {
      const readAt = now();
      const answer = await read({ op: 'read', resource, id });
      return answer && { record: answer.record, readAt };
    },
  };
}

interface Dispatch {
  readonly resource: ResourceName;
  readonly carrier: Carrier | undefined;
  /** Requests that one worker is given at this moment. */
  readonly size: () => number;
  readonly stopped: () => boolean;
  /** How many more refusals stop the run; undefined where none do. */
  readonly refusalsLeft?: () => number | undefined;
  readonly now: () => number;
}

/** Requests of one turn of the event loop as parts. `sendDirect`: for what is not worth a part; `onReturned`: for what a carrier gives back. */
function batchRequests<Q extends Carried, A extends CarriedAnswer | undefined>(
  carrier: Carrier,
  size: () => number,
  stopped: () => boolean,
  sendDirect: (request: Q) => Promise<A>,
  onReturned: (request: Q) => Promise<A>,
  refusalsLeft: () => number | undefined = () => undefined,
): (request: Q) => Promise<A> {
  let waiting: { readonly request: Q; readonly done: (answer: Promise<A>) => void }[] = [];
  const sendBatch = () => {
    const batch = waiting;
    waiting = [];
    if (stopped()) {
      for (const { done } of batch) done(Promise.reject(new Halted()));
      return;
    }
    while (batch.length > 0) {
      // Of several parts of the run that begin together: one worker is not to have all of them.
      const part = batch.splice(0, size());
      if (part.length < MIN_CARRIED || carrier.parts === 0) {
        for (const { request, done } of part) done(sendDirect(request));
        continue;
      }
      // Each has its share: together they stop where the run does.
      const refusalsRemaining = refusalsLeft();
      const share = refusalsRemaining === undefined ? undefined : Math.floor(refusalsRemaining / carrier.parts);
      const answers = carrier.carry(
        part.map(({ request }) => request),
        share,
      );
      part.forEach(({ request, done }, at) => {
        // The carrier has seen to it that the answer is one to its request.
        done((answers[at] ?? Promise.resolve(undefined)).then((answer) => (answer as A) ?? onReturned(request)));
      });
    }
  };
  return (request) =>
    new Promise((done) => {
      if (waiting.push({ request, done }) === 1) setImmediate(sendBatch);
    });
}

export { isFreshAt };

export interface PartContext
  extends Pick<RunContext, 'settings' | 'signal' | 'log'>,
    Pick<WorkerContext, 'channel' | 'observe'> {
  readonly company: number;
  /** Asked at the last moment before each try: false where the right to send this part is in doubt. */
  readonly maySend: () => boolean;
  /** Asked likewise: false where the record of an update has to be read again before it is sent. */
  readonly isFresh: (request: WriteRequest) => boolean;
  /** After more refusals nothing more of it is sent. */
  readonly mostRefused?: number;
}

/**
 * Sends a part of another worker's run, in order. `onAnswer` hears of every request exactly once: its answer, or undefined
 * where it certainly was not sent.
 */
export async function sendPart(
  requests: readonly Carried[],
  context: PartContext,
  onAnswer: (index: number, answer: CarriedAnswer | undefined) => void,
): Promise<RequestCounts> {
  const { settings, signal, log, company, maySend, isFresh, mostRefused = Number.POSITIVE_INFINITY } = context;
  const service = openService({
    ...serviceOptions(settings, company),
    ...sharedOptions(context),
    signal,
    mayWrite: maySend,
    log: (level, event, fields) => log[level](fields, event),
  });
  let stopped = false;
  let refused = 0;
  try {
    await eachLimit([...requests.entries()], settings.concurrency, async ([index, request]) => {
      if (signal.aborted || stopped) return onAnswer(index, undefined);
      try {
        if (request.op === 'read') {
          const record = await service.get(request.resource as Readable, request.id);
          return onAnswer(index, { kind: 'read', record: record ?? null });
        }
        const answer = await service.write(request, () => isFresh(request));
        if (answer.kind === 'refused' && ++refused > mostRefused) stopped = true;
        onAnswer(index, isLocalReason(answer, signal) ? undefined : answer);
      } catch (error) {
        // A token refused, a redirect: nothing was written. The run's own worker meets the same, and says it to people.
        if (!(error instanceof RunError)) throw error;
        log.warn({ reason: error.message }, 'part.stopped');
        stopped = true;
        onAnswer(index, undefined);
      }
    });
    return { ...service.counts };
  } finally {
    await service.close();
  }
}

/** Not sent for a reason of this process: somebody else may send it, or its run decide anew. */
function isLocalReason(answer: WriteAnswer, signal: AbortSignal): boolean {
  return answer.kind === 'unsent' && (answer.withheld !== undefined || signal.aborted);
}

export type PartSizes = ReturnType<typeof partSizes>;

const PARTS = 16;
/** Of them not wholly at work yet: while the rest of one is sent, the next is made durable. With others, each may read one again. */
const PARTS_BEGINNING = 2;
/** Rows that may wait for each that is at work from here. */
const ASIDE = 4;
/** Smaller ones cost more on their way than they save. */
const MIN_PART_SIZE = 100;
/** What is with others is sent within about this time: a record that was read for its update must not grow stale there. */
const SENT_WITHIN_MS = 5_000;
const MEASURED_MS = 1_000;

/** How many rows of a run are at work at once, and in parts of which size. `now` in milliseconds. */
export function partSizes(carrier: Pick<Carrier, 'parts'> | undefined, concurrency: number, now: () => number) {
  const carrierParts = () => carrier?.parts ?? 0;
  let since = now();
  let ended = 0;
  /** Rows by all workers together in the time that others are given; 0 until it was measured. */
  let sendable = 0;

  function size(rows: number): number {
    return Math.min(PART_SIZE, Math.max(MIN_PART_SIZE, Math.ceil(rows / carrierParts())));
  }

  return {
    get shared() {
      return carrierParts() > 0;
    },
    /** Parts that are under way at once; most of them wait for what became of a few of their rows. */
    get parts() {
      return PARTS + carrierParts();
    },
    /** Parts whose records are read again, or whose intents are made durable, at once. */
    get beginning() {
      return Math.max(PARTS_BEGINNING, Math.ceil(carrierParts() / 2));
    },
    /** Rows of the next part, with so many rows left. */
    next(rowsLeft: number): number {
      if (carrierParts() === 0) return PART_SIZE;
      // The last parts are smaller: nobody is to stand idle while another one has a whole part left.
      return size(Math.min(rowsLeft, sendable));
    },
    get reads() {
      return carrierParts() === 0 ? concurrency : PART_SIZE;
    },
    get atWork() {
      return carrierParts() === 0 ? concurrency : carrierParts() * size(sendable);
    },
    get aside() {
      return ASIDE * concurrency * Math.max(1, carrierParts());
    },
    /** A row that was sent has its outcome. */
    ended() {
      ended++;
      const ms = now() - since;
      if (ms < MEASURED_MS) return;
      sendable = (ended * SENT_WITHIN_MS) / ms;
      ended = 0;
      since += ms;
    },
  };
}
