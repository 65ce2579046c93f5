import { describe, expect, it } from 'vitest';
import { type Absences, countAbsences, endAbsences } from '../../src/runs/reconcile/orphans.js';

describe('absences', () => {
  const count = (absent: Absences, ids: number[], run: string, more: object = {}) =>
    countAbsences(absent, ids, { run, sha256: `file of ${run}`, date: `date of ${run}`, certain: true, ...more });
  const counts = (absent: Absences) => Object.fromEntries([...absent].map(([id, one]) => [id, one.absences]));

  it('of the same file count once', () => {
    const first = count(new Map(), [3], 'a');
    expect(count(first, [3], 'b', { sha256: 'file of a' }).get(3)).toBe(first.get(3));
    const second = count(first, [3], 'b');
    expect(counts(count(second, [3, 4], 'c'))).toEqual({ 3: 3, 4: 1 });
  });

  it('of a run that is resumed count once', () => {
    const first = count(new Map(), [3], 'a');
    expect(counts(count(first, [3], 'a', { sha256: 'other' }))).toEqual({ 3: 1 });
  });

  it('end where the record is no orphan any more, and begin anew', () => {
    const twice = count(count(new Map(), [3, 5], 'a'), [3, 5], 'b');
    const back = count(twice, [5], 'c');
    expect(counts(back)).toEqual({ 5: 3 });
    expect(count(back, [3, 5], 'd').get(3)).toMatchObject({ since: 'date of d', absences: 1 });
  });

  it('are not counted by a run that is not certain; it ends those of records that the file holds', () => {
    const first = count(new Map(), [3, 5], 'a');
    expect(counts(count(first, [], 'b', { certain: false }))).toEqual({ 3: 1, 5: 1 });
    expect(counts(count(first, [5], 'b', { certain: false, found: new Set([3]) }))).toEqual({ 5: 1 });
    expect(endAbsences(first, new Set([5]))).toEqual(new Map([[3, first.get(3)]]));
  });

  it('begin with none where the first run was not certain, and count from the next that is, also with its file', () => {
    const first = count(new Map(), [3], 'a', { certain: false });
    expect(first.get(3)).toEqual({ since: 'date of a', absences: 0, sha256: 'file of a', run: 'a' });
    expect(counts(count(first, [3], 'b', { certain: false }))).toEqual({ 3: 0 });
    const sure = { since: 'date of a', absences: 1, sha256: 'file of a', run: 'b' };
    expect(count(first, [3], 'b', { sha256: 'file of a' }).get(3)).toEqual(sure);
  });
});
