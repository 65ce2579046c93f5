import { execFileSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { link, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { newRunId } from '../../../src/runs/run/layout.js';
import { DropFolder } from '../../../src/worker/inbox/drop-folder.js';
import { checkJobData } from '../../../src/worker/jobs/data.js';
import { Requeue } from '../../../src/worker/jobs/failure.js';
import { freshState, type JobState, originOf } from '../../../src/worker/jobs/job.js';
import { type Prepared, prepare } from '../../../src/worker/jobs/prepare.js';
import { type Desk, openDesk } from '../../support/desk.js';
import { importOf } from '../../support/jobs.js';

const JOB = importOf('supplier', 'name', { Name: 'name', City: 'city' });

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
  await mkdir(join(desk.dir, 'data', 'erp'), { recursive: true });
  await mkdir(join(desk.dir, 'secret'));
  await writeFile(join(desk.dir, 'data', 'erp', 'a.csv'), 'Name,City\nAcme,Bonn\n');
  await writeFile(join(desk.dir, 'secret', 'a.csv'), 'Name,City\nSecret,Rome\n');
});

/** A job of the queue as a worker has it that may read below `data`, up to the moment before its run begins. */
async function prepared(
  file: string,
  kind: 'import' | 'reconcile' = 'import',
  trigger: 'queue' | 'schedule' = 'queue',
): Promise<Prepared & { begun(): Promise<string> }> {
  const checked = checkJobData(kind, { job: { ...JOB, kind }, file });
  if ('faults' in checked || checked.kind === 'export') throw new Error('the data are wrong');
  const settings = desk.settings({ ROWFERRY_ROOTS: join(desk.dir, 'data'), ROWFERRY_INBOX: join(desk.dir, 'drop') });
  const log = pino({ level: 'silent' });
  const signal = new AbortController().signal;
  const data = trigger === 'schedule' ? { ...checked.ok, job: 'slots' } : checked.ok;
  const job = { id: trigger === 'schedule' ? 'night.slots.2026-01-01T0200' : 'j', name: kind, timestamp: 0 };
  const attempt = (state: JobState) =>
    prepare({
      ...{ settings, job, checked: { ...checked, ok: data }, name: 'inline' },
      origin: originOf(job, data, settings.inbox),
      state,
      store: { workers: async () => 1 },
      dropFolder: new DropFolder(settings.inbox),
    });
  const ready = await attempt(freshState(newRunId())).catch((error: unknown) => {
    // The file of a schedule is looked at twice.
    if (error instanceof Requeue && error.state?.resting) return attempt(error.state);
    throw error;
  });
  if ('first' in ready) throw new Error('nothing is to be run');
  const listener = { progress: () => undefined, notice: () => undefined };
  const begun = async () => {
    const { summary } = await ready.begin({ settings, log, signal, listener });
    return `${summary.rows.created} created, ${summary.source!.sha256}`;
  };
  return { ...ready, begun };
}

const names = () => desk.sandbox.raw('supplier').map((raw) => raw['name']);
const runs = async () => readdir(join(desk.home, 'runs')).catch(() => []);

