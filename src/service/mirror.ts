import { randomUUID } from 'node:crypto';
import { type Delta, RULES, type Rules, readDelta } from './mirror/delta.js';
import { LAST_MODIFIED, readFront, readFull } from './mirror/full.js';
import { createHeld, formOf, type Held, openHeld } from './mirror/held.js';
import type { Moment } from './mirror/moment.js';
import { loadState, type MirrorState, prepareFolder, saveState } from './mirror/state.js';
import { forgetWritten, loadWritten, noteWritten } from './mirror/written.js';
import type { Mirror } from './mirror-port.js';
import type { Json, Page, Readable, Service } from './port.js';

export interface MirrorOptions {
  /** Folder of the mirror of this list; made. Holds the last certain reading: records (NDJSON), what was known of it. */
  readonly dir: string;
  /** Reads whole at least every so many readings (1: always whole). Also when the last full reading is older than 14 days. */
  readonly fullEvery: number;
  /** Most pages in flight; default 16, never more than the service's own limit of the moment. */
  readonly parallel?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Every record as it comes from the service, once a page. */
  readonly onRecords?: (records: readonly Json[]) => void;
  readonly onProgress?: (done: number, total: number) => void;
}

const OLDEST_FULL_MS = 14 * 24 * 3600_000;
/** A list of so many records is read whole: that is cheaper than thinking. */
const SMALL = 75;
/** Written records that the delta did not show, and that are asked for one by one. */
const MOST_ASKED = 25;

/**
 * Reads a list whole, or what has changed in it since the last certain reading, which lies in `dir`.
 *
 * What holds after a delta reading (assets only): the list has exactly the records of a full reading, and each is as the
 * service held it when the reading began or later, if the service gives every write a modification date that is not before any
 * shown until then. What the service changes in a record without doing so (the name of a category or owner that was
 * renamed, a warranty status that follows from the date) is as old as the last full reading: at most `fullEvery` readings or
 * 14 days. A service that was seen to write one of this program's own changes without a new date is always read whole.
 *
 * A quiet list of n pages takes n + 1 requests (assets) or n; a delta reading one for each 25 records that were written
 * since, and one or two more. Memory: 43 to 57 bytes a record, twice that where a delta reading was given up.
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
      watermark: reading.watermark ?? null,
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

/** The last reading as it lies on the disk, or why the list has to be read whole ('' where that needs no words). */
type Opened = { readonly held: Held; readonly watermark: Moment; readonly written: Set<number> } | string;

async function openKept(kept: MirrorState, resource: Readable, options: MirrorOptions, now: number): Promise<Opened> {
  if (resource !== 'asset' || kept.unmoved || options.fullEvery <= 1 || kept.size <= SMALL) return '';
  if (kept.deltas + 1 >= options.fullEvery) return `it was read whole ${options.fullEvery} readings ago`;
  if (!(now - kept.fullAt <= OLDEST_FULL_MS)) return 'it was last read whole more than 14 days ago';
  const { watermark } = kept;
  if (!watermark) return 'its records do not show when they were modified';
  const held = await openHeld(options.dir, newName, kept.segments, kept.size);
  if (!held) return 'what was kept of the last reading is damaged';
  return { held, watermark, written: await loadWritten(options.dir, kept.reading) };
}

const newName = (): string => `records-${randomUUID()}.ndjson`;

interface Setting {
  readonly service: Service;
  readonly resource: Readable;
  readonly options: MirrorOptions;
  readonly rules: Rules;
  readonly now: () => number;
  readonly kept: MirrorState | undefined;
}

interface Reading {
  readonly how: 'full' | 'delta';
  readonly certified: boolean;
  readonly problems: readonly string[];
  readonly described: string;
  readonly held: Held;
  readonly watermark: Moment | undefined;
  readonly fullAt: number;
  readonly deltas: number;
  readonly unmoved: boolean;
}

async function readAnew(setting: Setting & { readonly opened: Opened | undefined }): Promise<Reading> {
  const { service, resource, kept, opened, options } = setting;
  if (!kept || !opened || typeof opened === 'string') {
    const front = resource === 'asset' ? await readFront(service, resource) : undefined;
    return readWhole(setting, front, typeof opened === 'string' ? opened : '');
  }
  try {
    const { delta, front } = await readChanges(setting, opened);
    if (delta.kind === 'doubt') return await readWhole(setting, front, delta.why, opened);
    const { held } = opened;
    options.onProgress?.(held.size, held.size);
    return {
      how: 'delta',
      certified: true,
      problems: [],
      described: describeDelta(delta, held.size),
      held,
      watermark: delta.watermark,
      fullAt: kept.fullAt,
      deltas: kept.deltas + 1,
      unmoved: false,
    };
  } catch (error) {
    await opened.held.close();
    throw error;
  }
}

