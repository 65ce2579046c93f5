import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { noOutcomes } from '../../src/model/outcome.js';
import { cli } from './fake-io.js';

/** Several runs that were told to put their reports into one folder. */

const KEPT = '20261119T020000000Z-00aa';
const LOST = '20261120T020000000Z-00bb';
const LAST = '20261121T020000000Z-00cc';

let cwd: string;

function summary(run: string, status: string) {
  return {
    run,
    job: 'assets',
    kind: 'import',
    resource: 'asset',
    company: 1,
    dry_run: false,
    status,
    source: { path: join(cwd, 'assets.csv'), sha256: 'ab', rows: 12 },
    rows: { ...noOutcomes(), updated: 12, total: 12 },
    requests: { total: 20, reads: 8, writes: 12, retries: 0 },
    warnings: [],
    top_faults: [],
    started_at: '2026-11-21T02:00:00.000Z',
    finished_at: '2026-11-21T02:01:00.000Z',
    seconds: 60,
    reports: ['results.csv', 'report.html'],
  };
}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-shared-'));
  const reportDir = join(cwd, 'reports');
  await mkdir(reportDir);
  for (const run of [KEPT, LOST, LAST]) {
    const dir = join(cwd, '.rowferry', 'runs', run);
    await mkdir(dir, { recursive: true });
    const request = { v: 1, kind: 'import', file: join(cwd, `${run}.csv`), job: { name: 'assets' }, reportDir };
    await writeFile(join(dir, 'run.json'), JSON.stringify(request));
    if (run === KEPT) await writeFile(join(dir, 'summary.json'), JSON.stringify(summary(KEPT, 'braked')));
  }
  await writeFile(join(reportDir, 'summary.json'), JSON.stringify(summary(LAST, 'succeeded')));
  await writeFile(join(reportDir, 'report.html'), '');
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const run = (...argv: string[]) => cli(['runs', ...argv], { cwd });

describe('of runs that share a folder for their reports', () => {
  it('each is listed as it ended itself', async () => {
    const { runs }: { runs: Record<string, unknown>[] } = JSON.parse((await run('list', '--json')).out);
    expect(runs.map((one) => [one['run'], one['status'], one['reports_of']])).toEqual([
      [LAST, 'succeeded', undefined],
      [LOST, 'unfinished', LAST],
      [KEPT, 'braked', LAST],
    ]);
    expect(runs[1]?.['file']).toBe(join(cwd, `${LOST}.csv`));
    expect(runs[1]).not.toHaveProperty('rows');
  });

  it('one that left no reports is shown with those of no other', async () => {
    const { out } = await run('show', LOST);
    expect(out).toContain(`Its reports are not in ${join(cwd, 'reports')}: those of the run ${LAST} are.`);
    expect(out).toContain(`rowferry runs resume ${LOST}`);
    expect(JSON.parse((await run('show', LOST, '--json')).out)).toMatchObject({ run: LOST, status: 'unfinished' });
  });

  it('one whose summary is kept is shown with it, and with no faults of another', async () => {
    const { out } = await run('show', KEPT);
    expect(out).toContain(`Its reports were in ${join(cwd, 'reports')}, where those of the run ${LAST} are now.`);
    expect(out).not.toMatch(/First faults|Reports:/);
    expect(JSON.parse((await run('show', KEPT, '--json')).out)).toEqual(summary(KEPT, 'braked'));
    const last = await run('show', LAST);
    expect(last.out).toMatch(/Reports: .*results\.csv/);
  });
});

test('reports that lie in the data folder are found there after it was moved', async () => {
  const dir = join(cwd, 'moved', 'runs', KEPT);
  await mkdir(dir, { recursive: true });
  const request = { v: 1, kind: 'import', file: 'a.csv', job: { name: 'assets' }, reportDir: `/before/runs/${KEPT}` };
  await writeFile(join(dir, 'run.json'), JSON.stringify(request));
  await writeFile(join(dir, 'summary.json'), JSON.stringify(summary(KEPT, 'succeeded')));
  await writeFile(join(dir, 'report.html'), '');
  const { out } = await run('show', KEPT, '--home', join(cwd, 'moved'));
  expect(out).toContain(`Reports: ${dir}: `);
  expect(out).not.toContain('removed');
});
