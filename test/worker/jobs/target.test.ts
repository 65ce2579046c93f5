import { link, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTarget, OutsideRoots, type TargetFolders, targetBelowRoots } from '../../../src/worker/jobs/roots.js';

let dir: string;
let folders: TargetFolders;
const at = (...parts: string[]) => join(dir, ...parts);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-target-'));
  folders = {
    roots: [at('work', '.home'), at('drop'), at('work'), at('share')],
    home: at('work', '.home'),
    inbox: at('drop'),
    jobsDir: at('work', 'jobs'),
    ownFiles: [at('work', '.home', 'audit.ndjson'), at('work', '.home', 'none.ndjson')],
  };
  for (const folder of [
    'work/.home/runs',
    'work/.home/exports',
    'work/jobs/old',
    'work/data',
    'drop/assets',
    'share/out',
  ]) {
    await mkdir(at(folder), { recursive: true });
  }
  await mkdir(at('secret'));
  await mkdir(at('worker'));
  for (const file of ['work/data/a.csv', 'secret/s.csv', 'work/.home/audit.ndjson']) await writeFile(at(file), 'old');
  await symlink(at('secret/s.csv'), at('work/out.csv'));
  await symlink(at('secret/none.csv'), at('work/out-none.csv'));
  await symlink('../secret', at('work/out-folder'));
  await symlink('data/a.csv', at('work/in.csv'));
  await symlink('data/later.csv', at('work/in-none.csv'));
  await symlink(at('share'), at('work/shared'));
  await symlink(at('drop/assets'), at('work/to-drop'));
  await symlink('circle.csv', at('work/circle.csv'));
  await link(at('secret/s.csv'), at('work/hard.csv'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const placed = (file: string) => targetBelowRoots(file, folders);
const refusal = (file: string) =>
  // After a sign: absolute.
  makeTarget(file.startsWith('@') ? at(file.slice(1)) : file, folders).then(
    (path) => `made ${path}`,
    (error: Error) => (error instanceof OutsideRoots ? 'outside' : error.message),
  );

describe('the file that an export of the queue writes', () => {
  it('lies below the first folder, where its path is relative', async () => {
    expect(await placed('a.csv')).toBe(at('work/a.csv'));
    expect(await placed('data/a.csv')).toBe(at('work/data/a.csv'));
    expect(await placed('out/b.csv')).toBe(at('work/out/b.csv'));
    expect(await placed('new/2026/b.csv')).toBe(at('work/new/2026/b.csv'));
    expect(await placed('data/../data//b.csv')).toBe(at('work/data/b.csv'));
    expect(await placed(at('share/b.csv'))).toBe(at('share/b.csv'));
    expect(await readdir(at('work'))).not.toContain('new');
  });

  it('gets the folders that are missing', async () => {
    expect(await makeTarget('new/2026/b.csv', folders)).toBe(at('work/new/2026/b.csv'));
    expect((await stat(at('work/new/2026'))).isDirectory()).toBe(true);
    expect(await readdir(at('work/new/2026'))).toEqual([]);
    expect(await makeTarget('new/2026/b.csv', folders)).toBe(at('work/new/2026/b.csv'));
  });

  it('may be named by links that stay inside', async () => {
    expect(await placed('in.csv')).toBe(at('work/data/a.csv'));
    expect(await placed('in-none.csv')).toBe(at('work/data/later.csv'));
    expect(await placed('shared/x/b.csv')).toBe(at('share/x/b.csv'));
  });

  it.each(['secret/s.csv', 'secret/none.csv', 'secret/new/none.csv', 'worker/w.csv', 'none.csv'])(
    'outside is refused, whether anything is there or not, and nothing is made: %s (84)',
    async (file) => {
      expect(await refusal(at(file))).toBe('outside');
      expect(await refusal(`../${file}`)).toBe('outside');
      expect(await refusal(`data/../../${file}`)).toBe('outside');
      expect(await readdir(at('secret'))).toEqual(['s.csv']);
    },
  );

  it.each(['out.csv', 'out-none.csv', 'out-folder/s.csv', 'out-folder/none.csv', 'out-folder/new/none.csv'])(
    'is refused where a link leads out: %s (84)',
    async (file) => {
      expect(await refusal(file)).toBe('outside');
      expect(await readdir(at('secret'))).toEqual(['s.csv']);
    },
  );

  it.each(['.env.csv', '.git/a.csv', 'data/.x/a.csv', '@work/.ssh/a.csv'])(
    'hidden is refused: %s (84)',
    async (file) => {
      expect(await refusal(file)).toContain('is hidden');
    },
  );

  it.each([
    'inbox/assets/a.csv',
    '@drop/a.csv',
    'to-drop/a.csv',
    'jobs/a.csv',
    '@work/.home/runs/x/results.csv',
    '@work/.home/uploads/a.csv',
    '@work/.home/service/a.csv',
    '@work/.home/audit.ndjson',
    '@work/.home/none.ndjson',
  ])('among what has another purpose is refused: %s (84)', async (file) => {
    expect(await refusal(file)).toContain('in the drop folder, in the jobs folder or among what rowferry keeps');
  });

  it.each(['data\\..\\..\\secret\\x.csv', '%2e%2e/secret/x.csv', 'data/%2e%2e/%2e%2e/x.csv', '~/x.csv', '$HOME/x.csv'])(
    'is meant letter by letter: nothing is decoded into a way out: %j (84)',
    async (file) => {
      expect(await placed(file)).toBe(at('work', file));
      expect(await readdir(at('secret'))).toEqual(['s.csv']);
    },
  );

  it.each(['..%2fsecret%2fx.csv', '..\\secret\\x.csv', '../secret/x.csv', 'data/../../secret/x.csv'])(
    'that begins with points is refused: %j (84)',
    async (file) => expect(await refusal(file)).toMatch(/hidden|^outside$/),
  );

  it.each(['data/a\0.csv', 'data/a.csv\0/../../../secret/x.csv', '@work/\0.csv'])(
    'with a NUL is no path: %j (84)',
    async (file) => expect(await refusal(file)).toContain('is no path'),
  );

  it('replaces a plain file only (83, 84)', async () => {
    expect(await refusal('data')).toContain('is a folder');
    expect(await refusal('data/')).toContain('is a folder');
    expect(await refusal('shared')).toContain('is a folder');
    expect(await refusal('circle.csv')).toContain('circle');
    expect(await refusal('a\0.csv')).toContain('is no path');
    expect(await refusal('')).toContain('is no path');
    expect(await refusal('data/a.csv/b.csv')).toContain('has a file where a folder should be: a.csv');
    // Its other name keeps what it is: a new file takes the place of this name alone.
    expect(await placed('hard.csv')).toBe(at('work/hard.csv'));
    const server = createServer().listen(at('work/socket.csv'));
    await new Promise((resolve) => server.once('listening', resolve));
    try {
      expect(await refusal('socket.csv')).toContain('is a pipe or device');
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('may lie deeper in the jobs folder, where no job files are', async () => {
    expect(await placed('jobs/old/a.csv')).toBe(at('work/jobs/old/a.csv'));
  });
});
