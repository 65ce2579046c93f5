import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { REPORT_NAMES } from '../../../src/report/summary.js';
import { inlineJob } from '../../../src/runs/job-file.js';
import { type Claim, claimedName, claimFolder, endedPrefix, listClaims } from '../../../src/worker/inbox/claim.js';
import { importOf } from '../../support/jobs.js';
import { makePlace, names, type Place, until } from './dropping.js';

let place: Place;
beforeEach(async () => {
  place = await makePlace();
});
afterEach(() => place.close());

it('never gives a dropped file the name of a report', () => {
  expect(REPORT_NAMES.length).toBeGreaterThan(9);
  expect(REPORT_NAMES.map((name) => claimedName(name))).toEqual(REPORT_NAMES.map((name) => `dropped-${name}`));
});

const JOB = importOf('asset', 'serial_number', { Serial: 'serial_number', Name: 'name' });

/** Drops files, one after another, and waits for their claims in that order. */
async function claimsOf(files: Readonly<Record<string, string>>): Promise<Claim[]> {
  const inbox = await place.open();
  for (const [name, text] of Object.entries(files)) {
    const before = place.claims.length;
    await place.drop(`assets/${name}`, text);
    await until(name, () => place.claims.length > before);
  }
  await inbox.close();
  return [...place.claims];
}

const check = (claim: Claim, job = 'j', company = 1, repeat = false) =>
  place.folder.check(claim, { ...inlineJob('import', { ...JOB, repeat }), sha256: job }, company);

it('goes on with a run that was begun, although its job file is gone and the queue has forgotten it', async () => {
  const [claim] = await claimsOf({ 'a.csv': 'A' });
  await rm(join(place.jobsDir, 'assets.yaml'));
  await place.open({ isBegun: async (run) => run === claim?.run });
  await until('it is offered again', () => place.claims.length === 2);
  expect(await names(place.dir, 'failed')).toEqual([]);
});

it.each([
  ['the data folder that began it, where another one had taken it', { begun: 'b', shared: true }, false],
  ['whoever shares the queue that it was begun on', { begun: 'b', shared: true }, true],
  ['the one that began it on a queue of its own', { begun: 'b', shared: false }, true],
])('leaves a taken file to %s', async (_, begun, shared) => {
  const [claim] = await claimsOf({ 'a.csv': 'A' });
  if (!claim) throw new Error('no claim');
  await place.folder.ledger.recordHome(claim, { taken: 'a', shared: !begun.shared });
  await place.folder.ledger.recordHome(claim, begun);
  await place.open({ home: { id: 'a', shared } });
  const isOffered = shared && begun.shared;
  await until('it is looked at', () => place.claims.length === 2 || place.notices.join().includes('it is left to'));
  expect(place.claims).toHaveLength(isOffered ? 2 : 1);
});

