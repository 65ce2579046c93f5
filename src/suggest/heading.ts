import { distance } from 'fastest-levenshtein';
import type { FieldSpec, ResourceSpec } from '../resources/spec.js';
import { OTHER_QUALIFIERS, PLAIN_QUALIFIERS, RESOURCE_WORDS, VOCABULARY, type Vocabulary } from './vocabulary.js';
import { type Words, wordsOf } from './words.js';

/** A field that a heading may mean: 1 its very name, 0.88 and above for certain, 0.7 and above likely. */
export interface Candidate {
  readonly field: FieldSpec;
  readonly score: number;
  /** As a clause: `the heading is the field's name`. */
  readonly why: string;
}

interface Phrase extends Words {
  readonly field: FieldSpec;
  readonly text: string;
  readonly weight: number;
  readonly kind: 'name' | 'alias' | 'label' | 'sure' | 'likely' | 'possible';
}

const WEIGHT = { name: 1, alias: 0.98, label: 0.98, sure: 0.94, likely: 0.78, possible: 0.55 } as const;
const OTHER_ORDER = 0.985;
/** Alternatives below are not worth naming. */
const NAMED = 0.3;

interface PhraseBook {
  readonly byWords: ReadonlyMap<string, readonly Phrase[]>;
  readonly byJoined: ReadonlyMap<string, readonly Phrase[]>;
  readonly byWord: ReadonlyMap<string, readonly Phrase[]>;
  readonly context: ReadonlySet<string>;
}

const books = new WeakMap<ResourceSpec, PhraseBook>();

/** Fields that can be written, by what the heading says alone; the best first, at most eight. */
export function candidates(spec: ResourceSpec, heading: string): Candidate[] {
  let book = books.get(spec);
  if (!book) {
    book = phraseBook(spec);
    books.set(spec, book);
  }
  const found = new Map<FieldSpec, Candidate>();
  const offer = (phrase: Phrase, score: number, why: string) => {
    const before = found.get(phrase.field);
    if (score >= NAMED && (before === undefined || before.score < score)) {
      found.set(phrase.field, { field: phrase.field, score, why });
    }
  };
  const said = wordsOf(heading);
  if (said.words.length === 0) return [];
  look(said, book, 1, '', offer);
  return [...found.values()].sort((a, b) => b.score - a.score).slice(0, 8);
}

type Offer = (phrase: Phrase, score: number, why: string) => void;

function look(said: Words, book: PhraseBook, share: number, but: string, offer: Offer): void {
  let equal = false;
  for (const phrase of [...(book.byWords.get(said.words.join(' ')) ?? []), ...(book.byJoined.get(said.joined) ?? [])]) {
    equal = true;
    // `end of support date` and `support end date` are two fields of the same words.
    const order = phrase.joined === said.joined || phrase.words.length !== said.words.length ? 1 : OTHER_ORDER;
    offer(phrase, phrase.weight * share * order, REASON[phrase.kind](phrase) + but);
  }
  if (!equal && share === 1) lookFurther(said, book, offer);
  if (share === 1) partly(said, book, offer);
}

/** What is left of a heading without words that add nothing, without words that change it, and with misspellings mended. */
function lookFurther(said: Words, book: PhraseBook, offer: Offer): void {
  const without = (drop: (word: string) => boolean): Words | undefined => {
    const words = said.words.filter((word) => !drop(word));
    return words.length === 0 || words.length === said.words.length
      ? undefined
      : { words, joined: words.join(''), aside: [] };
  };
  const context = without((word) => book.context.has(word));
  if (context) look(context, book, 0.97, '', offer);
  const plain = without((word) => book.context.has(word) || PLAIN_QUALIFIERS.includes(word));
  if (plain) look(plain, book, 0.95, '', offer);
  const other = said.words.filter((word) => OTHER_QUALIFIERS.includes(word));
  const rest = without((word) => other.includes(word)) ?? said;
  if (other.length > 0) {
    look(rest, book, 0.68, `, but "${other.join(' ')}" makes it another thing`, offer);
  }
  const mended = mend(said, book);
  if (mended) look(mended.words, book, 0.93, `, with "${mended.from}" read as "${mended.to}"`, offer);
}

