/** Which requests a fault befalls. Without a number it befalls every matching request. */
export interface FaultMatch {
  /** `*` or left out: any method. */
  readonly method?: string;
  /** Part of what follows `/api/v2`, with the query, ending at a word's end ("/asset" is not in "/asset-owner"); or an expression. */
  readonly path?: string | RegExp;
  /** Only the n-th matching request, from 1. */
  readonly nth?: number;
  /** Every n-th matching request. */
  readonly every?: number;
  /** From this matching request on, from 1. */
  readonly from?: number;
  /** Up to and including this one. */
  readonly to?: number;
  /** 0 to 1, drawn from a seeded generator. */
  readonly probability?: number;
  readonly seed?: number;
}

export type FaultAction =
  /** Answers with a status. `execute`: the request takes effect first. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly contentType?: string;
      /** Seconds (also negative), or any text as it stands. */
      readonly retryAfter?: number | string;
      /** As a date so many seconds from now. */
      readonly retryAfterDate?: number;
      readonly execute?: boolean;
    }
  /** Resets the connection without executing. */
  | { readonly kind: 'close_before' }
  /** Executes, then resets the connection. */
  | { readonly kind: 'close_after' }
  /** Never answers, never executes. */
  | { readonly kind: 'timeout_before' }
  /** Executes, never answers. */
  | { readonly kind: 'timeout_after' }
  /** Never answers, executes after so many milliseconds. */
  | { readonly kind: 'late_commit'; readonly ms: number }
  /** Executes, sends the status line and headers, then resets. */
  | { readonly kind: 'reset_after_status' }
  /** 200 with an HTML login page; not executed. */
  | { readonly kind: 'html_login' }
  /** Executes; the body ends in the middle. */
  | { readonly kind: 'truncated_json' }
  /** Executes; the body is no JSON. */
  | { readonly kind: 'malformed_json' }
  /** Executes; the body comes byte by byte, one every so many milliseconds. */
  | { readonly kind: 'drip'; readonly ms: number }
  /** A redirect; not executed. */
  | { readonly kind: 'redirect'; readonly status: 301 | 302 | 303 | 307 | 308; readonly location: string }
  /** A body of so many megabytes; not executed. */
  | { readonly kind: 'huge'; readonly megabytes: number }
  /** The list's `count` is off by so many. */
  | { readonly kind: 'wrong_count'; readonly by: number }
  /** The list's `next` is this address, or the page itself (`loop`). */
  | { readonly kind: 'next'; readonly address: string }
  /** The write takes effect without this field. */
  | { readonly kind: 'drop_field'; readonly field: string }
  /** So many milliseconds of waiting, then all goes its way. */
  | { readonly kind: 'delay'; readonly ms: number };

export interface Fault {
  readonly match: FaultMatch;
  readonly action: FaultAction;
}

/** Chooses the fault of a request, if any. Every fault counts its own matching requests; the first that is due wins. */
export function createFaultPlan(faults: readonly Fault[]): (method: string, path: string) => FaultAction | undefined {
  const entries = faults.map((fault) => ({
    fault,
    matches: matcher(fault.match),
    due: schedule(fault.match),
  }));
  return (method, path) => {
    let action: FaultAction | undefined;
    for (const { fault, matches, due } of entries) {
      if (matches(method, path) && due()) action ??= fault.action;
    }
    return action;
  };
}

function matcher({ method, path }: FaultMatch): (method: string, path: string) => boolean {
  const wanted = method === undefined || method === '*' ? undefined : method.toUpperCase();
  const inPath = pathTest(path);
  return (given, at) => (wanted === undefined || wanted === given) && inPath(at);
}

function pathTest(path: string | RegExp | undefined): (at: string) => boolean {
  if (path === undefined || path === '*') return () => true;
  if (path instanceof RegExp) {
    const expression = new RegExp(path.source, path.flags.replace(/[gy]/g, ''));
    return (at) => expression.test(at);
  }
  return (at) => {
    for (let found = at.indexOf(path); found >= 0; found = at.indexOf(path, found + 1)) {
      const next = at[found + path.length];
      if (next === undefined || !/[\w-]/.test(next) || !/[\w-]$/.test(path)) return true;
    }
    return false;
  };
}

function schedule({ nth, every, from, to, probability, seed }: FaultMatch): () => boolean {
  const random = seeded(seed ?? 1);
  let seen = 0;
  return () => {
    seen++;
    if (nth !== undefined && seen !== nth) return false;
    if (from !== undefined && seen < from) return false;
    if (to !== undefined && seen > to) return false;
    if (every !== undefined && seen % every !== 0) return false;
    return probability === undefined || random() < probability;
  };
}

/** Mulberry32: the same seed gives the same faults. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
