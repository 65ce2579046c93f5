import { mkdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openJobFiles } from '../../../src/worker/job-files.js';
import { JOB, makePlace, names, type Place, until } from './dropping.js';

let place: Place;
beforeEach(async () => {
  place = await makePlace();
});
afterEach(() => place.close());

describe('folders', () => {
  it('makes a folder with a README for every import job, also for one that comes later', async () => {
    await writeFile(join(place.jobsDir, 'nightly.yaml'), 'kind: export\nresource: asset\n');
    const inbox = await place.open();
    expect(await names(place.dir)).toEqual(['.ledger', 'assets', 'done', 'failed', 'processing']);
    const readme = join(place.dir, 'assets', 'README.txt');
    expect(await readFile(readme, 'utf8')).toContain('rejected.xlsx');
    await writeFile(readme, 'mine');
    await writeFile(join(place.jobsDir, 'suppliers.yml'), JOB);
    await inbox.rescan();
    expect(await names(place.dir)).toContain('suppliers');
    expect(await readFile(readme, 'utf8')).toBe('mine');
    expect(inbox.health()).toMatchObject({ ok: true, waiting: 0 });
  });

  it('tells in the README of a reconcile job what is different there, and takes its files', async () => {
    await writeFile(join(place.jobsDir, 'erp.yaml'), JOB.replace('kind: import', 'kind: reconcile'));
    await place.open();
    const readme = await readFile(join(place.dir, 'erp', 'README.txt'), 'utf8');
    expect(readme).toContain('done/erp');
    expect(readme).not.toContain(place.root);
    expect(readme).toMatch(/reconcile\.xlsx.*it is not whole/s);
    expect(readme).not.toContain('NOTE.txt');
    await place.drop('erp/a.csv');
    await until('a.csv is taken', () => place.claims.length === 1);
    expect(place.claims[0]).toMatchObject({ job: 'erp', name: 'a.csv' });
    const jobs = openJobFiles(place.jobsDir);
    expect((await jobs()).get('erp')).toMatchObject({ name: 'erp', kind: 'reconcile', faulty: false });
    await writeFile(join(place.jobsDir, 'erp.yaml'), 'kind: reconcile\ncolums: {}\n');
    expect((await jobs()).get('erp')).toMatchObject({ name: 'erp', kind: 'reconcile', faulty: true });
    await place.drop('erp/b.csv');
    await until('its run tells the faults', () => place.claims.length === 2);
  });

  it('says once that files directly in the drop folder are in the wrong place', async () => {
    await place.drop('loose.csv');
    const inbox = await place.open();
    await inbox.rescan();
    expect(place.notices.filter((text) => text.includes('loose.csv'))).toHaveLength(1);
    expect(await names(place.dir)).toContain('loose.csv');
  });

  it('leaves folders alone', async () => {
    const inbox = await place.open();
    await place.drop('assets/july/a.csv');
    await inbox.rescan();
    expect(inbox.health().waiting).toBe(0);
    expect(await names(place.dir, 'assets', 'july')).toEqual(['a.csv']);
  });

  it('never takes what a schedule reads', async () => {
    const scheduled = [await place.drop('assets/nightly.csv'), await place.drop('erp/assets.csv')];
    await place.drop('erp/other.csv');
    await place.open({ scheduled: () => scheduled });
    await place.drop('assets/mine.csv');
    await until('mine.csv is taken', () => place.claims.length === 1);
    expect(place.claims[0]?.name).toBe('mine.csv');
    expect(await names(place.dir, 'assets')).toEqual(['README.txt', 'nightly.csv']);
    expect(await names(place.dir, 'erp')).toEqual(['assets.csv', 'other.csv']);
    expect(place.notices.join()).toContain('erp belongs to no job');
  });

  it('leaves folders of no job alone while a job file has faults, and says so once', async () => {
    const job = join(place.jobsDir, 'nightly.yaml');
    await writeFile(job, 'kind: reconcile\nschedule: { cron: "0 2 * * *", file: inbox/erp/assets.csv }\n');
    const inbox = await place.open();
    await place.drop('erp/assets.csv');
    await inbox.rescan();
    await inbox.rescan();
    expect(place.notices.filter((text) => text.includes('belongs to no job'))).toHaveLength(1);
    expect(inbox.health().waiting).toBe(0);
    await writeFile(job, JOB);
    await until('it is put away', async () => (await names(place.dir, 'failed', 'erp')).length === 1);
  });

  it('goes on when the folder was away, and when the jobs folder was away', async () => {
    const inbox = await place.open();
    await rm(place.dir, { recursive: true });
    await inbox.rescan();
    expect(inbox.health().problem).toContain('what was in it is gone');
    expect(await names(place.root)).not.toContain('inbox');
    await mkdir(join(place.dir, '.ledger'), { recursive: true });
    await inbox.rescan();
    expect(inbox.health().ok).toBe(true);
    await place.drop('assets/a.csv');
    await until('a.csv is taken', () => place.claims.length === 1);

    await rename(place.jobsDir, `${place.jobsDir}.away`);
    await inbox.rescan();
    await place.drop('assets/b.csv');
    await place.drop('erp/c.csv');
    await until('both are seen', async () => {
      await inbox.rescan();
      return inbox.health().waiting === 2;
    });
    expect(place.notices.join()).toContain('jobs folder');
    await rename(`${place.jobsDir}.away`, place.jobsDir);
    await inbox.rescan();
    await until('b.csv is taken', () => place.claims.length === 2);
  });

  it('waits for a folder that cannot be made', async () => {
    await writeFile(place.dir, 'in the way');
    const inbox = await place.open();
    expect(inbox.health()).toMatchObject({ ok: false });
    expect(place.notices).toHaveLength(1);
    await rm(place.dir);
    await inbox.rescan();
    expect(inbox.health()).toMatchObject({ ok: true });
    expect(place.notices).toHaveLength(2);
  });

  it('takes nothing where processing/ is a link (83)', async () => {
    await mkdir(join(place.root, 'elsewhere'));
    await mkdir(place.dir);
    await symlink('../elsewhere', join(place.dir, 'processing'));
    const inbox = await place.open();
    expect(inbox.health().problem).toContain('processing must be a folder of its own');
  });
});

