import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Night } from '../../src/model/reconcile.js';
import {
  type EndedNight,
  forgetAbsences,
  lastNight,
  laterNight,
  type Nights,
  type NightsKey,
  type Observed,
  readNights,
  sameFileBrake,
  saveNight,
} from '../../src/runs/reconcile/nights.js';
import { jobKey, nameOfKey } from '../../src/runs/run/layout.js';

let home: string;
let of: NightsKey;
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
  ...night(run, more),
  sha256: `sha-${run}`,
  ...rest,
});

const seen = (orphans: number[], more: Partial<Observed> = {}): { seen: Observed } => ({
  seen: { orphans, date: '2026-11-20', certain: true, found: new Set(), ...more },
});

/** Ids sort by time. */
const id = (n: number) => `n${String(n).padStart(3, '0')}`;

/** `absences` by id of the record. */
const counts = ({ absent }: Pick<Nights, 'absent'>) =>
  Object.fromEntries([...absent].map(([id, { absences }]) => [id, absences]));

describe('the memory of a job’s nights', () => {
  it('is empty before the first', async () => {
    expect(readNights(of)).toEqual({ history: [], absent: new Map() });
  });

  it('gives back what a night left', async () => {
    saveNight(of, ended('a', { rows: 90 }, seen([7], { date: '2026-11-19' })));
    saveNight(of, ended('b', { apply: false, status: 'partial' }, seen([7, 8])));
    const nights = readNights(of);
    expect(nights.history.map(({ run }) => run)).toEqual(['a', 'b']);
    expect(nights.history[0]).toMatchObject(night('a', { rows: 90 }));
    expect(lastNight(nights)).toMatchObject({
      run: 'b',
      at: '2026-11-20T02:00:12.123Z',
      rows: 100,
      sha256: 'sha-b',
      apply: false,
      status: 'partial',
    });
    expect([...nights.absent]).toEqual([
      [7, { since: '2026-11-19', absences: 2, sha256: 'sha-b', run: 'b' }],
      [8, { since: '2026-11-20', absences: 1, sha256: 'sha-b', run: 'b' }],
    ]);
  });

  it.each(['braked', 'failed', 'interrupted'])('a run that was %s is history and nothing more', async (status) => {
    saveNight(of, ended('a'));
    saveNight(of, ended('b', { status }));
    const nights = readNights(of);
    expect([nights.history.length, lastNight(nights)?.run]).toEqual([2, 'a']);
  });

  it('a run that ends twice stands there once, as it ended last', async () => {
    saveNight(of, ended('a', { status: 'failed' }));
    saveNight(of, ended('b'));
    saveNight(of, ended('a', { status: 'partial' }));
    const nights = readNights(of);
    expect(nights.history.map(({ run, status }) => `${run} ${status}`)).toEqual(['a partial', 'b succeeded']);
  });

  it('keeps 400 nights, whatever became of the later ones', async () => {
    saveNight(of, ended('first'));
    for (let n = 100; n < 450; n++) saveNight(of, ended(id(n), { status: 'braked' }));
    expect(lastNight(readNights(of))).toMatchObject({ run: 'first' });
    for (let n = 450; n < 510; n++) saveNight(of, ended(id(n), { status: 'braked' }));
    const { history } = readNights(of);
    expect([history.length, history[0]?.run]).toEqual([400, id(110)]);
  });

  it('is never shared by two jobs or companies', () => {
    const names = ['assets', 'a b', 'a_b', 'a:b', '..b', 'x'.repeat(150), 'x'.repeat(151), 'Müller & Söhne'];
    const key = (path: string, sha256 = '') => jobKey({ name: basename(path, '.yaml'), path, sha256 }, home);
    const paths = names.flatMap((name) => [`/jobs/${name}.yaml`, `/jobs/b/${name}.yaml`]);
    const keys = paths.map((path) => key(path));
    expect(new Set(keys).size).toBe(keys.length);
    for (const one of keys) expect(one).toMatch(/^[\p{L}\p{N}._~-]{1,130}$/u);
    expect(nameOfKey(key('/jobs/assets.yaml'))).toBe('assets');
    // A job without a file is told by what it says, one with a file by where it lies.
    const inline = (sha256: string) => jobKey({ name: 'inline', path: '', sha256 }, home);
    expect(inline('a'.repeat(64))).not.toBe(inline('b'.repeat(64)));
    expect(key('/jobs/assets.yaml', 'a')).toBe(key('/jobs/../jobs/assets.yaml', 'b'));
  });

  it('is each job’s, each company’s and each service’s own', () => {
    saveNight(of, ended('a', {}, seen([7])));
    for (const other of [
      { ...of, job: 'Größe' },
      { ...of, company: 2 },
      { ...of, service: 'http://127.0.0.1:9999' },
    ]) {
      expect(readNights(other)).toEqual({ history: [], absent: new Map() });
      saveNight(other, ended('b', {}, seen([8])));
      forgetAbsences(other, new Set([7]));
      expect(counts(readNights(other))).toEqual({ 8: 1 });
    }
    expect(counts(readNights(of))).toEqual({ 7: 1 });
    expect(readNights(of).history.map(({ run }) => run)).toEqual(['a']);
  });

  it('is kept whole or not at all', () => {
    saveNight(of, ended('a', {}, seen([7])));
    const broken = { ...ended('b', {}, seen([7])), sha256: 1n as unknown as string };
    expect(() => saveNight(of, broken)).toThrow();
    const nights = readNights(of);
    expect(nights.history.map(({ run }) => run)).toEqual(['a']);
    expect(counts(nights)).toEqual({ 7: 1 });
  });
});

