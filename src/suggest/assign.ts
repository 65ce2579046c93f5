import { customFieldName } from '../model/job.js';
import { foldText } from '../model/value.js';
import { resourceSpec } from '../resources/registry.js';
import { checkRecord, isRequired } from '../resources/rules.js';
import { type FieldSpec, memoized, type ReferenceTarget, type ResourceSpec, WRITABLE } from '../resources/spec.js';
import { type Fit, fitOf, type NameLookup } from './fit.js';
import type { Column, FileProfile } from './profile.js';
import {
  DISTINGUISHING_WORDS,
  EXCLUDED_HEADINGS,
  PLAIN_QUALIFIERS,
  phrases,
  RESOURCE_WORDS,
  VOCABULARY,
} from './vocabulary.js';
import { expandRates, isConcept, type Words, wordsOf } from './words.js';

/** A guess at or above this is certain enough to need no second look. */
export const HIGH_SCORE = 0.88;
/** A guess below this is never mapped. */
export const LIKELY_SCORE = 0.7;

/** A custom field of the service: as a job names it, and what it holds. */
interface CustomField {
  readonly field: string;
  readonly spec: FieldSpec;
}

/** What the service was asked for. */
export interface ServiceKnowledge {
  readonly known: NameLookup;
  readonly customs: readonly CustomField[];
  /** Whether an import can set the custom field that a heading names in full. */
  readonly canSet: (name: string) => boolean;
}

/** A field for a column: what the heading says, lowered by what the values say. */
export interface Guess extends Candidate {
  readonly fit: Fit;
  readonly finalScore: number;
  /** Whether the service was asked for names. */
  readonly isAsked: boolean;
}

export interface Assignment {
  readonly column: Column;
  /** All guesses, the best first. */
  readonly guesses: readonly Guess[];
  readonly mapped: Guess | undefined;
  /** A custom field that the heading names in full, as an export writes it. */
  readonly custom: string | undefined;
  /** The heading that has the field this column means most. */
  readonly lostTo: string | undefined;
  /** A field without which the service refuses the best guess, and which no column gives. */
  readonly missingPartner: string | undefined;
}

/**
 * Gives every field to the column that means it best. Each field and each column is used once. `asked`: where there is a
 * service.
 */
export function assign(spec: ResourceSpec, file: FileProfile, asked?: ServiceKnowledge): Assignment[] {
  const { columns } = file;
  const custom = customColumns(spec, columns, asked?.canSet);
  const book = phraseBook(spec);
  const own = customCandidates(columns, custom.some((name) => name !== undefined) ? [] : (asked?.customs ?? []));
  const guesses = columns.map((column, at) =>
    column.name === undefined || custom[at] !== undefined ? [] : guessesFor(book, column, own[at]!, file, asked?.known),
  );
  const hasNameParts = personParts(columns) !== undefined;
  const isNamed = guesses.some((list) => list.some((guess) => guess.field.name === 'name' && isMappable(guess)));
  const ranked = guesses
    .flatMap((list, at) => list.filter(isMappable).map((guess) => ({ at, guess })))
    // Beside a person's first and last name, and where nothing else is the name of the company, `Contact Name` is that.
    .filter(({ guess }) => !hasNameParts || guess.field.name !== PERSON || (isNamed && guess.finalScore >= HIGH_SCORE))
    .sort(
      (a, b) => b.guess.finalScore - a.guess.finalScore || columns[b.at]!.filled - columns[a.at]!.filled || a.at - b.at,
    );
  const owner = new Map<FieldSpec, number>();
  const mapped = new Map<number, Guess>();
  const assignField = (at: number, guess: Guess) => {
    owner.set(guess.field, at);
    mapped.set(at, guess);
  };
  for (const { at, guess } of ranked) {
    if (mapped.has(at)) continue;
    const by = owner.get(guess.field);
    // Of `Description` and `Product` both may mean what the other does not: the first makes room where it loses nothing.
    const other = by === undefined ? undefined : guesses[by]!.find((one) => isAlternative(one, mapped.get(by)!, owner));
    if (other) assignField(by!, other);
    if (by === undefined || other) assignField(at, guess);
  }
  for (const field of spec.fields.filter((one) => isRequired(one, 'create') && !owner.has(one))) {
    // Of a field that every record needs, the one column that may hold it does.
    const [only, ...others] = guesses.flatMap((list, at) =>
      mapped.has(at)
        ? []
        : list.filter((guess) => guess.field === field && !guess.fit.objection).map((guess) => ({ at, guess })),
    );
    if (only && others.length === 0) assignField(only.at, only.guess);
  }
  // Beside the supplier of a contract, its buyer is the company itself.
  for (const [at, { field, score }] of mapped)
    if (spec.name === 'contract' && field.name === 'customer' && score < HIGH_SCORE)
      if ([...mapped.values()].some((guess) => guess.field.name === 'supplier')) mapped.delete(at);
  const unpaired = dropUnpaired(spec, columns, mapped);
  return columns.map((column, at) => {
    const best = guesses[at]!.find(isMappable);
    const by = best && mapped.get(at) === undefined && !unpaired.has(at) ? owner.get(best.field) : undefined;
    return {
      column,
      guesses: guesses[at]!,
      mapped: mapped.get(at),
      custom: custom[at],
      lostTo: by === undefined ? undefined : columns[by]!.heading,
      missingPartner: unpaired.get(at),
    };
  });
}

