import type { Route } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import type { Field, Row, RunDetail, Suggestion, Table } from '../../src/api/schema.js';
import { closeBrowser, hasBrowser } from './browser.js';
import * as sample from './samples.js';
import { type Answers, SESSION, type Stage, stage } from './stage.js';

/** The import page in every state, over answers that are written down here: what it says first, and how it looks. */

const { ID } = sample;
const HEADINGS = ['Serial', 'Item', 'Supplier', 'Price', 'Bought', 'Country', 'Stage', 'Notes'];
const FAULTS = [
  {
    code: 'reference_not_found',
    message: 'There is no supplier "Acme Computer". Did you mean "Acme Computers"? Correct the cell.',
    column: 'Supplier',
    field: 'attached_supplier',
    value: 'Acme Computer',
  },
  {
    code: 'not_a_number',
    message: '"12x5" cannot be read as a number. Write digits such as 1234.50.',
    column: 'Price',
    field: 'original_cost',
    value: '12x5',
  },
] as const;

function rowAt(place: number, faulty: boolean): Row {
  const fault = FAULTS[place % 2];
  const cells = [
    `SN-${2000 + place}`,
    '<b>ThinkPad</b> T14',
    'Acme Computers',
    '1,289.00',
    '2024-03-01',
    'Germany',
    '',
    `note ${place}`,
  ];
  if (faulty && fault) cells[HEADINGS.indexOf(fault.column)] = fault.value;
  const issues = faulty && fault ? [{ ...fault, severity: 'error' as const, origin: 'local' as const }] : [];
  return {
    row: place + 4,
    outcome: faulty ? 'invalid' : 'created',
    key: cells[0] ?? '',
    id: null,
    changed: [],
    issues,
    cells,
  };
}

const rows = (count: number, faulty: boolean) => (params: URLSearchParams) => {
  const offset = Number(params.get('offset') ?? 0);
  const here = Math.min(Number(params.get('limit') ?? 100), count - offset);
  const page = Array.from({ length: here }, (_, at) => rowAt(offset + at, faulty));
  return { rows: page, headings: HEADINGS, total: count, next: offset + here < count ? 'more' : null };
};

const field = (name: string, label: string, type: Field['type'], more: Partial<Field> = {}): Field => {
  return {
    name,
    label,
    group: 'Texts',
    type,
    required: false,
    choices: [],
    of: null,
    written: true,
    updated: true,
    ...more,
  };
};
const RESOURCES = [
  {
    name: 'asset',
    imported: true,
    exported: true,
    fields: [
      field('name', 'Name', 'text', { required: true }),
      field('serial_number', 'Serial number', 'text'),
      field('attached_supplier', 'Supplier', 'reference', { of: 'supplier', group: 'Other records' }),
      field('original_cost', 'Original cost', 'number', { group: 'Numbers' }),
      field('service_start_date', 'Service start', 'date', { group: 'Dates' }),
      field('lifecycle_stage', 'Lifecycle stage', 'choice', { required: true, choices: ['Deployed', 'Stock'] }),
    ],
  },
  { name: 'contract', imported: true, exported: true, fields: [] },
];
const TABLE: Table = {
  format: 'xlsx',
  encoding: null,
  delimiter: null,
  sheet: 'Assets',
  sheets: ['Read me', 'Assets'],
  header_row: 3,
  headings: HEADINGS,
  first: Array.from({ length: 20 }, (_, place) => ({ row: place + 4, cells: rowAt(place, false).cells ?? [] })),
  evidence: ['The sheet is "Assets", the first visible one that holds data.', 'Row 3 is the heading.'],
  warnings: ['2 rows above the heading were skipped.'],
  resource: 'asset',
};
const column = (at: number, to: string | null, more: object = {}): Suggestion['columns'][number] => ({
  heading: HEADINGS[at] ?? '',
  column: at + 1,
  field: to,
  confidence: to ? 'high' : 'none',
  evidence: to ? ['the heading is the field’s name'] : [],
  remarks: [],
  why: to ? null : 'no field has such a heading',
  alternatives: [],
  samples: [rowAt(0, false).cells?.[at] ?? '', '<i>sample</i>'],
  blank: 0,
  converts: to ? 1 : null,
  ...more,
});
const SUGGESTION: Suggestion = {
  resource: 'asset',
  rows: 240,
  columns: [
    column(0, 'serial_number'),
    column(1, 'name', { confidence: 'medium' }),
    column(2, 'attached_supplier', { converts: 0.94, remarks: ['2 names are not known to the service'] }),
    column(3, 'original_cost', { converts: 0.5, blank: 0.2 }),
    column(4, 'service_start_date'),
    column(5, null),
    column(6, null, { alternatives: [{ field: 'lifecycle_stage', why: '"Stage" is a word for it' }] }),
    column(7, null),
  ],
  key: { field: 'serial_number', heading: 'Serial', blank: 0, repeats: 2, fits: true },
  missing: [],
  next: null,
  warnings: [],
  text: '',
  job: {
    ...{ kind: 'import', resource: 'asset', match: { key: 'serial_number' } },
    columns: {
      ...{ Serial: 'serial_number', Item: 'name', Supplier: 'attached_supplier', Price: 'original_cost' },
      ...{ Bought: 'service_start_date', Country: null, Stage: null, Notes: null },
    },
  },
};
const ordered = { job: SUGGESTION.job, file: 'u1' };
const checked = (faults: number) =>
  sample.detail({
    dry_run: true,
    ordered,
    outcomes: sample.counts({ created: 240 - faults, invalid: faults }),
    summary: sample.summary({ dry_run: true, rows: sample.counts({ created: 240 - faults, invalid: faults }) }),
  });
