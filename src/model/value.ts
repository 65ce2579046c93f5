import { Decimal } from './decimal.js';

/** A reference to another record of the service; the name is for people and for comparison with reads. */
export interface Ref {
  readonly id: number;
  readonly name?: string;
}

/**
 * One field of a record in canonical form. Dates are `yyyy-MM-dd` text, whole numbers are safe integers,
 * money and other decimals are Decimal, references carry the id, `null` is "no value".
 */
export type Value = string | number | boolean | Decimal | Ref | readonly string[] | null;

/**
 * A record, flat: field name as job files write it → value. Custom fields are `template.<template id>.<field id>`,
 * custom form columns `form.<form id>.<column name>` (`form.<form id>#2.<column name>` in the form's second row).
 * Fields without a value are absent.
 */
export type Fields = Readonly<Record<string, Value>>;

export function isRef(value: Value | undefined): value is Ref {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && 'id' in value;
}

/** `''`, null and undefined are all "no value": the service does not tell them apart. */
export function isEmpty(value: Value | undefined): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** Whether two values mean the same. References are compared by id. */
export function sameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (isRef(a) && isRef(b)) return a.id === b.id;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => item === b[i]);
  if (a instanceof Decimal || b instanceof Decimal) {
    const [x, y] = [Decimal.parse(String(a)), Decimal.parse(String(b))];
    return x !== undefined && y !== undefined && x.equals(y);
  }
  return a === b;
}

/** Of a record that is still to be created: what stands for its id is below 0. */
export function isNewRef(value: Value | undefined): value is Ref {
  return isRef(value) && value.id < 0;
}

/** The value as reports show it. */
export function valueText(value: Value | undefined): string {
  if (value === undefined || value === null) return '';
  if (isNewRef(value) && value.name) return `${value.name} (new)`;
  if (isRef(value)) return value.name ? `${value.name} (${value.id})` : String(value.id);
  if (Array.isArray(value)) return value.join(', ');
  return String(value);
}

/** The form in which keys are compared: Unicode NFKC, trimmed. Case and inner blanks count. Contract, section 7. */
export function normaliseKey(text: string): string {
  if (PLAIN_ASCII.test(text)) return text;
  return text.normalize('NFKC').trim();
}

/** The form in which names are compared: as keys, with repeated blanks as one. */
export function normaliseName(text: string): string {
  return PLAIN_ASCII.test(text) ? text : normaliseKey(text).replace(/\s+/gu, ' ');
}

/** The same for all texts that look the same on the screen: as names, without invisible characters. */
export function lookalikeForm(text: string): string {
  return PLAIN_ASCII.test(text) ? text : normaliseName(text.replace(INVISIBLE, ''));
}

/** A key with what the screen does not show: `SN<U+200B>-1`, `Double<2 blanks>Blank`. */
export function revealHidden(text: string): string {
  return text
    .replace(INVISIBLE, (one) => `<U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`)
    .replace(/\s{2,}/gu, (blanks) => `<${blanks.length} blanks>`);
}

/** Zero-width, bidirectional and other characters that no screen shows. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Visible ASCII with single blanks between: nearly every key and name. */
const PLAIN_ASCII = /^[!-~]+(?: [!-~]+)*$/;

/** Characters nobody sees: zero-width blanks, soft hyphens, byte order marks. */
const ZERO_WIDTH = /[\u00ad\u200b\u2060\ufeff]/g;

/**
 * The form in which headings and cell texts are compared without regard to case, blanks (also non-breaking ones and
 * line breaks), invisible characters and Unicode form.
 */
export function foldText(text: string): string {
  const visible = text.normalize('NFKC').replace(ZERO_WIDTH, '').replace(/\s+/gu, ' ').trim();
  // Upper case first: `ß` and `SS`, final and inner sigma become the same.
  return visible.toUpperCase().toLowerCase().normalize('NFC');
}
