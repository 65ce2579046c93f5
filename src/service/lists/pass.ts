/** The service's documented page size (interface, section 8); used until a page shows the real one. */
const DOCUMENTED_SIZE = 25;
/** So many of each kind are said in full in each pass, the others are counted. */
const MOST_OF_A_KIND = 3;

/** What may not fit. The first few show that the list changed while it was read, the others that it is not as it should be. */
const MOVEMENTS = ['count', 'again', 'order', 'altered', 'growth'] as const;
export type ProblemKind = (typeof MOVEMENTS)[number] | 'size' | 'empty' | 'beyond' | 'nameless' | 'total';

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

/** The bookkeeping of one pass over the list, whichever way it goes. */
export interface Pass {
  readonly number: number;
  /** One page after the other, and a step back wherever the list moved. */
  readonly alone: boolean;
  /** The count is believed where as much was shown: no page behind the last is asked for, and none is looked at again. */
  readonly believes: boolean;
  /** Records in the list, as stated first in this pass and last. */
  readonly count: number | undefined;
  readonly newest: number;
  /** Distinct records shown. */
  readonly shown: number;
  /** The count has been the same so far. */
  readonly steady: boolean;
  /** Pages of the list as last heard of; at least 1. */
  readonly pages: number;
  /** A page of so many records may be followed by another. */
  isFull(page: Shown): boolean;
  /** Takes in what a page says about the list. A page past the end (no records, count 0) says nothing. */
  hear(page: Shown): void;
  /** Whether the page fits between its neighbours; `lower` and `higher` are the pages before and after it in the list. */
  check(page: Shown, neighbours: { readonly lower?: Shown | undefined; readonly higher?: Shown | undefined }): void;
  problem(page: number, kind: ProblemKind, text: string): void;
  end(): PassResult;
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

export function openPass(
  number: number,
  heard: Heard,
  options: { alone: boolean; ordered: boolean; believes?: boolean },
): Pass {
  const problems: string[] = [];
  const found = new Map<ProblemKind, number>();
  let { size, sizeCertain } = heard;
  let newest = heard.newest ?? 0;
  let count: number | undefined;
  let shown = 0;
  let steady = true;

  const note = (kind: ProblemKind, text: string): void => {
    const before = found.get(kind) ?? 0;
    found.set(kind, before + 1);
    if (before < MOST_OF_A_KIND) problems.push(`pass ${number}${text}`);
    if (before === MOST_OF_A_KIND) problems.push(`pass ${number}: more pages of which the same is true`);
  };
  const problem = (page: number, kind: ProblemKind, text: string): void => note(kind, `, page ${page}: ${text}`);
  const pages = (): number => Math.max(1, Math.ceil(newest / Math.max(1, size)));

  function hearSize({ page, count: stated, keys }: Shown): void {
    const { length } = keys;
    const followed = stated > page * length;
    if (length === 0 || (length <= size && !(page === 1 && followed))) return;
    if (sizeCertain && length !== size) problem(page, 'size', `it holds ${length} records, where others held ${size}`);
    size = length;
    sizeCertain ||= followed;
  }

  return {
    number,
    alone: options.alone,
    believes: options.believes ?? false,
    get count() {
      return count;
    },
    get newest() {
      return newest;
    },
    get shown() {
      return shown;
    },
    get steady() {
      return steady;
    },
    get pages() {
      return pages();
    },
    isFull: ({ keys }) => keys.length >= (sizeCertain ? size : DOCUMENTED_SIZE),
    hear(page) {
      shown += page.fresh;
      if (page.keys.length === 0 && page.count === 0 && page.page > 1) return;
      if (count === undefined) count = page.count;
      else if (page.count !== newest) {
        steady = false;
        problem(page.page, 'count', `the service counted ${newest} records before and ${page.count} now`);
      }
      newest = page.count;
      hearSize(page);
    },
    check(page, { lower, higher }) {
      const { keys } = page;
      const without = keys.filter((key) => key < 0).length;
      if (without > 0) {
        problem(
          page.page,
          'nameless',
          `${without} of its records ${without === 1 ? 'has' : 'have'} no id, so it cannot be checked that all are there`,
        );
      }
      // Once the count has changed, all that follows from it is no news.
      if (!steady) return;
      if (page.again !== undefined) problem(page.page, 'again', `record ${page.again} came again`);
      if (page.page < pages() && keys.length < size) {
        problem(page.page, 'size', `it holds ${keys.length} records, where ${size} were due`);
      }
      if (!options.ordered || without > 0) return;
      const line = [lower?.keys.at(-1), ...keys, higher?.keys[0]].filter((key) => key !== undefined && key > 0);
      const falls = line.findIndex((key, at) => at > 0 && (key as number) < (line[at - 1] as number));
      if (falls > 0) problem(page.page, 'order', `ids do not ascend: ${line[falls]} after ${line[falls - 1]}`);
    },
    problem,
    end() {
      if (shown !== newest) note('total', `: ${shown} records were shown, the service counts ${newest}`);
      return {
        number,
        shown,
        sound: found.size === 0,
        still: MOVEMENTS.every((kind) => !found.has(kind)),
        onlyNameless: found.size === 1 && found.has('nameless'),
        problems,
        size,
        sizeCertain,
        newest,
      };
    },
  };
}
