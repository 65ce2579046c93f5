import type { SheetRow } from '../model/row.js';
import type { SourceFormat } from '../model/source.js';
import { makeConverter } from '../pipeline/convert.js';
import { type DecimalSurvey, surveyDecimals } from '../pipeline/decimal-sign.js';
import { excerpt } from '../pipeline/nearest.js';
import { isRefusal } from '../pipeline/refusal.js';
import { findCountry } from '../resources/countries.js';
import type { FieldSpec } from '../resources/spec.js';
import { checkValue } from '../resources/value-check.js';
import { type ChoiceFinding, surveyChoices } from './choices.js';
import { type DateFinding, surveyFormats } from './dates.js';
import { type ColumnProfile, longerThan } from './profile.js';
import { countsRows, mayBePhone, type SampledCell, type SampledColumn, shapeOf, shareOf } from './shapes.js';
import { type Words, wordsOf } from './words.js';

/** A column with everything that is known about it. */
export interface Column {
  readonly profile: ColumnProfile;
  readonly sampled: SampledColumn;
  readonly words: Words;
}

export interface FileFacts {
  readonly sample: readonly SheetRow[];
  readonly whole: boolean;
  readonly format: SourceFormat;
}

/** How the values of a column go with a field that its heading may mean. Values lower a guess, they never raise one. */
export interface Fit {
  /** Multiplies what the heading says: 1 fits, below 0.7 the column is not mapped. */
  readonly factor: number;
  readonly evidence: readonly string[];
  /** What a person should know although the column is mapped. */
  readonly remarks: readonly string[];
  /** Why the values forbid the field. */
  readonly against?: string;
  readonly dates?: DateFinding;
  readonly choices?: ChoiceFinding;
  readonly decimal?: DecimalSurvey;
}

/** A row whose text is too long is invalid; a job where so many are would be stopped by its brake. */
const TOO_MANY_LONG = 0.2;

export function fitOf(column: Column, field: FieldSpec, file: FileFacts): Fit {
  const { profile, sampled } = column;
  if (profile.filled === 0) return { factor: 0.8, evidence: ['every cell is blank'], remarks: [] };
  if (sampled.cells.length === 0) return { factor: 0.8, evidence: ['no value was looked at'], remarks: [] };
  const unit = wrongUnit(column, field);
  if (unit) return { factor: 0.5, evidence: [], remarks: [], against: unit };
  switch (field.type.kind) {
    case 'date':
      return fitDates(column, file);
    case 'enum':
    case 'boolean':
      return fitChoices(column, field);
    case 'reference':
      return fitReference(column, field);
    case 'decimal':
    case 'integer':
      return fitNumbers(column, field, file);
    case 'country':
      return fitCountries(column);
    default:
      return fitText(column, field, file);
  }
}

/** 1 where all fit; falls faster than the share, because a column of the right kind has few exceptions. */
function factorOf(share: number): number {
  if (share >= 0.98) return 1;
  if (share >= 0.9) return 0.97;
  return share >= 0.5 ? 0.85 : share > 0 ? 0.6 : 0.45;
}

interface Tally {
  readonly fits: number;
  readonly misfit: SampledCell | undefined;
}

function tally(sampled: SampledColumn, test: (one: SampledCell) => boolean): Tally {
  let fits = 0;
  let misfit: SampledCell | undefined;
  for (const one of sampled.cells) {
    if (test(one)) fits++;
    else misfit ??= one;
  }
  return { fits, misfit };
}

