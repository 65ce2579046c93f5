import type { OutcomeCounts } from './outcome.js';

/** What a run tells while it works. */

/** Where a run stands; handed out at most a few times a second. */
export interface Progress {
  readonly run: string;
  readonly phase:
    | 'reading'
    | 'reading again'
    | 'waiting for its turn'
    | 'looking up'
    | 'planning'
    | 'writing'
    | 'reporting';
  /** Rows through this phase. */
  readonly done: number;
  /** Rows of the file; undefined until they have been counted. */
  readonly total?: number;
  readonly outcomes: OutcomeCounts;
}

/** Lines for people that appear while a run goes on: whose data is about to change, what was detected, waits. */
export interface Notice {
  readonly level: 'info' | 'warn';
  readonly text: string;
}

export interface RunListener {
  progress(progress: Progress): void;
  notice(notice: Notice): void;
}

/** Takes log lines for programs, as pino's loggers and `console` do; none holds a secret. */
export interface Log {
  error(details: object, text?: string): void;
  error(text: string): void;
  warn(details: object, text?: string): void;
  warn(text: string): void;
  info(details: object, text?: string): void;
  info(text: string): void;
  debug(details: object, text?: string): void;
  debug(text: string): void;
}

/** Requests that were sent: `total` counts retries, too. */
export interface RequestCounts {
  total: number;
  reads: number;
  writes: number;
  retries: number;
}

export const NO_REQUESTS: Readonly<RequestCounts> = { total: 0, reads: 0, writes: 0, retries: 0 };
