import { scrub } from '../../model/secret-forms.js';
import type { Clock } from '../clock.js';
import type { Log } from '../port.js';

/** A service that does not answer. Times are the clock's monotonic milliseconds. */
export interface Outage {
  /** When the first of the failures came that were not interrupted by an answer. */
  readonly since: number;
  readonly nextAt: number;
  /** What the latest failure was. */
  readonly reason: string;
}

const FAILURES = 5;
const FAILURES_ON_TRIAL = 2;
const FIRST_INTERVAL_MS = 1_000;
const LONGEST_INTERVAL_MS = 30_000;

/**
 * Notices that the service is away, and has it asked by one request at a time until it is back.
 *
 *   through → (5 failures in a row, no answer between) → away
 *   away → (the interval is over) → one request probes → it fails → away, the interval doubled: 1 s … 30 s, with jitter
 *                                                      → any answer → on trial
 *   on trial → (another answer) → through · (2 failures in a row) → away, the interval doubled
 *
 * A failure is a connection that was not made or was cut, a time-out, or a status that says that the service does not work
 * (`outageReason` in `transport/answer.ts`). Any answer to a request that was sent before counts, too.
 */
export class Breaker {
  outage: Outage | undefined;
  #failures = 0;
  #firstAt = 0;
  #interval = FIRST_INTERVAL_MS;
  #underWay = false;
  #onTrial = false;

  /** `random`: 0 ≤ x < 1. `onChange`: the service went away, was asked in vain, or came back. */
  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
    private readonly onChange: () => void,
  ) {}

  /** While away: milliseconds until somebody may probe; 0: now. Undefined: not before the probe under way has ended. */
  probeInMs(now: number): number | undefined {
    return this.outage && !this.#underWay ? Math.max(0, this.outage.nextAt - now) : undefined;
  }

  /** Somebody goes to probe, and will call one of the three below with `probe`. */
  startProbe(): void {
    this.#underWay = true;
  }

  onAnswer(probe: boolean): void {
    if (probe) this.#underWay = false;
    if (!this.outage) {
      this.#failures = 0;
      this.#onTrial = false;
      this.#interval = FIRST_INTERVAL_MS;
      return;
    }
    this.outage = undefined;
    // One answer may be luck, or of a part of the service that works alone.
    this.#failures = FAILURES - FAILURES_ON_TRIAL;
    this.#onTrial = true;
    this.onChange();
  }

  onFailure(reason: string, probe: boolean): void {
    if (probe) this.#underWay = false;
    if (this.outage && !probe) {
      this.outage = { ...this.outage, reason };
      return;
    }
    const now = this.clock.now();
    if (!this.outage) {
      // Failures on trial go on with the same outage.
      if (this.#failures === 0) this.#firstAt = now;
      if (++this.#failures < FAILURES) return;
    }
    if (this.outage || this.#onTrial) this.#interval = Math.min(LONGEST_INTERVAL_MS, this.#interval * 2);
    this.#onTrial = false;
    // Half of the interval is certain: processes that share a service do not ask it in step.
    const nextAt = now + this.#interval * (0.5 + this.random() / 2);
    this.outage = { since: this.outage?.since ?? this.#firstAt, nextAt, reason };
    this.onChange();
  }

  /** The probe was not sent after all. */
  cancelProbe(): void {
    this.#underWay = false;
  }
}

/**
 * Told "The service does not answer (connection refused …); waiting since 02:14:07 UTC, next try in 8 s.", without secrets;
 * undefined: it is back.
 */
export type OnOutage = (message: string | undefined) => void;

/** Turns the state of the breaker into log lines and news: `service.away` at each change, `service.back` once. */
export function outageReporter(
  clock: Clock,
  log: Log,
  secrets: () => readonly string[],
  onOutage?: OnOutage,
): (outage: Outage | undefined) => void {
  let since: number | undefined;
  return (outage) => {
    const now = clock.now();
    if (!outage) {
      if (since === undefined) return;
      log('info', 'service.back', { away_s: Math.round((now - since) / 1000) });
      since = undefined;
      onOutage?.(undefined);
      return;
    }
    since = outage.since;
    const began = new Date(clock.wall() - (now - since)).toISOString();
    const nextMs = Math.max(0, outage.nextAt - now);
    const reason = scrub(outage.reason, secrets());
    log('warn', 'service.away', { since: began, next_ms: Math.round(nextMs), reason });
    const next = `next try in ${Math.ceil(nextMs / 1000)} s`;
    onOutage?.(`The service does not answer (${reason}); waiting since ${began.slice(11, 19)} UTC, ${next}.`);
  };
}
