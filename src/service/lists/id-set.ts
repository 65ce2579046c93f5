import { createNumberMap } from '../../compact/dense-map.js';
import { createHashIndex, hashNumber } from '../../compact/hash-index.js';

/** States of the bits of eight passes. */
const PASSES = 0x100;

/**
 * What is known of each record: its key, in which passes it was shown, where its newest form stands; some
 * 37 bytes a record. A key is the record's id, or a negative number for a record without one.
 */
export class Slots {
  readonly #index = createHashIndex();
  readonly #keys = createNumberMap();
  /** A bit for each of eight passes, and above them the place. */
  readonly #states = createNumberMap();

  get size(): number {
    return this.#index.size;
  }

  /** Slot of a key; -1 where it is not there. */
  find(key: number): number {
    return this.#index.find(hashNumber(key), (slot) => this.#keys.get(slot) === key);
  }

  /** Slot of a key, made where it is missing. */
  add(key: number): number {
    const existing = this.find(key);
    if (existing >= 0) return existing;
    const slot = this.#index.add(hashNumber(key));
    this.#keys.set(slot, key);
    return slot;
  }

  key(slot: number): number {
    return this.#keys.get(slot) as number;
  }

  /** Where the newest form stands in the log; 0 where none is stored. */
  place(slot: number): number {
    return Math.floor((this.#states.get(slot) ?? 0) / PASSES);
  }

  store(slot: number, place: number): void {
    this.#states.set(slot, place * PASSES + this.#shown(slot));
  }

  /** Whether pass 1 to 8 has shown it. */
  isSeenIn(slot: number, pass: number): boolean {
    return ((this.#shown(slot) >>> (pass - 1)) & 1) === 1;
  }

  /** Notes that a pass shows it; false where this pass has shown it already. */
  markSeen(slot: number, pass: number): boolean {
    if (this.isSeenIn(slot, pass)) return false;
    this.#states.set(slot, (this.#states.get(slot) ?? 0) + (1 << (pass - 1)));
    return true;
  }

  #shown(slot: number): number {
    return (this.#states.get(slot) ?? 0) % PASSES;
  }
}

const BITS = 1024;

/** A set of record ids, small where ids are dense: about one bit each. */
export class IdSet {
  readonly #blocks = new Map<number, Uint32Array>();

  /** False where it was in the set already. */
  add(id: number): boolean {
    const at = Math.floor(id / BITS);
    const block = this.#blocks.get(at) ?? new Uint32Array(BITS / 32);
    this.#blocks.set(at, block);
    const bit = id % BITS;
    const word = block[bit >>> 5] ?? 0;
    if ((word >>> (bit & 31)) & 1) return false;
    block[bit >>> 5] = word | (1 << (bit & 31));
    return true;
  }

  has(id: number): boolean {
    const bit = id % BITS;
    const word = this.#blocks.get(Math.floor(id / BITS))?.[bit >>> 5] ?? 0;
    return ((word >>> (bit & 31)) & 1) === 1;
  }
}
