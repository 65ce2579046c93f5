import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { readAddress, serviceDir } from '../../src/service/address.js';
import { loadBehaviour, openKnownIds, saveBehaviour } from '../../src/service/known-ids.js';
import { beginSnapshot } from '../../src/service/lists/snapshot.js';

let dir: string;
let next = 0;
const fresh = (): string => join(dir, `case-${next++}`);
async function home(): Promise<string> {
  const path = fresh();
  await mkdir(path);
  return path;
}
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-store-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test('a snapshot gives records back without loss, by id and by key', async () => {
  const snapshot = await beginSnapshot(fresh());
  const record = { id: 3, name: 'Ünïcode\tand\nbreaks', mrc: Decimal.of('99999999999999.99') };
  await snapshot.add(3, record, 'K\t"1"', 1_700_000_000_123);
  await snapshot.add(1, { id: 1 }, 'K\t"1"', 5);
  await snapshot.add(2, { id: 2 }, '', 6);
  expect(await snapshot.get(3)).toEqual({ record, readAt: 1_700_000_000_123 });
  expect(snapshot.ids('K\t"1"')).toEqual([1, 3]);
  expect(snapshot.ids('')).toEqual([]);
  expect(await snapshot.get(4)).toBeUndefined();
  expect(snapshot.size).toBe(3);
  await snapshot.close();
});

test('a snapshot finds a record that was noted alone, and has it read where somebody asks', async () => {
  const asked: number[] = [];
  const snapshot = await beginSnapshot(fresh(), async (id) => {
    asked.push(id);
    return { record: { id, name: 'read' }, readAt: 9 };
  });
  snapshot.addFingerprint(1, 'one', 11);
  snapshot.addFingerprint(2, 'two', 22);
  await snapshot.add(3, { id: 3 }, 'two', 1);
  await snapshot.add(4, { id: 4 }, 'four', 1);
  expect(['one', 'two', 'four', 'five'].map(snapshot.has)).toEqual([true, true, true, false]);
  expect([1, 3, 5].map(snapshot.hasId)).toEqual([true, true, false]);
  expect(snapshot.idByFingerprint('one', 11)).toBe(1);
  expect([
    snapshot.idByFingerprint('one', 22),
    snapshot.idByFingerprint('two', 22),
    snapshot.idByFingerprint('four', Number.NaN),
  ]).toEqual([undefined, undefined, undefined]);
  expect([snapshot.size, snapshot.ids('two')]).toEqual([4, [2, 3]]);
  expect(await snapshot.get(1)).toEqual({ record: { id: 1, name: 'read' }, readAt: 9 });
  await snapshot.add(2, { id: 2, name: 'added' }, 'two', 5);
  expect((await snapshot.get(2))?.record).toEqual({ id: 2, name: 'added' });
  expect(asked).toEqual([1]);
  await snapshot.close();
});

test('a later record replaces an earlier one under its new key; what an earlier process left is gone', async () => {
  const path = fresh();
  for (let round = 0; round < 2; round++) {
    const snapshot = await beginSnapshot(path);
    expect([snapshot.size, snapshot.ids('b'), await snapshot.get(1)]).toEqual([0, [], undefined]);
    snapshot.add(1, { v: 'old' }, 'a', 1);
    snapshot.add(2, { v: 'two' }, 'a', 1);
    snapshot.add(1, { v: 'new' }, 'b', 2);
    expect([snapshot.size, snapshot.ids('a'), snapshot.ids('b'), snapshot.ids('c')]).toEqual([2, [2], [1], []]);
    expect((await snapshot.get(1))?.record).toEqual({ v: 'new' });
    expect((await snapshot.get(2))?.record).toEqual({ v: 'two' });
    await snapshot.close();
  }
});

