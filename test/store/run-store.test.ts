import { execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RunError } from '../../src/model/error.js';
import { warning } from '../../src/model/issue.js';
import { noOutcomes, OUTCOMES, type OutcomeKind } from '../../src/model/outcome.js';
import type { RequestCounts } from '../../src/model/progress.js';
import { readPast } from '../../src/runs/run/run.js';
import { RunStore, type StoredRow } from '../../src/store/run-store.js';
import { openDatabase } from '../../src/store/sqlite.js';
import { intent, outcome, record } from '../report/sample.js';
import { cliPath } from '../support/build.js';
import { until } from '../support/until.js';

let dir: string;
let path: string;
let opened: RunStore[];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'store-'));
  path = join(dir, 'run.db');
  opened = [];
});
afterEach(async () => {
  for (const store of opened) {
    try {
      store.close();
    } catch {
      // It failed, which was the test.
    }
  }
  await rm(dir, { recursive: true, force: true });
});

function open(at = path): RunStore {
  const store = new RunStore(at);
  opened.push(store);
  return store;
}

test('what was noted can be read by others within seconds, without a flush', async () => {
  const store = open();
  store.rows.addOutcome({ outcome: outcome(2, 'created'), diff: [] });
  await until(() => {
    const reader = RunStore.openReadOnly(path);
    const found = reader ? [...reader.rows.rows()].flat() : [];
    reader?.close();
    return found.some(({ row, result }) => row === 2 && result !== undefined);
  });
});

/** As the next process finds the store. */
function again(store: RunStore): RunStore {
  store.close();
  return open(store.path);
}

const rowsOf = (store: RunStore): StoredRow[] => [...store.rows.rows()].flat();
const wholeOf = (store: RunStore): StoredRow[] => [...store.rows.rows('1', { before: true })].flat();
const numbersOf = (store: RunStore): number[] => rowsOf(store).map(({ row }) => row);

/** What another connection sees: what is in the file. */
function inFile(): number[] {
  const other = new RunStore(path);
  const found = numbersOf(other);
  other.close();
  return found;
}

const done = (row: number, kind: OutcomeKind, id?: number) => ({
  outcome: outcome(row, kind, id === undefined ? {} : { id }),
  diff: [],
});

function refusal(work: () => unknown): RunError {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(RunError);
    return error as RunError;
  }
  return expect.fail('nothing was refused');
}

