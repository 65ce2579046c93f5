import { describe, expect, test } from 'vitest';
import { noOutcomes, type OutcomeCounts } from '../../src/model/outcome.js';
import { summaryText } from '../../src/report/console.js';
import { reportPage } from '../../src/report/html.js';
import type { Summary } from '../../src/report/summary.js';
import { headline } from '../../src/report/wording.js';
import { head } from './reconcile-sample.js';

function summary(counts: Partial<OutcomeCounts>, more: Partial<Summary> = {}): Summary {
  const rows = { ...noOutcomes(), ...counts };
  const total = Object.values(rows).reduce((sum, n) => sum + n, 0);
  return {
    ...head({ kind: 'import', warnings: [] }),
    status: 'partial',
    rows: { ...rows, total },
    top_faults: [],
    reports: ['results.csv', 'rejected.csv', 'before.ndjson', 'report.html', 'summary.json'],
    ...more,
  };
}

const plain = (text: string) => text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
const steps = (of: Summary) => plain(/<section class="next.*?<\/section>/s.exec(reportPage(of, new Map()))?.[0] ?? '');
const next = (of: Summary) => plain(summaryText(of).replace(/^.*?(?=Next:|$)/s, ''));

describe('what is to be done follows from the outcomes', () => {
  test.each([
    [{ at_risk: 3 }, /doctor --probe.*at_risk: warn/, /rejected|underscore/],
    [{ unknown: 2 }, /[Ll]ook up the.*runs retry/, /correct the values|underscore|rejected\.csv/],
    [{ failed: 2 }, /runs retry/, /correct the values|underscore|rejected\.csv/],
    [{ invalid: 2 }, /rejected\.csv/, /runs retry|doctor|duplicate/],
    [{ duplicate: 2 }, /duplicate/, /runs retry|doctor/],
    [{ invalid: 1, unknown: 1 }, /runs retry.*rejected\.csv/, /doctor/],
  ] as const)('%j', (counts, wanted, unwanted) => {
    const one = summary({ created: 4, ...counts });
    for (const text of [next(one), steps(one)]) {
      expect(text).toMatch(wanted);
      expect(text).not.toMatch(unwanted);
    }
  });

  test('a duplicate that is left in the rejected file overwrites: said on the page', () => {
    expect(steps(summary({ created: 1, duplicate: 1 }))).toContain('a duplicate overwrites that record');
    expect(steps(summary({ created: 1, duplicate: 1 }))).not.toContain('not in yet');
  });

  test('a dry run, of which no row can be retried, is not told to be', () => {
    const one = summary({ created: 1, failed: 1, unknown: 1 }, { dry_run: true });
    for (const text of [next(one), steps(one)]) expect(text).not.toMatch(/retry|take up/);
  });

  test('outcomes are shown as results.csv names them, too', () => {
    const text = plain(reportPage(summary({ at_risk: 1, rejected: 2, created: 1 }), new Map()));
    expect(text).toMatch(/Held back at_risk 1/);
    expect(text).toMatch(/Refused rejected 2/);
    expect(text).toMatch(/Created 1/);
  });
});

describe('values that are gone', () => {
  const losses = { destroyed: 3, missing: 0, other_form: 0 };

  test('are no good end', () => {
    const one = summary({ updated: 3 }, { status: 'succeeded', losses, warnings: ['3 updates destroyed values.'] });
    const text = plain(reportPage(one, new Map()));
    expect(text).not.toMatch(/Everything is in order|ended well|Nothing\. /);
    expect(text).toContain('Values were lost');
    expect(steps(one)).toMatch(/what was lost: ?plan\.csv.*before\.ndjson/);
    expect(headline(one)).toBe('All 3 rows are in; 3 updates destroyed values.');
  });

  test('in a dry run would be', () => {
    const one = summary({ updated: 3 }, { status: 'succeeded', dry_run: true, losses });
    expect(headline(one)).toBe('All 3 rows would go in; 3 updates would destroy values.');
    expect(plain(reportPage(one, new Map()))).toContain('Values would be lost');
  });

  test('are said of a run that failed, too', () => {
    const one = summary({ updated: 10 }, { status: 'failed', losses, reason: 'It was read back.' });
    expect(headline(one)).toBe('The run failed: all 10 rows are in; 3 updates destroyed values.');
    expect(next(one)).toMatch(/lost.*runs resume/);
    const some = summary({ updated: 4, not_attempted: 6 }, { status: 'failed', losses });
    expect(headline(some)).toBe('The run failed: 4 of 10 rows are in; 6 were not reached; 3 updates destroyed values.');
  });
});
