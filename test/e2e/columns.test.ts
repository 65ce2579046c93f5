import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { utils, writeFile } from 'xlsx';
import { stringify } from 'yaml';
import { checkJobText } from '../../src/runs/job/check.js';
import { readRun } from '../../src/runs/run/list.js';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

/** One column to several fields, several to one, texts that are too long. Contract, section 4. */

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});

const HEAD = ['Serial', 'Vendor', 'Title', 'Kind', 'Bought'];
const COLUMNS = {
  Serial: ['serial_number', { field: 'asset_tag', required: true }],
  Vendor: ['manufacturer', { field: 'attached_supplier', values: { '': null } }],
  Title: { field: 'asset_notes' },
  Kind: 'category.name',
  Bought: '~',
};
const JOB = importOf(
  'asset',
  'serial_number',
  { ...COLUMNS, Bought: null },
  { computed: { name: '{Vendor} / {title}', city: 'Rack {Bought}' } },
);
const file = (...rows: readonly (readonly string[])[]) => desk.file('a.csv', [HEAD, ...rows]);
const problems = (job: object) => checkJobText(stringify(job)).problems.map(({ message }) => message);

it('fields are set from one column and from several, and nothing is sent the second time', async () => {
  const [acme] = desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
  const path = await file(
    ['S-1', ' Acme ', 'ThinkPad {T14}', 'Laptop', '2024'],
    ['S-2', 'Acme', '', 'Laptop', ''],
    ['S-3', 'Globex', 'X', 'Laptop', ''],
    ['', 'Acme', 'X', 'Laptop', ''],
  );
  const { reportDir } = await desk.import(path, JOB, { dryRun: true });
  const page = await readFile(join(reportDir, 'report.html'), 'utf8');
  expect(page).toContain('<bdi>name</bdi>');
  expect(page).not.toContain('<bdi>Vendor</bdi></span> <span class="value">');
  const run = await desk.import(path, JOB);
  expect(run.outcomes).toEqual(['2 created', '3 created', '4 invalid', '5 invalid']);
  const [first, second] = desk.sandbox.records('asset');
  expect(first).toMatchObject({
    ...{
      serial_number: 'S-1',
      asset_tag: 'S-1',
      manufacturer: 'Acme',
      name: 'Acme / ThinkPad {T14}',
      city: 'Rack 2024',
    },
    attached_supplier: expect.objectContaining({ id: acme }),
  });
  expect([second?.['name'], second?.['city'] ?? '']).toEqual(['Acme /', '']);
  const faults = run.faults.map(({ row, column, code }) => `${row} ${column} ${code}`);
  expect(faults).toEqual(['4 Vendor reference_not_found', '5 Serial required', '5 Serial required']);
  expect(run.notices.join()).not.toContain('maps no field');
  const again = await desk.import(path, JOB);
  expect([again.summary.rows.unchanged, again.commits]).toEqual([2, 0]);
});

it('a field of several columns is blank where all of them are, and follows its rules like any other', async () => {
  desk.sandbox.insert('asset', [{ serial_number: 'S-1', name: 'Old', city: 'Bern', category: { id: 1 } }]);
  const job = { ...JOB, columns: { Serial: 'serial_number', Vendor: null, Title: null, Kind: null, Bought: null } };
  const keep = await desk.import(await file(['S-1', '', '', '', '']), job);
  expect(keep.outcomes).toEqual(['2 unchanged']);
  const cleared = await desk.import(await file(['S-1', 'A', '', '', '']), { ...job, blank: 'clear' });
  expect([cleared.outcomes, desk.sandbox.records('asset')[0]]).toEqual([
    ['2 updated'],
    expect.objectContaining({ name: 'A /', city: null }),
  ]);
  const long = await desk.import(await file(['S-1', 'A'.repeat(300), 'B', '', '']), job);
  expect(long.faults).toMatchObject([{ column: 'Vendor', field: 'name', code: 'too_long' }]);
});

it('a field of several columns takes no error cell, formula or number that lost digits for a text', async () => {
  const sheet = utils.aoa_to_sheet([
    HEAD,
    ...['S-1', 'S-2', 'S-3', 'S-4'].map((serial) => [serial, 'Acme', 'x', '', '']),
  ]);
  Object.assign(sheet, {
    C2: { t: 'e', v: 0x2a, w: '#N/A' },
    C3: { t: 'n', v: 123456789012340000 },
    B4: { t: 'e', v: 0x17, w: '#REF!' },
  });
  const path = join(desk.dir, 'parts.xlsx');
  writeFile({ SheetNames: ['A'], Sheets: { A: sheet } }, path);
  const columns = { Serial: 'serial_number', Vendor: null, Title: null, Kind: null, Bought: null };
  const job = { ...JOB, columns, computed: { name: '{Vendor} / {Title}' } };
  const run = await desk.import(path, job, { dryRun: true });
  expect(run.outcomes).toEqual(['2 invalid', '3 invalid', '4 invalid', '5 created']);
  expect(run.faults.map(({ row, column, field, code }) => `${row} ${column} ${field} ${code}`)).toEqual([
    '2 Title name excel_error',
    '3 Title name number_precision_lost',
    '4 Vendor name excel_error',
  ]);
  const blank = await desk.import(path, { ...job, source: { null_values: ['#N/A'] } }, { dryRun: true });
  expect(blank.outcomes[0]).toBe('2 created');
});