describe('what was noted', () => {
  test('comes back over several openings', () => {
    let store = open();
    store.rows.addIntents(
      [intent(3, 'update', { id: 41, at: 5 })],
      [{ row: 3, line: '{"row":3,"id":41,"record":{}}' }],
    );
    store = again(store);
    const diff = [{ field: 'name', old: 'a', new: 'b', kind: 'set' as const }];
    const updated = { outcome: outcome(3, 'updated', { id: 41, changed: ['name'] }), diff };
    record(store, updated, intent(9, 'create', { key: 'Bücher „neu“', at: 7 }));
    store.setValue('passed', { at: 1 });
    store.addWarning('first');
    store.addWarning('second');
    store.addWarning('first');
    store = again(store);
    expect(wholeOf(store)).toMatchObject([
      {
        ...{ row: 3, op: 'update', at: 5, record: 41, key: 'K-3', kind: 'updated', id: 41, late: [] },
        ...{ result: updated, before: '{"row":3,"id":41,"record":{}}' },
      },
      { row: 9, op: 'create', at: 7, key: 'Bücher „neu“', late: [] },
    ]);
    for (const name of ['kind', 'id', 'result', 'before', 'record']) expect(wholeOf(store)[1]).not.toHaveProperty(name);
    expect(store.getValue('passed')).toEqual({ at: 1 });
    expect(store.getValue('finished')).toBeUndefined();
    expect(store.warnings).toEqual(['first', 'second']);
    expect(store.rows.lastRow).toBe(9);
    expect(numbersOf(store)).toEqual([3, 9]);
    expect([...store.orphans.rows()]).toEqual([]);
  });

  test('any text survives: line ends, lone surrogates, control characters', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom('a\0b', '\0', '\ud800x', 'x\udc00', 'a\r\nb', '', ' ', "'", '\ufeff'),
    );
    let store = open();
    let row = 0;
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 20 }), (keys) => {
        const first = row + 1;
        store.rows.addIntents(keys.map((key) => intent(++row, 'create', { key })));
        for (const key of keys) store.rows.addOutcome({ outcome: outcome(++row, 'created', { key }), diff: [] });
        store = again(store);
        const found = [...store.rows.rows(`row >= ${first}`)].flat();
        expect(found.map(({ key }) => key)).toEqual([...keys, ...keys]);
        expect(found.slice(keys.length).map(({ result }) => result?.outcome.key)).toEqual(keys);
      }),
      { numRuns: 12 },
    );
  });

  test('numbers keep every digit, and a record of any size comes back byte for byte (97)', () => {
    let store = open();
    const digits =
      '{"row":2,"id":9007199254740991,"record":{"a":99999999999999.99,"b":1.10,"c":0.1000000000000000055,"d":-0}}';
    // Each of these characters is two bytes of the answer, and four where the record is shown as text.
    const text = '\\'.repeat(9 << 20);
    const large = `{"row":3,"id":7,"record":{"text":${JSON.stringify(text)}}}`;
    expect(large.length).toBeGreaterThan(16 << 20);
    const diff = [{ field: 'name', old: JSON.stringify(text), new: '', kind: 'set' as const }];
    store.rows.addIntents(
      [intent(2, 'update', { id: Number.MAX_SAFE_INTEGER }), intent(3, 'update', { id: 7 })],
      [
        { row: 2, line: digits },
        { row: 3, line: large },
      ],
    );
    store.rows.addOutcome({ outcome: outcome(3, 'updated', { id: 7 }), diff });
    store = again(store);
    expect(wholeOf(store).map(({ before }) => before)).toEqual([digits, large]);
    const [first, second] = wholeOf(store);
    expect([first?.record, first?.before]).toEqual([Number.MAX_SAFE_INTEGER, digits]);
    expect(second?.before === large && second.result?.diff[0]?.old === diff[0]?.old).toBe(true);
  });

  test('rows come by their numbers, however many there are; a condition chooses among them', () => {
    const store = open();
    const total = 3001;
    // 37 and 3,001 have no common divisor: each number once, in an order of its own.
    for (let at = 0; at < total; at++) {
      const row = ((at * 37) % total) + 1;
      store.rows.addOutcome(done(row, row % 3 === 0 ? 'invalid' : 'created', row));
    }
    const all = Array.from({ length: total }, (_, at) => at + 1);
    expect(numbersOf(store)).toEqual(all);
    const invalid = all.filter((row) => row % 3 === 0);
    expect([...store.rows.rows(`kind = 'invalid' or kind = 'failed'`)].flat().map(({ row }) => row)).toEqual(invalid);
    expect(store.rows.count(`kind = 'invalid'`)).toBe(invalid.length);
  });

  test('ids that were learned later and what the records then told', () => {
    let store = open();
    record(store, done(2, 'created'), done(3, 'created'), done(4, 'created'));
    store = again(store);
    const late = [warning('value_normalised', 'Stored as PUMP.', { field: 'name' })];
    store.rows.addIds(new Map([[2, 12]]), [[3, late]]);
    store.rows.addIds([[4, 14]], [[4, []]]);
    store = again(store);
    expect(wholeOf(store).map(({ row, id, late: told }) => [row, id, told])).toEqual([
      [2, 12, []],
      [3, undefined, late],
      [4, 14, []],
    ]);
    // A row of which there is nothing more to say has one id, whenever it was learned.
    expect(wholeOf(store).map(({ result }) => result?.outcome.id)).toEqual([12, undefined, 14]);
  });

  test('rows that are only seen change none that are known', () => {
    let store = open();
    record(store, done(2, 'created', 5), intent(4, 'create'));
    const before = rowsOf(store);
    store.rows.addRows([1, 2, 3, 4]);
    store.rows.addRows([3, 4, 5]);
    store = again(store);
    expect(numbersOf(store)).toEqual([1, 2, 3, 4, 5]);
    expect(rowsOf(store).filter(({ row }) => row === 2 || row === 4)).toEqual(before);
    record(store, done(3, 'invalid'));
    expect(rowsOf(store)[2]).toMatchObject({ row: 3, kind: 'invalid', key: 'K-3' });
  });

  test('tells a resume what is done, what is open, what was learned', () => {
    let store = open();
    store.begin(() => ({ total: 4, reads: 1, writes: 3, retries: 0 }));
    record(
      store,
      done(2, 'invalid'),
      intent(3, 'create', { at: 1767232800000 }),
      intent(4, 'update', { id: 41 }),
      done(4, 'updated', 41),
      intent(5, 'create'),
      outcome(5, 'created', { key: 'Zoë „5“' }),
      done(6, 'failed'),
      done(7, 'not_attempted'),
      intent(9, 'create'),
      outcome(9, 'created', { key: 'nameless' }),
    );
    store.rows.addIntents(
      [intent(8, 'update', { id: 81, at: 2 })],
      [{ row: 8, line: '{"row":8,"id":81,"record":{"name":"x"}}' }],
    );
    store.rows.addIds([[5, 77]], []);
    store.setValue('passed', true);
    store = again(store);
    const past = readPast(store, store.rows);
    expect([past.begun, store.hasSent, past.passed, past.killed]).toEqual([true, true, true, true]);
    expect([2, 3, 4, 5, 6, 7, 8].map(past.outcomes.get)).toEqual([
      ...['invalid', undefined, 'updated', 'created', undefined, undefined, undefined],
    ]);
    expect(past.outcomes.size).toBe(4);
    expect(past.tally).toEqual({ ...noOutcomes(), invalid: 1, updated: 1, created: 2 });
    expect([...past.open]).toEqual([
      [3, { op: 'create', at: 1767232800000 }],
      [8, { op: 'update', at: 2, id: 81, before: { name: 'x' } }],
    ]);
    expect([2, 3, 4, 5, 9].map((row) => store.rows.writtenId(row))).toEqual([undefined, undefined, 41, 77, undefined]);
    expect(past.requests).toEqual({ total: 4, reads: 1, writes: 3, retries: 0 });
    expect(past.finished).toBeUndefined();
  });
});

