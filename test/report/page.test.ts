import { describe, expect, test } from 'vitest';
import { fault } from '../../src/model/issue.js';
import { noOutcomes, OUTCOMES, type Outcome, type OutcomeCounts, type OutcomeKind } from '../../src/model/outcome.js';
import { summaryText } from '../../src/report/console.js';
import { reportPage } from '../../src/report/html.js';
import { durationText, type Summary } from '../../src/report/summary.js';
import type { Samples } from '../../src/report/tally.js';
import { headline } from '../../src/report/wording.js';
import { outcome } from './sample.js';

function summary(counts: Partial<OutcomeCounts>, more: Partial<Summary> = {}): Summary {
  const rows = { ...noOutcomes(), ...counts };
  const total = Object.values(rows).reduce((sum, n) => sum + n, 0);
  return {
    run: '20260331T140501Z-7f3a',
    job: 'assets',
    kind: 'import',
    resource: 'asset',
    company: 1,
    dry_run: false,
    status: 'partial',
    service: 'https://records.example.com/',
    source: {
      path: '/home/m/laptops.xlsx',
      sha256: 'ab',
      format: 'xlsx',
      encoding: null,
      delimiter: null,
      sheet: 'S',
      header_row: 1,
      rows: total,
    },
    rows: { ...rows, total },
    requests: { total: 1342, reads: 131, writes: 1204, retries: 7 },
    warnings: [],
    top_faults: [],
    started_at: '2026-03-31T14:05:01Z',
    finished_at: '2026-03-31T14:06:22Z',
    seconds: 81.2,
    reports: ['results.csv', 'rejected.xlsx', 'report.html', 'summary.json'],
    ...more,
  };
}

const none: Samples = new Map();
/** Each row has a reason of its own. */
const only = (kind: OutcomeKind, ...rows: Outcome[]): Samples =>
  new Map([[kind, rows.map((first) => ({ rows: 1, first: [first] }))]]);
const HOSTILE = `</td><script>alert(1)</script><img src="http://evil.example/x" onerror='x'>&amp;`;

describe('headline', () => {
  test.each([
    [
      { created: 640, updated: 212, unchanged: 352, invalid: 11, rejected: 4 },
      {},
      '1,204 of 1,219 rows are in; 15 need a person.',
    ],
    [{ created: 1219 }, { status: 'succeeded' }, 'All 1,219 rows are in.'],
    [{ unchanged: 3 }, {}, 'All 3 rows are in the service already; nothing was sent.'],
    [{ created: 1 }, {}, 'The only row is in.'],
    [{ created: 1, invalid: 1 }, {}, '1 of 2 rows is in; 1 needs a person.'],
    [{ created: 2, skipped: 1 }, {}, '2 of 3 rows are in; 1 was skipped.'],
    [{ created: 2, invalid: 1 }, { dry_run: true }, '2 of 3 rows would go in; 1 needs a person.'],
    [
      { invalid: 4, not_attempted: 6 },
      { status: 'braked' },
      'Stopped by a brake: nothing was written; 4 need a person; 6 were not reached.',
    ],
    [
      { created: 4, not_attempted: 6 },
      { status: 'interrupted' },
      'The run was interrupted: 4 of 10 rows are in; 6 were not reached.',
    ],
    [{}, { status: 'succeeded' }, 'The file holds no data rows.'],
    [{}, { status: 'interrupted', file: 'a.csv' }, 'The run was interrupted before it began.'],
  ] as const)('%j %j', (counts, more, expected) => {
    expect(headline(summary(counts, more))).toBe(expected);
  });

  test('durations', () => {
    expect([0.42, 48.4, 185, 7800].map(durationText)).toEqual(['0.4 s', '48 s', '3 min 05 s', '2 h 10 min']);
  });
});

