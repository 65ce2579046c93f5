import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Decimal } from '../../model/decimal.js';

/** Parts travel small: a store keeps them in memory. More than this, unpacked, is no part of ours. */
const MOST_BYTES = 256 * 1024 * 1024;
/** The only member of what stands for an amount. Members of others that begin like it get a second sign. */
const DECIMAL = '$decimal';

/** A JSON value as text for the queue; amounts keep every digit. */
export function pack(value: unknown): string {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key, one: unknown) {
    // `one` is what `toJSON` made of it: of an amount, plain text.
    const own = this[key];
    if (own instanceof Decimal) return { [DECIMAL]: own.text };
    return isRecord(one) && hasSign(one) ? renamed(one, (name) => (name.startsWith('$') ? `$${name}` : name)) : one;
  });
  return deflateRawSync(text, { level: 1 }).toString('base64');
}

/** Throws where the text was not packed by `pack`. */
export function unpack(text: string): unknown {
  const json = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES }).toString('utf8');
  return JSON.parse(json, (_, one: unknown) => {
    if (!isRecord(one) || !hasSign(one)) return one;
    if (Object.hasOwn(one, DECIMAL)) return Decimal.of(String(one[DECIMAL]));
    return renamed(one, (name) => (name.startsWith('$') ? name.slice(1) : name));
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);
}

function hasSign(value: Record<string, unknown>): boolean {
  for (const key of Object.keys(value)) if (key.startsWith('$')) return true;
  return false;
}

function renamed(value: Record<string, unknown>, name: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [name(key), one]));
}
