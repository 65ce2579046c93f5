import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { csv, type Desk, openDesk, table } from '../support/desk.js';

let desk: Desk;

const COLUMNS = { Name: 'name', Serial: 'serial_number' };
const JOB = {
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: COLUMNS,
  orphans: { action: 'set', set: { lifecycle_stage: 'Retired' }, after: 2 },
  brakes: { max_orphans: '100%', max_updates: '100%', max_change: '1000%' },
};
const ANEW = 'counted anew';
const RECORDS = 6;
const asset = (number: number) => ({
  name: `Box ${number}`,
  serial_number: `S-${number}`,
  lifecycle_stage: 'Deployed',
  category: { id: 3, subcategory: 'Rack' },
});
const stages = () => desk.sandbox.records('asset').map((record) => record['lifecycle_stage']);

/** A night whose file lacks the last two records; its name tells it from others. */
async function night(name: string, job: object = JOB) {
  const rows = Array.from({ length: RECORDS - 2 }, (_, at) => [`Box ${at + 1}`, `S-${at + 1}`]);
  const file = await desk.file(`${name}.csv`, `${csv([Object.keys(COLUMNS), ...rows])}\n${'\n'.repeat(name.length)}`);
  return desk.reconcile(file, job, { apply: true });
}

async function twoNights() {
  desk = await openDesk();
  desk.sandbox.insert(
    'asset',
    Array.from({ length: RECORDS }, (_, at) => asset(at + 1)),
  );
  await night('m');
  const acted = await night('tu');
  expect(stages()).toEqual([...Array(4).fill('Deployed'), 'Retired', 'Retired']);
  return acted;
}

const orphansOf = async (run: { reportDir: string }) =>
  (await table(join(run.reportDir, 'orphans.csv'))).map(({ id, state, absences }) => [id, state, absences]);

describe('orphans that an undo put back', () => {
  it('are not acted on in the next night: their absences begin anew', async () => {
    const acted = await twoNights();
    const undo = await desk.undo(acted.summary.run);
    expect(stages()).toEqual(Array(RECORDS).fill('Deployed'));
    expect(undo.summary.warnings.join()).toContain('as before the run again: 2.');
    expect(undo.summary.warnings.join()).toContain('acts on them again after 2 more runs');
    expect(await orphansOf(await night('wed'))).toEqual([
      ['5', 'wait', '1'],
      ['6', 'wait', '1'],
    ]);
    expect(stages()).toEqual(Array(RECORDS).fill('Deployed'));
    expect((await orphansOf(await night('thur'))).map(([, state]) => state)).toEqual(['act', 'act']);
  });

  it('but for those that somebody else changed since, and not by a rehearsal', async () => {
    const acted = await twoNights();
    const rehearsed = await desk.undo(acted.summary.run, { dryRun: true });
    expect(rehearsed.summary.warnings.join()).not.toContain(ANEW);
    desk.sandbox.edit('asset', 6, { lifecycle_stage: 'Stock' });
    const undo = await desk.undo(acted.summary.run);
    expect(undo.outcomes.map((text) => text.split(' ')[1])).toEqual(['updated', 'conflict']);
    expect(undo.summary.warnings.join()).toContain('as before the run again: 1.');
    expect(await orphansOf(await night('wed'))).toEqual([
      ['5', 'wait', '1'],
      ['6', 'act', '3'],
    ]);
  });

  it('stay as they are where the undo was undone', async () => {
    await twoNights();
    await desk.undo('last');
    const redone = await desk.undo('last');
    expect(stages().slice(4)).toEqual(['Retired', 'Retired']);
    expect(redone.summary.warnings.join()).not.toContain(ANEW);
  });

  it('of a job of whose nights nothing is left: put back all the same', async () => {
    const acted = await twoNights();
    for (const end of ['', '-wal', '-shm']) await rm(join(desk.home, `home.db${end}`), { force: true });
    const undo = await desk.undo(acted.summary.run);
    expect([undo.summary.status, stages()]).toEqual(['succeeded', Array(RECORDS).fill('Deployed')]);
  });
});