type Kept = Exclude<Opened, string>;

/** The delta, and the page with which it began: with that one the list is read whole where there is a doubt. */
async function readChanges(
  { service, resource, options, rules, now }: Setting,
  { held, watermark, written }: Kept,
): Promise<{ readonly delta: Delta; readonly front: Page | undefined }> {
  const front = await readFront(service, resource);
  if (!front) return { front, delta: { kind: 'doubt', why: 'the service refuses the order by modification date' } };
  if (front.count <= SMALL) return { front, delta: { kind: 'doubt', why: '' } };
  let fronts: Page | undefined = front;
  const read = async (number: number): Promise<Page> => {
    const page = (number === 1 ? fronts : undefined) ?? (await service.page(resource, number, LAST_MODIFIED));
    fronts = undefined;
    options.onRecords?.(page.results);
    return page;
  };
  const delta = await readDelta({ read, held, watermark, lookBack: true, now, rules });
  if (delta.kind === 'doubt') return { front, delta };
  for (const id of written) if (delta.shown.has(id)) written.delete(id);
  return { front, delta: (await unshown(service, resource, held, written)) ?? delta };
}

/** Records that were to be written and were not shown: not written after all, or the service moves no date. */
async function unshown(
  service: Service,
  resource: Readable,
  held: Held,
  written: ReadonlySet<number>,
): Promise<Delta | undefined> {
  if (written.size > MOST_ASKED) return { kind: 'doubt', why: `${written.size} records were written and not shown` };
  for (const id of written) {
    const record = held.look(id) && (await service.get(resource, id));
    if (record && formOf(record).hash === held.look(id)?.hash) continue;
    return { kind: 'doubt', why: `record ${id} was written and not shown` };
  }
  return undefined;
}

async function readWhole(
  { service, resource, options, now, kept }: Setting,
  front: Page | undefined,
  why: string,
  before?: Kept,
): Promise<Reading> {
  const fullAt = now();
  const full = await readFull(service, resource, { ...options, newName, now, front });
  const { held, certified, problems, readings, pages } = full;
  const found = before !== undefined && certified && wroteWithoutDate(before, held);
  await before?.held.close();
  const reason = found ? NOT_MOVED : why;
  return {
    how: 'full',
    certified,
    problems,
    described:
      `read the whole list, ${plural(held.size, 'record')} on ${plural(pages, 'page')}` +
      `${readings > 1 ? `, ${readings} times because it changed` : ''}${reason === '' ? '' : `, because ${reason}`}`,
    held,
    watermark: full.watermark,
    fullAt,
    deltas: 0,
    unmoved: found || kept?.unmoved === true,
  };
}

const NOT_MOVED = 'the service writes records without a new modification date, as it will be from now on';

/** Whether a record that this program wrote has changed, and is dated before everything that was written since. */
function wroteWithoutDate({ held: before, watermark, written }: Kept, held: Held): boolean {
  for (const id of written) {
    const [old, read] = [before.look(id), held.look(id)];
    if (old && read && old.hash !== read.hash && read.micros < watermark.micros) return true;
  }
  return false;
}

function describeDelta(delta: Extract<Delta, { kind: 'read' }>, size: number): string {
  const { length } = delta.changed;
  const found = length === 0 ? 'none' : String(length.toLocaleString('en-US'));
  return (
    `read what has changed since the last reading, on ${plural(delta.pages, 'page')}: ` +
    `${found} of ${plural(size, 'record')} ${length === 1 ? 'was' : 'were'} new or had changed`
  );
}

const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? noun : `${noun}s`}`;

function mirrorOf(
  service: Service,
  resource: Readable,
  parts: Reading & Omit<Setting, 'service' | 'resource'>,
): Mirror {
  const { options, rules, now, kept, certified } = parts;
  let { held } = parts;
  /** Undefined once what has changed cannot be told. */
  let since = certified && !parts.unmoved ? parts.watermark : undefined;
  let state = kept;
  let changed = false;
  let queue: Promise<unknown> = Promise.resolve();

  async function recheck() {
    if (!since) return undefined;
    const read = async (number: number): Promise<Page> => {
      const page = await service.page(resource, number, LAST_MODIFIED);
      options.onRecords?.(page.results);
      return page;
    };
    const delta = await readDelta({ read, held, watermark: since, lookBack: false, now, rules });
    since = delta.kind === 'read' ? delta.watermark : undefined;
    if (delta.kind === 'doubt') return undefined;
    changed ||= delta.changed.length > 0;
    return held.read(delta.changed);
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
    const extended = changed && since !== undefined;
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
      try {
        await keep();
      } finally {
        await held.close();
      }
    },
  };
}
