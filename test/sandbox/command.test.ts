import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
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

it('rowferry sandbox misbehaves as it is told', async () => {
  started = await start(
    [
      'sandbox',
      '--token',
      TOKEN,
      '--seed',
      'empty',
      '--responses',
      'bare',
      '--fault',
      'POST * nth=2 status=503 execute',
    ],
    { cwd },
  );
  await started.until((_, err) => err.includes('Ctrl-C'));
  const url = /^export ROWFERRY_API_URL=(\S+)$/m.exec(started.out())?.[1];
  const example = /rowferry import (\S+) --job (\S+)$/m.exec(started.err())?.slice(1) ?? [];
  expect(example.map((path) => existsSync(path))).toEqual([true, true]);
  const call = (path: string, body?: object) =>
    fetch(`${url}/api/v2${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const first = await call('/asset', { company: 1, name: 'A', serial_number: 'SN-1' });
  expect([first.status, await first.text()]).toEqual([201, '']);
  expect((await call('/asset', { company: 1, name: 'B', serial_number: 'SN-12' })).status).toBe(503);
  expect(await (await call('/asset/?company=1&serial_number=SN-12')).json()).toMatchObject({ count: 1 });
  started.child.kill('SIGTERM');
  expect(await started.ended).toBe(0);
});

it('refuses what it does not know, in words, with exit code 2', async () => {
  const refused: [string[], RegExp][] = [
    [['--fault', 'POST /asset nth=x close_after'], /--fault: .*nth needs a number/],
    [['--responses', 'half'], /--responses/],
  ];
  for (const [flags, words] of refused) {
    const { code, err } = await run(['sandbox', ...flags], { cwd });
    expect([flags, code]).toEqual([flags, 2]);
    expect(err).toMatch(words);
  }
});
