import { afterEach, describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { check, type Evidence, linesOf } from '../invariants/check.js';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { probed } from '../support/records.js';

/**
 * Combinations under which no client can know what became of a row while the run lasts: look-ups that lag behind for longer than the
 * settle window, a commit that comes after it. The row then says `unknown`; it is never lost and never there twice.
 */

const SETTINGS = { ROWFERRY_TIMEOUT: '1.2', ROWFERRY_SETTLE_WINDOW: '0.05,0.12,0.25' };
/** Much longer than the settle window. */
const LAG = 60_000;
const LATE = 'late_commit=1900';

const ASSETS = [['Name', 'Serial'], ...[1, 2, 3, 4].map((at) => [`Asset ${at}`, `SN-${at}`])];
const columns = { Name: 'name', Serial: 'serial_number' };
const UNGUARDED = { kind: 'import', resource: 'asset', match: { key: 'serial_number' }, columns };
const GUARDED = { ...UNGUARDED, match: { key: 'serial_number', unique_field: 'serial_number' } };

let desk: Desk;
afterEach(() => desk.close());

interface Trial {
  readonly first: readonly (string | undefined)[];
  readonly second: readonly (string | undefined)[];
  readonly posts: number;
  readonly violations: readonly string[];
}

/** Imports while the service is as it is; then, when everything has come to be seen, once more. */
async function twice(
  job: object,
  options: SandboxOptions,
  prepare: () => Promise<void> = async () => undefined,
): Promise<Trial> {
  let ahead = 0;
  desk = await openDesk({ now: () => Date.now() + ahead, ...options });
  await prepare();
  const file = await desk.file('assets.csv', csv(ASSETS));
  const first = await desk.import(file, job, { env: SETTINGS });
  // The late commit is waited for, what lags is put forward.
  await expect.poll(() => desk.sandbox.commits.length, { timeout: 5_000 }).toBeGreaterThanOrEqual(ASSETS.length - 1);
  ahead += LAG * 2;
  desk.sandbox.setFaults([]);
  const second = await desk.import(file, job, { env: SETTINGS });
  const evidence: Evidence = {
    ...{ resource: 'asset', keyField: 'serial_number', before: [], after: desk.sandbox.raw('asset') },
    ...{ commits: desk.sandbox.commits, input: file, columns, runs: [first.reportDir], open: 1 },
  };
  return {
    first: first.results.map((row) => row['outcome']),
    second: second.results.map((row) => row['outcome']),
    posts: desk.sandbox.commits.filter(({ method }) => method === 'POST').length,
    violations: linesOf(await check(evidence)),
  };
}

const GOOD = ['created', 'created', 'created'];
const UNCHANGED = Array<string>(4).fill('unchanged');

describe('look-ups that lag for longer than the settle window', () => {
  it.each(['timeout_after', 'close_after', 'reset_after_status', 'status=500 execute'])(
    '%s, a key that the service does not guard: unknown, one record, and the next import finds it (28)',
    async (fault) => {
      const { first, second, posts, violations } = await twice(UNGUARDED, {
        faults: [`POST /asset nth=1 ${fault}`],
        switches: { lag: LAG },
      });
      expect(first).toEqual(['unknown', ...GOOD]);
      expect(second).toEqual(UNCHANGED);
      expect(posts).toBe(4);
      expect(violations).toEqual([]);
    },
  );

  it.each(['fields', 'detail', 'errors', 'message', 'text', 'html'] as const)(
    'a key that it guards: the second request is refused (errors as %s), and nothing shows by whom: unknown (26, 28)',
    async (errorFormat) => {
      const { first, second, posts, violations } = await twice(GUARDED, {
        faults: ['POST /asset nth=1 timeout_after'],
        switches: { lag: LAG, errorFormat },
      });
      expect(first).toEqual(['unknown', ...GOOD]);
      expect(second).toEqual(UNCHANGED);
      expect(posts).toBe(4);
      expect(violations).toEqual([]);
    },
  );

  it('unique_field is known to be ignored: as if it were not sent (28)', async () => {
    const { first, second, posts, violations } = await twice(
      GUARDED,
      { faults: ['POST /asset nth=1 timeout_after'], switches: { lag: LAG, uniqueField: 'ignored' } },
      () => probed(desk, { uniqueField: 'ignored' }),
    );
    expect(first).toEqual(['unknown', ...GOOD]);
    expect(second).toEqual(UNCHANGED);
    expect(posts).toBe(4);
    expect(violations).toEqual([]);
  });

  it('unique_field upserts: the second request is the same record (28)', async () => {
    const { first, second, posts } = await twice(GUARDED, {
      faults: ['POST /asset nth=1 timeout_after'],
      switches: { lag: LAG, uniqueField: 'upserts' },
    });
    expect(first).toEqual(['created', ...GOOD]);
    expect(second).toEqual(UNCHANGED);
    expect(desk.sandbox.records('asset')).toHaveLength(4);
    expect(posts).toBe(5);
  });
});

describe('a commit after the settle window', () => {
  it('of a key that the service does not guard: unknown, and no second request (4)', async () => {
    const { first, second, posts, violations } = await twice(UNGUARDED, { faults: [`POST /asset nth=1 ${LATE}`] });
    expect(first).toEqual(['unknown', ...GOOD]);
    expect(second).toEqual(UNCHANGED);
    expect(posts).toBe(4);
    expect(violations).toEqual([]);
  });

  it('of a key that it guards: the second request is the record, the late one is refused (4)', async () => {
    const { first, second, posts, violations } = await twice(GUARDED, { faults: [`POST /asset nth=1 ${LATE}`] });
    expect(first).toEqual(['created', ...GOOD]);
    expect(second).toEqual(UNCHANGED);
    expect(posts).toBe(4);
    expect(violations).toEqual([]);
  });
});

describe('a duplicate that is refused after an open outcome', () => {
  it.each([
    ['the same values', {}, 'created'],
    ['more than the row says', { asset_notes: 'somebody else' }, 'created'],
    ['another name', { name: 'Somebody else' }, 'conflict'],
  ])('the record holds %s (26)', async (_, values, outcome) => {
    desk = await openDesk({
      faults: ['POST /asset nth=1 timeout_before'],
      onRequest({ method }) {
        // Right before the row is sent once more, after the other three, somebody else makes the record: no look-up shows it yet.
        if (method !== 'POST' || ++posts !== 5) return;
        desk.sandbox.insert('asset', [{ name: 'Asset 1', serial_number: 'SN-1', ...values }]);
      },
    });
    let posts = 0;
    const file = await desk.file('assets.csv', csv(ASSETS));
    const run = await desk.import(file, GUARDED, { env: { ...SETTINGS, ROWFERRY_CONCURRENCY: '1' } });
    expect(posts).toBe(5);
    expect(run.results.map((row) => row['outcome'])).toEqual([outcome, ...GOOD]);
    expect(desk.sandbox.records('asset')).toHaveLength(4);
  });
});

it('a PUT that keeps what its body leaves out, and nobody knows: no row is told to be cleared that is not (29)', async () => {
  desk = await openDesk({ switches: { omittedOnPut: 'kept' } });
  const rooms = { ...columns, Room: 'room' };
  desk.sandbox.insert(
    'asset',
    [1, 2, 3].map((at) => ({ name: 'A', serial_number: `SN-${at}`, room: `R${at}`, category: { id: 1 } })),
  );
  const before = desk.sandbox.raw('asset');
  const rows = [...[1, 2, 3].map((at) => ['A', `SN-${at}`, at === 1 ? 'R9' : '']), ['New', 'SN-4', 'R4']];
  const file = await desk.file('rooms.csv', csv([['Name', 'Serial', 'Room'], ...rows]));
  const run = await desk.import(file, { ...UNGUARDED, blank: 'clear', columns: rooms }, { env: SETTINGS });
  const evidence: Evidence = {
    ...{ resource: 'asset', keyField: 'serial_number', before, after: desk.sandbox.raw('asset') },
    ...{ commits: desk.sandbox.commits, input: file, columns: rooms, runs: [run.reportDir], blank: 'clear' },
  };
  expect(linesOf(await check(evidence))).toEqual([]);
  expect(run.exitCode).not.toBe(0);
  // As soon as it is known, all of it is done.
  await probed(desk, { omitted: 'kept' });
  const again = await desk.import(file, { ...UNGUARDED, blank: 'clear', columns: rooms }, { env: SETTINGS });
  expect(again.exitCode).toBe(0);
  expect(desk.sandbox.raw('asset').map((raw) => raw['room'])).toEqual(['R9', undefined, undefined, 'R4']);
});
