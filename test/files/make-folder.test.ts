import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder, probeFolder } from '../../src/files/make-folder.js';

const HOME = { what: 'data folder', namedBy: '--home or ROWFERRY_HOME' };

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-folder-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const fault = (work: Promise<unknown>) => work.then(String, (error: Error) => `${error.name}: ${error.message}`);

test('makes what is missing, level by level, and tells the topmost it made', async () => {
  expect(await makeFolder(join(dir, 'a', 'b', 'c'), HOME)).toBe(join(dir, 'a'));
  expect(await makeFolder(join(dir, 'a', 'b', 'd'), HOME)).toBe(join(dir, 'a', 'b', 'd'));
  expect(await makeFolder(join(dir, 'a', 'b', 'd'), HOME)).toBeUndefined();
  expect(await readdir(join(dir, 'a', 'b'))).toEqual(['c', 'd']);
});

test('many at once are no hindrance to one another', async () => {
  await Promise.all(Array.from({ length: 20 }, () => makeFolder(join(dir, 'x', 'y', 'z'), HOME)));
  expect((await stat(join(dir, 'x', 'y', 'z'))).isDirectory()).toBe(true);
});

test('says which part is a file, also where the whole path is one', async () => {
  const file = join(dir, 'file');
  await writeFile(file, 'mine');
  for (const path of [file, join(file, 'home'), join(file, 'deep', 'home')]) {
    expect(await fault(makeFolder(path, HOME))).toBe(
      `RunError: The data folder ${file} cannot be made: something on the way is no folder. Name another folder with --home or ROWFERRY_HOME.`,
    );
  }
});

test('says where a link leads nowhere', async () => {
  await symlink(join(dir, 'gone', 'far'), join(dir, 'link'));
  expect(await fault(makeFolder(join(dir, 'link', 'a'), HOME))).toContain(
    `${join(dir, 'link')} cannot be made: EEXIST`,
  );
});

test.runIf(process.platform === 'linux')('ends where a level exists and takes no folders', async () => {
  expect(await fault(makeFolder('/proc/rowferry/deep/home', HOME))).toBe(
    'RunError: The data folder /proc/rowferry cannot be made: it is not there. Name another folder with --home or ROWFERRY_HOME.',
  );
  expect(await fault(probeFolder('/proc/rowferry', { what: 'report folder', namedBy: '--report' }))).toContain(
    'The report folder /proc/rowferry cannot be made: it is not there. Name another folder with --report.',
  );
  expect(await fault(probeFolder('/proc', HOME))).toContain('The data folder /proc cannot be written');
});

test.runIf(process.platform === 'linux')('a trial says so where nothing can be looked for', async () => {
  const deep = join(dir, ...Array.from({ length: 20 }, () => 'd'.repeat(200)));
  const path = join(deep, 'e'.repeat(4_090 - deep.length));
  expect(await fault(probeFolder(path, HOME))).toContain('cannot be written: the name is too long');
  expect(await readdir(dir)).toEqual([]);
});

test('a trial leaves nothing behind, and takes nothing away', async () => {
  await probeFolder(join(dir, 'a', 'b'), HOME);
  expect(await readdir(dir)).toEqual([]);
  await mkdir(join(dir, 'mine'));
  await probeFolder(join(dir, 'mine'), HOME);
  await probeFolder(join(dir, 'mine', 'new'), HOME);
  expect(await readdir(dir)).toEqual(['mine']);
  expect(await readdir(join(dir, 'mine'))).toEqual([]);
});
