import { Decimal } from '../model/decimal.js';
import { type Issue, warning } from '../model/issue.js';
import { normaliseName, type Value, valueText } from '../model/value.js';
import type { FieldType } from '../resources/spec.js';

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