describe('ends', () => {
  it('moves the folder with its reports, and leaves no note of its own', async () => {
    const [claim] = await claimsOf({ 'a.csv': 'A' });
    if (!claim) throw new Error('no claim');
    await writeFile(join(claim.dir, 'results.csv'), 'row\n');
    const folder = await place.folder.end(claim, { place: 'done', result: 'imported', finished: true });
    expect(folder).toBe(join(place.dir, 'done', 'assets', `${endedPrefix(claim)} - imported`));
    expect(await names(folder)).toEqual(['a.csv', 'results.csv']);
    expect(await names(place.dir, 'processing', 'assets')).toEqual([]);
    expect(await place.folder.end(claim, { place: 'done', result: 'imported', finished: true })).toBe(folder);
    expect(await place.folder.end(claim, { place: 'failed', result: 'stopped', finished: false })).toBe(folder);
  });

  it.each(['done', 'failed'] as const)('moves nothing out of the inbox where %s/<job> is a link (111)', async (to) => {
    const [claim] = await claimsOf({ 'a.csv': 'A' });
    if (!claim) throw new Error('no claim');
    await mkdir(join(place.root, 'elsewhere'));
    await symlink('../../elsewhere', join(place.dir, to, 'assets'));
    const end = () => place.folder.end(claim, { place: to, result: 'r', finished: to === 'done' });
    await expect(end()).rejects.toThrow('must be a folder of its own');
    expect(await names(place.root, 'elsewhere')).toEqual([]);
    expect(await names(claim.dir)).toContain('a.csv');
    await rm(join(place.dir, to, 'assets'));
    expect(await names(await end())).toEqual(['a.csv']);
  });

  it('puts a note beside the file', async () => {
    const [claim] = await claimsOf({ 'a.csv': 'A' });
    if (!claim) throw new Error('no claim');
    const note = { name: 'ERROR.txt', text: 'Why.\n' } as const;
    const folder = await place.folder.end(claim, { place: 'failed', result: 'stopped', finished: false, note });
    expect(await readFile(join(folder, 'ERROR.txt'), 'utf8')).toBe('Why.\n');
  });

  it('says where the file was dropped what became of it, and never takes that note for a file', async () => {
    const [claim] = await claimsOf({ 'a.csv': 'A' });
    if (!claim) throw new Error('no claim');
    const folder = await place.folder.end(claim, { place: 'done', result: '15 to correct', finished: true });
    const note = join(place.dir, 'assets', 'a.csv.result.txt');
    const text = `a.csv: 15 to correct.\n\nMore is said in ${place.folder.sharePath(folder)}/report.html; the file lies beside it.`;
    expect(await readFile(note, 'utf8')).toContain(text);
    await claimsOf({ 'b.csv': 'B' });
    expect(place.claims.map(({ name }) => name)).toEqual(['a.csv', 'b.csv']);
    expect(await names(place.dir, 'assets')).toContain('a.csv.result.txt');
  });

  it('writes no such note through a link, and does without the folder', async () => {
    const claims = await claimsOf({ 'a.csv': 'A', 'b.csv': 'B' });
    await mkdir(join(place.root, 'elsewhere'));
    await rm(join(place.dir, 'assets'), { recursive: true });
    for (const claim of claims) {
      await place.folder.end(claim, { place: 'done', result: 'imported', finished: true });
      await symlink('../elsewhere', join(place.dir, 'assets')).catch(() => undefined);
    }
    expect(await names(place.root, 'elsewhere')).toEqual([]);
    expect(await names(place.dir, 'done', 'assets')).toHaveLength(2);
  });

  it('names the folder so that people and Windows can read it, also of two runs in one minute', async () => {
    const file = (name: string, run: string) => ({ job: 'assets', run, dir: '', file: '', name });
    const folders: string[] = [];
    for (const [name, run] of [
      ['Über <alles>: "neu"?.xlsx', '20261122T134107123Z-0001'],
      [`${'lang '.repeat(20)}.csv.gz`, '20261122T134107123Z-0002'],
      ['assets.csv', '20261122T134107123Z-0003'],
      ['assets.csv', '20261122T134159999Z-0004'],
      ['assets.CSV', '20261122T134200000Z-0005'],
    ] as const) {
      const claim = file(name, run);
      await mkdir(claimFolder(place.dir, claim), { recursive: true });
      await writeFile(join(claimFolder(place.dir, claim), 'a.csv'), 'A');
      const folder = await place.folder.end(claim, { place: 'done', result: '15 to correct', finished: true });
      expect(await place.folder.endFolder(claim)).toBe(folder);
      folders.push(basename(folder));
    }
    expect(folders).toEqual([
      '2026-11-22 13.41 Über _alles__ _neu__ - 15 to correct',
      `2026-11-22 13.41 ${'lang '.repeat(8).trim()} - 15 to correct`,
      '2026-11-22 13.41 assets - 15 to correct',
      '2026-11-22 13.41 assets - 15 to correct (2)',
      '2026-11-22 13.42 assets - 15 to correct',
    ]);
  });

  it('a kill in the middle of the move leaves the claim where it is, and no two runs get one folder', async () => {
    const claims = await claimsOf({ 'a.csv': 'A', 'b.csv': 'B' });
    const [first, second] = claims.map((claim) => ({ ...claim, name: 'a.csv', run: claim.run }));
    if (!first || !second) throw new Error('no claims');
    const end = { place: 'done', result: 'imported', finished: true } as const;
    // The ledger knows where it is to end, and the folder is not moved.
    await place.folder.ledger.recordMove(first, join('done', 'assets', `${endedPrefix(first)} - imported`));
    const sameMinute = endedPrefix(first) === endedPrefix(second);
    const other = await place.folder.end(second, end);
    expect(await place.folder.endFolder(first)).toBeUndefined();
    const own = await place.folder.end(first, end);
    expect(basename(other)).toBe(`${endedPrefix(second)} - imported`);
    expect(basename(own)).toBe(`${endedPrefix(first)} - imported${sameMinute ? ' (2)' : ''}`);
    // However the run ends when it is delivered once more.
    expect(await place.folder.end(first, { ...end, result: 'stopped', place: 'failed' })).toBe(own);
    expect([await names(own), await names(other)]).toEqual([['a.csv'], ['b.csv']]);
  });

  it('are forgotten where somebody removed the folder, and contents are not', async () => {
    const [first, second] = await claimsOf({ 'a.csv': 'A', 'b.csv': 'B' });
    if (!first || !second) throw new Error('no claims');
    const end = { place: 'done', result: 'imported', finished: true } as const;
    for (const claim of [first, second]) await check(claim);
    const folders = [await place.folder.end(first, end), await place.folder.end(second, end)];
    await rm(folders[0] ?? '', { recursive: true });
    await place.folder.ledger.prune();
    expect(await names(place.dir, '.ledger', 'assets')).toHaveLength(3);
    expect(await place.folder.endFolder(first)).toBeUndefined();
    expect(await place.folder.endFolder(second)).toBe(folders[1]);
    const [again] = (await claimsOf({ 'c.csv': 'A' })).slice(-1);
    expect(again && (await check(again)).verdict).toBe('repeated');
  });

  it('are forgotten by several at once: workers with ROWFERRY_KEEP_DAYS may start together', async () => {
    const { ledger } = place.folder;
    const runs = Array.from({ length: 200 }, (_, i) => `20261122T134100${String(i).padStart(3, '0')}Z-0000`);
    for (const run of runs) await ledger.recordMove({ job: 'assets', run }, `done/assets/${run}`);
    const late = async (ms: number) => {
      await pause(ms);
      await ledger.prune();
    };
    await Promise.all([ledger.prune(), late(1), late(5), late(10)]);
    expect(await names(place.dir, '.ledger', 'assets')).toEqual([]);
  });

  it('refuses names that lead elsewhere (84)', async () => {
    const claim = { job: '..', run: 'x', dir: '/', file: '/x', name: 'x' };
    await expect(place.folder.end(claim, { place: 'done', result: 'imported', finished: true })).rejects.toThrow(
      'cannot be the name',
    );
  });
});

