import { countText, formatNumber } from '../../model/count-text.js';
import type { Json, Mirror, Page, Readable, Service } from '../port.js';
import { recordIdOf } from '../transport/answer.js';
import {
  DELTA_RULES,
  type Delta,
  type DeltaRules,
  frontFault,
  type Mark,
  markOf,
  readDelta,
  spotCheck,
} from './delta.js';
import {
  beginListFile,
  hashRecord,
  type ListFile,
  type ListState,
  openListFile,
  type StoredRecords,
} from './list-file.js';
import { refusalOf, walkList } from './walk-list.js';

export interface MirrorOptions {
  /** Folder of the mirror of this list; made. Holds the last certain reading: records (NDJSON), what was known of it. */
  readonly dir: string;
  /** Reads whole at least every so many readings (1: always whole). Also when the last full reading is older than 14 days. */
  readonly fullEvery: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Every record as it comes from the service, once a page. */
  readonly onRecords?: (records: readonly Json[]) => void;
}

/** A list of so many records is read whole: that is cheaper than thinking. */
const SMALL_LIST = 75;
/** The last modified records first. Interface, section 4.4. */
const LAST_MODIFIED = { ordering: '-modified_date' } as const;
/** Written records that the delta did not show, and that are asked for one by one. */
const MAX_ASKED = 25;
/** Times a list is read that changes meanwhile. */
const MAX_READINGS = 3;

/** The last reading as it lies on the disk. */
interface StoredReading {
  readonly stored: StoredRecords;
  readonly mark: Mark;
  /** Ids of what this program was to write since. */
  readonly written: Set<number>;
}

/** What lies on the disk, or why the list has to be read whole ('' where that needs no words). */
type Opened = StoredReading | string;

interface MirrorContext {
  readonly service: Service;
  readonly resource: Readable;
  readonly options: MirrorOptions;
  readonly rules: DeltaRules;
  readonly now: () => number;
  readonly list: ListFile;
}

interface ListReading
  extends Pick<Mirror, 'how' | 'certified' | 'problems' | 'described'>,
    Pick<ListState, 'fullAt' | 'deltas'> {
  readonly stored: StoredRecords;
  /** What stood first in the order of modification when the reading began; undefined where there is no such order. */
  readonly mark: Mark | undefined;
}

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
 * from the date) is as old as the last full reading: at most `fullEvery` readings or 14 days.
 *
 * A quiet list of n pages takes n + 2 requests, one more for assets; a delta reading one for each 25 records that were written since, and one to
 * three more (twice that where dates are shown).
 * One process at a time may use a folder. Throws what `Service.page` throws, and a `RunError` where the disk cannot be
 * written; whatever is wrong with what lies in the folder, the list is read whole. Performance page, "Delta read".
 */
export async function openMirror(
  service: Service,
  resource: Readable,
  options: MirrorOptions,
  rules: DeltaRules = DELTA_RULES,
): Promise<Mirror> {
  const now = options.now ?? Date.now;
  let list = await openListFile(options.dir, resource);
  try {
    const opened = openStored(list, resource, options, now());
    if (opened === DAMAGED) {
      list.close();
      list = await beginListFile(options.dir, resource);
    }
    const context = { service, resource, options, rules, now, list };
    const reading = await readAnew(context, opened);
    const { certified, stored, mark, fullAt, deltas } = reading;
    if (certified) {
      const [watermark, front] = [mark?.watermark ?? null, mark ? [...mark.front] : null];
      list.commit({ resource, table: stored.table, fullAt, deltas, size: stored.size, watermark, front });
    }
    return mirrorOf(context, reading);
  } catch (error) {
    list.close();
    throw error;
  }
}

function openStored(list: ListFile, resource: Readable, options: MirrorOptions, now: number): Opened {
  const kept = list.state;
  if (!kept || resource !== 'asset' || options.fullEvery <= 1 || kept.size <= SMALL_LIST) return '';
  if (kept.deltas + 1 >= options.fullEvery) return `it was read whole ${options.fullEvery} readings ago`;
  if (!(now - kept.fullAt <= OLDEST_FULL_MS)) return 'it was last read whole more than 14 days ago';
  const { watermark, front } = kept;
  if (!front) return 'its records do not show when they were modified, nor does their order';
  const stored = list.stored(kept.table);
  if (stored.size !== kept.size || !stored.isIntact()) return DAMAGED;
  return { stored, mark: { watermark: watermark ?? undefined, front }, written: list.written };
}

function mirrorOf({ service, resource, options, rules, now, list }: MirrorContext, reading: ListReading): Mirror {
  const { how, certified, problems, described } = reading;
  let { stored } = reading;
  /** Undefined once what has changed cannot be told. */
  let mark = certified ? reading.mark : undefined;
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
    const delta = await readDelta({ read, stored, mark, now, rules });
    if (delta.kind === 'doubt') {
      mark = undefined;
      return undefined;
    }
    const certain = mark.watermark !== undefined;
    mark = delta.mark;
    changed ||= delta.changed.length > 0;
    return { records: stored.read(delta.changed), certain };
  }

  /** What a recheck in doubt has read is newer, too, but belongs to no certain state of the list. */
  function keepRecheck(): void {
    if (!changed) return;
    if (mark && list.state) list.commit({ ...list.state, size: stored.size });
    else {
      list.rollback();
      stored = list.stored(stored.table);
    }
    changed = false;
  }

  return {
    how,
    certified,
    problems,
    described,
    get count() {
      return stored.size;
    },
    records: () => stored.records(),
    recheck() {
      const result = queue.then(recheck);
      queue = result.catch(() => undefined);
      return result;
    },
    noteWritten(ids) {
      keepRecheck();
      if (list.state) list.noteWritten(ids);
    },
    async close() {
      await queue;
      if (closed) return;
      closed = true;
      try {
        keepRecheck();
      } finally {
        list.close();
      }
    },
  };
}

