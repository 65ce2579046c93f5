import { RunInterrupted } from '../../model/error.js';
import type { ReadConnection } from './connect.js';
import type { ExportPlan } from './plan.js';
import type { Records } from './records.js';
import type { ExportRun } from './run.js';
import { type Written, writeRecords } from './write.js';

/**
 * The file, made from the first reading while the list is read again: most lists are at rest, and the process has little
 * else to do. It takes the place of the target once the second reading has shown the same.
 *
 *   begun → rows are written → waits → the readings agree: in its place
 *                                    → they do not, or the reading failed: thrown away, as if it had never been begun
 */
export interface Draft {
  /** `list`: what the first reading showed. */
  readonly begin: (list: Records) => void;
  /** What was written, once it is in its place; undefined where there is no draft of this list. Throws what `writeRecords` does. */
  settle(list: Records): Promise<Written | undefined>;
}

/** Rows between two looks at the answers of the service: about a millisecond of work. */
const ROWS_AT_ONCE = 50;

export function openDraft(run: ExportRun, connection: ReadConnection, plan: ExportPlan): Draft {
  const dropped = new AbortController();
  let making: Promise<Written> | undefined;
  let isReading = true;
  /** What it has to say is said when it counts. */
  const held: string[] = [];
  let confirm: () => void = () => undefined;
  const confirmed = new Promise<void>((resolve, reject) => {
    confirm = resolve;
    dropped.signal.addEventListener('abort', () => reject(new RunInterrupted()));
  });
  confirmed.catch(() => undefined);

  const drafting: ExportRun = {
    ...run,
    signal: AbortSignal.any([run.signal, dropped.signal]),
    warn: (text) => (isReading ? held.push(text) : run.warn(text)),
    progress(phase, done, total) {
      if (!isReading) run.progress(phase, done, total);
    },
  };

  /** The records in small batches, with answers of the service in between. */
  async function* read(list: Records, ids?: Iterable<number>): ReturnType<Records['read']> {
    for await (const batch of list.read(ids)) {
      for (let from = 0; from < batch.length; from += ROWS_AT_ONCE) {
        if (isReading) await new Promise((resolve) => setImmediate(resolve));
        yield batch.slice(from, from + ROWS_AT_ONCE);
      }
    }
  }

  async function drop(): Promise<void> {
    dropped.abort();
    await making?.catch(() => undefined);
  }
  run.closers.push(drop);

  return {
    begin(list) {
      // Its import needs names that are asked for, which is left until the list has been read.
      if (run.request.editable) return;
      making = writeRecords(drafting, connection, plan, { ...list, read: (ids) => read(list, ids) }, confirmed);
      making.catch(() => undefined);
    },
    async settle(list) {
      isReading = false;
      if (making && !list.asFirst) await drop();
      if (!making || !list.asFirst) return undefined;
      held.forEach(run.warn);
      confirm();
      const written = await making;
      run.progress('writing', written.rows, written.rows);
      return written;
    },
  };
}
