import { mkdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inlineJob } from '../../../src/runs/job-file.js';
import { type Claim, endedPrefix } from '../../../src/worker/inbox/claim.js';
import { DropFolder } from '../../../src/worker/inbox/drop-folder.js';
import { ClaimArchive } from '../../../src/worker/jobs/archive.js';
import { importOf } from '../../support/jobs.js';
import { makePlace, names, only, type Place, until } from './dropping.js';

const JOB = importOf('asset', 'serial_number', { Serial: 'serial_number', Name: 'name' });
const IMPORT = inlineJob('import', JOB);
const REPEATING = inlineJob('import', { ...JOB, repeat: true });
const RECONCILE = inlineJob('reconcile', { ...JOB, kind: 'reconcile' });

let place: Place;
beforeEach(async () => {
  place = await makePlace();
});
afterEach(() => place.close());

/** Drops the same content under these names, and waits for all claims. */
async function dropped(...files: string[]): Promise<readonly Claim[]> {
  const before = place.claims.length;
  await Promise.all(files.map((name) => place.drop(`assets/${name}`, 'Serial,Name\nS-1,one\n')));
  await until('all are taken', () => place.claims.length === before + files.length);
  return place.claims.slice(before);
}

describe('the same content dropped again', () => {
  it.each([
    ['a reconcile job', RECONCILE],
    ['a job that says repeat: true', REPEATING],
  ])('is run every time for %s, also at once, and leaves no note (60)', async (_, job) => {
    await place.open();
    const claims = place.folder;
    const [first, ...others] = await dropped('a.csv', 'b.csv', 'c.csv');
    if (!first) throw new Error('no claim');
    const verdicts = await Promise.all([first, ...others].map((claim) => claims.check(claim, job, 1)));
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['run', 'run', 'run']);
    const folder = await claims.end(first, { place: 'done', result: 'imported', finished: true });
    expect(await names(folder)).toEqual([first.name]);
    const [again] = await dropped('a.csv');
    expect(again && (await claims.check(again, job, 1)).verdict).toBe('run');
  });

  it('for an import job is put away with a note that names the first run, its file and its reports (60)', async () => {
    await place.open();
    const claims = place.folder;
    const home = join(place.root, 'home');
    await mkdir(home);
    const [first] = await dropped('monday.csv');
    if (!first) throw new Error('no claim');
    expect((await claims.check(first, IMPORT, 1)).verdict).toBe('run');
    const done = await claims.end(first, { place: 'done', result: 'imported', finished: true });
    const [second] = await dropped('tuesday.csv');
    if (!second) throw new Error('no claim');
    const seen = await claims.check(second, IMPORT, 1);
    if (seen.verdict !== 'repeated') throw new Error(seen.verdict);
    const { dir, summary } = await new ClaimArchive(claims, second, home).endRepeated(seen.first);
    expect(dir).toBe(join(place.dir, 'done', 'assets', `${endedPrefix(second)} - imported before`));
    expect(summary).toMatchObject({ run: first.run, repeated_of: first.run });
    const note = await readFile(join(dir, 'NOTE.txt'), 'utf8');
    const reports = `done/assets/${basename(done)}\n`;
    for (const word of [first.run, 'monday.csv', 'tuesday.csv', reports, 'Nothing was sent'])
      expect(note).toContain(word);
    expect(note).not.toContain(place.dir);
    expect(await names(dir)).toEqual(['NOTE.txt', 'tuesday.csv']);
  });

  it('to two workers on one drop folder is run by one of them (60)', async () => {
    await Promise.all([place.open(), place.open()]);
    const files = Array.from({ length: 6 }, (_, i) => `${i}.csv`);
    const taken = await dropped(...files);
    expect(taken.map(({ name }) => name).sort()).toEqual(files);
    const [one, two] = [new DropFolder(place.dir), new DropFolder(place.dir)];
    const verdicts = await Promise.all(taken.map((claim, i) => (i % 2 ? one : two).check(claim, IMPORT, 1)));
    expect(verdicts.filter(({ verdict }) => verdict === 'run')).toHaveLength(1);
    const running = taken[verdicts.findIndex(({ verdict }) => verdict === 'run')];
    for (const seen of verdicts) if (seen.verdict !== 'run') expect(seen.first.run).toBe(running?.run);
    if (running) await one.end(running, { place: 'done', result: 'imported', finished: true });
    const after = await Promise.all(
      taken.filter((claim) => claim !== running).map((claim) => two.check(claim, IMPORT, 1)),
    );
    expect(after.map(({ verdict }) => verdict)).toEqual(Array(5).fill('repeated'));
    expect(running && basename(await only(place.dir, 'done', 'assets'))).toBe(
      `${running && endedPrefix(running)} - imported`,
    );
  });
});
