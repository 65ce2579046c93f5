import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveSettings } from '../../src/runs/settings.js';
import { cliPath } from '../support/build.js';
import { cli } from './fake-io.js';

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-init-'));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

describe('init', () => {
  it('makes settings for this user alone, the example jobs and an inbox, and says what to do next', async () => {
    const { code, out } = await cli(['init', 'new/place'], { cwd });
    expect(code).toBe(0);
    const dir = join(cwd, 'new', 'place');
    expect(out).toMatch(/^Made in new\/place: \.env, jobs\/assets\.yaml, .*inbox\/$/m);
    expect(out).toMatch(/\.env[\s\S]*rowferry doctor[\s\S]*rowferry import .*assets-demo\.xlsx --job assets/);
    expect((await stat(join(dir, '.env'))).mode & 0o777).toBe(0o600);
    expect((await readdir(join(dir, 'jobs'))).sort()).toEqual((await readdir('jobs')).sort());
    expect((await readdir(dir)).sort()).toEqual(['.env', 'inbox', 'jobs']);
    // It can be used as it is: what is to be filled in counts as not set.
    const settings = resolveSettings({}, {}, dir);
    expect([settings.apiUrl, settings.auth, settings.inbox]).toEqual([undefined, undefined, join(dir, 'inbox')]);
    expect((await cli(['check', '--jobs-dir', join(dir, 'jobs')], { cwd })).code).toBe(0);
    const text = await readFile(join(dir, '.env'), 'utf8');
    expect((await stat(/All settings: (.+)/.exec(text)![1]!)).isFile()).toBe(true);
    const all = text.replace(/^# (ROWFERRY_\w+=)/gm, '$1');
    await writeFile(join(dir, '.env'), all);
    expect(resolveSettings({}, {}, dir)).toMatchObject({ company: 1, concurrency: 16, logLevel: 'info' });
  });

  it('changes nothing that is there, and says so', async () => {
    await mkdir(join(cwd, 'jobs'));
    await writeFile(join(cwd, 'jobs', 'assets.yaml'), 'mine');
    await writeFile(join(cwd, '.env'), 'ROWFERRY_INBOX=drop\n');
    const { out } = await cli(['init'], { cwd });
    expect(out).toContain('Left as they were: .env, jobs/assets.yaml\n');
    expect(await readFile(join(cwd, 'jobs', 'assets.yaml'), 'utf8')).toBe('mine');
    expect(await readFile(join(cwd, '.env'), 'utf8')).toBe('ROWFERRY_INBOX=drop\n');
    expect((await readdir(cwd)).sort()).toEqual(['.env', 'drop', 'jobs']);
    const again = await cli(['init'], { cwd });
    expect(again.out).not.toContain('Made in');
  });

  it('an inbox in the data folder does not open the data folder to others', async () => {
    await writeFile(join(cwd, '.env'), 'ROWFERRY_COMPANY=2\n');
    expect((await cli(['init'], { cwd })).out).toContain('.rowferry/inbox/');
    expect((await stat(join(cwd, '.rowferry'))).mode & 0o777).toBe(0o700);
  });

  it('keeps the token out of a git checkout', async () => {
    await mkdir(join(cwd, '.git'));
    expect((await cli(['init'], { cwd })).out).toContain('inbox/, .gitignore');
    expect(await readFile(join(cwd, '.gitignore'), 'utf8')).toMatch(/^\.env$/m);
    await writeFile(join(cwd, '.gitignore'), 'node_modules\n');
    expect((await cli(['init'], { cwd })).out).toContain('.gitignore does not list .env');
    expect(await readFile(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules\n');
  });

  it.skipIf(process.platform === 'win32')('leaves no half of a file that cannot be written, and says why', async () => {
    // No file may be longer than 512 bytes.
    const limited = ['-c', 'ulimit -f 1; exec "$@"', 'sh', process.execPath, await cliPath(), 'init'];
    const { status, stderr } = spawnSync('sh', limited, { cwd, encoding: 'utf8', env: { PATH: process.env['PATH'] } });
    expect(status).toBe(1);
    expect(stderr).toContain(`${join(cwd, '.env')}: could not be written because the file would be larger than`);
    expect(await readdir(cwd)).toEqual([]);
    expect((await cli(['init'], { cwd })).out).toContain('Made in .: .env');
  });

  it('refuses a blank name', async () => {
    const { code, err } = await cli(['init', ''], { cwd });
    expect([code, err]).toEqual([2, expect.stringContaining('The name of the folder is blank')]);
    expect(await readdir(cwd)).toEqual([]);
  });

  it('writes commands that can be pasted, also where the package lies in a folder with blanks', async () => {
    await symlink(process.cwd(), join(cwd, 'a b'));
    const command = (await cliPath()).replace(process.cwd(), join(cwd, 'a b'));
    const argv = ['--preserve-symlinks', '--preserve-symlinks-main', command, 'init', 'here'];
    const { stdout } = spawnSync(process.execPath, argv, { cwd, encoding: 'utf8' });
    expect(stdout).toMatch(/import "\S+a b\S+assets-demo\.xlsx" --job assets --dry-run/);
  });
});
