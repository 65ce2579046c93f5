import { customFieldName } from '../model/job.js';
import { foldText } from '../model/value.js';
import { checkRecord } from '../resources/rules.js';
import type { FieldSpec, ReferenceTarget, ResourceName, ResourceSpec } from '../resources/spec.js';
import { type Fit, fitOf, type KnownNames } from './fit.js';
import type { Column, FileProfile } from './profile.js';
import { OTHER_THINGS, PLAIN_QUALIFIERS, phrases, RESOURCE_WORDS, VOCABULARY } from './vocabulary.js';
import { firstWord, type Words, wordsOf } from './words.js';

/** A guess at or above this is certain enough to need no second look. */
export const HIGH = 0.88;
/** A guess below this is never mapped. */
export const LIKELY = 0.7;

/** A field for a column: what the heading says, lowered by what the values say. */
export interface Guess extends Candidate {
  readonly fit: Fit;
  readonly final: number;
}

export interface Assigned {
  readonly column: Column;
  /** All guesses, the best first. */
  readonly guesses: readonly Guess[];
  readonly mapped: Guess | undefined;
  /** A custom field that the heading names in full, as an export writes it. */
  readonly custom: string | undefined;
  /** The heading that has the field this column means most. */
  readonly lostTo: string | undefined;
  /** A field without which the service refuses the best guess, and which no column gives. */
  readonly lacks: string | undefined;
}

/**
 * Gives every field to the column that means it best. Each field and each column is used once. `known`: the names that the
 * service has, where it was asked.
 */
export function assign(spec: ResourceSpec, file: FileProfile, known?: KnownNames): Assigned[] {
  const { columns } = file;
  const custom = customColumns(spec, columns);
  const book = withSubject(phraseBook(spec), columns);
  const guesses = columns.map((column, at) =>
    column.name === undefined || custom[at] !== undefined ? [] : guessesFor(book, column, file, known),
  );
  const open = guesses
    .flatMap((list, at) => list.filter(isMappable).map((guess) => ({ at, guess })))
    .sort((a, b) => b.guess.final - a.guess.final || a.at - b.at);
  const owner = new Map<FieldSpec, number>();
  const mapped = new Map<number, Guess>();
  for (const { at, guess } of open) {
    if (owner.has(guess.field) || mapped.has(at)) continue;
    owner.set(guess.field, at);
    mapped.set(at, guess);
  }
  const alone = dropLonely(spec, columns, mapped);
  return columns.map((column, at) => {
    const best = guesses[at]!.find(isMappable);
    const by = best && mapped.get(at) === undefined && !alone.has(at) ? owner.get(best.field) : undefined;
    return {
      column,
      guesses: guesses[at]!,
      mapped: mapped.get(at),
      custom: custom[at],
      lostTo: by === undefined ? undefined : columns[by]!.heading,
      lacks: alone.get(at),
    };
  });
}

/**
 * Takes out what the service refuses without a partner that no column gives (a contact's name and e-mail address, a
 * subcategory's category): the position of the column → that partner.
 */
function dropLonely(
  spec: ResourceSpec,
  columns: readonly Column[],
  mapped: Map<number, Guess>,
): ReadonlyMap<number, string> {
  const given = new Set([...mapped.values()].map(({ field }) => field.name));
  const alone = new Map<number, string>();
  if (personParts(columns)) given.add(PERSON);
  for (const [at, { field }] of mapped) {
    // Whether a partner is needed does not depend on the value: any text will do.
    const lacking = checkRecord(spec, { [field.name]: 'x' }, 'create').find(
      ({ code, field: partner }) => code === 'pair_incomplete' && partner !== undefined && !given.has(partner),
    );
    if (lacking) alone.set(at, lacking.field!);
  }
  for (const at of alone.keys()) mapped.delete(at);
  return alone;
}

/** Whose name is often in two columns. */
export const PERSON = 'contact_person.name';

const NAME_PARTS: readonly RegExp[] = [
  /^(?:contact|kontakt|primary)?(?:first|fore|given)name$|^(?:contact|kontakt)?vorname$|^(?:prenom|prenomcontact|primeironome)$/,
  /^(?:contact|kontakt|primary)?(?:last|family|sur)name$|^(?:contact|kontakt)?nachname$|^(?:apellidos?|nomfamille|sobrenome)$/,
];

/** The columns with a person's first and last name, as the job names them; undefined where there are not both. */
export function personParts(columns: readonly Column[]): readonly string[] | undefined {
  const found = NAME_PARTS.map((part) => columns.find(({ words }) => part.test(words.joined))?.name);
  return found.every((name) => name !== undefined) ? found : undefined;
}

