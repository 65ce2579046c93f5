import { expect } from 'vitest';
import { OUTCOMES } from '../../src/model/outcome.js';
import type { Sandbox } from '../../src/sandbox/index.js';

type Resource = 'asset' | 'contract' | 'supplier' | 'customer';

export interface Told {
  readonly summary: { readonly run?: string; readonly status: string; readonly rows: Readonly<Record<string, number>> };
  readonly results: readonly Readonly<Record<string, string>>[];
}

/**
 * The promise of every run, checked against the service's own books: one outcome a row, totals that add up,
 * no key twice, every row that is told to be written is there under the id told, and none that is told not to be.
 */
export function expectTruth(told: Told, sandbox: Sandbox, resource: Resource, field: string, rows: number): void {
  expect(told.results.map((line) => line['row'])).toEqual(Array.from({ length: rows }, (_, at) => String(at + 2)));
  const counts = Object.fromEntries(OUTCOMES.map((kind) => [kind, 0]));
  for (const line of told.results) counts[line['outcome'] ?? ''] = (counts[line['outcome'] ?? ''] ?? 0) + 1;
  expect(told.summary.rows).toEqual({ ...counts, total: rows });

  const records = sandbox.records(resource);
  const ids = new Map(records.map((record) => [String(record[field]), String(record['id'])]));
  expect(records.map((record) => String(record[field])).sort()).toEqual([...ids.keys()].sort());
  const written = new Set(sandbox.commits.filter((one) => one.method === 'POST').map((one) => String(one.id)));
  expect(written.size).toBe(sandbox.commits.filter((one) => one.method === 'POST').length);
  for (const { row, outcome, key = '', id = '' } of told.results) {
    if (outcome === 'created' || outcome === 'updated' || outcome === 'unchanged') {
      // A run that was stopped had no chance to learn the ids that the answers did not tell.
      const stopped = told.summary.status === 'failed' || told.summary.status === 'interrupted';
      expect(`${row} ${ids.get(key)}`).toBe(`${row} ${id || (stopped ? ids.get(key) : '')}`);
    }
    if (outcome === 'failed' || outcome === 'not_attempted' || outcome === 'rejected') {
      expect(`${row} ${written.has(ids.get(key) ?? '')}`).toBe(`${row} false`);
    }
  }
}