describe('the outcome of a row', () => {
  const final = OUTCOMES.filter((kind) => kind !== 'failed' && kind !== 'not_attempted');

  test.each(final)('%s is final: a second one is refused, with the row and both', (kind) => {
    let store = open();
    record(store, intent(7, 'create'), done(7, kind));
    store = again(store);
    store.rows.addOutcome(done(7, 'updated'));
    const refused = refusal(() => store.write());
    expect(refused.message).toContain(`has the outcome ${kind} for row 7, and a second outcome is updated`);
    expect(refused.message).toContain(path);
    expect(rowsOf(open())).toMatchObject([{ row: 7, kind }]);
  });

  test('a row that has its own is not sent again', () => {
    const store = open();
    record(store, intent(7, 'create'), done(7, 'created', 5));
    store.rows.addIntents([intent(7, 'create')]);
    expect(refusal(() => store.write()).message).toContain(
      'the outcome created for row 7, and it was about to be sent',
    );
    expect(rowsOf(open())).toMatchObject([{ row: 7, kind: 'created', id: 5, sent: 1 }]);
  });

  test('is also refused where both wait for the same write, and nothing of that write stays', () => {
    const store = open();
    record(store, done(2, 'created'));
    store.rows.addOutcome(done(3, 'created'));
    store.rows.addOutcome(done(3, 'created'));
    expect(refusal(() => store.write()).message).toContain(
      'the outcome created for row 3, and a second outcome is created',
    );
    expect(inFile()).toEqual([2]);
  });

  test.each(['failed', 'not_attempted'] as const)('%s gives way to the next request and its outcome', (kind) => {
    let store = open();
    record(store, intent(7, 'create', { at: 1 }), done(7, kind));
    store = again(store);
    record(store, intent(7, 'update', { id: 4, at: 2 }));
    expect(rowsOf(store)).toMatchObject([{ row: 7, op: 'update', at: 2, record: 4 }]);
    expect(rowsOf(store)[0]).not.toHaveProperty('kind');
    expect(wholeOf(store)[0]).not.toHaveProperty('result');
    store = again(store);
    record(store, done(7, 'updated', 4));
    expect(rowsOf(store)).toMatchObject([{ row: 7, kind: 'updated', id: 4 }]);
  });

  test('of an orphan is another than that of the row with its number', () => {
    const store = open();
    store.rows.addOutcome(done(1, 'created', 5));
    store.orphans.addOutcome(done(1, 'updated', 9));
    expect([...store.orphans.rows()].flat()).toMatchObject([{ row: 1, kind: 'updated', id: 9 }]);
    expect(rowsOf(store)).toMatchObject([{ row: 1, kind: 'created', id: 5 }]);
    store.orphans.addOutcome(done(1, 'updated', 9));
    expect(refusal(() => store.write()).message).toContain(
      'the outcome updated for row 1, and a second outcome is updated',
    );
  });

  test('whatever is noted in whatever order, over any openings, each row stands as its last note says', () => {
    const row = fc.integer({ min: 1, max: 4 });
    const step = fc.oneof(
      fc.record({ row, op: fc.constantFrom('create' as const, 'update' as const) }),
      fc.record({ row, kind: fc.constantFrom(...OUTCOMES) }),
      fc.constant('flush' as const),
      fc.constant('open' as const),
    );
    let at = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let store = open(join(dir, `${++at}.db`));
        const model = new Map<number, { op?: string; kind?: OutcomeKind }>();
        for (const one of steps) {
          if (one === 'flush') store.write();
          else if (one === 'open') store = again(store);
          else {
            const { kind, ...rest } = model.get(one.row) ?? {};
            if (kind !== undefined && kind !== 'failed' && kind !== 'not_attempted') continue;
            if ('op' in one) {
              store.rows.addIntents([intent(one.row, one.op)]);
              model.set(one.row, { op: one.op });
            } else {
              store.rows.addOutcome(done(one.row, one.kind));
              model.set(one.row, { ...rest, kind: one.kind });
            }
          }
        }
        store = again(store);
        expect(
          rowsOf(store).map(({ row: number, op, kind }) => ({ number, ...(op && { op }), ...(kind && { kind }) })),
        ).toEqual([...model].sort(([a], [b]) => a - b).map(([number, state]) => ({ number, ...state })));
        store.close();
      }),
      { numRuns: 25 },
    );
  });
});

