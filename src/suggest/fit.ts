import { formatNumber } from '../model/count-text.js';
import { foldText } from '../model/value.js';
import { type DecimalSurvey, surveyDecimals } from '../pipeline/map/amounts.js';
import { isRefusal } from '../pipeline/map/cell-text.js';
import { makeConverter } from '../pipeline/map/convert.js';
import { excerpt, quoted } from '../pipeline/map/headings.js';
import { findCountry, suggestCountry } from '../resources/countries.js';
import type { FieldSpec, ReferenceTarget } from '../resources/spec.js';
import { booleanValue, characters, checkValue, enumValue } from '../resources/value-check.js';
import { type DateFinding, isDate, surveyFormats } from './dates.js';
import type { Column, FileProfile, SampledCell } from './profile.js';
import { DIRECTIONS, NON_PLACES, phrases, VALUE_WORDS } from './vocabulary.js';
import { wordsOf } from './words.js';

/** Whether the service has a record of this name; undefined where it was not asked for such records. */
export type NameLookup = (to: ReferenceTarget, name: string) => boolean | undefined;

/**
 * How the values of a column go with a field that its heading may mean. Values lower a guess; only names that the service knows
 * raise one.
 */
export interface Fit {
  /** Multiplies what the heading says: 1 fits, below 0.7 the column is not mapped. */
  readonly factor: number;
  readonly evidence: readonly string[];
  /** Share of the values looked at that fit; undefined where none can be held against the field. */
  readonly share?: number;
  /** What a person should know although the column is mapped. */
  readonly remarks: readonly string[];
  /** Why the values forbid the field. */
  readonly objection?: string;
  readonly dates?: DateFinding;
  readonly choices?: ChoiceFinding;
  readonly decimal?: DecimalSurvey;
  /** Different names that the service does not know. */
  readonly unknown?: number;
  /** So many texts are too long that they are to be cut. */
  readonly cut?: true;
}

/** What the texts of a column mean in a list of the service. */
interface ChoiceFinding {
  /** Text → value, where it means one value for certain but in other words. */
  readonly suggested: ReadonlyMap<string, string>;
  readonly unmapped: readonly string[];
}

/** `ofParty`: the field is one of a supplier or customer. */
export function fitOf(column: Column, field: FieldSpec, file: FileProfile, known?: NameLookup, ofParty = false): Fit {
  if (column.filled === 0 && file.rows > file.uneven)
    return { factor: BLANK, evidence: ['every cell is blank'], remarks: [] };
  if (column.cells.length === 0) return { factor: BLANK, evidence: ['no value was looked at'], remarks: [] };
  if (isConstantColumn(column, field))
    return rejectFit(
      `all ${formatNumber(column.filled)} rows have the one value "${excerpt(column.cells[0]!.text)}"; if that is right, state it under constants`,
    );
  const { type } = field;
  // What the service knows as a name is one.
  const isKnown = type.kind === 'reference' && column.cells.some(({ text }) => known?.(type.to, text));
  const other = isKnown ? undefined : otherMeaning(column, field, ofParty, file.columns);
  if (other !== undefined) return rejectFit(`the values are ${other}`);
  if (isOfOtherUnit(column, field)) return rejectFit('the heading says that its numbers are in another unit');
  switch (field.type.kind) {
    case 'date':
      return fitDates(column);
    case 'enum':
    case 'boolean':
      return fitChoices(column, field);
    case 'reference':
      return fitReference(column, field.type.to, known);
    case 'decimal':
    case 'integer':
      return fitNumbers(column, field, file);
    case 'country':
      return fitCountries(column);
    default:
      return fitText(column, field, file);
  }
}

/** Below any column that holds something. */
const BLANK = 0.75;

/** As many rows with one and the same value tell nothing about each of them. */
const MIN_REPEATS = 20;

const isParty = (type: FieldSpec['type']): boolean =>
  type.kind === 'reference' && (type.to === 'supplier' || type.to === 'customer');

