import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, openDesk } from '../support/desk.js';

interface Expected {
  readonly file: string;
  readonly job: string;
  readonly rows: readonly { readonly row: number; readonly outcome: string; readonly codes?: readonly string[] }[];
}

const names = readdirSync('fixtures').filter((name) => name.endsWith('.expected.json'));

let desk: Desk;

describe('the fixtures and their expected reports', () => {
  it.each(names)('%s', async (name) => {
    const expected = JSON.parse(readFileSync(join('fixtures', name), 'utf8')) as Expected;
    desk = await openDesk({ seed: 'demo' });
    // Files of nothing but faults trip the brakes of their jobs, which have tests of their own.
    const first = await desk.import(join('fixtures', expected.file), expected.job, { force: true });
    expect(first.summary.reason).toBeUndefined();
    expect(first.results.map((row) => `${row['row']} ${row['outcome']} ${codes(row['codes'])}`)).toEqual(
      expected.rows.map((row) => `${row.row} ${row.outcome} ${[...(row.codes ?? [])].sort()}`),
    );
    expect(first.summary.rows.total).toBe(expected.rows.length);

    const again = await desk.import(join('fixtures', expected.file), expected.job, { force: true });
    expect(again.commits).toBe(0);
    const { created, updated, unchanged, skipped } = first.summary.rows;
    expect(again.summary.rows.unchanged + again.summary.rows.skipped).toBe(created + updated + unchanged + skipped);
  });
});

function codes(text: string | undefined): string[] {
  return (text ?? '')
    .split('; ')
    .filter((code) => code !== '')
    .sort();
}
