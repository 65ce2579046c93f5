import { createHash, timingSafeEqual } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context, MiddlewareHandler } from 'hono';

/** The board's only user. */
export const BOARD_USER = 'rowferry';

/** Whether an address reaches this machine only. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** Nothing here is a page of somebody else, nothing is kept by a browser, and no other server is asked for anything. */
export const headers: MiddlewareHandler = async (c, next) => {
  await next();
  c.header('cache-control', 'no-store');
  c.header('content-security-policy', POLICY);
  c.header('referrer-policy', 'no-referrer');
  c.header('x-content-type-options', 'nosniff');
  c.header('x-frame-options', 'DENY');
};

const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'self'",
  "form-action 'none'",
].join('; ');

/** Everything here is for reading. */
export const readOnly: MiddlewareHandler = async (c, next) => {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
  return c.text('Only GET and HEAD are answered here.\n', 405, { allow: 'GET, HEAD' });
};

/**
 * On a loopback address only its own names are answered: a page on the web whose name was made to point to this machine
 * (DNS rebinding) carries that name in `Host`.
 */
export function ownHostOnly(bound: string): MiddlewareHandler {
  return async (c, next) => {
    const host = hostName(c);
    if (host !== undefined && (host === bound || isLoopback(host))) return next();
    return c.text('This address answers to localhost and its loopback addresses only.\n', 421);
  };
}

function hostName(c: Context): string | undefined {
  const host = c.req.header('host');
  const url = host === undefined ? undefined : `http://${host}`;
  if (url === undefined || !URL.canParse(url)) return undefined;
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

/** Wrong passwords that one address may send within a window. */
const MOST_WRONG = 10;
const WINDOW_MS = 60_000;
/** Addresses beyond so many within a window share one allowance. */
const MOST_ADDRESSES = 1000;

/**
 * Basic authorisation. Compares in constant time, whatever the lengths. An address that sent too many wrong passwords is
 * answered 429 for the rest of the minute, whatever it sends; `warn` is told of its first wrong one and of that.
 */
export function passwordRequired(password: string, warn: (text: string) => void): MiddlewareHandler {
  const expected = digest(`${BOARD_USER}:${password}`);
  let begun = performance.now();
  const wrong = new Map<string, number>();

  return async (c, next) => {
    const { authorization } = c.req.header();
    if (performance.now() - begun > WINDOW_MS) {
      begun = performance.now();
      wrong.clear();
    }
    const from = getConnInfo(c).remote.address ?? 'unknown';
    const address = wrong.has(from) || wrong.size < MOST_ADDRESSES ? from : 'many addresses';
    const before = wrong.get(address) ?? 0;
    if (authorization !== undefined && before >= MOST_WRONG) {
      return c.text('Too many wrong passwords came from this address. Try again in a minute.\n', 429, {
        'retry-after': String(WINDOW_MS / 1000),
      });
    }
    const given = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization ?? '')?.[1] ?? '';
    if (timingSafeEqual(digest(Buffer.from(given, 'base64').toString('utf8')), expected)) return next();
    if (authorization !== undefined) {
      wrong.set(address, before + 1);
      if (before === 0) warn(`The board refused a wrong password or user from ${address}.`);
      if (before + 1 === MOST_WRONG) {
        warn(`${MOST_WRONG} wrong passwords for the board came from ${address}: it is not listened to for a minute.`);
      }
    }
    return c.text('The board needs its password.\n', 401, {
      'www-authenticate': 'Basic realm="rowferry board", charset="UTF-8"',
    });
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
