import { RunError } from '../../model/error.js';
import type { Json, Page, Readable, Service } from '../port.js';
import { idOf } from '../transport/answer.js';
import { type IdSet, idSet } from './id-set.js';

/** Answers to a page that say nothing about it: they are about the token, the pace, or may pass. */
export const NOT_ABOUT_THE_PAGE: readonly number[] = [401, 403, 407, 408, 425, 429];

/** Records of one page that this walk has not shown before, with the page's number and the count it stated. */
export interface WalkedPage {
  readonly records: readonly Json[];
  readonly page: number;
  readonly count: number;
}

/** A walk over a list, read once. `certified` and `problems` are final when the iteration has ended. */
export interface ListWalk extends AsyncIterable<WalkedPage> {
  /**
   * The pages fitted together: `count` held from first to last, ids ascended without repeats (where the list is in its
   * default order), and as many records were shown as the service counts. Only then may "not in the list" be concluded.
   */
  readonly certified: boolean;
  /** What did not fit, in words; empty where certified. */
  readonly problems: readonly string[];
  /**
   * Asked after the end of a forward walk in default order: whether it missed nothing that was there, for two requests (none where
   * the list has one page). A certified walk may have missed a record: a removal moves records to pages already read, and an
   * addition hides that from the count. What is added has the highest id and stands on the last page, which was read before the
   * others: where it holds the same now, nothing was added since, and so nothing was removed. Page 1, which was read
   * before it, has to hold the same, too. What returns under an old id is not seen by this.
   */
  confirm(): Promise<boolean>;
}

export interface WalkOptions {
  /** Most pages in flight; default 16, never more than the service's own limit of the moment. */
  readonly parallel?: number;
  /**
   * `backward` reads one page after the other from the last to the first: removals move records into pages still to be
   * read, so none is lost. Pages come in that order.
   */
  readonly direction?: 'forward' | 'backward';
  /** Page 1, where the caller has just read it. */
  readonly first?: Page;
}

type Query = Readonly<Record<string, string>>;

/** More overlaps than this, and the list changes faster than it can be read. */
const MAX_OVERLAPS = 50;
/** How far back one overlap may reach. */
const MAX_STEPS_BACK = 20;
/** Pages in a row that show nothing new although the count has room for them: hidden records may be counted, but not so many. */
const MOST_BARREN = 1_000;

/** Is told what each page within the count shows that was new. Throws a RunError where the list cannot explain the count. */
export function barrenPages(): (fresh: number, count: number) => void {
  let inRow = 0;
  return (fresh, count) => {
    inRow = fresh > 0 ? 0 : inRow + 1;
    if (inRow < MOST_BARREN) return;
    throw new RunError(
      'failed',
      `The service counts ${count.toLocaleString('en-US')} records in a list, and ${inRow.toLocaleString('en-US')} pages of it in a row ` +
        'showed none that was not shown before. The list is read no further. Ask whoever runs the service why its count is wrong, then run again.',
    );
  };
}

/**
 * All records of a list. Pages are fetched ahead in parallel and shown in order, no record twice.
 *
 *   reading ahead → (count or order does not fit: the list moved) → overlap: step back page by page until one holds
 *   a record that was shown already, show what is new → reading ahead from there
 *
 * Interface, section 8: 25 results a page, by id ascending unless `ordering` is given. Throws what `Service.page` throws.
 */
export function readAll(service: Service, resource: Readable, query: Query = {}, options: WalkOptions = {}): ListWalk {
  const problems: string[] = [];
  let ended = false;
  const problem = (text: string): void => {
    if (problems.length < 100) problems.push(text);
  };
  const read = (page: number): Promise<Page> => service.page(resource, page, query);
  const state: WalkState = {
    first: async () => options.first ?? read(1),
    seen: idSet(),
    lastId: 0,
    ordered: !('ordering' in query),
    ends: undefined,
    problem,
    explained: barrenPages(),
  };

  async function* walk(): AsyncGenerator<WalkedPage> {
    yield* options.direction === 'backward' ? backward(read, state) : forward(read, state, ahead);
    ended = true;
  }
  const ahead = (): number => Math.max(1, Math.min(options.parallel ?? 16, service.inFlightLimit));

  return {
    [Symbol.asyncIterator]: walk,
    get certified() {
      return ended && problems.length === 0;
    },
    problems,
    async confirm() {
      const { ends } = state;
      if (!ended || problems.length > 0 || !ends || !state.ordered) return false;
      if (ends.pages <= 1) return true;
      if (!ends.last) return false;
      const [last, first] = [await read(ends.pages), await read(1)];
      return sameAs(ends.last, last) && sameAs(ends.first, first) && first.count === last.count;
    },
  };
}

interface WalkState {
  readonly first: () => Promise<Page>;
  readonly seen: IdSet;
  lastId: number;
  readonly ordered: boolean;
  /** The first and the last page as they were read before all others. */
  ends: { readonly first: Page; readonly last: Page | undefined; readonly pages: number } | undefined;
  readonly problem: (text: string) => void;
  readonly explained: ReturnType<typeof barrenPages>;
}

