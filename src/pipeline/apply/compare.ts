import { Decimal } from '../../model/decimal.js';
import { type Issue, warning } from '../../model/issue.js';
import { type Fields, isEmpty, isRef, normaliseName, sameValue, type Value, valueText } from '../../model/value.js';
import { fieldReaders, readFields, readRecord } from '../../resources/read.js';
import { recordId } from '../../resources/read-value.js';
import type { FieldType } from '../../resources/spec.js';
import type { Json } from '../../service/port.js';
import { partText } from '../match/key.js';
import { changesOf, isTold, type Merge, type MergeOptions } from '../plan/merge.js';

/**
 * Whether a service that tidies values up could have made `got` of `sent`: text trimmed, cut, in another case or another
 * Unicode form; a decimal rounded by less than a hundredth. Without a type the values tell by themselves.
 */
export function isNormalisedForm(
  sent: Value | undefined,
  got: Value | undefined,
  type: FieldType | undefined,
): boolean {
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
export function isTruncated(sent: Value | undefined, got: Value | undefined): boolean {
  if (typeof sent !== 'string' || typeof got !== 'string') return false;
  const [whole, part] = [folded(sent), folded(got)];
  return part !== '' && part.length < whole.length && whole.startsWith(part);
}

/** Decomposed, so that a cut between a letter and its accent is still a beginning. */
function folded(text: string): string {
  return normaliseName(text).normalize('NFKD').toLowerCase().toUpperCase();
}

/** Whether an amount came back with fewer decimals: of what the row sets that is a form of it, of what it leaves alone a loss. */
export function isRounded(sent: Value | undefined, got: Value | undefined): boolean {
  if (!(sent instanceof Decimal) || !(got instanceof Decimal || typeof got === 'number')) return false;
  const places = decimalsOf(got);
  const unit = places === 0 ? '1' : `0.${'1'.padStart(places, '0')}`;
  return places < decimalsOf(sent) && isNear(sent, got, Decimal.of(unit));
}

const decimalsOf = (amount: Decimal | number): number => String(amount).split('.')[1]?.length ?? 0;

const HUNDREDTH = Decimal.of('0.01');

function isNear(a: Decimal, b: Decimal | number, within = HUNDREDTH): boolean {
  const difference = a.plus(negated(Decimal.of(String(b))));
  return (difference.negative ? negated(difference) : difference).compare(within) < 0;
}

function negated(value: Decimal): Decimal {
  return Decimal.of(value.negative ? value.text.slice(1) : `-${value.text}`);
}

export const REWRITTEN_NOTE =
  ' The row is written again at every import until the file has the form that the service keeps.';

/** The warning of a value that the service tidied up. `changed`: the row sets it. */
export function normalisedWarning(
  field: string,
  sent: Value | undefined,
  got: Value | undefined,
  changed = true,
): Issue {
  const text = `The service stored ${field} as "${valueText(got)}" where "${valueText(sent)}" was sent.`;
  return warning('value_normalised', changed ? text + REWRITTEN_NOTE : text, { field, value: valueText(sent) });
}

/** By the value that was sent the record is not found again. */
function keyWarning(field: string, sent: Value | undefined, got: Value | undefined): Issue {
  const text = `The service stored ${field}, by which rows are matched, as "${valueText(got)}" where "${valueText(sent)}" was sent: the next import does not find the record by it. Write "${valueText(got)}" in the file, and wherever the file comes from.`;
  return warning('key_normalised', text, { field, value: valueText(sent) });
}

/** Holds a record against the values of a create. What has no id is no record, and tells nothing. */
export function compareWithStored(
  fields: Fields,
  record: Json,
  { spec, lexicon, job }: Pick<MergeOptions, 'spec' | 'lexicon' | 'job'>,
) {
  if (recordId(record['id']) === undefined) return { differing: [], normalised: [], unstored: [] };
  const read = readFields(spec, Object.keys(fields), record, lexicon);
  const lost = new Set(read.losses.map((loss) => loss.field));
  const readers = fieldReaders(spec);
  const differing: string[] = [];
  const normalised: Issue[] = [];
  const missing: Issue[] = [];
  for (const field of Object.keys(fields)) {
    const own = readers.get(field)?.field;
    const unseen = field.startsWith('form.')
      ? spec.form?.read === undefined
      : own !== undefined && own.read === undefined;
    const [wanted, got] = [fields[field], read.fields[field]];
    if (unseen) continue;
    // Customers are matched by what was sent.
    const isKey = spec.readable && job?.match.key.includes(field);
    if (isKey && !isEmpty(got) && partText(got) !== partText(wanted)) {
      normalised.push(keyWarning(field, wanted, got));
      continue;
    }
    if (equalsStored(wanted, got)) continue;
    if (isNormalisedForm(wanted, got, own?.type)) {
      normalised.push(normalisedWarning(field, wanted, got));
      continue;
    }
    // Reads show some enums in fewer values than creates take.
    const { type } = own ?? {};
    const narrow = type?.kind === 'enum' && typeof wanted === 'string' && type.read && !type.read.includes(wanted);
    if (lost.has(field) || narrow) continue;
    differing.push(field);
    missing.push(isEmpty(got) ? missingWarning(field, wanted) : normalisedWarning(field, wanted, got));
  }
  return {
    /** Fields in which the record does not hold what was asked for; the service may have trimmed or folded text, and made a key its own. */
    differing,
    /** One warning for each value that the service stored in another form; what the record does not show is left out. */
    normalised,
    /** One warning for each value that it lacks or holds in another form. */
    unstored: [...missing, ...normalised],
  };
}

function missingWarning(field: string, wanted: Value | undefined): Issue {
  const value = valueText(wanted);
  const text = `The service created the record without ${field}: "${value}" was sent. Look at the record in the service, and enter the value there.`;
  return warning('would_lose_value', text, { field, value });
}

/**
 * Learns how the service spells countries from a record that was just written with these values: one that is no name or code
 * could otherwise neither be compared nor carried over. What it showed `before` may be left from then.
 */
export function learnCountries(
  sent: Fields,
  record: Json,
  { spec, lexicon }: Pick<MergeOptions, 'spec' | 'lexicon'>,
  before: ReadonlyMap<string, Value> = new Map(),
): void {
  const readers = fieldReaders(spec);
  const countries = Object.keys(sent).filter((field) => readers.get(field)?.field.type.kind === 'country');
  if (countries.length === 0) return;
  for (const { field, text } of readFields(spec, countries, record, lexicon).losses) {
    const country = sent[field];
    if (isRef(country) && text !== before.get(field)) lexicon.learnCountry?.(country.id, text);
  }
}

/** Whether a record holds what was written; the service may have trimmed or folded text. */
export function equalsStored(wanted: Value | undefined, got: Value | undefined): boolean {
  if (wanted === got) return true;
  if (typeof wanted === 'string' && typeof got === 'string') return normaliseName(wanted) === normaliseName(got);
  return sameValue(wanted, got);
}

/** What a record shows of an update whose effect was open. */
type Effect =
  /** It took effect; one warning for each value that the service tidied up. */
  | { readonly kind: 'taken'; readonly normalised: readonly Issue[] }
  /** Fields that hold neither the old value nor the new one. */
  | { readonly kind: 'moved'; readonly fields: readonly string[] }
  | { readonly kind: 'none' };

/** Holds the record as it is now against what an update was to make of it. An old value that is also a form of the new one tells nothing. */
export function effectOf({ target, diff }: Merge, before: Json | undefined, record: Json, plan: MergeOptions): Effect {
  const { spec, lexicon, specOf } = plan;
  const old = before ? readRecord(spec, before, lexicon).fields : {};
  const now = readRecord(spec, record, lexicon).fields;
  const seen = changesOf(diff).flatMap(({ field }) => (isTold(field, target[field], now[field], plan) ? field : []));
  const others = seen.filter((field) => !equalsStored(target[field], now[field]));
  const moved = others.filter((field) => !sameValue(now[field], old[field]));
  const normalisedFields = moved.filter((field) => isNormalisedForm(target[field], now[field], specOf(field)?.type));
  if (seen.length > 0 && normalisedFields.length === others.length)
    return {
      kind: 'taken',
      normalised: normalisedFields.map((field) => normalisedWarning(field, target[field], now[field])),
    };
  if (moved.length > normalisedFields.length)
    return { kind: 'moved', fields: moved.filter((field) => !normalisedFields.includes(field)) };
  return { kind: 'none' };
}