/** Another free field that a column means as much. */
function isAlternative(one: Guess, mapped: Guess, owner: ReadonlyMap<FieldSpec, number>): boolean {
  return one !== mapped && one.finalScore >= mapped.finalScore && isMappable(one) && !owner.has(one.field);
}

/**
 * Takes out what the service refuses without a partner that no column gives (a contact's name and e-mail address, a
 * subcategory's category): the position of the column → that partner.
 */
function dropUnpaired(
  spec: ResourceSpec,
  columns: readonly Column[],
  mapped: Map<number, Guess>,
): ReadonlyMap<number, string> {
  const assignedFields = new Set([...mapped.values()].map(({ field }) => field.name));
  const unpaired = new Map<number, string>();
  if (personParts(columns)) assignedFields.add(PERSON);
  for (const [at, { field }] of mapped) {
    // Whether a partner is needed does not depend on the value: any text will do.
    const lacking = checkRecord(spec, { [field.name]: 'x' }, 'create').find(
      ({ code, field: partner }) => code === 'pair_incomplete' && partner !== undefined && !assignedFields.has(partner),
    );
    if (lacking) unpaired.set(at, lacking.field!);
  }
  for (const at of unpaired.keys()) mapped.delete(at);
  return unpaired;
}

/** Whose name is often in two columns. */
export const PERSON = 'contact_person.name';

const NAME_PARTS: readonly RegExp[] = [
  /^(?:primary|main|key|contact|person)*(?:first|fore|given)name$|^name(?:person)?contact$|^primeironome$/,
  /^(?:primary|main|key|contact|person)*(?:last|family|sur)name$|^(?:namefamily|sobrenome)$/,
];

/** The columns with a person's first and last name, as the job names them; undefined where there are not both. */
export function personParts(columns: readonly Column[]): readonly string[] | undefined {
  const found = NAME_PARTS.map((part) => columns.find(({ words }) => part.test(words.joined))?.name);
  return found.every((name) => name !== undefined) ? found : undefined;
}

/** The service has no list of these: where it was asked and no record bore the names so far, they make rows invalid. Then the heading must be certain. */
const UNLISTED: ReadonlySet<ReferenceTarget> = new Set(['business-unit', 'customer', 'hardware-model', 'make']);

function isMappable({ finalScore, fit, field: { type }, isAsked }: Guess): boolean {
  const isUnsure = isAsked && type.kind === 'reference' && UNLISTED.has(type.to) && (fit.share ?? 0) < 0.5;
  return finalScore >= (isUnsure ? HIGH_SCORE : LIKELY_SCORE);
}

function guessesFor(
  book: PhraseBook,
  column: Column,
  own: readonly Candidate[],
  file: FileProfile,
  known?: NameLookup,
): Guess[] {
  return [...candidates(book, column.heading), ...own]
    .map((candidate): Guess => {
      const fit = fitOf(column, candidate.field, file, known, book.ofParty);
      return { ...candidate, fit, finalScore: candidate.score * fit.factor, isAsked: known !== undefined };
    })
    .sort((a, b) => b.finalScore - a.finalScore);
}

/**
 * Custom fields of the service that headings name: `Finance: Cost Centre`, as blank workbooks have them, for certain; `Cost Centre`
 * likely, where one field alone is called so. Those of the template that most headings name.
 */
