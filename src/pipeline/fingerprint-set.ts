/** Fingerprints: whole numbers from 0, spread over all of them. 12 to 23 bytes each. */
export interface FingerprintSet {
  add(fingerprint: number): void;
  /** False for NaN. */
  has(fingerprint: number): boolean;
}

const FIRST_SIZE = 1 << 10;
const FULLEST = 0.7;
const FREE = -1;

export function fingerprintSet(): FingerprintSet {
  let table = new Float64Array(FIRST_SIZE).fill(FREE);
  let size = 0;

  /** Where it stands, or would stand. */
  function placeOf(fingerprint: number): number {
    const mask = table.length - 1;
    let at = fingerprint & mask;
    while (table[at] !== FREE && table[at] !== fingerprint) at = (at + 1) & mask;
    return at;
  }

  function grow(): void {
    const before = table;
    table = new Float64Array(before.length * 2).fill(FREE);
    for (const one of before) if (one !== FREE) table[placeOf(one)] = one;
  }

  return {
    add(fingerprint) {
      const at = placeOf(fingerprint);
      if (table[at] === fingerprint) return;
      table[at] = fingerprint;
      if (++size > table.length * FULLEST) grow();
    },
    has: (fingerprint) => fingerprint >= 0 && table[placeOf(fingerprint)] === fingerprint,
  };
}
