import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

const JOB = importOf('supplier', 'name', { Name: 'name', City: 'city' });

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.close());

it.each([
  ['blanks around it', 'Acme One', '  Acme One\u00a0'],
  ['its Unicode form', 'Zo\u00eb One', 'Zoe\u0308 One'],
  ['full width', 'Acme 1', '\uff21\uff43\uff4d\uff45\u3000\uff11'],
  ['a ligature', 'Office first', 'O\ufb03ce \ufb01rst'],
  ['nothing', '=1+1 Ltd', '=1+1 Ltd'],
])(
  'a key that differs from an earlier one by %s is the same key: the first row is handled (76)',
  async (_, one, two) => {
    const run = await desk.import(
      await desk.file('k.csv', [
        ['Name', 'City'],
        [one, 'A'],
        [two, 'B'],
      ]),
      JOB,
    );
    expect(run.outcomes).toEqual(['2 created', '3 duplicate']);
    expect(run.faults.map((fault) => [fault['row'], fault['code']])).toEqual([['3', 'duplicate_key']]);
    expect(run.results[1]?.['message']).toMatch(/row 2/i);
    expect(run.commits).toBe(1);
    const again = await desk.import(
      await desk.file('k.csv', [
        ['Name', 'City'],
        [two, 'A'],
      ]),
      JOB,
    );
    // The record is found; where its name is spelt otherwise now, it takes that spelling.
    expect(again.outcomes).not.toEqual(['2 created']);
  },
);

it('a key in other letters, or without a blank inside, is another key (76)', async () => {
  const names = ['Umbra Ltd', 'UMBRA LTD', 'UmbraLtd'];
  const run = await desk.import(await desk.file('k.csv', [['Name', 'City'], ...names.map((name) => [name, 'A'])]), JOB);
  expect(run.outcomes).toEqual(names.map((_, i) => `${i + 2} created`));
});

it('a key that comes again in another part of the run is the same key (76)', async () => {
  const rows = Array.from({ length: 520 }, (_, i) => [`Part ${i % 510}`, 'A']);
  const run = await desk.import(await desk.file('k.csv', [['Name', 'City'], ...rows]), JOB);
  expect(run.summary.rows).toMatchObject({ created: 510, duplicate: 10, total: 520 });
  expect(run.outcomes.slice(-1)).toEqual(['521 duplicate']);
  expect(run.results.at(-1)?.['message']).toContain('Row 11');
});
