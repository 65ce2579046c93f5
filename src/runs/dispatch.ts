import { isFreshAt, sendRequest, type WriteRequest } from '../pipeline/apply/request.js';
import { Halted, type WriterOptions } from '../pipeline/apply/write.js';
import type { Service, WriteAnswer } from '../service/port.js';
import type { Carrier } from './context.js';

/** Requests in one part: the unit of distribution. */
export const PART_SIZE = 500;
/** Fewer are sent sooner than they are carried. */
const FEWEST_CARRIED = 50;

/**
 * Sends writing requests: from here, or, where a carrier has takers, gathered into parts that go to whatever worker is
 * free. What a carrier gives back unsent, and what is sent again, is sent from here. Once the run has stopped, what was gathered or given back is
 * not sent: it throws `Halted`. An update whose record has to be read again by then is `unsent`, withheld as `stale`, wherever it waited.
 */
export function dispatcher(
  service: Service,
  carrier: Carrier | undefined,
  stopped: () => boolean,
  now: () => number,
): WriterOptions['send'] {
  const sendOwn = (request: WriteRequest) => sendRequest(request, service, (one) => isFreshAt(now(), one));
  if (!carrier) return sendOwn;
  interface Waiting {
    readonly request: WriteRequest;
    readonly done: (answer: WriteAnswer | Promise<WriteAnswer>) => void;
  }
  let waiting: Waiting[] = [];
  const sendHere = async (request: WriteRequest): Promise<WriteAnswer> => {
    if (stopped()) throw new Halted();
    return sendOwn(request);
  };
  const go = () => {
    const batch = waiting;
    waiting = [];
    if (stopped()) {
      for (const { done } of batch) done(Promise.reject(new Halted()));
      return;
    }
    while (batch.length > 0) {
      const part = batch.splice(0, PART_SIZE);
      if (part.length < FEWEST_CARRIED || carrier.parts === 0) {
        for (const { request, done } of part) done(sendOwn(request));
        continue;
      }
      const answers = carrier.carry(part.map(({ request }) => request));
      part.forEach(({ request, done }, at) => {
        done((answers[at] ?? Promise.resolve(undefined)).then((answer) => answer ?? sendHere(request)));
      });
    }
  };
  return (request, again = false) =>
    again
      ? sendHere(request)
      : new Promise((done) => {
          if (waiting.push({ request, done }) === 1) setImmediate(go);
        });
}