/** The records not shown before; notes repeats and falling ids as problems unless they were expected. */
function unseen(state: WalkState, records: readonly Json[], number: number, expectRepeats: boolean): Json[] {
  const out: Json[] = [];
  for (const record of records) {
    const id = idOf(record);
    if (id === undefined) {
      state.problem(`page ${number} holds a record without an id`);
      out.push(record);
      continue;
    }
    if (!state.seen.add(id)) {
      if (!expectRepeats) state.problem(`record ${id} came again on page ${number}`);
      continue;
    }
    if (state.ordered && id < state.lastId && !expectRepeats) {
      state.problem(`ids do not ascend on page ${number}: ${id} after ${state.lastId}`);
    }
    state.lastId = Math.max(state.lastId, id);
    out.push(record);
  }
  return out;
}

type Read = (page: number) => Promise<Page>;

async function* forward(read: Read, state: WalkState, ahead: () => number): AsyncGenerator<WalkedPage> {
  const first = await state.first();
  let count = first.count;
  const size = first.results.length;
  if (size === 0) {
    if (count > 0) state.problem(`the first page is empty although the service counts ${count}`);
    else state.ends = { first, last: undefined, pages: 0 };
    return;
  }
  const pages = Math.ceil(count / size);
  const early = pages > 1 ? await read(pages) : undefined;
  state.ends = { first, last: early, pages };
  yield { records: unseen(state, first.results, 1, false), page: 1, count };

  const fetched = new Map<number, Promise<Page>>();
  if (early && early.count === count) fetched.set(pages, Promise.resolve(early));
  let number = 2;
  let overlaps = 0;
  try {
    while (number <= Math.ceil(count / size)) {
      const last = Math.min(Math.ceil(count / size), number + ahead() - 1);
      for (let next = number; next <= last; next++) {
        if (!fetched.has(next)) fetched.set(next, watched(read(next)));
      }
      const page = await (fetched.get(number) as Promise<Page>);
      fetched.delete(number);
      const moved = page.results.length === 0 || page.count !== count;
      if (moved) {
        state.problem(`page ${number}: the service counted ${count} records before and ${page.count} now`);
        // What was fetched ahead may stem from before or after the change.
        fetched.clear();
        if (++overlaps > MAX_OVERLAPS) {
          state.problem('the list changes faster than it can be read');
          return;
        }
        const again = await overlap(read, state, number);
        for (const item of again) yield item;
        count = again.at(-1)?.count ?? page.count;
      } else {
        const records = unseen(state, page.results, number, false);
        state.explained(records.length, count);
        yield { records, page: number, count };
      }
      number++;
    }
  } finally {
    fetched.clear();
  }
  // Where more was shown than is counted, the count does not say where the list ends.
  for (let fresh = 1; fresh > 0 && state.seen.size > count; number++) {
    const records = unseen(state, (await read(number)).results, number, true);
    fresh = records.length;
    if (fresh > 0) yield { records, page: number, count };
  }
  if (state.seen.size !== count) state.problem(`${state.seen.size} records were read, the service counts ${count}`);
}

/** Whether a page is what it was. */
function sameAs(was: Page, now: Page): boolean {
  const ids = (page: Page): string => page.results.map(idOf).join();
  return was.count === now.count && ids(was) === ids(now);
}

/** Reads from `number` back to a page that holds something known, and shows what is new there, in list order. */
async function overlap(read: Read, state: WalkState, number: number): Promise<WalkedPage[]> {
  const pages: { readonly at: number; readonly page: Page }[] = [];
  for (let at = number; at >= 1 && number - at <= MAX_STEPS_BACK; at--) {
    const page = await read(at);
    pages.push({ at, page });
    if (at < number && page.results.some((record) => state.seen.has(idOf(record) ?? -1))) break;
  }
  const newest = Math.max(...pages.map(({ page }) => page.count));
  return pages.reverse().map(({ at, page }) => ({
    records: unseen(state, page.results, at, true),
    page: at,
    count: page.count || newest,
  }));
}

async function* backward(read: Read, state: WalkState): AsyncGenerator<WalkedPage> {
  const first = await state.first();
  const size = first.results.length;
  if (size === 0) return;
  let { count } = first;
  for (let number = Math.ceil(count / size); number >= 1; number--) {
    const page = await read(number);
    // A page behind the end says nothing of the count.
    const stated = page.results.length > 0 ? page.count : (await read(1)).count;
    if (stated !== count) {
      state.problem(`page ${number}: the service counted ${count} records before and ${stated} now`);
      count = stated;
    }
    const records = unseen(state, page.results, number, true);
    state.explained(records.length, count);
    yield { records, page: number, count };
    number = Math.min(number, Math.ceil(count / size) + 1);
  }
  if (state.seen.size !== count) state.problem(`${state.seen.size} records were read, the service counts ${count}`);
}

/** A page fetched ahead may fail after the walk has ended; that must not take the process down. */
function watched(page: Promise<Page>): Promise<Page> {
  page.catch(() => undefined);
  return page;
}
