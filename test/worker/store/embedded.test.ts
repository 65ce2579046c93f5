import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPostgresBackend, Queue, Worker } from 'bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { POSTGRES_MAJOR } from '../../../src/worker/store/embedded/folder.js';
import { FrameReader, frame, MAX_FRAME_BYTES, type Request } from '../../../src/worker/store/embedded/frames.js';
import { readStatement } from '../../../src/worker/store/embedded/statement.js';
import { takeTenure } from '../../../src/worker/store/embedded/tenure.js';
import { Homes, until } from './embedded-homes.js';

// A first start takes seconds, and much longer where other suites run beside this one.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let homes: Homes;
beforeAll(async () => {
  homes = await Homes.make();
});
afterEach(() => homes.endAll());
afterAll(() => homes.remove());

describe('one process', () => {
  test('BullMQ works on it: jobs, delays, workers by name', async () => {
    const pool = await homes.open(await homes.home());
    const queue = new Queue('q', { connection: pool }, createPostgresBackend);
    const worker = new Worker(
      'q',
      async (job) => job.data.n * 2,
      { connection: pool, name: 'one' },
      createPostgresBackend,
    );
    await worker.waitUntilReady();
    expect((await queue.getWorkers()).map(({ rawname }) => rawname)).toEqual(['q:w:one']);
    const sent = [await queue.add('now', { n: 1 }), await queue.add('later', { n: 2 }, { delay: 100 })];
    await until(async () => (await queue.getCompletedCount()) === 2);
    for (const [i, job] of sent.entries()) expect((await queue.getJob(job.id ?? ''))?.returnvalue).toBe(2 * (i + 1));
    await worker.close();
    expect(await queue.getWorkersCount()).toBe(0);
    await queue.close();
  });

  test('values are as pg gives and takes them', async () => {
    const pool = await homes.open(await homes.home());
    const at = new Date('2024-02-29T12:00:00Z');
    const { rows, rowCount } = await pool.query(
      'SELECT $1::int8 AS big, $2::jsonb AS json, $3::text[] AS list, $4::timestamptz AS at, $5::bytea AS bytes, $6::numeric AS n, $7::int8[] AS bigs, $8::text AS none',
      ['9007199254740993', { a: [1] }, ['a', null, 'c"'], at, Buffer.from('ab'), '1.10', [1, 2], undefined],
    );
    expect(rows).toEqual([
      {
        big: '9007199254740993',
        json: { a: [1] },
        list: ['a', null, 'c"'],
        at,
        bytes: Buffer.from('ab'),
        n: '1.10',
        bigs: ['1', '2'],
        none: null,
      },
    ]);
    expect(rowCount).toBe(1);
  });

  test('a setting does not pass to the next client, and no client takes away what is shared', async () => {
    const pool = await homes.open(await homes.home());
    const client = await pool.connect();
    const path = async () => (await pool.query<{ search_path: string }>('SHOW search_path')).rows[0]?.search_path;
    expect(await path()).toBe('bullmq');
    await client.query('SET search_path = public');
    expect(await path()).toBe('bullmq');
    await client.query('BEGIN');
    await client.query("SELECT set_config('work_mem', '9MB', false)");
    await client.query('COMMIT');
    expect((await pool.query('SHOW work_mem')).rows).toEqual([{ work_mem: '4MB' }]);
    await expect(client.query('DISCARD ALL')).rejects.toMatchObject({ code: '0A000' });
    await expect(pool.query('BEGIN')).rejects.toMatchObject({ code: '25001' });
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  test('a transaction keeps others waiting, whatever happens in it; giving the client back ends it', async () => {
    const pool = await homes.open(await homes.home());
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('UPDATE counter SET n = 1');
    await expect(client.query('SELECT 1/0')).rejects.toMatchObject({ code: '22012' });
    const others = Promise.all([pool.query('SELECT n FROM counter'), pool.query('SELECT n FROM counter')]);
    await expect(client.query('SELECT 1')).rejects.toMatchObject({ code: '25P02' });
    client.release();
    for (const { rows } of await others) expect(rows).toEqual([{ n: 0 }]);
    await expect(client.query('SELECT 1')).rejects.toThrow(/released/);
  });

  test("nobody's many statements keep another's one waiting", async () => {
    const home = await homes.home();
    const [many, one] = [await homes.open(home), await homes.open(home)];
    await one.query('SELECT 1');
    let finished = 0;
    const all = Promise.all(
      Array.from({ length: 100 }, () => many.query('SELECT pg_sleep(0.005)').then(() => finished++)),
    );
    await one.query('SELECT 1');
    expect(finished).toBeLessThan(60);
    await all;
  });

  test('tables that are rewritten over and over do not grow', async () => {
    const pool = await homes.open(await homes.home());
    await pool.query('CREATE TABLE rewritten (n integer, text text)');
    await pool.query("INSERT INTO rewritten VALUES (1, '')");
    const text = Buffer.alloc(700_000, 'x').toString();
    for (let i = 0; i < 110; i++) await pool.query('UPDATE rewritten SET text = $1', [text]);
    const tidied = "SELECT vacuum_count::int AS times FROM pg_stat_user_tables WHERE relname = 'rewritten'";
    await until(async () => ((await pool.query<{ times: number }>(tidied)).rows[0]?.times ?? 0) > 0);
  });

  test('an ended pool says so, and leaves neither socket nor owner', async () => {
    const home = await homes.home();
    const pool = await homes.open(home);
    expect((await stat(join(home, 'queue.sock'))).mode & 0o777).toBe(0o600);
    const last = pool.query('SELECT pg_sleep(0.1)');
    await pool.query('SELECT 1');
    await pool.end();
    await last;
    await expect(pool.query('SELECT 1')).rejects.toThrow(/after calling end on the pool/);
    expect(existsSync(join(home, 'queue.sock'))).toBe(false);
    const again = await homes.open(home);
    expect(await again.owns()).toBe(true);
  });

  test('a home whose path is too long for a socket has it elsewhere', async () => {
    const home = await homes.home(join('x'.repeat(60), 'y'.repeat(60)));
    const [first, second] = [await homes.open(home), await homes.open(home)];
    expect([await first.owns(), await second.owns()]).toEqual([true, false]);
    expect(existsSync(join(home, 'queue.sock'))).toBe(false);
  });
});

describe('a folder that cannot be read', () => {
  test('is put aside when it is damaged, and what was there before is told', async () => {
    const home = await homes.home();
    await writeFile(join(home, 'queue', 'global', 'pg_control'), 'torn');
    const pool = await homes.open(home);
    expect((await pool.query('SELECT count(*) FROM job')).rows).toEqual([{ count: '0' }]);
    expect((await readdir(home)).filter((name) => name.startsWith('queue.damaged-'))).toHaveLength(1);
    expect(homes.notices.at(-1)).toMatch(/starts empty: it cannot be opened .*The old one lies in .*queue\.damaged-/);
  });

  test('is put aside when another PostgreSQL wrote it', async () => {
    const home = await homes.home();
    expect((await readFile(join(home, 'queue', 'PG_VERSION'), 'utf8')).trim()).toBe(POSTGRES_MAJOR);
    await writeFile(join(home, 'queue', 'PG_VERSION'), '15\n');
    await homes.open(home);
    expect(homes.notices.at(-1)).toContain(`was written by PostgreSQL 15, and this is ${POSTGRES_MAJOR}`);
  });

  test('is nothing that the home itself is to blame for', async () => {
    const home = join(await homes.home(), 'file');
    await writeFile(home, '');
    await expect(homes.open(home)).rejects.toThrow(/embedded queue in .* cannot be opened: .*Check that the disk/);
  });

  test('is not left by a first start that is killed', async () => {
    const home = join(await homes.home(), 'fresh');
    const first = homes.other(home).catch(() => undefined);
    await until(() => existsSync(join(home, 'queue.new', 'PG_VERSION')), 100_000);
    await homes.endAll();
    await first;
    expect(existsSync(join(home, 'queue'))).toBe(false);
    const pool = await homes.open(home);
    expect(await pool.owns()).toBe(true);
    expect(homes.notices.filter((text) => text.includes('fresh') && !text.startsWith('Opening'))).toEqual([]);
  });
});

describe('tenure', () => {
  test('one of many takes it, again and again', async () => {
    const folder = join(await homes.home(), 'tenures');
    for (let round = 0; round < 20; round++) {
      const found = await Promise.all(Array.from({ length: 12 }, () => takeTenure(folder)));
      const taken = found.filter((one) => 'release' in one);
      expect(taken).toHaveLength(1);
      for (const one of taken) await one.release();
    }
    expect((await readdir(folder)).length).toBeLessThan(3);
  });

  test("a dead process's is taken over; one of another container only where the caller knows", async () => {
    const folder = join(await homes.home(), 'tenures');
    await mkdir(folder);
    const child = spawn(process.execPath, ['-e', '']);
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    await new Promise((resolve) => child.once('close', resolve));
    await writeFile(join(folder, '7'), `${child.pid} 123 another-boot/pid:[1]`);
    const tenant = await takeTenure(folder);
    expect(tenant).toMatchObject({ known: false, number: 7 });
    expect(await takeTenure(folder, 6)).toMatchObject({ number: 7 });
    expect(boot).not.toBe('');
    expect('release' in (await takeTenure(folder, 7))).toBe(true);
    expect(await readdir(folder)).toEqual(['8']);
    expect(await takeTenure(folder)).toMatchObject({ pid: process.pid, known: true, number: 8 });
  });
});

describe('frames', () => {
  test('come out whole, however they were cut', () => {
    const request: Request = {
      kind: 'query',
      session: 1,
      id: 2,
      text: 'SELECT $1',
      params: [new Date(0), 5n, Buffer.from('x'), null, 'ä'.repeat(70_000)],
    };
    const bytes = Buffer.concat([frame(request), frame({ kind: 'close', session: 1 })]);
    for (const size of [1_000, 65_536, bytes.length]) {
      const reader = new FrameReader<Request>();
      const read: Request[] = [];
      for (let at = 0; at < bytes.length; at += size) read.push(...reader.push(bytes.subarray(at, at + size)));
      expect(read).toEqual([request, { kind: 'close', session: 1 }]);
    }
  });

  test('that are too long are refused before they are read', () => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(MAX_FRAME_BYTES + 1);
    expect(() => new FrameReader().push(head)).toThrow(RangeError);
    const text = 'x'.repeat(MAX_FRAME_BYTES);
    expect(() => frame({ kind: 'query', session: 1, id: 1, text, params: [] })).toThrow(/takes up to/);
  });
});

describe('statements', () => {
  test.each([
    ['LISTEN bullmq_jobs;', { kind: 'listen', channel: 'bullmq_jobs' }],
    ['-- a\n/* b */ listen "A b"', { kind: 'listen', channel: 'A b' }],
    ['UNLISTEN News', { kind: 'unlisten', channel: 'news' }],
    ['unlisten *', { kind: 'unlisten-all' }],
    ["SELECT set_config('application_name', $1, false)", { kind: 'name' }],
    ["SET application_name TO 'it''s'", { kind: 'name', name: "it's" }],
    ['SET LOCAL search_path TO "bullmq"', { kind: 'plain', leaks: true }],
    ["select set_config('x.y', '1', false)", { kind: 'plain', leaks: true }],
    ['UPDATE job SET data = $1', { kind: 'plain', leaks: false }],
    ['SELECT 1 -- LISTEN x', { kind: 'plain', leaks: false }],
  ])('%s', (text, expected) => expect(readStatement(text)).toEqual(expected));
});
