import type { FaultGroup } from '../../api/schema.js';
import { faultWord } from './words.js';

/** Kinds of fault, each of one column, as chips have them. */

export const faultKindKey = (code: string, column: string | null | undefined) => JSON.stringify([code, column || null]);

/** Nulls for a chip of something else. */
export function faultKindOf(key: string): { code: string | null; column: string | null } {
  const [code, column] = key.startsWith('[') ? JSON.parse(key) : [null, null];
  return { code, column };
}

/** Those with the most rows first. */
export function faultKinds(faults: readonly FaultGroup[]) {
  const counts = new Map<string, number>();
  for (const { code, column, rows } of faults) {
    const key = faultKindKey(code, column);
    counts.set(key, (counts.get(key) ?? 0) + rows);
  }
  const kinds = [...counts].sort(([, a], [, b]) => b - a);
  return kinds.map(([value, count]) => {
    const { code, column } = faultKindOf(value);
    const word = (
      <span>
        {faultWord(code ?? '')}
        {column !== null && ': '}
        <bdi>{column}</bdi>
      </span>
    );
    return { value, count, word };
  });
}
