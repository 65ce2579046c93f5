import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { beforeEach, describe, expect, it } from 'vitest';
import { importJob } from '../../src/model/job.js';
import { runFolder } from '../../src/runs/run/layout.js';
import { sourceOptionsAsRead } from '../../src/runs/run/table.js';
import { RunStore } from '../../src/store/run-store.js';
import { type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});

const JOB = {
  kind: 'import',
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: {
    Serial: 'serial_number',
    Name: { field: 'name', required: true },
    Cost: 'original_cost',
    Serviced: 'service_start_date',
  },
  constants: { 'category.name': 'Server', 'category.subcategory': 'Rack' },
};
const CLEAR = Array.from({ length: 6 }, (_, at) => `G${at};box;1.000,50;${at + 13}/12/2024`);
const HEADING = 'Serial;Name;Cost;Serviced';

/** The rejected file of a run, with its bytes changed as a person would change them in an editor. */
async function corrected({ reportDir }: Imported, from: string, to: string, name = 'again.csv'): Promise<string> {
  const bytes = await readFile(join(reportDir, 'rejected.csv'), 'latin1');
  expect(bytes).toContain(from);
  return desk.file(name, Buffer.from(bytes.replace(from, to), 'latin1'));
}
const record = (serial: string) => desk.sandbox.records('asset').find((one) => one['serial_number'] === serial);