/** Reads what has changed where that is certain, else the whole list. */
async function readAnew(context: MirrorContext, opened: Opened): Promise<ListReading> {
  const { service, resource, list } = context;
  const kept = list.state;
  if (!kept || typeof opened === 'string') {
    const front = resource === 'asset' ? await readFront(service, resource) : undefined;
    return readWhole(context, front, typeof opened === 'string' ? opened : '');
  }
  const { delta, front } = await readChanges(context, opened);
  if (delta.kind === 'doubt') {
    list.rollback();
    return readWhole(context, front, delta.why);
  }
  const { stored } = opened;
  return {
    how: 'delta',
    certified: true,
    problems: [],
    described: describeDelta(delta, stored.size),
    stored,
    mark: delta.mark,
    fullAt: kept.fullAt,
    deltas: kept.deltas + 1,
  };
}

/** Page 1 of the last modified records; undefined where the service does not know the order. */
async function readFront(service: Service, resource: Readable): Promise<Page | undefined> {
  try {
    return await service.page(resource, 1, LAST_MODIFIED);
  } catch (error) {
    if (refusalOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The delta, and the page with which it began: with that one the list is read whole where there is a doubt. */
async function readChanges(
  { service, resource, options, rules, now, list }: MirrorContext,
  { stored, mark, written }: StoredReading,
): Promise<{ readonly delta: Delta; readonly front: Page | undefined }> {
  const front = await readFront(service, resource);
  if (!front) return { front, delta: { kind: 'doubt', why: 'the service refuses the order by modification date' } };
  if (front.count <= SMALL_LIST) return { front, delta: { kind: 'doubt', why: '' } };
  let first: Page | undefined = front;
  const read = async (number: number): Promise<Page> => {
    const page = (number === 1 ? first : undefined) ?? (await service.page(resource, number, LAST_MODIFIED));
    first = undefined;
    options.onRecords?.(page.results);
    return page;
  };
  const delta = await readDelta({ read, stored, mark, now, rules });
  if (delta.kind === 'doubt') return { front, delta };
  for (const id of written) if (delta.seenIds.has(id)) written.delete(id);
  const readNumber = (number: number): Promise<Page> => service.page(resource, number);
  const why =
    (await unshownWrites(service, resource, stored, written)) ??
    (mark.watermark ? undefined : await spotCheck(readNumber, stored, front.results.length, list.state?.deltas ?? 0));
  return { front, delta: why === undefined ? delta : { kind: 'doubt', why } };
}

/** Records that were to be written and were not shown: not written after all, or the service moves no date. */
async function unshownWrites(
  service: Service,
  resource: Readable,
  stored: StoredRecords,
  written: ReadonlySet<number>,
): Promise<string | undefined> {
  if (written.size > MAX_ASKED) return `${written.size} records were written and not shown`;
  for (const id of written) {
    const hash = stored.hashOf(id);
    const record = hash === undefined ? undefined : await service.get(resource, id);
    if (!record || hashRecord(record).hash !== hash) return `record ${id} was written and not shown`;
  }
  return undefined;
}

/** The whole list; again while it changes under the reading. The last reading is used, certain or not. */
async function readWhole(context: MirrorContext, front: Page | undefined, why: string): Promise<ListReading> {
  const fullAt = context.now();
  for (let readings = 1; ; readings++) {
    const stored = context.list.newReading();
    const { problems, pages, mark } = await readOnce(context, stored, front);
    const certified = problems.length === 0;
    if (!certified && readings < MAX_READINGS) {
      stored.drop();
      continue;
    }
    const times = readings > 1 ? `, ${readings} times because it changed` : '';
    return {
      how: 'full',
      certified,
      problems,
      described:
        `read the whole list, ${countText(stored.size, 'record')} on ${countText(pages, 'page')}${times}` +
        `${why === '' ? '' : `, because ${why}`}`,
      stored,
      mark,
      fullAt,
      deltas: 0,
    };
  }
}

/** `front`: page 1 of the last modified records, read before. */
async function readOnce(
  { service, resource, options, now }: MirrorContext,
  stored: StoredRecords,
  front: Page | undefined,
) {
  const walk = walkList(service, resource);
  let pages = 0;
  for await (const { records } of walk) {
    const readAt = now();
    pages++;
    options.onRecords?.(records);
    for (const record of records) {
      const id = recordIdOf(record);
      // The walk has noted that as a problem: such a list is not certain.
      if (id === undefined) continue;
      stored.add(id, hashRecord(record), readAt);
    }
  }
  stored.flush();
  const problems = [...walk.problems];
  if (problems.length === 0 && !(await walk.confirm())) problems.push('records came or went while the list was read');
  // Just the beginning of the list: then nothing shows that the order was looked at.
  const isOrdered = front && frontFault(front.results, front.count, stored) === undefined;
  return { problems, pages, mark: isOrdered ? markOf(front) : undefined };
}

function describeDelta(delta: Extract<Delta, { kind: 'read' }>, size: number): string {
  const { length } = delta.changed;
  const found = length === 0 ? 'none' : formatNumber(length);
  return (
    `read what has changed since the last reading, on ${countText(delta.pages, 'page')}: ` +
    `${found} of ${countText(size, 'record')} ${length === 1 ? 'was' : 'were'} new or had changed`
  );
}
