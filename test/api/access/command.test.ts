import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { openCli, runCli } from '../../../src/cli/program.js';
import { startSandbox } from '../../../src/sandbox/index.js';
import { capture, cli } from '../../cli/fake-io.js';
import { type Started, start } from '../../support/process.js';

async function folder(): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), 'rowferry-console-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  return cwd;
}

const linkIn = (text: string): string => /http:\/\/\S+\/sign-in\?key=\S+/.exec(text)?.[0] ?? '';

async function ended(process: Started): Promise<void> {
  process.child.kill('SIGTERM');
  await process.ended;
}

it('prints a link that signs in; a second command prints one to the same console and ends', async () => {
  const cwd = await folder();
  const sandbox = await startSandbox({ seed: 'demo', token: 'test-token-of-the-console' });
  onTestFinished(() => sandbox.close());
  const bin = join(cwd, 'bin');
  const env = {
    ROWFERRY_API_URL: sandbox.url,
    ROWFERRY_API_TOKEN: 'test-token-of-the-console',
    ROWFERRY_HOME: join(cwd, 'home'),
    ROWFERRY_LOG_LEVEL: 'trace',
    // No browser opens.
    PATH: bin,
  };
  const console = await start(['console', '--port', '0', '--open'], { cwd, env });
  onTestFinished(() => ended(console));
  await console.until((out) => linkIn(out) !== '');
  const link = linkIn(console.out());
  const signedIn = await fetch(link, { redirect: 'manual' });
  expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/']);
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const { origin } = new URL(link);
  const session = await (await fetch(`${origin}/api/v1/session`, { headers: { cookie } })).json();
  expect(session).toMatchObject({ role: 'approver', via: 'link', service: sandbox.url, production: false });
  expect((session as { company_name: string }).company_name).toMatch(/\w/);
  const again = await fetch(link, { redirect: 'manual' });
  expect(again.headers.getSetCookie()).toEqual([]);

  const second = await start(['console'], { cwd, env });
  expect(await second.ended).toBe(0);
  expect(new URL(linkIn(second.out())).origin).toBe(origin);
  expect(linkIn(second.out())).not.toBe(link);
  expect(second.err()).toContain(`A worker with this data folder runs already, at ${origin}.`);

  // Nobody else on the machine learns a key: not from the process list, nor from a log.
  const { stdout } = await promisify(execFile)('ps', ['-eww', '-o', 'args']);
  const [key = '?', other = '?'] = [link, linkIn(second.out())].map(
    (one) => new URL(one).searchParams.get('key') ?? '?',
  );
  for (const said of [stdout, console.err(), second.err()]) {
    expect(said).not.toContain(key);
    expect(said).not.toContain(other);
  }
  expect((await stat(join(cwd, 'home', 'open-console.html'))).mode & 0o777).toBe(0o600);
}, 240_000);

it('the demo ends with a link to its run in the console, and with Ctrl-C', async () => {
  const cwd = await folder();
  const demo = await start(['demo', '--console'], { cwd });
  onTestFinished(() => ended(demo));
  await demo.until((out) => linkIn(out) !== '');
  const link = linkIn(demo.out());
  const signedIn = await fetch(link, { redirect: 'manual' });
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const session = await fetch(new URL('/api/v1/session', link), { headers: { cookie } });
  expect(await session.json()).toMatchObject({ company_name: 'Northwind Operations', role: 'approver' });
  demo.child.kill('SIGINT');
  expect(await demo.ended).toBe(0);
}, 240_000);

it('refuses to be reached by other machines while nobody may sign in', async () => {
  const cwd = await folder();
  const env = { ROWFERRY_HTTP: '0.0.0.0:0', ROWFERRY_API_URL: 'http://127.0.0.1:9', ROWFERRY_API_TOKEN: 'x' };
  const refused = await cli(['console'], { cwd, env });
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('rowferry console user add NAME --role')]);
  expect((await cli(['console'], { cwd, env: { ROWFERRY_HTTP: 'off' } })).code).toBe(2);
  for (const port of ['x', '99999']) {
    const wrong = await cli(['console', '--port', port], { cwd });
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining(`'--port <n>' argument '${port}' is invalid`)]);
  }
});