function isConstantColumn({ distinct, filled }: Column, { name, type }: FieldSpec): boolean {
  return (isParty(type) || name === 'name') && distinct === 1 && filled >= MIN_REPEATS;
}

/** Fields whose headings mean other things as well, and what such a value then is. */
const OTHER_MEANINGS: readonly (readonly [fields: RegExp, isOther: (text: string) => boolean, what: string])[] = [
  [/./, (text) => /\p{L}/u.test(text) && booleanValue(text) !== undefined, 'yes and no'],
  [/./, (text) => /^\d{1,3}(?:\.\d{1,3}){3}$/.test(text), 'network addresses'],
  [/^(?:state_province|city|area|floor|room|bldg_name)$/, (text) => NON_PLACE_WORDS.has(plainWords(text)), 'no places'],
  [/^state_province$/, (text) => DIRECTION_WORDS.has(plainWords(text)), 'directions, no states'],
  [/^unit$/, (text) => !/\d/.test(text), 'units of measure'],
  [/^website$/, (text) => !text.includes('.'), 'no addresses of pages'],
  [/^(?:contact_person\.)?name$/, (text) => PHONE.test(text), 'numbers, not names'],
];

const plainWords = (text: string) => wordsOf(text).words.join(' ');
const NON_PLACE_WORDS: ReadonlySet<string> = new Set(phrases(NON_PLACES).map(plainWords));
const DIRECTION_WORDS: ReadonlySet<string> = new Set(phrases(DIRECTIONS).map(plainWords));

/** `SUP-0017`: people and companies are not called so, things are. */
const CODE = /^\p{L}{0,5}[-_. ]?\d{2,}$/u;

/** Amounts and the like; whole numbers may be ids. */
const NOT_A_NAME = /^(?!\d+$)[^\p{L}]*$/u;

/** What stands before the number of a house, or behind it. */
const STREET = /^(?:street|address|complement)|\|complement/;

/** Of a column whose values are nearly all something else than the field holds: what they are. */
function otherMeaning(column: Column, { name, type }: FieldSpec, ofParty: boolean, all: readonly Column[]) {
  const { cells, words, repeats, counted: among, index } = column;
  if (type.kind === 'boolean' || type.kind === 'enum') return undefined;
  if (UNIQUE_FIELDS.test(name) && repeats > among / 2) return 'the same in many rows';
  const isBare = name === 'number' && words.joined === 'number';
  if (isBare && STREET.test(`${all[index - 1]?.words.joined}|${all[index + 1]?.words.joined}`))
    return 'the numbers of houses';
  if (isBare && cells.every(({ text }, at) => Number(text) === at + 1)) return 'the numbers of the rows';
  const nearlyAll = (test: (text: string) => boolean) =>
    cells.filter(({ text }) => test(text)).length > cells.length * 0.8;
  if (
    type.kind === 'reference' &&
    nearlyAll((text) => (type.to === 'contract' ? !/\d/.test(text) : NOT_A_NAME.test(text)))
  )
    return type.to === 'contract' ? 'names, not numbers of contracts' : 'no names';
  if (name === 'category.name' && words.joined === 'type' && nearlyAll((text) => /\d/.test(text)))
    return 'names of models, not kinds';
  if (isParty(type) || (ofParty && name === 'name'))
    if (nearlyAll((text) => CODE.test(text))) return 'codes, not names';
  return OTHER_MEANINGS.find(([fields, isOther]) => fields.test(name) && nearlyAll(isOther))?.[2];
}

/** What tells one asset from another. */
const UNIQUE_FIELDS = /^(?:serial_number|asset_tag|inventory_no|mac_address)$/;

const rejectFit = (why: string): Fit => ({ factor: 0.5, evidence: [], remarks: [], objection: why });

