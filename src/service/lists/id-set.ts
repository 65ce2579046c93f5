const BITS = 1024;

/** A set of record ids, small where ids are dense: about one bit each. */
export class IdSet {
  readonly #blocks = new Map<number, Uint32Array>();
  size = 0;

  /** False where it was in the set already. */
  add(id: number): boolean {
    const at = Math.floor(id / BITS);
    const block = this.#blocks.get(at) ?? new Uint32Array(BITS / 32);
    this.#blocks.set(at, block);
    const bit = id % BITS;
    const word = block[bit >>> 5] ?? 0;
    if ((word >>> (bit & 31)) & 1) return false;
    block[bit >>> 5] = word | (1 << (bit & 31));
    this.size++;
    return true;
  }

  has(id: number): boolean {
    const bit = id % BITS;
    const word = this.#blocks.get(Math.floor(id / BITS))?.[bit >>> 5] ?? 0;
    return ((word >>> (bit & 31)) & 1) === 1;
  }
}
