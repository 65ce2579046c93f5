import type { Mirror, Page, Readable, Service } from '../port.js';
import { RULES, type Rules, readDelta } from './delta.js';
import { beginListFile, type ListFile, openListFile } from './list-file.js';
import {
  LAST_MODIFIED,
  type MirrorOptions,
  type Opened,
  type Reading,
  readAnew,
  type Setting,
  SMALL,
} from './mirror-reading.js';

export type { MirrorOptions };

const OLDEST_FULL_MS = 14 * 24 * 3600_000;
const DAMAGED = 'what was kept of the last reading is damaged';

/**
 * Reads a list whole, or what has changed in it since the last certain reading, which lies in `dir`.
 *
 * What holds after a delta reading (assets only): the list has exactly the records of a full reading, and each is as the
 * service held it when the reading began or later, if the service gives every write a modification date that is not before any
 * shown until then (where records show theirs), or puts every write before all that was not written since (where they do
 * not, as the interface has it: dates as coarse as a day may then hide a change). Where the order is all there is, a few
 * pages of the list are looked at besides, others each time, and whoever writes reads the record again. What the service
 * changes in a record without doing so (the name of a category or owner that was renamed, a warranty status that follows
 * from the date) is as old as the last full reading: at most `fullEvery` readings or 14 days. A service that was seen to
 * write one of this program's own changes without a new date is always read whole.
 *
 * A quiet list of n pages takes n + 2 requests, one more for assets; a delta reading one for each 25 records that were written since, and one to
 * three more (twice that where dates are as coarse as a day), and ten for each 100,000 records where much was modified
 * shortly before the last reading.
 * One process at a time may use a folder. Throws what `Service.page` throws, and a `RunError` where the disk cannot be
 * written; whatever is wrong with what lies in the folder, the list is read whole. Performance page, "Delta read".
 */
export async function openMirror(
  service: Service,
  resource: Readable,
  options: MirrorOptions,
  rules: Rules = RULES,
): Promise<Mirror> {
  const now = options.now ?? Date.now;
  let list = await openListFile(options.dir, resource);
  try {
    const opened = openKept(list, resource, options, now());
    if (opened === DAMAGED) {
      list.close();
      list = await beginListFile(options.dir, resource);
    }
    const reading = await readAnew({ service, resource, options, rules, now, list, opened });
    const { certified, held, mark, fullAt, deltas, unmoved } = reading;
    if (certified) {
      const [watermark, front] = [mark?.watermark ?? null, mark ? [...mark.front] : null];
      list.keep({ resource, table: held.table, fullAt, deltas, size: held.size, watermark, front, unmoved });
    }
    return mirrorOf(service, resource, { ...reading, list, options, rules, now });
  } catch (error) {
    list.close();
    throw error;
  }
}

function openKept(list: ListFile, resource: Readable, options: MirrorOptions, now: number): Opened {
  const kept = list.state;
  if (!kept || resource !== 'asset' || kept.unmoved || options.fullEvery <= 1 || kept.size <= SMALL) return '';
  if (kept.deltas + 1 >= options.fullEvery) return `it was read whole ${options.fullEvery} readings ago`;
  if (!(now - kept.fullAt <= OLDEST_FULL_MS)) return 'it was last read whole more than 14 days ago';
  const { watermark, front } = kept;
  if (!front) return 'its records do not show when they were modified, nor does their order';
  const held = list.held(kept.table);
  if (held.size !== kept.size || !held.isWhole()) return DAMAGED;
  return { held, mark: { watermark: watermark ?? undefined, front }, written: list.written };
}

function mirrorOf(
  service: Service,
  resource: Readable,
  parts: Reading & Omit<Setting, 'service' | 'resource'>,
): Mirror {
  const { options, rules, now, list, certified } = parts;
  let { held } = parts;
  /** Undefined once what has changed cannot be told. */
  let mark = certified && !parts.unmoved ? parts.mark : undefined;
  let changed = false;
  let closed = false;
  let queue: Promise<unknown> = Promise.resolve();

  async function recheck() {
    if (!mark) return undefined;
    const read = async (number: number): Promise<Page> => {
      const page = await service.page(resource, number, LAST_MODIFIED);
      options.onRecords?.(page.results);
      return page;
    };
    const delta = await readDelta({ read, held, mark, lookBack: false, now, rules });
    if (delta.kind === 'doubt') {
      mark = undefined;
      return undefined;
    }
    const certain = mark.watermark !== undefined;
    mark = delta.mark;
    changed ||= delta.changed.length > 0;
    return { records: held.read(delta.changed), certain };
  }

  /** What a recheck in doubt has read is newer, too, but belongs to no certain state of the list. */
  function keep(): void {
    if (!changed) return;
    if (mark && list.state) list.keep({ ...list.state, size: held.size });
    else {
      list.rollback();
      held = list.held(held.table);
    }
    changed = false;
  }

  return {
    how: parts.how,
    certified,
    problems: parts.problems,
    described: parts.described,
    get count() {
      return held.size;
    },
    records: () => held.records(),
    recheck() {
      const result = queue.then(recheck);
      queue = result.catch(() => undefined);
      return result;
    },
    written(ids) {
      keep();
      if (list.state) list.noteWritten(ids);
    },
    async close() {
      await queue;
      if (closed) return;
      closed = true;
      try {
        keep();
      } finally {
        list.close();
      }
    },
  };
}