/** Headings that say more than a phrase, or less: worth naming, never worth mapping. */
function partly(said: Words, book: PhraseBook, offer: Offer): void {
  const near = new Set(said.words.flatMap((word) => book.byWord.get(word) ?? []));
  for (const phrase of near) {
    const shared = phrase.words.filter((word) => said.words.includes(word)).length;
    const extra = said.words.length - shared;
    const lacking = phrase.words.length - shared;
    if (lacking === 0 && extra > 0) {
      const share = phrase.words.length / said.words.length;
      offer(phrase, phrase.weight * Math.min(0.66, 0.3 + share / 2), `the heading says more than "${phrase.text}"`);
    } else if (extra === 0 && lacking > 0) {
      const share = said.words.length / phrase.words.length;
      offer(phrase, phrase.weight * Math.min(0.55, 0.2 + share / 2), `the heading says less than "${phrase.text}"`);
    }
  }
}

/** One misspelt word replaced by the only word of the vocabulary that is near enough. */
function mend(said: Words, book: PhraseBook): { words: Words; from: string; to: string } | undefined {
  const unknown = said.words.filter((word) => !book.byWord.has(word) && !book.context.has(word));
  const [from, ...more] = unknown;
  if (from === undefined || more.length > 0 || from.length < 5) return undefined;
  const limit = from.length < 9 ? 1 : 2;
  let to: string | undefined;
  let nearest = limit + 1;
  for (const word of book.byWord.keys()) {
    if (Math.abs(word.length - from.length) > limit || word.length < 5 || word[0] !== from[0]) continue;
    const steps = distance(from, word);
    if (steps === nearest) to = undefined;
    if (steps < nearest) [to, nearest] = [word, steps];
  }
  if (to === undefined) return undefined;
  const words = [...new Set(said.words.map((word) => (word === from ? to : word)))].sort();
  return { words: { words, joined: said.joined.replace(from, to), aside: [] }, from, to };
}

const REASON: Readonly<Record<Phrase['kind'], (phrase: Phrase) => string>> = {
  name: () => "the heading is the field's name",
  alias: () => 'the heading is another name of the field',
  label: () => "the heading is the field's label",
  sure: ({ text }) => `"${text}" is a usual heading for it`,
  likely: ({ text }) => `"${text}" often means it`,
  possible: ({ text }) => `"${text}" may mean it`,
};

function phraseBook(spec: ResourceSpec): PhraseBook {
  const phrases: Phrase[] = [];
  const vocabulary = VOCABULARY[spec.name];
  for (const field of spec.fields) {
    if (field.derived || (field.create === undefined && field.update === undefined)) continue;
    const add = (text: string, kind: Phrase['kind']) => {
      phrases.push({ ...wordsOf(text), field, text, kind, weight: WEIGHT[kind] });
    };
    add(field.name, 'name');
    for (const alias of field.aliases ?? []) add(alias, 'alias');
    add(field.label, 'label');
    for (const marked of phrasesOf(vocabulary, field.name)) {
      const text = marked.replace(/^\?+/, '');
      add(text, marked.startsWith('??') ? 'possible' : marked.startsWith('?') ? 'likely' : 'sure');
    }
  }
  return {
    byWords: group(phrases, ({ words }) => [words.join(' ')]),
    byJoined: group(phrases, ({ joined }) => [joined]),
    byWord: group(phrases, ({ words }) => words),
    context: new Set(wordsOf(RESOURCE_WORDS[spec.name]).words),
  };
}

function phrasesOf(vocabulary: Vocabulary, field: string): string[] {
  const phrases = Object.hasOwn(vocabulary, field) ? vocabulary[field]! : '';
  return phrases
    .split(';')
    .map((phrase) => phrase.replace(/\s+/g, ' ').trim())
    .filter((phrase) => phrase !== '');
}

function group(phrases: readonly Phrase[], keys: (phrase: Phrase) => readonly string[]): Map<string, Phrase[]> {
  const groups = new Map<string, Phrase[]>();
  for (const phrase of phrases) {
    for (const key of keys(phrase)) {
      const known = groups.get(key);
      if (known) known.push(phrase);
      else groups.set(key, [phrase]);
    }
  }
  return groups;
}
