import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { displayText } from '../../src/model/row.js';
import { summaryText } from '../../src/report/console.js';
import { writeReports } from '../../src/report/finish.js';
import { headline } from '../../src/report/wording.js';
import { RunStore } from '../../src/store/run-store.js';
import { facts, head, inBatches, night, ORPHANS, reconcileInput, source } from './reconcile-sample.js';
import { intent, outcome, readCsv, record } from './sample.js';

let dir: string;
let out: string;
let store: RunStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'reconcile-'));
  out = join(dir, 'out');
  store = new RunStore(join(dir, 'run.db'));
});
afterEach(() => {
  store.close();
  return rm(dir, { recursive: true, force: true });
});

/** That of another run. */
async function newStore(): Promise<RunStore> {
  store.close();
  await rm(store.path);
  store = new RunStore(store.path);
  return store;
}

/** Before anything was done to them. */
const UNTOUCHED = ORPHANS.map(({ id, key, name, since, absences, state }) => ({
  id,
  key,
  name,
  since,
  absences,
  state,
}));

describe('CSV', () => {
  test('every field that differs has a line; what is only kept is no plan', async () => {
    const summary = await writeReports(await night(dir, store));
    const [columns, ...lines] = await readCsv(join(out, 'differences.csv'));
    expect(columns).toEqual([
      ...['row', 'key', 'id', 'field', 'column', 'service', 'file', 'stands', 'action', 'outcome'],
    ]);
    expect(lines).toEqual([
      ['7', 'SN-1007', '107', 'name', 'Item Name', 'ThinkPad T14', 'ThinkPad T14 Gen 3', 'file', 'set', 'updated'],
      ['7', 'SN-1007', '107', 'original_cost', 'Purchase Cost', '1200', '1250.5', 'file', 'set', 'updated'],
      ['7', 'SN-1007', '107', 'asset_notes', 'Notes', 'with Anna since May', 'none', 'service', 'kept', 'updated'],
      ['8', 'SN-1008', '108', 'lifecycle_stage', 'Stage', 'Stock', 'Deployed', 'file', 'set', 'updated'],
      ['8', 'SN-1008', '108', 'purchase_date', 'Bought on', '2021-04-01', '', 'file', 'clear', 'updated'],
      ['9', 'SN-1009', '109', 'name', 'Item Name', "'=1+1", "'@SUM(A1)", 'file', 'set', 'updated'],
      ['10', 'SN-1010', '110', 'asset_notes', 'Notes', 'do not lend', 'lend', 'service', 'kept', 'unchanged'],
      ['16', 'SN-1016', '116', 'name', 'Item Name', 'a', 'b', 'file', 'set', 'at_risk'],
      ['17', 'SN-1017', '117', 'name', 'Item Name', 'old', 'new', 'file', 'set', 'conflict'],
    ]);
    const plan = (await readCsv(join(out, 'plan.csv'))).slice(1);
    expect(plan.map((line) => line[5])).not.toContain('kept');
    expect(plan.map((line) => line[5])).toContain('preserved');
    expect(summary.reconcile?.compared).toEqual({
      agree: 5,
      differ: 6,
      put_right: 3,
      left_to_service: 1,
      not_put_right: 2,
      orphans_acted: 1,
      orphans_for_person: 1,
    });
  });

  test('orphans with their state and how they ended', async () => {
    await writeReports(await night(dir, store));
    const [columns, ...lines] = await readCsv(join(out, 'orphans.csv'));
    expect(columns).toEqual([
      ...['id', 'key', 'name', 'since', 'absences', 'state', 'why', 'outcome', 'codes', 'message', 'changes'],
    ]);
    expect(lines.map((line) => line[0])).toEqual(['201', '202', '203', '204', '205']);
    expect(lines[1]).toEqual([
      ...['202', "'=SN-2", 'Laptop of Ben', '2026-03-30', '2', 'act', '', 'updated', '', ''],
      'lifecycle_stage: Deployed → Retired',
    ]);
    expect(lines[2]?.slice(7, 9)).toEqual(['conflict', 'changed_meanwhile']);
    expect(lines[4]?.[6]).toBe('It is no longer as it was when the list was read.');
  });
});

