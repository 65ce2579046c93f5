import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { check, linesOf, secondRunQuiet } from './check.js';
import { CARRIED, commit, evidenceOf, type Sample, soundSample } from './sample.js';

let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-check-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** The rules that a sample breaks once it is changed. */
async function broken(change: (sample: Sample) => void): Promise<string[]> {
  const sample = soundSample();
  change(sample);
  return linesOf(await check(await evidenceOf(sample, dir)));
}

const line = (sample: Sample, row: string): string[] => sample.results.find(([one]) => one === row) ?? [];
const put = (body: string) => commit(3, 'PUT', 1, `{"company":1,"name":"Asset O1","serial_number":"O1",${body}}`);
const DEPLOYED = '"lifecycle_stage":"Deployed"';

/** Moves a row from one count to another, so that the totals stay right. */
function becomes(sample: Sample, row: string, from: string, to: string): void {
  const cells = line(sample, row);
  cells[1] = to;
  const { rows } = sample.summary;
  rows[from] = (rows[from] ?? 0) - 1;
  rows[to] = (rows[to] ?? 0) + 1;
}

type Case = readonly [what: string, line: string, change: (sample: Sample) => void];

const CASES: readonly Case[] = [
  ['a row without an outcome', 'one-outcome: row 3 has no outcome', (s) => s.results.splice(2, 1)],
  ['a row with two', 'one-outcome: row 3 has more than one line', (s) => s.results.push([...line(s, '3')])],
  [
    'a row that is not there',
    'one-outcome: row 6 is told',
    (s) => s.results.splice(5, 0, ['6', 'skipped', '', '', '', '', '']),
  ],
  ['a word that is no outcome', 'one-outcome: row 5 ends in "fine"', (s) => becomes(s, '5', 'unchanged', 'fine')],
  [
    'another order',
    'one-outcome: results.csv is not in the order',
    (s) => s.results.splice(1, 2, line(s, '3'), line(s, '2')),
  ],
  ['a wrong count', 'totals: summary.json counts 3 created', (s) => Object.assign(s.summary.rows, { created: 3 })],
  ['a wrong total', 'totals: rows.total is 6', (s) => Object.assign(s.summary.rows, { total: 6 })],
  ['a wrong number of rows read', 'totals: source.rows is 4', (s) => Object.assign(s.summary.source, { rows: 4 })],
  ['success that is none', 'totals: the status is succeeded', (s) => Object.assign(s.summary, { status: 'succeeded' })],
  [
    'unknown without a reason',
    'unknown-is-rare: row 2 is one of 1 unknown rows',
    (s) => becomes(s, '2', 'created', 'unknown'),
  ],
  [
    'a key that is there twice',
    'no-double: row 2 "N1" is there 2 times',
    (s) => s.after.push({ id: 9, company: 1, serial_number: 'N1' }),
  ],
  [
    'two creates of a row',
    'no-double: row 2 "N1" was created by 2',
    (s) => s.commits.push(commit(4, 'POST', 6, '{"company":1,"serial_number":"N1"}')),
  ],
  [
    'an update that is repeated',
    'no-double: row 4 "O1" was updated by 2',
    (s) => s.commits.push(put(`${DEPLOYED},${CARRIED}`)),
  ],
  [
    'a created record that is not there',
    'told-is-true: row 2 is told to be created, and no record',
    (s) => s.after.splice(3, 1),
  ],
  [
    'a wrong value',
    'told-is-true: row 3 lifecycle_stage holds "Lost"',
    (s) => Object.assign(s.after[4] ?? {}, { lifecycle_stage: 'Lost' }),
  ],
  [
    'an update that did not happen',
    'told-is-true: row 4 is told to be updated, and no request',
    (s) => s.commits.pop(),
  ],
  [
    'a create that did not happen',
    'told-is-true: row 3 is told to be created, and no request',
    (s) => s.commits.splice(1, 1),
  ],
  [
    'a write of a row that is told not to be written',
    'told-is-true: row 2 "N1" is told not to be written (failed)',
    (s) => becomes(s, '2', 'created', 'failed'),
  ],
  [
    'a blank cell that cleared',
    'told-is-true: row 5 lifecycle_stage holds ""',
    (s) => Object.assign(s.before[1] ?? {}, { lifecycle_stage: 'Stock' }),
  ],
  [
    'a created row without its id',
    'told-is-true: row 2 is told to be created without its id',
    (s) => line(s, '2').splice(3, 1, ''),
  ],
  [
    'the id of another record',
    'ids-known: row 2 the id told, 5, is that of "N2"',
    (s) => line(s, '2').splice(3, 1, '5'),
  ],
  ['an id of nothing', 'ids-known: row 2 the id told, 77', (s) => line(s, '2').splice(3, 1, '77')],
  [
    'an unchanged row that was sent',
    'unchanged-sends-nothing: row 5 "O2" is unchanged',
    (s) => s.commits.push(commit(4, 'PUT', 2, '{"company":1,"name":"Asset O2","serial_number":"O2"}')),
  ],
  [
    'a write of no row',
    'nothing-else-written: PUT of asset 3 ("X1") belongs to no row',
    (s) =>
      s.commits.push(commit(4, 'PUT', 3, '{"company":1,"name":"Asset X1","serial_number":"X1","asset_notes":"n"}')),
  ],
  [
    'another company',
    'nothing-else-written: POST of asset 4 ("N1") names the company 2',
    (s) => s.commits.splice(0, 1, commit(1, 'POST', 4, '{"company":2,"serial_number":"N1"}')),
  ],
  [
    'another resource',
    'nothing-else-written: POST of supplier 4',
    (s) =>
      s.commits.splice(0, 1, { ...commit(1, 'POST', 4, '{"company":1,"serial_number":"N1"}'), resource: 'supplier' }),
  ],
  [
    'a record that came from nowhere',
    'nothing-else-written: the record 8 ("Z") was made by nobody',
    (s) => s.after.push({ id: 8, company: 1, serial_number: 'Z' }),
  ],
  ['a record that is gone', 'nothing-else-written: the record 3 ("X1") is gone', (s) => s.after.splice(2, 1)],
  [
    'a write in a dry run',
    'nothing-else-written: POST of asset 4 ("N1") in a dry run',
    (s) => Object.assign(s.summary, { dry_run: true }),
  ],
  [
    'a value of a record that no row means',
    'untouched: asset_notes of the record 3 was "n" and is ""',
    (s) => delete s.after[2]?.['asset_notes'],
  ],
  [
    'a value that no column maps',
    'untouched: row 4 country of the record 1 was "276" and is "40"',
    (s) => Object.assign(s.after[0] ?? {}, { country: 40 }),
  ],
  [
    'a PUT that leaves a field out',
    'untouched: row 4 the PUT of 1 carries country = ""',
    (s) => s.commits.splice(2, 1, put(`${DEPLOYED},${CARRIED.replace('"country":276,', '')}`)),
  ],
  [
    'a PUT that rounds an amount',
    'untouched: row 4 the PUT of 1 carries original_cost = "99999999999999.98"',
    (s) => s.commits.splice(2, 1, put(`${DEPLOYED},${CARRIED.replace('99999999999999.99', '99999999999999.98')}`)),
  ],
  [
    'a PUT that drops a custom value',
    'untouched: row 4 the PUT of 1 carries template.1.2 = ""',
    (s) => s.commits.splice(2, 1, put(`${DEPLOYED},${CARRIED.replace(',{"id":2,"value":7.5}', '')}`)),
  ],
  [
    'a PUT that drops a form row',
    'untouched: row 4 the PUT of 1 carries form_template.1.0 = ""',
    (s) => s.commits.splice(2, 1, put(`${DEPLOYED},${CARRIED.replace('"Rack":"R1","Unit":4', '')}`)),
  ],
  [
    'a PUT that drops a usage status',
    'untouched: row 4 the PUT of 1 carries usage_status = ""',
    (s) => s.commits.splice(2, 1, put(`${DEPLOYED},${CARRIED.replace('"usage_status":"non_production",', '')}`)),
  ],
  [
    'a PUT that invents a value',
    'untouched: row 4 the PUT of 1 carries city = "Bern"',
    (s) => s.commits.splice(2, 1, put(`${DEPLOYED},${CARRIED},"city":"Bern"`)),
  ],
  [
    'an edit of others that is overwritten',
    'untouched: row 4 others left "theirs" in asset_notes',
    (s) => Object.assign(s, { more: { edits: [{ id: 1, changes: { asset_notes: 'theirs' } }] } }),
  ],
  ['a fault that is not told', 'reports-agree: row 7 is invalid (too_long), and faults.csv', (s) => s.faults.pop()],
  [
    'a fault of a row that ended well',
    'reports-agree: row 2 faults.csv has the code',
    (s) => s.faults.push(['2', '', '', '', 'required', '', 'local']),
  ],
  [
    'a plan that says something else',
    'reports-agree: row 4 results.csv says that lifecycle_stage changed',
    (s) => s.plan.pop(),
  ],
  [
    'a plan that changes what is unchanged',
    'reports-agree: row 5 is unchanged, and plan.csv',
    (s) => s.plan.push(['5', '2', 'name', '', '', 'set']),
  ],
  [
    'a row that is not given back',
    'reports-agree: row 7 is invalid, and rejected.csv does not',
    (s) => Object.assign(s, { rejected: undefined }),
  ],
  [
    'a row that is given back for nothing',
    'reports-agree: row 2 ended well and stands in rejected.csv',
    (s) => s.rejected?.push(['Asset N1', 'N1', 'Stock', '2', 'created', '', '']),
  ],
  [
    'a cell that is given back changed',
    'reports-agree: row 7 rejected.csv has other text under "Name"',
    (s) => s.rejected?.[1]?.splice(0, 1, 'Good'),
  ],
  ['another key', 'reports-agree: row 2 results.csv has the key "N9"', (s) => line(s, '2').splice(2, 1, 'N9')],
  ['an update without its record before', 'before-kept: row 4 is updated, and before.ndjson', (s) => s.beforeLog.pop()],
  [
    'a record before that is that after',
    'before-kept: row 4 before.ndjson has lifecycle_stage = "Deployed"',
    (s) => Object.assign(s.beforeLog[0] ?? {}, { record: { id: 1, lifecycle_stage: 'Deployed' } }),
  ],
  [
    'a record before of a row that was not updated',
    'before-kept: row 2 is created and stands in before.ndjson',
    (s) => s.beforeLog.push({ row: 2, id: 4, record: { id: 4 } }),
  ],
];