it('of two that begin at the same time one stays, and the other says that the queue is in use', async () => {
  const cwd = await folder();
  const sandbox = await startSandbox({ seed: 'empty', token: 'test-token' });
  onTestFinished(() => sandbox.close());
  const env = {
    ROWFERRY_API_URL: sandbox.url,
    ROWFERRY_API_TOKEN: 'test-token',
    ROWFERRY_HOME: join(cwd, 'home'),
    PATH: join(cwd, 'bin'),
  };
  // One that comes late finds the console of the other, and leads to it: then they did not begin at the same time.
  for (let code: unknown = 0, time = 0; code === 0; time++) {
    expect(time).toBeLessThan(5);
    const both = await Promise.all([1, 2].map(() => start(['console', '--port', '0'], { cwd, env })));
    const first = await Promise.race(both.map((one) => one.ended.then(() => one)));
    const stays = both.find((one) => one !== first)!;
    code = await first.ended;
    if (code !== 0) expect([code, first.err()]).toEqual([1, expect.stringContaining('has the embedded queue in')]);
    await stays.until((out) => linkIn(out) !== '');
    await ended(stays);
  }
});

it('keeps users and keys, their secrets as hashes alone', async () => {
  const cwd = await folder();
  const env = { ROWFERRY_HOME: join(cwd, 'home') };
  async function withInput(input: string, ...argv: string[]) {
    const [stdout, stderr] = [capture(), capture()];
    const stdin = new PassThrough();
    stdin.end(input);
    const code = await runCli(argv, openCli({ env, cwd, stdin, stdout: stdout.stream, stderr: stderr.stream }));
    return { code, out: stdout.text(), err: stderr.text() };
  }
  const add = ['console', 'user', 'add', 'mara', '--role', 'operator'];
  expect(await withInput('short\n', ...add)).toMatchObject({ code: 2, err: expect.stringContaining('10 characters') });
  expect((await withInput('correct horse battery\n', ...add)).code).toBe(0);
  expect(await withInput('correct horse battery\n', ...add)).toMatchObject({
    code: 2,
    err: expect.stringContaining('already'),
  });
  expect((await withInput('', 'console', 'user', 'add', 'x')).err).toContain('--role viewer|operator|approver');
  expect((await withInput('', 'console', 'user', 'add', '../x', '--role', 'viewer')).code).toBe(2);
  expect((await cli(['console', 'user', 'list'], { cwd, env })).out).toBe('mara\toperator\n');

  const key = await cli(['console', 'key', 'add', 'nightly', '--role', 'viewer'], { cwd, env });
  expect(key.out).toMatch(/^rowferry_[\w-]{43}\n$/);
  expect((await cli(['console', 'key', 'list'], { cwd, env })).out).toMatch(/^nightly\tviewer\t\d{4}-/);
  const files = await Promise.all(['users.json', 'keys.json'].map((name) => readFile(join(cwd, 'home', name), 'utf8')));
  expect(files.join('')).not.toMatch(/correct horse|rowferry_/);
  expect((await cli(['console', 'key', 'remove', 'nightly'], { cwd, env })).code).toBe(0);
  expect((await cli(['console', 'key', 'remove', 'nightly'], { cwd, env })).code).toBe(2);
  expect((await readdir(join(cwd, 'home'))).sort()).toEqual(['keys.json', 'users.json']);
  await writeFile(join(cwd, 'home', 'users.json'), '[{');
  expect((await cli(['console', 'user', 'list'], { cwd, env })).err).toContain('is damaged');
});

it('takes the data folder that a command of the console names', async () => {
  const cwd = await folder();
  for (const [kind, before, after] of [
    ['one', [], ['--home', 'here']],
    ['two', ['--home', 'there'], []],
  ] as const) {
    expect((await cli(['console', ...before, 'key', 'add', kind, '--role', 'viewer', ...after], { cwd })).code).toBe(0);
  }
  expect((await cli(['console', 'key', 'list', '--home', 'here'], { cwd })).out).toMatch(/^one\t/);
  expect((await readdir(cwd)).sort()).toEqual(['here', 'there']);
});