function judged({ sampled }: Column, { fits, misfit }: Tally, what: string, more: Partial<Fit> = {}): Fit {
  const total = sampled.cells.length;
  const share = fits / total;
  const example = misfit ? `, not "${excerpt(misfit.text)}" (row ${misfit.row})` : '';
  const said = `${number(fits)} of ${number(total)} values ${what}${example}`;
  return {
    factor: factorOf(share),
    remarks: [],
    ...more,
    evidence: [said, ...(more.evidence ?? [])],
    ...(share < 0.5
      ? { against: `only ${said}`.replace('only 0 of', 'none of').replace(/, not "/, ', such as "') }
      : {}),
  };
}

function fitDates(column: Column, file: FileFacts): Fit {
  const dates = surveyFormats(column.sampled);
  const plain = (one: SampledCell) => surveyFormats({ ...column.sampled, cells: [one] }).fits === 1;
  const misfit =
    dates.fits === column.sampled.cells.length ? undefined : column.sampled.cells.find((one) => !plain(one));
  const where = file.whole ? '' : ' of the sample';
  const remarks = dates.mixed ? [`${dates.mixed}; cells with two readings will be refused`] : [];
  return judged(column, { fits: dates.fits, misfit }, `are dates${where}`, {
    dates,
    remarks,
    evidence: dates.evidence === '' ? [] : [dates.evidence],
  });
}

function fitChoices(column: Column, field: FieldSpec): Fit {
  const { choices } = column.profile;
  const texts = choices
    ? [...choices.keys()]
    : [...new Set(column.sampled.cells.map(({ text }) => text))].slice(0, 500);
  const found = surveyChoices(field, texts);
  const open = new Set(found.open);
  const result = tally(
    column.sampled,
    ({ text }) => !open.has(text) && (choices !== undefined || texts.includes(text)),
  );
  const what = field.type.kind === 'boolean' ? 'are yes or no' : `are in the list of ${field.name}`;
  return judged(column, result, what, choices ? { choices: found } : {});
}

function fitNumbers(column: Column, field: FieldSpec, file: FileFacts): Fit {
  const decimal = surveyDecimals([column.sampled], file.sample);
  const convert = makeConverter(field, { decimal: decimal.rule, format: file.format });
  const fits = tally(column.sampled, ({ cell }) => {
    if (typeof cell === 'object' && (cell.t === 'e' || cell.t === 'f')) return false;
    const value = convert(cell);
    return !isRefusal(value) && typeof value === 'object' && value !== null && 'named' in value
      ? false
      : !isRefusal(value) && checkValue(field, value as Parameters<typeof checkValue>[1]) === undefined;
  });
  const marks = new Set(column.sampled.cells.flatMap(({ text }) => /\p{Sc}|\b[A-Z]{3}\b/u.exec(text)?.[0] ?? []));
  const remarks =
    marks.size > 1 ? [`the amounts carry different currencies: ${[...marks].slice(0, 5).join(', ')}`] : [];
  return judged(column, fits, field.type.kind === 'integer' ? 'are whole numbers' : 'are amounts', {
    decimal,
    remarks,
  });
}

function fitCountries(column: Column): Fit {
  const known = new Map<string, boolean>();
  const result = tally(column.sampled, ({ text }) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const found = findCountry(text) !== undefined;
    known.set(text, found);
    return found;
  });
  const { choices } = column.profile;
  const open = [...known].flatMap(([text, found]) => (found ? [] : [text]));
  return judged(column, result, 'are countries', {
    ...(choices && open.length > 0 ? { choices: { known: [], suggested: new Map(), open } } : {}),
  });
}

function fitReference(column: Column, field: FieldSpec): Fit {
  const type = field.type;
  const to = type.kind === 'reference' ? type.to : '';
  const digits = shareOf(column.sampled, ({ text }) => /^[1-9]\d{0,15}$/.test(text));
  const distinct = column.profile.distinct;
  const names =
    distinct === undefined
      ? 'the values'
      : distinct === 1
        ? 'the one value'
        : `the ${number(distinct)} different values`;
  const asked = `only the service can tell whether it knows ${names}`;
  if (to === 'make' || to === 'hardware-model') {
    return digits.share === 1
      ? { factor: 0.97, evidence: ['the values are numbers, taken as ids of the service'], remarks: [asked] }
      : {
          factor: 0.5,
          evidence: [],
          remarks: [],
          against: 'the field takes ids of the service, and the values are texts',
        };
  }
  // Digits are ids of the service. The file of another system has its own, which would be taken without a complaint.
  if (to !== 'contract' && digits.share >= 0.5) {
    const such = `${number(digits.count)} of ${number(column.sampled.cells.length)} values are numbers, which are taken as ids of the service`;
    return { factor: 0.5, evidence: [], remarks: [], against: `${such}; map it only if they are` };
  }
  const remarks = [asked];
  if (to !== 'contract' && digits.count > 0)
    remarks.push(`${number(digits.count)} values are numbers, which are taken as ids`);
  if (to === 'customer' || to === 'business-unit')
    remarks.push(`the service has no list of ${to === 'customer' ? 'customers' : 'business units'}`);
  return { factor: 1, evidence: [], remarks };
}

const IDENTIFIERS = new Set([
  'number',
  'serial_number',
  'asset_tag',
  'inventory_no',
  'pseudo_number',
  'parent_serial_number',
]);
const PHONES = /(?:^|_)(?:phone|mobile|fax)$/;
/** Fields that hold a name of something: numbers, addresses of mails and dates are none. */
const NAMES =
  /^(?:name|manufacturer|business_name|contact_person\.name|sales_manager_name|approver|signer|city|business_city|state_province)$/;

function fitText(column: Column, field: FieldSpec, file: FileFacts): Fit {
  const { profile, sampled } = column;
  const type = field.type;
  const max =
    type.kind === 'text' || type.kind === 'email'
      ? (type.max ?? (type.kind === 'text' ? type.exact : undefined))
      : undefined;
  const evidence: string[] = [];
  const remarks: string[] = [];
  const long =
    max === undefined ? 0 : (longerThan(profile, max) ?? shareOf(sampled, ({ text }) => text.length > max).count);
  const share = long / profile.filled;
  const tooLong = `${number(long)} of ${number(profile.filled)} values are longer than the ${max} characters of ${field.name}`;
  if (long > 0) remarks.push(`${tooLong} (the longest has ${number(profile.longest)}); those rows will be invalid`);
  if (share > TOO_MANY_LONG && field.required !== true) return { factor: 0.6, evidence, remarks, against: tooLong };

  if (field.name !== 'signed_date' && IDENTIFIERS.has(field.name) && countsRows(sampled)) {
    return { factor: 0.5, evidence, remarks, against: 'the values count the rows (1, 2, 3 …) and identify nothing' };
  }
  const sized =
    long > 0 || max === undefined ? [] : [`${number(profile.filled)} of ${number(profile.filled)} values fit`];
  const ofShape = expectedShape(field, column, file);
  if (ofShape) return { ...ofShape, remarks: [...remarks, ...ofShape.remarks] };
  if (NAMES.test(field.name)) {
    const odd = shareOf(
      sampled,
      ({ text }) => ['email', 'number', 'date', 'phone', 'url'].includes(shapeOf(text)) && !/\p{L}{2} /u.test(text),
    );
    if (odd.share > 0.5) {
      const against = `${number(odd.count)} of ${number(sampled.cells.length)} values are numbers, dates or addresses, such as "${excerpt(sampled.cells[0]!.text)}", not names`;
      return { factor: 0.6, evidence, remarks, against };
    }
  }
  const refused = makeConverter(field, { decimal: { sign: '.', why: '' }, format: file.format });
  const bad = sampled.cells.find(
    ({ cell }) => (typeof cell === 'object' && (cell.t === 'e' || cell.t === 'f')) || isRefusal(refused(cell)),
  );
  if (bad) remarks.push(`"${excerpt(bad.text)}" (row ${bad.row}) cannot be read as text without loss`);
  return { factor: long > 0 ? 0.97 : 1, evidence: [...evidence, ...sized], remarks };
}

/** Fields whose values have a form of their own: addresses of mails, telephone numbers, web addresses, register numbers. */
function expectedShape(field: FieldSpec, column: Column, file: FileFacts): Fit | undefined {
  const { sampled } = column;
  const type = field.type;
  if (type.kind === 'email')
    return judged(
      column,
      tally(sampled, ({ text }) => checkValue(field, text) === undefined && shapeOf(text) === 'email'),
      'are e-mail addresses',
    );
  if (type.kind === 'text' && type.exact !== undefined) {
    const length = type.exact;
    return judged(
      column,
      tally(sampled, ({ text }) => checkValue(field, text) === undefined),
      `have the ${length} characters of ${field.name}`,
    );
  }
  if (PHONES.test(field.name))
    return judged(
      column,
      tally(sampled, ({ text }) => mayBePhone(text)),
      'look like telephone numbers',
    );
  if (field.name === 'website')
    return judged(
      column,
      tally(sampled, ({ text }) => shapeOf(text) === 'url'),
      'look like web addresses',
    );
  if (field.name === 'mac_address') {
    return judged(
      column,
      tally(sampled, ({ text }) => /^(?:[0-9a-f]{2}[:.-]?){5}[0-9a-f]{2}$/i.test(text)),
      'look like MAC addresses',
    );
  }
  if (/zip/.test(field.name))
    return judged(
      column,
      tally(sampled, ({ text }) => /^[\p{L}\p{N} .-]{2,12}$/u.test(text)),
      `look like postal codes${file.whole ? '' : ' in the sample'}`,
    );
  return undefined;
}

const SCALES = new Set([
  'thousand',
  '000',
  'k',
  'keur',
  'kusd',
  'tsd',
  'million',
  'mio',
  'mn',
  'm',
  'bn',
  'billion',
  'tausend',
  'millier',
  'millione',
  'millonar',
  'mil',
  'mile',
  'millone',
]);
const OTHER_PERIODS = new Set([
  'month',
  'week',
  'year',
  'monat',
  'monate',
  'woche',
  'wochen',
  'jahr',
  'jahre',
  'moi',
  'semaine',
  'mese',
  'semana',
  'year',
]);

/** A heading whose unit is not the field's: such numbers would pass every check and be wrong. */
function wrongUnit({ words, profile }: Column, field: FieldSpec): string | undefined {
  if (field.name === 'notice_period') {
    const unit = [...words.words, ...words.aside].find((word) => OTHER_PERIODS.has(word));
    return unit ? `the field is in days, and the heading says "${unit}"` : undefined;
  }
  if (field.type.kind !== 'decimal') return undefined;
  const scale =
    words.aside.find((word) => SCALES.has(word)) ?? words.words.find((word) => word.length > 2 && SCALES.has(word));
  if (scale !== undefined || /[k€$£]\s*000|\bin 000/i.test(profile.heading))
    return `the heading says that the amounts are in another unit ("${scale ?? '000'}")`;
  return words.words.includes('percent') ? 'the heading says that these are percentages' : undefined;
}

export function number(count: number): string {
  return count.toLocaleString('en-US');
}

/** The words of a heading, once a column. */
export function columnOf(profile: ColumnProfile, sampled: SampledColumn): Column {
  return { profile, sampled, words: wordsOf(profile.heading) };
}
