import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'csv-parse/sync';
import { afterEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/index.js';
import { type Desk, openDesk } from '../../support/desk.js';

let desk: Desk;
let stranger: Server | undefined;
afterEach(async () => {
  if (stranger) await new Promise((resolve) => stranger?.close(resolve));
  stranger = undefined;
});

const asset = (at: number, more: object = {}) => ({ name: `Asset ${at}`, serial_number: `SN-${at}`, ...more });
const assets = (count: number) => Array.from({ length: count }, (_, at) => asset(at + 1));

interface Page {
  /** The page asked for, from 1. */
  readonly page: number;
  /** Pages of the list that were asked for before this one. */
  readonly nth: number;
}

/** A desk whose list of assets changes right before it answers a page. */
async function open(
  size: number,
  change: (sandbox: Sandbox, asked: Page) => void = () => undefined,
  faults: string[] = [],
) {
  let nth = 0;
  desk = await openDesk({
    faults,
    onRequest({ method, path, query }) {
      if (method === 'GET' && path === '/asset/')
        change(desk.sandbox, { page: Number(query.get('page') ?? 1), nth: nth++ });
    },
  });
  desk.sandbox.insert('asset', assets(size));
}

async function exported(concurrency = '4') {
  const { summary, file, exitCode } = await desk.export('asset', 'out.csv', {
    env: { ROWFERRY_CONCURRENCY: concurrency },
  });
  const rows = parse(await readFile(file), { columns: true }) as Record<string, string>[];
  const ids = rows.map((row) => Number(row['id']));
  expect(new Set(ids).size).toBe(ids.length);
  return { summary, ids, exitCode };
}

const there = () => desk.sandbox.records('asset', 1).map((record) => Number(record['id']));
const pagesAsked = () => desk.sandbox.requests.kinds['GET /asset/'] ?? 0;

describe.each(['1', '8'])('an export with %s requests in flight', (concurrency) => {
  test('loses no record while others are removed (20)', async () => {
    await open(600, (sandbox, { nth }) => {
      if (nth % 2 === 1 && nth < 40) sandbox.remove('asset', nth);
    });
    const { summary, ids } = await exported(concurrency);
    expect(summary).toMatchObject({ consistency: 'verified', status: 'succeeded' });
    expect(ids).toEqual(there());
  });

  test('has what was added in the middle and at the end, once (21)', async () => {
    await open(300, (sandbox, { nth }) => {
      if (nth === 3)
        sandbox.insert(
          'asset',
          Array.from({ length: 30 }, (_, at) => asset(5000 + at)),
        );
      if (nth === 5) {
        sandbox.remove('asset', 10);
        sandbox.remove('asset', 11);
      }
      // Their ids return where they were: pages behind them move on.
      if (nth === 9) sandbox.insert('asset', [asset(10, { id: 10 }), asset(11, { id: 11 })]);
    });
    const { summary, ids } = await exported(concurrency);
    expect(summary.consistency).toBe('verified');
    expect(ids).toEqual(there());
  });

  test('shows a record that leaves and returns as it is at the end, and loses no other by it (22)', async () => {
    await open(400, (sandbox, { nth }) => {
      // Away while its own page is read in one pass, there in the next.
      if (nth === 4) sandbox.remove('asset', 100);
      if (nth === 20) sandbox.insert('asset', [asset(100, { id: 100, name: 'Returned' })]);
    });
    const { summary, ids } = await exported(concurrency);
    const all = there();
    if (summary.consistency === 'verified') expect(ids).toEqual(all);
    else expect(ids).toEqual(expect.arrayContaining(all));
    expect(all).toContain(100);
  });
});

test('a record that keeps leaving and returning makes the export partial after 4 passes; nothing else is missing (20, 22)', async () => {
  let away = false;
  await open(150, (sandbox, { page }) => {
    if (page !== 3) return;
    away = !away;
    if (away) sandbox.remove('asset', 60);
    else sandbox.insert('asset', [asset(60, { id: 60 })]);
  });
  const { summary, ids, exitCode } = await exported('1');
  expect(summary).toMatchObject({ consistency: 'partial', status: 'partial', passes: 4 });
  expect(exitCode).toBe(3);
  expect(ids).toEqual(expect.arrayContaining(there()));
});

describe('a next that lies', () => {
  test.each([
    ['to itself', 'loop'],
    ['to a page before', '/api/v2/asset/?page=1'],
    ['to plain http elsewhere', 'http://stranger.invalid/api/v2/asset/?page=2'],
    ['to nothing at all', 'javascript:alert(1)'],
  ])('leads %s: it is not followed, every page is read once a pass (23)', async (_, address) => {
    await open(110, undefined, [`GET /asset/ next="${address}"`]);
    const { summary, ids } = await exported();
    expect(summary).toMatchObject({ consistency: 'verified', passes: 2 });
    expect(ids).toEqual(there());
    expect(pagesAsked()).toBe(10);
  });

  test('leads to another host: that one hears nothing, and never the token (23)', async () => {
    const heard: unknown[] = [];
    stranger = createServer((request, response) => {
      heard.push(request.headers);
      response.end('{"count":0,"next":null,"previous":null,"results":[]}');
    });
    await new Promise<void>((resolve) => stranger?.listen(0, '127.0.0.1', resolve));
    const { port } = stranger.address() as AddressInfo;
    await open(60, undefined, [`GET /asset/ next=http://127.0.0.1:${port}/api/v2/asset/?page=2&company=1`]);
    const { summary, ids } = await exported();
    expect(summary.consistency).toBe('verified');
    expect(ids).toEqual(there());
    expect(heard).toEqual([]);
  });
});

describe('a page past the last', () => {
  test.each(['not_found', 'empty'] as const)(
    'is %s because the list became shorter: that is its end (24)',
    async (pastEnd) => {
      await open(200, (sandbox, { nth }) => {
        if (nth === 1) for (let id = 100; id <= 190; id++) sandbox.remove('asset', id);
      });
      desk.sandbox.setSwitches({ pastEnd });
      const { summary, ids } = await exported();
      expect(summary).toMatchObject({ consistency: 'verified', status: 'succeeded' });
      expect(ids).toEqual(there());
    },
  );

  test.each(['not_found', 'empty'] as const)('is %s behind a last page that is full (24)', async (pastEnd) => {
    await open(75);
    desk.sandbox.setSwitches({ pastEnd });
    const { summary, ids } = await exported();
    expect(summary).toMatchObject({ consistency: 'verified', passes: 2 });
    expect(ids).toEqual(there());
  });

  test('is all there is, because everything was removed (20, 24)', async () => {
    await open(60, (sandbox, { nth }) => {
      if (nth === 1) for (const { id } of sandbox.records('asset')) sandbox.remove('asset', Number(id));
    });
    const { summary } = await exported();
    expect(summary.consistency).toBe('verified');
    expect(there()).toEqual([]);
  });
});

describe('a count that disagrees', () => {
  test.each([
    [1, 'partial'],
    [-1, 'partial'],
    [40, 'partial'],
    [-40, 'partial'],
  ])('by %i on every page: all records are there, and the file is stamped %s (25)', async (by, consistency) => {
    await open(110, undefined, [`GET /asset/ wrong_count=${by}`]);
    const { summary, ids, exitCode } = await exported();
    expect(summary).toMatchObject({ consistency, status: 'partial' });
    expect(exitCode).toBe(3);
    expect(ids).toEqual(there());
    expect(summary.warnings.join(' ')).toMatch(/count/);
  });

  test('on one page of one pass is read over (25)', async () => {
    await open(110, undefined, ['GET /asset/ nth=3 wrong_count=2']);
    const { summary, ids } = await exported();
    expect(summary.consistency).toBe('verified');
    expect(ids).toEqual(there());
  });
});
