import { Decimal } from '../model/decimal.js';
import { normaliseName } from '../model/value.js';
import { readDate } from '../resources/calendar.js';
import { findCountry } from '../resources/countries.js';
import { booleanValue, enumValue } from '../resources/enum-match.js';
import { readAmount } from '../resources/read-amount.js';
import type { FieldType, Lexicon } from '../resources/spec.js';
import type { ExportColumn } from './column.js';

/** A value that a filter asks for, as cells are compared with it. */
export interface Wanted {
  /** In canonical form. */
  readonly text: string;
  /** Whether a cell means the same. */
  is(cell: string): boolean;
}

/**
 * How a filter compares a column: by value in the column's type, text as names are compared (NFKC, trimmed, blanks folded;
 * case counts, but not in a column of choices, also where not all of them are known: `open`). '' means blank. A string says
 * why the text is no value of the column.
 */
export function wantedValue(text: string, column: ExportColumn, lexicon: Lexicon, open = false): Wanted | string {
  const wanted = normaliseName(text);
  if (wanted === '') return { text: '', is: (cell) => cell.trim() === '' };
  const choice = choiceOf(column);
  if (choice) return wantedChoice(wanted, choice);
  if (column.type?.kind === 'country') return wantedCountry(wanted, lexicon);
  if (open) return { text: wanted, is: (cell) => folded(cell) === folded(wanted) };
  switch (column.kind) {
    case 'id':
    case 'integer':
    case 'decimal':
    case 'money':
      return wantedNumber(wanted, column.kind === 'id' || column.kind === 'integer');
    case 'date':
      return wantedDate(wanted);
    case 'boolean': {
      const flag = booleanValue(wanted);
      return flag === undefined ? 'must be yes or no' : sameText(String(flag));
    }
    default:
      return sameText(wanted);
  }
}

function sameText(wanted: string): Wanted {
  return { text: wanted, is: (cell) => cell === wanted || normaliseName(cell) === wanted };
}

const folded = (text: string): string => normaliseName(text).toLowerCase();

type Choice = Extract<FieldType, { kind: 'enum' }>;

function choiceOf({ type, choices, kind }: ExportColumn): Choice | undefined {
  if (type?.kind === 'enum') return type;
  return type === undefined && kind === 'text' && choices ? { kind: 'enum', values: choices } : undefined;
}

function wantedChoice(wanted: string, type: Choice): Wanted | string {
  const value = enumValue(type, wanted);
  if (value === undefined) return `must be one of ${[...new Set([...type.values, ...(type.read ?? [])])].join(', ')}`;
  return { text: value, is: (cell) => cell === value || (cell !== '' && enumValue(type, cell) === value) };
}

function wantedCountry(wanted: string, lexicon: Lexicon): Wanted {
  const codeOf = (text: string): number | undefined => lexicon.countryCode(text) ?? findCountry(text)?.id;
  const code = codeOf(wanted);
  // Also a spelling that is no country's counts, as the service may have its own.
  return {
    text: wanted,
    is: (cell) => normaliseName(cell) === wanted || (code !== undefined && codeOf(cell) === code),
  };
}

function wantedNumber(wanted: string, whole: boolean): Wanted | string {
  const value = readAmount(wanted, '.');
  if (!value || (whole && value.scale > 0)) return `must be a ${whole ? 'whole number' : 'number such as 1200.50'}`;
  return { text: value.text, is: (cell) => cell === value.text || Decimal.parse(cell)?.equals(value) === true };
}

function wantedDate(wanted: string): Wanted | string {
  const date = readDate(wanted);
  // Reads may show more than the day, as text.
  return date === undefined ? 'must be a date in the form yyyy-MM-dd' : sameText(date);
}
