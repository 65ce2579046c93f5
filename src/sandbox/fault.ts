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
      readonly body?: string | undefined;
      readonly contentType?: string | undefined;
      /** Seconds (also negative), or any text as it stands. */
      readonly retryAfter?: number | string | undefined;
      /** As a date so many seconds from now. */
      readonly retryAfterDate?: number | undefined;
      readonly execute?: boolean | undefined;
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
  return (actual, at) => (wanted === undefined || wanted === actual) && inPath(at);
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

/**
 * The text form of a fault: `METHOD PATH [nth=N] [every=N] [from=N] [to=N] [probability=P] [seed=N] ACTION[=VALUE] [options]`,
 * for example `POST /asset nth=3 status=503`, `GET * every=10 status=429 retry_after=2`, `POST * nth=1 timeout_after`.
 * A value with blanks stands in double quotes.
 */

type Reader = (options: Options, value: string | undefined) => FaultAction;

const ACTIONS: Readonly<Record<FaultAction['kind'], Reader>> = {
  status: (options, value) => ({
    kind: 'status',
    status: statusOf(value),
    body: options.text('body'),
    contentType: options.text('content_type'),
    retryAfter: options.text('retry_after'),
    retryAfterDate: options.number('retry_after_date'),
    execute: options.flag('execute'),
  }),
  close_before: () => ({ kind: 'close_before' }),
  close_after: () => ({ kind: 'close_after' }),
  timeout_before: () => ({ kind: 'timeout_before' }),
  timeout_after: () => ({ kind: 'timeout_after' }),
  late_commit: (options) => ({ kind: 'late_commit', ms: options.amount('late_commit', 1000) }),
  reset_after_status: () => ({ kind: 'reset_after_status' }),
  html_login: () => ({ kind: 'html_login' }),
  truncated_json: () => ({ kind: 'truncated_json' }),
  malformed_json: () => ({ kind: 'malformed_json' }),
  drip: (options) => ({ kind: 'drip', ms: options.amount('drip', 100) }),
  redirect: (options, value = '307') => ({
    kind: 'redirect',
    status: redirectStatus(value),
    location: options.text('location') ?? '/elsewhere',
  }),
  huge: (options) => ({ kind: 'huge', megabytes: options.amount('huge', 100) }),
  wrong_count: (options) => ({ kind: 'wrong_count', by: options.amount('wrong_count', 1) }),
  next: (_, value = 'loop') => ({ kind: 'next', address: value }),
  drop_field(_, field) {
    if (!field) throw new FaultSyntax('drop_field needs the name of a field, as in drop_field=city');
    return { kind: 'drop_field', field };
  },
  delay: (options) => ({ kind: 'delay', ms: options.amount('delay', 1000) }),
};

/** Names of the actions, as the text form spells them. */
export const FAULT_ACTIONS = Object.keys(ACTIONS) as readonly FaultAction['kind'][];

const MATCH_KEYS = ['nth', 'every', 'from', 'to', 'probability', 'seed'] as const;

/** Says what cannot be read, without saying where. */
class FaultSyntax extends Error {}

/** Reads the text form; throws an `Error` that says what is wrong and shows an example. */
export function parseFault(source: string): Fault {
  try {
    return read(source);
  } catch (error) {
    if (!(error instanceof FaultSyntax)) throw error;
    throw new Error(`The fault "${source}" cannot be read: ${error.message}. Example: POST /asset nth=3 status=503`);
  }
}

function read(source: string): Fault {
  const [method = '', path = '', ...rest] = words(source);
  /** By their names; undefined where one has no value. */
  const values = new Map<string, string | undefined>();
  for (const word of rest) {
    const [, key, value] = /^([a-z_]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (key === undefined) throw new FaultSyntax(`"${word}" is neither an action nor an option`);
    if (values.has(key)) throw new FaultSyntax(`"${key}" stands twice`);
    values.set(key, value);
  }
  if (!/^(\*|[A-Za-z]+)$/.test(method)) throw new FaultSyntax('it must begin with a method, or * for any');
  if (path !== '*' && !path.startsWith('/')) {
    throw new FaultSyntax('the second word must be a path such as /asset, an expression between slashes, or *');
  }
  const options = optionsOf(values);
  const numbers: Partial<Record<(typeof MATCH_KEYS)[number], number>> = {};
  for (const key of MATCH_KEYS) {
    const number = options.number(key);
    if (number === undefined) continue;
    if (key === 'probability' ? number < 0 || number > 1 : number < 1 && key !== 'seed') {
      throw new FaultSyntax(`${key}=${number} must be ${key === 'probability' ? 'from 0 to 1' : 'at least 1'}`);
    }
    numbers[key] = number;
  }
  const [name, ...others] = FAULT_ACTIONS.filter((key) => values.has(key));
  if (name === undefined) throw new FaultSyntax(`it names no action (one of ${FAULT_ACTIONS.join(', ')})`);
  if (others.length > 0) throw new FaultSyntax(`it names more than one action: ${[name, ...others].join(', ')}`);
  const action = ACTIONS[name](options, options.text(name));
  const unread = options.unread();
  if (unread.length > 0) throw new FaultSyntax(`"${unread.join('", "')}" means nothing for ${name}`);
  const match: FaultMatch = { method: method.toUpperCase(), path: pathOf(path), ...numbers };
  return { match, action };
}

function words(source: string): string[] {
  const found = source.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return found.map((word) =>
    word.replace(/"((?:[^"\\]|\\.)*)"/g, (_quoted, inner: string) => inner.replace(/\\(.)/g, '$1')),
  );
}

/** `/…/` is an expression where it holds a mark that only expressions have; `/asset/` is a path. */
function pathOf(path: string): string | RegExp {
  const [, inner, flags] = /^\/(.+)\/(i?)$/s.exec(path) ?? [];
  if (inner === undefined || !/[\\^$*+()[\]{}|]/.test(inner)) return path;
  try {
    return new RegExp(inner, flags);
  } catch {
    throw new FaultSyntax(`"${path}" is no regular expression`);
  }
}

function statusOf(text: string | undefined): number {
  const status = Number(text);
  if (Number.isInteger(status) && status >= 200 && status <= 599) return status;
  throw new FaultSyntax(`status needs a number from 200 to 599, as in status=503, not "${text ?? ''}"`);
}

function redirectStatus(text: string): 301 | 302 | 303 | 307 | 308 {
  const status = ([301, 302, 303, 307, 308] as const).find((one) => one === Number(text));
  if (status !== undefined) return status;
  throw new FaultSyntax(`redirect needs 301, 302, 303, 307 or 308, not "${text}"`);
}

type Options = ReturnType<typeof optionsOf>;

function optionsOf(values: ReadonlyMap<string, string | undefined>) {
  const remaining = new Set(values.keys());
  const text = (key: string): string | undefined => {
    remaining.delete(key);
    return values.get(key);
  };
  const number = (key: string): number | undefined => {
    const value = text(key);
    if (!values.has(key)) return undefined;
    if (value === undefined || value === '' || !Number.isFinite(Number(value))) {
      throw new FaultSyntax(`${key} needs a number, as in ${key}=2`);
    }
    return Number(value);
  };
  return {
    text,
    number,
    /** Of an action, which may be given without one. */
    amount: (key: string, usual: number): number => (values.get(key) === undefined ? usual : (number(key) ?? usual)),
    /** Undefined where it is not given. */
    flag: (key: string): boolean | undefined => (values.has(key) && text(key) !== 'false') || undefined,
    unread: () => [...remaining],
  };
}
