import type { Json, Page } from '../port.js';
import { recordIdOf } from '../transport/answer.js';
import { IdSet } from './id-set.js';
import { hashRecord, type StoredRecords } from './list-file.js';

/** What makes a delta reading certain. Tests take one away and see that it is missed. */
export interface DeltaRules {
  /** Reads on until everything left is older than what stood first before. */
  readonly watermark: boolean;
  /** Believes nothing where the service counts other records than are held. */
  readonly counts: boolean;
  /** Looks at the front again after more than one page. */
  readonly secondLook: boolean;
}

export const DELTA_RULES: DeltaRules = { watermark: true, counts: true, secondLook: true };

/** What stood first in the order `-modified_date` when a reading began: everything written since stands above it. */
export interface Mark {
  /**
   * The latest modification date as the service writes it; undefined where records do not show theirs, as the interface has
   * assets (section 2.5). Dates are compared as texts: one whose texts do not sort as its times do is a doubt.
   */
  readonly watermark: string | undefined;
  /** Ids of page 1. */
  readonly front: readonly number[];
}

interface DeltaOptions {
  readonly read: (page: number) => Promise<Page>;
  readonly stored: StoredRecords;
  /** As it was before what is held was read. */
  readonly mark: Mark;
  readonly now: () => number;
  readonly rules: DeltaRules;
}

type Doubt = { readonly kind: 'doubt'; readonly why: string };

export type Delta =
  | {
      readonly kind: 'read';
      /** As it was when the reading began. */
      readonly mark: Mark;
      readonly pages: number;
      /** Ids of the records that are new or read otherwise than before, ascending. */
      readonly changed: readonly number[];
      readonly seenIds: { has(id: number): boolean };
    }
  | Doubt;

/** Looks at the front of the list; one that still finds something new then changes faster than it can be read. */
const MAX_ROUNDS = 5;
/** By order alone: pages in a row on which every record is as held. One may be records that were saved without a change. */
const CLEAN_PAGES = 2;
/** One page of so many of the list is looked at by the spot check. */
const PAGES_PER_CHECK = 400;
/** Moves the spot checks from reading to reading, so that over time they are spread over the whole list. */
const GOLDEN = 0.618033988749895;

const TOO_MUCH = 'too many records were modified since the last reading';

/**
 * Brings what is held up to the service's state, by its pages in the order `-modified_date`:
 *
 *   walk from page 1 down to what is as held and older than the mark
 *     dates shown: a page on which every record is as held, and the last is older than the watermark
 *     order alone: a record of the front of before is as held, and so are two pages in a row
 *   → it was page 1 alone: one answer, one moment, done
 *   → more pages: what moved meanwhile from pages unread to pages read was missed
 *     dates shown: walk again down to what stood first when this walk began, until a walk finds nothing new
 *     order alone: page 1 again; as it was when the walk began? done : walk again
 *
 * It rests on one promise of the service: what is written gets a modification date that is not before any date shown until
 * then, or, where no dates are shown, comes before all that was not written since. (Where dates that are not shown are as
 * coarse as a day that does not hold; what is then missed is as old as the last full reading.) Everything else that does not
 * fit is a doubt, and the whole list has to be read: counts other than of what is held, dates that are missing or do not
 * descend; pages that repeat each other; more pages than half the list.
 * Interface, sections 4.4 and 8.
 */
export async function readDelta(options: DeltaOptions): Promise<Delta> {
  const { stored, read, rules } = options;
  const found: Found = { seenIds: new IdSet(), changed: new Set() };
  let { mark } = options;
  let first: Mark | undefined;
  let pages = 0;
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const walk = await walkDown(options, mark, found);
    if (walk.kind === 'doubt') return walk;
    pages += walk.pages;
    first ??= walk.top;
    if (walk.kind === 'moved') continue;
    mark = walk.top;
    if (walk.pages > 1 && rules.secondLook) {
      if (mark.watermark) {
        if (round === 1 || walk.fresh > 0) continue;
      } else {
        pages++;
        if (!isAsBefore(await read(1), walk, stored)) continue;
      }
    }
    if (rules.counts && walk.count !== stored.size) return doubt(countsDiffer(walk.count, stored.size));
    const changed = [...found.changed].sort((a, b) => a - b);
    return { kind: 'read', mark: first, pages, changed, seenIds: found.seenIds };
  }
  return doubt('the list changes faster than it can be read');
}

interface WalkResult {
  /** `moved`: the count changed under the walk. */
  readonly kind: 'ended' | 'moved';
  readonly pages: number;
  readonly count: number;
  /** Page 1. */
  readonly top: Mark;
  /** Times that a record was new or read otherwise than before. */
  readonly fresh: number;
}

interface Found {
  readonly seenIds: IdSet;
  readonly changed: Set<number>;
}

const doubt = (why: string): Doubt => ({ kind: 'doubt', why });
const countsDiffer = (count: number, known: number): string =>
  `the service counts ${count} records, where ${known} are known`;

