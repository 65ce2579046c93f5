import { RunError } from '../../model/error.js';

/** A queue's address, taken apart. */
type StoreAddress = RedisAddress | PostgresAddress;

export interface RedisAddress {
  readonly kind: 'redis';
  /** The address for people: no user, no password, no query. */
  readonly shown: string;
  readonly mode: 'single' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  /** One; for sentinel and cluster one or more. */
  readonly hosts: readonly [Host, ...Host[]];
  readonly username?: string;
  readonly password?: string;
  /** Number of the database; a cluster has 0 only. */
  readonly db: number;
  /** What the sentinels call the master. */
  readonly master?: string;
  /** Where the sentinels themselves ask for a password: `?sentinel_password=…`. */
  readonly sentinelPassword?: string;
}

export interface PostgresAddress {
  readonly kind: 'postgres';
  readonly shown: string;
  /** As given; may hold a password. */
  readonly url: string;
}

export interface Host {
  readonly host: string;
  readonly port: number;
}

const FORM = /^(?<scheme>[a-z+]+):\/\/(?:(?<user>[^/]*)@)?(?<hosts>[^/?@]+)(?<path>\/[^?]*)?(?:\?(?<query>.*))?$/i;
const HOST = /^(?<host>\[[0-9a-f:.%]+\]|[^\s:[\]]+)(?::(?<port>\d{1,5}))?$/i;
const FORMS =
  'redis://[user:password@]host[:6379][/db], rediss://… for TLS, redis+sentinel://host[:26379],host/master[/db], ' +
  'redis+cluster://host,host, or postgres://user:password@host[:5432]/database';

/** Throws a `RunError` that never quotes the address: it may hold a password. */
export function parseAddress(url: string): StoreAddress {
  const parts = FORM.exec(url)?.groups;
  const scheme = parts?.['scheme']?.toLowerCase();
  if (!parts || scheme === undefined) throw wrong('it is no address');
  if (scheme === 'postgres' || scheme === 'postgresql') {
    return { kind: 'postgres', shown: `${scheme}://${parts['hosts']}${parts['path'] ?? ''}`, url };
  }
  const form = /^redis(?<tls>s?)(?:\+(?<mode>sentinel|cluster))?$/.exec(scheme)?.groups;
  if (!form) throw wrong(`it begins with ${scheme}://`);
  const mode = (form['mode'] ?? 'single') as RedisAddress['mode'];
  const hosts = hostsOf(parts['hosts'] ?? '', mode === 'sentinel' ? 26_379 : 6_379);
  if (mode === 'single' && hosts.length > 1)
    throw wrong('it names several hosts, which only sentinel and cluster have');
  const path = (parts['path'] ?? '').split('/').filter((part) => part !== '');
  const master = mode === 'sentinel' ? path.shift() : undefined;
  if (mode === 'sentinel' && master === undefined) throw wrong('the name of the master is missing: …/mymaster');
  const [db = '0', more] = path;
  if (!/^\d{1,5}$/.test(db) || more !== undefined) throw wrong(`/${path.join('/')} is no number of a database`);
  if (mode === 'cluster' && db !== '0') throw wrong('a cluster has database 0 only');
  return {
    kind: 'redis',
    shown: `${scheme}://${parts['hosts']}${parts['path'] ?? ''}`,
    mode,
    tls: form['tls'] === 's',
    hosts,
    db: Number(db),
    ...userOf(parts['user'] ?? ''),
    ...(master !== undefined && { master: decoded(master) }),
    ...sentinelPasswordOf(parts['query'] ?? ''),
  };
}

function hostsOf(text: string, defaultPort: number): [Host, ...Host[]] {
  const hosts = text.split(',').map((one): Host => {
    const parts = HOST.exec(one)?.groups;
    const port = Number(parts?.['port'] ?? defaultPort);
    if (!parts || port > 65_535) throw wrong(`${JSON.stringify(one)} is no host[:port]`);
    return { host: (parts['host'] ?? '').replace(/^\[|\]$/g, ''), port };
  });
  const [first, ...others] = hosts;
  if (!first) throw wrong('it names no host');
  return [first, ...others];
}

function userOf(text: string): { username?: string; password?: string } {
  const colon = text.indexOf(':');
  // One name without a colon: many clients take it for the password of the default user; Redis' own takes it for the user.
  const [username, password] = colon === -1 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  return {
    ...(username !== '' && { username: decoded(username) }),
    ...(password !== '' && { password: decoded(password) }),
  };
}

function sentinelPasswordOf(query: string): { sentinelPassword?: string } {
  const password = new URLSearchParams(query).get('sentinel_password');
  return password === null || password === '' ? {} : { sentinelPassword: password };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong('a % in it does not begin an escape such as %40; write % itself as %25');
  }
}

function wrong(what: string): RunError {
  return new RunError('usage', `The queue's address (ROWFERRY_QUEUE_URL) cannot be used: ${what}. Forms: ${FORMS}.`);
}
