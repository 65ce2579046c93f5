import { createHash } from 'node:crypto';

/**
 * Parts of a run travel as jobs of a queue of their own. The queue may hand a part out twice, or forget that it handed it
 * out: so it carries work and decides nothing. The coordinator of the run decides, whose journal holds an intent for every
 * request of the part:
 *
 *   coordinator                      queue                     executor (any worker)
 *   intents durable, part added  ──▶ waiting → active ──────▶  takes it, asks for the grant
 *   grants it, once              ◀── progress {ask} ─────────
 *                                ─── progress {grant} ──────▶  sends the requests, in order, while it holds the lock
 *   takes the answers            ◀── progress {answers} ─────
 *                                ◀── completed {answers} ────  the rest
 *
 * A second executor that asks for a part already granted is refused, and tells thereby that the first one is lost: it has
 * stopped sending when its lock ended. Requests of a lost part whose answers did not come are open, and are looked up.
 * A part that was never granted was never sent, and is added again. Nobody grants the parts of a coordinator that is gone,
 * or has lost its right to write; a part that it granted before goes on to its end. Whoever has the right next, waits until
 * no such part is active any more, before it looks anything up.
 *
 * An update carries until when the record it was made from need not be read again, by the coordinator's clock. The grant
 * tells what that clock shows. Clocks of two machines differ, their paces do not: the executor reckons what is left on its
 * own, from before it asked, and hands back unsent what becomes stale before its turn.
 */
export type Message =
  | { readonly ask: string }
  /** `now`: the coordinator's clock, in milliseconds since 1970. */
  | { readonly grant: string; readonly now: number }
  | { readonly deny: string }
  /** The coordinator stops: no further request of the part is to be begun. */
  | { readonly cancel: string }
  | { readonly from: string; readonly answers: string };

/** Data of a part. `packed` holds the requests. */
export interface PartData {
  readonly v: 1;
  readonly run: string;
  readonly company: number;
  /** Kind of the records that the run writes; with the company it names the run's right to write. */
  readonly resource: string;
  readonly count: number;
  readonly packed: string;
}

/** What an executor returns. `answers` holds pairs of index and answer, null for a request that was not sent. */
export interface PartResult {
  /** The executor that sent it; absent where it was not granted. */
  readonly from?: string;
  /** The executor that asked for it in vain, and sent nothing. */
  readonly refused?: string;
  readonly answers?: string;
  readonly writes?: number;
  readonly retries?: number;
}

/** Workers that serve different services on one queue do not take each other's parts. */
export function partsQueue(service: string): string {
  return `rowferry-parts-${createHash('sha256').update(service).digest('hex').slice(0, 8)}`;
}

/** Parts that one process sends at the same time: while one ends, the next begins. */
export const PARTS_AT_ONCE = 2;
