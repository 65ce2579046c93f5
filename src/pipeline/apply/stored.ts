import { Decimal } from '../../model/decimal.js';
import { type Issue, warning } from '../../model/issue.js';
import { type Fields, isEmpty, normaliseName, sameValue, type Value, valueText } from '../../model/value.js';
import { fieldReaders, readFields, readRecord } from '../../resources/read.js';
import { recordId } from '../../resources/read-value.js';
import type { FieldType, Lexicon, ResourceSpec } from '../../resources/spec.js';
import type { Json } from '../../service/port.js';
import { changesOf, isUnseen, type Merge, type MergeOptions } from '../plan/merge.js';

/**
 * Whether a service that tidies values up could have made `got` of `sent`: text trimmed, cut, in another case or another
 * Unicode form; a decimal rounded by less than a hundredth. Without a type the values tell by themselves.
 */
export function isStoredForm(sent: Value | undefined, got: Value | undefined, type: FieldType | undefined): boolean {
  const kind = type?.kind;
  if (typeof sent === 'string') {
    if (kind !== undefined && kind !== 'text' && kind !== 'email') return false;
    const [whole, part] = [folded(sent), typeof got === 'string' ? folded(got) : ''];
    return part === '' ? whole === '' : whole.startsWith(part);
  }
  if (kind !== undefined && kind !== 'decimal') return false;
  return sent instanceof Decimal && (got instanceof Decimal || typeof got === 'number') && isNear(sent, got);
}

/** Whether a text came back as its beginning alone: more is gone than blanks, case or a Unicode form. */
export function isCut(sent: Value | undefined, got: Value | undefined): boolean {
  if (typeof sent !== 'string' || typeof got !== 'string') return false;
  const [whole, part] = [folded(sent), folded(got)];
  return part !== '' && part.length < whole.length && whole.startsWith(part);
}

/** Decomposed, so that a cut between a letter and its accent is still a beginning. */
function folded(text: string): string {
  return normaliseName(text).normalize('NFKD').toLowerCase().toUpperCase();
}

const HUNDREDTH = Decimal.of('0.01');

function isNear(a: Decimal, b: Decimal | number): boolean {
  const difference = a.plus(negated(Decimal.of(String(b))));
  return (difference.negative ? negated(difference) : difference).compare(HUNDREDTH) < 0;
}

function negated(value: Decimal): Decimal {
  return Decimal.of(value.negative ? value.text.slice(1) : `-${value.text}`);
}

export const AGAIN = ' The row is written again at every import until the file has the form that the service keeps.';

/** The warning of a value that the service tidied up. `changed`: the row sets it. */
export function storedAs(field: string, sent: Value | undefined, got: Value | undefined, changed = true): Issue {
  const text = `The service stored ${field} as "${valueText(got)}" where "${valueText(sent)}" was sent.`;
  return warning('value_normalised', changed ? text + AGAIN : text, { field, value: valueText(sent) });
}

/** What tells how records are to be read. */
interface Reading {
  readonly spec: ResourceSpec;
  readonly lexicon: Lexicon;
}

/** What a record holds of what a create asked for. */
export interface Held {
  /** Fields in which it does not hold that; the service may have trimmed or folded text. */
  readonly differing: readonly string[];
  /** One warning for each value that the service stored in another form; what the record does not show is left out. */
  readonly tidied: readonly Issue[];
  /** One warning for each value that it lacks or holds in another form. */
  readonly unkept: readonly Issue[];
}

/** Holds a record against the values of a create. What has no id is no record, and tells nothing. */
export function heldOfCreate(fields: Fields, record: Json, { spec, lexicon }: Reading): Held {
  if (recordId(record['id']) === undefined) return { differing: [], tidied: [], unkept: [] };
  const read = readFields(spec, Object.keys(fields), record, lexicon);
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
  if (wanted === got) return true;
  if (typeof wanted === 'string' && typeof got === 'string') return normaliseName(wanted) === normaliseName(got);
  return sameValue(wanted, got);
}

/** What a record shows of an update whose effect was open. */
type Effect =
  /** It took effect; one warning for each value that the service tidied up. */
  | { readonly kind: 'taken'; readonly tidied: readonly Issue[] }
  /** Fields that hold neither the old value nor the new one. */
  | { readonly kind: 'moved'; readonly fields: readonly string[] }
  | { readonly kind: 'none' };

/** Holds the record as it is now against what an update was to make of it. An old value that is also a form of the new one tells nothing. */
export function effectOf({ target, diff }: Merge, before: Json | undefined, record: Json, plan: MergeOptions): Effect {
  const { spec, lexicon, specOf } = plan;
  const old = before ? readRecord(spec, before, lexicon).fields : {};
  const now = readRecord(spec, record, lexicon).fields;
  const seen = changesOf(diff).flatMap(({ field }) => (isUnseen(field, plan) ? [] : field));
  const others = seen.filter((field) => !isStored(target[field], now[field]));
  const moved = others.filter((field) => !sameValue(now[field], old[field]));
  const tidy = moved.filter((field) => isStoredForm(target[field], now[field], specOf(field)?.type));
  if (seen.length > 0 && tidy.length === others.length)
    return { kind: 'taken', tidied: tidy.map((field) => storedAs(field, target[field], now[field])) };
  if (moved.length > tidy.length) return { kind: 'moved', fields: moved.filter((field) => !tidy.includes(field)) };
  return { kind: 'none' };
}
