import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type EnqueueOptions,
  enqueue,
  exportRecords,
  type ImportJob,
  type ImportOptions,
  importFile,
  openSandbox,
  type Progress,
  RowferryError,
  reconcileFile,
  resumeRun,
  type SandboxOptions,
} from '../../src/library/index.js';
import { type Desk, openDesk } from '../support/desk.js';

const JOB: ImportJob = {
  kind: 'import',
  resource: 'asset',
  match: { key: 'serial_number', unique_field: 'serial_number' },
  columns: { Name: 'name', Serial: 'serial_number', Cost: 'original_cost' },
};

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

/** A clean room: nothing of the machine's own settings reaches it. */
const room = () => ({
  settings: { apiUrl: desk.sandbox.url, apiToken: 'test-token', home: 'home', settleWindow: '0.05,0.1' },
  env: {},
  cwd: desk.dir,
});

async function sheet(name: string, rows: number, bad = 0): Promise<string> {
  const lines = Array.from({ length: rows }, (_, i) => `Asset ${i},${name}-${i},${i < bad ? 'cheap' : '10.50'}`);
  await desk.file(`${name}.csv`, `Name,Serial,Cost\n${lines.join('\n')}\n`);
  return `${name}.csv`;
}

const given = async (rows: number, more: Partial<ImportOptions> = {}): Promise<ImportOptions> => ({
  file: await sheet('a', rows),
  job: JOB,
  ...room(),
  ...more,
});

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as RowferryError,
  );

