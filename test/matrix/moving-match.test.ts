import { afterEach, describe, expect, it } from 'vitest';
import { csv, type Desk, openDesk } from '../support/desk.js';

/**
 * A key without a filter is matched by the whole list. While it is read, a record is removed from a page already read and another is
 * added at the end: the count holds, ids ascend, and the record that moved to the page before was on no page that was shown.
 */

let desk: Desk;
afterEach(() => desk.close());

const part = (at: number) => ({ name: `Asset ${at}`, customer_part_number: `P-${at}`, category: { id: 1 } });
const JOB = {
  kind: 'import',
  resource: 'asset',
  match: { key: 'customer_part_number' },
  columns: { Name: 'name', Part: 'customer_part_number', Category: 'category.name' },
};

async function importWhileMoving(size: number, moves: readonly number[], concurrency: string) {
  let asked = 0;
  let added = 9_000;
  desk = await openDesk({
    onRequest({ method, path }) {
      if (method !== 'GET' || path !== '/asset/') return;
      if (!moves.includes(++asked)) return;
      // One goes from the first page, one comes at the end.
      const [first] = desk.sandbox.raw('asset').map((raw) => Number(raw['id']));
      desk.sandbox.remove('asset', first ?? 0);
      desk.sandbox.insert('asset', [part(added++)]);
    },
  });
  desk.sandbox.insert(
    'asset',
    Array.from({ length: size }, (_, at) => part(at + 1)),
  );
  const rows = Array.from({ length: size - 40 }, (_, at) => [`Asset ${at + 41}`, `P-${at + 41}`, 'Laptop']);
  const file = await desk.file('parts.csv', csv([['Name', 'Part', 'Category'], ...rows]));
  const run = await desk.import(file, JOB, { env: { ROWFERRY_CONCURRENCY: concurrency } });
  const parts = desk.sandbox.records('asset').map((record) => String(record['customer_part_number']));
  return { run, twice: parts.filter((one, at) => parts.indexOf(one) !== at) };
}

describe('a list that moves while keys without a filter are matched by it', () => {
  it.each([
    [[3], '1'],
    [[4], '1'],
    [[4, 6, 8], '1'],
    [[5, 9, 12], '4'],
  ])('before requests %j, %s in flight: no record is created twice (20, 21)', async (moves, concurrency) => {
    const { run, twice } = await importWhileMoving(300, moves, concurrency);
    expect(twice).toEqual([]);
    expect(run.summary.rows).toMatchObject({ unchanged: 260, created: 0 });
  });
});
