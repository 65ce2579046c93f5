import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noOutcomes } from '../../src/model/outcome.js';
import { findRun, undoneBy } from '../../src/runs/run/list.js';
import { takeLock } from '../../src/runs/run/lock.js';
import { RunStore } from '../../src/store/run-store.js';
import { cli } from './fake-io.js';

const DONE = '20261121T081502123Z-3f9a';
const KILLED = '20261121T081600000Z-00aa';
const RUNNING = '20261122T081600000Z-00bb';
const ELSEWHERE = '20261120T081600000Z-00cc';

let cwd: string;
const runDir = (run: string) => join(cwd, '.rowferry', 'runs', run);

function summary(run: string) {
  return {
    run,
    job: 'assets',
    kind: 'import',
    resource: 'asset',
    company: 1,
    dry_run: run === ELSEWHERE,
    status: 'partial',
    source: {
      path: join(cwd, 'assets.csv'),
      sha256: 'ab',
      format: 'csv',
      encoding: 'utf-8',
      delimiter: ',',
      sheet: null,
      header_row: 1,
      rows: 1204,
    },
    rows: { ...noOutcomes(), created: 1200, invalid: 3, unknown: 1, total: 1204 },
    requests: { total: 1300, reads: 100, writes: 1200, retries: 2 },
    warnings: [],
    top_faults: [{ code: 'reference_not_found', count: 3, column: 'Supplier', example: 'Acme Inc' }],
    started_at: '2026-11-21T08:15:02.123Z',
    finished_at: '2026-11-21T08:16:02.123Z',
    seconds: 60,
    reports: ['results.csv', 'faults.csv', 'report.html'],
  };
}

const request = (extra: object) =>
  JSON.stringify({
    v: 1,
    kind: 'import',
    file: join(cwd, 'assets.csv'),
    job: { name: 'assets' },
    dryRun: false,
    ...extra,
  });

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-runs-'));
  for (const run of [DONE, KILLED, RUNNING, ELSEWHERE]) await mkdir(runDir(run), { recursive: true });
  await mkdir(join(cwd, 'reports'));
  await mkdir(join(cwd, '.rowferry', 'runs', 'not-a-run'));
  await writeFile(join(runDir(DONE), 'run.json'), request({ reportDir: runDir(DONE) }));
  await writeFile(join(runDir(DONE), 'summary.json'), JSON.stringify(summary(DONE)));
  await writeFile(join(runDir(DONE), 'report.html'), '');
  const store = new RunStore(join(runDir(DONE), 'run.db'));
  store.rows.addOutcome({
    outcome: {
      ...{ ref: { row: 12 }, kind: 'invalid', key: 'K', attempts: 0, changed: [] },
      issues: [
        {
          ...{ code: 'reference_not_found', severity: 'error', origin: 'local', column: 'Supplier' },
          ...{ value: '=Acme "Inc"', message: 'No supplier has this name, do this' },
        },
      ],
    },
    diff: [],
  });
  store.close();
  await writeFile(join(runDir(KILLED), 'run.json'), request({ reportDir: runDir(KILLED) }));
  await writeFile(join(runDir(KILLED), 'lock'), '999999999 ');
  await writeFile(join(runDir(RUNNING), 'run.json'), request({ reportDir: runDir(RUNNING) }));
  await takeLock(join(runDir(RUNNING), 'lock'), 'The run');
  await writeFile(join(runDir(ELSEWHERE), 'run.json'), request({ reportDir: join(cwd, 'reports'), dryRun: true }));
  await writeFile(join(cwd, 'reports', 'summary.json'), JSON.stringify(summary(ELSEWHERE)));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const run = (...argv: string[]) => cli(['runs', ...argv], { cwd });

describe('runs list', () => {
  it('is a table of all runs, newest first; bare `runs` is the same', async () => {
    const { code, out } = await run('list');
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^RUN +WHEN +KIND +JOB +FILE +STATUS +ROWS +NEEDS A PERSON$/);
    expect(lines.slice(1).map((line) => line.split(' ')[0])).toEqual([RUNNING, KILLED, DONE, ELSEWHERE]);
    expect(lines[1]).toContain('running');
    expect(lines[2]).toContain('unfinished');
    expect(lines[3]).toMatch(/import +assets +\S*assets\.csv +partial +1,204 +4$/);
    expect(lines[4]).toContain('partial (dry run)');
    expect((await run()).out).toBe(out);
  });

  it('is one object with --json', async () => {
    const { out } = await run('list', '--json');
    const { runs }: { runs: unknown[] } = JSON.parse(out);
    expect(runs).toHaveLength(4);
    expect(runs[2]).toMatchObject({ run: DONE, status: 'partial', rows: 1204, needs_person: 4, job: 'assets' });
  });

  it('says where it looked if there are none', async () => {
    const { code, out } = await run('list', '--home', join(cwd, 'nowhere'));
    expect(code).toBe(0);
    expect(out).toContain('No runs in');
    expect(out).toContain('nowhere');
    await writeFile(join(cwd, 'afile'), '');
    expect(await run('list', '--home', join(cwd, 'afile'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('afile cannot be read (ENOTDIR)'),
    });
  });
});