describe('runs of the library', () => {
  it('imports with a job as an object, by a path, and by its name', async () => {
    const file = await sheet('a', 5, 1);
    const { summary, exitCode, reportDir } = await importFile({ file, job: JOB, reportDir: 'reports', ...room() });
    expect(summary).toMatchObject({ status: 'partial', job: 'inline', rows: { created: 4, invalid: 1, total: 5 } });
    expect(exitCode).toBe(3);
    expect(reportDir).toBe(join(desk.dir, 'reports'));
    await mkdir(join(desk.dir, 'jobs'));
    await writeFile(join(desk.dir, 'jobs', 'assets.yaml'), JSON.stringify(JOB));
    for (const job of ['assets', 'jobs/assets.yaml']) {
      const again = await importFile({ file, job, ...room() });
      expect(again.summary).toMatchObject({ job: 'assets', rows: { unchanged: 4 }, requests: { writes: 0 } });
    }
    const dry = await importFile({ file: await sheet('b', 2), job: JOB, dryRun: true, ...room() });
    expect(dry.summary).toMatchObject({ dry_run: true, rows: { created: 2 } });
    expect(desk.sandbox.commits).toHaveLength(4);
  });

  it('exports by resource and filter, and reconciles', async () => {
    await importFile(await given(4));
    const { summary } = await exportRecords({
      resource: 'asset',
      output: 'out.csv',
      columns: ['name', 'serial_number'],
      filter: { serial_number: ['a-1', 'a-3'] },
      ...room(),
    });
    expect(summary).toMatchObject({ status: 'succeeded', records: 2 });
    expect(await readFile(join(desk.dir, 'out.csv'), 'utf8')).toContain('Asset 3,a-3');
    const wrong = { ...room(), output: 'out.csv', resource: 'assets' as 'asset' };
    expect(await refusal(exportRecords(wrong))).toMatchObject({ code: 'usage' });

    await desk.file('erp.csv', 'Name,Serial,Cost\nOther,a-1,10.50\n');
    const job = { ...JOB, kind: 'reconcile' as const };
    const night = await reconcileFile({ file: 'erp.csv', job, force: true, ...room() });
    expect(night.summary).toMatchObject({ kind: 'reconcile', dry_run: true, reconcile: { differences: { rows: 1 } } });
  });

  it('tells its progress to whoever iterates, the latest state only, and ends the iteration with the run', async () => {
    const run = importFile(await given(1_200));
    const seen: Progress[] = [];
    for await (const progress of run) {
      seen.push(progress);
      // A reader that sleeps while the run goes on: what it missed is not made up for.
      if (seen.length === 2) await run;
    }
    const { summary } = await run;
    expect(summary.status).toBe('succeeded');
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.length).toBeLessThanOrEqual(3);
    expect(seen.at(-1)).toMatchObject({ phase: 'reporting', run: summary.run });
    // After its end, and left early: both are over at once.
    for await (const { done } of run) expect(done).toBe(1_200);
    for await (const _ of run) break;
  });

  it('ends a run in order where its signal is aborted, and goes on with it', async () => {
    desk.sandbox.setLatency(5);
    const stop = new AbortController();
    const run = importFile({ ...(await given(400)), signal: stop.signal });
    for await (const { phase, outcomes } of run) if (phase === 'writing' && outcomes.created > 20) stop.abort();
    const { summary, exitCode } = await run;
    expect(summary).toMatchObject({ status: 'interrupted', rows: { total: 400 } });
    expect(exitCode).toBe(130);
    const { created, not_attempted: left } = summary.rows;
    expect(created + left).toBe(400);
    expect(left).toBeGreaterThan(0);
    desk.sandbox.setLatency(0);
    const { run: id } = summary;
    const resumed = await resumeRun({ run: id, ...room() });
    expect(resumed.summary).toMatchObject({ run: id, status: 'succeeded', rows: { created: 400 } });
    expect(desk.sandbox.commits).toHaveLength(400);
    expect(await refusal(importFile({ ...(await given(1)), signal: AbortSignal.abort() }))).toMatchObject({
      code: 'interrupted',
    });
  });

  it('carries out two runs at once in one process', async () => {
    const [a, b] = [await sheet('a', 300), await sheet('b', 300)];
    const runs = [a, b, a].map((file) => importFile({ file, job: JOB, ...room() }));
    const ended = await Promise.all(runs);
    expect(ended.map(({ summary }) => summary.status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(new Set(ended.map(({ summary }) => summary.run)).size).toBe(3);
    expect(desk.sandbox.commits).toHaveLength(600);
  });

  it('keeps what it makes private without touching the umask, and takes no listener', async () => {
    const umask = process.umask(0o022);
    const listeners = new Map(process.eventNames().map((name) => [name, process.listenerCount(name)]));
    try {
      const { reportDir } = await importFile(await given(3));
      expect(process.umask()).toBe(0o022);
      // What runs the test may let go of one meanwhile.
      const more = process.eventNames().filter((name) => process.listenerCount(name) > (listeners.get(name) ?? 0));
      expect(more).toEqual([]);
      const rights = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
      expect(await rights(desk.home)).toBe('700');
      expect(await rights(reportDir)).toBe('700');
      for (const file of [join(reportDir, 'run.db'), join(desk.home, 'home.db')])
        expect(await rights(file)).toBe('600');
      await exportRecords({ resource: 'asset', output: 'out.csv', ...room() });
      expect(await rights(join(desk.dir, 'out.csv'))).toBe('644');
    } finally {
      process.umask(umask);
    }
  });
});

describe('settings of a call', () => {
  it('win over the environment, which counts with .env unless the room is clean', async () => {
    await desk.file(
      '.env',
      `ROWFERRY_API_URL=${desk.sandbox.url}\nROWFERRY_API_TOKEN=test-token\nROWFERRY_COMPANY=77\n`,
    );
    const { env: _, ...surrounded } = room();
    const file = await sheet('a', 1);
    const ran = await importFile({ file, job: JOB, ...surrounded, settings: { home: 'home', company: 1 } });
    expect(ran.summary.company).toBe(1);
    const clean = await refusal(importFile({ file, job: JOB, cwd: desk.dir, env: {} }));
    expect(clean).toMatchObject({
      code: 'usage',
      details: [expect.stringContaining('ROWFERRY_API_URL'), expect.any(String)],
    });
  });

  it('are refused by the names that a program gave them', async () => {
    const settings = { ...room().settings, concurrency: 0, apiUri: 'x' };
    const error = await refusal(importFile({ ...(await given(1)), settings }));
    expect(error).toBeInstanceOf(RowferryError);
    expect(error?.details).toEqual([
      expect.stringMatching(/^settings\.apiUri is no setting of rowferry.*`?apiUrl/),
      expect.stringMatching(/^settings\.concurrency is "0"/),
    ]);
  });
});

describe('options', () => {
  it('that a call does not take are refused: a misspelt dry run is no run that writes', async () => {
    const misspelt = {
      ...(await given(1)),
      dryrun: true,
      dry_run: true,
      dryRun: 'yes',
      apply: false,
      company: '1',
      file: new URL('file:///a.csv'),
      log: 5,
      envFile: 5,
      onNotice: 'console',
    };
    const error = await refusal(importFile(misspelt as unknown as ImportOptions));
    expect(error).toMatchObject({
      code: 'usage',
      details: [
        '`file` must be text',
        '`dryrun` is no option of this call',
        '`dry_run` is no option of this call',
        '`dryRun` must be true or false',
        '`apply` is no option of this call',
        '`company` must be a whole number from 1',
        '`log` must be an object',
        '`envFile` must be text or false',
        '`onNotice` must be a function',
      ],
    });
    expect(desk.sandbox.commits).toHaveLength(0);
    const none = await refusal(importFile(undefined as unknown as ImportOptions));
    expect(none).toMatchObject({ code: 'usage', message: expect.stringContaining('one object with options') });
  });

  it('of an order whose file is no path are refused as its data', async () => {
    for (const file of [null, 5]) {
      const order = { kind: 'import', job: JOB, file, ...room() };
      const error = await refusal(enqueue(order as unknown as EnqueueOptions));
      expect(error).toMatchObject({ code: 'usage', details: [expect.stringMatching(/^`file` must be text/)] });
    }
  });
});

describe('errors', () => {
  it('have codes, and hold no secret', async () => {
    const missing = await refusal(importFile({ ...(await given(1)), file: 'b.csv' }));
    expect(missing).toMatchObject({ code: 'file_not_found', kind: 'failed' });
    const misfit = await refusal(importFile({ ...(await given(1)), job: { ...JOB, columns: { Nmae: 'name' } } }));
    expect(misfit).toMatchObject({ code: 'usage' });
    const shapeless = await refusal(importFile({ file: 'a.csv', ...room() } as ImportOptions));
    expect(shapeless).toMatchObject({ code: 'usage', message: expect.stringContaining('`job`') });
    const nameless = await refusal(importFile({ ...(await given(1)), file: null } as unknown as ImportOptions));
    expect(nameless).toMatchObject({ code: 'usage', message: expect.stringContaining('`file` is missing') });
    const settings = { ...room().settings, apiToken: 'test-token-that-is-wrong' };
    const refused = await importFile({ ...(await given(1)), settings });
    expect(refused).toMatchObject({
      summary: { status: 'failed' },
      exitCode: 1,
      error: { code: 'token_refused', status: 401 },
    });
    const job = { ...JOB, constants: { [settings.apiToken]: 'x' } };
    const misplaced = await refusal(importFile({ ...(await given(1)), job, settings }));
    expect(misplaced?.details.join()).toContain('[secret]');
    expect(inspect([misplaced, refused], { depth: 9 })).not.toContain('that-is-wrong');
    const told: string[] = [];
    const away = await importFile({
      ...(await given(1)),
      settings: { ...settings, apiUrl: 'http://127.0.0.1:1', patience: 0 },
      onNotice: ({ text }) => told.push(text),
      log: { error: (line) => told.push(JSON.stringify(line)), warn() {}, info() {}, debug() {} },
    });
    expect(away).toMatchObject({ summary: { status: 'failed' }, error: { code: 'service_unreachable' } });
    expect(JSON.stringify([refused.summary, away, told])).not.toContain('that-is-wrong');
  });

  it('end a braked run as a result, with its reports', async () => {
    const file = await sheet('a', 20, 15);
    const braked = await importFile({ file, job: { ...JOB, brakes: { max_invalid: '20%' } }, ...room() });
    expect(braked).toMatchObject({ exitCode: 4, summary: { status: 'braked' }, error: { code: 'braked' } });
    expect(desk.sandbox.commits).toHaveLength(0);
    const forced = await importFile({ file, job: { ...JOB, brakes: { max_invalid: '20%' } }, force: true, ...room() });
    expect(forced.summary.rows.created).toBe(5);
  });
});

describe('the sandbox of the library', () => {
  const opened = (options: unknown) => refusal(openSandbox(options as SandboxOptions));

  it.each([
    [null, 'The call takes one object with options'],
    [{ prot: 1 }, '`prot` is no option of this call'],
    [{ port: 'abc' }, '`port` must be a whole number from 0 to 65535'],
    [{ port: 99_999 }, '`port` must be'],
    [{ seed: 'nope' }, '`seed` must be one of: demo, empty'],
    [{ latencyMs: 'abc' }, '`latencyMs` must be'],
    [{ latencyMs: -5 }, '`latencyMs` must be'],
    [{ token: 5 }, '`token` must be text, or a list of texts'],
    [{ faults: 'text' }, '`faults` must be a list of faults'],
    [{ faults: [{}] }, '`faults` must be a list of faults'],
    [{ faults: ['POST'] }, 'The fault "POST" cannot be read'],
    [{ switches: { lagg: 1 } }, '`switches` must be'],
    [{ responses: 'some' }, '`responses` must be one of: full, bare'],
    [{ onCommit: 1 }, '`onCommit` must be a function'],
  ])('refuses %j', async (options, words) => {
    const error = await opened(options);
    expect(error).toBeInstanceOf(RowferryError);
    expect([error?.code, [error?.message, ...(error?.details ?? [])].join(' ')]).toEqual([
      'usage',
      expect.stringContaining(words),
    ]);
  });

  it('takes everything that is documented, and says that a port is taken', async () => {
    const sandbox = await openSandbox({
      ...{ seed: 'demo', token: ['a', 'b'], latencyMs: 0, faults: ['POST /asset nth=3 status=503'] },
      switches: { responses: 'bare', lag: 5, wraps: true },
    });
    try {
      const taken = await opened({ port: sandbox.port });
      expect(taken).toBeInstanceOf(RowferryError);
      expect(taken).toMatchObject({
        code: 'failed',
        message: expect.stringContaining(`Port ${sandbox.port} is in use`),
      });
    } finally {
      await sandbox.close();
    }
  });

  it('a blank file name is said to be one', async () => {
    expect(await refusal(importFile({ ...(await given(1)), file: ' ' }))).toMatchObject({
      code: 'usage',
      message: expect.stringContaining('The file name is blank'),
    });
  });
});
