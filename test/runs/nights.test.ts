import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Night } from '../../src/model/reconcile.js';
import {
  type Absences,
  countAbsences,
  type EndedNight,
  jobKey,
  type NightsOf,
  nightsDir,
  readNights,
  rememberNight,
  sameFile,
} from '../../src/runs/nights.js';

let home: string;
let of: NightsOf;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rowferry-nights-'));
  of = { home, job: 'assets', company: 1, service: 'https://records.example.com' };
});
afterEach(() => rm(home, { recursive: true, force: true }));

const night = (run: string, more: Partial<Night> = {}): Night => ({
  run,
  at: '2026-11-20T02:00:12.123Z',
  apply: true,
  status: 'succeeded',
  rows: 100,
  outcomes: { unchanged: 100 },
  differences: 0,
  orphans: 0,
  requests: 10,
  writes: 0,
  seconds: 1.5,
  ...more,
});

const ended = (run: string, more: Partial<Night> = {}, rest: Partial<EndedNight> = {}): EndedNight => ({
  night: night(run, more),
  sha256: `sha-${run}`,
  headings: ['Serial', 'Name'],
  ...rest,
});

describe('the memory of a job’s nights', () => {
  it('is empty before the first', async () => {
    expect(await readNights(of)).toEqual({ history: [], applied: [], absent: new Map() });
  });

  it('gives back what a night left', async () => {
    const absent: Absences = new Map([[7, { since: '2026-11-19', absences: 2, sha256: 's', run: 'a' }]]);
    await rememberNight(of, ended('a', { rows: 90 }));
    await rememberNight(of, ended('b', { apply: false, status: 'partial' }, { headings: ['Größe', 'x,"y'], absent }));
    const nights = await readNights(of);
    expect(nights.history.map(({ run }) => run)).toEqual(['a', 'b']);
    expect(nights.history[0]).toEqual(night('a', { rows: 90 }));
    expect(nights.last).toEqual({
      run: 'b',
      at: '2026-11-20T02:00:12.123Z',
      rows: 100,
      headings: ['Größe', 'x,"y'],
      sha256: 'sha-b',
      apply: false,
      status: 'partial',
    });
    expect(nights.applied).toEqual([
      { run: 'a', at: '2026-11-20T02:00:12.123Z', sha256: 'sha-a', status: 'succeeded' },
    ]);
    expect(nights.absent).toEqual(absent);
  });

  it.each(['braked', 'failed', 'interrupted'])('a run that was %s is history and nothing more', async (status) => {
    await rememberNight(of, ended('a'));
    await rememberNight(of, ended('b', { status }));
    const nights = await readNights(of);
    expect([nights.history.length, nights.last?.run, nights.applied.length]).toEqual([2, 'a', 1]);
  });

  it('a run that ends twice stands there once, as it ended last', async () => {
    await rememberNight(of, ended('a', { status: 'failed' }));
    await rememberNight(of, ended('b'));
    await rememberNight(of, ended('a', { status: 'partial' }));
    const nights = await readNights(of);
    expect(nights.history.map(({ run, status }) => `${run} ${status}`)).toEqual(['a partial', 'b succeeded']);
  });

  it('keeps 90 nights, and what the next one needs however long ago it was', async () => {
    await rememberNight(of, ended('first', {}, { headings: ['Only here'] }));
    for (let n = 0; n < 95; n++) await rememberNight(of, ended(`n${n}`, { status: 'braked' }));
    const nights = await readNights(of);
    expect(nights.history).toHaveLength(90);
    expect(nights.history[0]?.run).toBe('n5');
    expect(nights.last).toMatchObject({ run: 'first', headings: ['Only here'] });
    expect(nights.applied.map(({ run }) => run)).toEqual(['first']);
    const text = await readFile(join(nightsDir(of), 'nights.ndjson'), 'utf8');
    expect(text.trimEnd().split('\n')).toHaveLength(91);
  });

  it('keeps 30 runs that were applied', async () => {
    for (let n = 0; n < 33; n++) await rememberNight(of, ended(`n${n}`));
    expect((await readNights(of)).applied.map(({ run }) => run)).toEqual(
      Array.from({ length: 30 }, (_, n) => `n${n + 3}`),
    );
  });

  it('does not count what was seen in another service', async () => {
    const other = { ...of, service: 'http://127.0.0.1:9999' };
    const absent = new Map([[7, { since: '2026-11-19', absences: 1, sha256: 's', run: 'a' }]]);
    await rememberNight(of, ended('a', {}, { absent }));
    expect(await readNights(other)).toEqual({ history: [], applied: [], absent: new Map() });
    await rememberNight(other, ended('x'));
    expect((await readNights(of)).history.map(({ run }) => run)).toEqual(['a']);
    expect((await readNights(of)).absent).toEqual(absent);
    expect((await readNights(of)).last?.headings).toEqual(['Serial', 'Name']);
  });

  it('is never shared by two jobs or companies', () => {
    const names = ['assets', 'a b', 'a_b', 'a/b', 'a:b', '../b', 'x'.repeat(150), 'x'.repeat(151), 'Müller & Söhne'];
    const dirs = names.flatMap((job) => [1, 11].map((company) => nightsDir({ home, job, company })));
    expect(new Set(dirs).size).toBe(dirs.length);
    expect(nightsDir(of)).toBe(join(home, 'reconcile', 'assets-1'));
    for (const dir of dirs) expect(dir.slice(join(home, 'reconcile').length + 1)).toMatch(/^[\p{L}\p{N}._~-]{1,130}$/u);
    const inline = (sha256: string) => jobKey({ name: 'inline', path: '', sha256 });
    expect(inline('a'.repeat(64))).not.toBe(inline('b'.repeat(64)));
    expect(jobKey({ name: 'assets', path: 'jobs/assets.yaml', sha256: 'a' })).toBe('assets');
  });

  it('survives lines that nobody can read, and leaves no temporary files', async () => {
    await rememberNight(
      of,
      ended('a', {}, { absent: new Map([[7, { since: 'x', absences: 1, sha256: 's', run: 'a' }]]) }),
    );
    const dir = nightsDir(of);
    expect((await readdir(dir)).sort()).toEqual(['absent.ndjson', 'nights.ndjson']);
    await writeFile(join(dir, 'nights.ndjson'), `${await readFile(join(dir, 'nights.ndjson'), 'utf8')}{"torn`);
    const whole = await readFile(join(dir, 'absent.ndjson'), 'utf8');
    expect((await readNights(of)).history).toHaveLength(1);
    for (const damaged of [
      '',
      'x',
      '{}\n',
      'null\n',
      whole.slice(0, -5),
      whole.split('\n')[0] ?? '',
      `${whole}{"id":8}\n`,
    ]) {
      await writeFile(join(dir, 'absent.ndjson'), damaged);
      expect((await readNights(of)).absent, JSON.stringify(damaged)).toEqual(new Map());
    }
  });
});

