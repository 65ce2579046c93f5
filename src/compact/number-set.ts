import { numbersByPlace } from './by-place.js';
import { createHashIndex, hashOfNumber } from './hash-index.js';

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
