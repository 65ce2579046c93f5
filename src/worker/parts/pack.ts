import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Decimal } from '../../model/decimal.js';

/** Parts travel small: a store keeps them in memory. More than this, unpacked, is no part of ours. */
const MOST_BYTES = 256 * 1024 * 1024;
const DECIMAL = '$decimal';

/** A value as text for the queue; amounts keep every digit. */
export function pack(value: unknown): string {
  const text = JSON.stringify(value, (_, one: unknown) => (one instanceof Decimal ? { [DECIMAL]: one.text } : one));
  return deflateRawSync(text, { level: 1 }).toString('base64');
}

/** Throws where the text was not packed by `pack`. */
export function unpack(text: string): unknown {
  const json = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES }).toString('utf8');
  return JSON.parse(json, (_, one: unknown) => {
    if (typeof one !== 'object' || one === null || !(DECIMAL in one)) return one;
    return Decimal.of(String(one[DECIMAL]));
  });
}