describe('report.html', () => {
  test('asks the network for nothing and runs nothing', () => {
    const page = reportPage(summary({ created: 5, invalid: 2, unknown: 1 }), none);
    expect(page).not.toMatch(/https?:|\/\/|<script|\bsrc=|@import|url\(|<link/i);
    for (const [, target] of page.matchAll(/href="([^"]*)"/g))
      expect(target).toMatch(/^[a-z]+\.(csv|xlsx|html|json|ndjson)$/);
    expect(page).toContain(`default-src 'none'`);
  });

  test('hostile text is text wherever it stands', () => {
    const issues = [fault('too_long', HOSTILE, { column: HOSTILE, value: HOSTILE })];
    const page = reportPage(
      summary(
        { invalid: 1 },
        {
          job: HOSTILE,
          reason: HOSTILE,
          service: HOSTILE,
          warnings: [HOSTILE],
          run: HOSTILE,
          top_faults: [{ code: 'too_long', count: 1, column: HOSTILE, example: HOSTILE }],
        },
      ),
      only('invalid', outcome(2, 'invalid', { key: HOSTILE, issues })),
    );
    expect(page).not.toMatch(/<script|<img|onerror='/);
    expect(page.split('&lt;script&gt;alert(1)').length - 1).toBeGreaterThanOrEqual(10);
    expect(page).toContain('&amp;amp;');
  });

  test('control characters and writing directions stay inside their value (91)', () => {
    const key = 'a\u0000\u001b[31m\u202eb';
    const page = reportPage(summary({ invalid: 1 }), only('invalid', outcome(2, 'invalid', { key })));
    expect(page).toContain('<bdi>a\u2400\u241b[31m\u202eb</bdi>');
  });

  test('every tag that is opened is closed, for every status', () => {
    for (const status of ['succeeded', 'partial', 'braked', 'failed', 'interrupted'] as const) {
      for (const dry_run of [true, false]) {
        const rows = Object.fromEntries(OUTCOMES.map((kind, at) => [kind, at * 100])) as OutcomeCounts;
        const samples = new Map(OUTCOMES.slice(4).map((kind) => [kind, [{ rows: 1, first: [outcome(7, kind)] }]]));
        const page = reportPage(summary(rows, { status, dry_run, reason: 'Why.', warnings: ['w'] }), samples);
        const open: string[] = [];
        for (const [, slash, tag, , own] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)((?:[^>"]|"[^"]*")*?)(\/?)>/g)) {
          if (own || tag === 'meta') continue;
          if (slash) expect(open.pop()).toBe(tag);
          else open.push(tag ?? '');
        }
        expect(open).toEqual([]);
        expect(page.includes('Dry run')).toBe(dry_run);
      }
    }
  });

  test('names counts, rows, values and what to do', () => {
    const issues = [fault('not_a_number', 'Write it like 1200.50.', { column: 'Cost', value: 'twelve' })];
    const page = reportPage(
      summary(
        { created: 1204, invalid: 15 },
        { top_faults: [{ code: 'not_a_number', count: 1500, column: 'Cost', example: 'twelve' }] },
      ),
      only('invalid', outcome(17, 'invalid', { key: 'SN-17', issues })),
    );
    const text = page
      .replace(/<style>.*?<\/style>/s, '')
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ');
    for (const words of [
      '1,204 of 1,219 rows are in; 15 need a person.',
      'Correct the red cells of',
      '1,500',
      'SN-17',
      'twelve',
      'Write it like 1200.50.',
      '(1 of them here; the others are in results.csv)',
      '98.8%',
    ]) {
      expect(text).toContain(words);
    }
    expect(page.match(/<th(?![^>]*scope=)[ >]/)).toBeNull();
    expect(page).toMatch(/<svg[^>]*role="img" aria-label="Rows by outcome: 1,204 created, 15 invalid\."/);
  });
});

test('the page says what was taken from the file itself, and what spoke for it', () => {
  const found = ['The decimal sign is ",": "1.234,50" (row 2, Preis) shows it.', '<b>'];
  const page = reportPage(summary({ created: 1 }, { detected: found }), none);
  expect(page).toContain('How the file was read');
  expect(page).toContain('<bdi>The decimal sign is &quot;,&quot;: &quot;1.234,50&quot; (row 2, Preis) shows it.</bdi>');
  expect(page).toContain('<bdi>&lt;b&gt;</bdi>');
  expect(reportPage(summary({ created: 1 }), none)).not.toContain('How the file was read');
});

describe('console summary', () => {
  test('a fault without a column names its field, on the page too', () => {
    const shown = summary(
      { created: 1, invalid: 1 },
      {
        top_faults: [
          { code: 'required', count: 1, field: 'name' },
          { code: 'run_stopped', count: 1 },
        ],
      },
    );
    expect(summaryText(shown)).toContain('  1 × required (field name)\n  1 × run_stopped\n');
    const cells = [...reportPage(shown, none).matchAll(/<\/code><\/td><td>(.*?)<\/td>/g)].map((match) =>
      match[1]!.replace(/<[^>]+>/g, ''),
    );
    expect(cells).toEqual(['field name', 'whole row']);
  });

  test('counts are aligned, the reports are named, a next step is given', () => {
    const text = summaryText(
      summary(
        { created: 1204, invalid: 15 },
        { top_faults: [{ code: 'too_long', count: 15, column: ' Name ', example: 'x' }], warnings: ['w'] },
      ),
      'out',
    );
    expect(text.split('\n')).toEqual([
      '1,204 of 1,219 rows are in; 15 need a person.',
      '',
      '  1,204  created        A new record was made.',
      '!    15  invalid        A value breaks a rule or a name was not found. Checked here, never sent.',
      '',
      'Most common faults:',
      '  15 × too_long in Name, such as "x"',
      '',
      'Note: w',
      '',
      '1 min 21 s, 1,342 requests (131 reads, 1,204 writes, 7 retries)',
      'Reports: out: results.csv, rejected.xlsx, report.html, summary.json',
      expect.stringMatching(
        /^Next: Correct the red cells of rejected\.xlsx and import it again with the same job: it holds the 15 rows/,
      ),
      '',
    ]);
  });

  test('a note is told to its end, which says what to do; of a value its beginning is enough', () => {
    const note = `${'Rows 2 and 3 look odd. '.repeat(20)}Delete them.`;
    const fault = { code: 'too_long' as const, count: 1, column: 'Name', example: 'x'.repeat(3_000) };
    const text = summaryText(summary({ invalid: 1 }, { warnings: [note], top_faults: [fault] }));
    expect(text).toContain(`Note: ${note}\n`);
    expect(text).toContain(`such as "${'x'.repeat(79)}…"\n`);
  });

  test('a value cannot write to the terminal (91)', () => {
    const text = summaryText(summary({ invalid: 1 }, { warnings: ['a\u001b[2J\nb\u202e'], reason: 'x\u0007' }));
    expect(text).toContain('Note: a␛[2J b\ufffd\n');
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