/** Checks of what is sent, as the API tells of them afterwards. */
function checkOf(run: RunDetail): Answers {
  let now = run;
  return {
    'POST /runs': (_: unknown, { job }: { readonly job: object }) => {
      now = { ...run, ordered: { ...ordered, job: job as Suggestion['job'] } };
      return { id: run.id };
    },
    [`GET /runs/${run.id}`]: () => now,
  };
}
const LIVE = sample.detail({ status: 'running', dry_run: true, ordered, summary: null, reports: [], outcomes: null });

const BASE: Answers = {
  'GET /files/u1': { id: 'u1', file: 'u1', name: 'inventory & <b>more</b>.xlsx', bytes: 20_000, sha256: '' },
  'GET /resources': { resources: RESOURCES },
  'GET /names': { names: ['Acme Chairs'], more: false, lack: null },
  'POST /tables': TABLE,
  'POST /suggestions': SUGGESTION,
  'GET /jobs': { jobs: [{ name: 'assets-hq', kind: 'import', resource: 'asset', problems: [] }] },
  [`GET /runs/${ID}`]: checked(14),
  [`GET /runs/${ID}/rows`]: rows(14, true),
  [`GET /runs/${ID}/faults`]: FAULTS.map((fault, at) => ({ ...fault, meaning: '', rows: 7, first: at + 4 })),
  [`GET /runs/${ID}/plan`]: sample.PLAN,
};
const CHECK = `/import/u1?step=check&run=${ID}`;
/** As it was read, or overruled. */
const tableAsAsked = (_: unknown, { source }: { readonly source: { readonly header_row?: number } }) => {
  return { ...TABLE, header_row: source.header_row ?? TABLE.header_row };
};
const FINE: Answers = {
  [`GET /runs/${ID}`]: checked(0),
  [`GET /runs/${ID}/rows`]: rows(240, false),
  [`GET /runs/${ID}/faults`]: [],
};
/** No brake stops it. */
const WITHIN: Answers = { [`GET /runs/${ID}/plan`]: { ...sample.PLAN, brakes: [] } };
const atFault = ({ page }: Stage) =>
  page
    .locator('.strip')
    .getByText(/There is no supplier/)
    .waitFor();

