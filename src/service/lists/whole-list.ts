import { stringifyBody } from '../../model/json.js';
import type { Json, Page, PageOptions, Readable, Service } from '../port.js';
import { openPageLog, type PageLog } from './page-log.js';
import { refusalOf } from './pages.js';
import { type PassesResult, type ReadPage, type Rules, readPasses } from './passes.js';
import { Slots } from './slots.js';
import { backward, forward } from './walk.js';

export interface WholeListOptions {
  /** Log of what was read; made where it is missing. One that is there is gone on with (a killed process left it). */
  readonly file: string;
  /** Records of this pass, after each page. */
  readonly onProgress?: (done: number, total: number, pass: number) => void;
  /**
   * Records as they come from the service, once a page (names are learned from them), but for pages that read as before. Of a
   * log that is gone on with: those that were new or had changed.
   */
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
export const MOST_PASSES = 4;

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
export const RULES: Rules = {
  most: MOST_PASSES,
  walk: (pass) => (pass % 2 === 1 ? backward : forward),
  judge(last, before, sameSet) {
    if (!before || !sameSet) return 'open';
    if (last.sound && before.sound) return 'verified';
    return last.still && before.still && last.newest === before.newest ? 'hopeless' : 'open';
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
 * A log that holds everything gives the list without a request, as it was then: how old a log may be, the caller decides.
 * Memory: 39 to 47 bytes a record, 8 more with `onFirstPass`; the records are in the log alone. Throws what `Service.page`
 * throws (a refusal of another page than page 1 is no fault, but a page without records), and a `RunError` where the log
 * cannot be written; the log then holds what was read, and another call with it goes on from there. Interface, section 8.
 */
export async function readWholeList(
  service: Service,
  resource: Readable,
  options: WholeListOptions,
): Promise<WholeList> {
  const { file, onFirstPass, ...listeners } = options;
  const log = openPageLog(file, stringifyBody({ version: 3, resource }));
  const slots = new Slots();
  const remarks = new Set<string>();
  try {
    const read: ReadPage = async (page, pastEnd, isKnown) => {
      const answer = await readPage(service, resource, page, { pastEnd, isKnown });
      if (answer.unanswered !== undefined) remarks.add(remark(page, pastEnd, answer.unanswered));
      return answer;
    };
    const { problems, ...passes } = await readPasses(read, log, slots, RULES, {
      ...listeners,
      parallel: () => service.inFlightLimit,
      onFirstPass() {
        if (!onFirstPass) return;
        const believed = { verified: true, passes: 1, problems: [], asFirst: true };
        onFirstPass({ ...listOf(log, slots, believed), passes: 2 });
      },
    });
    log.flush();
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
async function readPage(service: Service, resource: Readable, page: number, options: PageOptions): Promise<Page> {
  try {
    return await service.page(resource, page, {}, options);
  } catch (error) {
    const status = refusalOf(error);
    if (page === 1 || status === undefined) throw error;
    return { count: 0, results: [], unanswered: `the service refused it with status ${status}` };
  }
}

function remark(page: number, pastEnd: boolean, reason: string): string {
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
  const shown = Array.from({ length: slots.size }, (_, slot) => slot).filter(
    (slot) => !verified || slots.shownIn(slot, lastPass),
  );
  const keys = Float64Array.from(shown, (slot) => slots.key(slot)).sort();
  const nameless = keys.findIndex((key) => key > 0);
  if (nameless <= 0) return keys;
  const without = keys.slice(0, nameless);
  keys.copyWithin(0, nameless);
  keys.set(without, keys.length - nameless);
  return keys;
}
