import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { bookOf, textRows } from '../files/fixtures.js';
import { odsOf, sheetXml, textSheet } from '../files/ods-fixtures.js';
import { csv, type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

/** Totals and notes are rows of the file: each has its outcome, in every run and report. */

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});

const JOB = importOf('asset', 'serial_number', {
  Name: 'name',
  Serial: 'serial_number',
  Model: { field: 'asset_notes' },
  Cost: 'original_cost',
});
const HEADINGS = ['Name', 'Serial', 'Model', 'Cost'];
const records = (count: number) => Array.from({ length: count }, (_, i) => [`A${i}`, `S-${i}`, `M${i}`, '10.00']);
const BELOW = [['Total', '', '', '100.00'], ['Source: register', '', '', ''], HEADINGS];
const TABLE = [HEADINGS, ...records(10), ...BELOW];

const skippedRows = ({ results }: Imported) =>
  results.filter(({ codes }) => codes === 'not_a_record').map(({ row, outcome }) => `${row} ${outcome}`);
const asRead = (imported: Imported, outcome: string) => {
  expect(imported.summary.rows).toMatchObject({ total: 13, [outcome]: 10, skipped: 3 });
  expect(imported.summary.source).toMatchObject({ rows: 13 });
  expect(imported.outcomes).toHaveLength(13);
  expect(skippedRows(imported)).toEqual(['12 skipped', '13 skipped', '14 skipped']);
  expect(imported.exitCode).toBe(0);
  expect(imported.faults).toEqual([]);
};

it('a last row without its key is no note where the job has its column', async () => {
  const rows = [HEADINGS, ...records(3), ['', '', 'M7', ''], ['', '', 'M8', '']];
  const run = await desk.import(await desk.file('a.csv', rows), JOB);
  expect(run.outcomes.slice(-2)).toEqual(['5 invalid', '6 invalid']);
});

it('a last row that only looks like a total or a note, and has all that a record needs, is one that is told', async () => {
  const job = { kind: 'import', resource: 'supplier', match: { key: 'name' }, columns: { Firma: 'name', Ort: 'city' } };
  const rows = [
    ['Firma', 'Ort', 'Umsatz'],
    ['Aab', 'Ulm', '1'],
    ['Bee', 'Ulm', '2'],
    ['Summe:', '', '9'],
    ['Seite 1/1', '', ''],
  ];
  const run = await desk.import(await desk.file('a.csv', rows), job, { dryRun: true });
  expect(run.outcomes).toEqual(['2 created', '3 created', '4 created', '5 created']);
  expect(run.summary.warnings).toContainEqual(
    expect.stringMatching(/^Rows that look like totals .* taken for records because their key is filled: rows 4, 5\. /),
  );
});

it('a workbook whose first sheet holds no table: the refusal names the sheets where it may be', async () => {
  const sheets = [
    { name: 'Cover', xml: textRows([['Assets 2024'], ['See the next sheet']]) },
    { name: 'Inventory', xml: textRows(TABLE) },
  ];
  const file = await desk.file('a.xlsx', bookOf({ sheets }));
  await expect(desk.import(file, JOB)).rejects.toThrow(
    /in row \d of the sheet "Cover"; if they are in "Inventory", name that sheet in the job \(`source\.sheet`\)\. Nothing was sent\./,
  );
  asRead(await desk.import(file, { ...JOB, source: { sheet: 'Inventory' } }), 'created');
});

