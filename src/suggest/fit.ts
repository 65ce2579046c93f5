import { makeConverter } from '../pipeline/convert.js';
import { surveyDecimals } from '../pipeline/decimal-sign.js';
import { foldText } from '../pipeline/headings.js';
import { isRefusal } from '../pipeline/refusal.js';
import { findCountry, suggestCountry } from '../resources/countries.js';
import type { FieldSpec } from '../resources/spec.js';
import { checkValue } from '../resources/value-check.js';
import { surveyChoices } from './choices.js';
import { type Column, type FileFacts, type Fit, judged, number, tally } from './column.js';
import { isDate, surveyFormats } from './dates.js';
import { fitText } from './fit-text.js';
import { wrongUnit } from './fit-unit.js';
import { type SampledCell, shareOf } from './shapes.js';

/** How the values of a column go with a field that its heading may mean. */
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

function fitDates(column: Column, file: FileFacts): Fit {
  const dates = surveyFormats(column.sampled);
  const remarks = dates.mixed ? [`${dates.mixed}; cells with two readings will be refused`] : [];
  const result = tally(column.sampled, ({ cell }) => isDate(cell));
  return judged(column, result, file.whole ? 'are dates' : 'of the sample are dates', {
    dates,
    remarks,
    evidence: dates.evidence === '' ? [] : [dates.evidence],
  });
}

function fitChoices(column: Column, field: FieldSpec): Fit {
  const { choices } = column.profile;
  const texts = choices
    ? [...choices.keys()]
    : [...new Set(column.sampled.cells.map(({ text }) => text))].slice(0, MOST_JUDGED);
  const found = surveyChoices(field, texts);
  const open = new Set(found.open.map(foldText));
  const judgedTexts = new Set(texts);
  const fits = ({ text }: SampledCell) => !open.has(foldText(text)) && (choices !== undefined || judgedTexts.has(text));
  const what = field.type.kind === 'boolean' ? 'are yes or no' : `are in the list of ${field.name}`;
  return judged(column, tally(column.sampled, fits), what, choices ? { choices: found } : {});
}

/** Different texts of a column that has too many to list. */
const MOST_JUDGED = 500;

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
  const marks = new Set(column.sampled.cells.flatMap(({ text }) => markOf(text) ?? []));
  const remarks =
    marks.size > 1 ? [`the amounts carry different currencies: ${[...marks].slice(0, 5).join(', ')}`] : [];
  return judged(column, fits, field.type.kind === 'integer' ? 'are whole numbers' : 'are amounts', {
    decimal,
    remarks,
  });
}

/** The currency of an amount; error values such as `#REF!` and words are none. */
function markOf(text: string): string | undefined {
  return /^#|^\D*$/u.test(text) ? undefined : /\p{Sc}|\b[A-Z]{3}\b/u.exec(text)?.[0];
}

function fitCountries(column: Column): Fit {
  const seen = new Map<string, boolean>();
  const suggested = new Map<string, string>();
  const open: string[] = [];
  const result = tally(column.sampled, ({ text }) => {
    const folded = foldText(text);
    const before = seen.get(folded);
    if (before !== undefined) return before;
    // England is in the United Kingdom, and a misspelling that is near one name alone means that one.
    const [only, ...others] = findCountry(text) === undefined ? suggestCountry(text) : [KNOWN];
    const fits = only !== undefined && others.length === 0;
    if (!fits) open.push(text);
    else if (only !== KNOWN) suggested.set(text, only);
    seen.set(folded, fits);
    return fits;
  });
  const listed = column.profile.choices !== undefined && open.length + suggested.size > 0;
  return judged(column, result, 'are countries', listed ? { choices: { known: [], suggested, open } } : {});
}

/** Stands for a text that needs no translation. */
const KNOWN = '';

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
