import { type Issue, warning } from '../model/issue.js';
import { type Fields, isEmpty, normaliseName, sameValue, type Value, valueText } from '../model/value.js';
import { fieldReaders, readRecord } from '../resources/read.js';
import { recordId } from '../resources/read-value.js';
import type { Json } from '../service/port.js';
import { type Reading, showsAllAsSent } from './as-sent.js';
import { isStoredForm, storedAs } from './stored-form.js';

/** What a record holds of what a create asked for. */
export interface Held {
  /** Fields in which it does not hold that; the service may have trimmed or folded text. */
  readonly differing: readonly string[];
  /** One warning for each value that the service stored in another form; what the record does not show is left out. */
  readonly tidied: readonly Issue[];
  /** One warning for each value that it lacks or holds in another form. */
  readonly unkept: readonly Issue[];
}

const ALL: Held = { differing: [], tidied: [], unkept: [] };

/** Holds a record against the values of a create. What has no id is no record, and tells nothing. */
export function heldOfCreate(fields: Fields, record: Json, context: Reading): Held {
  if (recordId(record['id']) === undefined || showsAllAsSent(fields, record, context)) return ALL;
  return heldByReading(fields, record, context);
}

/** The same by reading the whole record. */
export function heldByReading(fields: Fields, record: Json, { spec, lexicon }: Reading): Held {
  const read = readRecord(spec, record, lexicon);
  const lost = new Set(read.losses.map((loss) => loss.field));
  const readers = fieldReaders(spec);
  const differing: string[] = [];
  const tidied: Issue[] = [];
  const gone: Issue[] = [];
  for (const field of Object.keys(fields)) {
    const own = readers.get(field)?.field;
    const unseen = field.startsWith('form.')
      ? spec.form?.read === undefined
      : own !== undefined && own.read === undefined;
    const [wanted, got] = [fields[field], read.fields[field]];
    if (unseen || isStored(wanted, got)) continue;
    if (isStoredForm(wanted, got, own?.type)) {
      tidied.push(storedAs(field, wanted, got));
      continue;
    }
    // Reads show some enums in fewer values than creates take.
    const { type } = own ?? {};
    const narrow = type?.kind === 'enum' && typeof wanted === 'string' && type.read && !type.read.includes(wanted);
    if (lost.has(field) || narrow) continue;
    differing.push(field);
    gone.push(isEmpty(got) ? lacks(field, wanted) : storedAs(field, wanted, got));
  }
  return { differing, tidied, unkept: [...gone, ...tidied] };
}

function lacks(field: string, wanted: Value | undefined): Issue {
  const value = valueText(wanted);
  const text = `The service created the record without ${field}: "${value}" was sent. Look at the record in the service, and enter the value there.`;
  return warning('would_lose_value', text, { field, value });
}

/** Whether a record holds what was written; the service may have trimmed or folded text. */
export function isStored(wanted: Value | undefined, got: Value | undefined): boolean {
  if (typeof wanted === 'string' && typeof got === 'string') return normaliseName(wanted) === normaliseName(got);
  return sameValue(wanted, got);
}