function customCandidates(columns: readonly Column[], customs: readonly CustomField[]): Candidate[][] {
  const byLabel = new Map<string, Candidate[]>();
  for (const { field: name, spec } of customs) {
    const whole = foldText(spec.label);
    const part = foldText(spec.label.slice(spec.label.lastIndexOf(': ') + 2));
    const field = { ...spec, name };
    const why = `the service has the custom field "${spec.label}"`;
    for (const [label, score] of [[whole, 1] as const, [part, LIKELY_CUSTOM] as const])
      byLabel.set(label, [...(byLabel.get(label) ?? []), { field, score, why, isWhole: true }]);
  }
  const found = columns.map(({ heading }) => {
    const matching = byLabel.get(foldText(heading)) ?? [];
    return matching.length === 1 ? matching : [];
  });
  const owners = found.flatMap(([one]) => (one ? (ownerOf(one) ?? []) : []));
  const count = (owner: string) => owners.filter((one) => one === owner).length;
  const [most] = owners.toSorted((one, other) => count(other) - count(one));
  return found.map((list) => list.filter((one) => (ownerOf(one) ?? most) === most));
}

const LIKELY_CUSTOM = 0.85;

/** The template of a field; a record holds the values of one. */
const ownerOf = ({ field: { name, label } }: Candidate): string | undefined =>
  name.startsWith('template.') ? label.slice(0, label.lastIndexOf(': ')) : undefined;

/** Headings such as `template.Finance.Cost Centre`. A record holds the values of one template, so the first one wins. */
function customColumns(
  spec: ResourceSpec,
  columns: readonly Column[],
  canSet = (_: string): boolean => true,
): (string | undefined)[] {
  let template: string | undefined;
  return columns.map(({ heading, name: named }) => {
    const name = named === heading ? customFieldName(heading) : undefined;
    const owner = name?.splits[0]?.owner;
    if (!name || owner === undefined || (name.kind === 'form' && !spec.form) || !canSet(heading)) return undefined;
    if (name.kind === 'template') {
      template ??= foldText(owner);
      if (template !== foldText(owner)) return undefined;
    }
    return heading.replace(/\s+/gu, ' ').trim();
  });
}

/** A field that a heading may mean: 1 its very name, 0.88 and above for certain, 0.7 and above likely. */
interface Candidate {
  readonly field: FieldSpec;
  readonly score: number;
  /** As a clause: `the heading is the field's name`. */
  readonly why: string;
  /** Whether every word of the heading says so. */
  readonly isWhole: boolean;
}

interface Phrase extends Words {
  readonly field: FieldSpec;
  readonly weight: number;
  /** As people read it. */
  readonly text: string;
  /** What a heading of these words is for the field: `a usual heading for it`. */
  readonly role: string;
}

const OTHER_ORDER = 0.985;
/** At least, of a phrase that is likely by itself: what else the heading says makes another thing of it seldom. */
const MIN_LIKELY_SCORE = 0.74;
/** Of a heading that says more. */
const PART = 0.87;
/** Whose place it is says nothing about what of it: `Address City`, `Default Address Province Code`. */
const PLACE_WORDS: ReadonlySet<string> = new Set('address default po site location office campus'.split(' '));
/** Words that relate what stands beside them. */
const RELATING_WORDS: ReadonlySet<string> = new Set('to on by at in since'.split(' '));
const OF_WORDS: ReadonlySet<string> = new Set('of de del du des di do da van von'.split(' '));
const PLACE_FIELDS = /^(?:city|country|state_province|zip_.*|address(?:_line_\d)?|phone)$/;
/** What a value of the fields may be called at the end: `Custodian Name`, `Region Code`, `Fax No.`, `Start Date`. */
const VALUE_SUFFIXES: readonly (readonly [word: string, isFor: (field: FieldSpec) => boolean])[] = [
  ['date', ({ type }) => type.kind === 'date'],
  [
    'name',
    ({ name, type }) =>
      type.kind === 'reference' ||
      /^(?:contact_person\.name|city|manufacturer|approver|signer|bldg_name|product_description|location_description)$/.test(
        name,
      ),
  ],
  [
    'code',
    ({ name, type }) =>
      type.kind === 'enum' || /^(?:country|state_province|zip_.*|currency\.value|bldg_name|floor|room)$/.test(name),
  ],
  ['number', ({ name }) => /^(?:phone|mobile|fax|room|floor|bldg_name|unit)$/.test(name)],
  ['number', ({ type }) => type.kind === 'reference' && type.to === 'contract'],
  ['reference', ({ type }) => type.kind === 'reference'],
  [
    'designation',
    ({ name }) => /^(?:bldg_name|room|location_description|product_description|category\.name|supplier)$/.test(name),
  ],
  ['title', ({ name }) => name === 'product_description'],
  ['description', ({ name }) => /^(?:category\.\w+|lifecycle_stage|status)$/.test(name)],
  ['address', ({ name }) => /^(?:contact_person\.email|mac_address|website)$/.test(name)],
  ['link', ({ name }) => name === 'website'],
];
/** Words that say something of whatever stands beside them. */
const GENERIC_WORDS: ReadonlySet<string> = new Set(
  'name number id code type status state date description designation value amount cost price total start end from to until title term year model unit class group level object reference address product item service period currency serial'.split(
    ' ',
  ),
);
/** Of the word alone: less than of `Company name`, `Hostname` or `Contract no`. */
const BARE = 0.92;
const BARE_WORD = /^(?:name|nom|nome|nombre|bezeichnung|designation|number)$/i;
/** By its mark in the vocabulary. */
const WEIGHTS: Readonly<Record<string, number>> = { '?': 0.78, '-': 0.6 };

