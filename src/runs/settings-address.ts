import type { z } from 'zod';
import { type RunError, usageError } from '../model/error.js';
import { isLoopback } from '../service/address.js';

/** Webhooks go by the proxies of the environment, too. */
export { proxyAgent, proxyRefusal } from '../service/transport/proxy.js';

export { isLoopback };

/** Addresses in settings. Faults never quote the address: it may hold a password. */

/** `https://records.example/api/v2/` → `https://records.example`; for a token address only the checks matter. */
export function serviceAddress(text: string, context: z.core.$RefinementCtx<string>): string {
  const fail = (message: string) => refuse(message, context);
  if (!URL.canParse(text)) return fail('must be an address such as https://records.example');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return fail('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') {
    return fail('must not hold a user name or password; state the token in ROWFERRY_API_TOKEN');
  }
  if (url.hash !== '' || url.search !== '') return fail(`must end before any ${url.search === '' ? '#' : '?'}`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '')}`;
}

/** `https://rowferry.example/` → `https://rowferry.example` */
export function consoleAddress(text: string, context: z.core.$RefinementCtx<string>): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  return refuse('must be an address without a path, such as https://rowferry.example', context);
}

function refuse(message: string, context: z.core.$RefinementCtx<string>): '' {
  context.addIssue({ code: 'custom', message, input: '' });
  return '';
}

/** Ways in which a token, a password or the data could be read by others on the network. */
export function networkWarnings(addresses: {
  readonly apiUrl: string | undefined;
  readonly tokenUrl: string | undefined;
  readonly queueUrl: string | undefined;
}): string[] {
  const found: string[] = [];
  for (const [name, text] of [
    ['ROWFERRY_API_URL', addresses.apiUrl],
    ['ROWFERRY_OAUTH_TOKEN_URL', addresses.tokenUrl],
  ] as const) {
    if (text?.startsWith('http:') && !isLoopback(new URL(text).hostname)) {
      found.push(`${name} is http:// to another machine: the token travels readable; use https://`);
    }
  }
  if (addresses.queueUrl !== undefined) found.push(...queueWarnings(addresses.queueUrl));
  return found;
}

/** Shorter parts of a path are words. */
const LONG_PART = 16;

/** What of a webhook's address is secret where a part of it stands alone: passwords, values, long parts of the path. */
export function webhookSecrets(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { href, password, pathname, searchParams } = new URL(text);
  const long = pathname.split('/').filter((part) => part.length >= LONG_PART);
  return [href, password, ...searchParams.values(), ...long].filter((part) => part !== '' && part !== text);
}

/** A queue's address, taken apart. */
type QueueAddress = ReturnType<typeof parseAddress>;
export type RedisAddress = Extract<QueueAddress, { readonly kind: 'redis' }>;
export type PostgresAddress = Extract<QueueAddress, { readonly kind: 'postgres' }>;

interface Host {
  readonly host: string;
  readonly port: number;
}

const URL_PATTERN =
  /^(?<scheme>rediss?(?:\+(?:sentinel|cluster))?|postgres(?:ql)?):\/\/(?:(?<user>[^/\s]*)@)?(?<hosts>[^/?@\s]+)(?<path>\/[^?\s]*)?(?:\?(?<query>\S*))?$/i;
const HOST_PATTERN = /^(?<host>\[[0-9a-f:.%]+\]|[^\s:[\]@,]+)(?::(?<port>\d{1,5}))?$/i;
const URL_FORMS =
  'redis://[user:password@]host[:6379][/db], rediss://… for TLS, redis+sentinel://host[:26379],host/master[/db], ' +
  'redis+cluster://host,host, or postgres://user:password@host[:5432]/database';

/** Undefined where the text is no address of a queue, also where a `/` in a password makes it mean another one. */
function parseQueueUrl(text: string) {
  const { scheme, user = '', hosts, path = '', query = '' } = URL_PATTERN.exec(text)?.groups ?? {};
  if (scheme === undefined || hosts === undefined || path.includes('@')) return undefined;
  const all = hosts.split(',');
  if (!all.every((host) => HOST_PATTERN.test(host))) return undefined;
  const isPostgres = /^postgres/i.test(scheme);
  if (isPostgres && !URL.canParse(text)) return undefined;
  const colon = user.indexOf(':');
  // One name without a colon: many clients take it for the password of the default user; Redis' own takes it for the user.
  const [username, password] = colon === -1 ? [user, ''] : [user.slice(0, colon), user.slice(colon + 1)];
  const secret = colon === -1 && !isPostgres ? user : password;
  const more = { isPostgres, username, password, secret, query: new URLSearchParams(query) };
  return { scheme: scheme.toLowerCase(), hosts: all, path, ...more };
}

/** Only the form is checked here; the worker opens it. Nothing of the address is quoted: it may hold a password. */
export function queueAddress(text: string, context: z.core.$RefinementCtx<string>): string {
  if (parseQueueUrl(text)) return text;
  return refuse(
    'must begin with redis://, rediss://, redis+sentinel://, redis+cluster:// or postgres:// and name a host; ' +
      'write / ? # and @ in a password as %2F %3F %23 and %40; leave it unset for the embedded queue',
    context,
  );
}

