import type { DataValidation } from 'exceljs';
import type { ResourceSpec } from '../resources/spec.js';
import type { BlankColumn } from './columns.js';
import type { DropDown } from './lists.js';

/** The letter of a field's column in the data sheet; undefined where the workbook lacks the column. */
export type LetterOf = (field: string) => string | undefined;

/** Ranges in which the subcategory of a row's category is found. */
export const SUBCATEGORY_OF = 'list_subcategory_of';
export const SUBCATEGORIES = 'list_subcategory';

/** Dates are compared as days of the spreadsheet's calendar; the library takes moments of UTC for them. */
const FIRST_DAY = new Date(Date.UTC(1900, 0, 1));
const LAST_DAY = new Date(Date.UTC(9999, 11, 31));

/**
 * What the spreadsheet program checks as a value is typed. `stop` where the import is sure to refuse it, `warning` where it
 * may be right after all (a name that was added since, a synonym). What is pasted is checked by the import alone. Formulas
 * are those of row 2, the first of the range.
 */
export function validationOf(
  column: BlankColumn,
  list: DropDown | undefined,
  spec: ResourceSpec,
  letterOf: LetterOf,
  hasSubcategories: boolean,
): DataValidation | undefined {
  const { type, label } = column.spec;
  const say = (style: 'stop' | 'warning', error: string) => ({
    allowBlank: true,
    showErrorMessage: true,
    errorStyle: style,
    errorTitle: label.slice(0, 30),
    error: error.slice(0, 220),
  });
  const between = letterOf(column.field) ? acrossColumns(column.field, spec, letterOf) : undefined;
  if (between) return { type: 'custom', formulae: [between.formula], ...say('warning', between.error) };
  if (list) {
    const formulae = [list.name];
    if (list.closed) return { type: 'list', formulae, ...say('stop', 'Choose one of the values of the list.') };
    const why =
      type.kind === 'country'
        ? 'This is not in the list of countries. Codes of ISO 3166-1 are read, too.'
        : "This was not among the service's names when the workbook was made.";
    return { type: 'list', formulae, ...say('warning', `${why} Keep it only if it is right.`) };
  }
  if (column.field === 'category.subcategory' && hasSubcategories) {
    const category = letterOf('category.name');
    if (category === undefined) return undefined;
    const cell = `$${category}2`;
    const formula = `OFFSET(${SUBCATEGORIES},MATCH(${cell},${SUBCATEGORY_OF},0)-1,0,COUNTIF(${SUBCATEGORY_OF},${cell}),1)`;
    return {
      type: 'list',
      formulae: [formula],
      ...say('warning', 'The category of this row has no such subcategory in the list.'),
    };
  }
  switch (type.kind) {
    case 'text':
      if (type.exact !== undefined) {
        return {
          type: 'textLength',
          operator: 'equal',
          formulae: [type.exact],
          ...say('stop', `Exactly ${type.exact} characters.`),
        };
      }
      return type.max === undefined
        ? undefined
        : {
            type: 'textLength',
            operator: 'lessThanOrEqual',
            formulae: [type.max],
            ...say('stop', `At most ${type.max} characters.`),
          };
    case 'email': {
      const cell = `${letterOf(column.field)}2`;
      const formula = `AND(ISNUMBER(FIND("@",${cell})),ISERROR(FIND(" ",${cell})),LEN(${cell})<=${type.max})`;
      return {
        type: 'custom',
        formulae: [formula],
        ...say('warning', `One e-mail address such as name@example.com, at most ${type.max} characters.`),
      };
    }
    case 'integer':
    case 'decimal':
      return numberRule(type, say('stop', numberError(type)));
    case 'date':
      return {
        type: 'date',
        operator: 'between',
        formulae: [FIRST_DAY, LAST_DAY],
        ...say('stop', 'A date, for example 2026-01-31.'),
      };
    default:
      return undefined;
  }
}

type NumberType = Extract<BlankColumn['spec']['type'], { kind: 'integer' | 'decimal' }>;

/** Beyond these a spreadsheet program keeps no whole number. */
const LIMIT = 999_999_999_999_999;

function numberRule(type: NumberType, texts: Partial<DataValidation>): DataValidation {
  return {
    type: type.kind === 'integer' ? 'whole' : 'decimal',
    operator: 'between',
    formulae: [Number(type.min ?? -LIMIT), Number(type.max ?? LIMIT)],
    ...texts,
  };
}

function numberError(type: NumberType): string {
  const what = `A ${type.kind === 'integer' ? 'whole number' : 'number'}`;
  return type.min === undefined
    ? `${what}.`
    : `${what}, ${type.min}${type.max === undefined ? ' or more' : ` to ${type.max}`}.`;
}

/** Rules of contracts that two or three cells of a row decide; a blank one decides nothing. Interface, section 4.3. */
function acrossColumns(
  field: string,
  spec: ResourceSpec,
  letterOf: LetterOf,
): { readonly formula: string; readonly error: string } | undefined {
  if (spec.name !== 'contract') return undefined;
  const own = `${letterOf(field)}2`;
  const other = (name: string) => {
    const letter = letterOf(name);
    return letter === undefined ? undefined : `$${letter}2`;
  };
  const [start, end, total] = ['contract_start_date', 'contract_end_date', 'total_contract_spend_value'].map(other);
  const late = (than: string | undefined, sign: string) =>
    than === undefined ? [] : [`OR(${than}="",${own}${sign}${than})`];
  const all = (...tests: string[]) => `AND(ISNUMBER(${own}),${own}>=0,${tests.join(',')})`;
  switch (field) {
    case 'contract_end_date':
      return start === undefined
        ? undefined
        : { formula: all(...late(start, '>')), error: 'A date after the start date of the contract.' };
    case 'service_start_date': {
      const tests = [...late(start, '>='), ...late(end, '<')];
      return tests.length === 0
        ? undefined
        : { formula: all(...tests), error: 'A date on or after the start and before the end of the contract.' };
    }
    case 'nrc':
      return total === undefined
        ? undefined
        : { formula: all(...late(total, '<=')), error: 'A number, not more than the total contract spend.' };
    case 'notice_period':
      return start === undefined || end === undefined
        ? undefined
        : {
            formula: all(`${own}=INT(${own})`, `OR(${start}="",${end}="",${own}<${end}-${start})`),
            error: 'A whole number of days, fewer than the contract lasts.',
          };
    default:
      return undefined;
  }
}

/** The number format of a column. Text columns are text whatever is typed, so that leading zeros and long numbers stay. */
export function numberFormatOf({ spec }: BlankColumn): string {
  switch (spec.type.kind) {
    case 'date':
      return 'yyyy-mm-dd';
    case 'decimal':
      return '#,##0.00';
    case 'integer':
      return '0';
    default:
      return '@';
  }
}

/** Characters of width that the values of a column need. */
export function widthOf({ spec, heading }: BlankColumn): number {
  const byType = {
    date: 13,
    decimal: 18,
    integer: 12,
    boolean: 12,
    country: 22,
    reference: 26,
    enum: 22,
    email: 30,
    texts: 30,
    text: 18,
  };
  const { type } = spec;
  const base =
    type.kind === 'text' ? ((type.max ?? 50) > 100 ? 40 : (type.max ?? 50) > 20 ? 28 : 18) : byType[type.kind];
  // A heading takes two lines at most.
  return Math.min(
    44,
    Math.max(base, Math.ceil(heading.length / 2) + 4, ...heading.split(' ').map((word) => word.length + 3)),
  );
}