/** Fields that can be written, by what a heading says alone, the best first. */
export function candidates(book: PhraseBook, heading: string): Candidate[] {
  const whole = candidatesOf(book, heading);
  const parts = expandRates(heading).split(/\s*\/\s*/);
  if (parts.length === 1 || whole[0]?.isWhole) return whole;
  // `City / State` is two things in one column.
  const best = parts.flatMap((part) => candidatesOf(book, part)[0] ?? []);
  const likelyFields = new Set(best.flatMap(({ score, field }) => (score >= LIKELY_SCORE ? [field] : [])));
  return likelyFields.size > 1 ? [] : whole;
}

/** Lowered by what else the heading says. */
const lowered = (score: number, share: number) =>
  score < LIKELY_SCORE ? score * share : Math.max(score * share, MIN_LIKELY_SCORE);

function candidatesOf({ phrases: index, context, plain, ends, excluded }: PhraseBook, heading: string): Candidate[] {
  const headingWords = wordsOf(heading);
  if (excluded.has(headingWords.words.join(' '))) return [];
  const found = new Map<FieldSpec, Candidate>();
  const lookUp = (
    { words, joined }: Pick<Words, 'words' | 'joined'>,
    share: number,
    isFor = (_: Phrase) => true,
  ): void => {
    for (const phrase of [...(index.get(words.join(' ')) ?? []), ...(index.get(joined) ?? [])]) {
      // `end of support date` and `support end date` are two fields of the same words.
      const order = phrase.joined === joined || phrase.words.length !== words.length ? 1 : OTHER_ORDER;
      const score = share === 1 ? phrase.weight * order : lowered(phrase.weight * order, share);
      if (isFor(phrase) && (found.get(phrase.field)?.score ?? 0) < score)
        found.set(phrase.field, {
          field: phrase.field,
          score,
          why: `it means "${phrase.text.replaceAll(/[._]/g, ' ')}", ${phrase.role}`,
          isWhole: share === 1,
        });
    }
  };
  /** Unless something is found already. */
  const lookWithout = (isDropped: (word: string) => boolean, share: number, isFor?: (phrase: Phrase) => boolean) => {
    const words = headingWords.words.filter((word) => !isDropped(word));
    if (found.size === 0 && words.length > 0 && words.length < headingWords.words.length)
      lookUp({ words, joined: words.join('') }, share, isFor);
  };
  /** Also where words that change nothing about what a column holds stand there. */
  const lookBeside = (isBeside: (word: string) => boolean, isFor = (_: FieldSpec) => true) => {
    for (const isDropped of [isBeside, (word: string) => isBeside(word) || plain.has(word)])
      lookWithout(isDropped, PART, ({ field }) => isFor(field));
  };
  lookUp(headingWords, 1);
  // `Address Company` is the company of an address.
  const isContext = (word: string) => context.has(word) && !(word === 'company' && headingWords.joined.endsWith(word));
  const isPlain = (word: string) => plain.has(word) && !(word === 'company' && headingWords.joined.endsWith(word));
  if (found.size === 0) {
    lookWithout(isContext, 0.97);
    lookWithout(isPlain, 0.9);
    const isPlaced = ({ field }: Phrase) => PLACE_FIELDS.test(field.name);
    lookWithout((word) => word !== 'address' && PLACE_WORDS.has(word), PART, isPlaced);
    lookWithout((word) => PLACE_WORDS.has(word) || plain.has(word), PART, isPlaced);
    lookBeside((word) => RELATING_WORDS.has(word));
    for (const [suffix, isFor] of VALUE_SUFFIXES) lookBeside((word) => word === suffix, isFor);
  }
  // `Costo storico`, `Tel. geschäftlich`: a word that nothing is known of, beside what means a field for certain, or before what often does.
  const unknownWords = headingWords.words.filter((word) => !isKnown(word));
  const isOther = headingWords.words.some((word) => DISTINGUISHING_WORDS.has(word));
  if (unknownWords.length === 1 && !isOther)
    for (const isDropped of [
      (word: string) => word === unknownWords[0],
      (word: string) => word === unknownWords[0] || isPlain(word),
    ])
      lookWithout(
        isDropped,
        0,
        ({ words, joined, weight }) =>
          (weight >= HIGH_SCORE ||
            (weight >= LIKELY_SCORE &&
              (headingWords.joined.endsWith(joined) ||
                (words.length > 1 && headingWords.joined.startsWith(joined))))) &&
          (words.length > 1 || !(GENERIC_WORDS.has(joined) || context.has(joined))),
      );
  if (found.size === 0 && !isOther) {
    // `Country of vendor` is a country.
    const isOf = headingWords.original.some((word) => OF_WORDS.has(word));
    for (const { field, ordered, text } of ends) {
      const { length } = ordered;
      if (
        (isOf ? headingWords.ordered.slice(0, length) : headingWords.ordered.slice(-length)).join() === ordered.join()
      )
        found.set(field, {
          field,
          score: MIN_LIKELY_SCORE,
          why: `it ${isOf ? 'begins' : 'ends'} with "${text}"`,
          isWhole: false,
        });
    }
  }
  return [...found.values()].sort((a, b) => b.score - a.score);
}

