import type { Page } from '../port.js';

/** The service's documented page size (interface, section 8); used until a page shows the real one. */
export const DOCUMENTED_SIZE = 25;
/** So many of each kind are said in full in each pass, the others are counted. */
const MAX_OF_A_KIND = 3;

/** What may not fit. The first few show that the list changed while it was read, the others that it is not as it should be. */
const MOVEMENTS = ['count', 'again', 'order', 'altered', 'growth'] as const;
type ProblemKind = (typeof MOVEMENTS)[number] | 'size' | 'empty' | 'beyond' | 'nameless' | 'total';

/** A page as a pass sees it: no records, only their keys. */
export interface PageKeys {
  readonly page: number;
  readonly count: number;
  /** Keys in the order of the page: ids, or negative numbers for records without one. */
  readonly keys: readonly number[];
  /** How many of them this pass had not shown before. */
  readonly fresh: number;
  /** The first that it had. */
  readonly again: number | undefined;
}

/** What one pass leaves to the next. */
interface ListFacts {
  /** Records on a full page. */
  readonly size: number;
  /** A page was followed by another, so `size` is what the service puts on a page. */
  readonly sizeCertain: boolean;
  /** Records in the list, as last stated. */
  readonly latestCount: number | undefined;
}

/** Before the first answer. */
export const NO_FACTS: ListFacts = { size: DOCUMENTED_SIZE, sizeCertain: false, latestCount: undefined };

export interface PassResult extends ListFacts {
  readonly number: number;
  readonly shownCount: number;
  /** Records that the service counted from first to last, and did not show. */
  readonly unshown: number;
  /** The pages fitted together: one count, ids ascending without repeats, no page short, as many records as counted. */
  readonly sound: boolean;
  /** Nothing hints at a list that moved meanwhile: what did not fit would not fit in another pass either. */
  readonly stable: boolean;
  /** Whether a record without an id was all that did not fit. */
  readonly onlyNameless: boolean;
  readonly problems: readonly string[];
}

/** The bookkeeping of one pass over the list, whichever way it goes. */
export class Pass {
  /** Records in the list, as stated first in this pass and last. */
  count: number | undefined;
  latestCount: number;
  #leastCount = Number.POSITIVE_INFINITY;
  /** Distinct records shown. */
  shownCount = 0;
  /** The count has been the same so far. */
  steady = true;
  readonly #problems: string[] = [];
  readonly #found = new Map<ProblemKind, number>();
  #size: number;
  #sizeCertain: boolean;

  constructor(
    readonly number: number,
    { size, sizeCertain, latestCount = 0 }: ListFacts,
    /** One page after the other, and a step back wherever the list moved. */
    readonly sequential: boolean,
    /** The count is believed where as much was shown: no page behind the last is asked for, and none is looked at again. */
    readonly trustsCount = false,
  ) {
    this.latestCount = latestCount;
    this.#size = size;
    this.#sizeCertain = sizeCertain;
  }

