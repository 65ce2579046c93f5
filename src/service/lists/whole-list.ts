import { hash53 } from '../../compact/hash-index.js';
import { parseJson, stringifyBody } from '../../model/json.js';
import type { Json, Page, PageOptions, Readable, Service } from '../port.js';
import { readPage, recordIdOf } from '../transport/answer.js';
import { Slots } from './id-set.js';
import { openPageLog, type PageLog } from './page-log.js';
import { backward, forward, NO_FACTS, openWindow, type PageKeys, Pass, type PassResult, type Walk } from './walk.js';
import { barrenPageGuard, refusalOf } from './walk-list.js';

export interface WholeListOptions {
  /** Takes what is read; one that is there is replaced. */
  readonly file: string;
  /** Records of this pass, after each page. */
  readonly onProgress?: (done: number, total: number, pass: number) => void;
  /** Records as they come from the service, once a page (names are learned from them), but for pages that read as before. */
  readonly onRecords?: (records: readonly Json[]) => void;
  /**
   * Called where the first pass fits together, before the second begins: the list as it is believed if the second shows the
   * same, to be read meanwhile. Whether it did, `asFirst` of the result says. It needs no closing.
   */
  readonly onFirstPass?: (list: WholeList) => void;
}

export interface WholeList {
  readonly consistency: 'verified' | 'partial';
  readonly passes: number;
  readonly records: number;
  /**
   * What did not fit, in words for people; remarks where the list is verified: earlier passes did not agree, or a page
   * behind the end was not answered.
   */
  readonly problems: readonly string[];
  /** It is the list that `onFirstPass` was given: the same records in the same form and order. */
  readonly asFirst?: boolean;
  /**
   * Ids, ascending, as the list has them. Records without one are counted in `records` and come last from `read()`; they are
   * not among the ids.
   */
  ids(): Iterable<number>;
  /**
   * The records in list order, or in the order of the ids given, in batches of up to 500; the newest form that was read
   * of each. Throws a `RunError` where the log was damaged, a `RangeError` for an id that is not in the log.
   */
  read(ids?: Iterable<number>): AsyncIterable<readonly Json[]>;
  /** Closes the log and leaves it where it is. */
  close(): Promise<void>;
}

const BATCH = 500;

/** A list that needs fewer and is not verified did not change: it is wrong in itself. */
export const MAX_PASSES = 4;

/** How passes follow one another, and when they are believed. */
export interface PassRules {
  /** At most 8. */
  readonly maxPasses: number;
  readonly walk: (pass: number) => (pass: Pass) => Walk;
  /** `verified` and `hopeless` end the reading; `sameSet`: this pass showed the same records as the one before. */
  readonly judge: (
    last: PassResult,
    before: PassResult | undefined,
    sameSet: boolean,
  ) => 'verified' | 'hopeless' | 'open';
}

/**
 * Pass 1 goes backward, 2 forward, 3 backward, 4 forward. Two passes in a row that are sound and show the same set of
 * ids are believed. Passes that find the list at rest and yet not as it should be (a count that is wrong, pages that
 * are short, records without ids) would find it so again.
 *
 * Why two are enough: say a record that was there all the time is missing from both. The second showed as many as the
 * service counted when it began, so it showed one that was not there then and came later; the first had shown that one
 * too. It left and returned between the two, and another record did the reverse, each in the moment that hides the
 * missing one. Where ids are not used again, that cannot be. It holds in whatever order pages are asked for, so pages of
 * a quiet list are asked for in parallel.
 */
export const PASS_RULES: PassRules = {
  maxPasses: MAX_PASSES,
  walk: (pass) => (pass % 2 === 1 ? backward : forward),
  judge(last, before, sameSet) {
    if (!before || !sameSet) return 'open';
    if (last.sound && before.sound) return 'verified';
    return last.stable && before.stable && last.latestCount === before.latestCount ? 'hopeless' : 'open';
  },
};

/**
 * The whole list, complete although it changes while it is read: every record that was there all the time is in it, each
 * once, or `consistency` is `partial` and the list is everything that was seen.
 *
 * A quiet list of n pages takes 2 n requests, one more where the last page is full (only the empty page after it shows
 * that the service did not count too few; where that page fails, the count is believed and a problem says so), n - 1 more
 * where it has two to four pages: in so few requests a change and its reverse are easily missed. Once a pass was not sound,
 * the next ask for one page after the other, with a step back wherever the count changes: a backward walk of single pages
 * loses nothing to removals (they move records to pages still to be read), a forward walk nothing to insertions. Pages are
 * asked for by number; `next` is never followed.
 *
 * Memory: 39 to 47 bytes a record, 8 more with `onFirstPass`; the records are in the log alone. Throws what `Service.page`
 * throws (a refusal of another page than page 1 is no fault, but a page without records), and a `RunError` where the log
 * cannot be written. Interface, section 8.
 */
