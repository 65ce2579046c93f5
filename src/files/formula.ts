/**
 * Formula protection for CSV, reversible (contract, section 6).
 *
 * A cell is escaped by one leading apostrophe when a spreadsheet program would run it, or one of its lines, as a
 * formula: when the first character after blanks, no-break spaces, zero-width characters and quotation marks is one
 * of `= + - @` (also in their full-width forms), `|` or `%`, or when the cell begins with a tab or carriage return.
 *
 * A sign before a plain number, a telephone number or a date is no formula. They are told apart by what stands after
 * the sign: nothing but digits and the punctuation of numbers, telephone numbers and dates (`. , ( ) / : -`, blanks,
 * a final `%`, an exponent). Without letters, further operators or cell references nothing can be called or read.
 *
 * The decision ignores leading apostrophes, so `'=1` is escaped to `''=1`: text that looks escaped gets one more,
 * and `unescapeFormula(escapeFormula(text)) === text` holds for every text.
 */

const LEAD = '\\p{Zs}\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u2064\\u2066-\\u2069\\uFEFF\\u00AD"\'`´‘’‚“”„«»‹›';

/** Quotation marks and invisible characters before the first character that counts. */
const LEADING = new RegExp(`^[${LEAD}\\t\\v\\f]+`, 'u');

/** A cell that begins with a tab or carriage return. */
const CONTROL_START = new RegExp(`^[${LEAD}]*[\\t\\r]`, 'u');

const TRIGGER = new Set(['=', '+', '-', '@', '＝', '＋', '－', '＠', '|', '%', '﹢', '﹣', '﹦', '﹫', '−']);

/** `-12.50`, `+44 20 7946 0000`, `-1.5E+10`, `+49 (0)30 / 123-45`, `-2024-01-31`, `- 5 %`, a lone sign. */
const HARMLESS = /^[+\-−](?:[\d\s.,()/:-]*\d(?:[eE][+-]?\d+)?[)\s]*(?:%\s*)?|\s*)$/u;

/** Anything that can matter is one of these; most cells are settled by one native search. */
const CANDIDATE = /[=+\-@|%\t\r＝＋－＠﹢﹣﹦﹫−]/u;

function runs(line: string): boolean {
  const rest = line.replace(LEADING, '');
  const first = rest.charAt(0);
  return TRIGGER.has(first) && !HARMLESS.test(rest);
}

function needsEscape(text: string): boolean {
  if (!CANDIDATE.test(text)) return false;
  if (CONTROL_START.test(text)) return true;
  // A formula may span lines, so the first sign is harmless only if the whole text is; a later line is a cell of its own
  // where a program takes the line break for the end of a row.
  return (
    runs(text) ||
    (/[\r\n]/.test(text) &&
      text
        .split(/\r\n|[\r\n]/)
        .slice(1)
        .some(runs))
  );
}

/** The text as it is written to a CSV file. */
export function escapeFormula(text: string): string {
  return needsEscape(text) ? `'${text}` : text;
}

/** The text that `escapeFormula` was given; text it did not escape comes back as it is. */
export function unescapeFormula(text: string): string {
  return text.charCodeAt(0) === 0x27 && needsEscape(text.slice(1)) ? text.slice(1) : text;
}
