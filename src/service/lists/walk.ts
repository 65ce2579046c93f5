import type { Page } from '../port.js';

/** The service's documented page size (interface, section 8); used until a page shows the real one. */
const DOCUMENTED_SIZE = 25;
/** So many of each kind are said in full in each pass, the others are counted. */
const MOST_OF_A_KIND = 3;

/** What may not fit. The first few show that the list changed while it was read, the others that it is not as it should be. */
const MOVEMENTS = ['count', 'again', 'order', 'altered', 'growth'] as const;
type ProblemKind = (typeof MOVEMENTS)[number] | 'size' | 'empty' | 'beyond' | 'nameless' | 'total';

/** A page as a pass sees it: no records, only their keys. */
export interface Shown {
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
interface Heard {
  /** Records on a full page. */
  readonly size: number;
  /** A page was followed by another, so `size` is what the service puts on a page. */
  readonly sizeCertain: boolean;
  /** Records in the list, as last stated. */
  readonly newest: number | undefined;
}

/** Before the first answer. */
export const NOTHING_HEARD: Heard = { size: DOCUMENTED_SIZE, sizeCertain: false, newest: undefined };

export interface PassResult extends Heard {
  readonly number: number;
  readonly shown: number;
  /** The pages fitted together: one count, ids ascending without repeats, no page short, as many records as counted. */
  readonly sound: boolean;
  /** Nothing hints at a list that moved meanwhile: what did not fit would not fit in another pass either. */
  readonly still: boolean;
  /** Whether a record without an id was all that did not fit. */
  readonly onlyNameless: boolean;
  readonly problems: readonly string[];
}

/** The bookkeeping of one pass over the list, whichever way it goes. */
export class Pass {
  /** Records in the list, as stated first in this pass and last. */
  count: number | undefined;
  newest: number;
  /** Distinct records shown. */
  shown = 0;
  /** The count has been the same so far. */
  steady = true;
  readonly #problems: string[] = [];
  readonly #found = new Map<ProblemKind, number>();
  #size: number;
  #sizeCertain: boolean;

  constructor(
    readonly number: number,
    { size, sizeCertain, newest = 0 }: Heard,
    /** One page after the other, and a step back wherever the list moved. */
    readonly alone: boolean,
    /** The count is believed where as much was shown: no page behind the last is asked for, and none is looked at again. */
    readonly believes = false,
  ) {
    this.newest = newest;
    this.#size = size;
    this.#sizeCertain = sizeCertain;
  }

