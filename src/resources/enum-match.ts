import type { FieldType } from './spec.js';

type EnumType = Extract<FieldType, { kind: 'enum' }>;

/** The form in which words of a list are compared: no case, marks, blanks or punctuation; `%` is a word. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/%/g, 'percent')
    .replace(/[^\p{L}\p{N}]/gu, '');
}

const indexes = new WeakMap<EnumType, ReadonlyMap<string, string>>();

/** The value of the list that the text means, in any spelling a user writes; undefined where it means none. */
export function enumValue(type: EnumType, text: string): string | undefined {
  let index = indexes.get(type);
  if (!index) {
    index = indexWords(type);
    indexes.set(type, index);
  }
  return index.get(folded(text));
}

function indexWords(type: EnumType): ReadonlyMap<string, string> {
  const index = new Map<string, string>();
  for (const [word, value] of Object.entries(type.synonyms ?? {})) index.set(folded(word), value);
  for (const value of [...(type.update ?? []), ...(type.read ?? []), ...type.values]) index.set(folded(value), value);
  return index;
}

/** The value that the text means as a synonym of ours only, not as a spelling of the value. */
export function enumSynonym(type: EnumType, text: string): string | undefined {
  const word = folded(text);
  const own = [...type.values, ...(type.update ?? []), ...(type.read ?? [])].some((value) => folded(value) === word);
  return own ? undefined : enumValue(type, text);
}

/** The word among `words` that a name means, compared as enum values are. */
export function matchingWord(words: readonly string[], name: string): string | undefined {
  const wanted = folded(name);
  return words.find((word) => folded(word) === wanted);
}

const YES = new Set(['true', 'yes', 'y', 't', '1', 'on', 'x', 'ja', 'oui', 'si', 'sim', 'wahr', 'vrai', 'verdadero']);
const NO = new Set(['false', 'no', 'n', 'f', '0', 'off', 'nein', 'non', 'nao', 'nee', 'falsch', 'faux', 'falso']);
const TICKS: ReadonlyMap<string, boolean> = new Map([
  ['✓', true],
  ['✔', true],
  ['☑', true],
  ['✗', false],
  ['✘', false],
  ['☐', false],
]);

/** Yes or no in the spellings that spreadsheets hold; undefined where the text is neither. */
export function booleanValue(text: string): boolean | undefined {
  const tick = TICKS.get(text.trim());
  if (tick !== undefined) return tick;
  const word = folded(text);
  return YES.has(word) ? true : NO.has(word) ? false : undefined;
}
