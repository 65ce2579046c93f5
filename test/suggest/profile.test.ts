import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { profileFile } from '../../src/suggest/profile.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-profile-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function profile(text: string, limits: Parameters<typeof profileFile>[1] = {}) {
  const file = join(dir, 'table.csv');
  await writeFile(file, text);
  return profileFile(await openSource(file), limits);
}

it('counts over every row: blanks, different texts, repeats', async () => {
  const rows = ['a', 'b', 'a', ' a ', '', '  ', '💥'.repeat(21), 'x'.repeat(51)];
  const { rows: count, columns, whole } = await profile(`Text,Other\n${rows.map((text) => `${text},o`).join('\n')}\n`);
  expect({ count, whole }).toEqual({ count: 8, whole: true });
  const [column] = columns;
  expect(column).toMatchObject({ filled: 6, blank: 2, distinct: 4, repeats: 2, counted: 6 });
  expect([...(column!.choices ?? [])].slice(0, 2)).toEqual([
    ['a', 3],
    ['b', 1],
  ]);
});

it('goes on counting repeats behind a text that is too long to be told apart', async () => {
  const { columns } = await profile(`Text\n${['a', 'x'.repeat(300), 'b', 'b'].join('\n')}\n`);
  expect(columns[0]).toMatchObject({ filled: 4, distinct: undefined, choices: undefined, repeats: 1, counted: 3 });
});

it('keeps a sample that is spread evenly, from the first row to the last', async () => {
  const text = `N\n${Array.from({ length: 10_000 }, (_, at) => at).join('\n')}\n`;
  const { sample, whole, rows } = await profile(text, { sampleRows: 500 });
  expect({ whole, rows }).toEqual({ whole: false, rows: 10_000 });
  expect(sample.length).toBeGreaterThan(250);
  expect(sample.length).toBeLessThanOrEqual(501);
  const steps = new Set(sample.slice(1).map((row, at) => row.row - sample[at]!.row));
  expect(steps.size).toBe(1);
  expect(sample[0]?.row).toBe(2);
  expect(sample.at(-1)!.row).toBeGreaterThan(9_900);
});

it('stops counting different texts at a bound, and says how many it counted', async () => {
  const text = `N,K\n${Array.from({ length: 3_000 }, (_, at) => `v${at},same`).join('\n')}\n`;
  const { columns } = await profile(text, { distinct: 1_000 });
  expect(columns[0]).toMatchObject({
    distinct: undefined,
    counted: 1_000,
    repeats: 0,
    filled: 3_000,
    choices: undefined,
  });
  expect(columns[1]).toMatchObject({ distinct: 1, counted: 3_000, repeats: 2_999 });
  const few = await profile(text, { characters: 10_000 });
  expect(few.columns[0]?.counted).toBeLessThan(400);
});

it('counts uneven rows and looks at none of their values', async () => {
  const { uneven, columns, rows } = await profile('A,B\n1,2\n1,2,3\n4\n5,6\n');
  expect({ rows, uneven }).toEqual({ rows: 4, uneven: 2 });
  expect(columns.map(({ filled }) => filled)).toEqual([2, 2]);
});