describe('the checker of the promise', () => {
  it('catches an update of one of two records with the same key', async () => {
    const found = await broken((sample) => {
      sample.before.push({ id: 7, company: 1, serial_number: 'O1' });
      sample.after.push({ id: 7, company: 1, serial_number: 'O1' });
    });
    expect(found).toEqual(['ambiguous-is-left: row 4 is updated, and 2 records had its key: 1, 7']);
  });

  it('knows a rehearsal that told nothing', async () => {
    const found = await broken((sample) => {
      sample.more = { runs: [], dryRun: true };
    });
    expect(found).toHaveLength(3);
    expect(found[0]).toContain('nothing-else-written: POST of asset 4 ("N1") in a dry run');
  });

  it('finds nothing in what a sound run left', async () => {
    expect(await broken(() => undefined)).toEqual([]);
  });

  it.each(CASES)('catches %s', async (_, text, change) => {
    expect(await broken(change)).toEqual(expect.arrayContaining([expect.stringContaining(text)]));
  });

  it('knows what others did: an edit that survives, a record they added and one they removed', async () => {
    const found = await broken((sample) => {
      Object.assign(sample.after[0] ?? {}, { asset_notes: 'theirs' });
      sample.commits.splice(2, 1, put(`${DEPLOYED},${CARRIED},"asset_notes":"theirs"`));
      sample.after.push({ id: 8, company: 1, serial_number: 'Z' });
      sample.after.splice(2, 1);
      sample.more = { edits: [{ id: 1, changes: { asset_notes: 'theirs' } }], inserted: [8], removed: [3] };
    });
    expect(found).toEqual([]);
  });

  it('lets a loss pass that was accepted, and no other', async () => {
    const lose = (more: object) =>
      broken((sample) => {
        delete sample.after[0]?.['country'];
        sample.commits.splice(2, 1, put(`${DEPLOYED},${CARRIED.replace('"country":276,', '')}`));
        sample.more = more;
      });
    expect(await lose({ mayLose: ['country'] })).toEqual([]);
    expect(await lose({ mayLose: ['city'] })).toHaveLength(2);
  });

  it('lets a write stand behind a conflict only where an answer was lost', async () => {
    const conflict = (open: number) =>
      broken((sample) => {
        becomes(sample, '2', 'created', 'conflict');
        sample.faults.push(['2', '', '', '', 'changed_meanwhile', '', 'local']);
        line(sample, '2').splice(5, 1, 'changed_meanwhile');
        sample.rejected?.splice(1, 0, ['Asset N1', 'N1', 'Stock', '2', 'conflict', '', '']);
        sample.more = { open };
      });
    expect(await conflict(1)).toEqual([]);
    expect(await conflict(0)).toEqual([
      expect.stringContaining('told-is-true: row 2 "N1" is told not to be written (conflict)'),
    ]);
  });

  it('wants a second import to be quiet', async () => {
    const [first, second] = [soundSample(), soundSample()];
    for (const row of ['2', '3']) becomes(second, row, 'created', 'unchanged');
    becomes(second, '4', 'updated', 'unchanged');
    const [one] = (await evidenceOf(first, dir)).runs;
    const [two] = (await evidenceOf(second, dir)).runs;
    expect(linesOf(await secondRunQuiet(one ?? '', two ?? '', []))).toEqual([]);
    expect(linesOf(await secondRunQuiet(one ?? '', one ?? '', first.commits.slice(0, 1)))).toEqual([
      'second-run-quiet: the second run sent POST of asset 4',
      'second-run-quiet: row 2 was created in the first run and is created in the second',
      'second-run-quiet: row 3 was created in the first run and is created in the second',
      'second-run-quiet: row 4 was updated in the first run and is updated in the second',
    ]);
  });
});
