import { Decimal } from '../model/decimal.js';
import { type Fields, isRef, sameValue, type Value } from '../model/value.js';
import { isCalendarDate } from '../resources/calendar.js';
import { isObject, valueAtSteps } from '../resources/path.js';
import { fieldReaders } from '../resources/read.js';
import { readForms, readTemplate } from '../resources/read-custom.js';
import { readValue, recordId } from '../resources/read-value.js';
import type { FieldType, Lexicon, ResourceSpec } from '../resources/spec.js';
import type { Json } from '../service/port.js';

/** What tells how records are to be read. */
export interface Reading {
  readonly spec: ResourceSpec;
  readonly lexicon: Lexicon;
}

/** Two decimals of at most so many characters are two doubles, too. */
const EXACT_CHARACTERS = 15;

/**
 * Whether a record shows every value that was sent as it was sent, so that nothing is to be said of it. Nearly every answer
 * to a create does; to read the whole record, as `created-record.ts` must where this says no, costs several times as much.
 */
export function showsAllAsSent(fields: Fields, record: Json, { spec, lexicon }: Reading): boolean {
  if (recordId(record['id']) === undefined) return false;
  const readers = fieldReaders(spec);
  let custom: Fields | undefined;
  for (const name of Object.keys(fields)) {
    const sent = fields[name];
    if (sent === undefined) return false;
    const reader = readers.get(name);
    if (!reader) {
      if (name.startsWith('form.') && spec.form?.read === undefined) continue;
      custom ??= customFields(record, spec, lexicon);
      if (!sameValue(sent, custom[name])) return false;
      continue;
    }
    const steps = reader.paths[0];
    // What reads do not show is not missed.
    if (steps && !isAsSent(reader.field.type, sent, valueAtSteps(record, steps), lexicon)) return false;
  }
  return true;
}

function isAsSent(type: FieldType, sent: Value, raw: unknown, lexicon: Lexicon): boolean {
  switch (type.kind) {
    case 'text':
    case 'email':
      return raw === sent && raw !== '';
    case 'date':
      return raw === sent && typeof raw === 'string' && isCalendarDate(raw);
    case 'enum':
      return raw === sent && typeof raw === 'string' && type.values.includes(raw);
    case 'integer':
      return raw === sent && Number.isSafeInteger(raw);
    case 'boolean':
      return raw === sent && typeof raw === 'boolean';
    case 'decimal':
      if (!(sent instanceof Decimal)) return false;
      if (raw instanceof Decimal) return raw.equals(sent);
      return sent.text.length <= EXACT_CHARACTERS && raw === Number(sent.text);
    case 'reference':
      return isRef(sent) && isObject(raw) && raw['id'] === sent.id && recordId(sent.id) !== undefined;
    default: {
      const reading = readValue(type, raw, lexicon);
      return 'value' in reading && sameValue(sent, reading.value);
    }
  }
}

function customFields(record: Json, spec: ResourceSpec, lexicon: Lexicon): Fields {
  const sink = { fields: {}, losses: [] };
  readTemplate(record[spec.template.read], lexicon, sink);
  if (spec.form?.read) readForms(record[spec.form.read], lexicon, sink);
  return sink.fields;
}
