import { hash } from 'node:crypto';

/** Hexadecimal digits of which a safe integer can be made. */
const DIGITS = 13;

/**
 * 52 bits of what these bytes are, as a safe integer: enough to tell whether a page or a record reads as it did before. Two
 * texts of a record share one with a chance of 1 in 4 × 10^15.
 */
export function bytesHash(bytes: Buffer): number {
  return Number.parseInt(hash('sha1', bytes, 'hex').slice(0, DIGITS), 16);
}