describe('totals and notes below a table (101)', () => {
  it.each([
    ['CSV', 'a.csv', Buffer.from(csv(TABLE))],
    ['CSV, packed', 'a.csv.gz', gzipSync(csv(TABLE))],
    ['XLSX', 'a.xlsx', bookOf({ sheets: [{ xml: textRows(TABLE) }] })],
    ['ODS', 'a.ods', odsOf({ body: sheetXml('A', textSheet(TABLE)) })],
  ])('%s: in a rehearsal, an import and the next one every row has its outcome', async (_, name, bytes) => {
    const file = await desk.file(name, bytes);
    asRead(await desk.import(file, JOB, { dryRun: true }), 'created');
    const first = await desk.import(file, JOB);
    asRead(first, 'created');
    expect(first.results.slice(-3).map(({ key, message }) => [key, message])).toEqual([
      [
        '',
        expect.stringMatching(/^The row looks like a total \("Total \| 100\.00"\) and was skipped\. .*footer: keep/),
      ],
      ['', expect.stringContaining('looks like a note ("Source: register")')],
      ['', expect.stringContaining('looks like the heading again')],
    ]);
    expect(first.summary.warnings).toContainEqual(
      expect.stringMatching(/^Rows that look like totals .*: rows 12, 13, 14\. .*footer: keep/),
    );
    const again = await desk.import(file, JOB);
    asRead(again, 'unchanged');
    expect(again.commits).toBe(0);
  });

  it('are no rows for a person, and are read as data where the job says keep', async () => {
    const file = await desk.file('a.csv', [HEADINGS, ['B', 'S-99', '', 'ten'], ...TABLE.slice(1)]);
    const imported = await desk.import(file, JOB);
    expect(imported.summary.rows).toMatchObject({ total: 14, created: 10, invalid: 1, skipped: 3 });
    const rejected = await readFile(join(imported.reportDir, 'rejected.csv'), 'utf8');
    expect(rejected.trim().split('\n')).toHaveLength(2);
    const kept = await desk.import(await desk.file('b.csv', TABLE), { ...JOB, source: { footer: 'keep' } });
    expect(kept.summary.rows).toMatchObject({ total: 13, unchanged: 10, skipped: 0 });
    expect(kept.exitCode).toBe(3);
  });

  it('a last row with nothing but its key is a record that lacks the rest', async () => {
    const file = await desk.file('a.csv', [HEADINGS, ...records(10), ['', 'S-77', '', '']]);
    const imported = await desk.import(file, {
      ...JOB,
      columns: { ...JOB.columns, Name: { field: 'name', required: true } },
    });
    expect(imported.summary.rows).toMatchObject({ total: 11, created: 10, invalid: 1, skipped: 0 });
  });

  it('a row named like one is a record where it carries its key and converts', async () => {
    const last = ['Total', '4711', '', '100.00'];
    const table = [['Name', 'Serial', 'Model', 'Cost', 'Bought', 'Owner', 'Rack', 'Bay'], ...records(10), last];
    const wide = table.map((row, at) => [...row, ...(at === 0 || at > 10 ? [] : ['a', 'b', 'c', 'd'])]);
    const file = await desk.file(
      'a.csv',
      wide.map((row) => [...row, '', '', '', ''].slice(0, 8)),
    );
    expect(await desk.import(file, JOB)).toMatchObject({ summary: { rows: { total: 11, created: 11 } }, exitCode: 0 });
    // Also where the name is the key: its serial number is no sum.
    const byName = await desk.import(file, { ...JOB, match: { key: 'name' } });
    expect(byName.summary.rows).toMatchObject({ unchanged: 11, skipped: 0 });
  });

  it.each([
    ['a note beside a number', ['Source: x', '', '', '4.00']],
    ['a count alone', ['3 records', '', '', '']],
    ['a total that is no sum', ['Total', '', '', '4711.00']],
  ])('in doubt a last row is a record: %s', async (_, last) => {
    const file = await desk.file('a.csv', [HEADINGS, ...records(10), last]);
    const byName = await desk.import(file, { ...JOB, match: { key: 'name' } });
    expect(byName.summary.rows).toMatchObject({ total: 11, created: 11, skipped: 0 });
    expect(desk.sandbox.records('asset').map(({ name }) => name)).toContain(last[0]);
    // Without the key it can be none: only what cannot be a note either is for a person.
    const bySerial = await desk.import(file, JOB, { dryRun: true });
    const isNote = last[0] !== 'Source: x';
    expect(bySerial.summary.rows).toMatchObject({ skipped: isNote ? 1 : 0, invalid: isNote ? 0 : 1 });
  });

  it('a note below a blank row is none, whatever the key is', async () => {
    const file = await desk.file('a.csv', [HEADINGS, ...records(10), ['', '', '', ''], ['3 records', '', '', '']]);
    const byName = await desk.import(file, { ...JOB, match: { key: 'name' } });
    expect(byName.summary.rows).toMatchObject({ total: 11, created: 10, skipped: 1 });
  });

  it('a run that was interrupted goes on with the same rows, and its totals add up', async () => {
    const controller = new AbortController();
    const file = await desk.file('a.csv', TABLE);
    const stopped = await desk.import(file, JOB, {
      env: { ROWFERRY_CONCURRENCY: '1' },
      signal: controller.signal,
      onProgress: ({ phase, done }) => phase === 'writing' && done >= 3 && controller.abort('SIGTERM'),
    });
    expect(stopped.summary.status).toBe('interrupted');
    expect(stopped.summary.rows.total).toBe(13);
    asRead(await desk.resume(), 'created');
    expect(desk.sandbox.records('asset')).toHaveLength(10);
  });

  it('rows that no run has reached are judged anew where the rejected file is imported', async () => {
    const byName = { ...JOB, match: { key: 'name' } };
    const controller = new AbortController();
    const stopped = await desk.import(await desk.file('a.csv', TABLE), byName, {
      signal: controller.signal,
      onProgress: ({ phase }) => phase === 'looking up' && controller.abort('SIGTERM'),
    });
    expect(stopped.outcomes).toContain('12 not_attempted');
    await desk.import(join(stopped.reportDir, 'rejected.csv'), byName);
    expect(desk.sandbox.records('asset').map(({ name }) => name)).not.toContain('Total');
    expect(desk.sandbox.records('asset')).toHaveLength(10);
  });

  it('a brake counts records, and its reports have every row', async () => {
    const few = await desk.file('a.csv', [HEADINGS, ...records(10), ...BELOW]);
    const braked = await desk.import(few, { ...JOB, brakes: { min_rows: 11 } });
    expect(braked.summary).toMatchObject({ status: 'braked', rows: { total: 13, not_attempted: 10, skipped: 3 } });
    expect(braked.summary.reason).toContain('the file has 10 data rows');
    expect(existsSync(join(braked.reportDir, 'rejected.csv'))).toBe(true);
    expect(skippedRows(braked)).toHaveLength(3);
  });

  it('a reconciliation judges missing records as if they were not there', async () => {
    await desk.import(await desk.file('a.csv', [HEADINGS, ...records(11)]), JOB);
    const file = await desk.file('night.csv', TABLE);
    for (const apply of [false, true]) {
      const night = await desk.reconcile(file, { ...JOB, kind: 'reconcile' }, { apply });
      asRead(night, 'unchanged');
      // A row without a key would hold them back: it might be any of them.
      expect(night.summary.reconcile?.orphans).toMatchObject({ total: 1, held: 0 });
    }
  });
});
