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
export interface Heard {
  /** Records on a full page. */
  readonly size: number;
  /** A page was followed by another, so `size` is what the service puts on a page. */
  readonly sizeCertain: boolean;
  /** Records in the list, as last stated. */
  readonly newest: number | undefined;
}

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

interface PassOptions {
  /** One page after the other, and a step back wherever the list moved. */
  readonly alone: boolean;
  /** The count is believed where as much was shown: no page behind the last is asked for, and none is looked at again. */
  readonly believes?: boolean;
}

/** The bookkeeping of one pass over the list, whichever way it goes. */
export class Pass {
  readonly alone: boolean;
  readonly believes: boolean;
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
    { alone, believes = false }: PassOptions,
  ) {
    this.alone = alone;
    this.believes = believes;
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
