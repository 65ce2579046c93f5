import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import ExcelJS from 'exceljs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunError } from '../../src/model/error.js';
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
  ['map-surplus', 'asset', { created: 4, invalid: 4, duplicate: 32, total: 40 }],
  ['map-factories', 'supplier', { created: 9, invalid: 1, total: 10 }],
  ['map-bodies', 'customer', { created: 6, invalid: 2, total: 8 }],
  ['map-vertraege', 'contract', { created: 5, invalid: 1, total: 6 }],
] as const;

describe('the suggested job', () => {
  it.each(GOLDEN)('of %s is as expected, and imports', async (name, resource, counts) => {
    const path = join('fixtures', `${name}.csv`);
    const expected = join('fixtures', `${name}.expected.yaml`);
    const { job } = await mapFile({ file: path, resource });
    expect(job).toBe(await readFile(expected, 'utf8'));
    const desk = await openDesk({ seed: 'demo' });
    try {
      const { summary } = await desk.import(path, expected);
      expect(summary.reason).toBeUndefined();
      expect(Object.fromEntries(Object.entries(summary.rows).filter(([, count]) => count > 0))).toEqual(counts);
    } finally {
      await desk.close();
    }
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
    expect(jobs[1]).toContain('format: csv');
    expect(jobs[3]).toContain('format: ndjson');
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

describe('where nothing can be suggested', () => {
  it('says why, and writes nothing', async () => {
    const output = join(dir, 'job.yaml');
    const result = await mapFile({ file: await file('t.csv', 'foo,bar\n1,2\n'), resource: 'asset', output });
    expect(result.job).toBeUndefined();
    expect(result.reason).toContain('No heading of the file means a field of asset');
    expect(result.summary).toMatchObject({ job: null, output: null, rows: 1, missing: ['name'] });
    await expect(stat(output)).rejects.toThrow('ENOENT');
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
