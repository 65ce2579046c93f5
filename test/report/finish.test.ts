import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { visibleLines } from '../../src/model/control-characters.js';
import { fault, warning } from '../../src/model/issue.js';
import { type ReportInput, type SummaryHead, writeReports } from '../../src/report/finish.js';
import { RunStore } from '../../src/store/run-store.js';
import { intent, outcome, readCsv, record, tooLong } from './sample.js';

let dir: string;
let out: string;
let store: RunStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'reports-'));
  out = join(dir, 'out', 'deep');
  store = new RunStore(join(dir, 'run.db'));
});
afterEach(() => {
  store.close();
  return rm(dir, { recursive: true, force: true });
});

/** That of another run. */
async function newStore(): Promise<void> {
  store.close();
  await rm(store.path);
  store = new RunStore(store.path);
}

function head(rows: number, more: Partial<SummaryHead> = {}): SummaryHead {
  return {
    run: '20260331T140501Z-7f3a',
    job: 'assets',
    kind: 'import',
    resource: 'asset',
    company: 1,
    dry_run: false,
    source: {
      path: 'in.csv',
      sha256: 'ab',
      format: 'csv',
      encoding: 'utf-8',
      delimiter: ',',
      sheet: null,
      header_row: 1,
      rows,
    },
    requests: { total: 5, reads: 3, writes: 2, retries: 0 },
    warnings: [],
    started_at: '2026-03-31T14:05:01.000Z',
    finished_at: '2026-03-31T14:05:03.500Z',
    seconds: 2.5,
    ...more,
  };
}

async function csv(text: string, name = 'in.csv') {
  await writeFile(join(dir, name), text);
  return openSource(join(dir, name));
}

const FILE = 'Serial,Item Name,Cost\r\nA1,"Pump, big",1\r\nA2,x,2\r\nA3,y,3\r\nA4,z,4\r\n';

async function write(more: Partial<ReportInput> = {}) {
  return writeReports({ dir: out, store, source: await csv(FILE), summary: head(4), ...more });
}

