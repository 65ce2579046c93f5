import { textHash } from '../../compact/hash-index.js';
import { Decimal } from '../../model/decimal.js';
import { isEmpty, isRef, type Value } from '../../model/value.js';
import { isObject, valueAt } from '../../resources/path.js';
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
 *
 * `fields`: all that a row may set. Undefined where reads do not show each of them in a place of its own.
 */
export function fingerprints(spec: ResourceSpec, fields: readonly string[]) {
  const readers = fieldReaders(spec);
  const shown = fields.map((field) => readers.get(field));
  if (!shown.every((reader): reader is FieldReader => reader?.field.read !== undefined)) return undefined;
  const columns = shown.map((reader) => ({ ...reader, narrow: isNarrowEnum(reader.field) }));
  return {
    ofRow(set: Readonly<Record<string, Value>>): number {
      let text = '';
      for (let at = 0; at < fields.length; at++) {
        const value = set[fields[at]!];
        if (value !== undefined && !isEmpty(value)) text += entryOf(at, value);
      }
      return textHash(text);
    },
    /**
     * NaN where the record shows a value that means something only with what the run knows besides (the order of day and month,
     * names of records, what was written before), or nothing at all.
     */
    ofRecord(record: Json): number {
      let text = '';
      for (let at = 0; at < columns.length; at++) {
        const column = columns[at]!;
        const value = certainValue(column, record);
        // Such a value may stand for another one, which this program has written and reads do not show.
        if (column.narrow && (isEmpty(value) || value === 'none')) return Number.NaN;
        if (value === undefined) return Number.NaN;
        if (!isEmpty(value)) text += entryOf(at, value);
      }
      return textHash(text);
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
    const raw = valueAt(record, steps);
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

/**
 * What a value adds to the text that stands for all of them: the number of its field, its kind, and what it holds. The length
 * of a text stands before it, so that no text looks like the end of one value and the beginning of another.
 */
function entryOf(field: number, value: Value): string {
  if (typeof value === 'string') return `${field}t${value.length}:${value}`;
  if (value instanceof Decimal) return `${field}d${value.text};`;
  if (isRef(value)) return `${field}r${value.id};`;
  return `${field}${JSON.stringify(value)};`;
}