it('a field of several columns takes no cell with bytes that are no text, whichever of them it is', async () => {
  const bytes = Buffer.concat([
    Buffer.from('Serial,Vendor,Title\nS-1,Bär Größe Übung,x\n'),
    Buffer.from('S-2,x,Bär\nS-3,Bär,x\n', 'latin1'),
    Buffer.from('S-4,x,Bär\n'),
  ]);
  const path = await desk.file('a.csv', bytes);
  const columns = { Serial: 'serial_number', Vendor: null, Title: null };
  const run = await desk.import(path, { ...JOB, columns, computed: { name: '{Vendor} / {Title}' } });
  expect(run.outcomes).toEqual(['2 created', '3 invalid', '4 invalid', '5 created']);
  expect(run.faults).toMatchObject([
    { row: '3', column: 'Title', field: 'name', code: 'invalid_encoding' },
    { row: '4', column: 'Vendor', field: 'name', code: 'invalid_encoding' },
  ]);
});

it('`overflow: cut` cuts what is too long, counts it, and comes out the same the next time', async () => {
  const job = {
    ...{ kind: 'import', resource: 'asset', match: { key: 'serial_number' } },
    columns: {
      Serial: 'serial_number',
      Vendor: null,
      Bought: null,
      Title: { field: 'name', overflow: 'cut' },
      Kind: 'category.name',
    },
  };
  const text = `${'x'.repeat(248)}😀😀 more`;
  const path = await file(
    ['S-1', '', text, 'Laptop', ''],
    ['S-2', '', 'short', 'Laptop', ''],
    ['S-3', '', text, 'Laptop', ''],
  );
  const run = await desk.import(path, job);
  expect(run.outcomes).toEqual(['2 created', '3 created', '4 created']);
  const most = [...String(desk.sandbox.records('asset')[0]?.['name'])];
  expect(text.startsWith(most.join(''))).toBe(true);
  expect(run.summary.warnings).toContain(`"Title": 2 texts were longer than ${most.length} characters, and cut.`);
  const page = await readFile(join(run.reportDir, 'report.html'), 'utf8');
  expect(page).toContain('<span class="pill warn">Texts were cut</span>');
  expect(run.summary).toMatchObject({ status: 'succeeded', verdict: 'Texts were cut' });
  expect(await readRun(desk.home, run.summary.run)).toMatchObject({ verdict: 'Texts were cut' });
  const again = await desk.import(path, job);
  expect([again.summary.rows.unchanged, again.commits]).toEqual([3, 0]);
  const rejecting = await desk.import(path, { ...job, columns: { ...job.columns, Title: 'name' } });
  expect(rejecting.faults.map(({ row, code }) => `${row} ${code}`)).toEqual(['2 too_long', '4 too_long']);
});

it('letters reach columns without a heading, and numbers those of the same heading', async () => {
  const text = 'Serial,Name,, name,Kind\r\nS-1,Short,Bern,Long,Laptop\r\nS-2,Short,Basel,,Laptop';
  const job = {
    ...{ kind: 'import', resource: 'asset', match: { key: 'serial_number' } },
    columns: {
      Serial: 'serial_number',
      'Name #2': { field: 'name', required: true },
      C: 'city',
      Kind: 'category.name',
    },
  };
  const run = await desk.import(await desk.file('b.csv', text), job);
  expect(run.outcomes).toEqual(['2 created', '3 invalid']);
  expect(run.summary.warnings).toEqual([
    'Columns without a heading are imported only where the job names their letter: C.',
    expect.stringContaining('the job maps no field to it: "Name".'),
  ]);
  expect(desk.sandbox.records('asset')).toMatchObject([{ name: 'Long', city: 'Bern' }]);
  const refused = (columns: object) =>
    desk.import(`${desk.dir}/b.csv`, { ...job, columns: { ...job.columns, ...columns } });
  await expect(refused({ Name: 'asset_tag' })).rejects.toMatchObject({
    details: [expect.stringContaining('write "Name #1" or "Name #2" for the one that is meant')],
  });
  const asked = desk.sandbox.requests.total;
  // A column that has a heading goes by that one, and there is no third.
  for (const heading of ['B', 'Z', 'Name #3'])
    await expect(refused({ [heading]: 'asset_tag' })).rejects.toMatchObject({
      details: [expect.stringContaining(`columns.${heading}: the file has no such heading`)],
    });
  // What is wrong with a file needs no service.
  expect(desk.sandbox.requests.total).toBe(asked);
});

