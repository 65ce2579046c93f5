import type { WritableName } from './kinds.js';

/** A write that took effect. */
export interface Commit {
  /** Counts from 1 in the order in which writes took effect. */
  readonly sequence: number;
  /** Milliseconds. */
  readonly at: number;
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly resource: WritableName;
  readonly id: number;
  /** `x-request-id` as sent, else a number given by the sandbox. */
  readonly requestId: string;
  /** The body as it was sent: JSON text. Left out where bodies are not kept. */
  readonly body?: string;
}

/** What was asked of the sandbox so far. Kinds look like `GET /asset/{id}/` and `GET /asset/?serial_number`. */
export interface RequestCounters {
  total: number;
  reads: number;
  writes: number;
  inFlight: number;
  mostInFlight: number;
  readonly kinds: Record<string, number>;
  /** Answers sent, by status; requests that a fault left without one are under `none`. */
  readonly statuses: Record<string, number>;
}

export const newCounters = (): RequestCounters => ({
  total: 0,
  reads: 0,
  writes: 0,
  inFlight: 0,
  mostInFlight: 0,
  kinds: {},
  statuses: {},
});

export function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
