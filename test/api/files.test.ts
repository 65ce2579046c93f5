import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApiDeps } from '../../src/api/app.js';
import { pruneExports, safeName, Uploads } from '../../src/api/files/uploads.js';
import { runsOnStore } from '../../src/api/runs/orders.js';
import { runFolder } from '../../src/runs/run/layout.js';
import type { Store } from '../../src/worker/store/port.js';
import { until } from '../support/until.js';
import { apiIn, pagesFor } from './support.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rowferry-files-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(root, 'home-'));
});

const folders = () => readdir(join(home, 'uploads')).catch(() => []);
const MAX = { ROWFERRY_MAX_UPLOAD: '1 MB' };
const CSV = 'Serial number,Item Name\nSN-1,Laptop\n';

describe('POST /files', () => {
  it('takes a body as it is, under a safe name, and tells what came', async () => {
    const told: unknown[] = [];
    const audit: ApiDeps['audit'] = async (who, what, about) => void told.push([who.name, what, about]);
    const pages = pagesFor(apiIn(home, { audit }));
    const answer = await pages.request('/api/v1/files?name=..%2F..%2Fm%C3%A4rz.csv', { method: 'POST', body: CSV });
    const about = (await answer.json()) as { id: string; file: string };
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `/api/v1/files/${about.id}`]);
    expect(about).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      file: `uploads/${about.id}/märz.csv`,
      name: 'märz.csv',
      bytes: CSV.length,
      sha256: createHash('sha256').update(CSV).digest('hex'),
    });
    expect(await readFile(join(home, about.file), 'utf8')).toBe(CSV);
    expect(told).toEqual([['mara', 'file sent', { file: about.file }]]);
    expect(await (await pages.request(`/api/v1/files/${about.id}`)).json()).toEqual(about);
  });

  it.each([
    ['no bytes', () => ({ body: '' }), 422, 'empty'],
    ['more than is taken', () => ({ body: 'x'.repeat(1024 * 1024 + 1) }), 413, 'ROWFERRY_MAX_UPLOAD'],
    [
      'a form',
      () => ({ body: '--b--', headers: { 'content-type': 'multipart/form-data; boundary=b' } }),
      415,
      '--data-binary',
    ],
  ])('refuses %s and leaves nothing behind', async (_, init, status, words) => {
    const pages = pagesFor(apiIn(home, {}, MAX));
    const answer = await pages.request('/api/v1/files', { method: 'POST', ...init() });
    expect(await answer.json()).toMatchObject({ status, detail: expect.stringContaining(words) });
    expect(await folders()).toEqual([]);
  });

  it('is not for viewers', async () => {
    const pages = pagesFor(apiIn(home), 'viewer');
    expect((await pages.request('/api/v1/files', { method: 'POST', body: CSV })).status).toBe(403);
    expect(await folders()).toEqual([]);
  });
});

