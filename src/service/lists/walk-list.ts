import { formatNumber } from '../../model/count-text.js';
import { RunError, runFailure } from '../../model/error.js';
import type { Json, Page, Readable, Service } from '../port.js';
import { recordIdOf, refusesRequest } from '../transport/answer.js';
import { IdSet } from './id-set.js';
import {
  backward,
  DOCUMENTED_SIZE,
  forward,
  NO_FACTS,
  openWindow,
  type PageKeys,
  Pass,
  type PassResult,
} from './walk.js';

/** Whether a request was refused for what it asks for; its status. */
export function refusalOf(error: unknown): number | undefined {
  const status = error instanceof RunError ? error.status : undefined;
  return refusesRequest(status) ? status : undefined;
}

export interface WalkOptions {
  /**
   * `backward` reads one page after the other from the last to the first: removals move records into pages still to be
   * read, so none is lost. Pages come in that order.
   */
  readonly direction?: 'forward' | 'backward';
  /** Page 1, where the caller has just read it. */
  readonly first?: Page;
}

/** Pages in a row that show nothing new although the count has room for them: hidden records may be counted, but not so many. */
const MAX_BARREN = 1_000;

/** Is told what each page within the count shows that was new. Throws a RunError where the list cannot explain the count. */
export function barrenPageGuard(): (fresh: number, count: number) => void {
  let inRow = 0;
  return (fresh, count) => {
    inRow = fresh > 0 ? 0 : inRow + 1;
    if (inRow < MAX_BARREN) return;
    throw runFailure(
      `The service counts ${formatNumber(count)} records in a list, and ${formatNumber(inRow)} pages of it in a row ` +
        'showed none that was not shown before. The list is read no further. Ask whoever runs the service why its count is wrong, then run again.',
    );
  };
}

/**
 * All records of a list, in one pass that believes the count (`walk.ts`): forward, pages are asked for ahead, and where the list
 * moved those before are read again until one holds something known. No record is shown twice.
 *
 * Interface, section 8: 25 results a page, by id ascending. Throws what `Service.page` throws.
 */
export function walkList(service: Service, resource: Readable, options: WalkOptions = {}) {
  const isForward = options.direction !== 'backward';
  const pass = new Pass(1, NO_FACTS, !isForward, true);
  const read = (page: number): Promise<Page> => service.page(resource, page);
  const window = openWindow(read, () => service.inFlightLimit, 1);
  const seen = new IdSet();
  let nameless = 0;
  /** The first and the last page as they were read before all others. */
  let ends: { readonly first: Page; readonly last: Page | undefined; readonly pages: number } | undefined;
  let result: PassResult | undefined;

  /** A page as the pass sees it, with the records that were not shown before. */
  function show({ count, results }: Page, page: number, isMeasure: boolean): { answer: PageKeys; records: Json[] } {
    const keys = results.map((record) => recordIdOf(record) ?? -++nameless);
    if (isMeasure) return { answer: { page, count, keys, fresh: 0, again: undefined }, records: [] };
    const isFresh = keys.map((key) => key < 0 || seen.add(key));
    const records = results.filter((_, at) => isFresh[at]);
    const again = keys.find((_, at) => !isFresh[at]);
    return { answer: { page, count, keys, fresh: records.length, again }, records };
  }

  /** A list without a count may be one page of it: then the next shows others. */
  async function checkAlone({ results }: Page): Promise<void> {
    const next = await service.page(resource, 2, {}, { pastEnd: true });
    const ids = new Set(results.map(recordIdOf));
    if (next.results.some((record) => !ids.has(recordIdOf(record))))
      pass.problem(2, 'beyond', 'it holds more, although page 1 came as a list without a count');
  }

  /** The records of each page that were not shown before, and the count that it stated. */
  async function* walk(): AsyncGenerator<{ readonly records: readonly Json[]; readonly count: number }> {
    const checkBarren = barrenPageGuard();
    const first = options.first ?? (await read(1));
    if (first.bare && first.results.length >= DOCUMENTED_SIZE) await checkAlone(first);
    const pages = first.results.length === 0 ? 0 : Math.ceil(first.count / first.results.length);
    const last = isForward && pages > 1 ? await read(pages) : undefined;
    ends = { first, last, pages };
    const early = new Map([[1, first], ...(last?.count === first.count ? [[pages, last] as const] : [])]);
    const steps = (isForward ? forward : backward)(pass);
    for (let step = steps.next(); !step.done; ) {
      const { page: number, until } = step.value;
      const cached = early.get(number);
      early.delete(number);
      const ahead = early.has(until) && until > number ? { ...step.value, until: until - 1 } : step.value;
      const page = cached ?? (await window(ahead));
      // Backward, page 1 says first how long the list is, and is read once more when its turn has come.
      const { answer, records } = show(page, number, !isForward && cached !== undefined);
      yield { records, count: page.count };
      step = steps.next(answer);
      checkBarren(records.length, pass.latestCount);
    }
    result = pass.end();
  }

  return {
    [Symbol.asyncIterator]: walk,
    /**
     * The pages fitted together: `count` held from first to last, ids ascended without repeats, and as many records were shown
     * as the service counts. Only then may "not in the list" be concluded. Final, as `problems` is, when the iteration has ended.
     */
    get certified(): boolean {
      return result?.sound === true;
    },
    /** Records that the service counted from first to last, and did not show. */
    get unshown(): number {
      return result?.unshown ?? 0;
    },
    /** What did not fit, in words; empty where certified. */
    get problems(): readonly string[] {
      return result?.problems ?? [];
    },
    /**
     * Asked after the end of a forward walk: whether it missed nothing that was there, for two requests (none where
     * the list has one page). A certified walk may have missed a record: a removal moves records to pages already read, and an
     * addition hides that from the count. What is added has the highest id and stands on the last page, which was read before the
     * others: where it holds the same now, nothing was added since, and so nothing was removed. Page 1, which was read
     * before it, has to hold the same, too. What returns under an old id is not seen by this.
     */
    async confirm(): Promise<boolean> {
      if (!result?.sound || !ends) return false;
      if (ends.pages <= 1) return true;
      if (!ends.last) return false;
      const [last, first] = [await read(ends.pages), await read(1)];
      return sameAs(ends.last, last) && sameAs(ends.first, first) && first.count === last.count;
    },
  };
}

export type ListWalk = ReturnType<typeof walkList>;

/** Whether a page is what it was. */
function sameAs(was: Page, now: Page): boolean {
  const ids = (page: Page): string => page.results.map(recordIdOf).join();
  return was.count === now.count && ids(was) === ids(now);
}
