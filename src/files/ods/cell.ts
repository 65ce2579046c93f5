import type { Cell } from '../../model/row.js';
import { isoToSerial, numberCell, numberText, serialToIso } from '../number/cell-value.js';
import { numberFormat } from '../number/number-format.js';

/** What programs show instead of a result; they store some of them as a number or a text. */
const ERROR_TEXT =
  /^(?:#(?:NULL!|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|N\/A|SPILL!|CALC!)|(?:Err|Fehler|Erreur|Errore):\d{3})$/i;

/**
 * A stored cell as readers hand it over, from its attributes by local name. `text`: its paragraphs, joined by line breaks;
 * undefined without a paragraph. Formulas count by their stored result; one without any is a fault, as in other workbooks.
 */
export function odsCell(attributes: ReadonlyMap<string, string>, text: string | undefined): Cell {
  const type = attributes.get('value-type') ?? '';
  const formula = attributes.get('formula');
  const shown = text ?? '';
  // `calcext:value-type`, which stands last, says so where the program knows that the formula failed.
  if (type === 'error' || (formula !== undefined && ERROR_TEXT.test(shown.trim()))) {
    return { t: 'e', value: shown.trim() || '#VALUE!' };
  }
  const value = attributes.get(VALUES[type] ?? '');
  switch (type) {
    case 'float':
    case 'currency':
    case 'percentage':
      return storedNumber(value, text, type === 'float' && formula !== undefined) ?? unreadableCell(value, shown);
    case 'date':
      return dateCell(value, text) ?? unreadableCell(value, shown);
    case 'time':
      return timeCell(value, text) ?? unreadableCell(value, shown);
    case 'boolean': {
      const truth = value?.trim();
      return truth === 'true' || truth === 'false' ? { t: 'b', value: truth === 'true' } : unreadableCell(value, shown);
    }
    case 'string': {
      // A program that stores the text of a cell beside its paragraphs does so where the two differ: by a format, or cut.
      const stored = attributes.get('string-value');
      if (stored !== undefined && text !== undefined && stored !== '')
        return stored.replace(/\s+/g, ' ') === text.replace(/\s+/g, ' ') ? text : stored;
      const content = text ?? stored;
      return content === undefined && formula !== undefined ? formulaCell(formula) : (content ?? '');
    }
  }
  return formula !== undefined && text === undefined ? formulaCell(formula) : shown;
}

/** The attribute that holds the value of a type. */
const VALUES: Readonly<Record<string, string>> = {
  float: 'value',
  currency: 'value',
  percentage: 'value',
  date: 'date-value',
  time: 'time-value',
  boolean: 'boolean-value',
};

/** A formula without a result, without the name of its language and the equals sign: `of:=SUM([.A1:.A3])`. */
const formulaCell = (formula: string): Cell => ({ t: 'f', formula: formula.replace(/^(?:[A-Za-z][\w-]*:)?=?/, '') });

/**
 * A cell whose value is none of its type. Its text may show a value the file does not hold, so the cell is a fault, as a
 * person sees it; where nothing shows, the stored value tells what to look for. Without a stored value the text is all
 * there is.
 */
function unreadableCell(raw: string | undefined, text: string): Cell {
  if (raw === undefined || raw.trim() === '') return text;
  if (text.trim() !== '') return { t: 'e', value: text.trim() };
  return { t: 'e', value: /^[ -~]{1,40}$/.test(raw) ? raw.trim() : '#VALUE!' };
}

/** A number as a cell without a format shows it, in any language. */
const GENERAL = /^-?(?:0|[1-9]\d*)(?:[.,]\d*[1-9])?(?:E[+-]?\d+)?$/i;

/** A number with more digits than this is shown in scientific notation, also without a format. */
const GENERAL_DIGITS = 11;

/** `isFormula`: of no type that would say how it looks. */
function storedNumber(raw: string | undefined, text: string | undefined, isFormula: boolean): Cell | undefined {
  const value = raw === undefined ? undefined : numberText(raw.trim());
  if (value === undefined) return undefined;
  if (text === undefined || (GENERAL.test(text) && Number(text.replace(',', '.')) === Number(value)))
    return { t: 'n', value, shown: value };
  return (isFormula && inheritedCell(value, text)) || numberCell(value, text, formatOf(value, text));
}

/**
 * A format that shows the number as the text does: `00042`, `12.50`, `8%`, `"SN-"0012`, `1.20E+05` of a number that fits a cell
 * in full; without one where there is more to it.
 */
function formatOf(value: string, text: string): string | undefined {
  if (/\dE\+\d/i.test(text) && value.length <= GENERAL_DIGITS) return '0.00E+00';
  const [, digits = '', fraction = '', percent = ''] = /^-?(\d+)((?:\.\d+)?)(%?)$/.exec(text) ?? [];
  if (digits !== '')
    return `${digits.startsWith('0') ? digits.replace(/\d/g, '0') : '0'}${fraction.replace(/\d/g, '0')}${percent}`;
  // A code, or a number with its unit: every digit of the number stands in it, and nothing that parts thousands.
  const all = text.replace(/\D/g, '');
  if (all !== value.padStart(all.length, '0') || /"|\d[.,'’\s]\d/.test(text)) return undefined;
  // What is typed over a whole number may have a fraction.
  const isWhole = all === value && value.length <= GENERAL_DIGITS && text.includes(all);
  return text.replace(/\d+|\D+/g, (part) =>
    /\D/.test(part) ? `"${part}"` : isWhole ? 'General' : part.replace(/\d/g, '0'),
  );
}

/**
 * The number of a formula takes its look from the formula where the cell has no format: a date from a date, a truth value
 * from a comparison. Only the text tells.
 */
function inheritedCell(value: string, text: string): Cell | undefined {
  if ((value === '1' || value === '0') && /^\p{L}+$/u.test(text)) return { t: 'b', value: value === '1' };
  const date = dateFromText(value, text);
  return date === undefined ? undefined : { t: 'd', value: date, shown: text };
}

/** The date of a serial number of which the text shows day, month and year, in whatever order. */
function dateFromText(value: string, text: string): string | undefined {
  const parts = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})\b/.exec(text);
  if (!parts) return undefined;
  const textParts = [parts[1], parts[3], parts[4]].map(Number).sort((a, b) => a - b);
  for (const date1904 of [false, true]) {
    const date = serialToIso(Number(value), date1904);
    if (date === undefined) continue;
    const [year = 0, month = 0, day = 0] = date.slice(0, 10).split('-').map(Number);
    const matchesText = (year: number) =>
      [day, month, year].sort((a, b) => a - b).every((part, i) => part === textParts[i]);
    if (matchesText(year) || matchesText(year % 100)) return date;
  }
  return undefined;
}