async function walkDown(
  { read, stored, now, rules }: DeltaOptions,
  { watermark, front }: Mark,
  found: Found,
): Promise<WalkResult | Doubt> {
  const walked = new IdSet();
  /** Of an old front that was written anew as a whole, no record can show where the old part begins. */
  const frontBefore = new Set(front);
  let anchored = false;
  let cleanPages = 0;
  let most = 1;
  let count = 0;
  let top: Mark = { watermark: undefined, front: [] };
  /** The date of the last record so far. */
  let lowest: string | undefined;
  let fresh = 0;

  /** Whether all that follows this page is as it is held. */
  const isReached = (asStored: boolean): boolean => {
    if (watermark !== undefined) return asStored && !(rules.watermark && (lowest as string) >= watermark);
    const reached = anchored || frontBefore.size === 0 || !rules.watermark;
    return reached && cleanPages >= (rules.watermark ? CLEAN_PAGES : 1);
  };

  for (let number = 1; number <= most; number++) {
    const { results, ...page } = await read(number);
    const readAt = now();
    if (number === 1) {
      ({ count } = page);
      if (rules.counts && count < stored.size) return doubt(countsDiffer(count, stored.size));
      const wrong = frontFault(results, count, stored);
      if (wrong !== undefined) return doubt(wrong);
      most = Math.max(1, Math.floor(Math.ceil(count / results.length) / 2));
      top = { watermark: watermark && shownDate(results[0]), front: results.map((record) => recordIdOf(record) ?? 0) };
    } else if (rules.counts && page.count !== count) return { kind: 'moved', pages: number, count, top, fresh };
    let asStored = true;
    let newOnPage = 0;
    for (const record of results) {
      const id = recordIdOf(record);
      if (id === undefined) return doubt('a record has no id');
      const isNew = walked.add(id);
      if (isNew) newOnPage++;
      if (watermark !== undefined) {
        const date = shownDate(record);
        if (date === undefined) return doubt('a record does not show when it was modified');
        // A record that another one pushed down comes again, and is no break of the order.
        if (isNew && lowest !== undefined && date > lowest) return doubt('modification dates do not descend');
        if (lowest === undefined || date < lowest) lowest = date;
      }
      found.seenIds.add(id);
      const hashed = hashRecord(record);
      const inFront = frontBefore.delete(id);
      if (stored.hashOf(id) === hashed.hash) {
        anchored ||= inFront;
        continue;
      }
      asStored = false;
      fresh++;
      found.changed.add(id);
      stored.put(id, hashed, readAt);
    }
    if (newOnPage === 0) return doubt(`page ${number} shows nothing that was not shown before`);
    cleanPages = asStored ? cleanPages + 1 : 0;
    if ((number === 1 && results.length >= count) || isReached(asStored))
      return { kind: 'ended', pages: number, count, top, fresh };
  }
  return doubt(TOO_MUCH);
}

function isAsBefore({ count, results }: Page, { top, ...walk }: WalkResult, stored: StoredRecords): boolean {
  if (count !== walk.count || results.length !== top.front.length) return false;
  return results.every((record, at) => recordIdOf(record) === top.front[at] && isAsStored(record, stored));
}

function isAsStored(record: Json, stored: StoredRecords): boolean {
  const id = recordIdOf(record);
  return id !== undefined && stored.hashOf(id) === hashRecord(record).hash;
}

/** A service that does not look at `ordering` shows the lowest ids first. */
export function frontFault(results: readonly Json[], count: number, stored: StoredRecords): string | undefined {
  if (results.length === 0) return `the first page is empty although the service counts ${count}`;
  if (results.length >= count) return undefined;
  const lowest = stored.slice(0, results.length);
  return results.every((record, index) => recordIdOf(record) === lowest[index])
    ? 'the order cannot be told from that of the ids'
    : undefined;
}

/** As the service writes it: what its form is, the interface does not say (section 2.1). */
function shownDate(record: Json | undefined): string | undefined {
  const date = record?.['modified_date'];
  return typeof date === 'string' && date !== '' ? date : undefined;
}

/**
 * What a page of the last modified records is remembered by: with the latest date where all show theirs and these descend, by the
 * order alone where none does; undefined where neither is so.
 */
export function markOf({ results }: Page): Mark | undefined {
  const dates = results.map(shownDate);
  const front = results.flatMap((record) => recordIdOf(record) ?? []);
  const shown = dates.filter((date) => date !== undefined);
  const descend = shown.every((date, at) => at === 0 || date <= (shown[at - 1] as string));
  if (front.length < results.length || (shown.length > 0 && (shown.length < dates.length || !descend)))
    return undefined;
  return { watermark: shown[0], front };
}

/**
 * Where the order is all there is: looks at a few pages of the list in its own order, other ones at every reading (`turn`). Do
 * they hold just the records that are held there? A service that writes records without moving them to the front is found out
 * so, sooner or later. Returns what does not fit, in words.
 */
export async function spotCheck(
  read: (page: number) => Promise<Page>,
  stored: StoredRecords,
  pageSize: number,
  turn: number,
): Promise<string | undefined> {
  const pages = Math.ceil(stored.size / pageSize);
  const samples = Math.ceil(pages / PAGES_PER_CHECK);
  for (let index = 0; index < samples; index++) {
    const number = 1 + Math.floor(((index + ((turn * GOLDEN) % 1)) * pages) / samples);
    const { count, results } = await read(number);
    if (count !== stored.size) return countsDiffer(count, stored.size);
    const expected = stored.slice((number - 1) * pageSize, number * pageSize);
    const fits =
      results.length === expected.length &&
      results.every((record, at) => recordIdOf(record) === expected[at] && isAsStored(record, stored));
    if (!fits) return `page ${number} of the list does not hold what is known of it`;
  }
  return undefined;
}
