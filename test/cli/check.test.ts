import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cli } from './fake-io.js';

const GOOD =
  'kind: import\nresource: asset\nmatch: { key: serial_number }\ncolumns:\n  Name: name\n  Serial: serial_number\n';
const BAD =
  'kind: import\nresource: asset\nmatch: { key: serial_number }\ncolums:\n  Name: name\ncolumns:\n  Serial: serial_numbr\n';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-check-'));
  await mkdir(join(cwd, 'jobs'));
  await writeFile(join(cwd, 'jobs', 'good.yaml'), GOOD);
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

it('says that good files are fine', async () => {
  expect(await cli(['check', join(cwd, 'jobs', 'good.yaml')], { cwd })).toEqual({
    code: 0,
    out: '1 job file is fine\n',
    err: '',
  });
});

it('checks the whole folder where none is named', async () => {
  await writeFile(join(cwd, 'jobs', 'other.yml'), GOOD);
  for (const argv of [['check'], ['check', join(cwd, 'jobs')]]) {
    const { code, out } = await cli(argv, { cwd });
    expect(code).toBe(0);
    expect(out).toBe('2 job files are fine\n');
  }
});

it('lists every problem as file:line:column', async () => {
  await writeFile(join(cwd, 'jobs', 'bad.yaml'), BAD);
  const { code, out } = await cli(['check', 'good', 'bad'], { cwd });
  expect(code).toBe(2);
  const lines = out.trimEnd().split('\n');
  expect(lines.filter((line) => /^jobs\/bad\.yaml:\d+:\d+ /.test(line)).length).toBeGreaterThanOrEqual(2);
  expect(out).toMatch(/^jobs\/bad\.yaml:4:1 .*colums/m);
  expect(out).toContain('serial_number');
  expect(lines.at(-1)).toBe('1 of 2 job files cannot be run');
});

it('goes on after a file that does not exist', async () => {
  await writeFile(join(cwd, 'jobs', 'bad.yaml'), BAD);
  const { code, out, err } = await cli(['check', 'nope', 'bad'], { cwd });
  expect(code).toBe(2);
  expect(err).toContain('nope');
  expect(out).toContain('jobs/bad.yaml:');
});

it('checks export jobs beside import jobs', async () => {
  await writeFile(join(cwd, 'jobs', 'out.yaml'), 'kind: export\nresource: user\noutput: exports/users-{date}.csv\n');
  expect((await cli(['check'], { cwd })).out).toBe('2 job files are fine\n');
  await writeFile(
    join(cwd, 'jobs', 'out.yaml'),
    'kind: export\nresource: user\noutput: users.txt\nmatch: { key: id }\n',
  );
  const { code, out } = await cli(['check', 'out'], { cwd });
  expect(code).toBe(2);
  expect(out).toMatch(/^jobs\/out\.yaml:3:9 `output` is "users\.txt"; \.txt is not written/m);
  expect(out).toMatch(/^jobs\/out\.yaml:4:1 `match` belongs to import jobs/m);
});