describe('taking', () => {
  it('moves a file into a folder of its run and offers it', async () => {
    await place.open();
    await place.drop('assets/a.csv', 'content');
    await until('an offer', () => place.claims.length === 1);
    const [claim] = place.claims;
    expect(claim).toMatchObject({ job: 'assets', name: 'a.csv' });
    expect(claim?.dir).toBe(join(place.dir, 'processing', 'assets', claim?.run ?? ''));
    expect(claim?.file).toBe(join(claim?.dir ?? '', 'a.csv'));
    expect(await readFile(claim?.file ?? '', 'utf8')).toBe('content');
    expect(await names(place.dir, 'assets')).toEqual(['README.txt']);
  });

  it('leaves temporary names and marks alone (58)', async () => {
    const ignored = [
      '~$a.xlsx',
      '.a.csv',
      'a.csv.tmp',
      'a.part',
      'a.csv.CRDOWNLOAD',
      'a.filepart',
      'a.csv.1f3b.partial',
      'Thumbs.db',
      'desktop.ini',
      'alone.csv.ready',
      'readme.TXT',
    ];
    for (const name of ignored) await place.drop(`assets/${name}`);
    const inbox = await place.open();
    await place.drop('assets/b.csv');
    await until('an offer', () => place.claims.length === 1);
    await inbox.rescan();
    expect(inbox.health().waiting).toBe(0);
    expect(await names(place.dir, 'assets')).toEqual([...ignored, 'README.txt'].sort());
  });

  it('takes strange names as they are', async () => {
    const strange = [
      '-rf',
      'line\nbreak.csv',
      '..csv',
      'a..',
      ' ',
      `${'ü'.repeat(125)}.csv..`.slice(0, 129),
      '$(x).csv',
      '"q".csv.gz',
    ];
    await place.open();
    for (const name of strange) if (!name.startsWith('.')) await place.drop(`assets/${name}`);
    const wanted = strange.filter((name) => !name.startsWith('.'));
    await until('all are offered', () => place.claims.length === wanted.length);
    expect(place.claims.map(({ name }) => name).sort()).toEqual(wanted.sort());
    for (const claim of place.claims) expect(basename(claim.file)).toBe(claim.name);
  });

  it('keeps a corrected rejected.csv apart from the report of that name', async () => {
    await place.open();
    await place.drop('assets/rejected.csv');
    await until('an offer', () => place.claims.length === 1);
    expect(place.claims[0]?.name).toBe('rejected.csv');
    expect(basename(place.claims[0]?.file ?? '')).toBe('dropped-rejected.csv');
  });

  it('takes a file at once when its marker appears, and removes the marker (58)', async () => {
    await place.open({ quietMs: 600_000 });
    await place.drop('assets/a.csv');
    await place.drop('assets/b.csv.gz');
    await place.drop('assets/c.csv');
    await place.drop('assets/empty.csv', '');
    for (const marker of ['a.csv.ready', 'b.csv.ready', 'empty.ready']) await place.drop(`assets/${marker}`, '');
    await until('three offers', () => place.claims.length === 3);
    expect(place.claims.map(({ name }) => name).sort()).toEqual(['a.csv', 'b.csv.gz', 'empty.csv']);
    expect(await names(place.dir, 'assets')).toEqual(['README.txt', 'c.csv']);
  });

  it('takes no file at the word of a marker that is older than the file', async () => {
    const inbox = await place.open({ quietMs: 600_000 });
    await place.drop('assets/a.csv.ready', '');
    const marker = await stat(join(place.dir, 'assets', 'a.csv.ready'), { bigint: true });
    const file = await place.drop('assets/a.csv');
    // Two times of one tick cannot be told apart.
    for (let more = 1; (await stat(file, { bigint: true })).ctimeNs <= marker.ctimeNs; more++) {
      await place.drop('assets/a.csv', `half ${more}`);
    }
    // The copy of a file brings the time of its file along.
    await utimes(file, new Date(0), new Date(0));
    await until('it is seen', () => inbox.health().waiting === 1);
    await inbox.rescan();
    expect(place.claims).toEqual([]);
    await place.drop('assets/a.csv.ready', '');
    await until('an offer', () => place.claims.length === 1);
    expect(await names(place.dir, 'assets')).toEqual(['README.txt']);
  });

  it('takes a marker that came too late away with the next file', async () => {
    await place.open();
    await place.drop('assets/a.csv');
    await until('an offer', () => place.claims.length === 1);
    await place.drop('assets/a.csv.ready', '');
    await place.drop('assets/a.csv', 'another');
    await until('another offer', () => place.claims.length === 2);
    expect(await names(place.dir, 'assets')).toEqual(['README.txt']);
  });

  it('waits longer for an empty file (58)', async () => {
    await place.open({ quietMs: 200 });
    const begun = performance.now();
    await place.drop('assets/empty.csv', '');
    await until('an offer', () => place.claims.length === 1);
    expect(performance.now() - begun).toBeGreaterThan(1000);
  });

  it('does not take a file that is replaced again and again (58, 59)', async () => {
    const inbox = await place.open({ quietMs: 400 });
    const target = join(place.dir, 'assets', 'a.csv');
    for (let i = 0; i < 8; i++) {
      await writeFile(join(place.root, 'new'), 'same size');
      await rename(join(place.root, 'new'), target);
      const { ino } = await stat(target);
      await until('it was looked at', async () => {
        await inbox.rescan();
        return (await stat(target)).ino === ino;
      });
      expect(place.claims).toHaveLength(0);
    }
    await until('an offer', () => place.claims.length === 1);
  });

  it('tells of an offer that fails, and keeps the claim', async () => {
    const add = () => Promise.reject(new Error('queue away'));
    await place.open({ queue: { getJob: async () => undefined, add } as never });
    await place.drop('assets/a.csv');
    await until('the log tells', () => place.logged.some((line) => line.includes('queue away')));
  });
});

describe('slow writers', () => {
  it('waits for one that opens the file again and again with pauses below two seconds (58)', {
    timeout: 60_000,
  }, async () => {
    await place.open({ quietMs: 2000 });
    const path = join(place.dir, 'assets', 'slow.csv');
    const writer = await place.start('writer-process', { path, chunks: 4, pauseMs: 1500 });
    await until('the writer ends', () => writer.lines.includes('end'), 30_000);
    expect(place.claims).toHaveLength(0);
    await until('an offer', () => place.claims.length === 1);
    expect((await readFile(place.claims[0]?.file ?? '', 'utf8')).split('\n')).toHaveLength(5);
  });
});
