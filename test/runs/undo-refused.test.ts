import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeLock } from '../../src/runs/run/lock.js';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;

const JOB = importOf('supplier', 'name', { Name: 'name', City: 'city' });
const file = (city = 'Bern') =>
  desk.file('s.csv', [
    ['Name', 'City'],
    ['Acme', city],
  ]);

const runDir = (run: string) => join(desk.home, 'runs', run);

describe.each(['undo', 'retry'] as const)('runs %s refuses, and says what to do', (command) => {
  const refused = async (run = 'last') => {
    const before = await readdir(join(desk.home, 'runs'));
    const error = await desk[command](run).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'usage' });
    expect(await readdir(join(desk.home, 'runs'))).toEqual(before);
    return (error as Error).message;
  };

  it('a dry run, an export, and a run that is not there', async () => {
    desk = await openDesk();
    await desk.import(await file(), JOB, { dryRun: true });
    // As of a variable that a script did not set: every id begins with it.
    for (const none of ['', '../run']) expect(await refused(none)).toContain('There is no run');
    expect(await refused()).toContain('dry run');
    await desk.export('supplier', 'out.csv');
    expect(await refused()).toContain('export');
    expect(await refused('2020')).toContain('runs list');
  });

  it('a run that is at work, and one that was killed', async () => {
    desk = await openDesk();
    const { summary } = await desk.import(await file(), JOB);
    const killed = '20250101T000000000Z-0001';
    await mkdir(join(runDir(killed), 'work'), { recursive: true });
    const request = { v: 1, kind: 'import', service: desk.sandbox.url, dryRun: false, reportDir: runDir(killed) };
    await writeFile(join(runDir(killed), 'run.json'), JSON.stringify(request));
    expect(await refused(killed)).toContain(`rowferry runs resume ${killed}`);
    const release = await takeLock(join(runDir(summary.run), 'lock'), 'The run');
    expect(await refused(summary.run)).toContain('a process is at work on it');
    await release();
    const empty = '20250101T000000000Z-0002';
    await mkdir(runDir(empty));
    expect(await refused(empty)).toContain('nothing was sent');
  });

  it('a run against another service, and one of a newer version', async () => {
    desk = await openDesk();
    await desk.import(await file(), JOB);
    const env = { ROWFERRY_API_URL: 'http://127.0.0.1:9' };
    await expect(desk[command]('last', { env })).rejects.toThrow(`it was begun for ${desk.sandbox.url}`);
    const newer = '20990101T000000000Z-0001';
    await mkdir(runDir(newer));
    await writeFile(join(runDir(newer), 'run.json'), JSON.stringify({ v: 2, kind: 'import' }));
    expect(await refused(newer)).toContain('newer version');
  });

  it('a run that left nothing to do', async () => {
    desk = await openDesk();
    await desk.import(await file(), JOB);
    await desk.import(await file(), JOB);
    expect(await refused()).toContain(command === 'undo' ? 'wrote nothing' : 'nothing to retry');
  });
});
