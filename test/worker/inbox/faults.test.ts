import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makePlace, names, type Place, until } from './dropping.js';

let place: Place;
let mounted: string | undefined;
beforeEach(async () => {
  place = await makePlace();
});
afterEach(async () => {
  unmount();
  await place.close();
});

function unmount(): void {
  if (mounted !== undefined) execFileSync('umount', ['-l', mounted]);
  mounted = undefined;
}

/** False where this user may not mount a disk. */
function mount(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    mounted = folder;
    return true;
  } catch {
    return false;
  }
}

const told = (part: string) => place.notices.filter((text) => text.includes(part));

it('says once that a folder lies on another disk, and goes on when it does not', async ({ skip }) => {
  await mkdir(join(place.dir, 'assets'), { recursive: true });
  if (!mount(join(place.dir, 'assets'))) skip();
  const inbox = await place.open();
  await place.drop('assets/a.csv');
  await until('it is told', () => told('different disks').length > 0);
  await inbox.rescan();
  await until('it is tried again', async () => {
    await inbox.rescan();
    return inbox.health().waiting === 1;
  });
  expect(told('different disks')).toHaveLength(1);
  expect(told('different disks')[0]).toContain(join(place.dir, 'assets', 'a.csv'));
  expect(await names(place.dir, 'processing', 'assets')).toEqual([]);
  unmount();
  await place.drop('assets/b.csv');
  await until('an offer', () => place.claims.length === 1);
});

it('makes nothing in the folder where its disk was mounted', async ({ skip }) => {
  await mkdir(place.dir);
  if (!mount(place.dir)) skip();
  const inbox = await place.open();
  unmount();
  await inbox.rescan();
  expect(inbox.health().problem).toContain('what was in it is gone');
  expect(await names(place.dir)).toEqual([]);
});

it('says once that a file may not be moved', async ({ skip }) => {
  const nobody = 65_534;
  if (process.getuid?.() !== 0) skip();
  await (await place.open()).close();
  await chmod(place.root, 0o755);
  for (const name of ['', '.ledger', 'processing', 'done', 'failed']) {
    await chown(join(place.dir, name), nobody, nobody);
  }
  await chmod(join(place.dir, 'assets'), 0o555);
  await place.drop('assets/a.csv');
  const worker = await place.start('inbox-process', { uid: nobody });
  const warned = () => worker.lines.filter((line) => line.includes('cannot be taken'));
  await until('it is told', () => warned().length > 0, 40_000);
  await chmod(join(place.dir, 'assets'), 0o777);
  await until('it is taken', () => worker.lines.some((line) => line.includes('"claim"')));
  expect(warned()).toHaveLength(1);
  expect(await names(place.dir, '.ledger', 'assets')).toHaveLength(1);
  expect(warned()[0]).toContain('has no right');
});
