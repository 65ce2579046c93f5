import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openCli, runCli } from '../../src/cli/program.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { capture } from './fake-io.js';

let cwd: string;
let sandbox: Sandbox;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-consent-'));
  sandbox = await startSandbox({ seed: 'demo' });
});
afterEach(async () => {
  await sandbox.close();
  await rm(cwd, { recursive: true, force: true });
});

/** `doctor --probe` on a terminal where a person types this. */
async function probe(keys: string) {
  const [stdout, stderr] = [capture(), capture(true)];
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  stdin.end(keys);
  const env = { ROWFERRY_API_URL: sandbox.url, ROWFERRY_API_TOKEN: sandbox.token };
  const code = await runCli(
    ['doctor', '--probe'],
    openCli({ env, cwd, stdin, stdout: stdout.stream, stderr: stderr.stream }),
  );
  return { code, out: stdout.text(), err: stderr.text() };
}

it.each(['', 'n', 'no', 'yeah'])('the probe writes nothing where a person answers "%s"', async (answer) => {
  const { code, err } = await probe(`${answer}\n`);
  expect(err).toContain('Go on? [y/N]');
  expect(err).toContain('these records stay');
  expect(err).toContain('Nothing was written.');
  expect(code).toBe(0);
  expect(sandbox.commits).toEqual([]);
});

it.each([
  ['Ctrl-C', '\x03', 130],
  ['Ctrl-D', '\x04', 0],
])('the probe writes nothing after %s', async (_, key, expected) => {
  const { code, err } = await probe(key);
  expect(err).toMatch(/Nothing was written\.\n$/);
  expect(code).toBe(expected);
  expect(sandbox.commits).toEqual([]);
});

it.each(['y', 'Yes'])('the probe runs where a person answers "%s"', async (answer) => {
  const { code, out } = await probe(`${answer}\n`);
  expect(code).toBe(0);
  expect(out).toMatch(/PATCH +changes the fields that are sent and keeps the others/);
  expect(sandbox.commits.length).toBeGreaterThan(3);
});

it('Ctrl-C where a password is asked for is the signal that it is elsewhere', async () => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const interrupted = new Promise((done) => process.once('SIGINT', () => done(stdin.end())));
  stdin.write('long-enough\x03');
  const [stdout, stderr] = [capture(), capture(true)];
  const cli = openCli({ env: {}, cwd, stdin, stdout: stdout.stream, stderr: stderr.stream });
  expect(await runCli(['console', 'user', 'add', 'mara', '--role', 'viewer'], cli)).toBe(2);
  await interrupted;
});