/** 1 where all fit; falls faster than the share, because a column of the right kind has few exceptions. */
function factorOf(share: number): number {
  if (share >= 0.98) return 1;
  if (share >= 0.9) return 0.97;
  return share >= 0.5 ? 0.85 : share > 0 ? 0.6 : 0.45;
}

function judged({ cells }: Column, test: (one: SampledCell) => boolean, what: string, more: Partial<Fit> = {}): Fit {
  const misfits = cells.filter((one) => !test(one));
  const fits = cells.length - misfits.length;
  const [first] = misfits;
  const said = `${formatNumber(fits)} of ${formatNumber(cells.length)} values ${what}`;
  const example = first ? `"${excerpt(first.text)}" (row ${first.row})` : '';
  const few = `${fits === 0 ? said.replace(/^0/, 'none') : `only ${said}`}, such as ${example}`;
  return {
    factor: factorOf(fits / cells.length),
    share: fits / cells.length,
    remarks: [],
    ...more,
    evidence: [first ? `${said}, not ${example}` : said, ...(more.evidence ?? [])],
    ...(fits / cells.length < 0.5 ? { objection: few } : {}),
  };
}

/** Headings whose amounts are in thousands or the like, and whose periods are not days: they would pass every check and be wrong. */
const SCALED =
  /(?:^|[^\p{L}\p{N}])(?:in|[kme€$£])?\s*(?:000s?|thousands?|millions?|mio|tsd|keur|kusd)(?![\p{L}\p{N}])|[(\s][km]\)?$|%/iu;
const NOT_DAYS = /\b(?:months?|weeks?|years?|monat(?:en?)?|wochen?|jahr(?:en?)?|mois|semaines?|meses|semanas?)\b/i;

function isOfOtherUnit({ heading }: Column, { name, type }: FieldSpec): boolean {
  return name === 'notice_period' ? NOT_DAYS.test(heading) : type.kind === 'decimal' && SCALED.test(heading);
}

function fitDates(column: Column): Fit {
  const dates = surveyFormats(column.cells);
  return judged(column, ({ cell }) => isDate(cell), 'are dates', {
    dates,
    remarks: dates.mixed ? [`${dates.mixed}; cells with two readings will be refused`] : [],
    evidence: dates.evidence === '' ? [] : [dates.evidence],
  });
}

/** Different texts that are judged of a column that has too many to list. */
const MOST_JUDGED = 500;

function fitChoices(column: Column, field: FieldSpec): Fit {
  const texts = column.choices?.keys() ?? [...new Set(column.cells.map(({ text }) => text))].slice(0, MOST_JUDGED);
  return fitList(
    column,
    texts,
    (text) => choiceOf(field, text),
    field.type.kind === 'boolean' ? 'are yes or no' : `are in the list of ${field.name}`,
  );
}

/** `''` for a text that is read as it stands; the value that another word means for certain; undefined for none. */
function choiceOf({ name, type }: FieldSpec, text: string): string | undefined {
  if (type.kind === 'boolean') return booleanValue(text) === undefined ? undefined : '';
  if (type.kind !== 'enum') return undefined;
  if (enumValue(type, text) !== undefined) return '';
  const said = wordsOf(text).words.join(' ');
  const everyday = Object.hasOwn(VALUE_WORDS, name) ? Object.entries(VALUE_WORDS[name]!) : [];
  return everyday.find(
    ([value, words]) =>
      type.values.includes(value) && [value, ...phrases(words)].some((word) => wordsOf(word).words.join(' ') === said),
  )?.[0];
}

function fitCountries(column: Column): Fit {
  const texts = column.choices?.keys() ?? new Set(column.cells.map(({ text }) => text));
  const meaning = (text: string) => {
    if (findCountry(text)) return '';
    // England is in the United Kingdom, and a misspelling that is near one name alone means that one.
    const [only, ...others] = suggestCountry(text);
    return others.length === 0 ? only : undefined;
  };
  return fitList(column, texts, meaning, 'are countries');
}