describe('between the look at a file of a job and its copy', () => {
  const SWAPS: Readonly<Record<string, () => Promise<unknown>>> = {
    'a link took the place of the file': async () => {
      await rm(join(desk.dir, 'data', 'erp', 'a.csv'));
      await symlink(join(desk.dir, 'secret', 'a.csv'), join(desk.dir, 'data', 'erp', 'a.csv'));
    },
    'a link took the place of its folder': async () => {
      await rename(join(desk.dir, 'data', 'erp'), join(desk.dir, 'data', 'old'));
      await symlink(join(desk.dir, 'secret'), join(desk.dir, 'data', 'erp'));
    },
    'a link took the place of the whole root': async () => {
      await rename(join(desk.dir, 'data'), join(desk.dir, 'old'));
      await mkdir(join(desk.dir, 'secret', 'erp'));
      await writeFile(join(desk.dir, 'secret', 'erp', 'a.csv'), 'Name,City\nSecret,Rome\n');
      await symlink(join(desk.dir, 'secret'), join(desk.dir, 'data'));
    },
    'a link that stays inside took the place of the file': async () => {
      await rename(join(desk.dir, 'data', 'erp', 'a.csv'), join(desk.dir, 'data', 'erp', 'b.csv'));
      await symlink('b.csv', join(desk.dir, 'data', 'erp', 'a.csv'));
    },
  };

  const cases = Object.keys(SWAPS).flatMap((swap) =>
    (['import', 'reconcile'] as const).map((kind) => [swap, kind] as const),
  );
  it.each(cases)('%s: nothing of it is read (%s) (83, 84)', async (swap, kind) => {
    const ready = await prepared('erp/a.csv', kind);
    await SWAPS[swap]?.();
    await expect(ready.begun()).rejects.toThrow('a symbolic link took the place of this file');
    expect(await runs()).toEqual([]);
    expect(names()).toEqual([]);
  });

  it('a named pipe or a folder took its place: refused without waiting for anybody (83, 84)', async () => {
    const file = join(desk.dir, 'data', 'erp', 'a.csv');
    const ready = await prepared('erp/a.csv');
    await rm(file);
    execFileSync('mkfifo', [file]);
    await expect(ready.begun()).rejects.toThrow('is a pipe or device');
    await rm(file);
    await mkdir(file);
    await expect(ready.begun()).rejects.toThrow('is a folder');
    expect(await runs()).toEqual([]);
  });

  it('it has a second name, in a place that may not be read: nothing of it is read (83, 111)', async () => {
    const file = join(desk.dir, 'data', 'erp', 'a.csv');
    await rm(file);
    await link(join(desk.dir, 'secret', 'a.csv'), file);
    for (const kind of ['import', 'reconcile'] as const)
      await expect((await prepared('erp/a.csv', kind)).begun()).rejects.toThrow('has 2 names (hard links)');
    expect(await runs()).toEqual([]);
    expect(names()).toEqual([]);
  });

  it('another file took its place: that one is read, whole (59, 83)', async () => {
    const ready = await prepared('erp/a.csv');
    await writeFile(join(desk.dir, 'data', 'erp', 'new'), 'Name,City\nNewer,Bonn\n');
    await rename(join(desk.dir, 'data', 'erp', 'new'), join(desk.dir, 'data', 'erp', 'a.csv'));
    expect(await ready.begun()).toContain('1 created');
    expect(names()).toEqual(['Newer']);
  });
});

it.each(['../secret/a.csv', 'inbox/../../secret/a.csv', '/etc/passwd', 'erp/../../secret/a.csv', 'out/a.csv'])(
  'the file of a schedule lies below the roots like any other: %s is not read (84)',
  async (file) => {
    await symlink(join(desk.dir, 'secret'), join(desk.dir, 'data', 'out'));
    await expect(prepared(file, 'import', 'schedule')).rejects.toThrow(
      'is not below a folder that this worker may read',
    );
    await expect(prepared(file, 'reconcile', 'schedule')).rejects.toThrow('is not below a folder');
    expect(await runs()).toEqual([]);
  },
);

it.each<[string, () => Promise<unknown>]>([
  ['is overwritten', () => writeFile(join(desk.dir, 'data', 'erp', 'a.csv'), 'Name,City\nOther,Rome\nMore,Rome\n')],
  [
    'is replaced by a link',
    async () => {
      await rm(join(desk.dir, 'data', 'erp', 'a.csv'));
      await symlink(join(desk.dir, 'secret', 'a.csv'), join(desk.dir, 'data', 'erp', 'a.csv'));
    },
  ],
  ['goes away', () => rm(join(desk.dir, 'data', 'erp', 'a.csv'))],
])('a file of a job that %s once it is copied is imported as it was: hash, rows and values (59)', async (_, change) => {
  const ready = await prepared('erp/a.csv');
  let changed: Promise<unknown> | undefined;
  const copied = (message: unknown) => {
    if ((message as { readonly name: string }).name === 'hashed') changed ??= change();
  };
  subscribe('rowferry:milestone', copied);
  try {
    const hash = execFileSync('sha256sum', [join(desk.dir, 'data', 'erp', 'a.csv')], { encoding: 'utf8' }).slice(0, 64);
    expect(await ready.begun()).toBe(`1 created, ${hash}`);
  } finally {
    unsubscribe('rowferry:milestone', copied);
  }
  expect(changed).toBeDefined();
  await changed;
  expect(names()).toEqual(['Acme']);
  const [run = ''] = await runs();
  expect(await readFile(join(desk.home, 'runs', run, 'results.csv'), 'utf8')).not.toMatch(/Other|Secret/);
});
