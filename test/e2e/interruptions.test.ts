import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRun } from '../../src/runs/run/list.js';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { RunStore } from '../../src/store/run-store.js';
import { type Desk, type Imported, type ImportOptions, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { expectTruth } from '../support/truth.js';

const ASSETS = importOf(
  'asset',
  { key: 'serial_number', unique_field: 'serial_number' },
  { Name: 'name', Serial: 'serial_number', Cost: 'original_cost' },
);
const ROWS = 40;
const ONE_BY_ONE = { ROWFERRY_CONCURRENCY: '1' };

let desk: Desk;

const sheet = (rows = ROWS, cost = '10.00') =>
  desk.file('assets.csv', [
    ['Name', 'Serial', 'Cost'],
    ...Array.from({ length: rows }, (_, i) => [`Asset ${i}`, `SN-${i}`, cost]),
  ]);
const outcomes = (imported: Imported) => imported.results.map((row) => row['outcome']);
const all = (outcome: string, rows = ROWS) => Array.from({ length: rows }, () => outcome);
const truth = (imported: Imported, rows = ROWS) => expectTruth(imported, desk.sandbox, 'asset', 'serial_number', rows);
const journal = (imported: Imported) => join(desk.home, 'runs', imported.summary.run, 'run.db');

/** A desk whose next import is interrupted at its n-th request of the kind. */
async function interruptedAt(method: string, nth: number, reason = 'SIGTERM', options: SandboxOptions = {}) {
  const controller = new AbortController();
  let seen = 0;
  desk = await openDesk({
    ...options,
    onRequest(request) {
      if (request.method === method && ++seen === nth) controller.abort(reason);
    },
  });
  return { signal: controller.signal } satisfies ImportOptions;
}

const stoppedAt = async (nth: number, env: Record<string, string> = ONE_BY_ONE) => {
  const options = await interruptedAt('POST', nth);
  return desk.import(await sheet(), ASSETS, { ...options, env });
};

async function reports(imported: Imported): Promise<Record<string, string>> {
  const names = (await readdir(imported.reportDir)).filter((name) => /\.(csv|xlsx|ndjson)$/.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(imported.reportDir, name), 'utf8')));
  return Object.fromEntries(names.map((name, at) => [name, texts[at] ?? '']));
}

