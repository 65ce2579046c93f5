import type { Json, Page } from '../port.js';
import { idOf } from '../transport/answer.js';
import { formOf, type Held } from './held.js';
import { idSet } from './id-set.js';
import { type Moment, type MomentForm, readMoment } from './moment.js';

/** What makes a delta reading certain. Tests take one away and see that it is missed. */
export interface Rules {
  /** Reads on until everything left is older than the watermark. */
  readonly watermark: boolean;
  /** Believes nothing where the service counts other records than are held. */
  readonly counts: boolean;
  /** Looks at the front again after more than one page. */
  readonly secondLook: boolean;
}

export const RULES: Rules = { watermark: true, counts: true, secondLook: true };

export interface DeltaOptions {
  readonly read: (page: number) => Promise<Page>;
  readonly held: Held;
  /** The latest modification date that the service showed before what is held was read. */
  readonly watermark: Moment;
  /** Goes on into the time before the watermark, for what was committed late: see `LOOK_BACK`. */
  readonly lookBack: boolean;
  readonly now: () => number;
  readonly rules: Rules;
}

export type Delta =
  | {
      readonly kind: 'read';
      /** The latest modification date when the reading began. */
      readonly watermark: Moment;
      readonly pages: number;
      /** Ids of the records that are new or read otherwise than before, ascending. */
      readonly changed: readonly number[];
      readonly shown: { has(id: number): boolean };
    }
  | { readonly kind: 'doubt'; readonly why: string };

/** Looks at the front of the list; one that still finds something new then changes faster than it can be read. */
export const MOST_ROUNDS = 5;
/**
 * A date is given before its record can be seen, by clocks that differ: what is a little older than the watermark may be new,
 * too. It is read where it costs few pages; only older than the watermark is what can be relied on.
 */
const LOOK_BACK_MICROS = 5 * 60_000_000;
/** One page of so many of the list may be read for that. */
const LOOK_BACK_SHARE = 400;
/** Times without a zone are repeated when the clock is put back. */
const CLOCK_PUT_BACK_MICROS = 3600_000_000;

/**
 * Brings what is held up to the service's state, by its pages in the order `-modified_date`:
 *
 *   walk from page 1 to a page on which every record is as held and the last is older than the watermark
 *     → it was page 1 alone: one answer, one moment, done
 *     → more pages: what moved meanwhile from pages unread to pages read was missed
 *       → walk again with the date that stood first when this walk began, until a walk finds nothing new
 *
 * It rests on one promise of the service: what is written gets a modification date that is not before any date shown until
 * then. Everything else that does not fit is a doubt, and the whole list has to be read: counts other than of what is held,
 * dates that are missing, of another form, not descending, or later on records that were not shown; pages that repeat each
 * other; more pages than half the list. Interface, sections 4.4 and 8.
 */
export async function readDelta(options: DeltaOptions): Promise<Delta> {
  const { held, rules } = options;
  const shown = idSet();
  const changed = new Set<number>();
  let { watermark } = options;
  let first: Moment | undefined;
  let bottom = Number.POSITIVE_INFINITY;
  let pages = 0;
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const walk = await walkDown(options, watermark, { shown, changed }, round === 1 && options.lookBack);
    if (walk.kind === 'doubt') return walk;
    pages += walk.pages;
    first ??= walk.top;
    if (walk.kind === 'moved') continue;
    bottom = Math.min(bottom, walk.bottom);
    watermark = walk.top;
    const atRest = walk.pages === 1 || (round > 1 && walk.fresh === 0);
    if (!atRest && rules.secondLook) continue;
    if (rules.counts && walk.count !== held.size) return doubt(countsDiffer(walk.count, held.size));
    if (held.laterThan(bottom, shown)) return doubt('the service does not show the last modified records first');
    return { kind: 'read', watermark: first, pages, changed: [...changed].sort((a, b) => a - b), shown };
  }
  return doubt('the list changes faster than it can be read');
}

interface Walked {
  readonly kind: 'ended' | 'moved';
  readonly pages: number;
  readonly count: number;
  /** The first date of page 1. */
  readonly top: Moment;
  /** The last date of the last page, in microseconds. */
  readonly bottom: number;
  /** Times that a record was new or read otherwise than before. */
  readonly fresh: number;
}

interface Found {
  readonly shown: { add(id: number): boolean };
  readonly changed: Set<number>;
}

