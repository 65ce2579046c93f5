import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runFolder } from '../../src/runs/layout.js';
import { readPast } from '../../src/runs/past.js';
import { csv, type Desk, openDesk } from '../support/desk.js';

let desk: Desk;
afterEach(() => desk.close());

const JOB = {
  kind: 'import',
  resource: 'asset',
  match: { key: 'serial_number', unique_field: 'serial_number' },
  columns: { Serial: 'serial_number', Name: 'name' },
  constants: { 'category.name': 'id:3' },
};

/** The journal as a process leaves it that is killed behind so many of its outcomes. */
async function killedAfter(journal: string, outcomes: number): Promise<void> {
  const lines = (await readFile(journal, 'utf8')).split('\n');
  let left = outcomes;
  const end = lines.findIndex((line) => line.includes('"t":"outcome"') && --left === 0);
  await writeFile(journal, `${lines.slice(0, end + 1).join('\n')}\n`);
}

describe('requests of a process that was killed', () => {
  it('are counted with the outcomes, and the resumed run says that they are at least so many', async () => {
    desk = await openDesk({ responses: 'full' });
    const rows = Array.from({ length: 60 }, (_, i) => [`N-${i}`, 'Box']);
    const first = await desk.import(await desk.file('a.csv', csv([['Serial', 'Name'], ...rows])), JOB);
    const folder = runFolder(desk.home, first.summary.run);
    await killedAfter(folder.journal, 60);
    const past = await readPast(folder);
    expect([past.cutOff, past.requests.writes, past.outcomes.size]).toEqual([true, 60, 60]);
    await rm(join(first.reportDir, 'summary.json'));
    const resumed = await desk.resume();
    expect(resumed.summary.requests.writes).toBe(60);
    expect(resumed.commits).toBe(0);
    expect(resumed.summary.warnings.join()).toContain('the counts of requests are at least what was sent');
  });

  it('a run that ended in order, and an older journal, are told from it', async () => {
    desk = await openDesk({ responses: 'full' });
    const file = await desk.file(
      'a.csv',
      csv([
        ['Serial', 'Name'],
        ['N-1', 'Box'],
      ]),
    );
    const first = await desk.import(file, JOB);
    const folder = runFolder(desk.home, first.summary.run);
    expect((await readPast(folder)).cutOff).toBe(false);
    expect(first.summary.warnings.join()).not.toContain('at least');
    await appendFile(folder.journal, 'torn');
    expect((await readPast(folder)).requests.writes).toBe(1);
  });
});
