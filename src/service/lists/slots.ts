/**
 * What is known of each record: its key, in which passes it was shown, where its newest form stands and a hash of it.
 * Typed arrays that grow by pieces and a hash table of slot numbers: 31 to 37 bytes a record (39 to 45 where positions
 * are kept), and never a copy of everything at once.
 *
 * A key is the record's id, or a negative number for a record without one.
 */
export interface Slots {
  readonly size: number;
  /** Slot of a key; -1 where it is not there. */
  find(key: number): number;
  /** Slot of a key, made where it is missing. */
  add(key: number): number;
  key(slot: number): number;
  /** Hash of the newest form; undefined where none is stored. */
  hash(slot: number): number | undefined;
  /** Where the newest form stands in the log: a number from 1. */
  place(slot: number): number;
  store(slot: number, place: number, hash: number): void;
  /** Whether pass 1 to 8 has shown it. */
  shownIn(slot: number, pass: number): boolean;
  /** Notes that a pass shows it; false where this pass has shown it already. */
  show(slot: number, pass: number): boolean;
  /** Its position in the list as it was last shown, in any growing measure; 0 where positions are not kept. */
  position(slot: number): number;
  setPosition(slot: number, position: number): void;
}

const PIECE_BITS = 13;
const PIECE = 1 << PIECE_BITS;
const MASK = PIECE - 1;
/** The table of slot numbers is doubled when it is fuller than this. */
const FULLEST = 0.7;

interface Piece {
  readonly keys: Float64Array;
  /** 0 where none is stored. */
  readonly places: Float64Array;
  readonly hashes: Float64Array;
  readonly passes: Uint8Array;
  readonly positions: Float64Array | undefined;
}

export function createSlots(keepPositions: boolean): Slots {
  const pieces: Piece[] = [];
  let size = 0;
  /** Slot + 1; 0 is free. */
  let table = new Uint32Array(PIECE);

  const piece = (slot: number): Piece => pieces[slot >>> PIECE_BITS] as Piece;
  const keyAt = (slot: number): number => piece(slot).keys[slot & MASK] as number;

  /** The place in the table where the key's slot stands or would stand. */
  function probe(key: number): number {
    const mask = table.length - 1;
    for (let at = scatter(key) & mask; ; at = (at + 1) & mask) {
      const entry = table[at] as number;
      if (entry === 0 || keyAt(entry - 1) === key) return at;
    }
  }

  function widen(): void {
    const old = table;
    table = new Uint32Array(old.length * 2);
    for (const entry of old) if (entry !== 0) table[probe(keyAt(entry - 1))] = entry;
  }

  return {
    get size() {
      return size;
    },
    find: (key) => (table[probe(key)] as number) - 1,
    add(key) {
      const known = table[probe(key)] as number;
      if (known !== 0) return known - 1;
      if (size + 1 > table.length * FULLEST) widen();
      if (size === pieces.length * PIECE) pieces.push(newPiece(keepPositions));
      const slot = size++;
      piece(slot).keys[slot & MASK] = key;
      table[probe(key)] = slot + 1;
      return slot;
    },
    key: keyAt,
    hash(slot) {
      const { places, hashes } = piece(slot);
      return places[slot & MASK] === 0 ? undefined : hashes[slot & MASK];
    },
    place: (slot) => piece(slot).places[slot & MASK] as number,
    store(slot, place, hash) {
      const { places, hashes } = piece(slot);
      places[slot & MASK] = place;
      hashes[slot & MASK] = hash;
    },
    shownIn: (slot, pass) => (((piece(slot).passes[slot & MASK] as number) >>> (pass - 1)) & 1) === 1,
    show(slot, pass) {
      const { passes } = piece(slot);
      const before = passes[slot & MASK] as number;
      const after = before | (1 << (pass - 1));
      passes[slot & MASK] = after;
      return after !== before;
    },
    position: (slot) => piece(slot).positions?.[slot & MASK] ?? 0,
    setPosition(slot, position) {
      const { positions } = piece(slot);
      if (positions) positions[slot & MASK] = position;
    },
  };
}

function newPiece(keepPositions: boolean): Piece {
  return {
    keys: new Float64Array(PIECE),
    places: new Float64Array(PIECE),
    hashes: new Float64Array(PIECE),
    passes: new Uint8Array(PIECE),
    positions: keepPositions ? new Float64Array(PIECE) : undefined,
  };
}

/** Spreads keys that are close together, as ids are. */
function scatter(key: number): number {
  const high = Math.imul(Math.floor(key / 0x1_0000_0000) | 0, 0x85ebca6b);
  const mixed = Math.imul(((key % 0x1_0000_0000) | 0) ^ high, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/**
 * 53 bits of a text, as a safe integer: enough to tell whether a record reads as it did before. Two texts of a record
 * share one with a chance of 1 in 9 × 10^15. Not for anything that somebody may want to forge.
 */
export function textHash(text: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b & 0x1fffff) * 0x1_0000_0000 + (a >>> 0);
}
