import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { cliPath } from '../support/build.js';
import { openToOthers, run, type Started, start } from '../support/process.js';

const TOKEN = 'planted-token-4711';
const JOB = `kind: import
resource: asset
match: { key: serial_number, unique_field: serial_number }
columns:
  Name: name
  Serial: serial_number
  Cost: original_cost
`;

let cwd: string;
let sandbox: Sandbox | undefined;
let started: Started | undefined;

beforeAll(async () => {
  await cliPath();
});
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-cli-'));
  await writeFile(join(cwd, 'job.yaml'), JOB);
});
afterEach(async () => {
  if (started && started.child.exitCode === null) started.child.kill('SIGKILL');
  started = undefined;
  await sandbox?.close();
  sandbox = undefined;
  await rm(cwd, { recursive: true, force: true });
});

async function service(options: SandboxOptions = {}): Promise<Record<string, string>> {
  sandbox = await startSandbox({ token: TOKEN, ...options });
  return { ROWFERRY_API_URL: sandbox.url, ROWFERRY_API_TOKEN: TOKEN };
}

async function sheet(rows: number, bad = 0): Promise<string> {
  const lines = Array.from({ length: rows }, (_, i) => `Asset ${i},SER-${i},${i < bad ? 'cheap' : '10.50'}`);
  await writeFile(join(cwd, 'assets.csv'), `Name,Serial,Cost\n${lines.join('\n')}\n`);
  return 'assets.csv';
}

const serials = () => sandbox!.records('asset').map((asset) => String(asset['serial_number']));

describe('import', () => {
  it('prints the summary on stdout, and log lines on stderr, where stderr is a pipe', async () => {
    const env = await service();
    const { code, out, err } = await run(['import', await sheet(20, 2), '--job', 'job.yaml'], { cwd, env });
    expect(code).toBe(3);
    expect(out).toContain('18');
    expect(out).toContain('invalid');
    expect(out).toContain('rejected.csv');
    for (const line of err.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
    expect(out + err).not.toContain(TOKEN);
    expect(serials()).toHaveLength(18);
  });

  it('prints exactly one object with --json, the same as summary.json', async () => {
    const env = await service();
    const argv = ['import', await sheet(5), '--job', 'job.yaml', '--json', '--report', 'reports'];
    const { code, out } = await run(argv, { cwd, env });
    expect(code).toBe(0);
    const summary: unknown = JSON.parse(out);
    expect(summary).toMatchObject({ status: 'succeeded', rows: { created: 5, total: 5 } });
    expect(summary).toEqual(JSON.parse(await readFile(join(cwd, 'reports', 'summary.json'), 'utf8')));
  });

  it.each([
    ['000', 0o777, 0o666],
    ['077', 0o700, 0o600],
  ])('keeps the data folder to its user, and reports to the umask: %s (109)', async (umask, folder, file) => {
    const env = await service();
    await chmod(cwd, 0o777);
    await sheet(5, 2);
    await run(['import', 'assets.csv', '--job', 'job.yaml', '--report', 'out/reports'], { cwd, env, umask });
    await run(['export', 'asset', '-o', 'out/assets.csv'], { cwd, env, umask });
    expect(await openToOthers(join(cwd, '.rowferry'))).toEqual([]);
    const modeOf = async (name: string) => (await stat(join(cwd, 'out', name))).mode & 0o777;
    expect(await modeOf('.')).toBe(folder);
    expect(await modeOf('reports')).toBe(folder);
    for (const name of ['reports/summary.json', 'reports/rejected.csv', 'assets.csv'])
      expect(await modeOf(name)).toBe(file);
  });

  it('writes nothing in a dry run', async () => {
    const env = await service();
    const { code, out } = await run(['import', await sheet(5), '--job', 'job.yaml', '--dry-run', '--json'], {
      cwd,
      env,
    });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ dry_run: true, rows: { created: 5 }, requests: { writes: 0 } });
    expect(sandbox!.commits).toEqual([]);
  });

  it('ends with exit code 1 and one object where the token is refused', async () => {
    const env = { ...(await service()), ROWFERRY_API_TOKEN: 'another-token-0815' };
    const { code, out, err } = await run(['import', await sheet(5), '--job', 'job.yaml', '--json'], { cwd, env });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ status: 'failed' });
    expect(err).toMatch(/^error: .*token/m);
    expect(out + err).not.toContain('another-token-0815');
    expect(err).not.toMatch(/^\s+at /m);
  });
});

