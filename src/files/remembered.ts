/** The same function, which keeps what it found of the last texts, at most `most`: the same ones come again and again. */
export function remembered<Value>(find: (text: string) => Value, most: number): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined || known.has(text)) return before as Value;
    if (known.size >= most) known.clear();
    const value = find(text);
    known.set(text, value);
    return value;
  };
}
