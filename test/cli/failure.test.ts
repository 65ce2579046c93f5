import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { presentFailure } from '../../src/cli/io.js';
import { openCli } from '../../src/cli/program.js';
import { executeRun } from '../../src/cli/run-command.js';
import { RunError } from '../../src/model/error.js';
import { noOutcomes } from '../../src/model/outcome.js';
import { resolveSettings } from '../../src/runs/settings.js';
import { capture } from './fake-io.js';

/** What `--json` prints of a run that throws, before or after it told of its progress. */
async function printed(begun: boolean, error: Error): Promise<unknown> {
  const cwd = await mkdtemp(join(tmpdir(), 'rowferry-failure-'));
  const [stdout, stderr] = [capture(), capture()];
  const cli = openCli({ env: {}, cwd, stdin: new PassThrough(), stdout: stdout.stream, stderr: stderr.stream });
  await executeRun(cli, resolveSettings({}, {}, cwd), { json: true }, ({ listener }) => {
    if (begun)
      listener.progress({ run: 'run-1', phase: 'writing', done: 2, outcomes: { ...noOutcomes(), created: 2 } });
    return Promise.reject(error);
  }).catch((thrown: unknown) => presentFailure(thrown, cli, { json: true }));
  await rm(cwd, { recursive: true, force: true });
  return JSON.parse(stdout.text());
}

const FULL = new RunError('failed', 'The disk is full.', ['make room']);

it('counts no row where no run began', async () => {
  expect(await printed(false, FULL)).toEqual({
    status: 'failed',
    error: 'The disk is full.',
    reason: 'The disk is full.',
    details: ['make room'],
    rows: { ...noOutcomes(), total: 0 },
    exit_code: 1,
  });
  // A run that is refused for its job leaves nothing behind, whatever it told before.
  expect(await printed(true, new RunError('usage', 'A column is missing.'))).toMatchObject({ rows: { total: 0 } });
});

it('names a run that began, and claims nothing of its rows', async () => {
  expect(await printed(true, FULL)).toEqual({
    status: 'failed',
    error: 'The disk is full.',
    reason: 'The disk is full.',
    details: ['make room'],
    run: 'run-1',
    exit_code: 1,
  });
});

it.each(['EFBIG', 'ENXIO'])('takes what the system refuses for no bug of its own: %s (39)', async (code) => {
  const refused = Object.assign(new Error(`${code}: write`), { code, syscall: 'write' });
  const { error, details } = (await printed(true, refused)) as { error: string; details: string[] };
  expect(`${error} ${details}`).toContain(code);
  expect(`${error} ${details}`).not.toContain('bug');
});
