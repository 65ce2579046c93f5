import { seeded } from '../support/seeded.js';

/** Numbers that look random and are the same for the same seed (mulberry32). */
export interface Random {
  /** 0 … below - 1. */
  int(below: number): number;
  /** from … to, both included. */
  between(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
}

export function randomOf(seed: number): Random {
  const next = seeded(seed ^ 0x9e3779b9);
  for (let i = 0; i < 4; i++) next();
  const random: Random = {
    int: (below) => Math.floor(next() * below),
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    pick: (list) => list[Math.floor(next() * list.length)]!,
    chance: (probability) => next() < probability,
  };
  return random;
}
