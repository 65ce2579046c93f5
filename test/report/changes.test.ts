import { describe, expect, test } from 'vitest';
import { type DiffText, UNSEEN_LOSS_PHRASE } from '../../src/model/change.js';
import { fault } from '../../src/model/issue.js';
import { noOutcomes, OUTCOMES, type Outcome, type OutcomeCounts } from '../../src/model/outcome.js';
import { AFTER_BRAKE } from '../../src/pipeline/plan/brakes.js';
import { Changes } from '../../src/report/changes.js';
import { reportPage } from '../../src/report/html.js';
import type { Summary } from '../../src/report/summary.js';
import { Tally } from '../../src/report/tally.js';
import type { RowResult } from '../../src/store/run-store.js';
import { facts, head } from './reconcile-sample.js';
import { outcome } from './sample.js';

const HOSTILE = `</td><script>alert(1)</script><img src="http://evil.example/x">`;

const set = (field: string, old: string, value: string, kind: DiffText['kind'] = 'set'): DiffText => ({
  field,
  old,
  new: value,
  kind,
});

function summary(counts: Partial<OutcomeCounts>, more: Partial<Summary> = {}): Summary {
  const rows = { ...noOutcomes(), ...counts };
  const total = Object.values(rows).reduce((sum, n) => sum + n, 0);
  return {
    ...head({ kind: 'import', warnings: [] }),
    dry_run: true,
    status: 'succeeded',
    rows: { ...rows, total },
    top_faults: [],
    reports: ['plan.csv', 'report.html', 'summary.json'],
    ...more,
  };
}

function pageOf(of: Summary, results: Iterable<RowResult>): string {
  const changes = new Changes();
  const tally = new Tally();
  for (const result of results) {
    changes.add(result);
    tally.add(result.outcome);
  }
  return reportPage(of, tally.samples, { changes, columnOf: (field) => (field === 'name' ? 'Item Name' : undefined) });
}

/** The words of the page, after its style. */
function words(page: string): string {
  return page
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ');
}

const row = (one: Outcome, ...diff: DiffText[]): RowResult => ({ outcome: one, diff });
const created = (at: number) =>
  row(outcome(at, 'created'), set('name', '', `Pump ${at}`), set('original_cost', '', '12.5'));
const updated = row(
  outcome(4, 'updated', { id: 7, changed: ['name', 'city', 'area'] }),
  set('name', 'Old Pump', 'New Pump'),
  set('city', 'Lyon', '', 'clear'),
  set('area', 'North', '', 'at_risk'),
  set('floor', '1', '1', 'preserved'),
);

