import { seeded } from '../support/seeded.js';

/** What can be chosen, by name. */
export type Factors = Readonly<Record<string, readonly unknown[]>>;

export type Choice<F extends Factors> = { readonly [Name in keyof F]: F[Name][number] };

/** Rows tried before the one that covers most new pairs is taken. */
const CANDIDATES = 20;

/**
 * Choices that hold every pair of values of any two factors at least once (a covering array of strength 2), greedily and always the
 * same for one seed. The number of choices is near the product of the two longest factors.
 */
export function allPairs<F extends Factors>(factors: F, seed: number): Choice<F>[] {
  const random = seeded(seed);
  const names = Object.keys(factors);
  const sizes = names.map((name) => factors[name]!.length);
  const open = new Set<number>();
  for (let a = 0; a < names.length; a++) {
    for (let b = a + 1; b < names.length; b++) {
      for (let i = 0; i < sizes[a]!; i++) for (let j = 0; j < sizes[b]!; j++) open.add(pairOf(a, i, b, j));
    }
  }
  const rows: number[][] = [];
  while (open.size > 0) {
    let best: number[] = [];
    let most = -1;
    for (let candidate = 0; candidate < CANDIDATES; candidate++) {
      const row = candidateRow(sizes, open, random);
      const gain = covered(row, open).length;
      if (gain > most) [best, most] = [row, gain];
    }
    for (const pair of covered(best, open)) open.delete(pair);
    rows.push(best);
  }
  return rows.map(
    (row) => Object.fromEntries(names.map((name, at) => [name, factors[name]![row[at]!]])) as unknown as Choice<F>,
  );
}

/** A row that begins with a pair that is still open; each further factor takes the value that covers most. */
function candidateRow(sizes: readonly number[], open: ReadonlySet<number>, random: () => number): number[] {
  const row: number[] = sizes.map(() => -1);
  const [a, i, b, j] = partsOf([...open][Math.floor(random() * open.size)]!);
  row[a] = i;
  row[b] = j;
  const order = shuffled(
    sizes.map((_, at) => at).filter((at) => at !== a && at !== b),
    random,
  );
  for (const at of order) {
    let most = -1;
    for (const value of shuffled([...Array(sizes[at]!).keys()], random)) {
      let gain = 0;
      for (let other = 0; other < sizes.length; other++) {
        if (row[other]! >= 0 && open.has(pairOf(at, value, other, row[other]!))) gain++;
      }
      if (gain > most) [most, row[at]] = [gain, value];
    }
  }
  return row;
}

function covered(row: readonly number[], open: ReadonlySet<number>): number[] {
  const found: number[] = [];
  for (let a = 0; a < row.length; a++) {
    for (let b = a + 1; b < row.length; b++) {
      const pair = pairOf(a, row[a]!, b, row[b]!);
      if (open.has(pair)) found.push(pair);
    }
  }
  return found;
}

/** Two factors and the values of them as one number; factors and values count to 63 at most. */
function pairOf(a: number, i: number, b: number, j: number): number {
  return a < b ? ((a * 64 + i) * 64 + b) * 64 + j : ((b * 64 + j) * 64 + a) * 64 + i;
}

function partsOf(pair: number): [number, number, number, number] {
  return [pair >> 18, (pair >> 12) & 63, (pair >> 6) & 63, pair & 63];
}

function shuffled<T>(items: T[], random: () => number): T[] {
  for (let at = items.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [items[at], items[other]] = [items[other]!, items[at]!];
  }
  return items;
}
