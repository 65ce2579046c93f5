import { describe, expect, test } from 'vitest';
import { noOutcomes, type OutcomeCounts } from '../../src/model/outcome.js';
import { summaryText } from '../../src/report/console.js';
import { reportPage } from '../../src/report/html.js';
import type { Compared, Summary } from '../../src/report/summary.js';
import { headline } from '../../src/report/wording.js';
import { facts, head } from './reconcile-sample.js';

const EARLIER = '20260330T020001000Z-1a2b';

function summary(counts: Partial<OutcomeCounts>, more: Partial<Summary> = {}): Summary {
  const rows = { ...noOutcomes(), ...counts };
  const total = Object.values(rows).reduce((sum, n) => sum + n, 0);
  return {
    ...head({ kind: 'import', warnings: [] }),
    status: 'partial',
    rows: { ...rows, total },
    top_faults: [],
    reports: ['results.csv', 'rejected.csv', 'report.html', 'summary.json'],
    ...more,
  };
}

function compared(more: Partial<Compared> = {}): Compared {
  const none = { agree: 0, differ: 0, put_right: 0, left_to_service: 0, not_put_right: 0 };
  return { ...none, orphans_acted: 0, orphans_for_person: 0, ...more };
}

/** `acting`: orphans that the run was to act on. */
function night(
  counts: Partial<OutcomeCounts>,
  more: Partial<Summary> = {},
  acting = 0,
  done: Partial<Compared> = {},
): Summary {
  const orphans = { total: acting, fresh: 0, waiting: 0, acted: acting, settled: 0, held: 0 };
  const found = facts({ orphans: { action: 'set', after: 2, ...orphans } });
  return summary(counts, {
    kind: 'reconcile',
    reports: ['results.csv', 'rejected.csv', 'report.html', 'summary.json'],
    reconcile: { ...found, compared: compared(done) },
    ...more,
  });
}

/** What the terminal says last, from `Next:` on, on one line. */
function next(of: Summary): string {
  const text = summaryText(of);
  const at = text.indexOf('Next:');
  return at < 0 ? '' : text.slice(at).replace(/\s+/g, ' ').trim();
}

/** The page's section of what to do, as text. */
function steps(of: Summary): string {
  const page = reportPage(of, new Map());
  const section = /<section class="next.*?<\/section>/s.exec(page)?.[0] ?? '';
  return section
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .replaceAll('&quot;', '"');
}

describe('a brake that stopped the plan', () => {
  test('of a reconciliation: look, and approve this run', () => {
    const braked = night({ not_attempted: 9 }, { status: 'braked' });
    expect(next(braked)).toContain(`rowferry runs approve ${braked.run} --by NAME`);
    expect(steps(braked)).toContain(`rowferry runs approve ${braked.run} --by NAME`);
  });

  test('of an import: the same', () => {
    const braked = summary({ not_attempted: 9 }, { status: 'braked' });
    for (const text of [next(braked), steps(braked)]) {
      expect(text).toContain(`rowferry runs approve ${braked.run} --by NAME`);
      expect(text).toContain('--force');
    }
  });
});

describe('refusals that stopped a run while it was writing', () => {
  const reason = 'max_rejected: the service refused 3 of 60 rows, the job allows 2.';

  test('of a reconciliation: put right, and run the file again; an approval would be refused', () => {
    const braked = night({ updated: 20, rejected: 3, not_attempted: 37 }, { status: 'braked', reason });
    expect(next(braked)).toBe(
      'Next: Put right what the service refused, then run the file again: what is right already is left alone, and what was not reached is done.',
    );
    expect(steps(braked)).toContain('run the file again');
    expect(`${next(braked)} ${steps(braked)}`).not.toMatch(/runs approve|nothing was written/);
  });

  test('of its orphans: what was done to some of them is not denied', () => {
    const done = { orphans_acted: 4, orphans_for_person: 3 };
    const braked = night({ unchanged: 20 }, { status: 'braked', reason }, 60, done);
    expect(next(braked)).toContain('Put right what the service refused');
    expect(headline(braked)).toBe(
      'Stopped by a brake: no row was put right; 60 orphans (4 acted on, 3 need a person, 53 not acted on).',
    );
    expect(next(braked)).not.toContain('runs approve');
  });

  test('of an import: the rejected file holds all that is left', () => {
    const braked = summary({ created: 20, rejected: 3, not_attempted: 37 }, { status: 'braked', reason });
    expect(next(braked)).toContain('Correct rejected.csv');
    expect(steps(braked)).toContain('the 40 rows that need a person or were not reached');
    expect(`${next(braked)} ${steps(braked)}`).not.toMatch(/--force|runs approve/);
  });
});

test('rows held back are put right as each of them says: that may be a cell', () => {
  expect(next(summary({ created: 1, at_risk: 2 }))).toContain(
    'For the 2 rows held back (at_risk) do what the reasons say',
  );
});

describe('orphans that were to be acted on', () => {
  test.each([
    ['applied', {}, { orphans_acted: 5 }, '5 acted on'],
    ['report only', { dry_run: true }, {}, '5 would be acted on'],
    ['braked before anything was written', { status: 'braked' }, {}, '5 would be acted on'],
    ['interrupted on the way', { status: 'interrupted' }, { orphans_acted: 2 }, '2 acted on, 3 not acted on'],
  ] as const)('%s', (_, more, done, expected) => {
    const told = night({ unchanged: 9 }, { status: 'succeeded', ...more }, 5, done);
    expect(headline(told)).toContain(`5 orphans (${expected})`);
    expect(summaryText(told)).toMatch(new RegExp(`5 +orphans +${expected}\\n`));
    expect(reportPage(told, new Map(), undefined, page())).toContain(`are not in the file: ${expected}.`);
  });
});

function page() {
  return { differences: [], orphans: [] };
}

describe('a night', () => {
  test.each([
    [{ conflict: 2 }, {}, 'Next: Look at report.html'],
    [{ unchanged: 3 }, { orphans_for_person: 1 }, 'Next: Look at report.html'],
    [{ unchanged: 3 }, {}, ''],
  ] as const)('leads to its page where something needs a person: %j %j', (counts, done, expected) => {
    const told = next(night({ ...counts }, {}, 2, done));
    expect(told.startsWith(expected)).toBe(true);
    expect(told === '').toBe(expected === '');
  });

  test('a report-only run in which orphans alone would be acted on is carried out by --apply, too', () => {
    const told = night({ unchanged: 3 }, { dry_run: true, status: 'succeeded' }, 2);
    expect(next(told)).toContain('--apply');
    expect(steps(told)).toContain('--apply');
  });
});

describe('a rehearsed undo', () => {
  const more = { kind: 'undo', dry_run: true, of_run: EARLIER, status: 'succeeded' } as const;

  test('names the run: it is not the last one any more', () => {
    const undo = summary({ updated: 3 }, more);
    expect(next(undo)).toContain(`without --dry-run, with the id of the run: rowferry runs undo ${EARLIER}`);
    expect(steps(undo)).toContain(`rowferry runs undo ${EARLIER}`);
  });

  test('in which nothing would be put back leads nowhere', () => {
    expect(next(summary({ unchanged: 3 }, more))).toBe('');
  });
});
