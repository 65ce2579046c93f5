import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeEach, describe, expect, test } from 'vitest';
import { serve } from '../../service/server.js';
import { type Desk, openDesk } from '../../support/desk.js';
import { answer, answerOther, oddService } from './odd-service.js';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});

const rowsOf = async (file: string): Promise<Record<string, string>[]> =>
  parse(await readFile(file), { columns: true, relax_column_count: false });
const numbered = (count: number, more: (id: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, name: `No. ${at + 1}`, ...more(at + 1) }));
const at = (url: string, more: Record<string, string> = {}) => ({ env: { ROWFERRY_API_URL: url, ...more } });

describe('a page behind the end of a list whose last page is full', () => {
  test.each([400, 404, 410, 422])('answered with %i is the end', async (status) => {
    const { url } = await oddService({ supplier: numbered(50) }, (response) => answer(response, status, {}));
    const { summary } = await desk.export('supplier', 'out.csv', at(url));
    expect(summary).toMatchObject({ status: 'succeeded', consistency: 'verified', records: 50, passes: 2 });
    expect(summary.warnings).toEqual([]);
  });

  test.each([500, 501, 302])(
    'answered with %i leaves the count, which is believed, and that is said',
    async (status) => {
      const { url, asked } = await oddService({ supplier: numbered(50) }, (response) => answer(response, status, {}));
      const { summary, notices } = await desk.export('supplier', 'out.csv', at(url));
      expect(summary).toMatchObject({ status: 'succeeded', consistency: 'verified', records: 50, passes: 2 });
      expect(notices.join(' ')).toMatch(
        new RegExp(`page 3, behind the last, .*status ${status}: the count is believed`),
      );
      expect(asked().filter((path) => path.endsWith('page=3')).length).toBeLessThanOrEqual(2);
    },
  );

  test('that is never answered does not keep the export from ending', async () => {
    const { url } = await oddService({ supplier: numbered(50) }, (response) => response.destroy());
    const { summary, notices } = await desk.export('supplier', 'out.csv', at(url));
    expect(summary).toMatchObject({ status: 'succeeded', consistency: 'verified', records: 50 });
    expect(notices.join(' ')).toContain('no answer came');
  });

  test('that the token may not see ends the export, as every page does', async () => {
    const { url } = await oddService({ supplier: numbered(50) }, (response) => answer(response, 403, {}));
    const { summary } = await desk.export('supplier', 'out.csv', at(url));
    expect(summary).toMatchObject({ status: 'failed', reason: expect.stringContaining('Access was denied (403)') });
  });
});

test('a page that was due and is refused makes the list partial, and the answer is named', async () => {
  const records = numbered(60);
  const { url } = await serve((response, { url: { pathname, searchParams } }) => {
    const page = Number(searchParams.get('page') ?? 1);
    if (!pathname.includes('/supplier/')) answerOther(response, pathname);
    else if (page === 2) answer(response, 400, { detail: 'no' });
    else answer(response, 200, { count: 60, results: records.slice((page - 1) * 25, page * 25) });
  });
  const { summary } = await desk.export('supplier', 'out.csv', at(url));
  expect(summary).toMatchObject({ status: 'partial', consistency: 'partial', records: 35 });
  expect(summary.warnings.join(' ')).toContain('page 2: the service refused it with status 400');
});

test('a list that became shorter is read to its end where pages behind it are refused', async () => {
  let records = numbered(60);
  let asked = 0;
  const { url } = await serve((response, { url: { pathname, searchParams } }) => {
    const page = Number(searchParams.get('page') ?? 1);
    if (!pathname.includes('/supplier/')) {
      answerOther(response, pathname);
      return;
    }
    if (++asked === 4) records = records.slice(0, 20);
    const results = records.slice((page - 1) * 25, page * 25);
    if (page > 1 && results.length === 0) answer(response, 422, {});
    else answer(response, 200, { count: records.length, results });
  });
  const { summary, file } = await desk.export('supplier', 'out.csv', at(url, { ROWFERRY_CONCURRENCY: '1' }));
  expect(summary).toMatchObject({ consistency: 'verified', records: 20 });
  expect(await rowsOf(file)).toHaveLength(20);
});

describe('records without an id that can be used', () => {
  const records = [...numbered(3), { id: 'A-17', name: 'Lettered' }, { id: null, name: 'Nobody' }];

  test('are the last in the file, which is partial', async () => {
    const { url } = await oddService({ supplier: records });
    const { summary, file, exitCode } = await desk.export('supplier', 'out.csv', at(url));
    expect((await rowsOf(file)).map(({ id, name }) => [id, name])).toEqual([
      ['1', 'No. 1'],
      ['2', 'No. 2'],
      ['3', 'No. 3'],
      ['A-17', 'Lettered'],
      ['', 'Nobody'],
    ]);
    expect(summary).toMatchObject({ status: 'partial', consistency: 'partial', records: 5 });
    expect(exitCode).toBe(3);
    expect(summary.warnings.join(' ')).toContain('2 of its records have no id');
    expect(summary.warnings.join(' ')).toContain('held still');
  });

  test.each([
    ['a filter', { filter: { name: ['Nobody', 'No. 2'] } }, ['No. 2']],
    ['an order', { order: '-name' }, ['No. 3', 'No. 2', 'No. 1']],
    ['--editable', { editable: true }, ['No. 1', 'No. 2', 'No. 3']],
  ] as const)('are left out by %s, and that is said', async (_, { ...options }, names) => {
    const { url } = await oddService({ supplier: records });
    const { summary, file } = await desk.export('supplier', 'out.csv', { ...options, ...at(url) } as never);
    expect((await rowsOf(file)).map(({ name }) => name)).toEqual(names);
    expect(summary.warnings.join(' ')).toMatch(/came without an id and are not in the file/);
  });
});