test('a snapshot gives every record back in whatever order it is asked, while more are added', async () => {
  const snapshot = await beginSnapshot(fresh());
  const record = (id: number) => ({ id, text: 'é'.repeat((id * 7919) % 900) });
  const size = 3_000;
  for (let id = 1; id <= size; id++) await snapshot.add(id, record(id), `${id}`, id);
  const orders = [
    (nth: number) => nth + 1,
    (nth: number) => size - nth,
    (nth: number) => ((nth * 1_009) % size) + 1,
    (nth: number) => (nth % 3 === 0 ? ((nth * 1_009) % size) + 1 : nth + 1),
  ];
  for (const idOf of orders) {
    for (let nth = 0; nth < size; nth++) {
      const id = idOf(nth);
      expect(await snapshot.get(id)).toEqual({ record: record(id), readAt: id });
      if (nth % 500 === 0) await snapshot.add(size + 1, { id: size + 1, nth }, 'more', nth);
    }
    expect((await snapshot.get(size + 1))?.record).toEqual({ id: size + 1, nth: size - 500 });
  }
  const both = await Promise.all([5, 6, 900, 7, 8].map((id) => snapshot.get(id)));
  expect(both.map((one) => one?.record)).toEqual([5, 6, 900, 7, 8].map(record));
  await snapshot.close();
});

test('a hundred thousand records take little memory', async () => {
  const snapshot = await beginSnapshot(fresh());
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let id = 1; id <= 100_000; id++) {
    await snapshot.add(
      id,
      { id, name: `asset number ${id}`, serial_number: `SN-${id}`, notes: 'x'.repeat(100) },
      `SN-${id}`,
      id,
    );
  }
  collect();
  expect((process.memoryUsage().heapUsed - before) / 1024 / 1024).toBeLessThan(40);
  const some = await Promise.all([1, 500, 99_999, 100_000].map((id) => snapshot.get(id)));
  expect(some.map((one) => one?.record['id'])).toEqual([1, 500, 99_999, 100_000]);
  await snapshot.close();
});

test('names are found however they are written, renamed records lose the old name', async () => {
  const folder = await home();
  const first = openKnownIds(folder, 'a');
  first.learn('customer', 9, '  Caf\u0065\u0301 Ltd ');
  first.learn('customer', 8, 'Café  Ltd');
  first.learn('customer', 4, 'Café Ltd');
  first.learn('customer', 5, 'Old name');
  first.learn('customer', 5, 'New name');
  first.learn('business-unit', 1, '   ');
  first.remember('customer', 4, { name: 'Café Ltd', spend: Decimal.of('99999999999999.99') });
  first.remember('asset', 4, { mac_address: 'aa' });
  first.remember('asset', 4, { mac_address: 'bb' });
  await first.close();
  const again = openKnownIds(folder, 'a');
  expect(again.ids('customer', 'CAFÉ LTD')).toEqual([]);
  expect(again.ids('customer', ' Café\u00a0Ltd')).toEqual([4, 9]);
  expect([again.ids('customer', 'Old name'), again.ids('customer', 'New name')]).toEqual([[], [5]]);
  expect(again.nameOf('customer', 5)).toBe('New name');
  expect(again.ids('customer', 'Café  Ltd')).toEqual([8]);
  expect([...again.names('customer')].sort()).toEqual(['Café  Ltd', 'Café Ltd', 'New name']);
  expect([...again.names('business-unit')]).toEqual([]);
  expect(again.lastWritten('customer', 4)).toEqual({ name: 'Café Ltd', spend: Decimal.of('99999999999999.99') });
  expect(again.lastWritten('asset', 4)).toEqual({ mac_address: 'bb' });
  expect(again.lastWritten('contract', 4)).toBeUndefined();
  await again.close();
});

test('two writers at once lose nothing of each other', async () => {
  const folder = await home();
  const both = [openKnownIds(folder, 'a'), openKnownIds(folder, 'a')];
  for (let i = 1; i <= 4_000; i++) {
    both[i % 2]?.learn('customer', i, `customer number ${i}`);
    if (i % 97 === 0) await both[i % 2]?.flush();
  }
  for (const known of both) await known.close();
  const again = openKnownIds(folder, 'a');
  expect([...again.names('customer')].length).toBe(4_000);
  await again.close();
});

test('what one process learns after another has renamed the record stands', async () => {
  const folder = await home();
  const both = [openKnownIds(folder, 'a'), openKnownIds(folder, 'a')] as const;
  both[0].learn('customer', 1, 'One');
  await both[0].flush();
  both[1].learn('customer', 1, 'Two');
  await both[1].flush();
  both[0].learn('customer', 1, 'One again');
  both[0].learn('customer', 1, 'One');
  for (const known of both) await known.close();
  const again = openKnownIds(folder, 'a');
  expect([[...again.names('customer')], again.nameOf('customer', 1)]).toEqual([['One'], 'One']);
  await again.close();
});

