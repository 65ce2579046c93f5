/** The same function, which keeps what it found of the last texts, at most `maxEntries`: the same ones come again and again. */
export function memoize<Value>(find: (text: string) => Value, maxEntries: number): (text: string) => Value {
  const cache = new Map<string, Value>();
  return (text) => {
    const cached = cache.get(text);
    if (cached !== undefined || cache.has(text)) return cached as Value;
    if (cache.size >= maxEntries) cache.clear();
    const value = find(text);
    cache.set(text, value);
    return value;
  };
}