/** The service has no list of these: a name that no record bore so far makes the row invalid, so the heading must be certain, or the names be known. */
const UNLISTED: ReadonlySet<ReferenceTarget> = new Set(['business-unit', 'customer', 'hardware-model', 'make']);

function isMappable({ final, fit, field: { type } }: Guess): boolean {
  const isUnsure = type.kind === 'reference' && UNLISTED.has(type.to) && (fit.share ?? 0) < 0.5;
  return final >= (isUnsure ? HIGH : LIKELY);
}

function guessesFor(book: PhraseBook, column: Column, file: FileProfile, known?: KnownNames): Guess[] {
  return candidates(book, column.heading)
    .map((candidate): Guess => {
      const fit = fitOf(column, candidate.field, file, known, book.ofParty);
      return { ...candidate, fit, final: candidate.score * fit.factor };
    })
    .sort((a, b) => b.final - a.final);
}

/** Headings such as `template.Finance.Cost Centre`. A record holds the values of one template, so the first one wins. */
function customColumns(spec: ResourceSpec, columns: readonly Column[]): (string | undefined)[] {
  let template: string | undefined;
  return columns.map(({ heading, name: named }) => {
    const name = named === heading ? customFieldName(heading) : undefined;
    const owner = name?.cuts[0]?.owner;
    if (!name || owner === undefined || (name.kind === 'form' && !spec.form)) return undefined;
    if (name.kind === 'template') {
      template ??= foldText(owner);
      if (template !== foldText(owner)) return undefined;
    }
    return heading.replace(/\s+/gu, ' ').trim();
  });
}

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
const AT_END = 0.72;
/** Of a heading that says more. */
const PART = 0.87;
/** Whose place it is says nothing about what of it: `Address City`, `Default Address Province Code`. */
const PLACE: ReadonlySet<string> = new Set('address default po site location office'.split(' '));
const DATE: ReadonlySet<string> = new Set(['date']);
const PLACED = /^(?:city|country|state_province|zip_.*|address_line_\d|po_box|phone)$/;
/** Of the word alone: less than of `Company name` or `Hostname`. */
const NAME = 0.93;
const BARE_NAME = /^(?:name|nom|nome|nombre)$/i;
/** By its mark in the vocabulary. */
const WEIGHTS: Readonly<Record<string, number>> = { '?': 0.78, '-': 0.6 };

interface PhraseBook {
  /** Phrases by their sorted words, and by the same in one piece. */
  readonly phrases: ReadonlyMap<string, readonly Phrase[]>;
  readonly resource: ResourceName;
  /** Words that some phrase uses. */
  readonly known: ReadonlySet<string>;
  /** Words that name the resource itself. */
  readonly context: ReadonlySet<string>;
  /** These, and words that change nothing about what a column holds. */
  readonly plain: ReadonlySet<string>;
  /** Of suppliers or customers. */
  readonly ofParty: boolean;
  /** What a longer heading may end with. */
  readonly ends: readonly Phrase[];
}

/** Fields that can be written, by what a heading says alone, the best first. */
export function candidates(book: PhraseBook, heading: string): Candidate[] {
  const whole = candidatesOf(book, heading);
  const parts = whole.length > 0 ? [] : heading.split(/\s*\/\s*/);
  const said = parts.map((part) => candidatesOf(book, part)).filter(([best]) => best !== undefined);
  // `Maker / Company`; `City / State` is two things in one column.
  const [only, ...others] = said;
  return parts.length === 2 && only && others.every(([best]) => best!.field === only[0]!.field)
    ? only.map((one) => ({ ...one, score: one.score * PART }))
    : whole;
}