/** How many values have a meaning; which texts need a translation is said where the column has few different ones. */
function fitList(
  column: Column,
  texts: Iterable<string>,
  meaning: (text: string) => string | undefined,
  what: string,
): Fit {
  const suggested = new Map<string, string>();
  const unmapped: string[] = [];
  const understood = new Map<string, boolean>();
  for (const text of texts) {
    // A job translates a text whatever its case, and states it once.
    const folded = foldText(text);
    if (understood.has(folded)) continue;
    const value = meaning(text);
    understood.set(folded, value !== undefined);
    if (value === undefined) unmapped.push(text);
    else if (value !== '') suggested.set(text, value);
  }
  const choices = column.choices && unmapped.length + suggested.size > 0 ? { choices: { suggested, unmapped } } : {};
  const { objection, ...fit } = judged(column, ({ text }) => understood.get(foldText(text)) === true, what, choices);
  // Some are in the list, and a person can translate the few others.
  const isTranslatable = column.choices !== undefined && (fit.share ?? 0) > 0;
  return objection === undefined ? fit : isTranslatable ? { ...fit, factor: 0.85 } : { ...fit, objection };
}

function fitNumbers(column: Column, field: FieldSpec, file: FileProfile): Fit {
  const decimal = surveyDecimals([column], file.sample, file.delimiter);
  const convert = makeConverter(field, { decimal: decimal.rule, format: file.format });
  const fits = ({ cell }: SampledCell) => {
    if (isError(cell)) return false;
    const value = convert(cell);
    if (isRefusal(value) || (typeof value === 'object' && value !== null && 'named' in value)) return false;
    return checkValue(field, value) === undefined;
  };
  const what = field.type.kind === 'integer' ? 'are whole numbers' : 'are amounts';
  return judged(column, fits, what, { decimal });
}

const isError = (cell: SampledCell['cell']) => typeof cell === 'object' && (cell.t === 'e' || cell.t === 'f');

function fitReference({ cells, distinct }: Column, to: ReferenceTarget, known?: NameLookup): Fit {
  const ids = cells.filter(({ text }) => /^[1-9]\d{0,15}$/.test(text)).length;
  const names =
    distinct === undefined
      ? 'the values'
      : distinct === 1
        ? 'the one value'
        : `the ${formatNumber(distinct)} different values`;
  const remarks = [`only the service can tell whether it knows ${names}`];
  if (to === 'make' || to === 'hardware-model') {
    if (ids < cells.length) return rejectFit('the field takes ids of the service, and the values are texts');
    return { factor: 0.97, evidence: ['the values are numbers, taken as ids of the service'], remarks };
  }
  const asked = cells.filter(({ text }) => known?.(to, text) !== undefined);
  if (asked.length > 0) return fitNames(asked, to, known!);
  if (to === 'contract') return { factor: 1, evidence: [], remarks };
  // Digits are ids of the service. The file of another system has its own, which would be taken without a complaint.
  if (ids * 2 >= cells.length) {
    const such = `${formatNumber(ids)} of ${formatNumber(cells.length)} values are numbers, which are taken as ids of the service`;
    return rejectFit(`${such}; map it only if they are`);
  }
  if (ids > 0) remarks.push(`${formatNumber(ids)} values are numbers, which are taken as ids`);
  if (to === 'customer' || to === 'business-unit')
    remarks.push(`the service has no list of ${to === 'customer' ? 'customers' : 'business units'}`);
  return { factor: 1, evidence: [], remarks };
}

