import { isEmpty, isRef, lookalikeForm, normaliseKey, type Value } from '../../model/value.js';
import { isNamedRef, type StagedValue } from '../rows.js';

/** Parts of a composite key are joined with a character that no cell can hold. */
const JOIN = '\u0000';
/** The same for people. */
const DISPLAY_JOIN = ' | ';

/**
 * The natural key as it is compared: NFKC, trimmed; references by id. '' where every part is blank:
 * a blank key never matches anything.
 */
export function keyOf(fields: Readonly<Record<string, StagedValue>>, key: readonly string[]): string {
  if (key.length === 1) return partText(fields[key[0] ?? '']);
  const parts = key.map((field) => partText(fields[field]));
  return parts.every((text) => text === '') ? '' : parts.join(JOIN);
}

/**
 * The keys of a file, each with the other spellings that the file has for it (parts joined like the key's). A filter of
 * the service compares texts as they are stored: it is asked for every spelling.
 */
export interface Keys extends Iterable<readonly [key: string, spellings: readonly string[]]> {
  readonly size: number;
  /** Keys and other spellings together, where that is known without counting. */
  readonly texts?: number;
  has(key: string): boolean;
  /** The other spellings; undefined where the key is not there. */
  get(key: string): readonly string[] | undefined;
  keys(): Iterable<string>;
  /** Looks of the keys that hold what the screen does not show; absent where nobody asks for twins. */
  readonly odd?: Pick<ReadonlyMap<string, unknown>, 'has'>;
  /** The key at a place from 0, where each can be had alone. */
  at?(place: number): readonly [key: string, spellings: readonly string[]];
}

/** The keys and their other spellings: what is asked for. */
export function countTexts(keys: Keys): number {
  if (keys.texts !== undefined) return keys.texts;
  let texts = keys.size;
  for (const [, spellings] of keys) texts += spellings.length;
  return texts;
}

export function keyAccessor(keys: Keys): NonNullable<Keys['at']> {
  if (keys.at) return keys.at;
  const all = [...keys];
  return (place) => all[place] as (typeof all)[number];
}

/** The key as the row spells it: what a create would store. */
export function keySpelling(fields: Readonly<Record<string, StagedValue>>, key: readonly string[]): string {
  if (key.length === 1) return spelling(fields[key[0] ?? '']);
  return key.map((field) => spelling(fields[field])).join(JOIN);
}

function spelling(value: StagedValue | undefined): string {
  return typeof value === 'string' ? value : partText(value);
}

/**
 * The parts of a key of so many fields, in the order of the job's `match.key`. A key as people read it is taken apart,
 * too; undefined where it cannot be told how.
 */
export function keyParts(key: string, fields: number): readonly string[] | undefined {
  if (fields === 1) return [key];
  const parts = key.split(key.includes(JOIN) ? JOIN : DISPLAY_JOIN);
  return parts.length === fields ? parts : undefined;
}

/** The key of a text that people read; undefined where it cannot be told. */
export function keyOfText(text: string, fields: number): string | undefined {
  return keyParts(text, fields)?.join(JOIN);
}

/** The same for all keys that look the same on the screen. */
export function lookalikeKey(key: string): string {
  return key.includes(JOIN) ? key.split(JOIN).map(lookalikeForm).join(JOIN) : lookalikeForm(key);
}

/** The key as people read it. */
export function keyText(key: string): string {
  return key.includes(JOIN) ? key.replaceAll(JOIN, DISPLAY_JOIN) : key;
}

export function partText(value: StagedValue | undefined): string {
  if (value === undefined || isNamedRef(value)) return isNamedRef(value) ? normaliseKey(value.name) : '';
  const plain: Value = value;
  if (isEmpty(plain)) return '';
  if (isRef(plain)) return `#${plain.id}`;
  return normaliseKey(String(plain));
}