describe('an older run that ends after a newer one', () => {
  it('takes its place in the order in which the runs began', async () => {
    saveNight(of, ended('b', { rows: 60 }));
    saveNight(of, ended('a', { rows: 40 }));
    const nights = readNights(of);
    expect(nights.history.map(({ run }) => run)).toEqual(['a', 'b']);
    expect(lastNight(nights)).toMatchObject({ run: 'b', rows: 60 });
  });

  it('says nothing of records that are missing, or are not', async () => {
    saveNight(of, ended('a', {}, seen([3, 5])));
    saveNight(of, ended('c', {}, seen([5, 9])));
    saveNight(of, ended('b', {}, seen([3, 7], { found: new Set([9]) })));
    expect(counts(readNights(of))).toEqual({ 5: 2, 9: 1 });
    saveNight(of, ended('b2', { status: 'braked' }, seen([], { found: new Set([9]) })));
    expect(counts(readNights(of))).toEqual({ 5: 2, 9: 1 });
  });

  it('counts where the later one failed and saw nothing', async () => {
    saveNight(of, ended('b', { status: 'failed' }));
    saveNight(of, ended('a', {}, seen([3])));
    const nights = readNights(of);
    expect(counts(nights)).toEqual({ 3: 1 });
    expect(laterNight(nights, { run: 'a' })).toBeUndefined();
  });

  it('is also one that carries out the plan of an older run', async () => {
    saveNight(of, ended('a', { status: 'braked', rows: 40 }, seen([3])));
    saveNight(of, ended('b', { rows: 60 }, seen([5])));
    const approved = { sha256: 'sha-a', approves: 'a', overridden: true };
    saveNight(of, ended('c', { rows: 40 }, { ...approved, ...seen([3], { found: new Set([5]) }) }));
    const nights = readNights(of);
    expect(lastNight(nights)).toMatchObject({ run: 'b', rows: 60 });
    expect(counts(nights)).toEqual({ 5: 1 });
    expect(nights.history.at(-1)).toMatchObject({ run: 'c', approves: 'a' });
    expect(laterNight(nights, { run: 'c', approves: 'a' })?.run).toBe('b');
    expect(laterNight(nights, { run: 'a' })?.run).toBe('b');
    expect(laterNight(nights, { run: 'b' })).toBeUndefined();
  });

  it('is none that was approved before the next file came', async () => {
    saveNight(of, ended('a', { status: 'braked' }, seen([3])));
    const approved = { sha256: 'sha-a', approves: 'a', overridden: true };
    saveNight(of, ended('b', {}, { ...approved, ...seen([3]) }));
    const nights = readNights(of);
    expect(lastNight(nights)?.run).toBe('b');
    expect(counts(nights)).toEqual({ 3: 1 });
  });
});

