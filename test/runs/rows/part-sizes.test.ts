import { expect, it } from 'vitest';
import { PART_SIZE, partSizes } from '../../../src/runs/rows/dispatch.js';

const PLENTY = 1_000_000;

/** Sizes at a clock that only the test moves. */
function open(parts: number | undefined) {
  let now = 0;
  const carrier = { parts: parts ?? 0 };
  const sizes = partSizes(parts === undefined ? undefined : carrier, 16, () => now);
  return {
    sizes,
    carrier,
    /** So many rows end, evenly, within a second. */
    second(rows: number): void {
      for (let i = 0; i < rows; i++) {
        now += 1_000 / rows;
        sizes.ended();
      }
    },
  };
}

it.each([undefined, 0])(
  'where nobody shares the work, as many rows are at work as requests may be in flight (%s parts)',
  (parts) => {
    const { sizes, second } = open(parts);
    second(50);
    expect(sizes.shared).toBe(false);
    expect([sizes.next(PLENTY), sizes.next(3)]).toEqual([PART_SIZE, PART_SIZE]);
    expect([sizes.atWork, sizes.aside]).toEqual([16, 64]);
  },
);

it('where others share it, all parts that may be under way are at work, big ones where the service is quick', () => {
  const { sizes, second } = open(5);
  expect(sizes.shared).toBe(true);
  expect([sizes.next(PLENTY), sizes.atWork]).toEqual([100, 500]);
  second(300);
  expect([sizes.next(PLENTY), sizes.atWork]).toEqual([300, 1_500]);
  second(5_000);
  expect([sizes.next(PLENTY), sizes.atWork]).toEqual([PART_SIZE, 5 * PART_SIZE]);
});

it('what is with others is sent within seconds where the service became slow, and nobody is without a part', () => {
  const { sizes, second } = open(5);
  second(5_000);
  second(200);
  expect(sizes.atWork).toBe(1_000);
  second(2);
  expect([sizes.next(PLENTY), sizes.atWork]).toEqual([100, 500]);
});

it('the last parts are smaller, so that all workers end together', () => {
  const { sizes, second } = open(5);
  second(5_000);
  expect([2_500, 2_000, 600, 400].map((left) => sizes.next(left))).toEqual([PART_SIZE, 400, 120, 100]);
  expect(sizes.atWork).toBe(5 * PART_SIZE);
});

it('follows workers that come and go', () => {
  const { sizes, carrier, second } = open(5);
  second(5_000);
  carrier.parts = 9;
  expect(sizes.atWork).toBe(9 * PART_SIZE);
  carrier.parts = 0;
  expect([sizes.shared, sizes.atWork]).toEqual([false, 16]);
});
