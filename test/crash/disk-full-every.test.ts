import { describe, expect, it } from 'vitest';
import { attempt, type DiskFault, leftOpen, type Work } from './full-disk.js';
import { EXPORT, IMPORT, RECONCILE } from './full-disk-works.js';

/** `DISK_FULL=all` tries every write with every fault, which takes minutes; else a sample. */
const ALL = process.env['DISK_FULL'] === 'all';
const FAULTS = ['full', 'once', 'short', 'sync'] as const;

interface Sample {
  readonly work: Work;
  /** Attempts with each fault. */
  readonly tries: Readonly<Record<(typeof FAULTS)[number], number>>;
}

const SAMPLES: readonly Sample[] = [
  { work: IMPORT, tries: { full: 24, once: 6, short: 6, sync: 6 } },
  { work: RECONCILE, tries: { full: 18, once: 4, short: 4, sync: 4 } },
  { work: EXPORT, tries: { full: 12, once: 3, short: 3, sync: 3 } },
];

/** Some of 1 to `count`, spread over the whole: each stretch of equal length has one. */
function spread(count: number, wanted: number): number[] {
  const step = ALL || wanted >= count ? 1 : count / wanted;
  return Array.from({ length: Math.floor(count / step) }, (_, i) => Math.floor((i + 0.5) * step) + 1);
}

const flushes = (touched: readonly string[]) => touched.filter((line) => / fsync /.test(line)).length;

describe('a disk that fails at any write: words, no request without a durable intent, and all is done once it is sound', () => {
  it.each(SAMPLES)(
    '$work.name: full from then on, for one write, after half a write, a flush that fails (39)',
    async ({ work, tries }) => {
      const sound = await attempt(work, 'count', 0, { inside: true });
      expect(sound.wrong).toEqual([]);
      expect(sound.touched.length).toBeGreaterThan(30);
      const wrong: string[] = [];
      for (const fault of FAULTS) {
        const count = fault === 'sync' ? flushes(sound.touched) : sound.touched.length;
        for (const nth of spread(count, tries[fault])) {
          const tried = await attempt(work, fault, nth, { inside: true });
          wrong.push(...tried.wrong.map((one) => `${fault} ${tried.touched[nth - 1] ?? nth}: ${one}`));
        }
      }
      wrong.push(...(await leftOpen()));
      expect(wrong).toEqual([]);
    },
    1_800_000,
  );

  it('as processes: at the first intent, and at the last report (39)', async () => {
    const { touched } = await attempt(IMPORT, 'count', 0, { inside: true });
    const at = (path: RegExp) => touched.findIndex((line) => path.test(line)) + 1;
    const tries: readonly (readonly [Work, DiskFault, number])[] = [
      [IMPORT, 'full', at(/ write .*run\.db$/)],
      [IMPORT, 'short', at(/ write .*run\.db$/)],
      [IMPORT, 'full', at(/ rename .*summary\.json$/)],
      [EXPORT, 'full', 30],
    ];
    const ended: unknown[] = [];
    // Two at a time.
    for (let i = 0; i < tries.length; i += 2) {
      const pair = tries.slice(i, i + 2).map(([work, fault, nth]) => attempt(work, fault, nth, { inside: false }));
      ended.push(...(await Promise.all(pair)).map(({ code, wrong }) => ({ code, wrong })));
    }
    expect(ended).toEqual(tries.map(() => ({ code: 1, wrong: [] })));
  });
});
