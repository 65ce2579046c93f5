import type { Job } from 'bullmq';
import type { WriteAnswer, WriteRequest } from '../../runs/context.js';
import { unpack } from './pack.js';
import type { PartResult } from './protocol.js';

/**
 * A part as its coordinator sees it.
 *
 *   adding → queued → granted → done
 *   queued: vanished or failed → adding again (it was never sent)
 *   granted: vanished, failed, or asked for by another → lost → done; what has no answer is open
 */
export interface Part {
  readonly requests: readonly WriteRequest[];
  /** Undefined until it is on the queue. */
  job: Job | undefined;
  /** The executor that may send it. */
  granted: string | undefined;
  cancelled: boolean;
  done: boolean;
  /** Since when the queue does not know it any more. */
  missingSince: number | undefined;
  readonly answers: Promise<WriteAnswer | undefined>[];
  settle(index: number, answer: WriteAnswer | undefined): void;
  /** Settles everything that has no answer yet. */
  rest(answer: WriteAnswer | undefined): void;
}

export function newPart(requests: readonly WriteRequest[]): Part {
  const settlers: (((answer: WriteAnswer | undefined) => void) | undefined)[] = [];
  const answers = requests.map(
    (_, at) =>
      new Promise<WriteAnswer | undefined>((resolve) => {
        settlers[at] = resolve;
      }),
  );
  const settle = (index: number, answer: WriteAnswer | undefined) => {
    settlers[index]?.(answer);
    settlers[index] = undefined;
  };
  return {
    requests,
    job: undefined,
    granted: undefined,
    cancelled: false,
    done: false,
    missingSince: undefined,
    answers,
    settle,
    rest(answer) {
      for (const index of settlers.keys()) settle(index, answer);
    },
  };
}

/** Takes the answers that an executor sends: pairs of index and answer, null for what was not sent. */
export function takeAnswers(part: Part, packed: string): void {
  for (const [index, answer] of unpack(packed) as [number, WriteAnswer | null][])
    part.settle(index, answer ?? undefined);
}

/** The end of a part that was sent to its end, or as far as its executor was allowed to. */
export function takeResult(part: Part, result: PartResult): void {
  if (result.answers !== undefined) takeAnswers(part, result.answers);
}

export const LOST: WriteAnswer = {
  kind: 'open',
  answered: false,
  reason: 'the worker that was sending it was lost',
};
