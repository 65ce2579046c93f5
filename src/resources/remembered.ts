/** A function that works out once for each object what follows from it: descriptions never change. */
export function remembered<K extends object, V>(workOut: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, V>();
  return (of) => {
    let found = known.get(of);
    if (found === undefined) {
      found = workOut(of);
      known.set(of, found);
    }
    return found;
  };
}
