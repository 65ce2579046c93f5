import { randomUUID } from 'node:crypto';
import type { Mirror, Page, Readable, Service } from '../port.js';
import { RULES, type Rules, readDelta } from './delta.js';
import { createHeld, formOf, openHeld } from './held.js';
import {
  LAST_MODIFIED,
  type MirrorOptions,
  newName,
  type Opened,
  type Reading,
  readAnew,
  type Setting,
  SMALL,
} from './mirror-reading.js';
import {
  forgetWritten,
  loadState,
  loadWritten,
  type MirrorState,
  noteWritten,
  prepareFolder,
  saveState,
} from './mirror-state.js';

export type { MirrorOptions };

const OLDEST_FULL_MS = 14 * 24 * 3600_000;

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
 * shortly before the last reading. Memory: 43 to 57 bytes a record, twice that where a delta reading was given up.
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
  const { dir } = options;
  const kept = await loadState(dir, resource);
  await prepareFolder(dir, kept);
  const opened = kept && (await openKept(kept, resource, options, now()));
  const reading = await readAnew({ service, resource, options, rules, now, kept, opened });
  if (!reading.certified) return mirrorOf(service, resource, { ...reading, kept, options, rules, now });
  try {
    const state: MirrorState = {
      resource,
      reading: randomUUID(),
      fullAt: reading.fullAt,
      deltas: reading.deltas,
      size: reading.held.size,
      watermark: reading.mark?.watermark ?? null,
      front: reading.mark ? [...reading.mark.front] : null,
      unmoved: reading.unmoved,
      segments: await reading.held.seal(),
    };
    await saveState(dir, state, kept?.segments ?? []);
    if (kept) await forgetWritten(dir, kept.reading);
    return mirrorOf(service, resource, { ...reading, kept: state, options, rules, now });
  } catch (error) {
    await reading.held.close();
    throw error;
  }
}

async function openKept(kept: MirrorState, resource: Readable, options: MirrorOptions, now: number): Promise<Opened> {
  if (resource !== 'asset' || kept.unmoved || options.fullEvery <= 1 || kept.size <= SMALL) return '';
  if (kept.deltas + 1 >= options.fullEvery) return `it was read whole ${options.fullEvery} readings ago`;
  if (!(now - kept.fullAt <= OLDEST_FULL_MS)) return 'it was last read whole more than 14 days ago';
  const { watermark, front } = kept;
  if (!front) return 'its records do not show when they were modified, nor does their order';
  const held = await openHeld(options.dir, newName, kept.segments, kept.size);
  if (!held) return 'what was kept of the last reading is damaged';
  const mark = { watermark: watermark ?? undefined, front };
  return { held, mark, written: await loadWritten(options.dir, kept.reading) };
}

function mirrorOf(
  service: Service,
  resource: Readable,
  parts: Reading & Omit<Setting, 'service' | 'resource'>,
): Mirror {
  const { options, rules, now, kept, certified } = parts;
  let { held } = parts;
  /** Undefined once what has changed cannot be told. */
  let mark = certified && !parts.unmoved ? parts.mark : undefined;
  let state = kept;
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
    return { records: await held.read(delta.changed), certain };
  }

  /** The same records in one file, without the lines that are out of date. */
  async function compact(): Promise<void> {
    const fresh = createHeld(options.dir, newName);
    for await (const batch of held.records()) {
      for (const { record, readAt } of batch) {
        const id = record['id'] as number;
        fresh.put(id, formOf(record), readAt, held.look(id)?.micros ?? Number.NaN);
      }
      await fresh.drained();
    }
    await held.close();
    held = fresh;
  }

  async function keep(): Promise<void> {
    // What a recheck in doubt has read is newer, too, but belongs to no certain state of the list.
    const extended = changed && mark !== undefined;
    if (!certified || !state || (!extended && (changed || !held.stale))) return;
    if (held.stale) await compact();
    const segments = await held.seal();
    const before = state.segments;
    state = { ...state, size: held.size, segments };
    await saveState(options.dir, state, before);
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
      if (state) noteWritten(options.dir, state.reading, ids);
    },
    async close() {
      await queue;
      if (closed) return;
      closed = true;
      try {
        await keep();
      } finally {
        await held.close();
      }
    },
  };
}
