import { randomUUID } from 'node:crypto';
import type { Page, Readable, Service } from '../port.js';
import { type Delta, type DeltaOptions, type Rules, readDelta } from './delta.js';
import { readDeltaByOrder } from './delta-by-order.js';
import { LAST_MODIFIED, readFront, readFull } from './full.js';
import { formOf, type Held } from './held.js';
import type { Moment } from './moment.js';
import type { MirrorOptions } from './options.js';
import { spotCheck } from './spot-check.js';
import type { MirrorState } from './state.js';

/** A list of so many records is read whole: that is cheaper than thinking. */
export const SMALL = 75;
/** Written records that the delta did not show, and that are asked for one by one. */
const MOST_ASKED = 25;

/** The last reading as it lies on the disk. */
export interface Kept {
  readonly held: Held;
  /** Absent: records do not show when they were modified. */
  readonly watermark: Moment | undefined;
  readonly front: readonly number[];
  /** Ids of what this program was to write since. */
  readonly written: Set<number>;
}

/** What lies on the disk, or why the list has to be read whole ('' where that needs no words). */
export type Opened = Kept | string;

export const newName = (): string => `records-${randomUUID()}.ndjson`;

export interface Setting {
  readonly service: Service;
  readonly resource: Readable;
  readonly options: MirrorOptions;
  readonly rules: Rules;
  readonly now: () => number;
  readonly kept: MirrorState | undefined;
}

export interface Reading {
  readonly how: 'full' | 'delta';
  readonly certified: boolean;
  readonly problems: readonly string[];
  readonly described: string;
  readonly held: Held;
  readonly watermark: Moment | undefined;
  readonly front: readonly number[] | undefined;
  readonly fullAt: number;
  readonly deltas: number;
  readonly unmoved: boolean;
}

/** Reads what has changed where that is certain, else the whole list. */
export async function readAnew(setting: Setting & { readonly opened: Opened | undefined }): Promise<Reading> {
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
      front: delta.front,
      fullAt: kept.fullAt,
      deltas: kept.deltas + 1,
      unmoved: false,
    };
  } catch (error) {
    await opened.held.close();
    throw error;
  }
}

/** The delta, and the page with which it began: with that one the list is read whole where there is a doubt. */
async function readChanges(
  { service, resource, options, rules, now, kept }: Setting,
  { held, watermark, front: before, written }: Kept,
): Promise<{ readonly delta: Changes; readonly front: Page | undefined }> {
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
  const delta = await changesOf({ read, held, watermark, front: before, lookBack: true, now, rules });
  if (delta.kind === 'doubt') return { front, delta };
  for (const id of written) if (delta.shown.has(id)) written.delete(id);
  const missed = await unshown(service, resource, held, written);
  if (missed || watermark) return { front, delta: missed ?? delta };
  const look = (number: number) => service.page(resource, number);
  const strange = await spotCheck(look, held, front.results.length, kept?.deltas ?? 0);
  return { front, delta: strange === undefined ? delta : { kind: 'doubt', why: strange } };
}

/** What a delta reading came to, by dates or by order alone. */
export type Changes =
  | (Omit<Extract<Delta, { kind: 'read' }>, 'watermark'> & {
      readonly watermark: Moment | undefined;
      readonly front: readonly number[] | undefined;
    })
  | Extract<Delta, { kind: 'doubt' }>;

/** By dates where records show them, else by order. */
export async function changesOf(
  options: Omit<DeltaOptions, 'watermark'> & {
    readonly watermark: Moment | undefined;
    readonly front: readonly number[];
  },
): Promise<Changes> {
  const { watermark, front } = options;
  if (watermark) {
    const delta = await readDelta({ ...options, watermark });
    return delta.kind === 'doubt' ? delta : { ...delta, front };
  }
  const delta = await readDeltaByOrder(options);
  return delta.kind === 'doubt' ? delta : { ...delta, watermark: undefined };
}

/** Records that were to be written and were not shown: not written after all, or the service moves no date. */
async function unshown(
  service: Service,
  resource: Readable,
  held: Held,
  written: ReadonlySet<number>,
): Promise<Extract<Delta, { kind: 'doubt' }> | undefined> {
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
    front: full.front,
    fullAt,
    deltas: 0,
    unmoved: found || kept?.unmoved === true,
  };
}

const NOT_MOVED = 'the service writes records without a new modification date, as it will be from now on';

/** Whether a record that this program wrote has changed, and is dated before everything that was written since. */
function wroteWithoutDate({ held: before, watermark, written }: Kept, held: Held): boolean {
  if (!watermark) return false;
  for (const id of written) {
    const [old, read] = [before.look(id), held.look(id)];
    if (old && read && old.hash !== read.hash && read.micros < watermark.micros) return true;
  }
  return false;
}

function describeDelta(delta: Extract<Changes, { kind: 'read' }>, size: number): string {
  const { length } = delta.changed;
  const found = length === 0 ? 'none' : String(length.toLocaleString('en-US'));
  return (
    `read what has changed since the last reading, on ${plural(delta.pages, 'page')}: ` +
    `${found} of ${plural(size, 'record')} ${length === 1 ? 'was' : 'were'} new or had changed`
  );
}

const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? noun : `${noun}s`}`;
