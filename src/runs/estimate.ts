/** What the rest of a run takes, in numbers and in words that claim no more than is known. */

/** Requests, and the seconds that they take. */
export interface Effort {
  readonly requests: number;
  readonly seconds: number;
}

/** What is to be written. `atMost`: which of the records differ from their rows is not known yet. */
export interface PlannedWrites {
  readonly creates: number;
  readonly updates: number;
  readonly atMost?: boolean;
  /** So many milliseconds from now the records need not be read again before they are written. */
  readonly freshMs: number;
}

/** Requests for the writes and the reads that come with them, at so many requests a second. */
export function estimateOf(planned: PlannedWrites, perSecond: number): Effort {
  const { creates, updates, freshMs } = planned;
  const writes = creates + updates;
  // Records are read again where they were read longer ago; the first update is read back.
  const inTime = (perSecond * freshMs) / 1000;
  const stale = writes <= inTime ? 0 : updates * (1 - inTime / writes);
  const requests = Math.round(writes + stale + (updates > 0 ? 1 : 0));
  return { requests, seconds: requests / perSecond };
}

/** `about 12,400 requests, 9 minutes at the current pace` */
export function estimateText({ requests, seconds }: Effort, atMost = false): string {
  return `${atMost ? 'at most' : 'about'} ${requestsText(requests)}, ${timeText(seconds)} at the current pace`;
}

/** `one request`, `87 requests`, `12,400 requests`: three digits that count. */
export function requestsText(requests: number): string {
  if (Math.round(requests) === 1) return 'one request';
  return `${rounded(requests).toLocaleString('en-US')} requests`;
}

function rounded(value: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 2);
  return Math.round(value / step) * step;
}

/** `a few seconds`, `25 seconds`, `a minute`, `9 minutes`, `an hour`, `2.5 hours`, `3 days`. */
export function timeText(seconds: number): string {
  if (seconds < 7.5) return 'a few seconds';
  if (seconds < 57.5) return `${Math.round(seconds / 5) * 5} seconds`;
  const minutes = seconds / 60;
  if (minutes < 1.5) return 'a minute';
  if (minutes < 19.5) return `${Math.round(minutes)} minutes`;
  if (minutes < 57.5) return `${Math.round(minutes / 5) * 5} minutes`;
  const hours = minutes / 60;
  if (hours < 1.25) return 'an hour';
  if (hours < 9.75) return `${Math.round(hours * 2) / 2} hours`;
  if (hours < 47.5) return `${Math.round(hours)} hours`;
  return `${Math.round(hours / 24)} days`;
}