describe('summary and files', () => {
  test('the reports are named, summary.json has the facts', async () => {
    const summary = await writeReports(await night(dir, store));
    expect(summary.reports).toEqual([
      'results.csv',
      'rejected.csv',
      'faults.csv',
      'plan.csv',
      'differences.csv',
      'orphans.csv',
      'reconcile.xlsx',
      'report.html',
      'summary.json',
    ]);
    expect((await readdir(out)).sort()).toEqual([...summary.reports].sort());
    expect(summary.reconcile).toMatchObject({ ...facts() });
    expect(JSON.parse(await readFile(join(out, 'summary.json'), 'utf8'))).toEqual(summary);
  });

  test('what a reconciliation left is removed where the next run has none', async () => {
    await writeReports(await night(dir, store));
    await writeFile(join(out, '.differences.csv.0123456789ab.tmp'), 'torn');
    const { reconcile: _, ...plain } = await night(dir, await newStore());
    const summary = await writeReports({ ...plain, summary: head({ kind: 'import' }) });
    expect(summary.reconcile).toBeUndefined();
    expect((await readdir(out)).filter((name) => /reconcile|orphans|differences/.test(name))).toEqual([]);
  });

  test('reconcile.xlsx holds the lines of differences.csv and orphans.csv, on a sheet each', async () => {
    await writeReports(await night(dir, store));
    for (const [sheet, name] of [
      ['Differences', 'differences.csv'],
      ['Orphans', 'orphans.csv'],
    ] as const) {
      const opened = await openSource(join(out, 'reconcile.xlsx'), { sheet, header_row: 1 });
      const lines: string[][] = [];
      for await (const batch of opened.rows()) lines.push(...batch.map(({ cells }) => cells.map(displayText)));
      const [, ...expected] = (await readCsv(join(out, name))).map((line) =>
        line.map((cell) => cell.replace(/^'/, '')),
      );
      expect(lines.length).toBeGreaterThan(4);
      expect(lines).toEqual(expected.map((line) => line.slice(0, lines[0]!.length)));
    }
  });

  test('an orphan that could not be settled makes a run partial', async () => {
    record(store, ...[2, 3].map((row) => outcome(row, 'unchanged')));
    const input = {
      dir: out,
      store,
      source: await source(dir, 2),
      summary: head({ source: null }),
    };
    const settled = ORPHANS.filter(({ outcome: ended }) => ended !== 'conflict');
    const all = { ...input, summary: { ...head(), source: { ...head().source!, rows: 2 } } };
    const none = facts({ differences: { ...facts().differences, rows: 0 } });
    const well = { ...all, reconcile: reconcileInput({ orphans: () => inBatches(settled), facts: none }) };
    expect((await writeReports(well)).status).toBe('succeeded');
    expect((await writeReports({ ...all, reconcile: reconcileInput({ facts: none }) })).status).toBe('partial');
  });

  test('the records before follow the rows: orphans that were, or may have been, written', async () => {
    const { orphans, rows } = store;
    rows.addIntents(
      [8, 7].map((row) => intent(row, 'update', { id: 100 + row })),
      [
        { row: 8, line: '{"row":8,"id":108,"record":{"n":1.10}}' },
        { row: 7, line: '{"row":7,"id":107,"record":{}}' },
      ],
    );
    for (const [row, id, line] of [
      [3, 205, '{"row":3,"id":205,"record":{"row":3,"a":[{"row":4,"b":1}]}}'],
      [2, 203, '{"row":2,"id":203,"record":{}}'],
      [1, 202, '{"row":1,"id":202,"record":1}'],
      [1, 202, '{"row":1,"id":202,"record":{"m":2.50}}'],
    ] as const)
      orphans.addIntents([intent(row, 'update', { id })], [{ row, line }]);
    orphans.addOutcome({ outcome: outcome(1, 'updated', { id: 202 }), diff: [] });
    orphans.addOutcome({ outcome: outcome(2, 'conflict', { id: 203 }), diff: [] });
    const summary = await writeReports(await night(dir, store));
    expect(summary.reports).toContain('before.ndjson');
    expect((await readFile(join(out, 'before.ndjson'), 'utf8')).split('\n')).toEqual([
      '{"row":7,"id":107,"record":{}}',
      '{"row":8,"id":108,"record":{"n":1.10}}',
      '{"row":null,"id":202,"record":{"m":2.50}}',
      '{"row":null,"id":205,"record":{"row":3,"a":[{"row":4,"b":1}]}}',
      '',
    ]);
    const again = await writeReports(await night(dir, await newStore()));
    expect(again.reports).not.toContain('before.ndjson');
    expect(await readdir(out)).not.toContain('before.ndjson');
  });

  test('the records before of orphans alone', async () => {
    store.orphans.addIntents(
      [intent(1, 'update', { id: 202 })],
      [{ row: 1, line: '{"row":1,"id":202,"record":{"m":2.50}}' }],
    );
    await writeReports(await night(dir, store));
    expect(await readFile(join(out, 'before.ndjson'), 'utf8')).toBe('{"row":null,"id":202,"record":{"m":2.50}}\n');
  });

  test('the same night gives the same bytes', async () => {
    const names = ['report.html', 'differences.csv', 'orphans.csv', 'reconcile.xlsx'];
    await writeReports(await night(dir, store));
    const first = await Promise.all(names.map((name) => readFile(join(out, name))));
    await writeReports(await night(dir, await newStore()));
    for (const [at, name] of names.entries()) expect(await readFile(join(out, name)), name).toEqual(first[at]);
  });
});

describe('a run that wrote nothing', () => {
  test('a report-only run says what would be, and a brake why', async () => {
    const reason = 'max_updates: 6,000 of 20,000 rows would be updated.';
    const summary = await writeReports(
      await night(dir, store, {
        stopReason: reason,
        summary: head({ dry_run: true, status: 'braked', reason }),
        reconcile: reconcileInput({ facts: facts({ apply: false }), orphans: () => inBatches(UNTOUCHED) }),
      }),
    );
    expect(headline(summary)).toBe(
      'A brake would stop this run: 3 records would be put right; 2 would be created; 5 orphans (1 new, 2 would be acted on); 6 rows need a person.',
    );
    const results = (await readCsv(join(out, 'differences.csv'))).map((line) => line[8]);
    expect(results).toEqual(expect.arrayContaining(['set', 'clear', 'kept']));
    const page = await readFile(join(out, 'report.html'), 'utf8');
    expect(page).toContain('Report only');
    expect(page).toContain(`rowferry runs approve ${summary.run} --by NAME`);
    expect(page).not.toMatch(/Dry run/);
  });

  test('a night without anything says so', async () => {
    record(store, ...[2, 3].map((row) => outcome(row, 'unchanged')));
    const nothing = { rows: 0, fields: 0, file_stands: 0, service_stands: 0, cleared: 0, by_field: [] };
    const none = { action: 'report' as const, after: 2, total: 0, fresh: 0, waiting: 0, acted: 0, settled: 0, held: 0 };
    const summary = await writeReports({
      dir: out,
      store,
      source: await source(dir, 2),
      summary: { ...head({ warnings: [] }), source: { ...head().source!, rows: 2 } },
      reconcile: reconcileInput({
        orphans: () => inBatches([]),
        facts: facts({ differences: nothing, orphans: none }),
      }),
    });
    expect(headline(summary)).toBe('The file and the service agree in all 2 rows.');
    expect(await readFile(join(out, 'report.html'), 'utf8')).toContain('Every row ended well');
  });

  test('differences that a stopped run did not note are counted by its plan', async () => {
    record(store, outcome(2, 'unchanged'), outcome(3, 'not_attempted', { attempts: 0, changed: ['name'] }), {
      outcome: outcome(4, 'not_attempted', { attempts: 0, id: 9, changed: ['name'] }),
      diff: [{ field: 'name', old: 'a', new: 'b', kind: 'set' }],
    });
    const summary = await writeReports({
      dir: out,
      store,
      source: await source(dir, 4),
      stopReason: 'max_updates: too many.',
      summary: head({ status: 'braked', reason: 'max_updates: too many.' }),
      reconcile: reconcileInput({ orphans: () => inBatches([]) }),
    });
    expect(summary.reconcile?.compared).toMatchObject({ agree: 1, differ: 6, put_right: 0, not_put_right: 6 });
    const differences = (await readCsv(join(out, 'differences.csv'))).slice(1);
    expect(differences.map((line) => [line[0], line[9]])).toEqual([['4', 'not_attempted']]);
  });
});

test('300,000 differences do not fill the memory', async () => {
  const rows = 60_000;
  const fields = ['name', 'original_cost', 'lifecycle_stage', 'asset_notes', 'purchase_date'];
  // What a first report takes once, whatever its size.
  await writeReports(await night(dir, store));
  await newStore();
  for (let row = 2; row < rows + 2; row++) {
    const diff = fields.map((field) => ({ field, old: `old ${row}`, new: `new ${row}`, kind: 'set' as const }));
    store.rows.addOutcome({ outcome: outcome(row, 'updated', { id: row, changed: fields }), diff });
  }
  store.write();
  const opened = await source(dir, rows);
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 5);
  const summary = await writeReports({
    dir: out,
    store,
    source: opened,
    reconcile: reconcileInput(),
    summary: { ...head(), source: { ...head().source!, rows } },
  });
  clearInterval(timer);
  expect(summary.reconcile?.compared).toMatchObject({ agree: 0, differ: rows, put_right: rows });
  expect((peak - before) / 2 ** 20).toBeLessThan(150);
  expect((await readCsv(join(out, 'differences.csv'))).length).toBe(rows * fields.length + 1);
});

describe('report.html', () => {
  test('asks the network for nothing, runs nothing, and every tag is closed', async () => {
    for (const dry_run of [false, true]) {
      await writeReports(await night(dir, await newStore(), { summary: head({ dry_run }) }));
      const page = await readFile(join(out, 'report.html'), 'utf8');
      expect(page).not.toMatch(/https?:|\/\/|<script|\bsrc=|@import|url\(|<link/i);
      expect(page).toContain(`default-src 'none'`);
      for (const [, target] of page.matchAll(/href="([^"]*)"/g))
        expect(target).toMatch(/^[a-z]+\.(csv|xlsx|html|json|ndjson)$/);
      const open: string[] = [];
      for (const [, slash, tag, , own] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)((?:[^>"]|"[^"]*")*?)(\/?)>/g)) {
        if (own || tag === 'meta' || tag === 'br') continue;
        if (slash) expect(open.pop()).toBe(tag);
        else open.push(tag ?? '');
      }
      expect(open).toEqual([]);
    }
  });

  test('shows what the morning asks for', async () => {
    await writeReports(await night(dir, store));
    const page = await readFile(join(out, 'report.html'), 'utf8');
    const text = page
      .replace(/<style>.*?<\/style>/s, '')
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ');
    for (const words of [
      '3 records were put right; 2 were created; 5 orphans (1 new, 1 acted on, 1 needs a person); 6 rows need a person.',
      'ThinkPad T14 → ThinkPad T14 Gen 3',
      '2021-04-01 → none',
      'Left to the service',
      'Laptop of Ben',
      'lifecycle_stage: Deployed → Retired',
      '2 records have the key "SN-1014": ids 7, 9.'.replaceAll('"', '&quot;'),
      'category.name = Laptop',
    ])
      expect(text).toContain(words);
  });

  test('hostile text is text wherever it stands', async () => {
    const hostile = `</td><script>alert(1)</script><img src="http://evil.example/x" onerror='x'>&amp;`;
    record(store, {
      outcome: outcome(2, 'updated', { key: hostile }),
      diff: [{ field: hostile, old: hostile, new: `${hostile}2`, kind: 'set' }],
    });
    const bad = facts({ scope: { records: 1, without_key: 0, outside: 1, described: hostile } });
    const by_field = [{ field: hostile, file: 1, service: 0, cleared: 0 }];
    await writeReports({
      dir: out,
      store,
      source: await source(dir, 1),
      summary: { ...head({ job: hostile, run: hostile }), source: { ...head().source!, rows: 1, path: hostile } },
      reconcile: reconcileInput({
        columnOf: () => hostile,
        orphans: () => inBatches([{ ...ORPHANS[4]!, key: hostile, name: hostile, why: hostile }]),
        facts: { ...bad, differences: { ...bad.differences, by_field } },
      }),
    });
    const page = await readFile(join(out, 'report.html'), 'utf8');
    expect(page).not.toMatch(/<script|<img|onerror='/);
  });
});

describe('console', () => {
  test('one short block with what each number is made of', async () => {
    const summary = await writeReports(await night(dir, store));
    expect(summaryText(summary, 'out').split('\n').slice(0, 12)).toEqual([
      '3 records were put right; 2 were created; 5 orphans (1 new, 1 acted on, 1 needs a person); 6 rows need a person.',
      '',
      'Compared 18 rows with 240 records of the service:',
      '',
      '  5  agree',
      '  6  differ          3 put right, 1 left to the service, 2 not put right',
      '  2  created',
      '  1  skipped',
      '  5  orphans         1 new, 1 acted on, 1 needs a person, 1 waiting, 1 held back, 1 settled already',
      '! 6  need a person   1 invalid, 1 duplicate, 1 ambiguous, 1 held back, 1 conflict, 1 refused',
      '',
      'Fields that differ: name 4, asset_notes 2, original_cost 1, lifecycle_stage 1, purchase_date 1',
    ]);
    expect(summaryText(summary, 'out')).toContain('Reports: out: results.csv');
  });
});
