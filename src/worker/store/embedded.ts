import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, RunError, runFailure, systemCodes } from '../../model/error.js';
import { LockedError, takeLock } from '../../runs/run/lock.js';
import { type Database, openDatabase } from '../../store/sqlite.js';
import { assemble, type StoreParts } from './assemble.js';
import { embeddedQueues, JOB_SCHEMA, step } from './embedded-jobs.js';
import { openReports } from './faults.js';
import type { EmbeddedStore, StoreOptions, TextStore } from './port.js';
import { isPassing } from './shared.js';

/** Texts under names, `until` milliseconds since 1970; for good without. */
const SCHEMA = `
  create table cell (name text primary key, content text not null, until integer) strict, without rowid;
  ${JOB_SCHEMA}
`;

/**
 * The queue of a home folder: `<home>/queue.db`, which one process has open at a time, under the lock `<home>/queue.lock`. What was
 * answered is on the disk. One that cannot be read is put aside: the journals and the processing folder tell what is to be done,
 * the queue only carries it.
 */
export async function openEmbedded({ home, notice }: StoreOptions): Promise<EmbeddedStore> {
  const file = join(home, 'queue.db');
  const release = await lockQueue(home).catch((error: unknown) => {
    throw error instanceof RunError ? error : cannotOpen(file, error);
  });
  try {
    const parts = embeddedParts(await openQueueFile(file, notice));
    const end = () => parts.end().finally(release);
    return assemble({ ...parts, end, address: `embedded in ${home}`, reports: openReports(file, notice) });
  } catch (error) {
    await release();
    throw error;
  }
}

async function lockQueue(home: string): Promise<() => Promise<void>> {
  await mkdir(home, { recursive: true });
  try {
    return await takeLock(join(home, 'queue.lock'), `The embedded queue in ${home}`);
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    const text = `Process ${error.pid} has the embedded queue in ${home} open, and one worker can. End that one first, or name a queue for several in ROWFERRY_QUEUE_URL.`;
    throw runFailure(text, [], { code: error.code });
  }
}

/** For what is wrong with the machine or the home, not with the queue's data. */
function cannotOpen(file: string, cause: unknown): RunError {
  return runFailure(
    `The embedded queue in ${file} cannot be opened: ${errorText(cause)}. Check that the disk has room and the folder can be ` +
      'written, or name another queue in ROWFERRY_QUEUE_URL.',
    [],
    { cause },
  );
}

/** Only the process that holds the queue's lock may. */
export async function openQueueFile(file: string, notice: StoreOptions['notice']): Promise<Database> {
  const open = () =>
    openDatabase(file, {
      label: 'The embedded queue',
      schema: SCHEMA,
      version: 1,
      remedy:
        'It starts empty: runs that had begun and files in the processing folder are taken up again from their journals; what was ' +
        'only queued has to be put on the queue again.',
    });
  try {
    return open();
  } catch (error) {
    // Of a fault that has a code of the system the machine is to blame: the file is as good as it was.
    if (systemCodes(error).some((code) => /^E[A-Z]+$/.test(code))) throw cannotOpen(file, (error as Error).cause);
    const aside = `${file}.damaged-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
    for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) await rename(file + end, aside + end);
    notice('warn', `${errorText(error)} The old one lies in ${aside}.`);
    return open();
  }
}

/** What an embedded store is made of, over the database that holds it. */
export function embeddedParts(database: Database): Omit<StoreParts<'embedded'>, 'address' | 'reports'> {
  return {
    kind: 'embedded',
    texts: embeddedTexts(database),
    leases: processLeases(),
    queues: embeddedQueues(database),
    end: async () => database.close(),
    abandon: () => undefined,
  };
}

/**
 * Within the one process that has the queue: they last as long as it lives. One that a busy machine, or a lid that was closed, kept
 * from renewing would begin its runs anew, though nobody else could have them.
 */
function processLeases(): Pick<EmbeddedStore, 'lease' | 'leased'> {
  const held = new Set<string>();
  let last = 0;
  return {
    async lease(name) {
      if (held.has(name)) return undefined;
      held.add(name);
      const epoch = Math.max(last + 1, Date.now());
      last = epoch;
      let valid = true;
      return {
        epoch,
        get valid() {
          return valid;
        },
        lost: new AbortController().signal,
        async release() {
          if (valid) held.delete(name);
          valid = false;
        },
      };
    },
    leased: async (name) => held.has(name),
  };
}

interface Cell {
  readonly content: string;
  readonly until: number | null;
}

function embeddedTexts(database: Database): TextStore {
  const find = database.prepare('select content, until from cell where name = ?');
  const put = database.prepare('insert or replace into cell (name, content, until) values (?, ?, ?)');
  const forget = database.prepare('delete from cell where until < ?');
  /** Spares the disk a write for every report. */
  const passing = new Map<string, Cell>();

  function textOf(name: string): string | undefined {
    const cell = isPassing(name) ? passing.get(name) : (find.get(name) as Cell | undefined);
    return cell && (cell.until ?? Number.POSITIVE_INFINITY) > Date.now() ? cell.content : undefined;
  }

  return {
    // A disk that is full can still be read.
    ping: () => step(() => void put.run('ping', '', null)),
    look: (name) => step(() => ({ text: textOf(name), now: Date.now(), ageMs: Number.POSITIVE_INFINITY })),
    replace: (name, seen, content, keepMs) =>
      step(() => {
        if (textOf(name) !== seen.text) return false;
        const until = keepMs === undefined ? null : Math.ceil(Date.now() + keepMs);
        if (isPassing(name)) passing.set(name, { content, until });
        else put.run(name, content, until);
        if (seen.text === undefined) forget.run(Date.now());
        return true;
      }),
  };
}
