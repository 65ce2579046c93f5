import { Decimal } from '../../model/decimal.js';
import { compileDateFormat, isoDate } from '../../pipeline/map/dates.js';
import { countryWords, findCountry, suggestCountry } from '../../resources/countries.js';
import { booleanValue, enumValue } from '../../resources/enum-match.js';
import type { FieldSpec } from '../../resources/spec.js';
import { checkValue } from '../../resources/value-check.js';
import { didYouMean } from '../nearest.js';
import { shown } from './shape.js';

/** The characters of a value in the file. */
type Written = { readonly text: string; readonly quoted: boolean };

/**
 * Why a value written in a job file (constant, default, meaning of a cell text) cannot be a field's value; undefined
 * where it can. `field` is absent for custom fields: their types are known only when the service is asked.
 * `written` are its characters in the file, where YAML may have read something else than was meant. `dates` are the
 * date formats of the file, which a date may have here too.
 */
export function constantProblem(
  field: FieldSpec | undefined,
  value: unknown,
  written: Written | undefined,
  dates: readonly string[],
): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined;
  const text = String(value);
  const changed = writtenProblem(field, value, written);
  if (changed !== undefined || !field) return changed;
  const type = field.type;
  const fails = (rule: string) => `is ${shown(value)}; it must be ${rule}`;
  switch (type.kind) {
    case 'enum': {
      const found = enumValue(type, text);
      if (found === undefined) return `${fails(`one of: ${type.values.join(', ')}`)}${didYouMean(text, type.values)}`;
      return checkValue(field, found)?.message;
    }
    case 'boolean':
      return booleanValue(text) === undefined ? fails('true or false') : undefined;
    case 'date':
      return isDate(text, dates) ? undefined : fails('a date in the form yyyy-MM-dd');
    case 'integer': {
      if (!/^-?\d{1,15}$/.test(text)) return fails('a whole number');
      return messageOf(checkValue(field, Number(text)));
    }
    case 'decimal': {
      const number = Decimal.parse(text);
      return number ? messageOf(checkValue(field, number)) : fails('a number such as 1200.50');
    }
    case 'country': {
      if (findCountry(text)) return undefined;
      const near = suggestCountry(text).map(countryWords);
      return fails(`a country (ISO 3166-1: name or code)${near.length ? `, for instance ${near.join(', ')}` : ''}`);
    }
    case 'text':
    case 'email':
      return messageOf(checkValue(field, text));
    default:
      return text.trim() === '' ? 'is blank' : undefined;
  }
}

/** YAML has made another value of the characters in the file than they mean. */
export function writtenProblem(
  field: FieldSpec | undefined,
  value: unknown,
  written: Written | undefined,
): string | undefined {
  if (!written || written.quoted || typeof value !== 'number' || !changedByYaml(written.text, value, field))
    return undefined;
  return `is written ${written.text}, which YAML reads as ${value}; put it in quotes: "${written.text}"`;
}

function messageOf(issue: { readonly message: string } | undefined): string | undefined {
  return issue && `cannot be used: ${issue.message}`;
}

/** `00123` and `1.10` lose characters as numbers: harmless in an amount, not in a code; long amounts lose digits. */
function changedByYaml(text: string, value: number, field: FieldSpec | undefined): boolean {
  if (field && (field.type.kind === 'decimal' || field.type.kind === 'integer')) {
    const meant = Decimal.parse(text);
    return meant === undefined || !meant.equals(Decimal.of(value));
  }
  if (field) return text !== String(value);
  // A custom field may be text or an amount; leading zeros and lost digits are wrong in both.
  return /^[+-]?0\d/.test(text) || Decimal.parse(text)?.equals(Decimal.of(value)) !== true;
}

function isDate(text: string, dates: readonly string[]): boolean {
  const iso = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (iso) return isoDate(Number(iso[1]), Number(iso[2]), Number(iso[3])) !== undefined;
  return dates.some((source) => {
    const format = compileDateFormat(source);
    const date = typeof format === 'string' ? undefined : format.parse(text);
    return date !== undefined && date !== 'no_such_day';
  });
}
