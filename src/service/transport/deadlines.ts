import type { Clock } from '../clock.js';

/** A request in flight. */
export interface Timed {
  /** By the clock. */
  readonly deadline: number;
  /** Its deadline has passed. Ends it. */
  late(): void;
}

/** The deadlines of requests in flight under one timer: one for each request would cost as much as sending it. */
export interface Deadlines {
  watch(deadline: number): void;
  /** Nothing is in flight: no timer keeps the process alive. */
  rest(): void;
}

export function openDeadlines(inFlight: readonly Timed[], clock: Clock): Deadlines {
  let cancelTimer: (() => void) | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  function watch(deadline: number): void {
    if (deadline >= timerAt) return;
    cancelTimer?.();
    timerAt = deadline;
    cancelTimer = clock.after(Math.max(0, deadline - clock.now()), look);
  }

  function rest(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    timerAt = Number.POSITIVE_INFINITY;
  }

  function look(): void {
    rest();
    const now = clock.now();
    for (const one of [...inFlight]) if (one.deadline <= now) one.late();
    for (const { deadline } of inFlight) watch(deadline);
  }

  return { watch, rest };
}
