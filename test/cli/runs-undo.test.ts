import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { cli } from './fake-io.js';

let sandbox: Sandbox;
let cwd: string;

beforeEach(async () => {
  sandbox = await startSandbox({ token: 'test-token', responses: 'bare' });
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-undo-'));
  sandbox.insert('asset', [
    { name: 'Box', serial_number: 'S-1', room: 'R1', category: { id: 3, subcategory: 'Rack' } },
  ]);
  await writeFile(join(cwd, 'a.csv'), 'Serial,Name,Room\r\nS-1,,R2\r\nS-2,New,R3\r\n');
  await writeFile(
    join(cwd, 'assets.yaml'),
    'kind: import\nresource: asset\nmatch: { key: serial_number }\ncolumns: { Serial: serial_number, Name: name, Room: room }\nconstants: { category.name: Server, category.subcategory: Rack }\n',
  );
});
afterEach(async () => {
  await sandbox.close();
  await rm(cwd, { recursive: true, force: true });
});

const run = (...argv: string[]) =>
  cli(argv, {
    cwd,
    env: { ROWFERRY_API_URL: sandbox.url, ROWFERRY_API_TOKEN: 'test-token', ROWFERRY_SETTLE_WINDOW: '0.05,0.1' },
  });
const imported = async () => {
  const { code } = await run('import', 'a.csv', '--job', join(cwd, 'assets.yaml'), '--json');
  expect(code).toBe(0);
};
const rooms = () => sandbox.records('asset').map((record) => [record['room'], record['lifecycle_stage']]);

describe('runs undo', () => {
  it('rehearses, puts back, and takes the values that retire a record from its flags', async () => {
    await imported();
    const dry = await run('runs', 'undo', 'last', '--dry-run', '--retire', 'lifecycle_stage=Retired', '--json');
    expect(dry.code).toBe(0);
    expect(JSON.parse(dry.out)).toMatchObject({ kind: 'undo', dry_run: true, rows: { updated: 2, total: 2 } });
    const [first] = (JSON.parse((await run('runs', 'list', '--json')).out) as { runs: { run: string }[] }).runs.slice(
      -1,
    );
    const id = first?.run ?? '';
    const without = await run('runs', 'undo', id, '--report', 'undone', '--json');
    expect(without.code).toBe(3);
    expect(JSON.parse(without.out)).toMatchObject({ of_run: id, rows: { updated: 1, invalid: 1 }, status: 'partial' });
    expect(rooms()).toEqual([
      ['R1', null],
      ['R3', null],
    ]);
    const retired = await run('runs', 'undo', id, '--retire', 'lifecycle_stage=Retired', 'financial_notes=a=b');
    expect(retired.code).toBe(0);
    expect(rooms()).toEqual([
      ['R1', null],
      ['R3', 'Retired'],
    ]);
    expect(sandbox.raw('asset')[1]).toMatchObject({ financial_notes: 'a=b' });
    const { out } = await run('runs', 'list');
    const lines = out.trimEnd().split('\n').slice(1);
    expect(lines.map((line) => /import|undo/.exec(line)?.[0])).toEqual(['undo', 'undo', 'undo', 'import']);
    expect(lines[0]).toContain(id);
    expect((await run('runs', 'show', 'last')).out).not.toContain('assets.yaml');
  });

  it('after a rehearsal of `last` it names the run: the rehearsal is the last one now', async () => {
    await imported();
    const flags = ['--retire', 'lifecycle_stage=Retired'];
    const { out } = await run('runs', 'undo', 'last', '--dry-run', ...flags);
    const named = /without --dry-run, with the id of the run: rowferry runs undo ([\w-]+)/.exec(out)?.[1] ?? '';
    const again = await run('runs', 'undo', named, ...flags, '--json');
    expect(JSON.parse(again.out)).toMatchObject({ of_run: named, rows: { updated: 2 }, status: 'succeeded' });
  });

  it.each([
    ['a value without a field', ['--retire', 'Retired'], 'write field=value'],
    ['a field without a value', ['--retire', 'lifecycle_stage='], 'write field=value'],
    ['a field that is none', ['--retire', 'lifecycle_stag=Retired'], 'lifecycle_stage'],
    ['an option that is none', ['--apply'], '--apply'],
  ])('%s: exit code 2, and nothing is sent', async (_, flags, named) => {
    await imported();
    const sent = sandbox.commits.length;
    const { code, err } = await run('runs', 'undo', 'last', ...flags);
    expect([code, err]).toEqual([2, expect.stringContaining(named)]);
    expect(sandbox.commits).toHaveLength(sent);
  });
});

describe('runs retry', () => {
  it('of a run of which nothing failed says so', async () => {
    await imported();
    const { code, err } = await run('runs', 'retry', 'last');
    expect(code).toBe(2);
    expect(err).toContain('there is nothing to retry.');
  });
});

it.each(['undo', 'retry'])('runs %s needs the service, and says so', async (command) => {
  await imported();
  const { code, err } = await cli(['runs', command, 'last'], { cwd });
  expect(code).toBe(2);
  expect(err).toContain('ROWFERRY_API_URL');
});
