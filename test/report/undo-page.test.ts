import { describe, expect, test } from 'vitest';
import { UNSEEN_LOSS_PHRASE } from '../../src/model/change.js';
import { fault } from '../../src/model/issue.js';
import { noOutcomes, type OutcomeCounts } from '../../src/model/outcome.js';
import { summaryText } from '../../src/report/console.js';
import { reportPage } from '../../src/report/html.js';
import type { Summary } from '../../src/report/summary.js';
import { headline } from '../../src/report/wording.js';
import { facts, head } from './reconcile-sample.js';
import { outcome } from './sample.js';

function summary(counts: Partial<OutcomeCounts>, more: Partial<Summary> = {}): Summary {
  const rows = { ...noOutcomes(), ...counts };
  const total = Object.values(rows).reduce((sum, n) => sum + n, 0);
  return {
    ...head({ kind: 'undo', of_run: '20260330T020001000Z-1a2b', warnings: [] }),
    status: 'partial',
    rows: { ...rows, total },
    top_faults: [],
    reports: ['results.csv', 'rejected.ndjson', 'report.html', 'summary.json'],
    ...more,
  };
}

describe('the headline of an undo', () => {
  test.each([
    [
      { updated: 12, unchanged: 1, conflict: 1 },
      {},
      'Put back 12 of 14 records; 1 is as before already; 1 needs a person.',
    ],
    [{ updated: 14 }, {}, 'Put back all 14 records.'],
    [{ updated: 5 }, { stay: 2 }, 'Put back all 5 records; 2 records created for them stay.'],
    [{ updated: 1 }, {}, 'Put back the only record.'],
    [{ updated: 14 }, { dry_run: true }, 'All 14 records would be put back.'],
    [{ updated: 3, conflict: 2 }, { dry_run: true }, '3 of 5 records would be put back; 2 need a person.'],
    [{ unchanged: 14 }, {}, 'All 14 records are as before already; nothing was sent.'],
    [{ conflict: 2 }, {}, 'Nothing was put back; 2 need a person.'],
    [
      { updated: 4, not_attempted: 6 },
      { status: 'interrupted' },
      'The run was interrupted: put back 4 of 10 records; 6 were not reached.',
    ],
    [{}, {}, 'The run wrote nothing that could be put back.'],
  ] as const)('%j %j', (counts, more, expected) => {
    expect(headline(summary(counts, more))).toBe(expected);
  });
});

describe('the headline of a reconciliation', () => {
  const none = facts({
    orphans: { action: 'report', after: 2, total: 0, fresh: 0, waiting: 0, acted: 0, settled: 0, held: 0 },
  });
  test.each([
    [{ unchanged: 5 }, 'The file and the service agree in all 5 rows.'],
    [{ unchanged: 4, invalid: 1 }, 'Nothing was to be put right; 1 row needs a person.'],
    [{ updated: 1, unchanged: 3 }, '1 record was put right.'],
    [{ created: 2, updated: 3 }, '3 records were put right; 2 were created.'],
    [{ created: 1, failed: 2 }, '1 record was created; 2 rows need a person.'],
  ] as const)('%j', (counts, expected) => {
    expect(headline(summary(counts, { kind: 'reconcile', reconcile: none }))).toBe(expected);
  });

  test('stopped by a brake: nothing was written', () => {
    const { of_run: _, ...braked } = summary(
      { not_attempted: 9, invalid: 1 },
      { kind: 'reconcile', status: 'braked', reconcile: none },
    );
    expect(headline(braked)).toBe(
      'Stopped by a brake: nothing was written; 1 row needs a person; 9 rows were not reached.',
    );
    expect(summaryText(braked)).toContain(`rowferry runs approve ${braked.run} --by NAME`);
  });
});

test('the page of an undo speaks of records that were put back', () => {
  const issues = [fault('changed_meanwhile', 'Somebody changed name since.', { field: 'name' })];
  const page = reportPage(
    summary({ updated: 12, unchanged: 1, conflict: 1 }),
    new Map([['conflict', [{ rows: 1, first: [outcome(9, 'conflict', { issues })] }]]]),
  );
  const text = page
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
  for (const words of [
    'Puts back run 20260330T020001000Z-1a2b',
    'Some records need a person',
    'What became of the records',
    'each has exactly one outcome.',
    'Put back updated 12 85.7% The record has its earlier values again; one that the run created is retired.',
    'Changed since: 1 record',
    'Look at the record that needs a person',
  ])
    expect(text).toContain(words);
  expect(text).not.toMatch(/import it again|rows of the file/i);
});

test.each([
  [{}, 'good', 'The run is undone'],
  [{ dry_run: true }, 'good', 'The run can be undone'],
  [{ warnings: [`Reads never show make: ${UNSEEN_LOSS_PHRASE}.`] }, 'warn', 'Values may be lost unseen'],
] as const)('the verdict on an undo where all went well, %j, is no more than that', (more, tone, words) => {
  const page = reportPage(summary({ updated: 12 }, { status: 'succeeded', ...more }), new Map());
  expect(page).toMatch(new RegExp(`${tone}[^<>]*>${words}<`));
  expect(page).not.toContain('as it was before');
});

test('the console of an undo says the same', () => {
  const text = summaryText(summary({ updated: 12, conflict: 1 }), 'out');
  expect(text.split('\n').slice(0, 4)).toEqual([
    'Put back 12 of 13 records; 1 needs a person.',
    '',
    '  12  put back           The record has its earlier values again; one that the run created is retired.',
    '!  1  changed since      Somebody changed the record after the run; what they entered was left alone.',
  ]);
  expect(text).toContain('Next: Look at the');
});