describe('writing', () => {
  /** Names of milestones that come while `work` is done. */
  async function milestones(work: () => unknown): Promise<string[]> {
    const seen: string[] = [];
    const listen = (message: unknown) => seen.push((message as { name: string }).name);
    subscribe('rowferry:milestone', listen);
    try {
      await work();
    } finally {
      unsubscribe('rowferry:milestone', listen);
    }
    return seen;
  }

  test('all that call flush in one turn share one write, which covers what each had noted', async () => {
    const store = open();
    const flushes: Promise<void>[] = [];
    const seen = await milestones(async () => {
      for (let row = 1; row <= 900; row++) {
        store.rows.addIntents([intent(row, 'create')]);
        flushes.push(store.flush());
      }
      expect(inFile()).toEqual([]);
      await flushes[0];
      expect(inFile().length).toBe(900);
      await Promise.all(flushes);
    });
    expect(new Set(flushes).size).toBe(1);
    expect(seen).toEqual(['lines-written', 'lines-durable']);
    expect(await milestones(() => store.flush())).toEqual([]);
  });

  test('a later flush covers what was noted after the first', async () => {
    const store = open();
    for (let row = 1; row <= 20; row++) {
      store.rows.addIntents([intent(row, 'create')]);
      await store.flush();
      expect(inFile().length).toBe(row);
    }
  });

  test('noting alone does not fill the memory: what waits is written once it is much', async () => {
    const store = open();
    const seen = await milestones(() => {
      for (let row = 1; row <= 20_000; row++) store.rows.addOutcome(done(row, 'created'));
    });
    expect(seen.filter((name) => name === 'lines-durable').length).toBe(20);
    expect(inFile().length).toBe(20_000);
  });

  test('once a write has failed everything later fails the same, in plain words, and nothing of it is in the file', async () => {
    const store = open();
    record(store, done(2, 'created'));
    // The disk is full here.
    store.prepare('pragma max_page_count = 1').get();
    store.rows.addOutcome(done(3, 'created'));
    const large = 'x'.repeat(100_000);
    store.rows.addIntents([intent(4, 'update', { id: 1 })], [{ row: 4, line: large }]);
    const [first, second] = await Promise.all([store.flush().catch(String), store.flush().catch(String)]);
    expect(first).toMatch(/The journal .*run\.db cannot be written: the disk is full.*Nothing more is sent/);
    expect(second).toBe(first);
    // And here no more.
    store.prepare('pragma max_page_count = 1000000').get();
    const fault = refusal(() => store.rows.addIntents([intent(5, 'create')]));
    expect(String(fault)).toBe(first);
    for (const work of [
      () => store.rows.addOutcome(done(5, 'created')),
      () => store.rows.addIds([[2, 9]], []),
      () => store.setValue('finished', {}),
      () => store.write(),
      () => store.rows.count(),
      () => store.close(),
    ])
      expect(refusal(work)).toBe(fault);
    await expect(store.flush()).rejects.toBe(fault);
    expect(inFile()).toEqual([2]);
  });

  test('closing writes what waits; closing again does nothing, and nothing is noted any more', () => {
    const store = open();
    store.rows.addOutcome(done(2, 'created'));
    store.close();
    store.close();
    expect(() => store.rows.addOutcome(done(3, 'created'))).toThrow(/is closed/);
    expect(inFile()).toEqual([2]);
  });
});

