import { createHashIndex, hashNumber } from './hash-index.js';

/**
 * What is known of things that have numbers, as rows have, in as few bytes as it takes: as a Map is used, in pieces that never
 * move, so that growing costs no copy and gaps cost little.
 */
export interface DenseMap<T> {
  get(key: number): T | undefined;
  has(key: number): boolean;
  set(key: number, value: T): void;
  readonly size: number;
}

const PIECE_SIZE = 4096;

/** Whole numbers from -(2^53 - 1) to 2^53 - 1, at 8 bytes each. */
export function createNumberMap(): DenseMap<number> {
  return createDenseMap<number>(
    () => new Float64Array(PIECE_SIZE).fill(Number.NaN),
    (value) => (Number.isNaN(value) ? undefined : value),
    (value) => value,
  );
}

/** One of up to 255 choices, at a byte each. */
export function createChoiceMap<T>(choices: readonly T[]): DenseMap<T> {
  return createDenseMap<T>(
    () => new Uint8Array(PIECE_SIZE),
    (stored) => choices[stored - 1],
    (value) => choices.indexOf(value) + 1,
  );
}

function createDenseMap<T>(
  newPiece: () => Float64Array | Uint8Array,
  read: (stored: number) => T | undefined,
  store: (value: T) => number,
): DenseMap<T> {
  const pieces = new Map<number, Float64Array | Uint8Array>();
  let size = 0;

  function get(key: number): T | undefined {
    const piece = pieces.get(Math.floor(key / PIECE_SIZE));
    return piece && read(piece[key % PIECE_SIZE] as number);
  }

  return {
    get,
    has: (key) => get(key) !== undefined,
    set(key, value) {
      const pieceIndex = Math.floor(key / PIECE_SIZE);
      let piece = pieces.get(pieceIndex);
      if (!piece) {
        piece = newPiece();
        pieces.set(pieceIndex, piece);
      }
      if (read(piece[key % PIECE_SIZE] as number) === undefined) size++;
      piece[key % PIECE_SIZE] = store(value);
    },
    get size() {
      return size;
    },
  };
}

/** Whole numbers from 0, as a Set has them, at some 20 bytes each. NaN is none of them. */
export interface NumberSet {
  add(number: number): void;
  has(number: number): boolean;
}

export function createNumberSet(): NumberSet {
  const index = createHashIndex();
  const numbers = createNumberMap();
  const find = (number: number): number => index.find(hashNumber(number), (key) => numbers.get(key) === number);
  return {
    add(number) {
      if (find(number) < 0) numbers.set(index.add(hashNumber(number)), number);
    },
    has: (number) => find(number) >= 0,
  };
}
