/** What a run of comparisons with another reader found. */
export interface Comparison {
  files: number;
  cells: number;
  /** Differences that test/files/differences.md explains, by their names there. */
  readonly explained: Record<string, number>;
  /** Differences that nothing explains. */
  readonly unexplained: string[];
}

export const newComparison = (): Comparison => ({ files: 0, cells: 0, explained: {}, unexplained: [] });

const KEPT = 30;

export function explained(comparison: Comparison, name: string): void {
  comparison.explained[name] = (comparison.explained[name] ?? 0) + 1;
}

export function unexplained(comparison: Comparison, words: string): void {
  if (comparison.unexplained.length < KEPT) comparison.unexplained.push(words.slice(0, 600));
}