describe('an interrupted run', () => {
  it('an update that took effect before a kill is told as such, also where its record has another key by now', async () => {
    const options = await interruptedAt('PUT', 8);
    const bodies = Array.from({ length: ROWS }, (_, i) => ({
      name: `Asset ${i}`,
      serial_number: `SN-${i}`,
      category: { id: 1 },
    }));
    desk.sandbox.insert('asset', bodies);
    const imported = await desk.import(await sheet(), ASSETS, { ...options, env: ONE_BY_ONE });
    const store = new RunStore(journal(imported));
    const row = store.prepare(`select max(row) as row from rows where kind = 'updated'`).get()?.['row'] as number;
    store.prepare('update rows set kind = null, id = null, result = null where row = ?').run(row);
    store.close();
    desk.sandbox.edit('asset', row - 1, { serial_number: 'SN-moved' });
    const resumed = await desk.resume();
    expect(outcomes(resumed)).toEqual(all('updated'));
    expect(desk.sandbox.records('asset', 1)).toHaveLength(ROWS);
    expect(desk.sandbox.records('asset', 1)[row - 2]).toMatchObject({ serial_number: 'SN-moved' });
  });

  it('is resumed by what the service holds then: a record that got another key meanwhile is no longer meant', async () => {
    const options = await interruptedAt('POST', 15);
    const [id] = desk.sandbox.insert('asset', [
      { name: 'Asset 39', serial_number: 'SN-39', original_cost: 7, category: { id: 1 } },
    ]);
    await desk.import(await sheet(), ASSETS, { ...options, env: ONE_BY_ONE });
    desk.sandbox.edit('asset', Number(id), { serial_number: 'SN-moved' });
    const resumed = await desk.resume();
    expect(outcomes(resumed)).toEqual(all('created'));
    expect(desk.sandbox.records('asset', 1)[0]).toMatchObject({ serial_number: 'SN-moved', original_cost: '7.00' });
  });

  it('that is taken up counts as unfinished until it ends once more', async () => {
    const options = await interruptedAt('POST', 15);
    const imported = await desk.import(await sheet(), ASSETS, { ...options, env: ONE_BY_ONE });
    const { run } = imported.summary;
    const reported = new Set<boolean>();
    const onProgress: ImportOptions['onProgress'] = ({ done }) => {
      if (done > 20) reported.add(existsSync(join(imported.reportDir, 'summary.json')));
    };
    await desk.resume({ env: ONE_BY_ONE, onProgress });
    expect([...reported]).toEqual([false]);
    expect((await readRun(desk.home, run)).status).toBe('succeeded');
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s: exit code %i, reports that add up, and resume completes', async (reason, code) => {
    for (const concurrency of ['1', '16']) {
      const options = await interruptedAt('POST', 15, reason);
      const imported = await desk.import(await sheet(), ASSETS, {
        ...options,
        env: { ROWFERRY_CONCURRENCY: concurrency },
      });
      expect(imported.exitCode).toBe(code);
      expect(imported.summary.status).toBe('interrupted');
      truth(imported);
      expect(imported.summary.rows.not_attempted).toBeGreaterThan(0);
      // What was in flight has been answered: nothing is left open.
      expect(imported.summary.rows.created).toBe(imported.commits);
      expect(imported.faults.every((fault) => fault['message']?.includes('runs resume'))).toBe(true);

      const resumed = await desk.resume();
      expect(resumed.exitCode).toBe(0);
      expect(outcomes(resumed)).toEqual(all('created'));
      expect(imported.commits + resumed.commits).toBe(ROWS);
      truth(resumed);
      if (concurrency === '1') await desk.close();
    }
  });

  it.each(['GET', 'POST'])('at its first %s: every row is accounted for, and resume completes', async (method) => {
    const options = await interruptedAt(method, 1);
    const imported = await desk.import(await sheet(), ASSETS, { ...options, env: ONE_BY_ONE });
    expect(imported.exitCode).toBe(143);
    expect(imported.summary.source?.rows).toBe(ROWS);
    truth(imported);
    const resumed = await desk.resume();
    expect(outcomes(resumed)).toEqual(all('created'));
    truth(resumed);
  });

  it.each(['timeout_before', 'timeout_after'])(
    'while a request is without answer (%s): its row is unknown until resume finds out',
    async (fault) => {
      const options = await interruptedAt('POST', 5, 'SIGTERM', { faults: [`POST /asset nth=5 ${fault}`] });
      const env = { ...ONE_BY_ONE, ROWFERRY_TIMEOUT: '0.2' };
      const imported = await desk.import(await sheet(), ASSETS, { ...options, env });
      expect(imported.summary.rows).toMatchObject({ created: 4, unknown: 1, not_attempted: 35 });
      truth(imported);
      const resumed = await desk.resume();
      expect(outcomes(resumed)).toEqual(all('created'));
      expect(desk.sandbox.requests.kinds['POST /asset']).toBe(fault === 'timeout_before' ? ROWS + 1 : ROWS);
      truth(resumed);
    },
  );

  it('that is interrupted again and again gets there in the end', async () => {
    let imported = await stoppedAt(3);
    for (let time = 0; time < 30 && imported.summary.status === 'interrupted'; time++) {
      const controller = new AbortController();
      const target = desk.sandbox.commits.length + 5;
      const watch = setInterval(() => {
        if (desk.sandbox.commits.length >= target) controller.abort('SIGTERM');
      }, 1);
      imported = await desk.resume({ signal: controller.signal }).finally(() => clearInterval(watch));
      truth(imported);
    }
    expect(outcomes(imported)).toEqual(all('created'));
    expect(desk.sandbox.commits).toHaveLength(ROWS);
  });

  it('reaches the same refusal brake as one that was not interrupted', async () => {
    const options = await interruptedAt('POST', 3, 'SIGTERM', { faults: ['POST /asset status=422'] });
    const job = { ...ASSETS, brakes: { max_rejected: 4 } };
    const first = await desk.import(await sheet(), job, { ...options, env: ONE_BY_ONE });
    expect(first.summary.rows.rejected).toBe(3);
    const resumed = await desk.resume({ env: ONE_BY_ONE });
    expect(resumed.exitCode).toBe(4);
    expect(resumed.summary.rows.rejected).toBe(5);
    truth(resumed);
  });
});