test('the sheet about the file says that a list held still and does not add up', async () => {
  const { aboutFile } = await import('../../../src/runs/export/table-layout.js');
  const run = {
    request: { resource: 'supplier', startedAt: '2026-01-02T03:04:05Z', company: 1 },
    folder: { run: 'r' },
  };
  const facts = (passes: number) =>
    new Map(
      aboutFile(
        { run, companyName: 'Odd', filter: { described: [] }, order: { described: 'id' } } as never,
        { consistency: 'partial', passes, records: 2 } as never,
        2,
      ).facts,
    ).get('Consistency');
  expect(facts(2)).toMatch(/read 2 times, it held still/);
  expect(facts(4)).toMatch(/read 4 times, and no two agreed/);
});

describe('a list beside the records that the token may not read', () => {
  test('of custom fields: their values stand under their keys', async () => {
    const { url } = await oddService({
      supplier: numbered(2, () => ({ template: { id: 3, fields: { 'Cost Centre': 'CC-1' } } })),
      'custom-field-template': 403,
      'custom-form-template': 404,
    });
    for (const editable of [false, true]) {
      const { summary, file } = await desk.export('supplier', 'out.csv', { editable, ...at(url) });
      expect(summary.status).toBe('succeeded');
      expect(JSON.stringify(await rowsOf(file))).toContain('CC-1');
      expect(summary.warnings.filter((text) => /could not be read \((403|404)\)/.test(text))).toHaveLength(2);
    }
    const job = await readFile(join(desk.dir, 'out.yaml'), 'utf8');
    expect(job).not.toMatch(/: "?template\./);
  });

  test('of references: the editable file says id:17, and the others are names', async () => {
    const { url } = await oddService({
      asset: numbered(2, () => ({
        category: { id: 17, name: 'Laptop' },
        attached_supplier: { id: 4, name: 'Acme' },
        asset_owner: { id: 5, name: 'Ann' },
      })),
      category: 403,
      'asset-owner': 404,
      supplier: [{ id: 4, name: 'Acme' }],
    });
    const { summary, file } = await desk.export('asset', 'out.csv', { editable: true, ...at(url) });
    expect(summary.status).toBe('succeeded');
    const text = JSON.stringify((await rowsOf(file))[0]);
    expect(text).toContain('"id:17"');
    expect(text).toContain('"id:5"');
    expect(text).toContain('"Acme"');
    expect(summary.warnings.join(' ')).toMatch(/names of category records could not be read \(403\)/);
    expect(summary.warnings.join(' ')).toMatch(/names of asset-owner records could not be read \(404\)/);
  });
});

test('customers that contracts show by id alone, or with ids as text, are there', async () => {
  const { url } = await oddService({
    contract: [
      { id: 1, customer: 80 },
      { id: 2, customer: { id: 83 } },
      { id: 3, customer: { id: '81', name: 'Text Ltd' } },
      { id: 4, customer: { id: 82, name: 'Named Ltd' } },
      { id: 5, customer: null },
    ],
  });
  const { summary, file } = await desk.export('customer', 'out.csv', at(url));
  expect((await rowsOf(file)).map(({ id, name }) => [id, name])).toEqual([
    ['80', ''],
    ['81', 'Text Ltd'],
    ['82', 'Named Ltd'],
    ['83', ''],
  ]);
  expect(summary.status).toBe('succeeded');
});

describe('an export that failed', () => {
  test('before anything was read says why', async () => {
    const { url } = await oddService({ supplier: 403 });
    const { summary, exitCode } = await desk.export('supplier', 'out.csv', at(url));
    expect(summary).toMatchObject({ status: 'failed', reason: expect.stringMatching(/Access was denied \(403\)/) });
    expect(exitCode).toBe(1);
  });

  test('after pages were read is resumed from the beginning', async () => {
    let broken = true;
    const { url } = await oddService({ supplier: numbered(50) }, (response) =>
      answer(response, broken ? 403 : 404, {}),
    );
    const failed = await desk.export('supplier', 'out.csv', at(url));
    expect(failed.summary.status).toBe('failed');
    broken = false;
    const { summary } = await desk.resumeExport(at(url));
    expect(summary).toMatchObject({ status: 'succeeded', records: 50 });
  });
});
