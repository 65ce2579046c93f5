import { Decimal } from '../model/decimal.js';
import type { DecimalSign } from './spec.js';

/** Amounts that a response shows as text: `1200.5`, `1,200.50`, `1.200,50`, `1 200`. */

/** Between thousands in every country: blanks and apostrophes. */
const BLANKS = "[ '\u2019\u00a0\u202f]";

const shape = (decimals: string, thousands: string) =>
  new RegExp(
    String.raw`^-?(?:\d+|[1-9]\d{0,2}(?:${thousands}\d{3})+|[1-9]\d{0,2}(?:${BLANKS}\d{3})+)(?:${decimals}\d+)?$`,
  );
const WITH_POINT = shape('[.]', '[,]');
const WITH_COMMA = shape('[,]', '[.]');

/** What one amount tells about the decimal sign of all: `either` for `1,200` and `1.200`. Undefined: nothing. */
export function decimalSignOf(source: string): DecimalSign | 'either' | undefined {
  const text = source.trim();
  if (text.length > 60 || !/[.,]/.test(text)) return undefined;
  const [point, comma] = [WITH_POINT.test(text), WITH_COMMA.test(text)];
  if (point && comma) return 'either';
  return point ? '.' : comma ? ',' : undefined;
}

/** Undefined: no amount, or `1,200` where the decimal sign is not known; `1.200` is then read as JSON would. */
export function readAmount(source: string, sign?: DecimalSign): Decimal | undefined {
  const text = source.trim();
  const own = decimalSignOf(text);
  const decimals = own === 'either' ? (sign ?? (text.includes(',') ? undefined : '.')) : own;
  if (own === 'either' && decimals === undefined) return undefined;
  if (!WITH_POINT.test(text) && !WITH_COMMA.test(text)) return Decimal.parse(text);
  const thousands = decimals === ',' ? /[. '\u2019\u00a0\u202f]/g : /[, '\u2019\u00a0\u202f]/g;
  return Decimal.parse(text.replace(thousands, '').replace(',', '.'));
}