export async function readWholeList(
  service: Service,
  resource: Readable,
  options: WholeListOptions,
): Promise<WholeList> {
  const { file, onFirstPass, ...listeners } = options;
  const log = openPageLog(file);
  const slots = new Slots();
  const remarks = new Set<string>();
  try {
    const read: ReadPage = async (page, pastEnd, isKnown) => {
      const answer = await askForPage(service, resource, page, { pastEnd, isKnown });
      if (answer.unanswered !== undefined) remarks.add(remarkText(page, pastEnd, answer.unanswered));
      return answer;
    };
    const { problems, ...passes } = await readPasses(read, log, slots, PASS_RULES, {
      ...listeners,
      parallel: () => service.inFlightLimit,
      onFirstPass() {
        if (!onFirstPass) return;
        const believed = { verified: true, passes: 1, problems: [], asFirst: true };
        onFirstPass({ ...listOf(log, slots, believed), passes: 2 });
      },
    });
    return listOf(log, slots, { ...passes, problems: [...problems, ...remarks] });
  } catch (error) {
    log.close();
    throw error;
  }
}

/**
 * One page. The list may have become shorter meanwhile, and how a service answers a page past its end is not documented
 * (interface, section 8): whatever it refuses after page 1 has no records, and the walk finds out whether some were due.
 */
async function askForPage(service: Service, resource: Readable, page: number, options: PageOptions): Promise<Page> {
  try {
    return await service.page(resource, page, {}, options);
  } catch (error) {
    const status = refusalOf(error);
    if (page === 1 || status === undefined) throw error;
    return { count: 0, results: [], unanswered: `the service refused it with status ${status}` };
  }
}

function remarkText(page: number, pastEnd: boolean, reason: string): string {
  return pastEnd
    ? `page ${page}, behind the last, was to show that nothing is missing from the service's count, and ${reason}: the count is believed`
    : `page ${page}: ${reason}, and is taken for empty`;
}

/** The list that passes came to: what the last one showed where it is verified, else everything that was seen. */
export function listOf(log: PageLog, slots: Slots, result: PassesResult): WholeList {
  const { verified, passes, problems, asFirst } = result;
  const keys = keysOf(slots, passes, verified);

  function* ids(): Generator<number> {
    for (const key of keys) if (key > 0) yield key;
  }

  async function* read(wanted: Iterable<number>): AsyncGenerator<readonly Json[]> {
    let batch = [];
    for (const key of wanted) {
      const slot = slots.find(key);
      if (slot < 0) throw new RangeError(`no record ${key} was read`);
      batch.push(slots.place(slot));
      if (batch.length < BATCH) continue;
      yield log.read(batch);
      batch = [];
    }
    if (batch.length > 0) yield log.read(batch);
  }

  return {
    consistency: verified ? 'verified' : 'partial',
    passes,
    records: keys.length,
    problems,
    asFirst,
    ids,
    read: (wanted = keys) => read(wanted),
    close: async () => log.close(),
  };
}

/** Keys in the order of the list: ids ascending; those of records without ids come last. */
function keysOf(slots: Slots, lastPass: number, verified: boolean): Float64Array {
  const listed = Array.from({ length: slots.size }, (_, slot) => slot).filter(
    (slot) => !verified || slots.isSeenIn(slot, lastPass),
  );
  const keys = Float64Array.from(listed, (slot) => slots.key(slot)).sort();
  const firstWithId = keys.findIndex((key) => key > 0);
  if (firstWithId <= 0) return keys;
  const without = keys.slice(0, firstWithId);
  keys.copyWithin(0, firstWithId);
  keys.set(without, keys.length - firstWithId);
  return keys;
}

interface PassesOptions extends Pick<WholeListOptions, 'onProgress' | 'onRecords'> {
  readonly parallel: () => number;
  /** The first pass was sound: what the slots hold is the list, if the next shows the same. */
  readonly onFirstPass?: () => void;
}

interface PassesResult {
  readonly verified: boolean;
  readonly passes: number;
  readonly problems: readonly string[];
  /** Two passes were enough, and the second showed every record in the form of the first. */
  readonly asFirst: boolean;
}

/** Asks for a page; `isKnown` as in `PageOptions`. */
export type ReadPage = (page: number, pastEnd: boolean, isKnown: (text: string) => boolean) => Promise<Page>;

/** What a page was found to hold. */
interface PageContent {
  readonly count: number;
  readonly keys: readonly number[];
}