describe('processes of a run', () => {
  const totals = (total: number): RequestCounts => ({ total, reads: 1, writes: total - 1, retries: 2 });

  test('their requests are summed; one that did not end is told', () => {
    let store = open();
    expect(store.processes).toMatchObject({
      begun: false,
      killed: false,
      requests: { total: 0, writes: 0 },
    });
    for (const [process, total] of [10, 5, 7].entries()) {
      let sent: RequestCounts | undefined;
      store.begin(() => sent);
      store.write();
      sent = totals(total - 1);
      record(store, done(process + 1, 'created'));
      // Noted with whatever is written next.
      sent = totals(total);
      store.end();
      store = again(store);
      expect(store.processes).toMatchObject({ begun: true, killed: false });
    }
    expect(store.processes.requests).toEqual({ total: 22, reads: 3, writes: 19, retries: 6 });
    store.begin(() => totals(4));
    record(store, done(9, 'created'));
    store = again(store);
    expect(store.processes).toMatchObject({ begun: true, killed: true, requests: { total: 26, writes: 22 } });
    // One that ended does not make up for one that was cut off.
    store.begin(() => undefined);
    store.end();
    store = again(store);
    expect(store.processes).toMatchObject({ killed: true, requests: { total: 26 } });
  });

  test('a run that is planned anew forgets its outcomes, and neither its requests nor how often it was begun', () => {
    let store = open();
    store.begin(() => totals(6));
    record(store, done(2, 'invalid'), done(3, 'not_attempted'), done(4, 'unchanged', 9));
    store.rows.addIds([], [[4, [warning('value_normalised', 'x')]]]);
    store.setValue('passed', true);
    store.addWarning('one');
    store = again(store);
    store.forget();
    store = again(store);
    const past = readPast(store, store.rows);
    expect([past.outcomes.size, past.passed, past.warnings, store.hasSent]).toEqual([0, false, [], false]);
    expect(wholeOf(store).some(({ kind, id, result, late }) => kind ?? id ?? result ?? late[0])).toBe(false);
    expect(past).toMatchObject({ begun: true, killed: true, requests: { total: 6 } });
    record(store, done(2, 'created'), done(3, 'created'), done(4, 'updated'));
    expect(rowsOf(store).map(({ kind }) => kind)).toEqual(['created', 'created', 'updated']);
  });
});

