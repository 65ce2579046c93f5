import type { Pace } from '../pipeline/apply/write.js';
import type { Carrier } from './context.js';
import { PART_SIZE } from './dispatch.js';

/** How many rows of a run are at work at once, and in parts of which size. */
export interface PartSizes extends Pace {
  /** Parts that are under way at once; most of them wait for what became of a few of their rows. */
  readonly parts: number;
  /** Rows of the next part, with so many rows left. */
  next(rowsLeft: number): number;
  /** A row that was sent has its outcome. */
  ended(): void;
}

const PARTS = 16;
/** Rows that may wait for each that is at work from here. */
const ASIDE = 4;
/** Smaller ones cost more on their way than they save. */
const SMALLEST_PART = 100;
/** What is with others is sent within about this time: a record that was read for its update must not grow stale there. */
const SENT_WITHIN_MS = 5_000;
const MEASURED_MS = 1_000;

/** `now` in milliseconds. */
export function partSizes(
  carrier: Pick<Carrier, 'parts'> | undefined,
  concurrency: number,
  now: () => number,
): PartSizes {
  const carried = () => carrier?.parts ?? 0;
  let since = now();
  let ended = 0;
  /** Rows by all workers together in the time that others are given; 0 until it was measured. */
  let sendable = 0;

  function size(rows: number): number {
    return Math.min(PART_SIZE, Math.max(SMALLEST_PART, Math.ceil(rows / carried())));
  }

  return {
    get shared() {
      return carried() > 0;
    },
    get parts() {
      return PARTS + carried();
    },
    next(rowsLeft) {
      if (carried() === 0) return PART_SIZE;
      // The last parts are smaller: nobody is to stand idle while another one has a whole part left.
      return size(Math.min(rowsLeft, sendable));
    },
    get reads() {
      return carried() === 0 ? concurrency : PART_SIZE;
    },
    get atWork() {
      return carried() === 0 ? concurrency : carried() * size(sendable);
    },
    get aside() {
      return ASIDE * concurrency * Math.max(1, carried());
    },
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
