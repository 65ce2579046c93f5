import { execFileSync } from 'node:child_process';
import { link, lstat, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { scanFolder } from '../../../src/worker/inbox/folders.js';
import { claimFile } from '../../../src/worker/inbox/inbox.js';
import { JOB, makePlace, names, only, type Place, until } from './dropping.js';

let place: Place;
beforeEach(async () => {
  place = await makePlace({ assets: JOB, others: JOB, nightly: 'kind: export\nresource: asset\n' });
});
afterEach(() => place.close());

const refused = async (job = 'assets'): Promise<string> => {
  await until('a refusal', async () => (await names(place.dir, 'failed', job)).length === 1);
  const folder = await only(place.dir, 'failed', job);
  expect(place.claims).toHaveLength(0);
  expect(await names(place.dir, 'processing', job)).toEqual([]);
  return folder;
};
const reason = (folder: string) => readFile(join(folder, 'ERROR.txt'), 'utf8');

it('refuses a symbolic link: the link is moved, its target is left alone (83)', async () => {
  await place.open();
  const target = join(place.root, 'secret.csv');
  await writeFile(target, 'Serial\nsecret\n');
  await symlink(target, join(place.dir, 'assets', 'a.csv'));
  const folder = await refused();
  expect(await names(folder)).toEqual(['ERROR.txt', 'a.csv']);
  expect((await lstat(join(folder, 'a.csv'))).isSymbolicLink()).toBe(true);
  expect(await reason(folder)).toContain('symbolic link');
  expect(await readFile(target, 'utf8')).toContain('secret');
  expect(place.logged.join()).toContain('symbolic link');
});

it('refuses a link that has the name of its own error report, and one that leads nowhere (83)', async () => {
  await place.open();
  const target = join(place.root, 'victim.txt');
  await writeFile(target, 'untouched');
  await symlink(target, join(place.dir, 'assets', 'ERROR.txt'));
  const folder = await refused();
  expect(await names(folder)).toEqual(['ERROR.txt', 'dropped-ERROR.txt']);
  expect(await readFile(target, 'utf8')).toBe('untouched');
  await symlink('/nowhere', join(place.dir, 'assets', 'b.csv'));
  await until('the second', async () => (await names(place.dir, 'failed', 'assets')).length === 2);
});

it('refuses a named pipe without waiting for its other end (83)', async () => {
  await place.open();
  execFileSync('mkfifo', [join(place.dir, 'assets', 'pipe.csv')]);
  expect(await reason(await refused())).toContain('named pipe');
});

it('refuses a socket (83)', async () => {
  await place.open();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(place.dir, 'assets', 's.csv'), resolve));
  try {
    expect(await reason(await refused())).toContain('socket');
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

it('refuses a file with several names (83)', async () => {
  await place.open();
  await writeFile(join(place.root, 'other.csv'), 'content');
  await link(join(place.root, 'other.csv'), join(place.dir, 'assets', 'a.csv'));
  const folder = await refused();
  expect(await reason(folder)).toContain('2 names');
});

it('refuses a file in the folder of no job, and names the jobs', async () => {
  await place.open();
  await place.drop('asets/a.csv');
  const text = await reason(await refused('asets'));
  expect(text).toContain('belongs to no job');
  expect(text).toMatch(/ {2}assets\n {2}others/);
});

it('refuses a file in the folder of a job of another kind', async () => {
  await place.open();
  await place.drop('nightly/a.csv');
  expect(await reason(await refused('nightly'))).toContain('is an export');
});

it('refuses at the start what a process that was killed had taken and not looked at (83)', async () => {
  const run = join(place.dir, 'processing', 'assets', '20260101T000000000Z-abcd');
  await mkdir(run, { recursive: true });
  await symlink('/etc/hostname', join(run, 'a.csv'));
  await place.open();
  expect(await reason(await refused())).toContain('symbolic link');
});

it('tries a refusal again that could not be carried out', async () => {
  const inbox = await place.open();
  await rm(join(place.dir, 'failed'), { recursive: true });
  await mkdir(join(place.dir, 'failed'));
  await writeFile(join(place.dir, 'failed', 'asets'), 'in the way');
  await place.drop('asets/a.csv');
  await until('it is told', () => place.notices.some((text) => text.includes('cannot be moved')));
  await inbox.rescan();
  await rm(join(place.dir, 'failed', 'asets'));
  await inbox.rescan();
  await refused('asets');
  expect(place.notices.filter((text) => text.includes('cannot be moved'))).toHaveLength(1);
});

it.each<[string, (path: string) => unknown]>([
  ['symbolic link', (path) => symlink(join(place.root, 'secret.csv'), path)],
  ['folder', (path) => mkdir(path)],
  ['named pipe', (path) => execFileSync('mkfifo', [path])],
  ['2 names', (path) => link(join(place.root, 'secret.csv'), path)],
])('refuses what took the place of a file between the look and the taking: %s (83)', async (kind, swap) => {
  await writeFile(join(place.root, 'secret.csv'), 'Serial\nsecret\n');
  const path = await place.drop('assets/a.csv');
  const { files } = await scanFolder(join(place.dir, 'assets'));
  const [dropped] = files;
  if (!dropped) throw new Error('nothing was dropped');
  await rm(path);
  await swap(path);
  // Whoever takes it moves what is there now, and opens nothing.
  await claimFile(place.dir, dropped);
  await place.open();
  const folder = await refused();
  expect(await reason(folder)).toContain(kind);
  expect(await readFile(join(place.root, 'secret.csv'), 'utf8')).toContain('secret');
});

it('refuses a device (83)', async ({ skip }) => {
  await place.open();
  const made = (() => {
    try {
      execFileSync('mknod', [join(place.root, 'zero'), 'c', '1', '5'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  })();
  if (!made) skip();
  await rename(join(place.root, 'zero'), join(place.dir, 'assets', 'zero.csv'));
  expect(await reason(await refused())).toContain('is a device');
});

it('takes nothing through a job folder that is a link, and says so once (83)', async () => {
  await mkdir(join(place.root, 'elsewhere'));
  await writeFile(join(place.root, 'elsewhere', 'a.csv'), 'Serial\nsecret\n');
  await mkdir(place.dir);
  await symlink(join(place.root, 'elsewhere'), join(place.dir, 'assets'));
  const inbox = await place.open();
  await place.drop('others/b.csv');
  await until('the other job goes on', () => place.claims.length === 1);
  await inbox.rescan();
  expect(place.claims[0]?.job).toBe('others');
  expect(place.notices.filter((text) => text.includes('must be a folder of its own, no link'))).toHaveLength(1);
  expect(await names(place.root, 'elsewhere')).toEqual(['a.csv']);
});

it('leaves a folder alone that is named like a spreadsheet (83)', async () => {
  const inbox = await place.open();
  await mkdir(join(place.dir, 'assets', 'x.csv'));
  await inbox.rescan();
  await inbox.rescan();
  expect(inbox.health().waiting).toBe(0);
  expect(await names(place.dir, 'assets')).toEqual(['README.txt', 'x.csv']);
});
