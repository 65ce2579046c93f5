import { numbersByPlace } from '../../compact/by-place.js';
import { createHashIndex, hashOfNumber } from '../../compact/hash-index.js';

/** States of the bits of eight passes. */
const PASSES = 0x100;

/**
 * What is known of each record: its key, in which passes it was shown, where its newest form stands; some
 * 37 bytes a record. A key is the record's id, or a negative number for a record without one.
 */
export class Slots {
  readonly #index = createHashIndex();
  readonly #keys = numbersByPlace();
  /** A bit for each of eight passes, and above them the place. */
  readonly #states = numbersByPlace();

  get size(): number {
    return this.#index.size;
  }

  /** Slot of a key; -1 where it is not there. */
  find(key: number): number {
    return this.#index.find(hashOfNumber(key), (slot) => this.#keys.get(slot) === key);
  }

  /** Slot of a key, made where it is missing. */
  add(key: number): number {
    const known = this.find(key);
    if (known >= 0) return known;
    const slot = this.#index.add(hashOfNumber(key));
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
  shownIn(slot: number, pass: number): boolean {
    return ((this.#shown(slot) >>> (pass - 1)) & 1) === 1;
  }

  /** Notes that a pass shows it; false where this pass has shown it already. */
  show(slot: number, pass: number): boolean {
    if (this.shownIn(slot, pass)) return false;
    this.#states.set(slot, (this.#states.get(slot) ?? 0) + (1 << (pass - 1)));
    return true;
  }

  #shown(slot: number): number {
    return (this.#states.get(slot) ?? 0) % PASSES;
  }
}