describe('a process killed by SIGKILL', () => {
  const SCRIPT = `
    import { subscribe } from 'node:diagnostics_channel';
    const [, , module, path, moment] = process.argv;
    const { RunStore } = await import(module);
    const store = new RunStore(path);
    const kill = () => process.kill(process.pid, 'SIGKILL');
    let row = 0;
    store.begin(() => ({ total: row, reads: 0, writes: row, retries: 0 }));
    subscribe('rowferry:milestone', ({ name }) => { if (row === 3003 && name === moment) kill(); });
    for (;;) {
      row++;
      const line = JSON.stringify({ row, id: row, record: 'x'.repeat(row % 300) });
      store.rows.addIntents([{ row, op: 'update', key: 'x', id: row, at: 0 }], [{ row, line }]);
      if (row % 7 === 0) await store.flush();
      if (row === 3005) kill();
    }`;

  test.each([
    ['before a flush was asked for', 'none', 3003],
    ['within a write', 'lines-written', 2996],
    ['right after it', 'lines-durable', 3003],
  ])('%s: what it had flushed is there, whole, and nothing else', async (_when, moment, flushed) => {
    const module = pathToFileURL(join(dirname(await cliPath()), '..', 'store', 'run-store.js')).href;
    const script = join(dir, 'writer.mjs');
    await writeFile(script, SCRIPT);
    const error = await promisify(execFile)(process.execPath, [script, module, path, moment], { timeout: 60_000 }).then(
      () => undefined,
      (reason: { signal?: string; stderr?: string }) => reason,
    );
    expect(error?.signal, error?.stderr).toBe('SIGKILL');
    const store = open();
    const rows = wholeOf(store);
    expect(rows.map(({ row }) => row)).toEqual(Array.from({ length: flushed }, (_, at) => at + 1));
    expect(rows.every(({ op, record: id, row }) => op === 'update' && id === row)).toBe(true);
    expect(rows.every(({ before }, at) => before?.includes(`"${'x'.repeat((at + 1) % 300)}"`))).toBe(true);
    expect(store.processes).toMatchObject({ begun: true, killed: true, requests: { total: flushed } });
    record(store, done(1, 'updated'));
    expect(rowsOf(again(store))[0]).toMatchObject({ row: 1, kind: 'updated' });
  });
});

describe('a file that a crash has cut or the disk has damaged', () => {
  /** Flushes of some rows each, and how long the write-ahead log was behind each. `checkpoint`: after so many it was emptied. */
  async function flushes(checkpoint = -1) {
    const store = open();
    const ends: number[] = [];
    const counts: number[] = [];
    let row = 0;
    for (let flush = 0; flush < 8; flush++) {
      if (flush === checkpoint) {
        store.prepare('pragma wal_checkpoint(truncate)').get();
        ends.fill(0);
      }
      for (let n = 0; n < 3 + flush; n++) {
        row++;
        store.rows.addIntents([intent(row, 'update', { id: row })], [{ row, line: `{"row":${row}}`.padEnd(row * 40) }]);
        if (n % 2 === 0) store.rows.addOutcome(done(row, 'updated', row));
      }
      store.write();
      counts.push(row);
      ends.push((await readFile(`${path}-wal`)).length);
    }
    return {
      store,
      ends,
      counts,
      database: await readFile(path),
      log: await readFile(`${path}-wal`),
      whole: wholeOf(store),
    };
  }

  let copies = 0;
  async function found(database: Buffer, log: Buffer): Promise<StoredRow[]> {
    const copied = join(dir, `copy-${++copies}.db`);
    await writeFile(copied, database);
    await writeFile(`${copied}-wal`, log);
    const store = new RunStore(copied);
    try {
      const rows = wholeOf(store);
      // And the run goes on.
      store.rows.addOutcome(done(1000, 'created'));
      store.write();
      expect(store.rows.lastRow).toBe(1000);
      return rows;
    } finally {
      store.close();
    }
  }

  test.each([-1, 4])(
    'a log cut at any byte: whole flushes, from the first on (48), checkpoint %i',
    async (checkpoint) => {
      const { ends, counts, database, log, whole } = await flushes(checkpoint);
      expect(ends.at(-1)).toBe(log.length);
      const cuts = new Set([0, 1, 31, 32, 33, ...ends.flatMap((end) => [end - 1, end, end + 1])]);
      for (let cut = 0; cut < log.length; cut += 2749) cuts.add(cut);
      for (const cut of cuts) {
        if (cut < 0 || cut > log.length) continue;
        const kept = counts[ends.findLastIndex((end) => end <= cut)] ?? 0;
        expect(await found(database, log.subarray(0, cut)), `cut at ${cut}`).toEqual(whole.slice(0, kept));
      }
    },
  );

  test('rubbish behind the log, also what looks like it, is not read (48)', async () => {
    const { ends, database, log, whole } = await flushes();
    for (const rubbish of [Buffer.alloc(5000), Buffer.alloc(4120, 0xa5), log.subarray(ends[2], ends[3]), log])
      expect(await found(database, Buffer.concat([log, rubbish]))).toEqual(whole);
    const zeroed = Buffer.concat([log.subarray(0, ends[5]), Buffer.alloc(log.length - ends[5]!)]);
    const kept = await found(database, zeroed);
    expect(whole.slice(0, kept.length)).toEqual(kept);
    expect(kept.length).toBeGreaterThan(0);
  });

  test('a page that is not what was written is refused by name, with what to do, and stays as it is (48)', async () => {
    const { store } = await flushes();
    store.prepare('pragma wal_checkpoint(truncate)').get();
    const good = await readFile(path);
    const size = good.readUInt16BE(16);
    expect(good.length / size).toBeGreaterThan(6);
    for (let at = 0; at < good.length; at += size) {
      for (const fill of [0, 0xa5]) {
        const damaged = Buffer.from(good).fill(fill, at, at + size);
        const copied = join(dir, `${at}-${fill}.db`);
        await writeFile(copied, damaged);
        const { message } = refusal(() => open(copied));
        expect(message, `page ${at / size + 1}`).toContain(`The journal ${copied} is damaged.`);
        expect(message).toMatch(/Restore the file from a backup.*or import the spreadsheet again/);
        expect((await readFile(copied)).equals(damaged)).toBe(true);
      }
    }
  });
});

