import { Exact, type Json } from './json.js';

/**
 * Amounts as text with at least two digits after the point ("1200.00"): how this service stores and shows decimals.
 * Nothing here goes through a binary float.
 */
const SHAPE = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** The amount in a JSON number; undefined where the value is no number or its exponent is absurd. */
export function amountOf(value: Json): string | undefined {
  if (typeof value !== 'number' && !(value instanceof Exact)) return undefined;
  const match = SHAPE.exec(typeof value === 'number' ? String(value) : value.text);
  if (!match) return undefined;
  const exponent = Number(match[4] ?? 0);
  if (Math.abs(exponent) > 100) return undefined;
  let digits = match[2]! + (match[3] ?? '');
  let point = match[2]!.length + exponent;
  if (point <= 0) {
    digits = '0'.repeat(1 - point) + digits;
    point = 1;
  }
  const whole = digits
    .slice(0, point)
    .padEnd(point, '0')
    .replace(/^0+(?=\d)/, '');
  const fraction = digits.slice(point).replace(/0+$/, '').padEnd(2, '0');
  const negative = match[1] === '-' && /[1-9]/.test(digits);
  return `${negative ? '-' : ''}${whole}.${fraction}`;
}

const scaleOf = (amount: string): number => amount.length - amount.indexOf('.') - 1;

const scaled = (amount: string, scale: number): bigint =>
  BigInt(amount.replace('.', '') + '0'.repeat(scale - scaleOf(amount)));

/** Negative, zero or positive, as a sort function answers. */
export function compareAmounts(a: string, b: string): number {
  const scale = Math.max(scaleOf(a), scaleOf(b));
  const left = scaled(a, scale);
  const right = scaled(b, scale);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Whether `a + b = total`, exactly. */
export function sumsTo(a: string, b: string, total: string): boolean {
  const scale = Math.max(scaleOf(a), scaleOf(b), scaleOf(total));
  return scaled(a, scale) + scaled(b, scale) === scaled(total, scale);
}

/** `part` as a percentage of `whole`, rounded half up to two digits; undefined of a whole of zero. */
export function percentOf(part: string, whole: string): string | undefined {
  const scale = Math.max(scaleOf(part), scaleOf(whole));
  const divisor = scaled(whole, scale);
  if (divisor === 0n) return undefined;
  const hundredths = (scaled(part, scale) * 20_000n + divisor) / (2n * divisor);
  const digits = hundredths.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** 0.00 to 999999999999999.00: interface, section 2.1. */
export function amountInRange(amount: string): boolean {
  if (amount.startsWith('-')) return false;
  const point = amount.indexOf('.');
  if (point > 15) return false;
  return point < 15 || compareAmounts(amount, '999999999999999.00') <= 0;
}
