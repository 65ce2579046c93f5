import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { EmbeddedPool, openFolder } from '../../../src/worker/store/embedded.js';
import { cliPath } from '../../support/build.js';
import { QUICK } from '../../support/process.js';
import { availableStores } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { open, otherProcess } from './opened.js';

// A first start takes seconds, and much longer where other suites run beside this one.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let root: string;
let last = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rowferry-queue-'));
  const [embedded] = await availableStores();
  const server = await embedded!.start();
  await cp(join(server.home, 'queue'), join(root, 'empty'), { recursive: true });
  await server.stop();
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A home with an empty queue. */
async function freshHome(): Promise<string> {
  const home = join(root, `home-${++last}`);
  await cp(join(root, 'empty'), join(home, 'queue'), { recursive: true });
  return home;
}

describe('its pool', () => {
  let pool: EmbeddedPool;
  let closed = 0;
  let opened: PGlite;
  beforeAll(async () => {
    const folder = join(await freshHome(), 'queue');
    pool = await EmbeddedPool.create(
      async () => {
        opened = await openFolder(folder, () => undefined);
        return opened;
      },
      async () => void closed++,
    );
  });
  afterAll(() => pool.end());

  test('gives and takes values as pg does', async () => {
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

  test('tells a fault with its code, and without the values of the statement', async () => {
    const fault = await pool.query('SELECT 1/0, $1::text', ['a cell']).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: '22012' });
    expect(JSON.stringify(Object.entries(fault as object))).not.toContain('a cell');
  });

  test('lets timers and sockets have their turn where every answer brings the next question', async () => {
    let turns = 0;
    let on = true;
    const turn = () => {
      turns++;
      if (on) setImmediate(turn);
    };
    setImmediate(turn);
    for (let i = 0; i < 2000 && turns <= 10; i++) await pool.query('SELECT count(*) FROM generate_series(1, 20000)');
    on = false;
    expect(turns).toBeGreaterThan(10);
  });

  test('tables that are rewritten over and over do not grow', async () => {
    await pool.query('CREATE TABLE public.rewritten (n integer, text text)');
    await pool.query("INSERT INTO public.rewritten VALUES (1, '')");
    const text = Buffer.alloc(700_000, 'x').toString();
    for (let i = 0; i < 110; i++) await pool.query('UPDATE public.rewritten SET text = $1', [text]);
    const tidied = "SELECT vacuum_count::int AS times FROM pg_stat_user_tables WHERE relname = 'rewritten'";
    await until(async () => ((await pool.query<{ times: number }>(tidied)).rows[0]?.times ?? 0) > 0);
  });

  test('opens the folder again after PGlite has failed; those who listen are told', async () => {
    await pool.query('CREATE TABLE public.kept (n integer)');
    const client = await pool.connect();
    const heard: unknown[] = [];
    client.on('error', (error) => heard.push(error));
    const exec = opened.exec.bind(opened);
    // Tables may still be tidied meanwhile.
    const broken = vi.spyOn(opened, 'exec').mockImplementation(async (sql, options) => {
      if (sql === 'SELECT 1') throw Object.assign(new Error('unreachable'), { name: 'RuntimeError' });
      return exec(sql, options);
    });
    await expect(pool.query('SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    broken.mockRestore();
    expect(heard).toHaveLength(1);
    expect((await pool.query('SELECT count(*)::int AS n FROM public.kept')).rows).toEqual([{ n: 0 }]);
    const again = await pool.connect();
    const told = new Promise((resolve) => again.on('notification', resolve));
    await again.query('LISTEN news');
    await pool.query("SELECT pg_notify('news', 'x')");
    expect(await told).toEqual({ channel: 'news', payload: 'x' });
  });

  test('once ended, has finished what was asked, says so, and is closed', async () => {
    const last = pool.query('SELECT pg_sleep(0.1)');
    await pool.end();
    await last;
    await expect(pool.query('SELECT 1')).rejects.toThrow(/after calling end on the pool/);
    expect(closed).toBe(1);
  });
});

describe('a home', () => {
  test('is held by one process at a time: another is refused, until the first is killed', async () => {
    const home = await freshHome();
    const holder = await otherProcess({ url: undefined, home }, { lease: 'one', ttlMs: 1_000, queue: 'q' });
    await expect(open({ url: undefined, home })).rejects.toThrow(
      `Process ${holder.child.pid} has the embedded queue in ${home} open, and one worker can.`,
    );
    await holder.kill('SIGKILL');
    const store = await open({ url: undefined, home });
    // What the killed one had put there is there.
    expect(await store.leased('one')).toBeTypeOf('boolean');
    await store.check();
    await store.close();
    expect(existsSync(join(home, 'queue.lock'))).toBe(false);
  });
});

describe('a folder that cannot be read', () => {
  const opening = async (home: string) => {
    const store = await open({ url: undefined, home });
    await store.close();
    return store.notices;
  };

  test('is put aside when it is damaged, and what was there before is told', async () => {
    const home = await freshHome();
    await writeFile(join(home, 'queue', 'global', 'pg_control'), 'torn');
    expect((await opening(home)).at(-1)).toMatch(
      /starts empty: it cannot be opened .*The old one lies in .*queue\.damaged-/,
    );
    expect((await readdir(home)).filter((name) => name.startsWith('queue.damaged-'))).toHaveLength(1);
  });

  test('is put aside when another PostgreSQL wrote it', async () => {
    const home = await freshHome();
    await writeFile(join(home, 'queue', 'PG_VERSION'), '15\n');
    expect((await opening(home)).at(-1)).toContain('starts empty: it cannot be opened');
  });

  test('is nothing that the home itself is to blame for', async () => {
    const home = join(root, 'file');
    await writeFile(home, '');
    await expect(opening(home)).rejects.toThrow(/embedded queue in .* cannot be opened: .*Check that the disk/);
  });

  test('is not left by a first start that is killed', async () => {
    const home = join(root, 'fresh');
    const module = pathToFileURL(join(dirname(dirname(await cliPath())), 'worker', 'store', 'open.js')).href;
    const script = `const { openStore } = await import('${module}');
      await openStore({ home: '${home}', strict: false, patienceMs: 0, notice() {}, signal: new AbortController().signal });`;
    const first = spawn(process.execPath, [...QUICK, '--input-type=module', '-e', script], { stdio: 'inherit' });
    const ended = once(first, 'exit');
    await until(() => existsSync(join(home, 'queue.new', 'PG_VERSION')), { withinMs: 100_000 });
    first.kill('SIGKILL');
    await ended;
    expect(existsSync(join(home, 'queue'))).toBe(false);
    expect((await opening(home)).filter((text) => text.includes('starts empty'))).toEqual([]);
  });
});
