/** `, did you mean "filters"?`, or '' where none of the names is near. */
export function didYouMean(given: string, names: readonly string[]): string {
  const wanted = given.toLowerCase();
  const ranked = names
    .map((name) => ({ name, distance: distance(wanted, name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  if (!best || best.distance > Math.max(1, Math.floor(best.name.length / 3))) return '';
  return `, did you mean "${best.name}"?`;
}

/** Letters that are to be added, taken away or exchanged (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a[i] === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
