import type { Clock } from '../clock.js';

/** When a request goes out again: full jitter, and a budget that all requests share. */
export interface RetryBudget {
  /** Every success pays for a part of a repetition. */
  succeeded(): void;
  /** Milliseconds to wait before the given repetition, from 1. */
  backoff(repetition: number): number;
}

const BACKOFF_BASE_MS = 250;
const BACKOFF_CAP_MS = 30_000;
const RETRY_BUDGET = 10;
const RETRIES_PER_SECOND = 5;
const RETRIES_PER_SUCCESS = 0.2;

/** `random`: 0 ≤ x < 1. */
export function retryBudget(clock: Clock, random: () => number): RetryBudget {
  let budget = RETRY_BUDGET;
  let refilledAt = clock.now();
  return {
    succeeded() {
      budget = Math.min(RETRY_BUDGET, budget + RETRIES_PER_SUCCESS);
    },
    backoff(repetition) {
      const now = clock.now();
      budget = Math.min(RETRY_BUDGET, budget + ((now - refilledAt) / 1000) * RETRIES_PER_SECOND);
      refilledAt = now;
      budget--;
      const forBudget = budget < 0 ? (-budget / RETRIES_PER_SECOND) * 1000 : 0;
      const ceiling = Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(20, repetition));
      return Math.max(random() * ceiling, Math.min(forBudget, BACKOFF_CAP_MS));
    },
  };
}

const SHORTEST_HOLD_MS = 1_000;
const LONGEST_HOLD_MS = 15 * 60_000;

/**
 * `Retry-After` in milliseconds, in seconds or as an HTTP date, clamped to 1 s – 15 min; undefined where there is none or
 * it cannot be read. A date is measured against the service's own `Date` where it sent one.
 */
export function retryAfter(value: string | undefined, date: string | undefined, clock: Clock): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  let ms: number;
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) ms = Number(text) * 1000;
  else {
    const then = Date.parse(text);
    if (Number.isNaN(then)) return undefined;
    const serviceNow = date === undefined ? Number.NaN : Date.parse(date);
    ms = then - (Number.isNaN(serviceNow) ? clock.wall() : serviceNow);
  }
  return Math.min(LONGEST_HOLD_MS, Math.max(SHORTEST_HOLD_MS, ms));
}
