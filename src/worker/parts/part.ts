import type { Job } from 'bullmq';
import type { WriteAnswer, WriteRequest } from '../../runs/context.js';
import { answersOf } from './protocol.js';

/**
 * A part as its coordinator sees it.
 *
 *   adding → queued → granted → done
 *   queued: vanished → adding again (it was never sent); failed → adding again once, then done, unsent
 *   granted: nothing heard of its executor for a lease → lost → done; what has no answer is open
 */
export interface Part {
  readonly requests: readonly WriteRequest[];
  /** Undefined until it is on the queue. */
  job: Job | undefined;
  /** The executor that may send it. */
  granted: string | undefined;
  /** Its last asking: by the executor's clock, and by this process's. */
  askedAt: number;
  heardAt: number;
  cancelled: boolean;
  done: boolean;
  /** Executors that failed before they were granted these requests. */
  readonly failures: number;
  readonly answers: Promise<WriteAnswer | undefined>[];
  settle(index: number, answer: WriteAnswer | undefined): void;
  /** Settles everything that has no answer yet. */
  rest(answer: WriteAnswer | undefined): void;
}

export function newPart(requests: readonly WriteRequest[], failures = 0): Part {
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
    askedAt: Number.NEGATIVE_INFINITY,
    heardAt: 0,
    cancelled: false,
    done: false,
    failures,
    answers,
    settle,
    rest(answer) {
      for (const index of settlers.keys()) settle(index, answer);
    },
  };
}

/** Takes the answers that its executor sends. */
export function takeAnswers(part: Part, packed: string): void {
  for (const [index, answer] of answersOf(packed, part.requests.length)) part.settle(index, answer ?? undefined);
}

export const LOST: WriteAnswer = {
  kind: 'open',
  answered: false,
  reason: 'the worker that was sending it was lost',
};
