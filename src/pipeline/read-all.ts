import type { Json, Page, Readable } from '../service/port.js';

/** Sees records as they are read; `readAt` in milliseconds since 1970. */
export type Visit = (records: readonly Json[], readAt: number) => void | Promise<void>;

/** A list that was read. */
export interface ReadList {
  /** Ids ascended without repeats and the count held. */
  readonly certified: boolean;
  /** Whether no record was missed, for two requests at most: what moved while it was read may have hidden one. */
  confirm(): Promise<boolean>;
}

/** Reads lists before the first write of a run; what it keeps is not asked of the service a second time. */
export interface ReadAll {
  /**
   * Every record of a list, in any order of pages. `keep`: the list is likely to be wanted again. `backward`: one page after the
   * other from the last, so that what is removed or added at the end meanwhile hides none.
   */
  (
    resource: Readable,
    visit: Visit,
    options?: { readonly keep?: boolean; readonly backward?: boolean },
  ): Promise<ReadList>;
  /** Page 1, which tells what the whole list costs. */
  first(resource: Readable): Promise<Page>;
  /** Whether the list was read whole and kept, so that it costs no request. */
  has(resource: Readable): boolean;
}
