import type { Slots } from './slots.js';

/** What a page was found to hold. */
export interface Taken {
  readonly count: number;
  readonly keys: readonly number[];
}

/**
 * The pages as they were last taken in, by hashes of their bytes: a list at rest is read twice, and the pages of the
 * second time need not be parsed. 4 to 6 bytes a record.
 */
export interface TakenPages {
  /** Whether the page read so. For what arrives; what it holds is asked for when its turn has come. */
  isKnown(page: number, hash: number): boolean;
  /** What the page that reads so holds; undefined where it read otherwise, or one of its records was seen in another form since. */
  find(page: number, hash: number): Taken | undefined;
  /** Notes what a page holds, once its records are stored; only where they were stored with it. */
  take(page: number, hash: number, taken: Taken): void;
}

interface Entry {
  readonly hash: number;
  readonly count: number;
  /** Slots of its records: so many from this one on. */
  readonly slot: number;
  readonly records: number;
  /** What stands farther back in the log was stored later. */
  readonly upTo: number;
}

/** `upTo`: the farthest place of the log at which a record stands so far. */
export function takenPages(slots: Slots, upTo: () => number): TakenPages {
  const entries = new Map<number, Entry>();
  return {
    isKnown: (page, hash) => entries.get(page)?.hash === hash,
    find(page, hash) {
      const entry = entries.get(page);
      if (entry?.hash !== hash) return undefined;
      const keys: number[] = [];
      for (let slot = entry.slot; slot < entry.slot + entry.records; slot++) {
        if (slots.place(slot).offset > entry.upTo) return undefined;
        keys.push(slots.key(slot));
      }
      return { count: entry.count, keys };
    },
    take(page, hash, { count, keys }) {
      const slot = slots.find(keys[0] ?? 0);
      entries.delete(page);
      if (slot < 0 || keys.some((key, at) => slots.find(key) !== slot + at)) return;
      entries.set(page, { hash, count, slot, records: keys.length, upTo: upTo() });
    },
  };
}
