import { createHashIndex, hashOfNumber } from './hash-index.js';

/**
 * What is known of things that have numbers, as rows have, in as few bytes as it takes: as a Map is used, in pieces that never
 * move, so that growing costs no copy and gaps cost little.
 */
export interface ByPlace<T> {
  get(place: number): T | undefined;
  has(place: number): boolean;
  set(place: number, value: T): void;
  readonly size: number;
  /** By place, ascending. */
  values(): Iterable<T>;
}

const PIECE = 4096;

/** Whole numbers from -(2^53 - 1) to 2^53 - 1, at 8 bytes each. */
export function numbersByPlace(): ByPlace<number> {
  return byPlace<number>(
    () => new Float64Array(PIECE).fill(Number.NaN),
    (value) => (Number.isNaN(value) ? undefined : value),
    (value) => value,
  );
}

/** One of up to 255 choices, at a byte each. */
export function choicesByPlace<T>(choices: readonly T[]): ByPlace<T> {
  return byPlace<T>(
    () => new Uint8Array(PIECE),
    (stored) => choices[stored - 1],
    (value) => choices.indexOf(value) + 1,
  );
}

function byPlace<T>(
  newPiece: () => Float64Array | Uint8Array,
  read: (stored: number) => T | undefined,
  store: (value: T) => number,
): ByPlace<T> {
  const pieces = new Map<number, Float64Array | Uint8Array>();
  let size = 0;

  function get(place: number): T | undefined {
    const piece = pieces.get(Math.floor(place / PIECE));
    return piece && read(piece[place % PIECE] as number);
  }

  return {
    get,
    has: (place) => get(place) !== undefined,
    set(place, value) {
      const at = Math.floor(place / PIECE);
      let piece = pieces.get(at);
      if (!piece) {
        piece = newPiece();
        pieces.set(at, piece);
      }
      if (read(piece[place % PIECE] as number) === undefined) size++;
      piece[place % PIECE] = store(value);
    },
    get size() {
      return size;
    },
    *values() {
      for (const at of [...pieces.keys()].sort((a, b) => a - b)) {
        for (const stored of pieces.get(at) as Float64Array | Uint8Array) {
          const value = read(stored);
          if (value !== undefined) yield value;
        }
      }
    },
  };
}

/** Whole numbers from 0, as a Set has them, at some 20 bytes each. NaN is none of them. */
export interface NumberSet {
  add(number: number): void;
  has(number: number): boolean;
}

export function numberSet(): NumberSet {
  const index = createHashIndex();
  const numbers = numbersByPlace();
  const find = (number: number): number => index.find(hashOfNumber(number), (place) => numbers.get(place) === number);
  return {
    add(number) {
      if (find(number) < 0) numbers.set(index.add(hashOfNumber(number)), number);
    },
    has: (number) => find(number) >= 0,
  };
}
