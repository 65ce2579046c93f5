/** A set of record ids, small where ids are dense: about one bit each. */
export interface IdSet {
  /** False where it was in the set already. */
  add(id: number): boolean;
  has(id: number): boolean;
  readonly size: number;
}

const BITS = 1024;

export function idSet(): IdSet {
  const blocks = new Map<number, Uint32Array>();
  let size = 0;
  return {
    add(id) {
      const at = Math.floor(id / BITS);
      let block = blocks.get(at);
      if (!block) {
        block = new Uint32Array(BITS / 32);
        blocks.set(at, block);
      }
      const bit = id % BITS;
      const word = block[bit >>> 5] ?? 0;
      if ((word >>> (bit & 31)) & 1) return false;
      block[bit >>> 5] = word | (1 << (bit & 31));
      size++;
      return true;
    },
    has(id) {
      const bit = id % BITS;
      const word = blocks.get(Math.floor(id / BITS))?.[bit >>> 5] ?? 0;
      return ((word >>> (bit & 31)) & 1) === 1;
    },
    get size() {
      return size;
    },
  };
}