describe('signals', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s ends the run in good order with exit code %i, and resume writes no row twice',
    async (signal, expected) => {
      const env = await service({ latencyMs: 20 });
      const argv = ['import', await sheet(80), '--job', 'job.yaml', '--json', '--concurrency', '2'];
      started = await start(argv, { cwd, env });
      await commits(5);
      started.child.kill(signal);
      expect(await started.ended).toBe(expected);
      const summary: { run: string; status: string; rows: Record<string, number> } = JSON.parse(started.out());
      expect(summary.status).toBe('interrupted');
      expect(summary.rows['total']).toBe(80);
      expect(summary.rows['created']).toBeLessThan(80);
      expect(started.err()).toContain(`rowferry runs resume ${summary.run}`);

      const resumed = await run(['runs', 'resume', summary.run.slice(0, -1), '--json'], { cwd, env });
      expect(resumed.code).toBe(0);
      expect(JSON.parse(resumed.out)).toMatchObject({ run: summary.run, status: 'succeeded', rows: { created: 80 } });
      expect(new Set(serials()).size).toBe(80);
      expect(serials()).toHaveLength(80);
    },
  );

  it('a second signal ends the process at once', async () => {
    const env = await service({ faults: ['POST /asset timeout_after'] });
    started = await start(['import', await sheet(20), '--job', 'job.yaml'], { cwd, env });
    await commits(1);
    started.child.kill('SIGINT');
    await started.until((_, err) => err.includes('a second signal ends at once'));
    started.child.kill('SIGINT');
    expect(await started.ended).toBe(130);
    expect(started.out()).toBe('');
  });

  it('a command that has nothing to bring to an end says in one object that it was interrupted', async () => {
    const env = await service({ faults: ['GET * timeout_before'] });
    started = await start(['map', await sheet(1), '--resource', 'asset', '--json'], { cwd, env });
    await expect.poll(() => sandbox!.requests.total, { timeout: 15_000, interval: 10 }).toBeGreaterThan(0);
    started.child.kill('SIGTERM');
    expect(await started.ended).toBe(143);
    expect(JSON.parse(started.out())).toMatchObject({ status: 'interrupted', exit_code: 143 });
  });

  it('a probe that is interrupted says so in one object, and what it wrote until then', async () => {
    const env = await service({ seed: 'demo', latencyMs: 50 });
    started = await start(['doctor', '--probe', '--yes', '--json'], { cwd, env });
    await commits(1);
    started.child.kill('SIGTERM');
    expect(await started.ended).toBe(143);
    const details = [expect.stringMatching(/was created and stays/)];
    expect(JSON.parse(started.out())).toMatchObject({ status: 'interrupted', details, exit_code: 143 });
    expect(started.err()).toContain('was created and stays');
  });

  it('a worker that is told to end while it starts ends with 0, too', async () => {
    const early = "process.on('newListener', (name) => name === 'SIGTERM' && setImmediate(() => process.emit(name)))";
    const env = { ...(await service()), NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(early)}` };
    started = await start(['worker'], { cwd, env });
    expect(await started.ended).toBe(0);
    expect(started.err()).toBe('Interrupted.\n');
  });

  /** Until the service has taken this many writes. */
  async function commits(count: number): Promise<void> {
    await expect.poll(() => sandbox!.commits.length, { timeout: 15_000, interval: 10 }).toBeGreaterThanOrEqual(count);
  }
});

describe('sandbox', () => {
  it('prints how to use it, serves, and ends cleanly', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      started = await start(['sandbox', '--token', TOKEN, '--seed', 'empty'], { cwd });
      await started.until((_, err) => err.includes('Ctrl-C'));
      const url = /^export ROWFERRY_API_URL=(http:\/\/127\.0\.0\.1:\d+)$/m.exec(started.out())?.[1];
      expect(started.out()).toContain(`export ROWFERRY_API_TOKEN=${TOKEN}\n`);
      const answer = await fetch(`${url}/api/v2/asset/?company=1`, { headers: { authorization: `Bearer ${TOKEN}` } });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ count: 0, results: [] });
      started.child.kill(signal);
      expect(await started.ended).toBe(0);
    }
  });

  it('says that the port is in use', async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { code, err } = await run(['sandbox', '--port', String(port)], { cwd });
    other.close();
    expect(code).toBe(1);
    expect(err).toContain(`Port ${port} is in use`);
  });
});

describe('doctor', () => {
  it('asks before it probes: not outside a terminal', async () => {
    const env = await service();
    const asked = await run(['doctor', '--probe'], { cwd, env });
    expect(asked.code).toBe(2);
    expect(asked.err).toContain('--yes');
    expect(asked.out).toContain('✓ token');
    expect(sandbox!.commits).toEqual([]);
  });

  it('probes with --yes, and says what stays behind', async () => {
    const env = await service({ seed: 'demo' });
    const { code, out, err } = await run(['doctor', '--probe', '--yes'], { cwd, env });
    expect(code).toBe(0);
    expect(err).toContain('The service has no delete');
    expect(out).toMatch(/Left behind: asset \d+ "rowferry probe/);
    expect(out + err).not.toContain(TOKEN);
  });

  it('says in the object why a probe was left out', async () => {
    const env = { ...(await service({ seed: 'demo' })), ROWFERRY_API_TOKEN: 'another-token-0815' };
    const { code, out, err } = await run(['doctor', '--probe', '--yes', '--json'], { cwd, env });
    expect(code).toBe(1);
    const refused = 'The probe was left out: put right first what is marked ✗ (token).';
    expect(JSON.parse(out)).toMatchObject({ ok: false, probe: { refused } });
    expect(err).toContain(refused);
    expect(sandbox!.commits).toEqual([]);
  });

  it('prints one object with --json', async () => {
    const env = await service();
    const { code, out } = await run(['doctor', '--json'], { cwd, env });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true });
    expect(out).not.toContain(TOKEN);
  });
});

it('demo imports the demo spreadsheet, and ends well although rows need a person', async () => {
  // A folder of that name that somebody else made is left alone.
  await mkdir(join(cwd, '.rowferry', 'demo'), { recursive: true });
  await writeFile(join(cwd, '.rowferry', 'demo', 'mine.txt'), 'mine');
  const { code, out } = await run(['demo'], { cwd });
  expect(code).toBe(0);
  expect(out).toContain('report.html');
  expect(out).toContain('What to try next');
  const report = /Open (\S+report\.html)/.exec(out)?.[1];
  expect((await stat(resolve(cwd, report ?? 'none'))).size).toBeGreaterThan(1000);
  expect(await readFile(join(cwd, '.rowferry', 'demo', 'mine.txt'), 'utf8')).toBe('mine');
});

it('a reader that closes the pipe early is no fault', async () => {
  started = await start(['--help'], { cwd });
  started.child.stdout?.destroy();
  expect(await started.ended).toBe(0);
  expect(started.err()).toBe('');
});
