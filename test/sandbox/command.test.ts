import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { cliPath } from '../support/build.js';
import { run, type Started, start } from '../support/process.js';

const TOKEN = 'test-token';

let cwd: string;
let started: Started | undefined;

beforeAll(async () => {
  await cliPath();
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-sandbox-'));
});

afterEach(async () => {
  if (started && started.child.exitCode === null) started.child.kill('SIGKILL');
  await started?.ended;
  started = undefined;
});

afterAll(() => rm(cwd, { recursive: true, force: true }));

it('rowferry sandbox takes switches, a fault and a limit, and logs what took effect', async () => {
  started = await start(
    [
      ...['sandbox', '--token', TOKEN, '--seed', 'empty', '--switch', 'filters=contains', '--switch', 'responses=bare'],
      ...['--fault', 'POST * nth=2 status=503 execute', '--max-rps', '500', '--commit-log', 'commits.ndjson'],
    ],
    { cwd },
  );
  await started.until((_, err) => err.includes('Ctrl-C'));
  const url = /^export ROWFERRY_API_URL=(\S+)$/m.exec(started.out())?.[1];
  const call = (path: string, body?: object) =>
    fetch(`${url}/api/v2${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const first = await call('/asset', { company: 1, name: 'A', serial_number: 'SN-1' });
  expect([first.status, await first.text()]).toEqual([201, '']);
  // Each line is there before the client has its answer.
  expect((await logged()).map(({ id, method }) => [method, id])).toEqual([['POST', 1]]);
  expect((await call('/asset', { company: 1, name: 'B', serial_number: 'SN-12' })).status).toBe(503);
  expect(await logged()).toMatchObject([
    { sequence: 1, resource: 'asset', id: 1, body: '{"company":1,"name":"A","serial_number":"SN-1"}' },
    { sequence: 2, resource: 'asset', id: 2 },
  ]);
  expect(await (await call('/asset/?company=1&serial_number=SN-1')).json()).toMatchObject({ count: 2 });
  started.child.kill('SIGTERM');
  expect(await started.ended).toBe(0);
});

async function logged(): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(cwd, 'commits.ndjson'), 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

it('refuses what it does not know, in words, with exit code 2', async () => {
  const refused: [string[], RegExp][] = [
    [['--switch', 'filter=exact'], /--switch: There is no switch "filter"\. The switches are responses, filters/],
    [['--switch', 'patch=maybe'], /The switch patch is "maybe"; it must be on or off/],
    [['--switch', 'responses=bare', '--responses', 'full'], /say the same/],
    [['--fault', 'POST /asset nth=x close_after'], /nth needs a number/],
    [['--max-rps', '0'], /--max-rps <n>' argument '0' is invalid. It must be a whole number from 1/],
    [['--commit-log', 'no/such/folder.ndjson'], /--commit-log no\/such\/folder\.ndjson: ENOENT/],
  ];
  for (const [flags, words] of refused) {
    const { code, err } = await run(['sandbox', ...flags], { cwd });
    expect([flags, code]).toEqual([flags, 2]);
    expect(err).toMatch(words);
  }
});