function candidatesOf({ resource, phrases: index, context, plain, ends }: PhraseBook, heading: string): Candidate[] {
  const said = wordsOf(heading);
  const found = new Map<FieldSpec, Candidate>();
  const look = ({ words, joined }: Words, share: number, isFor = (_: FieldSpec) => true): void => {
    for (const phrase of [...(index.get(words.join(' ')) ?? []), ...(index.get(joined) ?? [])]) {
      // `end of support date` and `support end date` are two fields of the same words.
      const order = phrase.joined === joined || phrase.words.length !== words.length ? 1 : OTHER_ORDER;
      const score = phrase.weight * share * order;
      if (!isFor(phrase.field)) continue;
      if ((found.get(phrase.field)?.score ?? 0) < score)
        found.set(phrase.field, { field: phrase.field, score, why: phrase.why });
    }
  };
  look(said, 1);
  if (found.size === 0) {
    for (const [dropped, share] of [
      [context, 0.97],
      [plain, 0.9],
    ] as const) {
      // `Address Company` is the company of an address.
      const words = said.words.filter(
        (word) => !dropped.has(word) || (word === 'company' && said.joined.endsWith(word)),
      );
      look({ words, joined: words.join(''), aside: [] }, share);
    }
    // `Tool ID` is an asset's id.
    const others = said.words.filter((word) => !context.has(word));
    if (found.size === 0 && others.length < said.words.length)
      look({ words: [...others, resource].sort(), joined: '', aside: [] }, 0.97);
    const lookWithout = (dropped: ReadonlySet<string>, isFor: (field: FieldSpec) => boolean) => {
      const words = said.words.filter((word) => !dropped.has(word));
      if (found.size === 0 && words.length < said.words.length)
        look({ words, joined: words.join(''), aside: [] }, PART, isFor);
    };
    lookWithout(new Set([...PLACE, ...plain]), ({ name }) => PLACED.test(name));
    lookWithout(DATE, ({ type }) => type.kind === 'date');
  }
  if (found.size === 0 && !said.words.some((word) => OTHER_THINGS.has(word)))
    for (const { field, joined, why } of ends)
      if (said.joined.endsWith(joined)) found.set(field, { field, score: AT_END, why });
  return [...found.values()].sort((a, b) => b.score - a.score);
}

/** So many headings begin with what a file calls its rows; one of them says what it is called. */
const SUBJECT = 3;
const CALLED: ReadonlySet<string> = new Set('name id number code'.split(' '));

/** `Tool ID`, `Tool Name`, `Tool Condition`: a word that begins several headings, and that no field knows, is the file's word for an asset. */
function withSubject(book: PhraseBook, columns: readonly Column[]): PhraseBook {
  if (book.resource !== 'asset') return book;
  const begun = new Map<string, Words[]>();
  for (const { heading, words } of columns) {
    const first = firstWord(heading);
    if (!book.known.has(first)) begun.set(first, [...(begun.get(first) ?? []), words]);
  }
  const subjects = [...begun]
    .filter(([, all]) => all.length >= SUBJECT && all.some(({ words }) => words.some((word) => CALLED.has(word))))
    .map(([word]) => word);
  return subjects.length === 0 ? book : { ...book, context: new Set([...book.context, ...subjects]) };
}

const books = new WeakMap<ResourceSpec, PhraseBook>();

/** What headings may say for the fields of a resource. */
export function phraseBook(spec: ResourceSpec): PhraseBook {
  const book = books.get(spec) ?? writeBook(spec);
  books.set(spec, book);
  return book;
}

function writeBook(spec: ResourceSpec): PhraseBook {
  const all: Phrase[] = [];
  const ends: Phrase[] = [];
  for (const field of spec.fields) {
    if (field.derived || (field.create === undefined && field.update === undefined)) continue;
    // `Name` beside `Device` or `Company` is the name of somebody.
    const add = (text: string, weight: number, why: string) =>
      all.push({ ...wordsOf(text), field, weight: BARE_NAME.test(text) ? Math.min(weight, NAME) : weight, why });
    add(field.name, 1, "the heading is the field's name");
    for (const alias of field.aliases ?? []) add(alias, 0.98, 'the heading is another name of the field');
    add(field.label, 0.98, "the heading is the field's label");
    const vocabulary = VOCABULARY[spec.name];
    for (const marked of phrases(Object.hasOwn(vocabulary, field.name) ? vocabulary[field.name]! : '')) {
      const text = marked.replace(/^[?*-]/, '');
      const weight = WEIGHTS[marked[0]!];
      if (marked.startsWith('*')) ends.push({ ...wordsOf(text), field, weight: AT_END, why: `it ends with "${text}"` });
      else if (weight === undefined) add(text, 0.94, `"${text}" is a usual heading for it`);
      else add(text, weight, `"${text}" ${weight < LIKELY ? 'may mean' : 'often means'} it`);
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
  const context = RESOURCE_WORDS[spec.name].split(' ').flatMap((word) => wordsOf(word).words);
  return {
    resource: spec.name,
    known: new Set(all.flatMap(({ words }) => words)),
    phrases: index,
    context: new Set(context),
    plain: new Set([...context, ...PLAIN_QUALIFIERS.trim().split(/\s+/)]),
    ofParty: spec.name === 'supplier' || spec.name === 'customer',
    ends,
  };
}