const BARE = [
  ['S-1', 'Desk', 'Bern', 'Laptop', '12.5'],
  ['S-2', 'Chair', 'Nowhere', 'Unheard of', '3'],
  ['S-3', 'Shelf', 'Basel', 'Laptop', '7'],
];
const LETTERS = {
  ...{ kind: 'import', resource: 'asset', match: { key: 'serial_number' }, source: { header_row: 'none' } },
  columns: { A: 'serial_number', B: 'name', C: 'city', D: 'category.name', E: 'original_cost' },
};

it.each(['csv', 'xlsx', 'ods'])(
  'a %s file without headings goes by letters, and its corrected rows come back',
  async (ending) => {
    const name = `bare.${ending}`;
    const path = ending === 'csv' ? await desk.file(name, BARE) : join(desk.dir, name);
    if (ending !== 'csv') {
      const book = utils.book_new();
      utils.book_append_sheet(book, utils.aoa_to_sheet(BARE), 'S');
      writeFile(book, path, { bookType: ending as 'xlsx' });
    }
    const run = await desk.import(path, LETTERS);
    expect(run.outcomes).toEqual(['1 created', '2 invalid', '3 created']);
    expect(run.summary.source?.header_row).toBeNull();
    expect(run.faults).toMatchObject([{ row: '2', column: 'D', code: 'reference_not_found' }]);
    const rejected = run.summary.reports.find((one) => one.startsWith('rejected')) ?? '';
    const back = await desk.import(join(run.reportDir, rejected), {
      ...LETTERS,
      columns: { ...LETTERS.columns, D: null },
      constants: { 'category.name': 'Laptop' },
    });
    expect(back.summary.rows).toMatchObject({ created: 1, total: 1 });
    expect(desk.sandbox.records('asset').map((one) => one['city'])).toEqual(['Bern', 'Basel', 'Nowhere']);
    const again = await desk.import(path, { ...LETTERS, columns: { ...LETTERS.columns, D: null } });
    expect([again.summary.rows.unchanged, again.commits]).toEqual([3, 0]);
  },
);

it('without headings: rows that are wider than the others, blank files, headings that are none', async () => {
  const long = [
    ...Array.from({ length: 120 }, (_, i) => [`S-${100 + i}`, 'Desk', 'Bern', 'Laptop', '1']),
    [...BARE[0]!, 'more'],
  ];
  const wide = await desk.import(await desk.file('w.csv', long), LETTERS);
  expect(wide.faults).toMatchObject([{ row: '121', code: 'ragged_row' }]);
  expect(wide.summary.rows).toMatchObject({ created: 120, invalid: 1 });
  await expect(desk.import(await desk.file('e.csv', '\n\n'), LETTERS)).rejects.toThrow();
  const named = { ...LETTERS, columns: { ...LETTERS.columns, Serial: 'asset_tag' } };
  await expect(desk.import(await desk.file('b.csv', BARE), named)).rejects.toMatchObject({
    details: [expect.stringContaining('columns.Serial: the file has no such heading')],
  });
});

it('a fault of a field of several columns stands at the first of them that holds something', async () => {
  const run = await desk.import(await file(['S-1', '', 'x'.repeat(60), 'Laptop', '']), JOB);
  expect(run.faults.map(({ column, code }) => `${column} ${code}`)).toEqual(['Title too_long']);
});

it('a field of several columns has nothing of cells that mean blank, nor of a column that may be missing', async () => {
  const job = importOf(
    'supplier',
    'name',
    { N: 'name', A: { field: 'city', optional: true }, Q: 'phone' },
    { source: { null_values: ['NULL'] }, computed: { general_description: '{A}{Q}' } },
  );
  await desk.import(await desk.file('n.csv', 'N,A,Q\nboth,NULL,NULL\none,NULL,5\n'), job);
  await desk.import(await desk.file('m.csv', 'N,Q\nlacks,6\n'), job);
  const made = desk.sandbox.records('supplier').map((one) => [one['name'], one['general_description'] ?? '']);
  expect(made).toEqual([
    ['both', ''],
    ['one', '5'],
    ['lacks', '6'],
  ]);
});

it('jobs are told what does not fit', async () => {
  expect(problems(JOB)).toEqual([]);
  expect(problems({ ...JOB, computed: { name: 'Box' } })).toEqual([
    expect.stringContaining('names no heading in braces'),
  ]);
  expect(problems({ ...JOB, computed: { manufacturer: '{Title}' } }).join()).toContain('set by columns.');
  expect(problems({ ...JOB, columns: { ...JOB.columns, Title: ['name', 'nam'] } }).join()).toContain('nam');
  expect(problems({ ...JOB, columns: { ...JOB.columns, Bought: [] } })).toEqual([
    expect.stringContaining('empty list'),
  ]);
  const missing = { ...JOB, computed: { name: '{Vender} {Title}' } };
  await expect(desk.import(await file(['S-1', 'A', 'B', 'Laptop', '']), missing)).rejects.toMatchObject({
    details: [expect.stringMatching(/computed\.name: the file has no heading "Vender".*Vendor/)],
  });
});