const STATES: readonly {
  name: string;
  path: string;
  answers?: Answers;
  says: string | RegExp;
  act?: (one: Stage) => Promise<void>;
}[] = [
  {
    name: 'import-left-out',
    path: CHECK,
    says: 'All its cells are emptied: the row is left out.',
    act: async (one) => {
      await atFault(one);
      await one.page.getByRole('button', { name: 'Leave the row out' }).click();
    },
  },
  { name: 'import-upload', path: '/import', says: 'Which file shall go in?' },
  {
    name: 'import-upload-refused',
    path: '/import',
    says: 'empty.csv is empty.',
    answers: { 'POST /files': 413 },
    act: async ({ page }) => {
      const buffer = Buffer.alloc(0);
      await page.locator('input[type=file]').setInputFiles({ name: 'empty.csv', mimeType: 'text/csv', buffer });
    },
  },
  {
    name: 'import-viewer',
    path: '/import',
    says: /this needs the role operator/,
    answers: { 'GET /session': { ...SESSION, role: 'viewer' } },
  },
  {
    name: 'import-table',
    path: '/import/u1?step=table',
    says: 'The first rows',
    act: async ({ page }) => page.getByText('Match 8 columns').waitFor(),
  },
  {
    name: 'import-gone',
    path: '/import/u1?step=table',
    says: 'There is no such thing here',
    answers: { 'GET /files/u1': 404, 'POST /tables': 404 },
  },
  {
    name: 'import-unreadable',
    path: '/import/u1?step=table',
    says: 'cannot be read',
    answers: { 'POST /tables': 422 },
    act: async ({ page }) => page.getByRole('link', { name: 'Choose another file' }).waitFor(),
  },
  { name: 'import-columns', path: '/import/u1?step=columns', says: 'A new asset needs 1 value that no column gives' },
  {
    name: 'import-columns-key',
    path: '/import/u1?step=columns',
    says: 'No column does by itself: choose.',
    answers: { 'POST /suggestions': { ...SUGGESTION, key: null } },
  },
  {
    name: 'import-field',
    path: '/import/u1?step=columns',
    says: '"Stage" is a word for it',
    act: async ({ page }) => page.getByRole('combobox', { name: 'Field for Stage' }).click(),
  },
  {
    name: 'import-checking',
    path: CHECK,
    says: 'Checking: nothing is written',
    answers: { [`GET /runs/${ID}`]: LIVE },
    act: async ({ goesOn }) => {
      goesOn({
        phase: 'looking up',
        done: 96,
        total: 240,
        outcomes: sample.counts({ created: 90, invalid: 6 }),
      });
    },
  },
  {
    name: 'import-refused',
    path: CHECK,
    says: 'The check could not be made',
    answers: {
      [`GET /runs/${ID}`]: sample.detail({
        status: 'failed',
        dry_run: true,
        ordered,
        summary: null,
        outcomes: null,
        reports: [],
        reason: '2 headings of the job are missing.',
      }),
    },
  },
  { name: 'import-check', path: CHECK, says: '226 rows are fine · 14 to correct', act: atFault },
  {
    name: 'import-edit',
    path: CHECK,
    says: 'meant?',
    act: async (one) => {
      await atFault(one);
      await one.page.keyboard.press('F2');
    },
  },
  {
    name: 'import-corrected',
    path: CHECK,
    says: 'Check again with 1 correction',
    act: async (one) => {
      await atFault(one);
      await one.page.getByRole('button', { name: 'Take Acme Computers for 7 rows' }).click();
    },
  },
  {
    name: 'import-fine',
    path: CHECK,
    says: 'All 240 rows are fine',
    answers: FINE,
    act: async ({ page }) => page.locator('#cell-0-0').waitFor(),
  },
  {
    name: 'import-plan',
    path: `/import/u1?step=plan&run=${ID}`,
    says: /rows would be written to Northwind Operations/,
  },
  {
    name: 'import-braked',
    path: `/import/u1?step=plan&run=${ID}`,
    says: /this needs the role approver/,
    act: async ({ page }) => {
      await page.getByRole('button', { name: /^Let it through/ }).focus();
    },
    answers: {
      'GET /session': { ...SESSION, role: 'operator' },
      [`GET /runs/${ID}/plan`]: {
        ...sample.PLAN,
        brakes: [{ name: 'max_updates', limit: '25%', found: '69 of 240 (29%)', tripped: true }],
      },
    },
  },
  {
    name: 'import-result',
    path: `/import/u1?step=result&run=${ID}&write=${ID}w`,
    says: /rows are in/,
    answers: { [`GET /runs/${ID}w`]: sample.detail({ id: `${ID}w` }) },
  },
  {
    name: 'import-writing',
    path: `/import/u1?step=result&run=${ID}&write=${ID}w`,
    says: /96 of 240 rows are through/,
    answers: { [`GET /runs/${ID}w`]: { ...LIVE, id: `${ID}w`, dry_run: false } },
    act: async ({ goesOn }) => {
      goesOn({ phase: 'writing', done: 96, total: 240, outcomes: sample.counts({ created: 96 }) });
    },
  },
];

afterAll(closeBrowser);

