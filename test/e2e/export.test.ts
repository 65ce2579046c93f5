import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { afterEach, expect, it } from 'vitest';
import { EXPORTABLE } from '../../src/model/job.js';
import { type Desk, openDesk } from '../support/desk.js';

let desk: Desk;
afterEach(() => desk.close());

async function rowsOf(file: string): Promise<Record<string, string>[]> {
  return parse(await readFile(file), { columns: true });
}

it.each(EXPORTABLE)('exports every %s of the demo company', async (resource) => {
  desk = await openDesk({ seed: 'demo' });
  const { summary, exitCode, file } = await desk.export(resource, 'out.csv');
  expect(exitCode).toBe(0);
  const rows = await rowsOf(file);
  expect(summary.records).toBe(rows.length);
  if (resource === 'customer') return;
  const ids = desk.sandbox.records(resource, 1).map((record) => String(record['id'] ?? record['license_id']));
  expect(rows.map((row) => row['id'] ?? row['license_id'])).toEqual(ids);
  expect(summary).toMatchObject({ kind: 'export', consistency: 'verified', passes: 2, status: 'succeeded' });
});