  /** Pages of the list as last heard of; at least 1. */
  get pages(): number {
    return Math.max(1, Math.ceil(this.latestCount / Math.max(1, this.#size)));
  }

  /** A page of so many records may be followed by another. */
  isFull({ keys }: PageKeys): boolean {
    return keys.length >= (this.#sizeCertain ? this.#size : DOCUMENTED_SIZE);
  }

  /** Takes in what a page says about the list. A page past the end (no records, count 0) says nothing. */
  observe({ page, count, keys, fresh }: PageKeys): void {
    this.shownCount += fresh;
    if (keys.length === 0 && count === 0 && page > 1) return;
    if (this.count === undefined) this.count = count;
    else if (count !== this.latestCount) {
      this.steady = false;
      this.problem(page, 'count', `the service counted ${this.latestCount} records before and ${count} now`);
    }
    this.latestCount = count;
    this.#leastCount = Math.min(this.#leastCount, count);
    const { length } = keys;
    const followed = count > page * length;
    if (length === 0 || (length <= this.#size && !(page === 1 && followed))) return;
    if (this.#sizeCertain && length !== this.#size)
      this.problem(page, 'size', `it holds ${length} records, where others held ${this.#size}`);
    this.#size = length;
    this.#sizeCertain ||= followed;
  }

  /** Whether the page fits between its neighbours; `lower` and `higher` are the pages before and after it in the list. */
  check(
    { page, keys, again }: PageKeys,
    { lower, higher }: { readonly lower?: PageKeys | undefined; readonly higher?: PageKeys | undefined },
  ): void {
    const without = keys.filter((key) => key < 0).length;
    if (without > 0) {
      const have = without === 1 ? 'has' : 'have';
      this.problem(
        page,
        'nameless',
        `${without} of its records ${have} no id, so it cannot be checked that all are there`,
      );
    }
    // Once the count has changed, all that follows from it is no news.
    if (!this.steady) return;
    if (again !== undefined) this.problem(page, 'again', `record ${again} came again`);
    if (page < this.pages && keys.length < this.#size)
      this.problem(page, 'size', `it holds ${keys.length} records, where ${this.#size} were due`);
    if (without > 0) return;
    const line = [lower?.keys.at(-1), ...keys, higher?.keys[0]].filter((key) => key !== undefined && key > 0);
    const falls = line.findIndex((key, at) => at > 0 && (key as number) < (line[at - 1] as number));
    if (falls > 0) this.problem(page, 'order', `ids do not ascend: ${line[falls]} after ${line[falls - 1]}`);
  }

  problem(page: number, kind: ProblemKind, text: string): void {
    this.#note(kind, `, page ${page}: ${text}`);
  }

  #note(kind: ProblemKind, text: string): void {
    const before = this.#found.get(kind) ?? 0;
    this.#found.set(kind, before + 1);
    if (before < MAX_OF_A_KIND) this.#problems.push(`pass ${this.number}${text}`);
    if (before === MAX_OF_A_KIND) this.#problems.push(`pass ${this.number}: more pages of which the same is true`);
  }

  end(): PassResult {
    const { number, shownCount, latestCount } = this;
    if (shownCount !== latestCount)
      this.#note('total', `: ${shownCount} records were shown, the service counts ${latestCount}`);
    const found = this.#found;
    return {
      number,
      shownCount,
      unshown: this.count === undefined ? 0 : Math.max(0, this.#leastCount - shownCount),
      sound: found.size === 0,
      stable: MOVEMENTS.every((kind) => !found.has(kind)),
      onlyNameless: found.size === 1 && found.has('nameless'),
      problems: this.#problems,
      size: this.#size,
      sizeCertain: this.#sizeCertain,
      latestCount,
    };
  }
}

/** The page wanted now, and up to which page (downwards or upwards) the walk means to go on from there. */
export interface Step {
  readonly page: number;
  readonly until: number;
  /** By the service's count there is nothing on this page. */
  readonly pastEnd?: boolean;
}

/**
 * The way of a pass: which page next, given every page so far. Both walks depend on nothing but the pages they are
 * given, so a walk that is given the same pages again goes the same way.
 */
export type Walk = Generator<Step, void, PageKeys>;

/** More steps back in a pass, and the list changes faster than it can be read. */
const MAX_OVERLAPS = 50;
/** How many pages one step back may reach. */
const MAX_OVERLAP_PAGES = 20;
/** Lists of so few pages are looked at once more at the end of a pass: a few requests are easily fooled, and a few more are cheap. */
const SHORT = 4;
/** How often a start is sought anew at a list that grows. */
const MAX_STARTS = 5;

/**
 * From the last page to the first. A removal moves records to lower pages, which are still to be read: read one page
 * after the other, a backward walk loses nothing to removals. Only an insertion before a record can carry it past the
 * walk, and that raises the count.
 *
 *   where does the list end? (pass 1: page 1 says) → last page → … → page 1, unless it was read and nothing moved since
 *   → (the list has grown) its new end
 */
export function* backward(pass: Pass): Walk {
  /** Pages read out of turn. They stand for themselves as long as the count is what it was. */
  const early = new Map<number, PageKeys>();
  if (pass.number === 1) {
    const first = yield { page: 1, until: 1 };
    pass.observe(first);
    if (!pass.trustsCount) early.set(1, first);
  }
  const overlap = stepBack(pass, 1);
  const walked: PageKeys[] = [];
  let start = pass.pages;
  let starts = 1;
  let higher: PageKeys | undefined;
  let askedForCount = false;

  for (let page = start; page >= 1; page--) {
    const cached = pass.steady ? early.get(page) : undefined;
    if (cached) {
      pass.check(cached, { higher });
      higher = cached;
      walked.push(cached);
      continue;
    }
    const before = pass.latestCount;
    const answer = yield {
      page,
      until: isSequential(pass) ? page : Math.min(page, early.has(1) && pass.steady ? 2 : 1),
    };
    pass.observe(answer);
    if (answer.keys.length === 0 && page > 1) {
      if (answer.count === 0 && !askedForCount) {
        askedForCount = true;
        const first = yield { page: 1, until: 1 };
        pass.observe(first);
        if (!early.has(1) && !pass.trustsCount) early.set(1, first);
      }
      if (pass.pages < page) {
        page = pass.pages + 1;
        if (!higher) start = pass.pages;
        continue;
      }
      pass.problem(page, 'empty', `it is empty, where the service counts ${pass.latestCount} records`);
      continue;
    }
    if (!higher && pass.pages > page && starts++ < MAX_STARTS) {
      early.set(page, answer);
      start = pass.pages;
      page = start + 1;
      continue;
    }
    pass.check(answer, { higher });
    if (higher && pass.latestCount !== before) yield* overlap(page);
    higher = answer;
    if (walked.length < SHORT) walked.push(answer);
  }
  yield* recheckShort(pass, walked);

  if (!pass.steady && pass.latestCount > (pass.count ?? 0)) {
    for (let page = pass.pages; page >= start; page--)
      pass.observe(yield { page, until: isSequential(pass) ? page : start });
  }
}

/**
 * From the first page to the last, and on for as long as a page may be followed by another: the service's count is not
 * believed where the pages say otherwise (where the page behind the end fails, there is nothing but the count to go by).
 * Only a removal before a record can carry it past the walk, and that lowers the count.
 */
export function* forward(pass: Pass): Walk {
  const overlap = stepBack(pass, -1);
  const walked: PageKeys[] = [];
  let farthest = Number.POSITIVE_INFINITY;
  let lower: PageKeys | undefined;
  let askedForCount = false;
  /** Records of the list as the page before was read. */
  let countBefore = pass.latestCount;

  for (let page = 1; ; page++) {
    if (page > farthest) {
      pass.problem(page, 'growth', 'the list grows faster than it can be read');
      return;
    }
    const pastEnd = page > pass.pages;
    const answer = yield { page, until: isSequential(pass) ? page : Math.max(page, pass.pages), pastEnd };
    pass.observe(answer);
    const moved = lower !== undefined && pass.latestCount !== countBefore;
    countBefore = pass.latestCount;
    if (page === 1) farthest = pass.pages * 2 + 50;
    if (page > pass.pages) {
      // Nothing past the end, or the last page once more.
      if (answer.fresh === 0) {
        // What stood here may have moved to the page before after that was read.
        if (moved) yield* overlap(pass.pages + 1);
        break;
      }
      pass.problem(page, 'beyond', `it holds more, although the service counts ${pass.latestCount} records`);
    } else if (answer.keys.length === 0 && page > 1) {
      if (!askedForCount) {
        askedForCount = true;
        pass.observe(yield { page: 1, until: 1 });
      }
      if (pass.pages < page) {
        if (moved || pass.latestCount !== countBefore) yield* overlap(pass.pages + 1);
        return;
      }
      pass.problem(page, 'empty', `it is empty, where the service counts ${pass.latestCount} records`);
      if (page === pass.pages) return;
      continue;
    } else {
      pass.check(answer, { lower });
      if (moved) yield* overlap(page);
    }
    lower = answer;
    if (walked.length < SHORT) walked.push(answer);
    const isWhole = pass.trustsCount
      ? pass.shownCount === pass.latestCount
      : !pass.isFull(answer) && pass.shownCount >= pass.latestCount;
    if (page >= pass.pages && isWhole) break;
  }
  yield* recheckShort(pass, walked);
}

/** One page after the other. */
const isSequential = (pass: Pass): boolean => pass.sequential || (!pass.trustsCount && pass.pages <= SHORT);

/**
 * Whether the pages of a short list, but the one read last, still hold what they held, on the way back. Pass 1 can do
 * without: the second would not agree with it.
 */
function* recheckShort(pass: Pass, walked: readonly PageKeys[]): Walk {
  const pages = walked.slice(0, -1).reverse();
  if (pass.number === 1 || !pass.steady || pass.pages !== walked.length) return;
  for (const { page, keys } of pages) {
    const answer = yield { page, until: page };
    pass.observe(answer);
    if (answer.keys.length === keys.length && keys.every((key, at) => key === answer.keys[at])) continue;
    pass.problem(page, 'altered', 'a moment later it held other records');
    return;
  }
}

/**
 * Where the list moved between two pages, a record may have passed from the one side to the other: the pages just read
 * are read again, until one holds something known. `towards`: where they lie, 1 higher or -1 lower.
 */
function stepBack(pass: Pass, towards: 1 | -1): (from: number) => Walk {
  let overlaps = 0;
  return function* (from) {
    if (!(pass.sequential || pass.trustsCount) || ++overlaps > MAX_OVERLAPS) return;
    for (let steps = 1; steps <= MAX_OVERLAP_PAGES; steps++) {
      const page = from + steps * towards;
      if (page < 1 || page > pass.pages) return;
      const answer = yield { page, until: page };
      pass.observe(answer);
      if (answer.again !== undefined) return;
    }
  };
}

/** Pages that were answered and wait for an earlier one: at most so many times the requests in flight. */
const WAITING = 4;

/**
 * Pages of a walk, in the order of its steps. What lies ahead on the way is asked for in the meantime, with `maxInFlight()`
 * requests in flight: one is in flight until `read` says that it was answered, or ends. What a walk that turns no longer wants is thrown away, never used later. A page that failed rejects
 * when its turn has come, and nothing further is asked for.
 */
export function openWindow(
  read: (page: number, pastEnd: boolean, answered: () => void) => Promise<Page>,
  maxInFlight: () => number,
  waiting = WAITING,
): (step: Step) => Promise<Page> {
  const ahead = new Map<number, Promise<Page>>();
  let inFlight = 0;
  let failed = false;
  let route: Step = { page: 1, until: 1 };
  /** The page to be asked for next. */
  let next = 1;

  const isOnRoute = (page: number): boolean =>
    page >= Math.min(route.page, route.until) && page <= Math.max(route.page, route.until);

  function ask(page: number): void {
    let isWaiting = true;
    inFlight++;
    const answered = (): void => {
      if (isWaiting) inFlight--;
      isWaiting = false;
      askAhead();
    };
    const answer = read(page, route.pastEnd === true, answered);
    ahead.set(page, answer);
    answer.then(answered, () => {
      failed = true;
      answered();
    });
  }

  function askAhead(): void {
    const limit = Math.max(1, maxInFlight());
    const by = route.until < route.page ? -1 : 1;
    while (!failed && isOnRoute(next) && inFlight < limit && ahead.size < limit * waiting) {
      const page = next;
      next += by;
      ask(page);
    }
  }

  return (step) => {
    route = step;
    for (const page of ahead.keys()) if (!isOnRoute(page)) ahead.delete(page);
    if (!ahead.has(step.page)) {
      ahead.clear();
      ask(step.page);
      next = step.page + (step.until < step.page ? -1 : 1);
    }
    const answer = ahead.get(step.page) as Promise<Page>;
    ahead.delete(step.page);
    askAhead();
    return answer;
  };
}