describe('a server', () => {
  let server: Server;
  let port: number;
  beforeEach(async () => {
    server = createServer(getRequestListener(pagesFor(apiIn(home, {}, MAX)).fetch));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });
  const send = (path: string, headers: Record<string, string> = {}) =>
    request({ port, host: '127.0.0.1', method: 'POST', path, headers });

  it('ends an upload that never ends at the limit', async () => {
    const sent = send('/api/v1/files?name=a.csv');
    const answer = new Promise<number>((resolve) => sent.on('response', ({ statusCode = 0 }) => resolve(statusCode)));
    const ended = new Promise((resolve) => sent.once('close', resolve));
    let broken = false;
    sent.on('error', () => {
      broken = true;
    });
    let answered = 0;
    void answer.then((status) => {
      answered = status;
    });
    const chunk = Buffer.alloc(64 * 1024, 'x');
    let written = 0;
    while (answered === 0 && !broken) {
      written += chunk.length;
      if (written > 512 * 1024 * 1024) throw new Error('it is read without an end');
      if (!sent.write(chunk))
        await Promise.race([new Promise((resolve) => sent.once('drain', resolve)), answer, ended]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([0, 413]).toContain(answered);
    sent.destroy();
    await until(async () => (await folders()).length === 0);
  });

  it.each([
    ['is refused', 'viewer', 403],
    ['finds no place', 'operator', 500],
    ['is announced with more than is taken', 'operator', 413],
  ] as const)('says that the connection ends where an upload %s before it has come', async (_, role, status) => {
    // No folder can be made here.
    if (status === 500) await writeFile(join(home, 'uploads'), 'a file');
    server.removeAllListeners('request');
    server.on('request', getRequestListener(pagesFor(apiIn(home, {}, status === 413 ? MAX : undefined), role).fetch));
    const sent = send('/api/v1/files?name=a.csv', { 'content-length': String(100 * 1024 * 1024) });
    sent.on('error', () => undefined);
    const answer = new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
    sent.write('x'.repeat(50_000));
    const { statusCode, headers } = await answer;
    expect([statusCode, headers.connection]).toEqual([status, 'close']);
    sent.destroy();
  });

  it('removes what came of an upload that was cut off', async () => {
    const sent = send('/api/v1/files?name=a.csv', { 'content-length': '100000' });
    sent.on('error', () => undefined);
    sent.write('x'.repeat(50_000));
    await until(async () => (await folders()).length === 1);
    sent.destroy();
    await until(async () => (await folders()).length === 0);
  });
});

const bytes = (text: string) => Readable.from([Buffer.from(text)]);

describe('uploads', () => {
  /** It never ends. */
  function slowly(): Readable {
    const body = new PassThrough();
    body.write('Serial,Name\n');
    return body;
  }

  it('ends what stands still, and lets no more than some come at a time', async () => {
    const uploads = new Uploads(home, 1_000, 400);
    const coming = Array.from({ length: 16 }, () => uploads.take('a.csv', slowly()).catch(({ message }) => message));
    await expect(uploads.take('a.csv', slowly())).rejects.toMatchObject({ status: 429 });
    expect(new Set(await Promise.all(coming))).toEqual(
      new Set(['The file did not come to its end in time. Send it again.']),
    );
    expect(await folders()).toEqual([]);
    expect((await uploads.take('a.csv', bytes('x'))).bytes).toBe(1);
  });

  it('are found by their id or name alone, and nothing outside of their folder is', async () => {
    const uploads = new Uploads(home, 1_000);
    const { id, file } = await uploads.take('a.csv', bytes('x'));
    await writeFile(join(home, 'secret.csv'), 'x');
    expect((await uploads.find(id))?.path).toBe(join(home, file));
    expect((await uploads.find(file))?.path).toBe(join(home, file));
    for (const other of [`uploads/${id}/b.csv`, `uploads/${id}/../../secret.csv`, `${id}/..`, '../secret.csv', '', '.'])
      expect([other, await uploads.find(other)]).toEqual([other, undefined]);
  });

  it('that the console exported go after a week, too; what somebody else put there stays', async () => {
    const folder = join(home, 'exports');
    await mkdir(folder);
    const [old, downloaded, own] = ['contracts-20261101-081502123.xlsx', 'assets-20261101-081502123.csv', 'mine.xlsx'];
    const aged = new Date(Date.now() - 8 * 86_400_000);
    for (const name of [old, downloaded, own]) {
      await writeFile(join(folder, name), 'x');
      await utimes(join(folder, name), name === downloaded ? new Date() : aged, aged);
    }
    await pruneExports(home);
    expect((await readdir(folder)).sort()).toEqual([downloaded, own]);
  });

  it('go after a week without use, and stay while a run waits for them', async () => {
    const uploads = new Uploads(home, 1_000);
    const take = async (name: string) => (await uploads.take(name, bytes('x'))).id;
    const [old, used, awaited] = [await take('old.csv'), await take('used.csv'), await take('awaited.csv')];
    await mkdir(join(home, 'uploads', '0123'));
    const aged = new Date(Date.now() - 8 * 86_400_000);
    for (const id of [old, used, awaited]) await utimes(join(home, 'uploads', id, '.about.json'), aged, aged);
    await utimes(join(home, 'uploads', '0123'), aged, aged);
    await uploads.find(used);
    const removed = await uploads.prune(async (path) => path.endsWith('awaited.csv'));
    expect(removed.sort()).toEqual([old, '0123'].sort());
    expect((await folders()).sort()).toEqual([used, awaited].sort());
  });

  it('the same order is the same run also without its file', async () => {
    const jobs: { readonly data: unknown }[] = [];
    const queue = {
      getJobs: async () => jobs,
      getJob: async () => undefined,
      add: async (_: string, data: unknown) => void jobs.push({ data }),
    } as unknown as ApiDeps['queue'];
    const store = { workers: async () => 1, read: async () => undefined, queue: () => queue } as unknown as Store;
    const pages = pagesFor(apiIn(home, { queue, runs: runsOnStore(store, home) }));
    const order = (file: string) =>
      pages.request('/api/v1/runs', {
        method: 'POST',
        headers: { 'idempotency-key': `key-of-${file}` },
        body: JSON.stringify({ kind: 'import', job: 'assets', file }),
      });
    const uploads = new Uploads(home, 1_000);
    const { id: other } = await uploads.take('b.csv', bytes('x'));
    const { id: run } = (await (await order(other)).json()) as { id: string };
    expect(jobs.at(-1)).toEqual({ data: { job: 'assets', file: `uploads/${other}/b.csv` } });
    await mkdir(runFolder(home, run).dir, { recursive: true });
    await writeFile(runFolder(home, run).request, '{}');
    jobs.length = 0;
    await uploads.remove(other);
    const again = await order(other);
    expect([again.status, await again.json(), jobs]).toEqual([202, { id: run }, []]);
  });
});

it.each([
  ['inventory.xlsx', 'inventory.xlsx'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\mara\\a.csv', 'a.csv'],
  ['a\0b\n.csv', 'a_b_.csv'],
  ['NUL.csv', 'file_NUL.csv'],
  ['con', 'file_con'],
  ['...', 'file'],
  ['.hidden.csv', 'hidden.csv'],
  ['~$open.xlsx', '$open.xlsx'],
  ['a.csv. . ', 'a.csv'],
  ['\u202Efdp.exe', '_fdp.exe'],
  ['a<b>:"|?*.csv', 'a_b______.csv'],
  ['', 'file'],
  ['x/', 'file'],
])('the name %j is made %j', (given, made) => expect(safeName(given)).toBe(made));

it('a name of 300 characters is cut, and keeps its extension', () => {
  for (const name of [
    `${'x'.repeat(300)}.csv.gz`,
    `${'ü'.repeat(300)}.xlsx`,
    `${'😀'.repeat(300)}.csv`,
    'y'.repeat(300),
  ]) {
    const made = safeName(name);
    expect(Buffer.byteLength(made)).toBeLessThanOrEqual(150);
    expect(made).toBe(made.normalize('NFC'));
    expect(/\p{Cs}/u.test(made)).toBe(false);
    const end = name.lastIndexOf('.');
    if (end > 0) expect(made.endsWith(name.slice(end))).toBe(true);
  }
});