let knownWords: ReadonlySet<string> | undefined;

/** Whether some field of any resource uses the word. */
function isKnown(word: string): boolean {
  knownWords ??= new Set(
    WRITABLE.flatMap((name) => [
      ...phraseBook(resourceSpec(name)).phraseWords,
      ...phraseBook(resourceSpec(name)).plain,
    ]),
  );
  return knownWords.has(word) || isConcept(word);
}

type PhraseBook = ReturnType<typeof phraseBook>;

/** What headings may say for the fields of a resource. */
export const phraseBook = memoized((spec: ResourceSpec) => {
  const all: Phrase[] = [];
  const ends: Phrase[] = [];
  for (const field of spec.fields) {
    if (field.derived || (field.create === undefined && field.update === undefined)) continue;
    // `Name` beside `Device` or `Company` is the name of somebody.
    const phrase = (text: string, weight: number, role: string): Phrase => {
      return { ...wordsOf(text), field, weight: BARE_WORD.test(text) ? Math.min(weight, BARE) : weight, text, role };
    };
    all.push(phrase(field.name, 1, "the field's name"));
    for (const alias of field.aliases ?? []) all.push(phrase(alias, 0.98, 'another name of the field'));
    all.push(phrase(field.label, 0.98, "the field's label"));
    const vocabulary = VOCABULARY[spec.name];
    for (const marked of phrases(Object.hasOwn(vocabulary, field.name) ? vocabulary[field.name]! : '')) {
      const text = marked.replace(/^[?*-]/, '');
      const weight = WEIGHTS[marked[0]!] ?? 0.94;
      if (marked.startsWith('*')) ends.push(phrase(text, MIN_LIKELY_SCORE, ''));
      else {
        const role = `a ${weight > HIGH_SCORE ? 'usual' : weight < LIKELY_SCORE ? 'possible' : 'likely'} heading for it`;
        const one = phrase(text, weight, role);
        // What a word means is said in English, whichever language the vocabulary has it in.
        const isForeign = !one.original.some((word) => one.ordered.includes(word)) && one.ordered.every(isConcept);
        all.push(isForeign ? { ...one, text: one.ordered.join(' ') } : one);
      }
    }
  }
  const index = new Map<string, Phrase[]>();
  for (const phrase of all) {
    for (const key of new Set([phrase.words.join(' '), phrase.joined])) {
      const bucket = index.get(key);
      if (bucket) bucket.push(phrase);
      else index.set(key, [phrase]);
    }
  }
  const context = RESOURCE_WORDS[spec.name].split(' ').flatMap((word) => wordsOf(word).words);
  return {
    /** Words that some phrase uses. */
    phraseWords: new Set(all.flatMap(({ words }) => words)),
    /** Phrases by their sorted words, and by the same in one piece. */
    phrases: index as ReadonlyMap<string, readonly Phrase[]>,
    /** Words that name the resource itself. */
    context: new Set(context),
    /** These, and words that change nothing about what a column holds. */
    plain: new Set([
      ...context,
      ...PLAIN_QUALIFIERS.trim()
        .split(/\s+/)
        .flatMap((word) => wordsOf(word).words),
    ]),
    /** Of suppliers or customers. */
    ofParty: spec.name === 'supplier' || spec.name === 'customer',
    /** What a longer heading may end with. */
    ends: ends as readonly Phrase[],
    /** The words of headings that no field is for. */
    excluded: new Set(phrases(EXCLUDED_HEADINGS[spec.name]).map((text) => wordsOf(text).words.join(' '))),
  };
});
