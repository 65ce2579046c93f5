import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brakes } from '../../src/model/job.js';
import { AFTER_BRAKE, type PlanCounts, RECONCILE_LIMITS, trippedByPlan } from '../../src/pipeline/plan/brakes.js';

const plan = (counts: Partial<PlanCounts> = {}): PlanCounts => ({
  rows: 20_000,
  invalid: 0,
  creates: 0,
  updates: 0,
  cleared: 0,
  ...counts,
});

const judge = (counts: Partial<PlanCounts>, { own = {}, previous }: { own?: object; previous?: number } = {}) =>
  trippedByPlan(brakes.parse(own), plan(counts), previous, { defaults: true });

describe('the brakes of a reconciliation whose job sets none', () => {
  const scope = 20_000;
  it.each<[string, Partial<PlanCounts>, Partial<PlanCounts>]>([
    ['max_invalid', { invalid: 10_000 }, { invalid: 10_001 }],
    ['max_updates', { updates: 5_000 }, { updates: 5_001 }],
    ['max_cleared', { cleared: 200 }, { cleared: 201 }],
    ['max_orphans', { orphans: { fresh: 1_000, acting: 0, scope } }, { orphans: { fresh: 1_001, acting: 0, scope } }],
    ['max_orphans', { orphans: { fresh: 0, acting: 1_000, scope } }, { orphans: { fresh: 3, acting: 1_001, scope } }],
  ])('%s lets its share of the rows pass, and not one more', (name, passes, trips) => {
    expect(judge(passes)).toEqual([]);
    const [sentence, ...others] = judge(trips);
    expect(others).toEqual([]);
    expect(sentence).toContain(`${name}: `);
    const limit = RECONCILE_LIMITS[name as 'max_updates'];
    expect(sentence).toContain(`; the limit is ${limit} where the job sets no other (\`brakes.${name}\`).`);
  });

  it('max_change looks both ways', () => {
    expect(judge({ rows: 950 }, { previous: 1_000 })).toEqual([]);
    expect(judge({ rows: 1_050 }, { previous: 1_000 })).toEqual([]);
    expect(judge({ rows: 949 }, { previous: 1_000 })).toEqual([
      'max_change: the file has 949 rows, the last successful run had 1,000: a change of 5.1%; the limit is 5% where the job sets no other (`brakes.max_change`).',
    ]);
    expect(judge({ rows: 1_051 }, { previous: 1_000 })).toHaveLength(1);
    expect(judge({ rows: 1 })).toEqual([]);
  });

  it('let ten rows pass whatever their share', () => {
    const ten = { updates: 10, cleared: 10, orphans: { fresh: 10, acting: 10, scope: 30 } };
    expect(judge({ rows: 30, ...ten }, { previous: 40 })).toEqual([]);
    const eleven = { updates: 11, cleared: 11, orphans: { fresh: 11, acting: 11, scope: 30 } };
    expect(judge({ rows: 30, ...eleven }, { previous: 41 }).map((one) => one.split(':')[0])).toEqual([
      'max_updates',
      'max_cleared',
      'max_orphans',
      'max_change',
    ]);
  });

  it('take half of a short list for a file that was cut', () => {
    expect(judge({ rows: 10 }, { previous: 20 })).toHaveLength(1);
    expect(judge({ rows: 11 }, { previous: 20 })).toEqual([]);
    expect(judge({ rows: 5 }, { previous: 10 })).toEqual([]);
    expect(judge({ rows: 9, orphans: { fresh: 8, acting: 0, scope: 16 } })).toHaveLength(1);
    expect(judge({ rows: 9, orphans: { fresh: 7, acting: 0, scope: 16 } })).toEqual([]);
    // Every row of a short file may have a new value.
    expect(judge({ rows: 10, updates: 10, cleared: 10 })).toEqual([]);
  });

  it('make way for those of the job, which are exact', () => {
    expect(judge({ updates: 20_000 }, { own: { max_updates: '100%' } })).toEqual([]);
    expect(judge({ rows: 4, updates: 1 }, { own: { max_updates: 0 } })).toEqual([
      'max_updates: 1 of 4 rows would be updated; the job allows 0.',
    ]);
    expect(judge({ rows: 4, orphans: { fresh: 1, acting: 0, scope: 3 } }, { own: { max_orphans: '10%' } })).toEqual([
      'max_orphans: 1 of 3 records (33.33%) are newly missing from the file; the job allows 10%.',
    ]);
    expect(judge({ rows: 9 }, { own: { max_change: '5%' }, previous: 10 })).toHaveLength(1);
  });

  it('say nothing of fewer than 10 rows where they are shares, and always where they are counts (106)', () => {
    const all = { invalid: 9, updates: 9, creates: 9, cleared: 9, orphans: { fresh: 9, acting: 0, scope: 9 } };
    const limits = (limit: string | number) =>
      Object.fromEntries(
        ['invalid', 'updates', 'creates', 'cleared', 'orphans', 'change'].map((name) => [`max_${name}`, limit]),
      );
    const names = (rows: number, limit: string | number, previous: number, corrected = false) =>
      trippedByPlan(brakes.parse(limits(limit)), plan({ rows, ...all }), previous, { corrected }).map(
        (one) => one.split(':')[0],
      );
    const ofRows = ['max_invalid', 'max_updates', 'max_creates'];
    expect(names(9, '5%', 4)).toEqual(['max_cleared', 'max_orphans']);
    expect(names(5, '5%', 50_000)).toEqual(['max_cleared', 'max_orphans', 'max_change']);
    expect(names(10, '5%', 4)).toEqual([...ofRows, 'max_cleared', 'max_orphans', 'max_change']);
    expect(names(9, 0, 4)).toEqual([...ofRows, 'max_cleared', 'max_orphans', 'max_change']);
    expect(names(1_000, '0%', 50_000, true)).toEqual(['max_cleared', 'max_orphans']);
    expect(names(9, 0, 4, true)).toEqual([...ofRows, 'max_cleared', 'max_orphans']);
  });

  it('are none of an import', () => {
    const all = plan({ updates: 20_000, cleared: 20_000, orphans: { fresh: 9_000, acting: 0, scope: 9_000 } });
    expect(trippedByPlan(brakes.parse({}), all, 1)).toEqual([]);
  });

  it('set no limit to what is new', () => {
    expect(judge({ creates: 20_000 })).toEqual([]);
  });

  it('count the same however large the numbers are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 11, max: 2_000_000 }), fc.nat(2_000_000), (rows, updates) => {
        expect(judge({ rows, updates }).length > 0).toBe(updates > 10 && updates * 4 > rows);
      }),
    );
  });
});