describe('the page of a dry run', () => {
  test('shows the first records to be created, and old → new of the first updates, under the headings of the file', () => {
    const text = words(pageOf(summary({ created: 2, updated: 1 }), [created(2), created(3), updated]));
    expect(text).toContain('To be created 2 new records, with the values that would be sent.');
    expect(text).toContain('2 K-2 Item Name Pump 2 original_cost 12.5');
    expect(text).toContain('4 K-4 area North → lost city Lyon → emptied Item Name Old Pump → New Pump');
    expect(text).not.toContain('floor');
  });

  test('of records that were created there is no column of values, which are kept nowhere', () => {
    const done = row(outcome(2, 'created', { issues: [fault('reference_created', 'There was no supplier.')] }));
    expect(words(pageOf(summary({ created: 1 }, { dry_run: false }), [done]))).toContain(
      'Created 1 new record. Row Key Id Remarks 2 K-2 There was no supplier.',
    );
  });

  test('shows the plan that a brake stopped, and not its reason in each row', () => {
    const issues = [fault('run_stopped', 'max_creates: 2 rows.')];
    const stopped = (at: number, id?: number) =>
      outcome(at, 'not_attempted', { issues, changed: ['name'], ...(id === undefined ? {} : { id }) });
    const text = words(
      pageOf(summary({ not_attempted: 2 }, { dry_run: false, status: 'braked', reason: 'max_creates: 2 rows.' }), [
        row(stopped(2), set('name', '', 'Pump')),
        row(stopped(3, 9), set('name', 'a', 'b')),
      ]),
    );
    expect(text).toContain(
      'To be created 1 new record, with the values that would be sent. Row Key Id Values 2 K-2 Item Name Pump',
    );
    expect(text).toContain('3 K-3 Item Name a → b');
    expect(text.match(/max_creates: 2 rows/g)).toHaveLength(2);
  });

  test('is bounded, however many rows and fields there are and however long they are', () => {
    function* many() {
      const long = 'x'.repeat(30_000);
      const diff = Array.from({ length: 300 }, (_, at) => set(`field_${at}`, long, long));
      for (let at = 2; at < 100_002; at++) {
        yield row(outcome(at, at % 2 === 0 ? 'created' : 'updated', { key: long }), ...diff);
      }
    }
    const page = pageOf(summary({ created: 50_000, updated: 50_000 }), many());
    expect(page.length).toBeLessThan(1_000_000);
    expect(words(page)).toContain(
      '50,000 new records, with the values that would be sent. The first 5; all of them are in',
    );
    expect(words(page)).toContain('and 260 more');
  });

  test('escapes whatever the file or the service holds', () => {
    const page = pageOf(summary({ created: 1, updated: 1 }), [
      row(outcome(2, 'created', { key: HOSTILE }), set(HOSTILE, '', HOSTILE)),
      row(outcome(3, 'updated', { key: HOSTILE }), set(HOSTILE, HOSTILE, `=cmd|' /C calc'!A0${HOSTILE}`)),
    ]);
    expect(page).not.toMatch(/<script|<img/);
    expect(page.split('&lt;script&gt;').length - 1).toBe(7);
  });
});

describe('the verdict', () => {
  const green = (page: string) => /pill good|next good/.test(page);

  test('is green where every row ends well and nothing is lost', () => {
    expect(green(pageOf(summary({ created: 1, unchanged: 3 }), []))).toBe(true);
    expect(green(pageOf(summary({ updated: 1 }), [row(outcome(2, 'updated'), set('name', 'a', 'b'))]))).toBe(true);
  });

  const person = OUTCOMES.slice(4).map((kind): [string, Summary] => [
    kind,
    summary({ created: 9, [kind]: 1 }, { status: 'partial' }),
  ]);
  const orphans = { ...facts().orphans, total: 2, settled: 0 };
  const none = { ...orphans, settled: 2 };
  const losses = { destroyed: 1, missing: 0, other_form: 0 };
  const nightly = { kind: 'reconcile', dry_run: false } as const;
  const cases: [string, Summary, RowResult[]][] = [
    ...person.map(([kind, of]): [string, Summary, RowResult[]] => [kind, of, []]),
    ['a value that an update destroys', summary({ updated: 1 }, { losses }), [updated]],
    ['a value that is emptied', summary({ updated: 1 }), [row(outcome(2, 'updated'), set('city', 'x', '', 'clear'))]],
    [
      'what reads never show',
      summary({ updated: 1 }, { warnings: [`Reads never show make: ${UNSEEN_LOSS_PHRASE}.`] }),
      [],
    ],
    ['orphans', summary({ unchanged: 1 }, { kind: 'reconcile', reconcile: { ...facts(), orphans } }), []],
    [
      'orphans of a night that wrote',
      summary({ unchanged: 1 }, { ...nightly, reconcile: { ...facts(), orphans } }),
      [],
    ],
  ];
  test.each(cases)('is never green over %s, in a dry run or not', (_, of, rows) => {
    expect(green(pageOf(of, rows))).toBe(false);
    expect(green(pageOf({ ...of, dry_run: false }, rows))).toBe(false);
  });

  test('orphans that are settled are no loss', () => {
    const page = pageOf(summary({ unchanged: 1 }, { kind: 'reconcile', reconcile: { ...facts(), orphans: none } }), []);
    expect(green(page)).toBe(true);
  });

  test('a brake that would stop the run is not followed by the way to run it', () => {
    const text = words(pageOf(summary({ created: 9 }, { status: 'braked', reason: 'max_creates' }), []));
    expect(text).toContain('--force');
    expect(text).not.toContain('When this is what you want');
  });
});