describe.skipIf(!hasBrowser)('the import page, in every state', () => {
  it.each(STATES)('$name', async ({ name, path, answers = {}, says, act }) => {
    const one = await stage({ ...BASE, ...answers });
    try {
      await one.page.goto(path);
      await act?.(one);
      await one.page.getByText(says).first().waitFor();
      expect(await one.page.locator('main b').count()).toBe(0);
      expect(await one.look(name)).toEqual([]);
      expect(one.faults).toEqual([]);
    } finally {
      await one.close();
    }
  });

  it('scrolls through a million rows and holds a few', async () => {
    const one = await stage({ ...BASE, ...FINE, [`GET /runs/${ID}/rows`]: rows(1_000_000, false) });
    await one.page.goto(CHECK);
    await one.page.locator('#cell-0-0').waitFor();
    await one.page.getByRole('grid').focus();
    await one.page.keyboard.press('Control+End');
    await one.page.locator('#cell-999999-7').getByText('note 999999').waitFor();
    expect(await one.page.locator('[role=row]').count()).toBeLessThan(80);
    await one.page.keyboard.press('Control+Home');
    await one.page.locator('#cell-0-0').getByText('SN-2000').waitFor();
    expect(one.faults).toEqual([]);
    await one.close();
  });

  it('a text is corrected from its end, and a row that is corrected says so in place of what was wrong', async () => {
    const one = await stage(BASE);
    const { page } = one;
    await page.goto(CHECK);
    await atFault(one);
    await page.keyboard.press('F2');
    await page.getByRole('combobox', { name: 'Supplier, row 4' }).waitFor();
    await page.keyboard.type('s');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowUp');
    await page.locator('.strip .value.good').getByText('Acme Computers', { exact: true }).waitFor();
    await page.getByRole('grid').getByText('corrected', { exact: true }).waitFor();
    expect(
      await page
        .locator('.strip')
        .getByText(/There is no supplier/)
        .count(),
    ).toBe(0);
    await one.close();
  });

  it('on a phone a cell is as wide as there is room beside the number of its row', async () => {
    const long = (params: URLSearchParams) => {
      const page = rows(14, true)(params);
      return { ...page, rows: page.rows.map((row) => ({ ...row, cells: row.cells?.with(1, 'Llanfair'.repeat(9)) })) };
    };
    const one = await stage({ ...BASE, [`GET /runs/${ID}/rows`]: long });
    await one.page.setViewportSize({ width: 380, height: 780 });
    await one.page.goto(CHECK);
    await atFault(one);
    const width = await one.page
      .getByRole('columnheader', { name: 'Item' })
      .evaluate((cell) => cell.getBoundingClientRect().width);
    const room = await one.page.getByRole('grid').evaluate((grid) => grid.clientWidth);
    // Those that come after have the same page.
    await one.page.setViewportSize({ width: 1280, height: 860 });
    expect(width).toBeLessThanOrEqual(room - 64);
    await one.close();
  });

  it('rows that need somebody after the write are corrected in a grid of their own; warnings are told', async () => {
    const cut = '"Notes": 3 texts were longer than 1000 characters, and cut.';
    const done = sample.detail({
      id: `${ID}w`,
      status: 'partial',
      ordered,
      outcomes: sample.counts({ created: 226, invalid: 14 }),
      summary: sample.summary({ rows: sample.counts({ created: 226, invalid: 14 }), warnings: [cut] }),
    });
    const { page, sent, close } = await stage({
      ...BASE,
      [`GET /runs/${ID}w`]: done,
      [`GET /runs/${ID}w/reports/rejected.xlsx`]: '"rows"',
      'POST /files': { id: 'u1', name: 'inventory rejected.xlsx' },
      'POST /runs': { id: ID },
    });
    await page.goto(`/import/u1?step=result&run=${ID}&write=${ID}w`);
    await page.getByText(cut).waitFor();
    await page.getByRole('button', { name: 'Correct them here' }).click();
    await page.getByText('226 rows are fine · 14 to correct').waitFor();
    const order = sent.find(({ what }) => what === 'POST /runs');
    expect(order?.body).toMatchObject({ job: ordered.job, file: 'u1', options: { dry_run: true } });
    await close();
  });

  it('a column whose long texts are cut is not shown as good', async () => {
    const columns = { ...(SUGGESTION.job['columns'] as object), Item: { field: 'name', overflow: 'cut' } };
    const { page, close } = await stage({
      ...BASE,
      'POST /suggestions': { ...SUGGESTION, job: { ...SUGGESTION.job, columns } },
    });
    await page.goto('/import/u1?step=columns');
    await page.locator('.warn').getByText('100% converts, long texts are cut').waitFor();
    await close();
  });

  it('creates suppliers that the service lacks only where somebody says so, and shows them in the plan', async () => {
    const references = [
      { resource: 'supplier', total: 1, first: [{ name: 'Acme Computer', outcome: 'created', rows: 7, row: 4 }] },
    ];
    const dry = checked(0);
    const { page, sent, close } = await stage({
      ...BASE,
      ...FINE,
      ...WITHIN,
      ...checkOf({ ...dry, summary: { ...dry.summary, references } }),
    });
    await page.goto('/import/u1?step=columns');
    await page.getByRole('combobox', { name: 'Lifecycle stage' }).fill('Stock');
    const missing = page.getByRole('combobox', { name: 'Unknown names of Supplier' });
    expect(await missing.inputValue()).toBe('reject');
    await missing.selectOption('create');
    await page.getByRole('button', { name: 'Check 240 rows' }).click();
    await page.getByText('All 240 rows are fine').waitFor();
    expect(sent.find(({ what }) => what === 'POST /runs')?.body).toMatchObject({
      job: { references: { missing: 'create' } },
      options: { dry_run: true },
    });
    await page.getByRole('button', { name: 'See the plan' }).click();
    await page.getByText('1 new supplier created first, by name alone').click();
    await page.getByText('in 7 rows').waitFor();
    await close();
  });

  it('says in the job that rows have no key, and what becomes of texts that are too long', async () => {
    const columns = SUGGESTION.columns.map((one) => (one.field === 'name' ? { ...one, converts: 0.9 } : one));
    const { page, sent, close } = await stage({
      ...BASE,
      ...FINE,
      'POST /suggestions': { ...SUGGESTION, key: null, columns },
      'POST /runs': { id: ID },
    });
    await page.goto('/import/u1?step=columns');
    await page.getByRole('combobox', { name: 'Lifecycle stage' }).fill('Stock');
    await page
      .getByRole('combobox', { name: 'What tells one asset' })
      .selectOption('nothing: every row is a new record');
    await page.getByRole('combobox', { name: 'Long texts of Item' }).selectOption('too long: cut it');
    await page.getByRole('button', { name: 'Check 240 rows' }).click();
    await page.getByText('All 240 rows are fine').waitFor();
    expect(sent.find(({ what }) => what === 'POST /runs')?.body).toMatchObject({
      job: { match: { key: 'none' }, columns: { Item: { field: 'name', overflow: 'cut' } } },
    });
    await close();
  });

  it('orders once, however often a button is pressed', async () => {
    const one = await stage({ ...BASE, ...WITHIN, 'POST /runs': undefined });
    const { page, sent } = one;
    const ordered = () => sent.filter(({ what }) => what === 'POST /runs');
    await page.goto(`/import/u1?step=plan&run=${ID}`);
    const write = page.getByRole('button', { name: /^Write \d+ rows/ });
    await write.dblclick();
    await write.press('Enter');
    await expect.poll(ordered).toHaveLength(1);
    await page.goto(CHECK);
    expect(ordered()).toHaveLength(1);
    await page.getByRole('button', { name: 'Take Acme Computers for 7 rows' }).click();
    await page.getByRole('button', { name: 'Check again with 1 correction' }).dblclick();
    await page.getByRole('grid').press('Control+Enter');
    await expect.poll(ordered).toHaveLength(2);
    await page.goto(CHECK);
    expect(ordered()).toHaveLength(2);
    await one.close();
  });

  it('leaves a row out, and takes it in again', async () => {
    const one = await stage({ ...BASE, 'POST /runs': { id: `${ID}2` } });
    const { page } = one;
    await page.goto(CHECK);
    await atFault(one);
    await page.getByRole('button', { name: 'Leave the row out' }).click();
    await page.getByText('All its cells are emptied: the row is left out.').waitFor();
    await page.getByRole('row').getByText('left out').waitFor();
    await page.getByRole('button', { name: 'Take the row in' }).click();
    await atFault(one);
    expect(await page.getByRole('button', { name: /^Check again/ }).count()).toBe(0);
    // The keys are the grid's again.
    await page.keyboard.press('Shift+ ');
    await page.keyboard.press('Delete');
    await page.getByRole('row').getByText('left out').waitFor();
    // The next fault is that of another row.
    await page.keyboard.press('F8');
    await page.locator('.strip').getByText('"12x5"').waitFor();
    await page.getByRole('button', { name: /^Check again/ }).click();
    await expect
      .poll(() => one.sent.at(-1)?.body)
      .toMatchObject({
        corrections: HEADINGS.map((column) => ({ row: 4, column, value: '' })),
      });
    await one.close();
  });

  it('finds the columns as they were matched when somebody comes back to a table', async () => {
    const one = await stage({ ...BASE, 'POST /tables': tableAsAsked });
    const { page } = one;
    const field = page.getByRole('combobox', { name: 'Field for Notes' });
    const read = async (how: string) => {
      await page.getByRole('combobox', { name: 'Headings' }).selectOption(how);
      await page.getByRole('button', { name: /^Match/ }).click();
    };
    await page.goto('/import/u1?step=columns');
    const says = (value: string) => expect.poll(() => field.inputValue()).toBe(value);
    await says('Not imported');
    await field.fill('lifecycle');
    await page.getByRole('option', { name: 'Lifecycle stage lifecycle_stage' }).click();
    await says('Lifecycle stage');
    await page.getByRole('link', { name: 'Table' }).click();
    await read('in row 7');
    await says('Not imported');
    await page.getByRole('link', { name: 'Table' }).click();
    await read('as it was detected');
    await says('Lifecycle stage');
    await one.close();
  });

  it('has a check for each table that the file is read as', async () => {
    const seventh = checkOf({ ...checked(0), id: `${ID}7` });
    const one = await stage({
      ...{ ...BASE, ...FINE, ...WITHIN, ...seventh, ...checkOf(checked(0)), 'POST /tables': tableAsAsked },
      ...{ [`GET /runs/${ID}7/rows`]: rows(240, false), [`GET /runs/${ID}7/faults`]: [] },
    });
    const { page, sent, answers } = one;
    const step = (name: string) => page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name });
    const read = (how: string) => page.getByRole('combobox', { name: 'Headings' }).selectOption(how);
    const check = async () => {
      await page.getByRole('combobox', { name: 'Lifecycle stage' }).fill('Stock');
      await page.getByRole('button', { name: 'Check 240 rows' }).click();
      await page.getByText('All 240 rows are fine').waitFor();
    };
    await page.goto('/import/u1?step=columns');
    await check();
    await step('Table').click();
    await read('in row 7');
    await page.getByText('headings in row 7').waitFor();
    expect(await step('Plan').count()).toBe(0);
    answers['POST /runs'] = seventh['POST /runs'];
    await step('Columns').click();
    await check();
    expect(sent.findLast(({ what }) => what === 'POST /runs')?.body).toMatchObject({
      job: { source: { header_row: 7 } },
    });
    await step('Table').click();
    await read('as it was detected');
    await page.getByText('headings in row 3').waitFor();
    await step('Plan').click();
    await page.getByRole('button', { name: /^Write \d+ rows/ }).waitFor();
    expect(new URL(page.url()).searchParams.get('run')).toBe(ID);
    await one.close();
  });

  it('looks for the headings of another sheet anew', async () => {
    const one = await stage({ ...BASE, 'POST /tables': { ...TABLE, sheets: ['Assets', 'Old'] } });
    const { page, sent } = one;
    await page.goto('/import/u1?step=table&header_row=7');
    await page.getByRole('combobox', { name: 'Sheet' }).selectOption('Old');
    await page.waitForURL('**step=table&sheet=Old');
    await expect
      .poll(() => sent.at(-1))
      .toEqual({ what: 'POST /tables', body: { file: 'u1', source: { sheet: 'Old' } } });
    await one.close();
  });

  it('shows that a file is on its way, and says of one that did not arrive that it has to be sent again', async () => {
    const one = await stage({ ...BASE }, /ERR_/);
    const { page } = one;
    await page.goto('/import');
    const sent: Route[] = [];
    await page.route('**/api/v1/files?*', (route) => void sent.push(route));
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from('a') });
    await page.getByText(/a\.csv is being/).waitFor();
    await page.getByRole('progressbar', { name: 'Sent' }).waitFor();
    await expect.poll(() => sent).toHaveLength(1);
    await sent[0]?.abort();
    await page.getByText('what you sent, send again').waitFor();
    await page.unroute('**/api/v1/files?*');
    await one.close();
  });

  it('keeps corrections with the table that they are of', async () => {
    const one = await stage({ ...BASE, 'POST /tables': tableAsAsked, 'POST /runs': { id: `${ID}2` } });
    const { page, sent } = one;
    const readIn = async (row: number | null, how = `in row ${row}`) => {
      await page.getByRole('link', { name: 'Table' }).click();
      await page.getByRole('combobox', { name: 'Headings' }).selectOption(how);
      await page.getByText(`headings in row ${row}`).waitFor();
    };
    const check = async () => {
      await page.getByRole('button', { name: /^Match/ }).click();
      await page.getByRole('combobox', { name: 'Lifecycle stage' }).fill('Stock');
      await page.getByRole('button', { name: 'Check 240 rows' }).click();
      await page.waitForURL(/step=check/);
      return sent.findLast(({ what }) => what === 'POST /runs')?.body;
    };
    await page.goto(CHECK);
    await page.getByRole('button', { name: 'Take Acme Computers for 7 rows' }).click();
    await readIn(7);
    expect(await check()).not.toHaveProperty('corrections');
    await readIn(TABLE.header_row, 'as it was detected');
    expect(await check()).toMatchObject({
      corrections: [{ column: 'Supplier', from: 'Acme Computer', value: 'Acme Computers' }],
    });
    await one.close();
  });

  it('takes the corrections of two windows on one import together', async () => {
    const one = await stage(BASE);
    const second = await one.context.newPage();
    const both = [one.page, second];
    for (const page of both) {
      await page.goto(CHECK);
      await page
        .locator('.strip')
        .getByText(/There is no supplier/)
        .waitFor();
    }
    await one.page.getByRole('button', { name: 'Take Acme Computers for 7 rows' }).click();
    await one.page.getByRole('button', { name: 'Check again with 1 correction' }).waitFor();
    await second.locator('#cell-1-3').click();
    await second.keyboard.type('5');
    await second.keyboard.press('Enter');
    for (const page of both) await page.getByRole('button', { name: 'Check again with 2 corrections' }).waitFor();
    await one.page.reload();
    await one.page.getByRole('button', { name: 'Check again with 2 corrections' }).waitFor();
    await second.close();
    await one.close();
  });

  it('goes on without as many rows as the plan leaves out', async () => {
    const outcomes = sample.counts({ created: 222, invalid: 14, ambiguous: 4 });
    const run = { ...checked(14), outcomes, summary: sample.summary({ dry_run: true, rows: outcomes }) };
    const one = await stage({ ...BASE, [`GET /runs/${ID}`]: run });
    await one.page.goto(CHECK);
    await one.page.getByRole('button', { name: 'Go on without 18 rows' }).click();
    await one.page.getByText('without the 18 rows that cannot go in').waitFor();
    await one.close();
  });

  it('shows no plan of a job that was saved anew since the check', async () => {
    const run = { ...checked(0), ordered: { job: 'assets-hq', job_etag: '"a"', file: 'u1' } };
    const job = { name: 'assets-hq', kind: 'import', resource: 'asset', problems: [], text: '', etag: '"a"' };
    const one = await stage({ ...BASE, ...FINE, ...WITHIN, [`GET /runs/${ID}`]: run, 'GET /jobs/assets-hq': job });
    const { page, answers } = one;
    await page.goto(`/import/u1?step=plan&run=${ID}`);
    await page.getByRole('button', { name: /^Write \d+ rows/ }).waitFor();
    answers['GET /jobs/assets-hq'] = { ...job, etag: '"b"' };
    await page.reload();
    await page.getByText('The job assets-hq was changed since this check.').waitFor();
    await one.close();
  });

  it('comes back to the run that writes, after a reload and from the page of uploads', async () => {
    const one = await stage({
      ...BASE,
      ...WITHIN,
      'POST /runs': { id: `${ID}w` },
      [`GET /runs/${ID}w`]: { ...LIVE, id: `${ID}w`, dry_run: false },
    });
    const { page } = one;
    const atWork = async () => {
      await page.getByRole('heading', { level: 1, name: 'It is at work.' }).waitFor();
      expect(new URL(page.url()).searchParams.get('write')).toBe(`${ID}w`);
    };
    await page.goto(`/import/u1?step=plan&run=${ID}`);
    await page.getByRole('button', { name: /^Write \d+ rows/ }).click();
    await atWork();
    await page.reload();
    await atWork();
    await page.goto('/import');
    await page.getByRole('link', { name: 'u1' }).click();
    await atWork();
    expect(one.faults).toEqual([]);
    await one.close();
  });

  it('keeps corrections for whoever made them, and shows them to nobody else who uses the browser', async () => {
    const one = await stage(BASE);
    const { page, answers } = one;
    const corrected = page.getByRole('button', { name: 'Check again with 1 correction' });
    const begun = page.getByRole('heading', { name: 'Go on where you were' });
    await page.goto(CHECK);
    await page.getByRole('button', { name: 'Take Acme Computers for 7 rows' }).click();
    await corrected.waitFor();
    answers['GET /session'] = { ...SESSION, name: 'tom' };
    await page.goto(CHECK);
    await page.getByRole('button', { name: 'Take Acme Computers for 7 rows' }).waitFor();
    await page.goto('/import');
    await page.getByText('Drop a spreadsheet here').waitFor();
    expect(await begun.count()).toBe(0);
    answers['GET /session'] = SESSION;
    await page.goto('/import');
    await begun.waitFor();
    await page.goto(CHECK);
    await corrected.waitFor();
    await one.close();
  });

  it('keeps corrections while nobody answers, and says what to do', async () => {
    const one = await stage({ ...BASE, 'POST /runs': 503 });
    const { page, answers } = one;
    await page.goto(CHECK);
    await page.getByRole('button', { name: 'Take Acme Computers for 7 rows' }).click();
    // Whoever comes back to the window asks for everything anew.
    const known = [`GET /runs/${ID}`, `GET /runs/${ID}/rows`, `GET /runs/${ID}/faults`].map(
      (key) => [key, answers[key]] as const,
    );
    for (const [key] of known) answers[key] = 503;
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange", { bubbles: true }))');
    await page.getByRole('button', { name: 'Check again with 1 correction' }).click();
    await page.getByText('What you corrected is kept in this browser').waitFor();
    await page.locator('#cell-0-2').getByText('Acme Computers', { exact: true }).waitFor();
    for (const [key, answer] of known) answers[key] = answer;
    await page.reload();
    await page.getByRole('button', { name: 'Check again with 1 correction' }).waitFor();
    await one.close();
  });

  it('takes a large range, lines within cells, and what is beyond the table, and takes them back', async () => {
    const one = await stage({ ...BASE, ...FINE, [`GET /runs/${ID}/rows`]: rows(900, false) });
    const { page } = one;
    const cell = (row: number, column: number) => page.locator(`#cell-${row}-${column}`);
    const grid = page.getByRole('grid');
    const paste = (text: string) =>
      page.evaluate(`(() => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', ${JSON.stringify(text)});
        const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
        document.querySelector('[role=grid]').dispatchEvent(event);
      })()`);
    const again = (corrections: string) => page.getByRole('button', { name: `Check again with ${corrections}` });
    await page.goto(CHECK);
    await cell(0, 0).click();
    await paste(Array.from({ length: 650 }, (_, row) => Array(8).fill(`x${row}`).join('\t')).join('\r\n'));
    await again('5,200 corrections').waitFor();
    await cell(3, 7).getByText('x3').waitFor();
    await grid.press('Control+z');
    await cell(3, 7).getByText('note 3').waitFor();
    expect(await again('').count()).toBe(0);

    await grid.press('Control+End');
    await paste('"two\nlines"\tbeyond\nbelow\tbeyond');
    await page.getByText('The table ends before it: 3 of 4 cells were left out.').waitFor();
    await cell(899, 7).getByText('two lines').waitFor();
    await grid.press('F2');
    const field = page.getByRole('textbox', { name: 'Notes, row 903' });
    expect(await field.inputValue()).toBe('two\nlines');
    // All of it is in sight, whatever ends below the cell.
    const { x, y, width, height } = (await field.boundingBox())!;
    const corners = [`${x + 4}, ${y + 4}`, `${x + width - 24}, ${y + height - 4}`];
    for (const corner of corners)
      expect(await page.evaluate(`document.elementFromPoint(${corner}).localName`)).toBe('textarea');
    expect(height).toBeGreaterThan(60);
    await field.press('End');
    await page.keyboard.type('!');
    await field.press('Escape');
    await cell(899, 7).getByText('two lines', { exact: true }).waitFor();
    // What is typed into stays while somebody looks elsewhere.
    await page.keyboard.type('half');
    await page.evaluate('document.querySelector("[role=grid]").scrollTo(0, 0)');
    await cell(0, 0).getByText('SN-2000').waitFor();
    await page.keyboard.type(' whole');
    await page.keyboard.press('Tab');
    await cell(899, 7).getByText('half whole').waitFor();

    await grid.press('Control+a');
    await paste('all');
    await again('7,200 corrections').waitFor();
    await grid.press('Escape');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.closest("[role=grid]")')).toBeNull();
    expect(one.faults).toEqual([]);
    await one.close();
  });
});