/** Of names that the service was asked for. */
function fitNames(cells: readonly SampledCell[], to: ReferenceTarget, known: NameLookup): Fit {
  const unknownCells = cells.filter(({ text }) => known(to, text) !== true);
  const names = new Set(unknownCells.map(({ text }) => text));
  const share = 1 - unknownCells.length / cells.length;
  const what = to.replace('-', ' ');
  const evidence = [`the service knows ${Math.floor(share * 100)}% of the values as names (${what})`];
  if (names.size === 0) return { factor: KNOWN_FACTOR, share, evidence, remarks: [] };
  const such = quoted([...names].slice(0, 3));
  const way = to === 'supplier' ? ', or `references: { missing: create }` creates them' : '';
  const remark = `the service knows no ${what} ${such}${names.size > 3 ? ` and ${formatNumber(names.size - 3)} more` : ''}: those rows are invalid until it does${way}`;
  return { factor: share >= 0.5 ? 1 : 0.85, share, evidence, remarks: [remark], unknown: names.size };
}

/** Lifts a likely heading to a certain one. */
const KNOWN_FACTOR = 1.17;

/** Values that have a type of their own, for which the service has other fields. */
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/u;
const PHONE_FIELDS = /^(?:phone|mobile|fax)$|_phone$/;
const PHONE = /^[^\p{L}]*\d[^\p{L}]*(?:(?:ext|x|tel|fax)\b.*)?$/iu;
const DATE = /^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{2}|\d{4}))(?:[ T].*)?$/;

/** What identifies a thing is worth nothing when it is cut. */
const NEVER_CUT = /number|name|tag|code|phone|website|inventory|mac|no$/;

/** A row whose text is too long is invalid; a job where so many are would be stopped by its brake. */
const MAX_LONG_SHARE = 0.2;

function fitText(column: Column, field: FieldSpec, file: FileProfile): Fit {
  const { cells } = column;
  const { type, name } = field;
  const valid = ({ text }: SampledCell) => checkValue(field, text) === undefined;
  if (type.kind === 'email') return judged(column, valid, 'are e-mail addresses');
  if (type.kind === 'text' && type.exact !== undefined)
    return judged(column, valid, `have the ${type.exact} characters of ${name}`);
  if (PHONE_FIELDS.test(name)) return judged(column, ({ text }) => PHONE.test(text), 'are phone numbers');
  const typed = cells.filter(({ text }) => EMAIL.test(text) || DATE.test(text));
  if (typed.length * 2 > cells.length && !name.endsWith('_date'))
    return rejectFit(`the values are no text, such as "${excerpt(typed[0]!.text)}"`);
  const max = type.kind === 'text' ? type.max : undefined;
  const long = max === undefined ? 0 : cells.filter(({ text }) => characters(text) > max).length;
  const convert = makeConverter(field, { decimal: { sign: '.', why: '' }, format: file.format });
  const lost = cells.filter(({ cell }) => isError(cell) || isRefusal(convert(cell)));
  const evidence = [`${formatNumber(cells.length - long - lost.length)} of ${formatNumber(cells.length)} values fit`];
  const remarks: string[] = [];
  if (long > 0) {
    const said = `${formatNumber(long)} of ${formatNumber(cells.length)} values are longer than the ${max} characters of ${name}`;
    const cut = `${said}: \`overflow: cut\` keeps the beginning of those, with a warning that counts them; without it the rows are invalid`;
    if (long / cells.length > MAX_LONG_SHARE && field.required !== true) {
      if (NEVER_CUT.test(name)) return rejectFit(said);
      return { factor: 0.85, share: 1 - lost.length / cells.length, evidence, remarks: [cut], cut: true };
    }
    remarks.push(cut);
  }
  if (lost.length > 0) {
    const such = `"${excerpt(lost[0]!.text)}" (row ${lost[0]!.row})`;
    const others = lost.length === 1 ? such : `${such} and ${formatNumber(lost.length - 1)} more`;
    remarks.push(`${others} cannot be read as text without loss; such rows will be invalid`);
  }
  const share = 1 - (long + lost.length) / cells.length;
  const factor = remarks.length === 0 ? 1 : share < 1 - MAX_LONG_SHARE ? 0.85 : 0.97;
  return { factor, share, evidence, remarks };
}