describe('rows with the same reason', () => {
  const bad = (at: number, value: string, column = 'Cost') =>
    row(
      outcome(at, 'invalid', {
        issues: [fault('not_a_number', `"${value}" cannot be read as a number.`, { column, value })],
      }),
    );

  test('tell it once, whatever value each of them has', () => {
    const rows = Array.from({ length: 18 }, (_, at) => bad(at + 2, at % 2 === 0 ? 'tbc' : 'n/a'));
    const text = words(pageOf(summary({ invalid: 20 }, { status: 'partial' }), [...rows, bad(90, 'x', 'Price')]));
    expect(text.match(/cannot be read as a number\./g)).toHaveLength(2);
    expect(text).toContain(
      '2, 3, 4, 5, 6 … K-2 , K-3 , K-4 , K-5 , K-6 … Cost tbc n/a 18 rows, same reason; the first: &quot;tbc&quot; cannot be read',
    );
    expect(text).toContain('90 K-90 Price x &quot;x&quot; cannot be read');
  });

  test('texts that are too long by any number of characters have the same one; records that are meant have not', () => {
    const withFault = (code: 'too_long' | 'ambiguous_match', message: string) => ({
      issues: [fault(code, message, { column: 'Name' })],
    });
    const rows = [52, 61].map((n) =>
      row(outcome(n, 'invalid', withFault('too_long', `Name has ${n} characters, not 50.`))),
    );
    const meant = [7, 9].map((n) => row(outcome(n, 'ambiguous', withFault('ambiguous_match', `Ids ${n} and 1${n}.`))));
    const text = words(pageOf(summary({ invalid: 2, ambiguous: 2 }, { status: 'partial' }), [...rows, ...meant]));
    expect(text).toContain('52, 61 K-52 , K-61 Name 2 rows, same reason; the first: Name has 52 characters, not 50.');
    expect(text).toContain('Ids 7 and 17.');
    expect(text).toContain('Ids 9 and 19.');
  });

  test('the commonest come first, and those that are not shown are counted', () => {
    const rows = Array.from({ length: 300 }, (_, at) => bad(at + 2, 'x', `Column ${at}`));
    const text = words(
      pageOf(summary({ invalid: 303 }, { status: 'partial' }), [
        ...rows,
        bad(900, 'x', 'Column 150'),
        bad(901, 'y', 'Column 150'),
      ]),
    );
    expect(text).toContain('Invalid: 303 rows (22 of them here; the others are in results.csv)');
    expect(text.indexOf('Column 150')).toBeLessThan(text.indexOf('Column 0 '));
  });
});

describe('the page of a stopped night', () => {
  const brakes = ['min_rows: the file has 39 rows.', 'max_orphans: 64 of 122 records (52.46%) are missing.'];

  test('names each brake, and what to do once, with the id of the run', () => {
    const reason = `${brakes.join(' ')} ${AFTER_BRAKE}`;
    const stopped = summary({ not_attempted: 1 }, { kind: 'reconcile', dry_run: false, status: 'braked', reason });
    const page = pageOf(stopped, []);
    expect(page).toContain(`<p><bdi>${brakes.join(' ')}</bdi></p>`);
    expect(page.match(/runs approve/g)).toHaveLength(1);
    expect(page).toContain(`rowferry runs approve ${stopped.run} --by NAME`);
  });

  test('shows what is to be typed as such, and the field where no column is to blame', () => {
    const issues = [
      fault('would_lose_value', 'Ask `rowferry doctor --probe` <b>now</b>.', { field: 'area', value: 'North' }),
      fault('would_lose_value', 'A lone ` stays.', { field: 'floor' }),
    ];
    const page = pageOf(summary({ at_risk: 1 }, { status: 'partial' }), [row(outcome(2, 'at_risk', { issues }))]);
    expect(page).toContain('Ask <code>rowferry doctor --probe</code> &lt;b&gt;now&lt;/b&gt;.');
    expect(page).toContain('<bdi>A lone ` stays.</bdi>');
    expect(words(page)).toContain('field area North');
  });
});
