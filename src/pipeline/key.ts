import { isEmpty, isRef, normaliseKey, type Value } from '../model/value.js';
import { isNamed, type StagedValue } from './staged.js';

/** Parts of a composite key are joined with a character that no cell can hold. */
const JOIN = '\u0000';

/**
 * The natural key as it is compared: NFKC, trimmed, blanks folded; references by id. '' where every part is blank:
 * a blank key never matches anything.
 */
export function keyOf(fields: Readonly<Record<string, StagedValue>>, key: readonly string[]): string {
  if (key.length === 1) return part(fields[key[0] ?? '']);
  const parts = key.map((field) => part(fields[field]));
  return parts.every((text) => text === '') ? '' : parts.join(JOIN);
}

/** The parts of a key, in the order of the job's `match.key`. */
export function keyParts(key: string): readonly string[] {
  return key.split(JOIN);
}

/** The key as people read it. */
export function keyText(key: string): string {
  return key.replaceAll(JOIN, ' | ');
}

function part(value: StagedValue | undefined): string {
  if (value === undefined || isNamed(value)) return isNamed(value) ? normaliseKey(value.name) : '';
  const plain: Value = value;
  if (isEmpty(plain)) return '';
  if (isRef(plain)) return `#${plain.id}`;
  return normaliseKey(String(plain));
}