describe('content', () => {
  it('is run once; the same claim may begin again (60)', async () => {
    const [first, second] = await claimsOf({ 'a.csv': 'same', 'b.csv': 'same' });
    if (!first || !second) throw new Error('no claims');
    expect((await check(first)).verdict).toBe('run');
    expect((await check(first)).verdict).toBe('run');
    const waits = await check(second);
    expect(waits).toMatchObject({ verdict: 'wait', first: { run: first.run, file: 'a.csv' } });
    await place.folder.end(first, { place: 'done', result: 'imported', finished: true });
    const repeated = await check(second);
    if (repeated.verdict !== 'repeated') throw new Error(repeated.verdict);
    expect(repeated.first.run).toBe(first.run);
    const note = { name: 'NOTE.txt', text: 'Imported before.' } as const;
    const folder = await place.folder.end(second, { place: 'done', result: 'imported', finished: false, note });
    expect(await names(folder)).toEqual(['NOTE.txt', 'b.csv']);
    // What ended as a repetition takes nothing away from the first.
    place.claims.length = 0;
    const [third] = await claimsOf({ 'c.csv': 'same' });
    expect(third && (await check(third)).verdict).toBe('repeated');
  });

  it('may be run again after a run that did not do its work (60)', async () => {
    const [first, second] = await claimsOf({ 'a.csv': 'same', 'b.csv': 'same' });
    if (!first || !second) throw new Error('no claims');
    await check(first);
    await place.folder.end(first, { place: 'failed', result: 'stopped', finished: false });
    expect((await check(second)).verdict).toBe('run');
  });

  it('counts for one job text and one company; `repeat` always runs (60)', async () => {
    const [first, second] = await claimsOf({ 'a.csv': 'same', 'b.csv': 'same' });
    if (!first || !second) throw new Error('no claims');
    await check(first);
    expect((await check(second, 'j', 1, true)).verdict).toBe('run');
    expect((await check(second, 'j', 2)).verdict).toBe('run');
    expect((await check(second, 'changed')).verdict).toBe('run');
    expect((await check(second)).verdict).toBe('wait');
  });

  it('of two at the same instant one runs (60)', async () => {
    const files = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`${i}.csv`, 'same']));
    const claims = await claimsOf(files);
    const verdicts = (await Promise.all(claims.map((claim) => check(claim)))).map(({ verdict }) => verdict);
    expect(verdicts.filter((verdict) => verdict === 'run')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict === 'wait')).toHaveLength(7);
  });

  it('is free again when the folder of a running claim is gone', async () => {
    const claims = await claimsOf({ 'a.csv': 'same', 'b.csv': 'same', 'c.csv': 'same' });
    const [first, ...others] = claims;
    if (!first) throw new Error('no claims');
    await check(first);
    await rm(first.dir, { recursive: true });
    const verdicts = (await Promise.all(others.map((claim) => check(claim)))).map(({ verdict }) => verdict);
    expect(verdicts.sort()).toEqual(['run', 'wait']);
  });

  it('a crash between any two steps of an end is repaired by doing it again', async () => {
    const [first, second] = await claimsOf({ 'a.csv': 'same', 'b.csv': 'same' });
    if (!first || !second) throw new Error('no claims');
    await check(first);
    // The note and the ledger were written, the folder was not moved: something is in its way.
    await writeFile(join(place.dir, 'done', 'assets'), 'in the way');
    const note = { name: 'NOTE.txt', text: 'n' } as const;
    await expect(place.folder.end(first, { place: 'done', result: 'imported', finished: true, note })).rejects.toThrow(
      'cannot be moved',
    );
    expect((await check(second)).verdict).toBe('repeated');
    expect((await check(first)).verdict).toBe('run');
    expect((await listClaims(place.dir)).map(({ run }) => run)).toEqual([first.run, second.run]);
    await rm(join(place.dir, 'done', 'assets'));
    const folder = await place.folder.end(first, { place: 'done', result: 'imported', finished: true, note });
    expect(await names(folder)).toEqual(['NOTE.txt', 'a.csv']);
  });

  it('says why a file cannot be read', async () => {
    const [claim] = await claimsOf({ 'a.csv': 'A' });
    if (!claim) throw new Error('no claim');
    await rm(claim.file);
    await expect(check(claim)).rejects.toThrow('cannot be read: it is not there');
    await mkdir(claim.file);
    await expect(check(claim)).rejects.toThrow('cannot be read');
  });
});