  /** Pages of the list as last heard of; at least 1. */
  get pages(): number {
    return Math.max(1, Math.ceil(this.newest / Math.max(1, this.#size)));
  }

  /** A page of so many records may be followed by another. */
  isFull({ keys }: Shown): boolean {
    return keys.length >= (this.#sizeCertain ? this.#size : DOCUMENTED_SIZE);
  }

  /** Takes in what a page says about the list. A page past the end (no records, count 0) says nothing. */
  hear({ page, count, keys, fresh }: Shown): void {
    this.shown += fresh;
    if (keys.length === 0 && count === 0 && page > 1) return;
    if (this.count === undefined) this.count = count;
    else if (count !== this.newest) {
      this.steady = false;
      this.problem(page, 'count', `the service counted ${this.newest} records before and ${count} now`);
    }
    this.newest = count;
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
    { page, keys, again }: Shown,
    { lower, higher }: { readonly lower?: Shown | undefined; readonly higher?: Shown | undefined },
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
    if (before < MOST_OF_A_KIND) this.#problems.push(`pass ${this.number}${text}`);
    if (before === MOST_OF_A_KIND) this.#problems.push(`pass ${this.number}: more pages of which the same is true`);
  }

  end(): PassResult {
    const { number, shown, newest } = this;
    if (shown !== newest) this.#note('total', `: ${shown} records were shown, the service counts ${newest}`);
    const found = this.#found;
    return {
      number,
      shown,
      sound: found.size === 0,
      still: MOVEMENTS.every((kind) => !found.has(kind)),
      onlyNameless: found.size === 1 && found.has('nameless'),
      problems: this.#problems,
      size: this.#size,
      sizeCertain: this.#sizeCertain,
      newest,
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
export type Walk = Generator<Step, void, Shown>;

/** More steps back in a pass, and the list changes faster than it can be read. */
const MOST_OVERLAPS = 50;
/** How many pages one step back may reach. */
const LONGEST_OVERLAP = 20;
/** Lists of so few pages are looked at once more at the end of a pass: a few requests are easily fooled, and a few more are cheap. */
const SHORT = 4;
/** How often a start is sought anew at a list that grows. */
const MOST_STARTS = 5;

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
  const early = new Map<number, Shown>();
  if (pass.number === 1) {
    const first = yield { page: 1, until: 1 };
    pass.hear(first);
    if (!pass.believes) early.set(1, first);
  }
  const overlap = stepBack(pass, 1);
  const walked: Shown[] = [];
  let start = pass.pages;
  let starts = 1;
  let higher: Shown | undefined;
  let askedForCount = false;

  for (let page = start; page >= 1; page--) {
    const held = pass.steady ? early.get(page) : undefined;
    if (held) {
      pass.check(held, { higher });
      higher = held;
      walked.push(held);
      continue;
    }
    const before = pass.newest;
    const shown = yield { page, until: isSingle(pass) ? page : Math.min(page, early.has(1) && pass.steady ? 2 : 1) };
    pass.hear(shown);
    if (shown.keys.length === 0 && page > 1) {
      if (shown.count === 0 && !askedForCount) {
        askedForCount = true;
        const first = yield { page: 1, until: 1 };
        pass.hear(first);
        if (!early.has(1) && !pass.believes) early.set(1, first);
      }
      if (pass.pages < page) {
        page = pass.pages + 1;
        if (!higher) start = pass.pages;
        continue;
      }
      pass.problem(page, 'empty', `it is empty, where the service counts ${pass.newest} records`);
      continue;
    }
    if (!higher && pass.pages > page && starts++ < MOST_STARTS) {
      early.set(page, shown);
      start = pass.pages;
      page = start + 1;
      continue;
    }
    pass.check(shown, { higher });
    if (higher && pass.newest !== before) yield* overlap(page);
    higher = shown;
    if (walked.length < SHORT) walked.push(shown);
  }
  yield* lookAgain(pass, walked);

  if (!pass.steady && pass.newest > (pass.count ?? 0)) {
    for (let page = pass.pages; page >= start; page--) pass.hear(yield { page, until: isSingle(pass) ? page : start });
  }
}

/**
 * From the first page to the last, and on for as long as a page may be followed by another: the service's count is not
 * believed where the pages say otherwise (where the page behind the end fails, there is nothing but the count to go by).
 * Only a removal before a record can carry it past the walk, and that lowers the count.
 */
export function* forward(pass: Pass): Walk {
  const overlap = stepBack(pass, -1);
  const walked: Shown[] = [];
  let farthest = Number.POSITIVE_INFINITY;
  let lower: Shown | undefined;
  let askedForCount = false;
  /** Records of the list as the page before was read. */
  let told = pass.newest;

  for (let page = 1; ; page++) {
    if (page > farthest) {
      pass.problem(page, 'growth', 'the list grows faster than it can be read');
      return;
    }
    const pastEnd = page > pass.pages;
    const shown = yield { page, until: isSingle(pass) ? page : Math.max(page, pass.pages), pastEnd };
    pass.hear(shown);
    const moved = lower !== undefined && pass.newest !== told;
    told = pass.newest;
    if (page === 1) farthest = pass.pages * 2 + 50;
    if (page > pass.pages) {
      // Nothing past the end, or the last page once more.
      if (shown.fresh === 0) {
        // What stood here may have moved to the page before after that was read.
        if (moved) yield* overlap(pass.pages + 1);
        break;
      }
      pass.problem(page, 'beyond', `it holds more, although the service counts ${pass.newest} records`);
    } else if (shown.keys.length === 0 && page > 1) {
      if (!askedForCount) {
        askedForCount = true;
        pass.hear(yield { page: 1, until: 1 });
      }
      if (pass.pages < page) {
        if (moved || pass.newest !== told) yield* overlap(pass.pages + 1);
        return;
      }
      pass.problem(page, 'empty', `it is empty, where the service counts ${pass.newest} records`);
      if (page === pass.pages) return;
      continue;
    } else {
      pass.check(shown, { lower });
      if (moved) yield* overlap(page);
    }
    lower = shown;
    if (walked.length < SHORT) walked.push(shown);
    const isWhole = pass.believes ? pass.shown === pass.newest : !pass.isFull(shown) && pass.shown >= pass.newest;
    if (page >= pass.pages && isWhole) break;
  }
  yield* lookAgain(pass, walked);
}

/** One page after the other. */
const isSingle = (pass: Pass): boolean => pass.alone || (!pass.believes && pass.pages <= SHORT);

/**
 * Whether the pages of a short list, but the one read last, still hold what they held, on the way back. Pass 1 can do
 * without: the second would not agree with it.
 */
function* lookAgain(pass: Pass, walked: readonly Shown[]): Walk {
  const pages = walked.slice(0, -1).reverse();
  if (pass.number === 1 || !pass.steady || pass.pages !== walked.length) return;
  for (const { page, keys } of pages) {
    const shown = yield { page, until: page };
    pass.hear(shown);
    if (shown.keys.length === keys.length && keys.every((key, at) => key === shown.keys[at])) continue;
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
    if (!(pass.alone || pass.believes) || ++overlaps > MOST_OVERLAPS) return;
    for (let steps = 1; steps <= LONGEST_OVERLAP; steps++) {
      const page = from + steps * towards;
      if (page < 1 || page > pass.pages) return;
      const shown = yield { page, until: page };
      pass.hear(shown);
      if (shown.again !== undefined) return;
    }
  };
}

/** Pages that were answered and wait for an earlier one: at most so many times the requests in flight. */
const WAITING = 4;

/**
 * Pages of a walk, in the order of its steps. What lies ahead on the way is asked for in the meantime, with `most()`
 * requests in flight: one is in flight until `read` says that it was answered, or ends. What a walk that turns no longer wants is thrown away, never used later. A page that failed rejects
 * when its turn has come, and nothing further is asked for.
 */
export function openWindow(
  read: (page: number, pastEnd: boolean, answered: () => void) => Promise<Page>,
  most: () => number,
  waiting = WAITING,
): (step: Step) => Promise<Page> {
  const ahead = new Map<number, Promise<Page>>();
  let inFlight = 0;
  let failed = false;
  let way: Step = { page: 1, until: 1 };
  /** The page to be asked for next. */
  let next = 1;

  const onTheWay = (page: number): boolean =>
    page >= Math.min(way.page, way.until) && page <= Math.max(way.page, way.until);

  function ask(page: number): void {
    let isWaiting = true;
    inFlight++;
    const answered = (): void => {
      if (isWaiting) inFlight--;
      isWaiting = false;
      askAhead();
    };
    const answer = read(page, way.pastEnd === true, answered);
    ahead.set(page, answer);
    answer.then(answered, () => {
      failed = true;
      answered();
    });
  }

  function askAhead(): void {
    const limit = Math.max(1, most());
    const by = way.until < way.page ? -1 : 1;
    while (!failed && onTheWay(next) && inFlight < limit && ahead.size < limit * waiting) {
      const page = next;
      next += by;
      ask(page);
    }
  }

  return (step) => {
    way = step;
    for (const page of ahead.keys()) if (!onTheWay(page)) ahead.delete(page);
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
