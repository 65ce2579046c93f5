import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import ExcelJS from 'exceljs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { RunError } from '../../src/model/error.js';
import { checkJobText } from '../../src/runs/job-file.js';
import { mapFile } from '../../src/runs/map-file.js';
import { openDesk } from '../support/desk.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-map-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(dir, name);
  await writeFile(path, content);
  return path;
}

async function refused(work: Promise<unknown>): Promise<RunError> {
  const error = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(error instanceof RunError)) throw new Error(`no RunError: ${String(error)}`);
  return error;
}

/** The jobs of these files as they are suggested, and what an import with them comes to. */
const GOLDEN = [
  ['map-surplus', 'asset', { created: 10, invalid: 4, duplicate: 26, total: 40 }],
  ['map-factories', 'supplier', { created: 9, invalid: 1, total: 10 }],
  ['map-bodies', 'customer', { created: 6, invalid: 2, total: 8 }],
  ['map-vertraege', 'contract', { created: 5, invalid: 1, total: 6 }],
] as const;

describe('the suggested job', () => {
  it.each(GOLDEN)('of %s is as expected, and imports', async (name, resource, counts) => {
    const path = join('fixtures', `${name}.csv`);
    const expected = join('fixtures', `${name}.expected.yaml`);
    const desk = await openDesk({ seed: 'demo' });
    const { job } = await mapFile({ file: path, resource, settings: desk.settings() });
    expect(job).toBe(await readFile(expected, 'utf8'));
    // The first answer to what is left open.
    const answered = await file('job.yaml', job.replace(/^# (?=match: )/m, ''));
    const { summary } = await desk.import(path, answered);
    expect(summary.reason).toBeUndefined();
    expect(Object.fromEntries(Object.entries(summary.rows).filter(([, count]) => count > 0))).toEqual(counts);
  });

  it('is the same for the same table as a workbook, gzipped and as NDJSON, but for what the format says', async () => {
    const rows = [
      ['Serial', 'Asset Name', 'Cost'],
      ['0042', 'Press', '1200.50'],
      ['0043', 'Lathe', '80.00'],
    ];
    const text = `${rows.map((row) => row.join(',')).join('\n')}\n`;
    const workbook = new ExcelJS.Workbook();
    workbook.addWorksheet('Inventory').addRows(rows);
    const xlsx = Buffer.from(await workbook.xlsx.writeBuffer());
    const ndjson = rows
      .slice(1)
      .map((row) => JSON.stringify(Object.fromEntries(rows[0]!.map((heading, at) => [heading, row[at]]))));
    const files = [
      await file('t.csv', text),
      await file('t.csv.gz', gzipSync(text)),
      await file('t.xlsx', xlsx),
      await file('t.ndjson', `${ndjson.join('\n')}\n`),
    ];
    const jobs = await Promise.all(
      files.map(async (one) => (await mapFile({ file: one, resource: 'asset' })).job ?? ''),
    );
    const fields = jobs.map((job) =>
      [...job.matchAll(/^ {2}(Serial|Asset Name|Cost): (\w+)/gm)].map((match) => match.slice(1, 3).join('=')),
    );
    for (const one of fields) expect(one).toEqual(['Serial=serial_number', 'Asset Name=name', 'Cost=original_cost']);
    expect(jobs[2]).toContain('  sheet: Inventory');
    expect(jobs[1]).toContain('# csv, gzipped, known');
    expect(jobs[3]).toContain('# ndjson, known');
  });

  it('reads typed cells: dates need no format, numbers are amounts', async () => {
    const workbook = new ExcelJS.Workbook();
    const sheet = workbook.addWorksheet('S');
    sheet.addRows([['Title of the list'], [], ['Contract No', 'Start Date', 'Total Value', 'Signed By']]);
    for (let at = 0; at < 5; at++)
      sheet.addRow([`C-${at}x`, new Date(Date.UTC(2024, 2, 4 + at)), 1200.5 + at, 'Ann Moss']);
    const { job, suggestion } = await mapFile({
      file: await file('t.xlsx', Buffer.from(await workbook.xlsx.writeBuffer())),
      resource: 'contract',
    });
    expect(suggestion.columns.map(({ field }) => field)).toEqual([
      'number',
      'contract_start_date',
      'total_contract_spend_value',
      'signer',
    ]);
    expect(job).not.toContain('dates:');
    expect(job).toMatch(/header_row: 3 +# Row 3 is the heading/);
  });

  it('looks where it is told: another sheet, another heading row', async () => {
    const workbook = new ExcelJS.Workbook();
    workbook.addWorksheet('Notes').addRows([['Remark'], ['x']]);
    workbook.addWorksheet('Data').addRows([['Vendor'], ['Globex']]);
    const path = await file('t.xlsx', Buffer.from(await workbook.xlsx.writeBuffer()));
    const { job } = await mapFile({ file: path, resource: 'supplier', source: { sheet: 'Data' } });
    expect(job).toContain('  sheet: Data');
    expect(job).toContain('Vendor: name');
  });

  it('of headings without rows rests on the headings', async () => {
    const { job, suggestion } = await mapFile({ file: await file('t.csv', 'Supplier,City\n'), resource: 'supplier' });
    expect(suggestion.rows).toBe(0);
    expect(job).toContain('Supplier: name');
    expect(job).toContain('no data rows');
  });
});

describe('several sheets', () => {
  it('are looked at for the one whose headings fit, unless one is named', async () => {
    const workbook = new ExcelJS.Workbook();
    workbook.addWorksheet('Cover').addRows([
      ['Name', 'Reviewed'],
      ['Ann', 'yes'],
    ]);
    workbook
      .addWorksheet('Kit')
      .addRows([['Kit of the third floor'], ['Serial No', 'Brand', 'City'], ['S1', 'Contoso', 'Ely']]);
    const path = await file('t.xlsx', Buffer.from(await workbook.xlsx.writeBuffer()));
    const { summary } = await mapFile({ file: path, resource: 'asset' });
    expect(summary.source.sheet).toBe('Kit');
    expect(summary.job).toContain('  sheet: Kit');
    expect(summary.job).toMatch(/^ {2}header_row: 2 +# Row 2 is the heading/m);
    expect(summary.warnings.join()).toContain('its headings mean 3 fields of asset');
    const named = await mapFile({ file: path, resource: 'asset', source: { sheet: 'Cover' } });
    expect(named.summary.source.sheet).toBe('Cover');
  });
});

describe('a service', () => {
  const table = [
    'Serial,Kind,Assigned To,Vendor',
    ...Array.from({ length: 6 }, (_, at) => `S${at},${at < 5 ? 'Laptop' : 'Abacus'},Nobody Known,Unheard Of ${at}`),
  ].join('\n');

  it('says which names it knows: it lifts a likely column, and lowers one of strangers', async () => {
    const desk = await openDesk({ seed: 'demo' });
    const path = await file('t.csv', table.replace('Kind', 'Device Type'));
    const { suggestion, summary } = await mapFile({ file: path, resource: 'asset', settings: desk.settings() });
    const [, kind, owner, vendor] = suggestion.columns;
    expect(kind).toMatchObject({ field: 'category.name', options: { unknown: 1 } });
    expect(kind?.evidence.join()).toContain('the service knows 83% of the values');
    expect(kind?.remarks.join()).toContain('knows no category "Abacus"');
    expect(owner).toMatchObject({ field: undefined });
    expect(owner?.why).toMatch(/maybe: asset_owner: .*knows no asset owner "Nobody Known"/);
    expect(vendor).toMatchObject({ field: 'attached_supplier', confidence: 'medium' });
    expect(vendor?.remarks.join()).toContain('`references: { missing: create }`');
    expect(summary.job).toContain('\n# references: { missing: create }');
    expect(summary.next).toContain('What do the values of "Device Type" mean?');
    expect(desk.sandbox.commits).toEqual([]);
  });

  it('says which custom fields it has: by their whole name for certain, by their own likely, and of one template', async () => {
    const desk = await openDesk({ seed: 'demo' });
    const headings = 'Serial,Item,Finance: Cost Centre,Headcount,Rack,Approved On,Classification,Budget';
    const path = await file('c.csv', `${headings}\nS1,A,CC-1,3,R1,2025-01-02,High,many\n`);
    const { suggestion, job } = await mapFile({ file: path, resource: 'asset', settings: desk.settings() });
    expect(suggestion.columns.map(({ field, confidence }) => `${field} ${confidence}`)).toEqual([
      ...['serial_number high', 'name high', 'template.Finance.Cost Centre high'],
      ...['template.Finance.Headcount medium', 'form.Data centre.Rack medium'],
      ...['template.Finance.Approved On medium', 'undefined none', 'undefined none'],
    ]);
    const { outcomes } = await desk.import(path, parseYaml(job) as object, { dryRun: true });
    expect(outcomes).toEqual(['2 created']);
  });

  it('says which columns of an export name custom fields that no import can set, and what an id is for', async () => {
    const desk = await openDesk({ seed: 'demo' });
    const names = [
      'template.Finance.Cost Centre',
      'template.Security.Classification',
      'form.Data centre.Photo',
      'form.Data centre.Rack',
    ];
    const path = await file('e.csv', `id,Serial,${names}\n17,S1,CC-1,,p.png,R1\n`);
    const { suggestion } = await mapFile({ file: path, resource: 'asset', settings: desk.settings() });
    const no = expect.stringContaining('holds attachments, or is one of another template');
    expect(suggestion.columns.map(({ field, why }) => field ?? why)).toEqual([
      ...[expect.stringContaining('`match: { key: id }`'), 'serial_number'],
      ...[names[0], no, no, names[3]],
    ]);
  });

  it('that does not answer is a note, and the suggestion does without', async () => {
    const desk = await openDesk({ seed: 'demo' });
    const settings = desk.settings({ ROWFERRY_API_TOKEN: 'wrong' });
    const { suggestion, summary } = await mapFile({
      file: await file('t.csv', table),
      resource: 'asset',
      settings,
    });
    expect(suggestion.columns[2]).toMatchObject({ field: 'asset_owner' });
    expect(summary.warnings.join()).toContain('The service was not asked which names it knows');
  });
});

describe('where nothing can be suggested', () => {
  it('there is a job all the same: every heading, and the question', async () => {
    const output = join(dir, 'job.yaml');
    const result = await mapFile({ file: await file('t.csv', 'foo,bar\n1,2\n'), resource: 'asset', output });
    expect(result.reason).toContain('No heading of the file means a field of asset');
    expect(result.summary).toMatchObject({ output, rows: 1, key: null, missing: ['name'] });
    expect(result.summary.next).toContain('Which column holds the name of each asset?');
    expect(await readFile(output, 'utf8')).toBe(result.job);
    const answered = result.job.replace('foo: ~', 'foo: name').replace(/^# (?=match: )/m, '');
    expect(checkJobText(answered).job).toMatchObject({ columns: { foo: 'name', bar: null }, match: { key: [] } });
  });

  it('a table without headings goes by its letters, where its first row looks like data or that is said', async () => {
    const path = await file('t.csv', '001,Contoso,2024-07-26\n002,Fabrikam,2024-08-01\n003,Contoso,2024-08-02\n');
    for (const source of [{}, { header_row: 'none' as const }]) {
      const { job, summary } = await mapFile({ file: path, resource: 'asset', source });
      expect(summary.rows).toBe(3);
      expect(job).toContain('header_row: none');
      expect(job).toMatch(/^ {2}A: ~ .*it holds "001", "002", "003"[\s\S]*^ {2}C: ~/m);
    }
    const stated = await mapFile({ file: path, resource: 'asset', source: { header_row: 1 } });
    expect(stated.summary.rows).toBe(2);
  });

  it('names a resource that is not known, or cannot be written', async () => {
    const path = await file('t.csv', 'Name\nx\n');
    const unknown = await refused(mapFile({ file: path, resource: 'supplyer' }));
    expect(unknown.kind).toBe('usage');
    expect(unknown.message).toContain('did you mean `supplier`?');
    const readOnly = await refused(mapFile({ file: path, resource: 'license' }));
    expect(readOnly.kind).toBe('usage');
    expect(readOnly.message).toContain('license records can only be read');
  });

  it('refuses files that cannot be read, as an import does', async () => {
    for (const [name, content, word] of [
      ['empty.csv', '', 'empty'],
      ['binary.csv', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1]), 'binary.csv'],
      ['cut.xlsx', Buffer.from('PK\u0003\u0004 not a zip'), 'cut.xlsx'],
    ] as const) {
      const error = await refused(mapFile({ file: await file(name, content), resource: 'asset' }));
      expect(error.kind).toBe('failed');
      expect(error.message).toContain(word);
    }
    expect((await refused(mapFile({ file: dir, resource: 'asset' }))).message).toContain('folder');
  });
});

describe('the output', () => {
  it('is never replaced unasked, whatever it is', async () => {
    const path = await file('t.csv', 'Supplier\nGlobex\n');
    const output = await file('job.yaml', 'mine\n');
    const error = await refused(mapFile({ file: path, resource: 'supplier', output }));
    expect(error.kind).toBe('usage');
    expect(error.message).toContain('--force');
    expect(await readFile(output, 'utf8')).toBe('mine\n');
    const dangling = join(dir, 'link.yaml');
    await symlink(join(dir, 'nowhere'), dangling);
    expect((await refused(mapFile({ file: path, resource: 'supplier', output: dangling }))).kind).toBe('usage');
    const { summary } = await mapFile({ file: path, resource: 'supplier', output, force: true });
    expect(await readFile(output, 'utf8')).toBe(summary.job);
    expect(summary.output).toBe(output);
    expect((await refused(mapFile({ file: path, resource: 'supplier', output: dir, force: true }))).message).toContain(
      'folder',
    );
  });
});
