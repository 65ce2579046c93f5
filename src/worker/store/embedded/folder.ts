import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { DEFAULT_SCHEMA, runMigrations } from 'bullmq';
import { RunError } from '../../../model/error.js';
import { Engine, SESSIONS_TABLE } from './engine.js';
import { initialise, privateFs } from './initialise.js';
import { parsersOfPg } from './value.js';

/** The PostgreSQL that PGlite is; the data of another one cannot be read. */
export const POSTGRES_MAJOR = '18';

export type Notice = (level: 'info' | 'warn', text: string) => void;

/**
 * Opens the queue's data folder; only the process that holds the tenure may. A folder that is not there is made, one
 * that cannot be read is put aside: the journals and the processing folder tell what is to be done, the queue only
 * carries it. After a kill PostgreSQL replays its log, so that what was answered is there. PGlite does not flush to the
 * disk: after a power cut the last seconds may be missing, or the folder unreadable.
 */
export async function openFolder(folder: string, notice: Notice): Promise<Engine> {
  await removeUnfinished(folder);
  const major = await majorOf(folder);
  notice(
    'info',
    `Opening the embedded queue in ${folder}; this takes some seconds${major === undefined ? ' the first time' : ''}.`,
  );
  if (major !== undefined && major !== POSTGRES_MAJOR) {
    const what = major === '' ? 'is not complete' : `was written by PostgreSQL ${major}, and this is ${POSTGRES_MAJOR}`;
    await putAside(folder, `it ${what}`, notice);
  } else if (major !== undefined) {
    try {
      return await open(folder);
    } catch (error) {
      const why = reasonOf(error);
      // The folder is as good as it was: what is wrong is the machine.
      if (isOfTheMachine(why)) throw cannotOpen(folder, why, error);
      await putAside(folder, `it cannot be opened (${why})`, notice);
    }
  }
  try {
    await initialise(folder);
    return await open(folder);
  } catch (error) {
    throw cannotOpen(folder, reasonOf(error), error);
  }
}

async function open(folder: string): Promise<Engine> {
  // Loaded here alone: it takes time and memory that a plain command does not have to spend.
  const [{ PGlite }, { NodeFS }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/nodefs'),
  ]);
  const said: string[] = [];
  let pg: PGlite | undefined;
  try {
    pg = await PGlite.create({
      fs: privateFs(NodeFS, folder),
      parsers: parsersOfPg(),
      startParams: [...PGlite.defaultStartParams, ...SETTINGS.flatMap((setting) => ['-c', setting])],
      onStdout: () => true,
      onStderr: (text) => said.push(text) > 0,
    });
    // A folder that opens may still have lost pages.
    await pg.exec('SELECT count(*) FROM pg_class');
    await pg.exec(SESSIONS_TABLE);
    const engine = new Engine(pg);
    const session = engine.session({ notification: () => undefined, ended: () => undefined }, false);
    await runMigrations(
      { query: (text, params) => session.query(text, params ?? []) } as MigrationClient,
      DEFAULT_SCHEMA,
    );
    session.close();
    return engine;
  } catch (error) {
    await pg?.close().catch(() => undefined);
    const last = said.filter((line) => /FATAL|PANIC|ERROR|space/.test(line)).at(-1);
    if (last === undefined) throw error;
    // Without the time and the number that PostgreSQL puts before it.
    throw new Error(last.replace(/^.*?(?=FATAL|PANIC|ERROR)/, '').trim(), { cause: error });
  }
}

type MigrationClient = Parameters<typeof runMigrations>[0];

/** A queue is small: a server's buffers would only take memory. */
const SETTINGS = [`search_path=${DEFAULT_SCHEMA}`, 'shared_buffers=16MB', 'max_connections=10', 'jit=off'];

/** Undefined: there is no folder; '': there is one without a version. */
async function majorOf(folder: string): Promise<string | undefined> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw cannotOpen(folder, error.message, error);
  });
  if (entries.length === 0) return undefined;
  return (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
}

async function putAside(folder: string, why: string, notice: Notice): Promise<void> {
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  let aside = `${folder}.damaged-${stamp}`;
  for (let n = 2; existsSync(aside); n++) aside = `${folder}.damaged-${stamp}-${n}`;
  await rename(folder, aside);
  notice(
    'warn',
    `The embedded queue in ${folder} starts empty: ${why}. The old one lies in ${aside}. Runs that had begun and files ` +
      'in the processing folder are taken up again from their journals; what was only queued has to be put on the queue again.',
  );
}

/** A first start that was killed leaves its half-made folder under another name. */
async function removeUnfinished(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  await rm(`${folder}.new`, { recursive: true, force: true });
  // An empty folder is in the way of the finished one.
  if (existsSync(folder) && (await readdir(folder)).length === 0) await rm(folder, { recursive: true });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}

function isOfTheMachine(why: string): boolean {
  return /no space left|ENOSPC|permission denied|EACCES|EPERM|EROFS|read-only file|EMFILE|ENFILE|out of memory|cannot allocate|ENOMEM|could not allocate/i.test(
    why,
  );
}

/** For what is wrong with the machine or the home, not with the queue's data. */
export function cannotOpen(folder: string, why: string, cause: unknown): RunError {
  return new RunError(
    'failed',
    `The embedded queue in ${folder} cannot be opened: ${why}. Check that the disk has room and the folder can be ` +
      'written, or name another queue in ROWFERRY_QUEUE_URL.',
    [],
    { cause },
  );
}