type Doubt = { readonly kind: 'doubt'; readonly why: string };
export const doubt = (why: string): Doubt => ({ kind: 'doubt', why });
export const countsDiffer = (count: number, known: number): string =>
  `the service counts ${count} records, where ${known} are known`;

async function walkDown(
  { read, held, now, rules }: DeltaOptions,
  watermark: Moment,
  found: Found,
  lookBack: boolean,
): Promise<Walked | Doubt> {
  const floor = watermark.micros - (watermark.form === 'local' ? CLOCK_PUT_BACK_MICROS : 0);
  const walked = idSet();
  let limits = { pages: 1, lookBack: 0 };
  let count = 0;
  let top: Moment | undefined;
  let bottom = Number.POSITIVE_INFINITY;
  let fresh = 0;
  for (let number = 1; number <= limits.pages; number++) {
    const { results, ...page } = await read(number);
    const readAt = now();
    if (number === 1) {
      ({ count } = page);
      if (rules.counts && count < held.size) return doubt(countsDiffer(count, held.size));
      const wrong = frontIsWrong(results, count, held);
      if (wrong !== undefined) return doubt(wrong);
      limits = limitsOf(count, results.length, lookBack);
      if (rules.watermark && held.since(floor) > limits.pages * results.length) return doubt(TOO_MUCH);
    } else if (rules.counts && page.count !== count && top) {
      return { kind: 'moved', pages: number, count, top, bottom, fresh };
    }
    let asHeld = true;
    let news = 0;
    let lowest = bottom;
    for (const record of results) {
      const id = idOf(record);
      if (id === undefined) return doubt('a record has no id');
      const moment = readMoment(record['modified_date']);
      if (moment?.form !== watermark.form) return doubt(undated(record));
      if (walked.add(id)) {
        news++;
        // A record that another one pushed down comes again, and is no break of the order.
        if (moment.micros > lowest) return doubt('modification dates do not descend');
      }
      top ??= moment;
      lowest = Math.min(lowest, moment.micros);
      found.shown.add(id);
      const form = formOf(record);
      if (held.look(id)?.hash === form.hash) continue;
      asHeld = false;
      fresh++;
      found.changed.add(id);
      held.put(id, form, readAt, moment.micros);
    }
    await held.drained();
    if (!top || news === 0) return doubt(`page ${number} shows nothing that was not shown before`);
    bottom = lowest;
    const ended = { kind: 'ended', pages: number, count, top, bottom, fresh } as const;
    if (number === 1 && results.length >= count) return { ...ended, bottom: Number.POSITIVE_INFINITY };
    if (!asHeld || (rules.watermark && bottom >= floor)) continue;
    if (limits.lookBack-- <= 0 || bottom < floor - LOOK_BACK_MICROS) return ended;
  }
  return doubt(TOO_MUCH);
}

export const TOO_MUCH = 'too many records were modified since the last reading';

function limitsOf(count: number, pageSize: number, lookBack: boolean): { pages: number; lookBack: number } {
  const pages = Math.ceil(count / Math.max(pageSize, 1));
  return { pages: Math.max(1, Math.floor(pages / 2)), lookBack: lookBack ? Math.ceil(pages / LOOK_BACK_SHARE) : 0 };
}

/** A service that does not look at `ordering` shows the lowest ids first. */
export function frontIsWrong(results: readonly Json[], count: number, held: Held): string | undefined {
  if (results.length === 0) return `the first page is empty although the service counts ${count}`;
  if (results.length >= count) return undefined;
  const lowest = held.slice(0, results.length);
  return results.every((record, index) => idOf(record) === lowest[index])
    ? 'the order cannot be told from that of the ids'
    : undefined;
}

function undated(record: Json): string {
  const value = record['modified_date'];
  if (value === undefined || value === null || value === '') return 'a record does not show when it was modified';
  return `"${String(value).slice(0, 40)}" is no modification date that can be compared`;
}

/** The latest modification date, where the page is in that order and shows nothing else than one form of dates. */
export function watermarkOf({ results }: Page): Moment | undefined {
  const moments = results.map((record) => readMoment(record['modified_date']));
  const [first] = moments;
  let before = Number.POSITIVE_INFINITY;
  for (const moment of moments) {
    if (!moment || moment.form !== first?.form || moment.micros > before) return undefined;
    before = moment.micros;
  }
  return first;
}

/** Whether the record's modification date has this form; its date in microseconds, NaN where not. */
export function datedAs(record: Json, form: MomentForm | undefined): number {
  const moment = readMoment(record['modified_date']);
  return moment && moment.form === form ? moment.micros : Number.NaN;
}
