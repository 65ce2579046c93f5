import type { ReactNode } from 'react';
import type { FaultGroup } from '../../api/schema.js';
import { faultWord } from './words.js';

export const faultKindKey = (code: string, column: string | undefined) => JSON.stringify([code, column]);

/** One kind of fault of one column, to filter by. */
interface FaultKind {
  readonly code: string;
  readonly column: string | undefined;
  readonly count?: number;
  readonly value: string;
  readonly word: ReactNode;
}

/** Those with the most rows first. */
export function faultKinds(faults: readonly FaultGroup[]): FaultKind[] {
  const counts = new Map<string, { code: string; column: string | undefined; count: number }>();
  for (const { code, column: of, rows } of faults) {
    const column = of ?? undefined;
    const key = faultKindKey(code, column);
    counts.set(key, { code, column, count: (counts.get(key)?.count ?? 0) + rows });
  }
  const kinds = [...counts].sort(([, a], [, b]) => b.count - a.count);
  return kinds.map(([value, kind]) => ({
    ...kind,
    value,
    word: (
      <span>
        {faultWord(kind.code)}
        {kind.column !== undefined && ': '}
        <bdi>{kind.column}</bdi>
      </span>
    ),
  }));
}