describe('two processes', () => {
  it('take each of 200 files once', async () => {
    const files = Array.from({ length: 200 }, (_, i) => `f${i}.csv`);
    const two = await Promise.all([1, 2].map(() => place.start('inbox-process', {})));
    await until('both watch', () => two.every(({ lines }) => lines.some((line) => line.includes('open'))), 40_000);
    await Promise.all(files.map((name) => place.drop(`assets/${name}`)));
    const claimed = () => two.flatMap(({ lines }) => lines.flatMap((line) => JSON.parse(line).claim?.name ?? []));
    await until('all are taken', () => claimed().length >= 200, 60_000);
    expect(claimed().sort()).toEqual([...files].sort());
    expect(await names(place.dir, 'assets')).toEqual(['README.txt']);
    expect(await listClaims(place.dir)).toHaveLength(200);
    expect(await names(place.dir, 'processing', 'assets')).toHaveLength(200);
    expect(two.flatMap(({ lines }) => lines.filter((line) => line.includes('"warn"')))).toEqual([]);
  });

  it('loses no file when one is killed in the middle', async () => {
    const files = Array.from({ length: 150 }, (_, i) => `f${i}.csv`);
    const first = await place.start('inbox-process', {});
    await until('it watches', () => first.lines.some((line) => line.includes('open')), 40_000);
    await Promise.all(files.map((name) => place.drop(`assets/${name}`)));
    await until('it has begun', async () => (await names(place.dir, 'processing', 'assets')).length > 20, 30_000);
    first.child.kill('SIGKILL');
    await first.ended;
    await place.open();
    await until('the rest is taken', () => place.claims.length >= 150, 60_000);
    expect(place.claims.map(({ name }) => name).sort()).toEqual([...files].sort());
    const listed = await listClaims(place.dir);
    expect(listed.map(({ name }) => name).sort()).toEqual([...files].sort());
    expect(listed.map(({ run }) => run)).toEqual(listed.map(({ run }) => run).sort());
  });

  it('a claim that nobody looked after any more is offered after a start', async () => {
    const folder = join(place.dir, 'processing', 'assets', '20260101T000000000Z-abcd');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'dropped-rejected.csv'), 'x');
    await place.open();
    await until('an offer', () => place.claims.length === 1);
    const claim = { job: 'assets', run: '20260101T000000000Z-abcd', dir: folder, name: 'rejected.csv' };
    expect(place.claims[0]).toEqual({ ...claim, file: join(folder, 'dropped-rejected.csv') });
    expect(await listClaims(place.dir)).toEqual(place.claims);
  });
});
