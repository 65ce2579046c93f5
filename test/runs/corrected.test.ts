import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importJob } from '../../src/model/job.js';
import { runFolder } from '../../src/runs/run/layout.js';
import { openedAs } from '../../src/runs/run/table.js';
import { RunStore } from '../../src/store/run-store.js';
import { type Desk, type Imported, openDesk } from '../support/desk.js';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

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
  it('amounts and dates, also corrected twice', async () => {
    const rows = ['B1;;12,345;03/04/2025', 'B2;;12,345;03/04/2025'];
    const first = await desk.import(await desk.file('a.csv', [HEADING, ...CLEAR, ...rows, ''].join('\n')), JOB);
    expect(first.summary.rows).toMatchObject({ created: 6, invalid: 2 });

    const second = await desk.import(await corrected(first, 'B1;;', 'B1;fixed;'), JOB);
    expect(second.summary.rows).toMatchObject({ created: 1, invalid: 1 });
    expect(second.summary.detected?.join(' ')).toContain(first.summary.run);
    const third = await desk.import(await corrected(second, 'B2;;', 'B2;fixed;', 'third.csv'), JOB);
    expect(third.summary.rows).toMatchObject({ created: 1, total: 1 });
    for (const serial of ['B1', 'B2'])
      expect(record(serial)).toMatchObject({ original_cost: '12.345', service_start_date: '2025-04-03' });
  });

  it('letters of a code page', async () => {
    const job = {
      kind: 'import',
      resource: 'supplier',
      match: { key: 'name' },
      columns: { Nazwa: 'name', Kraj: 'country' },
    };
    const names = ['Żółta Łódź', 'Świętokrzyskie Źródło', 'Gęślą Jaźń', 'Pączki Kraków', 'Zażółć'];
    const text = ['Nazwa;Kraj', ...names.map((name) => `${name};PL`), 'Łukasz;Polska?', ''].join('\n');
    const first = await desk.import(await desk.file('e.csv', iconv.encode(text, 'windows-1250')), job);
    expect(first.summary.source?.encoding).toBe('windows-1250');
    const second = await desk.import(await corrected(first, 'Polska?', 'PL'), job);
    expect(second.summary.rows).toMatchObject({ created: 1, total: 1 });
    expect(desk.sandbox.records('supplier').map(({ name }) => name)).toContain('Łukasz');
    // The console shows its rows so, too.
    const { run } = second.summary;
    const store = RunStore.reading(runFolder(desk.home, run).store)!;
    expect(openedAs(importJob.parse(job), store).encoding).toBe('windows-1250');
    store.close();
  });

  it('and by themselves where no run of this data folder has them', async () => {
    const file = `${HEADING};_row;_outcome;_codes;_message\nB1;box;12,345;2025-04-03;8;invalid;required;x\n`;
    await desk.import(await desk.file('a.csv', [HEADING, ...CLEAR, ''].join('\n')), JOB);
    const { summary } = await desk.import(await desk.file('alone.csv', file), JOB);
    expect(summary.detected?.join(' ') ?? '').not.toContain('handed these rows back');
  });
});