describe('corrected rows are read as the file was that they are of', () => {
  it('amounts, also corrected twice', async () => {
    const rows = ['B1;;12,345;', 'B2;;12,345;'];
    const first = await desk.import(await desk.file('a.csv', [HEADING, ...CLEAR, ...rows, ''].join('\n')), JOB);
    expect(first.summary.rows).toMatchObject({ created: 6, invalid: 2 });

    const second = await desk.import(await corrected(first, 'B1;;', 'B1;fixed;'), JOB);
    expect(second.summary.rows).toMatchObject({ created: 1, invalid: 1 });
    expect(second.summary.detected?.join(' ')).toContain(first.summary.run);
    const third = await desk.import(await corrected(second, 'B2;;', 'B2;fixed;', 'third.csv'), JOB);
    expect(third.summary.rows).toMatchObject({ created: 1, total: 1 });
    for (const serial of ['B1', 'B2']) expect(record(serial)).toMatchObject({ original_cost: '12.345' });
  });

  it('rows without a key are not taken for those of another file that were refused alike', async () => {
    const job = { ...JOB, match: { key: 'none' } };
    const first = await desk.import(await desk.file('a.csv', [HEADING, ...CLEAR, 'B1;;1,500;', ''].join('\n')), job);
    const points = CLEAR.map((line) => line.replace('1.000,50', '1,000.50'));
    const file = await desk.file('b.csv', [HEADING, ...points, '007;;1,700;', ''].join('\n'));
    expect((await desk.import(file, job)).summary.rows).toMatchObject({ invalid: 1 });
    const again = await desk.import(await corrected(first, 'B1;;', 'B1;fixed;'), job);
    expect(again.summary.detected?.join(' ')).toContain(first.summary.run);
    expect(record('B1')).toMatchObject({ original_cost: '1.50' });
  });

  it('of two columns with one heading, zeros of the one that was not at fault are put back', async () => {
    const columns = { Serial: 'serial_number', Name: 'name', 'Code #1': 'original_cost', 'Code #2': 'asset_tag' };
    const job = { ...JOB, columns };
    const rows = ['Serial;Name;Code;Code', 'B1;box;x;0077', ''];
    const first = await desk.import(await desk.file('a.csv', rows.join('\n')), job);
    expect(first.faults.map(({ column }) => column)).toEqual(['Code #1']);
    await desk.import(await corrected(first, 'x;0077', '4;77'), job);
    expect(record('B1')).toMatchObject({ asset_tag: '0077' });
  });

  it('a key that a JSON line lacks is still not given when the line comes back', async () => {
    const columns = { Serial: 'serial_number', Name: 'name', Cost: 'original_cost', Room: 'room' };
    const job = { ...JOB, blank: 'clear', columns };
    const line = (more: object) => `${JSON.stringify({ Serial: 'B1', Name: 'box', ...more })}\n`;
    await desk.import(await desk.file('a.ndjson', line({ Cost: 1, Room: 'R1' })), job);
    const lines = line({ Cost: 'x' }) + line({ Serial: 'B2', Cost: 2, Room: 'R2' });
    const { reportDir } = await desk.import(await desk.file('b.ndjson', lines), job);
    const rejected = await readFile(join(reportDir, 'rejected.ndjson'), 'utf8');
    const again = await desk.import(await desk.file('c.ndjson', rejected.replace('"x"', '3')), job);
    expect(again.outcomes).toEqual(['1 updated']);
    expect(record('B1')).toMatchObject({ original_cost: '3.00', room: 'R1' });
  });

  it('a date with two readings is refused there and here, until it is written so that it has one', async () => {
    const rows = ['B1;;1;03/04/2025', 'B2;box;1;04/03/2025'];
    const first = await desk.import(await desk.file('a.csv', [HEADING, ...CLEAR, ...rows, ''].join('\n')), JOB);
    expect(first.outcomes.at(-1)).toBe('9 invalid');
    expect(first.faults.map(({ row, code }) => [row, code])).toEqual([
      ['8', 'required'],
      ['8', 'ambiguous_date'],
      ['9', 'ambiguous_date'],
    ]);
    const second = await desk.import(await corrected(first, 'B1;;', 'B1;fixed;'), JOB);
    expect(second.faults.map(({ code }) => code)).toEqual(['ambiguous_date', 'ambiguous_date']);
    const third = await desk.import(await corrected(second, '03/04/2025', '2025-04-03', 'third.csv'), JOB);
    expect(third.summary.rows).toMatchObject({ created: 1, invalid: 1 });
    expect(record('B1')).toMatchObject({ service_start_date: '2025-04-03' });
  });

  it('letters of a code page', async () => {
    const job = importOf('supplier', 'name', { Nazwa: 'name', Kraj: 'country' });
    const names = ['Żółta Łódź', 'Świętokrzyskie Źródło', 'Gęślą Jaźń', 'Pączki Kraków', 'Zażółć'];
    const text = ['Nazwa;Kraj', ...names.map((name) => `${name};PL`), 'Łukasz;Polska?', ''].join('\n');
    const first = await desk.import(await desk.file('e.csv', iconv.encode(text, 'windows-1250')), job);
    expect(first.summary.source?.encoding).toBe('windows-1250');
    const second = await desk.import(await corrected(first, 'Polska?', 'PL'), job);
    expect(second.summary.rows).toMatchObject({ created: 1, total: 1 });
    expect(desk.sandbox.records('supplier').map(({ name }) => name)).toContain('Łukasz');
    // The console shows its rows so, too.
    const { run } = second.summary;
    const store = RunStore.openReadOnly(runFolder(desk.home, run).store)!;
    expect(sourceOptionsAsRead(importJob.parse(job), store).encoding).toBe('windows-1250');
    store.close();
  });

  it('and not as another file of the job was, of which the same row came back', async () => {
    const german = ['DE-1;Pump;n.n.;', ...Array.from({ length: 6 }, (_, at) => `DE-2${at};box;12,5;`)];
    const american = ['US-1;Pump;tbc;', ...Array.from({ length: 6 }, (_, at) => `US-2${at};box;12.5;`)];
    const first = await desk.import(await desk.file('de.csv', [HEADING, ...german, ''].join('\n')), JOB);
    await desk.import(await desk.file('us.csv', [HEADING, ...american, ''].join('\n')), JOB);
    const { summary } = await desk.import(await corrected(first, 'n.n.', '1,250'), JOB);
    expect(summary.detected?.join(' ')).toContain(first.summary.run);
    expect(record('DE-1')).toMatchObject({ original_cost: '1.25' });
  });

  it('and not as the only other file of the job that has such rows, nor as either where they are of two', async () => {
    const row = (id: string, cost: string) => `${id};Laptop;${cost};`;
    const german = ['DE-1', 'DE-2'].map((id) => row(id, 'n.n.'));
    const american = ['US-1', 'US-2'].map((id) => row(id, 'n.n.'));
    const clear = (id: string, cost: string) => Array.from({ length: 6 }, (_, at) => row(`${id}-${at + 3}`, cost));
    const first = await desk.import(
      await desk.file('de.csv', [HEADING, ...german, ...clear('DE', '12,5'), ''].join('\n')),
      JOB,
    );
    const told = async (name: string, text: string) =>
      (await desk.import(await desk.file(name, text), JOB)).summary.detected?.join(' ') ?? '';
    const back = await readFile(join(first.reportDir, 'rejected.csv'), 'utf8');
    // Of a run that another data folder has.
    expect(await told('us.csv', back.replaceAll('DE-', 'US-').replaceAll(';n.n.;', ';1,250;'))).not.toContain(
      'handed these rows back',
    );
    await desk.import(await desk.file('b.csv', [HEADING, ...american, ...clear('US', '12.5'), ''].join('\n')), JOB);
    expect(await told('one.csv', back)).toContain(first.summary.run);
    const both = `${back}${back.split(/\r?\n/).slice(1).join('\n').replaceAll('DE-', 'US-')}`;
    expect(await told('both.csv', both)).not.toContain('handed these rows back');
  });

  it.each<readonly [string, (cells: string[]) => string[]]>([
    ['moved', ([serial = '', name = '', ...rest]) => [name, serial, ...rest]],
    ['with one of their own before them', (cells) => ['remark', ...cells]],
    ['behind ours', (cells) => [...cells.slice(4), ...cells.slice(0, 4)]],
    ['without one that is not imported', (cells) => cells.filter((_, at) => at !== 3)],
  ])('with columns %s', async (_, change) => {
    const job = { ...JOB, columns: { ...JOB.columns, Serviced: { field: 'service_start_date', optional: true } } };
    const rows = ['B1;box;n.n.;', ...Array.from({ length: 6 }, (_, at) => `B2${at};box;12,5;`)];
    const first = await desk.import(await desk.file('a.csv', [HEADING, ...rows, ''].join('\n')), job);
    const lines = (await readFile(join(first.reportDir, 'rejected.csv'), 'utf8')).trimEnd().split(/\r?\n/);
    const changed = lines.map((line) => change(line.replace('n.n.', '1,250').split(';')).join(';'));
    const { summary } = await desk.import(await desk.file('again.csv', changed.join('\n')), job);
    expect([summary.rows.created, summary.warnings.join()]).toEqual([1, expect.not.stringContaining('decimal sign')]);
    expect(record('B1')).toMatchObject({ original_cost: '1.25' });
  });

  it('also after many runs of other jobs', async () => {
    const rows = ['B1;box;n.n.;', ...Array.from({ length: 6 }, (_, at) => `B2${at};box;12,5;`)];
    const first = await desk.import(await desk.file('a.csv', [HEADING, ...rows, ''].join('\n')), JOB);
    const { run } = first.summary;
    for (let at = 1; at <= 300; at++) {
      const other = `${run.slice(0, -4)}${(0xf000 + at).toString(16)}`;
      if (other === run) continue;
      const { dir, request } = runFolder(desk.home, other);
      await mkdir(dir, { recursive: true });
      await writeFile(request, JSON.stringify({ kind: 'import', job: { name: 'other', job: {} } }));
    }
    const { summary } = await desk.import(await corrected(first, 'n.n.', '1,250'), JOB);
    expect(summary.detected?.join(' ')).toContain(run);
    expect(record('B1')).toMatchObject({ original_cost: '1.25' });
  });

  it('also where little more than they would tell that file otherwise', async () => {
    const rows = Array.from({ length: 200 }, (_, at) => `C${at};${at ? 'box' : ''};${at % 2 ? '12,5' : '1,100'};`);
    const first = await desk.import(await desk.file('costs.csv', [HEADING, ...rows, ''].join('\n')), JOB);
    expect(first.summary.rows).toMatchObject({ created: rows.length - 1, invalid: 1 });
    const second = await desk.import(await corrected(first, ';;', ';box;'), JOB);
    expect(second.faults).toEqual([]);
    expect(record('C0')).toMatchObject({ original_cost: '1.10' });
  });

  it('what they show themselves counts only where that file shows nothing', async () => {
    const rows = ['A1,,"1,100",', 'A2,,n.n.,', 'A3,box,"1,100",'];
    const text = [HEADING.replaceAll(';', ','), ...rows, ''].join('\n');
    const first = await desk.import(await desk.file('whole.csv', text), JOB);
    expect(record('A3')).toMatchObject({ original_cost: '1100.00' });
    const lines = (await readFile(join(first.reportDir, 'rejected.csv'), 'utf8')).replace(/^(A\d),,/gm, '$1,box,');
    const costs = lines.replace('n.n.', '"12,5"');
    const second = await desk.import(await desk.file('again.csv', costs), JOB);
    expect([record('A1')?.['original_cost'], second.outcomes]).toEqual(['1100.00', ['2 created', '3 invalid']]);
    expect(second.faults[0]?.['message']).toContain('does not fit the decimal sign "."');

    const unknown = ['B1;box;n.n.;', 'B2;box;tbc;', 'B3;box;7;'];
    const none = await desk.import(await desk.file('none.csv', [HEADING, ...unknown, ''].join('\n')), JOB);
    const back = (await readFile(join(none.reportDir, 'rejected.csv'), 'utf8')).replace('n.n.', '12,5');
    await desk.import(await desk.file('back.csv', back.replace('tbc', '1,250')), JOB);
    expect([record('B1')?.['original_cost'], record('B2')?.['original_cost']]).toEqual(['12.50', '1.25']);
  });

  it('a sign that their file left open stays open where they alone show one', async () => {
    const rows = ['A1;box;12.5;', 'A2;box;12,5;', 'B1;;12,5;', 'B2;box;1,250;'];
    const first = await desk.import(await desk.file('both.csv', [HEADING, ...rows, ''].join('\n')), JOB);
    expect(first.summary.rows).toMatchObject({ created: 2, invalid: 2 });
    const second = await desk.import(await corrected(first, 'B1;;', 'B1;fixed;'), JOB);
    expect(second.summary.rows).toMatchObject({ created: 1, invalid: 1 });
    expect(second.faults[0]?.['message']).toContain('has two readings');
  });

  it('texts that a spreadsheet program took for numbers, unless they were to be corrected; also corrected twice (69)', async () => {
    const job = importOf('supplier', 'name', {
      Name: 'name',
      Zip: 'business_zip_postal_code',
      Phone: 'phone',
      EIN: 'ein',
      Country: 'country',
    });
    const rows = ['007,01234,+4930123456,012345678,Norwey', '008,0,+47,0123456789,Sweden', '9.0,02,1.10,,Suomy'];
    const saved = (text: string) => text.replace(/(?<=^|,)(?:0+|\+)(?=\d+,)|(?<=,1\.1|^9)\.?0(?=,)/gm, '');
    const first = await desk.import(
      await desk.file('s.csv', ['Name,Zip,Phone,EIN,Country', ...rows, ''].join('\n')),
      job,
    );
    expect(first.outcomes).toEqual(['2 invalid', '3 invalid', '4 invalid']);
    const back = saved(await readFile(join(first.reportDir, 'rejected.csv'), 'utf8')).replace('Norwey', 'Norway');
    const second = await desk.import(await desk.file('again.csv', back.replace(/^9,2/m, '9,3')), job);
    expect(second.outcomes).toEqual(['2 created', '3 created', '4 invalid']);
    expect(second.summary.warnings.filter((text) => text.includes('lost the zeros, the plus'))).toHaveLength(4);
    const more = saved(await readFile(join(second.reportDir, 'rejected.csv'), 'utf8')).replace('Suomy', 'Finland');
    expect((await desk.import(await desk.file('third.csv', more), job)).outcomes).toEqual(['2 created']);
    expect(desk.sandbox.records('supplier')).toMatchObject([
      { name: '007', business_zip_postal_code: '01234', phone: '+4930123456', ein: '012345678' },
      { name: '008', business_zip_postal_code: '0', phone: '+47', ein: '123456789' },
      { name: '9.0', business_zip_postal_code: '3', phone: '1.10' },
    ]);
  });

  it('and by themselves where no run of this data folder has them', async () => {
    const file = `${HEADING};_row;_outcome;_codes;_message\nB1;box;12,345;2025-04-03;8;invalid;required;x\n`;
    await desk.import(await desk.file('a.csv', [HEADING, ...CLEAR, ''].join('\n')), JOB);
    const { summary } = await desk.import(await desk.file('alone.csv', file), JOB);
    expect(summary.detected?.join(' ') ?? '').not.toContain('handed these rows back');
    expect(summary.warnings.join()).toContain('no one run of this data folder handed them back');
  });
});
