import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Decimal } from '../../model/decimal.js';

/** Parts travel small: a store keeps them in memory. More characters are not taken, nor sent. */
export const MOST_PACKED = 16 * 1024 * 1024;
/** A text that packs to a hundredth would be a thousand times its size as objects. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_VALUES = 1_000_000;
const MOST_DEPTH = 100;
/** The only member of what stands for an amount. Members of others that begin like it get a second sign. */
const DECIMAL = '$decimal';

/** A JSON value as text for the queue; amounts keep every digit. Throws a `RangeError` where it is too large for it. */
export function pack(value: unknown): string {
  const text = JSON.stringify(value, function (this: Record<string, unknown>, key, one: unknown) {
    // `one` is what `toJSON` made of it: of an amount, plain text.
    const own = this[key];
    if (own instanceof Decimal) return { [DECIMAL]: own.text };
    return isRecord(one) && hasSign(one) ? renamed(one, (name) => (name.startsWith('$') ? `$${name}` : name)) : one;
  });
  const json = Buffer.from(text);
  if (json.length > MOST_BYTES) throw new RangeError(`${json.length} bytes are too many`);
  checkCounts(json);
  const packed = deflateRawSync(json, { level: 1 }).toString('base64');
  if (packed.length > MOST_PACKED) throw new RangeError(`${packed.length} packed characters are too many`);
  return packed;
}

/** Throws where the text was not packed by `pack`, before more is made of it than `pack` takes. */
export function unpack(text: string): unknown {
  if (text.length > MOST_PACKED) throw new RangeError(`${text.length} packed characters are too many`);
  const json = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES });
  checkCounts(json);
  return JSON.parse(json.toString('utf8'), (_, one: unknown) => {
    if (!isRecord(one) || !hasSign(one)) return one;
    if (Object.hasOwn(one, DECIMAL)) return Decimal.of(String(one[DECIMAL]));
    return renamed(one, (name) => (name.startsWith('$') ? name.slice(1) : name));
  });
}

/** Values and depth of a JSON text, counted by its signs: what it would come to is not made to find that out. */
function checkCounts(json: Buffer): void {
  let [values, depth] = [0, 0];
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) {
      for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      values++;
      if (++depth > MOST_DEPTH) throw new RangeError(`more than ${MOST_DEPTH} levels are too many`);
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    else if (byte === COMMA) values++;
    if (values > MOST_VALUES) throw new RangeError(`more than ${MOST_VALUES} values are too many`);
  }
}

const [QUOTE, BACKSLASH, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = Buffer.from('"\\,{}[]');

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