const DATE = /^(\d{4}-\d\d-\d\d)(?:T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:[.,](\d+))?)?Z?$/;

/** Dates of the calendar, to the second. */
function dateCell(stored: string | undefined, text: string | undefined): Cell | undefined {
  const raw = stored?.trim() ?? '';
  const match = DATE.exec(raw);
  if (!match) return undefined;
  const [, day = '', time = '00:00:00', fraction = '0'] = match;
  if (isoToSerial(day) === undefined) return undefined;
  let value = time === '00:00:00' ? day : `${day}T${time}`;
  if (fraction >= '5') value = serialToIso(isoToSerial(value)! + 1 / 86_400, false) ?? value;
  return { t: 'd', value, shown: text ?? value.replace('T', ' ') };
}

const TIME = '[hh]:mm:ss';
const DURATION = /^(-?)P(?=[\dT])(?:(\d{1,7})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:[.,]\d+)?)S)?)?$/;

/** A time of day or a length of time is a number of days, as in other workbooks. */
function timeCell(raw: string | undefined, text: string | undefined): Cell | undefined {
  const match = DURATION.exec(raw?.trim() ?? '');
  if (!match) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(2)
    .map((part) => Number((part ?? '0').replace(',', '.')));
  const size = (days * 86_400 + hours * 3_600 + minutes * 60 + seconds) / 86_400;
  const value = numberText(String(match[1] && size > 0 ? -size : size));
  if (value === undefined) return undefined;
  return { t: 'n', value, shown: text ?? numberFormat(TIME).toText(value, false), format: TIME };
}