test('what others learn is known once it is refreshed, and what was learned here stays', async () => {
  const folder = await home();
  const known = openKnownIds(folder, 'a');
  const other = openKnownIds(folder, 'a');
  known.learn('customer', 1, 'One');
  other.learn('customer', 2, 'Two');
  other.rememberAs('customer', 'name=x', { name: 'x' });
  await other.flush();
  expect([known.ids('customer', 'Two'), known.lastWrittenAs('customer', 'name=x')]).toEqual([[], undefined]);
  known.refresh();
  expect([known.ids('customer', 'Two'), known.lastWrittenAs('customer', 'name=x')]).toEqual([[2], { name: 'x' }]);
  other.learn('customer', 2, 'Renamed');
  other.rememberAs('customer', 'name=x', undefined);
  await other.close();
  known.refresh();
  expect([...known.names('customer')]).toEqual(['One', 'Renamed']);
  expect(known.lastWrittenAs('customer', 'name=x')).toBeUndefined();
  await known.close();
});

test('each service knows its own', async () => {
  const folder = await home();
  const known = openKnownIds(folder, 'a');
  known.learn('customer', 1, 'One');
  known.remember('customer', 1, { name: 'One' });
  known.rememberAs('asset', 'sent asset 1', { make: 1 });
  await known.close();
  const other = openKnownIds(folder, 'b');
  expect([[...other.names('customer')], other.lastWritten('customer', 1)]).toEqual([[], undefined]);
  expect(other.lastWrittenAs('asset', 'sent asset 1')).toBeUndefined();
  await other.close();
});

test('what is not flushed is lost with the process, what was is not; it can be asked for in either case', async () => {
  const folder = await home();
  const known = openKnownIds(folder, 'a');
  known.remember('asset', 1, { make: 1 });
  known.rememberAs('asset', 'x="1"', { make: 2 });
  await known.flush();
  known.remember('asset', 1, { make: 3 });
  known.rememberAs('asset', 'x="1"', undefined);
  expect([known.lastWritten('asset', 1), known.lastWrittenAs('asset', 'x="1"')]).toEqual([{ make: 3 }, undefined]);
  const beside = openKnownIds(folder, 'a');
  expect([beside.lastWritten('asset', 1), beside.lastWrittenAs('asset', 'x="1"')]).toEqual([{ make: 1 }, { make: 2 }]);
  await beside.close();
  await known.close();
});

test('probed behaviour is kept', async () => {
  const folder = await home();
  expect(loadBehaviour(folder, 'a')).toBeUndefined();
  expect(await readdir(folder)).toEqual([]);
  const behaviour = {
    probedAt: '2024-05-01T00:00:00Z',
    putAccepts: ['area'],
    patch: false,
    filters: { name: 'contains' },
  } as const;
  saveBehaviour(folder, 'a', behaviour);
  saveBehaviour(folder, 'a', { ...behaviour, omitted: 'nulled', uniqueField: 'rejects' });
  expect(loadBehaviour(folder, 'a')).toEqual({ ...behaviour, omitted: 'nulled', uniqueField: 'rejects' });
  expect(loadBehaviour(folder, 'b')).toBeUndefined();
});

test('every service address and company has its own folder', () => {
  const of = (url: string, company = 1): string => serviceDir('/home', url, company);
  expect(of('https://records.example.com')).toMatch(/^\/home\/service\/records\.example\.com-[0-9a-f]{8}-1$/);
  expect(of('https://RECORDS.example.com:443/')).toBe(of('https://records.example.com'));
  expect(of('https://records.example.com/api/v2/')).toBe(of('https://records.example.com'));
  const different = [of('http://h'), of('https://h'), of('http://h:81'), of('http://h/x'), of('http://h', 2)];
  expect(new Set(different).size).toBe(5);
  expect(of('http://[::1]:80/../..')).toMatch(/^\/home\/service\/[^/]+$/);
});

test.each([
  ['ftp://x', 'ftp:'],
  ['records.example.com', 'records.example.com'],
  ['https://user:secret@h', 'user name or password'],
  ['https://h/?a=1', 'query'],
])('the address %s is refused, without its secrets', (url, words) => {
  expect(() => readAddress(url)).toThrow(words);
  expect(() => readAddress(url)).not.toThrow('secret');
});