describe('what a night leaves', () => {
  it('is nothing more when its reports are written again', async () => {
    saveNight(of, ended('a', { at: 'then' }, seen([3])));
    saveNight(of, ended('b', {}, seen([])));
    saveNight(of, ended('a', { at: 'now' }, seen([3])));
    const nights = readNights(of);
    expect(nights.absent.size).toBe(0);
    expect(nights.history.map(({ at }) => at)).toEqual(['then', '2026-11-20T02:00:12.123Z']);
  });

  it('is its better end where rows that had failed were taken up; its absences counted before', async () => {
    saveNight(of, ended('a', { status: 'partial', writes: 3 }, seen([3])));
    forgetAbsences(of, new Set([3]));
    saveNight(of, ended('a', { status: 'succeeded', writes: 4 }, seen([3])));
    const nights = readNights(of);
    expect(lastNight(nights)).toMatchObject({ status: 'succeeded' });
    expect(counts(nights)).toEqual({});
  });

  it('counts for a run that a brake had stopped, and that went on', async () => {
    saveNight(of, ended('a', { status: 'braked' }, seen([3])));
    expect(counts(readNights(of))).toEqual({});
    saveNight(of, ended('a', {}, seen([3])));
    expect(counts(readNights(of))).toEqual({ 3: 1 });
  });

  it('of a braked run: the end of absences of what its file holds; of a failed one: nothing', async () => {
    saveNight(of, ended('a', {}, seen([3, 5])));
    const found = { found: new Set([3]) };
    saveNight(of, ended('b', { status: 'failed' }, seen([5, 9], found)));
    expect(counts(readNights(of))).toEqual({ 3: 1, 5: 1 });
    saveNight(of, ended('c', { status: 'braked' }, seen([5, 9], found)));
    expect(counts(readNights(of))).toEqual({ 5: 1 });
  });

  it('of a look with --force at a file that brakes would stop: no measure, and no absence', async () => {
    saveNight(of, ended('a', { rows: 100 }, seen([3])));
    const cut = { overridden: true, ...seen([4, 5], { found: new Set([3]) }) };
    saveNight(of, ended('b', { rows: 50, apply: false }, cut));
    const looked = readNights(of);
    expect(lastNight(looked)).toMatchObject({ run: 'a', rows: 100 });
    expect(counts(looked)).toEqual({});
    saveNight(of, ended('c', { rows: 50 }, cut));
    const applied = readNights(of);
    expect(lastNight(applied)).toMatchObject({ run: 'c', rows: 50 });
    expect(counts(applied)).toEqual({ 4: 1, 5: 1 });
  });

  it('is kept of runs that end in any order', () => {
    for (const n of [2, 0, 4, 1, 3]) saveNight(of, ended(id(n), {}, seen([7])));
    const nights = readNights(of);
    expect(nights.history.map(({ run }) => run)).toEqual([0, 1, 2, 3, 4].map(id));
    expect(lastNight(nights)?.run).toBe(id(4));
  });
});

describe('the brake on a file that was applied before', () => {
  const applied = (...runs: [sha256: string, status?: string][]) => ({
    history: runs.map(([sha256, status = 'succeeded'], n) =>
      ended(`r${n}`, { at: `2026-11-2${n}T02:00:12.123Z`, status, writes: 1 }, { sha256 }),
    ),
  });

  it('says which run, when, and how many other files came since', () => {
    expect(sameFileBrake(applied(['A']), 'A', true).tripped).toMatch(
      /^same_file: .* run r0 applied on 2026-11-20, 02:00 UTC\. Writing it again/,
    );
    expect(sameFileBrake(applied(['A'], ['B'], ['B'], ['C']), 'A', true).tripped).toContain(
      '2 other files were applied since',
    );
    expect(sameFileBrake(applied(['A'], ['B']), 'A', true).tripped).toContain('Another file was applied since');
    expect(sameFileBrake(applied(['A'], ['B'], ['A']), 'A', true).tripped).toContain('run r2 applied');
  });

  it('only remarks on it where nothing is to be written', () => {
    expect(sameFileBrake(applied(['A']), 'A', false)).toEqual({
      remark:
        'The file has the same content as the one that run r0 applied on 2026-11-20, 02:00 UTC. Nothing is to be written.',
    });
  });

  it('lets another file pass, and one that was applied in part until another file was', () => {
    expect(sameFileBrake(applied(['A']), 'B', true)).toEqual({});
    expect(sameFileBrake(applied(), 'A', true)).toEqual({});
    for (const status of ['partial', 'failed', 'braked']) {
      expect(sameFileBrake(applied(['A', status]), 'A', true)).toEqual({});
      expect(sameFileBrake(applied(['B'], ['A', status], ['A', status]), 'A', true)).toEqual({});
      const other = sameFileBrake(applied(['A', status], ['B', 'partial']), 'A', true);
      expect(other.tripped).toMatch(/run r0 applied in part on .* Another file was applied since\./);
      expect(sameFileBrake(applied(['A', status], ['B'], ['A', status]), 'A', true)).toEqual({});
    }
    expect(sameFileBrake(applied(['A'], ['A', 'partial']), 'A', true).tripped).toContain('run r0 applied on');
  });

  it('knows of runs that were stopped while they wrote', async () => {
    saveNight(of, ended('a', { status: 'partial' }));
    saveNight(of, ended('b', { status: 'failed', writes: 3 }));
    saveNight(of, ended('c', { status: 'braked', writes: 0 }));
    saveNight(of, ended('d', { status: 'braked', writes: 3, apply: false }));
    const nights = readNights(of);
    expect(sameFileBrake(nights, 'sha-a', true).tripped).toContain('Another file was applied since');
    expect(sameFileBrake(nights, 'sha-b', true)).toEqual({});
  });
});
