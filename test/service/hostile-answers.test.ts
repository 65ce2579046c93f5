import { deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { client, json, refusal, serve, serveBytes } from './server.js';

const RECORD = Buffer.from('{"id":5,"name":"Zürich"}');
const MB = 1024 * 1024;

test.each([
  ['gzip', gzipSync(RECORD)],
  ['x-gzip', gzipSync(RECORD)],
  ['GZIP', gzipSync(RECORD)],
  ['deflate', deflateSync(RECORD)],
  ['identity', RECORD],
])('an answer in %s, which was not asked for, is read all the same', async (coding, bytes) => {
  const { url, seen } = await serve((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding }).end(bytes);
  });
  const service = client(url);
  expect(await service.get('asset', 5)).toEqual({ id: 5, name: 'Zürich' });
  expect(await service.create('asset', { name: 'x' })).toMatchObject({ kind: 'done', id: 5 });
  expect(seen.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity', 'identity']);
});

test('an answer that is not what its encoding says leaves a write open; a read says so', async () => {
  const { url } = await serve((response, _seen, nth) => {
    response.writeHead(200, { 'content-encoding': nth === 1 ? 'gzip' : 'zstd' }).end(RECORD);
  });
  const service = client(url, { patienceMs: 60_000 });
  expect(await service.create('asset', {})).toMatchObject({ kind: 'open', reason: expect.stringContaining('"gzip"') });
  expect(await refusal(service.get('asset', 5))).toContain('encoded as "zstd"');
});

test('204 with an encoding and no body is a clear success', async () => {
  const { url } = await serve((response) => void response.writeHead(204, { 'content-encoding': 'gzip' }).end());
  expect(await client(url).update('asset', 5, {})).toEqual({ kind: 'done' });
});

test('a compression bomb is cut at the limit: open for a write, an error for a read (19)', async () => {
  const bomb = gzipSync(Buffer.alloc(200 * MB, 0x20));
  expect(bomb.length).toBeLessThan(MB);
  const { url } = await serve((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb);
  });
  const service = client(url, { maxAnswerBytes: MB, timeouts: { requestMs: 20_000 } });
  const before = process.memoryUsage().rss;
  expect(await service.create('asset', { name: 'x' })).toMatchObject({
    kind: 'open',
    reason: expect.stringContaining('larger than the limit of 1 MB'),
  });
  expect(await refusal(service.get('asset', 5))).toContain('larger than the limit of 1 MB');
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * MB);
});

test.each(['announced', 'chunked without a length'])(
  'an answer of 100 MB, %s, is not read to its end (19)',
  async (form) => {
    let sent = 0;
    const { url } = await serve((response) => {
      response.writeHead(200, form === 'announced' ? { 'content-length': String(100 * MB) } : {});
      const more = (): void => {
        while (!response.destroyed && sent < 100 * MB && response.write(' '.repeat(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      response.on('error', () => undefined);
      more();
    });
    const service = client(url, { maxAnswerBytes: MB, timeouts: { requestMs: 20_000 } });
    expect(await refusal(service.get('asset', 5))).toContain('larger than the limit of 1 MB');
    expect(await service.update('asset', 5, {})).toMatchObject({ kind: 'open', answered: false });
    expect(sent).toBeLessThan(64 * MB);
  },
);

test.each(['headers', 'body'])(
  'a slow drip of the %s ends at the total deadline, on reads as on writes (14)',
  async (part) => {
    const timers: NodeJS.Timeout[] = [];
    const { url, requests } = await serveBytes((socket) => {
      const text =
        part === 'headers' ? 'HTTP/1.1 200 OK\r\nx-slow: ' : 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n';
      socket.write(text);
      timers.push(setInterval(() => socket.destroyed || socket.write('a'), 10));
    });
    const service = client(url, { timeouts: { requestMs: 150 }, patienceMs: 700 });
    const started = performance.now();
    const read = refusal(service.get('asset', 1));
    expect(await service.create('asset', { name: 'x' })).toMatchObject({
      kind: 'open',
      reason: 'no complete answer within 0.15 s',
    });
    expect(await read).toMatch(/service unreachable: .*no complete answer within 0.15 s/);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(requests.filter((head) => head.startsWith('POST'))).toHaveLength(1);
    for (const timer of timers) clearInterval(timer);
  },
);

test('headers without end are no answer: open for a write', async () => {
  const { url } = await serveBytes((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(8_000)}\r\n`.repeat(100)}`);
  });
  expect(await client(url).create('asset', {})).toMatchObject({ kind: 'open', answered: false });
});

test.each(['99999999', '1e99', 'Fri, 31 Dec 9999 23:59:59 GMT'])(
  'an absurd Retry-After of %s is a pause of a quarter of an hour at most (9)',
  async (value) => {
    const { url } = await serve((response, _seen, nth) => {
      if (nth === 1) json(response, 429, {}, { 'retry-after': value });
      else json(response, 201, { id: 1 });
    });
    const waits: unknown[] = [];
    const stop = new AbortController();
    const service = client(url, {
      signal: stop.signal,
      patienceMs: 60_000,
      log: (_level, event, fields) => {
        if (event !== 'service.retry') return;
        waits.push(fields['wait_ms']);
        stop.abort();
      },
    });
    const answer = await service.create('asset', { name: 'x' });
    // What cannot be read as a number of seconds or a date is none.
    expect(waits).toEqual([value === '1e99' ? expect.any(Number) : 900_000]);
    expect(Number(waits[0])).toBeLessThanOrEqual(900_000);
    expect(answer.kind).toBe('unsent');
  },
);

test.each([301, 302, 303, 307, 308])(
  'a redirect (%i) to another host is followed by no read and no write, and the token stays here (17, 85)',
  async (status) => {
    const other = await serve((response) => json(response, 200, { id: 5, count: 1, results: [{ id: 5 }] }));
    const { url, seen } = await serve((response) => {
      response.writeHead(status, { location: `${other.url}/api/v2/asset/5/?token=planted-secret-token` }).end();
    });
    const service = client(url);
    const told = [
      await refusal(service.get('asset', 5)),
      await refusal(service.page('asset', 1)),
      await refusal(service.create('asset', { name: 'x' })),
      await refusal(service.update('asset', 5, { name: 'x' })),
    ];
    for (const [at, text] of told.entries()) {
      expect(text).toContain(`redirected (${status}) to ${other.url}/api/v2/asset/5/`);
      expect(text).not.toContain('planted');
      expect(text.includes('lose the body')).toBe(at > 1);
    }
    expect(seen).toHaveLength(4);
    expect(other.seen).toEqual([]);
  },
);
