import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkJobs } from '../../src/runs/job-file.js';
import { type Desk, type Imported, openDesk } from '../support/desk.js';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk({ seed: 'demo' });
});

const jobOf = async (name: string) => parse(await readFile(join('jobs', `${name}.yaml`), 'utf8')) as object;

/** Rows that are not `unchanged`. */
const notable = ({ outcomes }: Imported) => outcomes.filter((one) => !one.endsWith(' unchanged'));

const stageOf = (id: number) => desk.sandbox.records('asset', 1).find((one) => one['id'] === id)?.['lifecycle_stage'];

describe('the job files that come with rowferry', () => {
  it('are fine, all of them', async () => {
    const checked = await checkJobs([], { jobsDir: 'jobs', cwd: process.cwd() });
    expect(checked).toHaveLength((await readdir('jobs')).length);
    expect(checked.flatMap(({ lines }) => lines)).toEqual([]);
    expect(checked.every(({ isValid }) => isValid)).toBe(true);
  });
});

describe('jobs/reconcile-assets.yaml', () => {
  it('tells of a first night what would be done, and does it where it is told to', async () => {
    const job = await jobOf('reconcile-assets');
    const monday = join('fixtures', 'erp-assets-monday.csv');
    const told = await desk.reconcile(monday, job);
    expect(told.summary.reason).toBeUndefined();
    expect([told.summary.dry_run, desk.sandbox.requests.writes]).toEqual([true, 0]);
    const expected = [
      '15 updated',
      '26 at_risk',
      '30 updated',
      '33 updated',
      '42 updated',
      '45 updated',
      '48 updated',
      '53 invalid',
      '118 duplicate',
      '119 created',
      '120 created',
    ];
    expect(notable(told)).toEqual(expected);

    const done = await desk.reconcile(monday, job, { apply: true });
    expect(done.summary.reason).toBeUndefined();
    expect(notable(done)).toEqual(expected);
    expect([done.exitCode, done.commits]).toEqual([3, 8]);
    const facts = done.summary.reconcile;
    // The custodian and one remark stand as the service has them.
    expect(facts?.differences).toMatchObject({ service_stands: 2, cleared: 1 });
    expect(facts?.scope).toMatchObject({ records: 120, outside: 180, described: 'category.name = Laptop' });
    // 63 is scrapped already. Nothing is done to what is missing for the first time.
    expect(facts?.orphans).toMatchObject({ total: 4, waiting: 3, settled: 1, acted: 0 });

    // The same file again: nothing is left to do, and it counts no second absence.
    const again = await desk.reconcile(monday, job, { apply: true });
    expect([again.commits, again.summary.reconcile?.orphans.waiting]).toEqual([0, 3]);
    expect(notable(again)).toEqual(['26 at_risk', '53 invalid', '118 duplicate']);

    const tuesday = await desk.reconcile(join('fixtures', 'erp-assets-tuesday.csv'), job, { apply: true });
    expect(tuesday.summary.reason).toBeUndefined();
    expect(notable(tuesday)).toEqual(['26 at_risk', '120 created']);
    expect(tuesday.summary.reconcile?.orphans).toMatchObject({ total: 4, fresh: 1, waiting: 1, acted: 2, settled: 1 });
    expect([62, 71, 74, 80].map(stageOf)).toEqual(['Retired', 'Retired', 'Deployed', 'Deployed']);
  });
});

describe('jobs/reconcile-contracts.yaml', () => {
  it('fits the file of the contracts job, and reports alone', async () => {
    const job = await jobOf('reconcile-contracts');
    const told = await desk.reconcile(join('fixtures', 'contracts.csv'), job, { force: true });
    expect(told.summary.reason).toBeUndefined();
    expect(desk.sandbox.requests.writes).toBe(0);
    expect(told.summary.rows.total).toBe(22);
    expect(told.summary.rows.created).toBe(0);
    expect(told.summary.reconcile?.scope.described).toBe('status = active and contract_type = buy_side');
  });
});
