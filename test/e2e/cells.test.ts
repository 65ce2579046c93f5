import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

/** What a cell holds reaches the record as it stands, comes back as it stands, or is refused. */

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});

const JOB = importOf('asset', 'serial_number', {
  Name: { field: 'name', required: true },
  Serial: 'serial_number',
  Notes: 'asset_notes',
});
const notes = () => desk.sandbox.raw('asset').map((record) => record['asset_notes'] ?? null);
const named = (name: string) => desk.sandbox.raw('asset').some((record) => record['name'] === name);

const ARITHMETIC = ['+49-89-1', '-5-3', '+1/2', '+(12)-3', '=1+1', '@x', '+49 89 1'];
const NUMBERS = ['-5', '+5', '-12.50'];

it('arithmetic is guarded in rejected.csv and in an export, and both give it back (105)', async () => {
  const rows = [...ARITHMETIC, ...NUMBERS].map((text, at) => ['', `S-${at}`, text]);
  const first = await desk.import(await desk.file('a.csv', [['Name', 'Serial', 'Notes'], ...rows]), JOB);
  const rejected = await readFile(join(first.reportDir, 'rejected.csv'), 'utf8');
  for (const text of ARITHMETIC) expect(rejected).toContain(`'${text}`);
  for (const text of NUMBERS) expect(rejected).toContain(`,${text},`);
  const corrected = await desk.file('b.csv', rejected.replace(/^,/gm, 'Pump,'));
  expect((await desk.import(corrected, JOB)).summary.rows).toMatchObject({ created: rows.length });
  expect(notes().sort()).toEqual([...ARITHMETIC, ...NUMBERS].sort());
  const exported = await desk.export('asset', 'out.csv', { columns: ['asset_notes'] });
  const written = await readFile(exported.file, 'utf8');
  for (const text of ARITHMETIC) expect(written).toContain(`'${text}`);
});

describe('U+FFFD and bytes that are no text (104)', () => {
  it.each([
    ['the mark itself', Buffer.from('M\ufffdller'), 'M\ufffdller'],
    ['a byte that is none', Buffer.from('M\xfcller', 'latin1'), 'M\ufffd\\xFCller'],
  ])('%s: refused, given back, and refused again', async (_, cell, back) => {
    const good = Array.from({ length: 20 }, (_, at) => `Zoë,S-${at},ok\n`).join('');
    const bytes = Buffer.concat([Buffer.from(`Name,Serial,Notes\n${good}Bad,S-X,`), cell, Buffer.from('\n')]);
    const first = await desk.import(await desk.file('a.csv', bytes), JOB);
    expect(first.summary.rows).toMatchObject({ created: 20, invalid: 1 });
    const rejected = await readFile(join(first.reportDir, 'rejected.csv'), 'utf8');
    expect(rejected).toContain(`Bad,S-X,${back},`);
    // Also without our columns.
    const bare = rejected
      .split('\n')
      .map((line) => line.split(',').slice(0, 3).join(','))
      .join('\n');
    for (const text of [rejected, bare]) {
      const again = await desk.import(await desk.file('b.csv', text), JOB);
      expect(again.summary.rows).toMatchObject({ total: 1, invalid: 1 });
    }
    const corrected = await desk.import(await desk.file('c.csv', rejected.replace(back, 'Müller')), JOB);
    expect(corrected.summary.rows).toMatchObject({ total: 1, created: 1 });
    expect(notes().at(-1)).toBe('Müller');
  });
});

it('a guess of the encoding and words that nobody explained are warnings of the run (103)', async () => {
  const bytes = Buffer.from('Name,Serial,Notes\nPump,S-1,NULL\nM\x9fller,S-2,twice \n', 'latin1');
  const { summary } = await desk.import(await desk.file('a.csv', bytes), JOB);
  expect(summary.warnings).toContainEqual(expect.stringMatching(/^The encoding \S+ is a guess: /));
  expect(summary.warnings).toContainEqual(expect.stringContaining('"Notes": 1 of 2 cells hold "NULL"'));
  const job = { ...JOB, source: { encoding: 'macintosh', null_values: ['NULL'] } };
  const stated = await desk.import(
    await desk.file('b.csv', Buffer.from(bytes.toString('latin1').replaceAll('S-', 'T-'), 'latin1')),
    job,
  );
  expect(stated.summary.warnings.filter((text) => /guess|NULL/.test(text))).toEqual([]);
  expect(named('Müller')).toBe(true);
  expect(notes().slice(-2)).toEqual([null, 'twice']);
});