describe('writeReports', () => {
  test('puts rows into input order, whatever order they were done in, and accounts for every one', async () => {
    record(
      store,
      outcome(5, 'rejected', {
        issues: [{ code: 'service_rejected', severity: 'error', message: 'serial: taken', origin: 'service' }],
      }),
      intent(3, 'update', { key: 'A2', id: 7 }),
      {
        outcome: outcome(3, 'updated', { key: 'A2', id: 7, changed: ['name', 'original_cost'] }),
        diff: [
          { field: 'name', old: '=old', new: 'x', kind: 'set' },
          { field: 'area', old: 'N', new: '', kind: 'clear' },
        ],
      },
      outcome(4, 'invalid', {
        key: 'A3',
        issues: [tooLong('y'), fault('required', 'Fill it in.', { column: 'Cost' })],
      }),
      outcome(2, 'created', {
        key: 'A1',
        id: 6,
        issues: [warning('value_normalised', 'Stored as PUMP.', { field: 'name' })],
      }),
    );
    const summary = await write();

    expect(await readCsv(join(out, 'results.csv'))).toEqual([
      ['row', 'outcome', 'key', 'id', 'changed_fields', 'codes', 'message'],
      ['2', 'created', 'A1', '6', '', 'value_normalised', 'Stored as PUMP.'],
      ['3', 'updated', 'A2', '7', 'name; original_cost', '', ''],
      [
        '4',
        'invalid',
        'A3',
        '',
        '',
        'too_long; required',
        'Item Name: The service accepts 50 characters. Shorten the text.; Cost: Fill it in.',
      ],
      ['5', 'rejected', 'K-5', '', '', 'service_rejected', 'serial: taken'],
    ]);
    expect(await readCsv(join(out, 'faults.csv'))).toEqual([
      ['row', 'column', 'field', 'value', 'code', 'message', 'origin'],
      ['4', 'Item Name', 'name', 'y', 'too_long', 'The service accepts 50 characters. Shorten the text.', 'local'],
      ['4', 'Cost', '', '', 'required', 'Fill it in.', 'local'],
      ['5', '', '', '', 'service_rejected', 'serial: taken', 'service'],
    ]);
    expect(await readCsv(join(out, 'plan.csv'))).toEqual([
      ['row', 'id', 'field', 'old', 'new', 'kind'],
      ['3', '7', 'name', "'=old", 'x', 'set'],
      ['3', '7', 'area', 'N', '', 'clear'],
    ]);
    expect(summary.status).toBe('partial');
    expect(summary.rows).toMatchObject({ created: 1, updated: 1, invalid: 1, rejected: 1, total: 4 });
    expect(summary.top_faults).toContainEqual({ code: 'too_long', count: 1, column: 'Item Name', example: 'y' });
    expect(summary.reports).toEqual([
      'results.csv',
      'rejected.csv',
      'faults.csv',
      'plan.csv',
      'report.html',
      'summary.json',
    ]);
    expect(JSON.parse(await readFile(join(out, 'summary.json'), 'utf8'))).toEqual(summary);
    expect((await readdir(out)).sort()).toEqual([...summary.reports].sort());
  });

  test('lines end in CRLF and there is no byte order mark', async () => {
    record(store, ...[2, 3, 4, 5].map((row) => outcome(row, 'created')));
    await write();
    const text = await readFile(join(out, 'results.csv'), 'latin1');
    expect(text.startsWith('row,')).toBe(true);
    expect(text.split('\r\n').length).toBe(6);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  test('any text survives the CSV reports, and none of it can run as a formula or steer a terminal (77, 91)', async () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        '=1+1',
        ' @SUM(A1)',
        '"q"',
        'a\r\nb',
        '\n',
        ',',
        "'=x",
        '\t=1',
        '-2',
        '+44 20 7946',
        'a\u001b[2J\u009b\rb',
      ),
    );
    await fc.assert(
      fc.asyncProperty(hostile, hostile, async (key, message) => {
        await newStore();
        const issue = fault('required', message, { column: key, value: message });
        record(
          store,
          outcome(2, 'invalid', { key, issues: [issue] }),
          ...[3, 4, 5].map((row) => outcome(row, 'unchanged')),
        );
        await write();
        const raw = (await readCsv(join(out, 'faults.csv')))[1] ?? [];
        expect(raw[0]).toBe('2');
        const source = await openSource(join(out, 'faults.csv'));
        for await (const [row] of source.rows()) {
          expect(row?.cells.slice(1, 6)).toEqual([
            visibleLines(key),
            '',
            visibleLines(message),
            'required',
            visibleLines(message),
          ]);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('a good run has no rejected file, and one that is left from before is removed', async () => {
    record(store, outcome(2, 'invalid'), ...[3, 4, 5].map((row) => outcome(row, 'created')));
    await write();
    expect(await readdir(out)).toContain('rejected.csv');
    await newStore();
    record(store, ...[2, 3, 4, 5].map((row) => outcome(row, 'unchanged')));
    await writeFile(join(out, 'mine.txt'), 'stays');
    const summary = await write();
    expect(summary.status).toBe('succeeded');
    expect((await readdir(out)).sort()).toEqual(
      ['faults.csv', 'mine.txt', 'plan.csv', 'report.html', 'results.csv', 'summary.json'].sort(),
    );
  });

  test('a second outcome of a row is an error, and no summary is left to be believed', async () => {
    record(store, ...[2, 3, 4, 5].map((row) => outcome(row, 'created')));
    await write();
    const refused = /has the outcome created for row 3, and a second outcome is failed/;
    expect(() => record(store, outcome(3, 'failed'))).toThrow(refused);
    await expect(write()).rejects.toThrow(refused);
    expect(await readdir(out)).not.toContain('summary.json');
    expect(() => store.close()).toThrow(refused);
  });

  test('not_attempted gives way to the real outcome of the resumed run', async () => {
    record(store, ...[2, 3, 4, 5].map((row) => outcome(row, 'not_attempted')));
    record(store, intent(2, 'create', { key: 'A1' }));
    record(store, ...[2, 3, 4, 5].map((row) => outcome(row, 'created')));
    expect((await write()).rows).toMatchObject({ created: 4, not_attempted: 0, total: 4 });
  });

  test('a row without an outcome is an error in a run that finished', async () => {
    record(store, ...[2, 3, 4].map((row) => outcome(row, 'created')));
    await expect(write()).rejects.toThrow(/4 rows were read and 3 have an outcome/);
    record(store, intent(5, 'create', { key: 'A4' }));
    await expect(write()).rejects.toThrow(/row 5 was sent and has no outcome/);
    expect(await readdir(out)).toEqual([]);
  });

  test('a run that stopped says so of every row it did not finish', async () => {
    record(store, outcome(2, 'created'), intent(4, 'update', { key: 'A3', id: 9 }));
    const stopped = 'The run was interrupted by SIGTERM.';
    const summary = await write({ stopReason: stopped, summary: head(4, { status: 'interrupted', reason: stopped }) });
    expect(summary.rows).toMatchObject({ created: 1, unknown: 1, not_attempted: 2, total: 4 });
    const [, ...lines] = await readCsv(join(out, 'results.csv'));
    expect(lines.map((line) => [line[0], line[1], line[2], line[3], line[5]])).toEqual([
      ['2', 'created', 'K-2', '', 'id_unknown'],
      ['3', 'not_attempted', '', '', 'run_stopped'],
      ['4', 'unknown', 'A3', '9', 'outcome_unknown'],
      ['5', 'not_attempted', '', '', 'run_stopped'],
    ]);
    expect((await readCsv(join(out, 'rejected.csv'))).map((line) => line[0])).toEqual(['Serial', 'A2', 'A3', 'A4']);
  });

  test('a run that stopped and was resumed tells how every row ended at last', async () => {
    record(store, outcome(2, 'created', { id: 6 }), intent(4, 'update', { id: 9 }));
    await write({ stopReason: 'The run was interrupted by SIGTERM.' });
    record(store, ...[3, 4, 5].map((row) => outcome(row, 'updated', { id: row })));
    expect((await write()).rows).toMatchObject({ created: 1, updated: 3, total: 4 });
  });

  test('outcomes of rows the file does not have are noticed', async () => {
    record(store, ...[2, 3, 4].map((row) => outcome(row, 'created')), outcome(50, 'invalid'));
    await expect(write()).rejects.toThrow(/not the one of this run/);
  });

  test('ids and issues that were learned after the rows were written are told', async () => {
    record(
      store,
      outcome(2, 'created'),
      outcome(3, 'created', { attempts: 0 }),
      outcome(4, 'created', { issues: [warning('value_normalised', 'Stored as Y.')] }),
      outcome(5, 'created'),
    );
    store.rows.addIds(
      [
        [2, 12],
        [4, 14],
      ],
      [[4, [warning('too_long', 'Stored shortened.')]]],
    );
    await write();
    const [, ...lines] = await readCsv(join(out, 'results.csv'));
    expect(lines.map((line) => [line[0], line[3], line[5]])).toEqual([
      ['2', '12', ''],
      ['3', '', ''],
      ['4', '14', 'value_normalised; too_long'],
      ['5', '', 'id_unknown'],
    ]);
  });

  test('records from before the updates come with the reports: by row, the last of each, digit by digit', async () => {
    const last = '{"row":5,"id":1,"record":{"cost":12345678901234.560}}';
    store.rows.addIntents(
      [intent(5, 'update', { id: 1 }), intent(2, 'update', { id: 2 })],
      [
        { row: 5, line: '{"row":5,"id":1,"record":{"cost":1}}' },
        { row: 2, line: '{"row":2,"id":2,"record":{"name":"Zoë\\n\\"x\\""}}' },
      ],
    );
    record(store, outcome(5, 'failed'));
    store.rows.addIntents([intent(5, 'update', { id: 1 })], [{ row: 5, line: last }]);
    for (const row of [3, 4])
      store.rows.addIntents([intent(row, 'update', { id: row })], [{ row, line: `{"row":${row},"id":${row}}` }]);
    record(
      store,
      ...[2, 5].map((row) => outcome(row, 'updated')),
      outcome(3, 'rejected'),
      outcome(4, 'unknown', { id: 4 }),
    );
    expect((await write()).reports).toContain('before.ndjson');
    expect(await readFile(join(out, 'before.ndjson'), 'utf8')).toBe(
      `{"row":2,"id":2,"record":{"name":"Zoë\\n\\"x\\""}}\n{"row":4,"id":4}\n${last}\n`,
    );
  });

  test('the most frequent faults: at most ten, by code and column, counted over all rows', async () => {
    const rows = Array.from({ length: 300 }, (_, at) => at + 2);
    const source = await csv(`H\r\n${rows.map((row) => `v${row}\r\n`).join('')}`, 'many.csv');
    record(
      store,
      ...rows.map((row) =>
        outcome(row, 'invalid', { issues: [tooLong(`v${row}`, `C${row % 12}`), fault('required', 'x')] }),
      ),
    );
    const summary = await write({ source, summary: head(300) });
    expect(summary.top_faults.length).toBe(10);
    expect(summary.top_faults[0]).toEqual({ code: 'required', count: 300 });
    expect(summary.top_faults[1]).toEqual({ code: 'too_long', count: 25, column: 'C2', example: 'v2' });
  });

  test('a fault without a column is counted by its field', async () => {
    record(
      store,
      outcome(2, 'invalid', { issues: [fault('required', 'x', { field: 'name' })] }),
      outcome(3, 'invalid', { issues: [fault('required', 'x', { field: 'name' })] }),
      outcome(4, 'invalid', { issues: [fault('required', 'x', { field: 'city', column: 'Town' })] }),
      outcome(5, 'invalid', { issues: [fault('required', 'x')] }),
    );
    const { top_faults } = await write({ source: await csv('H\r\na\r\nb\r\nc\r\nd\r\n'), summary: head(4) });
    expect(top_faults).toEqual([
      { code: 'required', count: 2, field: 'name' },
      { code: 'required', count: 1, column: 'Town' },
      { code: 'required', count: 1 },
    ]);
  });

  test('100,000 rows in shuffled order: right order, small memory', async () => {
    const total = 100_000;
    for (let block = 0; block < total; block += 1000) {
      // Within a window of 1,000 rows outcomes come in an order of their own: 37 and 1,000 have no common divisor.
      for (let at = 0; at < 1000; at++) {
        const row = block + ((at * 37) % 1000) + 2;
        const kind = row % 10 === 0 ? 'invalid' : 'created';
        const issues = kind === 'invalid' ? [tooLong('v')] : [];
        store.rows.addOutcome({ outcome: outcome(row, kind, { id: row, issues }), diff: [] });
      }
      await store.flush();
    }
    let text = 'Serial,Item Name\n';
    for (let row = 2; row < total + 2; row++) text += `S${row},n\n`;
    const source = await csv(text);
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    const summary = await writeReports({ dir: out, store, source, summary: head(total) });
    clearInterval(timer);
    expect(summary.rows).toMatchObject({ created: 90_000, invalid: 10_000, total });
    const results = await readCsv(join(out, 'results.csv'));
    expect(results.length).toBe(total + 1);
    expect(results.slice(1).every((line, at) => line[0] === String(at + 2))).toBe(true);
    const rejected = await readCsv(join(out, 'rejected.csv'));
    expect(rejected.slice(1).map((line) => line[0])).toEqual(
      Array.from({ length: 10_000 }, (_, at) => `S${(at + 1) * 10}`),
    );
    expect((peak - before) / 2 ** 20).toBeLessThan(150);
  });
});
