import type { FieldSpec, ResourceSpec } from '../resources/spec.js';
import { PLAIN_QUALIFIERS, phrases, RESOURCE_WORDS, VOCABULARY } from './vocabulary.js';
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
  readonly weight: number;
  readonly why: string;
}

const OTHER_ORDER = 0.985;

interface PhraseBook {
  /** Phrases by their sorted words, and by the same in one piece. */
  readonly phrases: ReadonlyMap<string, readonly Phrase[]>;
  /** Words that name the resource itself. */
  readonly context: ReadonlySet<string>;
  /** These, and words that change nothing about what a column holds. */
  readonly plain: ReadonlySet<string>;
}

const books = new WeakMap<ResourceSpec, PhraseBook>();

/** Fields that can be written, by what the heading says alone, the best first. */
export function candidates(spec: ResourceSpec, heading: string): Candidate[] {
  let book = books.get(spec);
  if (!book) {
    book = phraseBook(spec);
    books.set(spec, book);
  }
  const { context, plain } = book;
  const said = wordsOf(heading);
  const found = new Map<FieldSpec, Candidate>();
  const look = ({ words, joined }: Words, share: number): void => {
    for (const phrase of [...(book.phrases.get(words.join(' ')) ?? []), ...(book.phrases.get(joined) ?? [])]) {
      // `end of support date` and `support end date` are two fields of the same words.
      const order = phrase.joined === joined || phrase.words.length !== words.length ? 1 : OTHER_ORDER;
      const score = phrase.weight * share * order;
      if ((found.get(phrase.field)?.score ?? 0) < score)
        found.set(phrase.field, { field: phrase.field, score, why: phrase.why });
    }
  };
  look(said, 1);
  if (found.size === 0) {
    for (const [dropped, share] of [
      [context, 0.97],
      [plain, 0.95],
    ] as const) {
      const words = said.words.filter((word) => !dropped.has(word));
      look({ words, joined: words.join(''), aside: [] }, share);
    }
  }
  return [...found.values()].sort((a, b) => b.score - a.score);
}

function phraseBook(spec: ResourceSpec): PhraseBook {
  const all: Phrase[] = [];
  for (const field of spec.fields) {
    if (field.derived || (field.create === undefined && field.update === undefined)) continue;
    const add = (text: string, weight: number, why: string) => all.push({ ...wordsOf(text), field, weight, why });
    add(field.name, 1, "the heading is the field's name");
    for (const alias of field.aliases ?? []) add(alias, 0.98, 'the heading is another name of the field');
    add(field.label, 0.98, "the heading is the field's label");
    const vocabulary = VOCABULARY[spec.name];
    for (const marked of phrases(Object.hasOwn(vocabulary, field.name) ? vocabulary[field.name]! : '')) {
      const text = marked.replace('?', '');
      if (text !== marked) add(text, 0.78, `"${text}" often means it`);
      else add(text, 0.94, `"${text}" is a usual heading for it`);
    }
  }
  const index = new Map<string, Phrase[]>();
  for (const phrase of all) {
    for (const key of new Set([phrase.words.join(' '), phrase.joined])) {
      const known = index.get(key);
      if (known) known.push(phrase);
      else index.set(key, [phrase]);
    }
  }
  const context = wordsOf(RESOURCE_WORDS[spec.name]).words;
  return { phrases: index, context: new Set(context), plain: new Set([...context, ...PLAIN_QUALIFIERS.split(' ')]) };
}
