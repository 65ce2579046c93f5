import type { z } from 'zod';
import { isLoopback } from '../service/address.js';

/** Webhooks go by the proxies of the environment, too. */
export { proxyAgent, proxyRefusal } from '../service/transport/proxy.js';

export { isLoopback };

/** Addresses in settings. Faults never quote the address: it may hold a password. */

/** `https://records.example/api/v2/` → `https://records.example`; for a token address only the checks matter. */
export function serviceAddress(text: string, context: z.core.$RefinementCtx<string>): string {
  const fail = (message: string) => {
    context.addIssue({ code: 'custom', message, input: '' });
    return '';
  };
  if (!URL.canParse(text)) return fail('must be an address such as https://records.example');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return fail('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') {
    return fail('must not hold a user name or password; state the token in ROWFERRY_API_TOKEN');
  }
  if (url.hash !== '' || url.search !== '') return fail('must end before any ? or #');
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '')}`;
}

/** `https://rowferry.example/` → `https://rowferry.example` */
export function consoleAddress(text: string, context: z.core.$RefinementCtx<string>): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  context.addIssue({
    code: 'custom',
    message: 'must be an address without a path, such as https://rowferry.example',
    input: '',
  });
  return '';
}

/** Ways in which a token, a password or the data could be read by others on the network. */
export function remarks(addresses: {
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
  if (addresses.queueUrl !== undefined) found.push(...queueRemarks(addresses.queueUrl));
  return found;
}

const FORM =
  /^(?<scheme>rediss?(?:\+(?:sentinel|cluster))?|postgres(?:ql)?):\/\/(?:(?<user>[^/\s]*)@)?(?<hosts>[^/?@\s]+)(?<path>\/[^?\s]*)?(?:\?(?<query>\S*))?$/i;
const HOST = /^(?:\[[0-9a-f:.%]+\]|[^\s:[\]@,]+)(?::\d{1,5})?$/i;

interface Parts {
  readonly scheme: string;
  readonly user?: string;
  readonly hosts: readonly string[];
  readonly query: URLSearchParams;
}

/** Undefined where the text is no address of a queue, also where a `/` in a password makes it mean another one. */
function partsOf(text: string): Parts | undefined {
  const { scheme, user, hosts, path, query } = FORM.exec(text)?.groups ?? {};
  if (scheme === undefined || hosts === undefined || path?.includes('@')) return undefined;
  const all = hosts.split(',');
  if (!all.every((host) => HOST.test(host))) return undefined;
  if (/^postgres/i.test(scheme) && !URL.canParse(text)) return undefined;
  return {
    scheme: scheme.toLowerCase(),
    ...(user !== undefined && { user }),
    hosts: all,
    query: new URLSearchParams(query ?? ''),
  };
}

/** Only the form is checked here; the worker opens it. */
export function queueAddress(text: string, context: z.core.$RefinementCtx<string>): string {
  if (partsOf(text)) return text;
  context.addIssue({
    code: 'custom',
    message:
      'must begin with redis://, rediss://, redis+sentinel://, redis+cluster:// or postgres:// and name a host; ' +
      'write / ? # and @ in a password as %2F %3F %23 and %40; leave it unset for the embedded queue',
    input: '',
  });
  return '';
}

/** Passwords in the address, as they stand there and decoded. */
export function queueSecrets(text: string): string[] {
  const parts = partsOf(text);
  if (!parts) return [];
  const { scheme, user = '', query } = parts;
  const colon = user.indexOf(':');
  // Redis: some take one name without a colon for the password of the default user.
  const found = [colon === -1 && scheme.startsWith('postgres') ? '' : user.slice(colon + 1)];
  for (const name of ['password', 'sentinel_password', 'sslpassword']) found.push(...query.getAll(name));
  // As they stand in the query: decoding turns `+` and escapes into other characters.
  for (const [, value = ''] of text.matchAll(/[?&](?:\w*password)=([^&]*)/gi)) found.push(value);
  return [...new Set(found.flatMap((one) => [one, decoded(one)]))].filter((one) => one !== '');
}

/** Ways in which the queue's password or its jobs could be read by others, or orders be given by them. */
export function queueRemarks(text: string): string[] {
  const parts = partsOf(text);
  if (!parts) return [];
  const { scheme, user = '', query } = parts;
  const postgres = scheme.startsWith('postgres');
  // Of PostgreSQL a host in the query replaces the one before it.
  const hosts = (postgres && query.getAll('host').at(-1)?.split(',')) || parts.hosts;
  if (hosts.every((host) => isLoopback(host.replace(/:\d+$/, '')) || (postgres && /^(%2f|\/)/i.test(host)))) return [];
  const remarks = postgres ? postgresTls(query) : scheme.startsWith('rediss') ? [] : [REDIS_PLAIN];
  const password = user.includes(':') ? user.slice(user.indexOf(':') + 1) : '';
  const known = password !== '' || (postgres && (query.get('password') || query.get('sslcert')));
  return known ? remarks : [...remarks, NO_PASSWORD];
}

const REDIS_PLAIN = 'ROWFERRY_QUEUE_URL is redis:// to another machine: jobs travel readable; use rediss://';
const NO_PASSWORD = 'ROWFERRY_QUEUE_URL holds no password: whoever reaches the queue can give orders';

/** As the driver reads it: no `sslmode` is no TLS, and `no-verify` takes any server for the right one. */
function postgresTls(query: URLSearchParams): string[] {
  const mode = query.getAll('sslmode').at(-1)?.toLowerCase();
  const on = mode === undefined ? /^(true|1)$/i.test(query.getAll('ssl').at(-1) ?? '') : mode !== 'disable';
  if (!on) {
    return [
      'ROWFERRY_QUEUE_URL is postgres:// to another machine without TLS: jobs travel readable; add ?sslmode=verify-full',
    ];
  }
  const lax = query.get('uselibpqcompat') === 'true' && /^(allow|prefer|require)$/.test(mode ?? '');
  if (mode !== 'no-verify' && !lax) return [];
  return [
    'ROWFERRY_QUEUE_URL takes any server for the queue (its certificate is not checked); use sslmode=verify-full',
  ];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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
