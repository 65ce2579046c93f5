import { type Mark, sameMark } from './disk.js';
import type { Dropped } from './dropped.js';

/** A dropped file and the folder's name, which is the job's. */
export interface Candidate extends Dropped {
  readonly job: string;
  /** Tells it from all others: its path, byte for byte. */
  readonly key: string;
}

interface Seen {
  readonly mark: Mark;
  /** Of this process's own clock, which no change of the time moves. */
  readonly since: number;
  notBefore: number;
}

/** An empty file is mostly one that is about to be filled: it waits this many times as long. */
const EMPTY = 5;

/** What is known of dropped files until they are taken. */
export interface Waiting {
  /** Notes how they look now. Returns those that were left alone long enough, or have their marker, the oldest first. */
  look(candidates: readonly Candidate[]): Candidate[];
  /** Not due again before that many milliseconds. */
  postpone(key: string, ms: number): void;
  /** How long a file has been due for, in milliseconds. */
  overdue(key: string): number;
  /** Milliseconds until the next file is due that is not yet; undefined where none is. */
  next(): number | undefined;
  readonly count: number;
}

export function openWaiting(quietMs: number): Waiting {
  let seen = new Map<string, Seen>();
  const dueAt = ({ mark, since, notBefore }: Seen) =>
    Math.max(since + (mark.size === 0n ? EMPTY * quietMs : quietMs), notBefore);

  return {
    look(candidates) {
      const now = performance.now();
      const before = seen;
      seen = new Map();
      const due: Candidate[] = [];
      for (const candidate of candidates) {
        const known = before.get(candidate.key);
        const { ino, size, mtimeNs } = candidate.info;
        const same = known && sameMark(known.mark, candidate.info) ? known : undefined;
        const entry = same ?? { mark: { ino, size, mtimeNs }, since: now, notBefore: known?.notBefore ?? 0 };
        seen.set(candidate.key, entry);
        if (now >= (candidate.ready ? entry.notBefore : dueAt(entry))) due.push(candidate);
      }
      return due.sort((a, b) => (a.info.mtimeNs < b.info.mtimeNs ? -1 : a.info.mtimeNs > b.info.mtimeNs ? 1 : 0));
    },
    postpone(key, ms) {
      const entry = seen.get(key);
      if (entry) entry.notBefore = performance.now() + ms;
    },
    overdue(key) {
      const entry = seen.get(key);
      return entry ? performance.now() - entry.since - quietMs : 0;
    },
    next() {
      const now = performance.now();
      let soonest: number | undefined;
      for (const entry of seen.values()) {
        const left = dueAt(entry) - now;
        if (left > 0 && (soonest === undefined || left < soonest)) soonest = left;
      }
      return soonest;
    },
    get count() {
      return seen.size;
    },
  };
}
