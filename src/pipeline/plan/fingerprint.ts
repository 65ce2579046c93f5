import { Decimal } from '../../model/decimal.js';
import { isEmpty, isRef, type Value } from '../../model/value.js';
import { isObject, valueAtSteps } from '../../resources/path.js';
import { type FieldReader, fieldReaders } from '../../resources/read.js';
import { decimalSignOf, readValue, recordId } from '../../resources/read-value.js';
import type { FieldType, Lexicon, ResourceSpec } from '../../resources/spec.js';
import type { Json } from '../../service/port.js';
import { isNarrowEnum } from './merge.js';

/**
 * What the rows of a file set and what records hold in the same fields, each as one number: where both are equal, putting
 * the row onto the record changes nothing. So most rows of a nightly file are decided without a look at their values.
 *
 * Equal numbers of a row and a record that differ have a chance of 1 in 9 × 10^15. Of a row that leaves a field alone which
 * its record holds, or of a value that is spelt another way, the numbers differ although nothing changes: that is found out
 * by looking.
 */
interface Fingerprints {
  ofRow(set: Readonly<Record<string, Value>>): number;
  /**
   * NaN where the record shows a value that means something only with what the run knows besides (the order of day and month,
   * names of records, what was written before), or nothing at all.
   */
  ofRecord(record: Json): number;
}

/** `fields`: all that a row may set. Undefined where reads do not show each of them in a place of its own. */
export function fingerprints(spec: ResourceSpec, fields: readonly string[]): Fingerprints | undefined {
  const readers = fieldReaders(spec);
  const shown = fields.map((field) => readers.get(field));
  if (!shown.every((reader): reader is FieldReader => reader?.field.read !== undefined)) return undefined;
  const columns = shown.map((reader) => ({ ...reader, narrow: isNarrowEnum(reader.field) }));
  const mark = new Mark();
  return {
    ofRow(set) {
      mark.begin();
      for (let at = 0; at < fields.length; at++) {
        const value = set[fields[at]!];
        if (value !== undefined && !isEmpty(value)) mark.value(at, value);
      }
      return mark.end();
    },
    ofRecord(record) {
      mark.begin();
      for (let at = 0; at < columns.length; at++) {
        const column = columns[at]!;
        const value = certainValue(column, record);
        // Such a value may stand for another one, which this program has written and reads do not show.
        if (column.narrow && (isEmpty(value) || value === 'none')) return Number.NaN;
        if (value === undefined) return Number.NaN;
        if (!isEmpty(value)) mark.value(at, value);
      }
      return mark.end();
    },
  };
}

/** A run that knows nothing yet. */
const NOTHING_KNOWN: Lexicon = {
  countryCode: () => undefined,
  template: () => undefined,
  form: () => undefined,
  idOf: () => undefined,
  nameOf: () => undefined,
};

/** The value that a record holds, null for none; undefined where it means something only with what the run knows. */
function certainValue({ field: { type }, paths }: FieldReader, record: Json): Value | undefined {
  for (const steps of paths) {
    const raw = valueAtSteps(record, steps);
    if (raw === undefined || raw === null || raw === '') continue;
    if (type.kind === 'reference') {
      const id = isObject(raw) ? recordId(raw['id']) : undefined;
      return id === undefined ? undefined : { id };
    }
    if (typeof raw === 'string' && isAmount(type) && decimalSignOf(raw) === 'either') return undefined;
    const reading = readValue(type, raw, NOTHING_KNOWN);
    if ('why' in reading) return undefined;
    if (!isEmpty(reading.value)) return reading.value;
  }
  return null;
}

const isAmount = ({ kind }: FieldType): boolean => kind === 'decimal' || kind === 'integer';

/** Kinds of values that are told apart, beyond all characters. */
const [TEXT, NUMBER, FLAG, AMOUNT, REFERENCE, LIST] = [0x1_0000, 0x2_0000, 0x3_0000, 0x4_0000, 0x5_0000, 0x6_0000];
/** Numbers of fields, beyond all kinds; no resource has as many as would not fit. */
const FIELD = 0x8_0000;

/** 53 bits of the values that are added, their fields and kinds among them. */
class Mark {
  private a = 0;
  private b = 0;

  begin(): void {
    this.a = 0xdeadbeef | 0;
    this.b = 0x41c6ce57;
  }

  value(field: number, value: Value): void {
    this.add(field * FIELD);
    if (typeof value === 'string') this.text(TEXT, value);
    else if (value instanceof Decimal) this.text(AMOUNT, value.text);
    else if (typeof value === 'number') this.text(NUMBER, String(value));
    else if (typeof value === 'boolean') this.add(FLAG + Number(value));
    else if (isRef(value)) this.text(REFERENCE, String(value.id));
    else for (const item of value as readonly string[]) this.text(LIST, item);
  }

  end(): number {
    let { a, b } = this;
    a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
    b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
    return (b & 0x1fffff) * 0x1_0000_0000 + (a >>> 0);
  }

  private add(code: number): void {
    this.a = Math.imul(this.a ^ code, 0x9e3779b1);
    this.b = Math.imul(turned(this.b) ^ code, 0x5f356495);
  }

  private text(kind: number, text: string): void {
    let a = Math.imul(this.a ^ kind, 0x9e3779b1);
    let b = Math.imul(turned(this.b) ^ kind, 0x5f356495);
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      a = Math.imul(a ^ code, 0x9e3779b1);
      b = Math.imul(turned(b) ^ code, 0x5f356495);
    }
    this.a = a;
    this.b = b;
  }
}

/** Multiplied bits act on higher ones alone: so they come down again. */
const turned = (bits: number): number => (bits << 7) | (bits >>> 25);

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
