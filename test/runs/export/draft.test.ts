import { readdir, readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { openSource } from '../../../src/files/open.js';
import { displayText } from '../../../src/model/row.js';
import type { Sandbox } from '../../../src/sandbox/index.js';
import { type Desk, openDesk } from '../../support/desk.js';

let desk: Desk;

const RECORDS = 300;
/** Requests of the first reading; the second goes from page 1 on. */
const PAGES = RECORDS / 25;

/** A desk whose assets change before the nth page is answered, counted from 0. */
async function open(change: (sandbox: Sandbox, nth: number) => void | Promise<void> = () => undefined) {
  let nth = 0;
  desk = await openDesk({
    async onRequest({ method, path }) {
      if (method === 'GET' && path === '/asset/') await change(desk.sandbox, nth++);
    },
  });
  desk.sandbox.insert(
    'asset',
    Array.from({ length: RECORDS }, (_, at) => ({ name: `Asset ${at + 1}`, manufacturer: at % 2 ? 'Dell' : 'HP' })),
  );
}

/** Ids and names in the order of the file. */
async function rowsOf(file: string): Promise<readonly string[]> {
  if (file.endsWith('.csv')) {
    const rows = parse(await readFile(file), { columns: true }) as Record<string, string>[];
    return rows.map(({ id, name }) => `${id} ${name}`);
  }
  const source = await openSource(file);
  const [id, name] = ['id', 'name'].map((heading) => source.meta.headings.indexOf(heading)) as [number, number];
  const rows: string[] = [];
  for await (const batch of source.rows()) {
    for (const { cells } of batch) rows.push(`${displayText(cells[id])} ${displayText(cells[name])}`);
  }
  return rows;
}

const there = (): readonly string[] => desk.sandbox.records('asset', 1).map(({ id, name }) => `${id} ${name}`);
const leftOver = async () => (await readdir(desk.dir)).filter((name) => name.endsWith('.tmp'));

describe.each(['out.csv', 'out.xlsx'])('%s', (name) => {
  const read = (file: string) => (name.endsWith('.gz') ? undefined : rowsOf(file));

  test('is in its place only when the second reading has ended', async () => {
    const seen: boolean[] = [];
    await open(async (_, nth) => {
      if (nth >= PAGES) seen.push((await readdir(desk.dir)).includes(name));
    });
    const { summary, file } = await desk.export('asset', name);
    expect(summary).toMatchObject({ status: 'succeeded', passes: 2, records: RECORDS });
    expect(seen).toEqual(seen.map(() => false));
    expect((await read(file)) ?? there()).toEqual(there());
    expect(await leftOver()).toEqual([]);
  });

  test.each([
    ['changes', (sandbox: Sandbox) => sandbox.edit('asset', 290, { name: 'Another name' })],
    ['is removed', (sandbox: Sandbox) => sandbox.remove('asset', 7)],
    ['is added', (sandbox: Sandbox) => sandbox.insert('asset', [{ name: 'A new one' }])],
  ])('holds the list as it is where a record %s during the second reading', async (_, change) => {
    await open((sandbox, nth) => {
      if (nth === PAGES + 4) change(sandbox);
    });
    const { summary, file } = await desk.export('asset', name, { env: { ROWFERRY_CONCURRENCY: '1' } });
    expect(summary).toMatchObject({ status: 'succeeded', consistency: 'verified' });
    const rows = await read(file);
    if (rows) expect(rows).toEqual(there());
    expect(await leftOver()).toEqual([]);
  });

  test('is not there, nor a part of it, where the run is stopped during the second reading; resumed it is whole', async () => {
    const stop = new AbortController();
    await open((_, nth) => {
      if (nth === PAGES + 4) stop.abort();
    });
    const { summary } = await desk.export('asset', name, { signal: stop.signal });
    expect(summary.status).toBe('interrupted');
    expect((await readdir(desk.dir)).filter((one) => one.includes('out'))).toEqual([]);
    const resumed = await desk.resumeExport();
    expect(resumed.summary).toMatchObject({ status: 'succeeded', records: RECORDS });
    expect(await leftOver()).toEqual([]);
  });
});

test('filter and order are kept, and what the draft has to say is said once', async () => {
  await open();
  const { file, notices } = await desk.export('asset', 'out.csv', { filter: { manufacturer: 'Dell' }, order: '-id' });
  const rows = await rowsOf(file);
  expect(rows).toEqual(
    there()
      .filter((_, at) => at % 2 === 1)
      .reverse(),
  );
  expect(new Set(notices).size).toBe(notices.length);
});