describe('absences', () => {
  const count = (absent: Absences, ids: number[], run: string, more: object = {}) =>
    countAbsences(absent, ids, { run, sha256: `file of ${run}`, date: `date of ${run}`, certain: true, ...more });
  const counts = (absent: Absences) => Object.fromEntries([...absent].map(([id, one]) => [id, one.absences]));

  it('count one for each certain run with another file', () => {
    const first = count(new Map(), [3, 5], 'a');
    expect(first.get(3)).toEqual({ since: 'date of a', absences: 1, sha256: 'file of a', run: 'a' });
    const second = count(first, [3, 5, 9], 'b');
    expect(counts(second)).toEqual({ 3: 2, 5: 2, 9: 1 });
    expect(second.get(3)).toEqual({ since: 'date of a', absences: 2, sha256: 'file of b', run: 'b' });
  });

  it('of the same file count once, unless the run is forced', () => {
    const first = count(new Map(), [3], 'a');
    expect(counts(count(first, [3], 'b', { sha256: 'file of a' }))).toEqual({ 3: 1 });
    expect(counts(count(first, [3], 'b', { sha256: 'file of a', forced: true }))).toEqual({ 3: 2 });
  });

  it('of a run that is resumed count once, also where it is forced', () => {
    const first = count(new Map(), [3], 'a', { forced: true });
    expect(counts(count(first, [3], 'a', { forced: true }))).toEqual({ 3: 1 });
  });

  it('end where the record is no orphan any more, and begin anew', () => {
    const twice = count(count(new Map(), [3, 5], 'a'), [3, 5], 'b');
    const back = count(twice, [5], 'c');
    expect(counts(back)).toEqual({ 5: 3 });
    expect(count(back, [3, 5], 'd').get(3)).toMatchObject({ since: 'date of d', absences: 1 });
  });

  it('do not change in a run that is not certain, but for records that the file holds', () => {
    const first = count(new Map(), [3, 5], 'a');
    expect(count(first, [5, 9], 'b', { certain: false })).toBe(first);
    expect(counts(count(first, [], 'b', { certain: false, found: new Set([3]) }))).toEqual({ 5: 1 });
  });

  it('leave what they were given alone', () => {
    const first = count(new Map(), [3], 'a');
    count(first, [4], 'b');
    expect(counts(first)).toEqual({ 3: 1 });
  });
});

describe('the brake on a file that was applied before', () => {
  const applied = (...runs: [sha256: string, status?: string][]) => ({
    applied: runs.map(([sha256, status = 'succeeded'], n) => ({
      run: `r${n}`,
      at: `2026-11-2${n}T02:00:12.123Z`,
      sha256,
      status,
    })),
  });

  it('says which run, when, and how many other files came since', () => {
    expect(sameFile(applied(['A']), 'A', true).tripped).toMatch(
      /^same_file: .* run r0 applied on 2026-11-20, 02:00 UTC\. Writing it again/,
    );
    expect(sameFile(applied(['A'], ['B'], ['B'], ['C']), 'A', true).tripped).toContain(
      '2 other files were applied since',
    );
    expect(sameFile(applied(['A'], ['B']), 'A', true).tripped).toContain('Another file was applied since');
    expect(sameFile(applied(['A'], ['B'], ['A']), 'A', true).tripped).toContain('run r2 applied');
  });

  it('only remarks on it where nothing is to be written', () => {
    expect(sameFile(applied(['A']), 'A', false)).toEqual({
      remark:
        'The file has the same content as the one that run r0 applied on 2026-11-20, 02:00 UTC. Nothing is to be written.',
    });
  });

  it('lets another file pass, and one whose run was partial', () => {
    expect(sameFile(applied(['A']), 'B', true)).toEqual({});
    expect(sameFile(applied(['A', 'partial']), 'A', true)).toEqual({});
    expect(sameFile(applied(), 'A', true)).toEqual({});
  });
});