describe('runs show', () => {
  it('shows the summary, the reports and the first faults', async () => {
    const { code, out } = await run('show', DONE);
    expect(code).toBe(0);
    expect(out).toContain('1,20');
    expect(out).toContain('report.html');
    expect(out).toContain(
      'row 12  Supplier  "=Acme \\"Inc\\""  reference_not_found: No supplier has this name, do this',
    );
  });

  it('finds a run by the beginning of its id, and `last`', async () => {
    expect(JSON.parse((await run('show', '20261121T0815', '--json')).out)).toEqual(summary(DONE));
    expect((await run('show', 'last')).out).toContain('It is running');
    expect((await run('show', KILLED)).out).toContain(`rowferry runs resume ${KILLED}`);
  });

  it('finds the reports of a run that went to another folder', async () => {
    expect(JSON.parse((await run('show', ELSEWHERE, '--json')).out)).toEqual(summary(ELSEWHERE));
  });

  it('asks for more where several runs begin so, and names what there is where none does', async () => {
    const several = await run('show', '20261121');
    expect(several.code).toBe(2);
    expect(several.err).toContain(DONE);
    expect(several.err).toContain(KILLED);
    const none = await run('show', '2025');
    expect(none.code).toBe(2);
    expect(none.err).toContain('runs list');
  });
});

it('runs resume needs the service, and says so before anything else', async () => {
  const { code, err } = await run('resume', 'last');
  expect(code).toBe(2);
  expect(err).toContain('ROWFERRY_API_URL');
});

describe('a run whose own files are damaged', () => {
  const DAMAGED = '20261123T081600000Z-00dd';
  const NO_REQUEST = '20261123T081700000Z-00ee';
  const runs = (...argv: string[]) => cli(['runs', ...argv], { cwd });
  beforeAll(async () => {
    for (const run of [DAMAGED, NO_REQUEST]) await mkdir(runDir(run), { recursive: true });
    await writeFile(join(runDir(DAMAGED), 'run.json'), request({}));
    await writeFile(join(runDir(DAMAGED), 'summary.json'), '{"run":');
    await writeFile(join(runDir(NO_REQUEST), 'run.json'), '');
  });
  afterAll(async () => {
    for (const run of [DAMAGED, NO_REQUEST]) await rm(runDir(run), { recursive: true });
  });

  it('is named, and the others are listed', async () => {
    const { code, out, err } = await runs();
    expect(code).toBe(0);
    expect(out).toContain(DONE);
    expect(out).not.toContain(DAMAGED);
    expect(err).toContain(`the run ${DAMAGED} is not listed: ${join(runDir(DAMAGED), 'summary.json')} cannot be read`);
    const listed = JSON.parse((await runs('list', '--json')).out);
    expect(listed.runs.map(({ run }: { run: string }) => run)).toContain(DONE);
    expect(listed.damaged).toEqual([
      { run: NO_REQUEST, reason: expect.stringContaining('run.json cannot be read') },
      { run: DAMAGED, reason: expect.stringContaining('summary.json cannot be read') },
    ]);
  });

  it('is passed over as the last, and says what is wrong where its id is given', async () => {
    expect((await runs('show', 'last')).out).toContain(RUNNING);
    const open = ({ run }: { run: string }) => run === KILLED;
    expect(await findRun(join(cwd, '.rowferry'), 'last', open)).toBe(KILLED);
    expect(await undoneBy(join(cwd, '.rowferry'), KILLED)).toBeUndefined();
    const { code, err } = await runs('show', DAMAGED);
    expect([code, err]).toEqual([1, expect.stringContaining('summary.json cannot be read')]);
  });

  it('may be the undo of another one where it has a list of records: that is not guessed', async () => {
    await mkdir(join(runDir(NO_REQUEST), 'work'));
    await writeFile(join(runDir(NO_REQUEST), 'work', 'source.ndjson'), '');
    await expect(undoneBy(join(cwd, '.rowferry'), KILLED)).rejects.toThrow('run.json cannot be read');
  });
});
