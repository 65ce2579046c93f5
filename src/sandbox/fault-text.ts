import type { Fault, FaultAction, FaultMatch } from './fault.js';

/**
 * The text form of a fault: `METHOD PATH [nth=N] [every=N] [from=N] [to=N] [probability=P] [seed=N] ACTION [options]`,
 * for example `POST /asset nth=3 status=503`, `GET * every=10 status=429 retry_after=2`, `POST * nth=1 timeout_after`.
 * A value with blanks stands in double quotes.
 */

const ACTIONS: Readonly<Record<string, (options: Options, value: string | undefined) => FaultAction>> = {
  status: (options, value) => {
    const retryAfter = options.text('retry_after');
    const retryAfterDate = options.number('retry_after_date');
    const body = options.text('body');
    const contentType = options.text('content_type');
    return {
      kind: 'status',
      status: statusOf(value ?? options.text('code')),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(retryAfterDate === undefined ? {} : { retryAfterDate }),
      ...(body === undefined ? {} : { body }),
      ...(contentType === undefined ? {} : { contentType }),
      ...(options.flag('execute') ? { execute: true } : {}),
    };
  },
  close_before: () => ({ kind: 'close_before' }),
  close_after: () => ({ kind: 'close_after' }),
  timeout_before: () => ({ kind: 'timeout_before' }),
  timeout_after: () => ({ kind: 'timeout_after' }),
  late_commit: (options, value) => ({ kind: 'late_commit', ms: options.amount('late_commit', value, 'ms', 1000) }),
  reset_after_status: () => ({ kind: 'reset_after_status' }),
  html_login: () => ({ kind: 'html_login' }),
  truncated_json: () => ({ kind: 'truncated_json' }),
  malformed_json: () => ({ kind: 'malformed_json' }),
  drip: (options, value) => ({ kind: 'drip', ms: options.amount('drip', value, 'ms', 100) }),
  redirect: (options, value) => ({
    kind: 'redirect',
    status: redirectStatus(value ?? options.text('code') ?? '307'),
    location: options.text('location') ?? '/elsewhere',
  }),
  huge: (options, value) => ({ kind: 'huge', megabytes: options.amount('huge', value, 'mb', 100) }),
  wrong_count: (options, value) => ({ kind: 'wrong_count', by: options.amount('wrong_count', value, 'by', 1) }),
  next: (options, value) => ({ kind: 'next', address: value ?? options.text('address') ?? 'loop' }),
  drop_field: (options, value) => {
    const field = value ?? options.text('field');
    if (!field) throw new FaultSyntax('drop_field needs the name of a field, as in drop_field=city');
    return { kind: 'drop_field', field };
  },
  delay: (options, value) => ({ kind: 'delay', ms: options.amount('delay', value, 'ms', 1000) }),
};

/** Names of the actions, as the text form spells them. */
export const FAULT_ACTIONS: readonly string[] = Object.keys(ACTIONS);

export const MATCH_KEYS = ['nth', 'every', 'from', 'to', 'probability', 'seed'] as const;

/** Says what cannot be read, without saying where. */
export class FaultSyntax extends Error {}

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
  const given = new Map<string, string | undefined>();
  for (const word of rest) {
    const [, key, value] = /^([a-z_]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (key === undefined) throw new FaultSyntax(`"${word}" is neither an action nor an option`);
    if (given.has(key)) throw new FaultSyntax(`"${key}" stands twice`);
    given.set(key, value);
  }
  return faultOf(method, path, given);
}

/** A fault from its method, its path and its options by name; an option without a value is undefined. Throws `FaultSyntax`. */
export function faultOf(method: string, path: string, given: ReadonlyMap<string, string | undefined>): Fault {
  if (!/^(\*|[A-Za-z]+)$/.test(method)) throw new FaultSyntax('it must begin with a method, or * for any');
  if (path !== '*' && !path.startsWith('/')) {
    throw new FaultSyntax('the second word must be a path such as /asset, an expression between slashes, or *');
  }
  const options = optionsOf(given);
  const numbers: Partial<Record<(typeof MATCH_KEYS)[number], number>> = {};
  for (const key of MATCH_KEYS) {
    const number = options.number(key);
    if (number === undefined) continue;
    if (key === 'probability' ? number < 0 || number > 1 : number < 1 && key !== 'seed') {
      throw new FaultSyntax(`${key}=${number} must be ${key === 'probability' ? 'from 0 to 1' : 'at least 1'}`);
    }
    numbers[key] = number;
  }
  const names = [...given.keys()].filter((key) => Object.hasOwn(ACTIONS, key));
  if (names.length === 0) throw new FaultSyntax(`it names no action (one of ${FAULT_ACTIONS.join(', ')})`);
  if (names.length > 1) throw new FaultSyntax(`it names more than one action: ${names.join(', ')}`);
  const name = names[0]!;
  const action = ACTIONS[name]!(options, options.text(name));
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
  const status = Number(text);
  if (status === 301 || status === 302 || status === 303 || status === 307 || status === 308) return status;
  throw new FaultSyntax(`redirect needs 301, 302, 303, 307 or 308, not "${text}"`);
}

type Options = ReturnType<typeof optionsOf>;

function optionsOf(given: ReadonlyMap<string, string | undefined>) {
  const left = new Set(given.keys());
  const text = (key: string): string | undefined => {
    left.delete(key);
    return given.get(key);
  };
  const number = (key: string): number | undefined => {
    left.delete(key);
    if (!given.has(key)) return undefined;
    const value = given.get(key);
    if (value === undefined || value === '' || !Number.isFinite(Number(value))) {
      throw new FaultSyntax(`${key} needs a number, as in ${key}=2`);
    }
    return Number(value);
  };
  return {
    text,
    number,
    flag: (key: string): boolean => given.has(key) && text(key) !== 'false',
    /** `action=N`, or `action name=N`, or the usual amount. */
    amount(action: string, value: string | undefined, name: string, usual: number): number {
      if (value === undefined) return number(name) ?? usual;
      return number(action) ?? usual;
    },
    unread: () => [...left],
  };
}
