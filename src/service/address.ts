import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { usageError } from '../model/error.js';
import type { ResourceName } from '../resources/spec.js';
import type { Readable } from './port.js';

/** Where the service is and what its resources are called there. Interface, section 4.1. */
export interface Address {
  /** `https://host:port`: the only origin that ever sees the token. */
  readonly origin: string;
  /** `/prefix/api/v2` */
  readonly root: string;
}

/** Throws RunError('usage') where `{base_url}` is not a plain http(s) address. */
export function readAddress(baseUrl: string): Address {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const fix = 'Set ROWFERRY_API_URL to the base address alone, for example https://records.example.com';
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw usageError(`The service address "${url ? url.protocol : baseUrl}" is not an http or https address. ${fix}`);
  }
  if (url.username || url.password) {
    throw usageError(`The service address for ${url.host} carries a user name or password. ${fix}`);
  }
  if (url.search || url.hash) {
    throw usageError(`The service address for ${url.host} carries a query or a fragment. ${fix}`);
  }
  const prefix = url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '');
  return { origin: url.origin, root: `${prefix}/api/v2` };
}

/** Reads that stand without a trailing slash; all others carry one, redirects being refused on both sides. */
const NO_TRAILING_SLASH: ReadonlySet<Readable> = new Set<Readable>(['user', 'company']);

export function readPath(resource: Readable, id?: number): string {
  return `/${resource}${id === undefined ? '' : `/${id}`}${NO_TRAILING_SLASH.has(resource) ? '' : '/'}`;
}

export function writePath(resource: ResourceName, id?: number): string {
  return `/${resource}${id === undefined ? '' : `/${id}`}`;
}

/** Companies are read by id alone; every other read names the company it acts for. Interface, sections 1 and 4.1. */
export function namesCompany(resource: Readable): boolean {
  return resource !== 'company';
}

/** What is known of one service address and company is kept under this name: `<host>-<hash>-<company>`. */
export function serviceName(baseUrl: string, company: number): string {
  const { origin, root } = readAddress(baseUrl);
  const hash = createHash('sha256').update(`${origin}${root}`).digest('hex').slice(0, 8);
  const host = new URL(origin).host.replace(/[^A-Za-z0-9.-]+/g, '_');
  return `${host}-${hash}-${company}`;
}

export const serviceDir = (home: string, baseUrl: string, company: number): string =>
  join(home, 'service', serviceName(baseUrl, company));

/** Whether a host, as it stands in an address, is this machine itself. Addresses of private networks are not. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}
