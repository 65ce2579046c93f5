/**
 * Finds things by the hash of their names, at 10 to 12 bytes each, however long the names are. Things have numbers: 0 for
 * the first that was added, and so on. Two names may have one hash: whoever looks for one says which thing it is.
 *
 * A chain of things for each bucket: for each thing 32 bits of its hash and the next one, in pieces that never move; the
 * table of first ones is doubled when chains grow long.
 */
interface HashIndex {
  readonly size: number;
  /** The thing with this hash that `matches` the one looked for; -1 where there is none. Asked about the one added last first. */
  find(hash: number, matches: (entry: number) => boolean): number;
  /** Adds a thing, whether or not there is another with its hash, and returns its number. */
  add(hash: number): number;
}

const PIECE_BITS = 12;
const PIECE_SIZE = 1 << PIECE_BITS;
const MASK = PIECE_SIZE - 1;
/** Things a bucket, where the table is doubled. */
const MAX_CHAIN = 2;
/** No thing follows. */
const END = 0;

export function createHashIndex(): HashIndex {
  /** Of each thing its hash and the next one + 1, side by side. */
  const pieces: Uint32Array[] = [];
  let size = 0;
  /** The first thing of each bucket + 1. */
  let heads = new Uint32Array(PIECE_SIZE);

  function link(entry: number, hash: number): void {
    const bucket = hash & (heads.length - 1);
    const piece = pieces[entry >>> PIECE_BITS] as Uint32Array;
    const at = (entry & MASK) * 2;
    piece[at] = hash;
    piece[at + 1] = heads[bucket] as number;
    heads[bucket] = entry + 1;
  }

  function grow(): void {
    heads = new Uint32Array(heads.length * 2);
    for (let entry = 0; entry < size; entry++) {
      link(entry, (pieces[entry >>> PIECE_BITS] as Uint32Array)[(entry & MASK) * 2] as number);
    }
  }

  return {
    get size() {
      return size;
    },
    find(hash, matches) {
      const wanted = hash >>> 0;
      for (let next = heads[wanted & (heads.length - 1)] as number; next !== END; ) {
        const entry = next - 1;
        const piece = pieces[entry >>> PIECE_BITS] as Uint32Array;
        const at = (entry & MASK) * 2;
        if (piece[at] === wanted && matches(entry)) return entry;
        next = piece[at + 1] as number;
      }
      return -1;
    },
    add(hash) {
      if (size === heads.length * MAX_CHAIN) grow();
      if (size === pieces.length * PIECE_SIZE) pieces.push(new Uint32Array(PIECE_SIZE * 2));
      link(size, hash >>> 0);
      return size++;
    },
  };
}

/** Spreads numbers that are close together, as ids are; the same everywhere. */
export function hashNumber(number: number): number {
  const high = Math.imul(Math.floor(number / 0x1_0000_0000) | 0, 0x85ebca6b);
  const mixed = Math.imul(((number % 0x1_0000_0000) | 0) ^ high, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** Another one in every process, so that nobody can make up a file whose names all have one hash. */
const SEED = Math.trunc(Math.random() * 2 ** 32);

/** 32 bits of a text, spread evenly; the same within a process. */
export function hash32(text: string): number {
  let hash = SEED;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x85ebca6b) ^ (hash >>> 15);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * 53 bits of a text, as a safe integer: enough to tell whether a record reads as it did before. Two texts of a record
 * share one with a chance of 1 in 9 × 10^15. Not for anything that somebody may want to forge.
 */
export function hash53(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b & 0x1fffff) * 0x1_0000_0000 + (a >>> 0);
}
