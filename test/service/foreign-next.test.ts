import { expect, test } from 'vitest';
import { walkList } from '../../src/service/lists/walk-list.js';
import { client, json, refusal, serve } from './server.js';

/** Records of a list over three pages, whose `next` is whatever a test says. */
const listing = (next: (page: number, own: string) => unknown) =>
  serve((response, { url, headers }) => {
    const page = Number(url.searchParams.get('page') ?? 1);
    const results = Array.from({ length: page < 3 ? 25 : 10 }, (_, i) => ({ id: (page - 1) * 25 + i + 1, name: 'x' }));
    const given = next(page, `http://${headers.host}`);
    json(
      response,
      200,
      { count: 60, next: given, previous: given, results },
      { link: `<${String(given).replace(/[\r\n]/g, '')}>; rel="next"` },
    );
  });

const foreign = () => serve((response) => json(response, 200, { count: 60, next: null, results: [{ id: 999 }] }));

test.each<[string, (page: number, own: string, other: string) => unknown]>([
  ['another port', (page, _own, other) => `${other}/api/v2/asset/?page=${page + 1}`],
  ['another host', (page, _own, other) => `${other.replace('127.0.0.1', 'localhost')}/api/v2/asset/?page=${page + 1}`],
  ['another scheme', (page, own) => `${own.replace('http:', 'https:')}/api/v2/asset/?page=${page + 1}`],
  ['a scheme without a host', () => 'file:///etc/passwd'],
  ['our host as a user name', (_page, own, other) => `${own}@${other.slice('http://'.length)}/api/v2/asset/?page=2`],
  ['a user and password', (_page, own) => own.replace('http://', 'http://user:pass@')],
  ['no scheme', (_page, _own, other) => `${other.slice('http:'.length)}/api/v2/asset/?page=2`],
  ['a backslash', (_page, _own, other) => `\\\\${other.slice('http://'.length)}\\api`],
  ['a line break', (_page, own, other) => `${own}/\r\nHost: ${other}`],
  ['another path', (_page, own) => `${own}/elsewhere?page=2`],
  ['itself', (_page, own) => `${own}/api/v2/asset/?page=1`],
  ['no text', () => ({ url: 'x' })],
  ['nothing', () => null],
])('a `next` with %s leads nowhere: pages are asked for by number, at the one address (23, 85)', async (_, next) => {
  const other = await foreign();
  const service = await listing((page, own) => next(page, own, other.url));
  const ids: unknown[] = [];
  for await (const { records } of walkList(client(service.url), 'asset')) ids.push(...records.map(({ id }) => id));
  expect(ids).toEqual(Array.from({ length: 60 }, (_one, i) => i + 1));
  expect(other.seen).toEqual([]);
  expect(new Set(service.seen.map(({ path }) => path))).toEqual(new Set(['/api/v2/asset/']));
  expect(service.seen.map(({ url }) => url.searchParams.get('page')).sort()).toEqual(['1', '2', '3']);
  for (const { headers } of service.seen) expect(headers.authorization).toBe('Bearer planted-secret-token');
});

test.each([302, 307])(
  'client id and secret are sent to no address that the token service names (%i) (85)',
  async (status) => {
    const other = await serve((response) => json(response, 200, { access_token: 'stolen' }));
    const tokens = await serve((response) => void response.writeHead(status, { location: other.url }).end());
    const service = await listing(() => null);
    const token = {
      kind: 'oauth',
      tokenUrl: `${tokens.url}/token`,
      clientId: 'ferry',
      clientSecret: 'planted-client-secret',
    } as const;
    const text = await refusal(client(service.url, { token }).get('asset', 1));
    expect(text).toContain('gave no token');
    expect(text).not.toContain('planted-client-secret');
    expect([other.seen, service.seen]).toEqual([[], []]);
  },
);