describe('a file that is not ours to read', () => {
  test('the tables are those of format 4: who changes them counts it up, so that older files are refused (48)', () => {
    const store = open();
    const columns = (table: string) =>
      store
        .prepare(`select name from pragma_table_info('${table}')`)
        .all()
        .map(({ name }) => name)
        .join(' ');
    expect(store.prepare('pragma user_version').get()).toMatchObject({ user_version: 4 });
    for (const table of ['rows', 'orphans'])
      expect(columns(table)).toBe('row sent op at record before kind key id result late');
    expect(columns('process')).toBe('number at ended total reads writes retries');
    expect([columns('kept'), columns('warned')]).toEqual(['name value', 'number text']);
  });

  test('that of a newer version is refused by name and not touched (48)', async () => {
    const store = open();
    record(store, intent(2, 'create'));
    store.prepare('pragma user_version = 5').get();
    store.prepare('pragma wal_checkpoint(truncate)').get();
    const newer = join(dir, 'newer.db');
    await copyFile(path, newer);
    const bytes = await readFile(newer);
    for (const work of [() => open(newer), () => RunStore.openExisting(newer)]) {
      const { message } = refusal(work);
      expect(message).toContain(`${newer} has format 5; this version of rowferry reads format 4.`);
      expect(message).toContain('use the version that began the run');
      expect((await readFile(newer)).equals(bytes)).toBe(true);
    }
  });

  test('one that is no database is refused by name and not touched (48)', async () => {
    for (const content of [
      '369cbb4b {"t":"run","v":1}\n'.repeat(100),
      'x'.repeat(99),
      'SQLite format 4\0'.padEnd(5000, '\0'),
    ]) {
      await writeFile(path, content);
      expect(refusal(() => open()).message).toContain(`The journal ${path} is damaged. What was sent cannot be told`);
      expect(await readFile(path, 'utf8')).toBe(content);
    }
  });

  test.each([0, 7])(
    'the database of another program, number %i, is refused by name and not touched (48)',
    async (number) => {
      const options = { label: 'x', schema: 'create table mine (x);', version: 1, remedy: '' };
      const other = openDatabase(path, options);
      other.prepare(`pragma user_version = ${number}`).get();
      other.prepare('pragma wal_checkpoint(truncate)').get();
      const foreign = join(dir, 'foreign.db');
      await copyFile(path, foreign);
      other.close();
      const bytes = await readFile(foreign);
      expect(refusal(() => open(foreign)).message).toContain(`The journal ${foreign} `);
      expect((await readFile(foreign)).equals(bytes)).toBe(true);
    },
  );

  test('one that is not there is none', () => {
    expect(RunStore.openExisting(path)).toBeUndefined();
    open().close();
    expect(RunStore.openExisting(path)).toBeInstanceOf(RunStore);
  });
});