describe('resume', () => {
  it('of a finished run writes the same reports and sends nothing', async () => {
    desk = await openDesk({ faults: ['POST /asset nth=3 status=422'] });
    desk.sandbox.insert('asset', [
      { name: 'Asset 0', serial_number: 'SN-0', original_cost: 5, category: { id: 1 } },
      { name: 'Asset 1', serial_number: 'SN-1', original_cost: 10 },
    ]);
    const text = await readFile(await sheet(), 'utf8');
    const file = await desk.file('mixed.csv', `${text}\r\nLast,SN-X,cheap\r\nAgain,SN-3,1.00`);
    const imported = await desk.import(file, ASSETS, { env: ONE_BY_ONE });
    expect(imported.summary.rows).toMatchObject({ updated: 1, unchanged: 1, rejected: 1, invalid: 1, duplicate: 1 });
    const before = await reports(imported);
    expect(Object.keys(before).sort()).toEqual([
      'before.ndjson',
      'faults.csv',
      'plan.csv',
      'rejected.csv',
      'results.csv',
    ]);
    desk.sandbox.setFaults([]);
    const writes = desk.sandbox.requests.writes;
    const resumed = await desk.resume();
    expect(desk.sandbox.requests.writes).toBe(writes);
    expect(await reports(resumed)).toEqual(before);
    expect(resumed.summary.rows).toEqual(imported.summary.rows);
    expect(resumed.exitCode).toBe(imported.exitCode);
  });

  it('with the settings of another service is refused, and names both', async () => {
    await stoppedAt(5);
    const other = 'http://127.0.0.1:9';
    await expect(desk.resume({ env: { ROWFERRY_API_URL: other } })).rejects.toThrow(
      new RegExp(`${desk.sandbox.url}.*${other}`),
    );
    expect(outcomes(await desk.resume())).toEqual(all('created'));
  });

  it('while the run is being worked on is refused', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let reached: () => void = () => undefined;
    const atPost = new Promise<void>((resolve) => {
      reached = resolve;
    });
    desk = await openDesk({
      onRequest({ method }) {
        if (method !== 'POST') return undefined;
        reached();
        return held;
      },
    });
    const running = desk.import(await sheet(), ASSETS);
    await atPost;
    await expect(desk.resume()).rejects.toThrow(new RegExp(`worked on by process ${process.pid}`));
    release();
    expect(outcomes(await running)).toEqual(all('created'));
  });

  it.each([
    ['a process that is gone', '4194303 '],
    ['another process that had our number', `${process.pid} `],
    ['a process killed before it wrote its number', ''],
  ])('takes over the lock of %s', async (_, content) => {
    const imported = await stoppedAt(5);
    const folder = join(desk.home, 'runs', imported.summary.run);
    await writeFile(join(folder, 'lock'), content);
    expect(outcomes(await desk.resume())).toEqual(all('created'));
    expect((await readdir(folder)).filter((name) => name.startsWith('lock'))).toEqual([]);
  });

  it('does not care what became of the original file', async () => {
    for (const change of ['deleted', 'changed'] as const) {
      const imported = await stoppedAt(5);
      const file = join(desk.dir, 'assets.csv');
      if (change === 'deleted') await rm(file);
      else await writeFile(file, 'Name,Serial,Cost\r\nOther,SN-OTHER,1');
      const resumed = await desk.resume();
      expect(outcomes(resumed)).toEqual(all('created'));
      expect(resumed.summary.source?.sha256).toBe(imported.summary.source?.sha256);
      truth(resumed);
      if (change === 'deleted') await desk.close();
    }
  });

  it('ignores what a crash has torn at the end of the journal', async () => {
    const imported = await stoppedAt(5);
    const bytes = await readFile(journal(imported));
    await writeFile(`${journal(imported)}-wal`, bytes.subarray(0, 6_000));
    const resumed = await desk.resume();
    expect(outcomes(resumed)).toEqual(all('created'));
    truth(resumed);
  });

  it('refuses a journal that is damaged in the middle, names it, and sends nothing', async () => {
    const imported = await stoppedAt(5);
    const bytes = await readFile(journal(imported));
    await writeFile(journal(imported), bytes.fill(0xff, bytes.length - 8_192, bytes.length - 4_096));
    const requests = desk.sandbox.requests.total;
    await expect(desk.resume()).rejects.toThrow(/run\.db is damaged.*import the spreadsheet again/);
    expect(desk.sandbox.requests.total).toBe(requests);
  });

  it('refuses the journal of a newer version (48)', async () => {
    const imported = await stoppedAt(5);
    const store = new RunStore(journal(imported));
    store.prepare('pragma user_version = 99').run();
    store.close();
    await expect(desk.resume()).rejects.toThrow(/format 99.*version that began the run/s);
  });

  it('of a run that was killed before it had taken over its file says what to do', async () => {
    const imported = await stoppedAt(5);
    await rm(join(desk.home, 'runs', imported.summary.run, 'run.json'));
    await expect(desk.resume()).rejects.toThrow(/nothing was sent.*Start it anew/i);
  });

  it('removes what a process that was killed while writing reports left in their folder', async () => {
    const imported = await stoppedAt(5);
    await desk.file('x', '');
    await writeFile(join(imported.reportDir, '.results.csv.0123456789ab.tmp'), 'row,');
    await writeFile(join(imported.reportDir, '.mine.tmp'), 'mine');
    await desk.resume();
    const names = await readdir(imported.reportDir);
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual(['.mine.tmp']);
  });

  it('learns the ids of rows whose answers were empty, also those of the earlier process', async () => {
    const imported = await stoppedAt(20);
    expect(imported.results.filter((row) => row['id']).length).toBe(0);
    const resumed = await desk.resume();
    expect(resumed.results.filter((row) => row['id']).length).toBe(ROWS);
    truth(resumed);
  });
});

