import { createHash } from 'node:crypto';
import { mkdtemp, open, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copyPrivately } from '../../src/files/atomic-write.js';

const SIZE = 40_000_000;
let folder: string;
let from: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rowferry-copy-'));
  from = join(folder, 'a.csv');
  await writeFile(from, Buffer.alloc(SIZE, 'old,row\n'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Copies while `disturb` happens over and over; its hash, or why it was refused. */
async function copied(disturb: (nth: number) => Promise<void>): Promise<string> {
  let copying = true;
  const copy = copyPrivately(from, join(folder, 'copy'))
    .then(
      ({ sha256 }) => sha256,
      (error: Error) => error.message,
    )
    .finally(() => {
      copying = false;
    });
  for (let nth = 0; copying && nth < 10_000; nth++) await disturb(nth);
  return copy;
}

const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');

it('a file that is overwritten while it is read is refused (58, 59)', async () => {
  const said = await copied(async (nth) => {
    const file = await open(from, 'r+');
    await file.write(Buffer.alloc(8, `n${nth}`), 0, 8, SIZE - 8);
    await file.write(Buffer.alloc(8, `n${nth}`), 0, 8, 0);
    await file.close();
  });
  expect(said).toContain('changed while it was read');
  expect(await readdir(folder)).toEqual(['a.csv']);
});

it('a file that shrinks while it is read is refused (58, 59)', async () => {
  const said = await copied((nth) => truncate(from, SIZE - 1 - nth));
  expect(said).toContain('changed while it was read');
  expect(await readdir(folder)).toEqual(['a.csv']);
});

it('a file that another one replaces while it is read is copied whole, as it was (59)', async () => {
  const old = sha256(await readFile(from));
  const said = await copied(async (nth) => {
    await writeFile(join(folder, 'new'), `new,${nth}\n`);
    await rename(join(folder, 'new'), from);
  });
  expect(said).toBe(old);
  expect(sha256(await readFile(join(folder, 'copy')))).toBe(old);
});