/** Passes over a list until the rules have it enough. Every page goes through the log before anything follows from it. */
export async function readPasses(
  read: ReadPage,
  log: PageLog,
  slots: Slots,
  rules: PassRules,
  options: PassesOptions,
): Promise<PassesResult> {
  const problems: string[] = [];
  /** Pages as they were last taken in, by the hash of their texts: a list at rest is read twice, and parsed once. */
  const pageCache = new Map<number, PageContent & { readonly hash: number }>();
  const window = openWindow((page, pastEnd, answered) => {
    return read(page, pastEnd, (text) => {
      // The next request goes out first: it is under way while this page is looked at.
      answered();
      const before = pageCache.get(page);
      return before !== undefined && before.hash === hash53(text);
    });
  }, options.parallel);
  let sequential = false;
  let before: PassResult | undefined;
  /** A pass after the first showed something new. */
  let moved = false;

  for (let number = 1; ; number++) {
    const pass: Pass = new Pass(number, before ?? NO_FACTS, sequential);
    const walk = rules.walk(number)(pass);
    const checkBarren = barrenPageGuard();
    let shared = 0;

    /** Shows a page's records in this pass. */
    const show = (page: number, { count, keys }: PageContent): PageKeys => {
      let fresh = 0;
      let again: number | undefined;
      for (const key of keys) {
        const slot = slots.add(key);
        if (slots.markSeen(slot, number)) {
          fresh++;
          if (number > 1 && slots.isSeenIn(slot, number - 1)) shared++;
        } else again ??= key;
      }
      return { page, count, keys, fresh, again };
    };

    for (let step = walk.next(); !step.done; ) {
      const { page: at } = step.value;
      const page = await window(step.value);
      let content: PageContent | undefined = page.known ? pageCache.get(at) : undefined;
      if (!content) {
        const parsed = page.known ? reparsePage(page) : page;
        options.onRecords?.(parsed.results);
        const { keys, news, text } = newsOf(parsed, slots, log);
        // A record that has changed may read as before where it is shown next: what it is then is to be kept.
        if (news.some((index) => slots.find(keys[index] as number) >= 0)) pageCache.clear();
        if (number > 1 && news.length > 0) moved = true;
        for (const [index, place] of log.append(text, news.length).entries())
          slots.store(slots.add(keys[news[index] as number] as number), place);
        content = { count: parsed.count, keys };
        if (page.text !== undefined) pageCache.set(at, { ...content, hash: hash53(page.text) });
      }
      const answer = show(at, content);
      checkBarren(answer.fresh, pass.latestCount);
      step = walk.next(answer);
      options.onProgress?.(pass.shownCount, Math.max(pass.latestCount, pass.shownCount), number);
    }

    const result: PassResult = pass.end();
    problems.push(...result.problems);
    const sameSet = before !== undefined && shared === result.shownCount && shared === before.shownCount;
    if (before && !sameSet) problems.push(differenceOf(result, before, shared));
    const verdict = rules.judge(result, before, sameSet);
    if (verdict !== 'open' || number === rules.maxPasses) {
      const verified = verdict === 'verified';
      return { verified, passes: number, problems, asFirst: verified && number === 2 && !moved };
    }
    if (number === 1 && result.sound) options.onFirstPass?.();
    sequential ||= !result.sound && !result.onlyNameless;
    before = result;
  }
}

function differenceOf(last: PassResult, before: PassResult, shared: number): string {
  const more = last.shownCount - shared;
  const fewer = before.shownCount - shared;
  const parts = [
    ...(more > 0 ? [`showed ${more} records that pass ${before.number} did not show`] : []),
    ...(fewer > 0 ? [`did not show ${fewer} records that pass ${before.number} showed`] : []),
  ];
  return `pass ${last.number} ${parts.join(' and ')}`;
}

/** A page that read so before, when its records had another form than now. */
function reparsePage({ text = '' }: Page): Page {
  const page = readPage(parseJson(text));
  if (typeof page === 'string') throw new Error(page);
  return { ...page, text };
}

/** What is new to the slots on a page, or reads otherwise than it did: its places on the page, and its JSON for the log. */
function newsOf({ results, text }: Page, slots: Slots, log: PageLog) {
  const idlessKeys = new Set<number>();
  const keys = results.map((record) => recordIdOf(record) ?? namelessKey(stringifyBody(record), idlessKeys));
  const known = keys.map((key) => slots.find(key));
  const places = known.map((slot) => (slot < 0 ? 0 : slots.place(slot)));
  const before = log.read(places.filter((place) => place > 0));
  let next = 0;
  const news = results.flatMap((record, index) => {
    const old = places[index] === 0 ? undefined : before[next++];
    return old && stringifyBody(old) === stringifyBody(record) ? [] : [index];
  });
  if (text !== undefined && news.length === keys.length && !text.includes('\n')) return { keys, news, text };
  return { keys, news, text: `[${news.map((index) => stringifyBody(results[index])).join()}]` };
}

/**
 * A record without an id is known by its content. Two alike on one page are two; on different pages they cannot be told
 * from one record that was shown twice.
 */
function namelessKey(text: string, onThisPage: Set<number>): number {
  let key = -hash53(text) - 1;
  for (let nth = 2; onThisPage.has(key); nth++) key = -hash53(`${nth} ${text}`) - 1;
  onThisPage.add(key);
  return key;
}