describe('before.ndjson of a run that was stopped among its updates', () => {
  const records = async (imported: Imported) => {
    const text = await readFile(join(imported.reportDir, 'before.ndjson'), 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { row: number; id: number; record: Record<string, unknown> });
  };

  it('holds the rows that were updated, as they were before the run; after resume all of them', async () => {
    const options = await interruptedAt('PUT', 8);
    const bodies = Array.from({ length: ROWS }, (_, i) => ({
      name: `Asset ${i}`,
      serial_number: `SN-${i}`,
      original_cost: 5,
      category: { id: 1 },
      asset_notes: `note ${i}`,
    }));
    desk.sandbox.insert('asset', bodies);
    const imported = await desk.import(await sheet(), ASSETS, { ...options, env: ONE_BY_ONE });
    expect(imported.summary.rows).toMatchObject({ updated: 8, not_attempted: ROWS - 8 });
    const updated = imported.results.filter((row) => row['outcome'] === 'updated').map((row) => Number(row['row']));
    expect((await records(imported)).map((entry) => entry.row)).toEqual(updated);

    const resumed = await desk.resume();
    expect(outcomes(resumed)).toEqual(all('updated'));
    expect(resumed.results.every((row) => row['changed_fields'] === 'original_cost')).toBe(true);
    expect(resumed.plan.filter((line) => line['field'] === 'original_cost')).toHaveLength(ROWS);
    const before = await records(resumed);
    expect(before.map((entry) => entry.row)).toEqual(Array.from({ length: ROWS }, (_, i) => i + 2));
    for (const { row, record } of before) {
      expect(record).toMatchObject({ serial_number: `SN-${row - 2}`, original_cost: 5 });
    }
    for (const [i, record] of desk.sandbox.records('asset').entries())
      expect(record).toMatchObject({ original_cost: '10.00', asset_notes: `note ${i}` });
    expect(desk.sandbox.commits).toHaveLength(ROWS);
  });
});

describe('what cannot be read back is remembered', () => {
  const JOB = {
    ...ASSETS,
    columns: { Name: 'name', Serial: 'serial_number', Mac: 'mac_address', Category: 'category.name' },
  };
  const LATER = { ...ASSETS, columns: { Serial: 'serial_number', Cost: 'original_cost' } };
  const macs = () => desk.sandbox.raw('asset').map((record) => record['mac_address']);

  it.each([undefined, 5])(
    'after a run, interrupted at request %s: a later update carries the values over',
    async (nth) => {
      const options = await interruptedAt('POST', nth ?? 1_000);
      const rows = Array.from({ length: ROWS }, (_, i) => [`Asset ${i}`, `SN-${i}`, `00:00:${i}`, 'Laptop']);
      const file = await desk.file('macs.csv', [['Name', 'Serial', 'Mac', 'Category'], ...rows]);
      const first = await desk.import(file, JOB, { ...options, env: ONE_BY_ONE });
      if (nth) expect(first.exitCode).toBe(143);
      expect(outcomes(await desk.resume())).toEqual(all('created'));
      const again = await desk.import(file, JOB);
      expect(again.commits).toBe(0);
      const later = await desk.import(await sheet(), LATER);
      expect(outcomes(later)).toEqual(all('updated'));
      expect(macs()).toEqual(rows.map(([, , mac]) => mac));
    },
  );

  it('customers of an interrupted run are found by the next one', async () => {
    const options = await interruptedAt('POST', 5);
    const job = importOf('customer', 'name', { Name: 'name', City: 'city' });
    const rows = Array.from({ length: ROWS }, (_, i) => [`Customer ${i}`, 'Bern']);
    const file = await desk.file('customers.csv', [['Name', 'City'], ...rows]);
    await desk.import(file, job, { ...options, env: ONE_BY_ONE });
    expect(outcomes(await desk.resume())).toEqual(all('created'));
    const again = await desk.import(file, job);
    expect(outcomes(again)).toEqual(all('unchanged'));
    expect(again.commits).toBe(0);
  });
});