/** Throws a `RunError` that does not quote the user, the password or the query. */
export function parseAddress(url: string) {
  const parts = parseQueueUrl(url);
  if (!parts) throw addressError(`it begins with ${/^[a-z+]+:/i.exec(url)?.[0] ?? 'no scheme'}, or has not the form`);
  const { scheme, hosts, username, password, query } = parts;
  const displayUrl = `${scheme}://${hosts.join(',')}${parts.path}`;
  // As given: it may hold a password.
  if (parts.isPostgres) return { kind: 'postgres', displayUrl, url } as const;
  const [first = 'redis', mode = 'single'] = scheme.split('+') as [string, ('single' | 'sentinel' | 'cluster')?];
  if (mode === 'single' && hosts.length > 1)
    throw addressError('it names several hosts, which only sentinel and cluster have');
  const path = parts.path.split('/').filter((part) => part !== '');
  const master = mode === 'sentinel' ? path.shift() : undefined;
  if (mode === 'sentinel' && master === undefined) throw addressError('the name of the master is missing: …/mymaster');
  const [db = '0', more] = path;
  if (!/^\d{1,5}$/.test(db) || more !== undefined) throw addressError(`/${path.join('/')} is no number of a database`);
  if (mode === 'cluster' && db !== '0') throw addressError('a cluster has database 0 only');
  return {
    kind: 'redis',
    /** The address for people: no user, no password, no query. */
    displayUrl,
    mode,
    tls: first === 'rediss',
    /** One; for sentinel and cluster one or more. */
    hosts: hosts.map((one) => hostOf(one, mode === 'sentinel' ? 26_379 : 6_379)) as [Host, ...Host[]],
    db: Number(db),
    username: decode(username) || undefined,
    password: decode(password) || undefined,
    /** What the sentinels call the master. */
    master: master && decode(master),
    /** Where the sentinels themselves ask for a password. */
    sentinelPassword: query.get('sentinel_password') || undefined,
  } as const;
}

function hostOf(text: string, defaultPort: number): Host {
  const { host = '', port = defaultPort } = HOST_PATTERN.exec(text)?.groups ?? {};
  if (Number(port) > 65_535) throw addressError(`${JSON.stringify(text)} is no host[:port]`);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw addressError('a % in it does not begin an escape such as %40; write % itself as %25');
  }
}

/** A user name or password of an address. One in which a % begins no escape is meant as it stands there. */
export function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function addressError(what: string): RunError {
  return usageError(`The queue's address (ROWFERRY_QUEUE_URL) cannot be used: ${what}. Forms: ${URL_FORMS}.`);
}

/** Passwords in the address, as they stand there and decoded. */
export function queueSecrets(text: string): string[] {
  const parts = parseQueueUrl(text);
  if (!parts) return [];
  const { username, password, secret, query } = parts;
  // A password that is the name of its user stands in messages and paths as what it is there.
  const found = password === username ? [] : [secret];
  for (const name of ['password', 'sentinel_password', 'sslpassword']) found.push(...query.getAll(name));
  // As they stand in the query: decoding turns `+` and escapes into other characters.
  for (const [, value = ''] of text.matchAll(/[?&](?:\w*password)=([^&]*)/gi)) found.push(value);
  return [...new Set(found.flatMap((one) => [one, decodeOrKeep(one)]))].filter((one) => one !== '');
}

/** Ways in which the queue's password or its jobs could be read by others, or orders be given by them. */
export function queueWarnings(text: string): string[] {
  const parts = parseQueueUrl(text);
  if (!parts) return [];
  const { scheme, isPostgres, password, query } = parts;
  // Of PostgreSQL a host in the query replaces the one before it.
  const hosts = (isPostgres && query.getAll('host').at(-1)?.split(',')) || parts.hosts;
  if (hosts.every((host) => isLoopback(host.replace(/:\d+$/, '')) || (isPostgres && /^(%2f|\/)/i.test(host))))
    return [];
  const remarks = isPostgres ? postgresTls(query) : scheme.startsWith('rediss') ? [] : [REDIS_PLAIN];
  const isProtected = password !== '' || (isPostgres && (query.get('password') || query.get('sslcert')));
  return isProtected ? remarks : [...remarks, NO_PASSWORD];
}

const REDIS_PLAIN = 'ROWFERRY_QUEUE_URL is redis:// to another machine: jobs travel readable; use rediss://';
const NO_PASSWORD = 'ROWFERRY_QUEUE_URL holds no password: whoever reaches the queue can give orders';

/** As the driver reads it: no `sslmode` is no TLS, and `no-verify` takes any server for the right one. */
function postgresTls(query: URLSearchParams): string[] {
  const mode = query.getAll('sslmode').at(-1)?.toLowerCase();
  const usesTls = mode === undefined ? /^(true|1)$/i.test(query.getAll('ssl').at(-1) ?? '') : mode !== 'disable';
  if (!usesTls) {
    return [
      'ROWFERRY_QUEUE_URL is postgres:// to another machine without TLS: jobs travel readable; add ?sslmode=verify-full',
    ];
  }
  const isUnverified = query.get('uselibpqcompat') === 'true' && /^(allow|prefer|require)$/.test(mode ?? '');
  if (mode !== 'no-verify' && !isUnverified) return [];
  return [
    'ROWFERRY_QUEUE_URL takes any server for the queue (its certificate is not checked); use sslmode=verify-full',
  ];
}
