/**
 * The pace that all workers on one queue share, kept where they all can see it. Every worker reports what its requests
 * came to and hears the sum of everybody's, so that all learn the same rate from the same answers.
 */
export interface SharedPace {
  /** One round trip to the shared place. Rejects where it cannot be reached; then nothing of the report counts. */
  exchange(report: PaceReport): Promise<PaceState>;
}

/** What happened here since the last report. */
export interface PaceReport {
  /** Answers that say the pace is fine. */
  readonly successes: number;
  /** Episodes of 429, at most one a round trip. */
  readonly throttled: number;
  /** Episodes of 503 or time-outs, at most one a round trip. */
  readonly overloaded: number;
  /** The service named a pause (`Retry-After`): nobody sends within so many milliseconds from now. */
  readonly holdMs?: number;
  /** Asks for so many slots of the common rate, `intervalMs` apart: milliseconds between two requests of all workers together. */
  readonly slots?: { readonly count: number; readonly intervalMs: number };
}

/** What everybody's requests came to. The sums only grow, until the shared place forgets them; then they begin at 0 again. */
export interface PaceState extends Pick<PaceReport, 'successes' | 'throttled' | 'overloaded'> {
  /** Milliseconds from now within which nobody sends; 0 for none. */
  readonly heldMs: number;
  /** Where slots were asked for: milliseconds from now to the first of them. */
  readonly slotInMs?: number;
  /** Processes that reported within the last 5 s, this one among them. */
  readonly members: number;
}