describe('the sentences', () => {
  it('name the fields that would be emptied, the most first', () => {
    const clearedBy = new Map([
      ['b', 2],
      ['room', 250],
      ['a', 2],
      ['city', 80],
      ['c', 1],
      ['d', 1],
      ['e', 1],
    ]);
    expect(judge({ cleared: 300, clearedBy })[0]).toContain(
      '300 of 20,000 rows (1.5%) would have a value cleared (room 250, city 80, a 2, b 2, c 1 and 2 other fields);',
    );
  });

  it('name the fields that would be changed: two columns that were swapped are seen at once', () => {
    const updatedBy = new Map([
      ['name', 0],
      ['city', 19_000],
      ['room', 19_500],
    ]);
    expect(judge({ updates: 20_000, updatedBy })[0]).toContain(
      'would be updated (room 19,500, city 19,000); the limit',
    );
  });

  it('tell records that would be changed from those that are newly missing', () => {
    const limits = { own: { max_orphans: 5 } };
    expect(judge({ orphans: { fresh: 6, acting: 2, scope: 100 } }, limits)[0]).toContain(
      '6 of 100 records are newly missing',
    );
    expect(judge({ orphans: { fresh: 2, acting: 6, scope: 100 } }, limits)[0]).toContain(
      '6 of 100 records are missing from the file and would be changed for it',
    );
  });

  it('say in which order: what the file is first, then what it would do', () => {
    const own = { min_rows: 5, max_invalid: 0, max_creates: 0 };
    expect(judge({ rows: 0, invalid: 1, creates: 1 }, { own, previous: 100 }).map((one) => one.split(':')[0])).toEqual([
      'min_rows',
      'max_invalid',
      'max_creates',
      'max_change',
    ]);
    expect(judge({ rows: 0 })[0]).toBe('min_rows: the file has no data rows; the job asks for at least 1.');
  });

  it('say what to do', () => {
    expect(AFTER_BRAKE).toMatch(/Nothing was written.*runs approve RUN --by NAME.*--force/);
  });
});
