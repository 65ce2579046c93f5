/**
 * Formula protection for CSV, reversible (contract, section 6).
 *
 * A cell is escaped by one leading apostrophe when a spreadsheet program would run it as a formula: when the first
 * character after blanks, no-break spaces, zero-width characters and quotation marks is one of `= + - @` (also in their
 * full-width forms), `|` or `%`, or when the cell begins with a tab or carriage return.
 *
 * A sign before a plain number is no formula, nor is a sign alone. Everything else behind a sign is worked out: of the
 * telephone number `+49-89-1` -41 would be left, and of the fraction `+1/2` a half. Six and more digits behind a plus are
 * escaped, too, where they are the whole cell: `+4989123` would come back without the plus.
 *
 * A file may be opened with another delimiter than its own, or with a program that takes a line break for the end of a
 * row: what follows a line break or a delimiter inside a cell is then a cell of its own. Where that would run, two
 * apostrophes are put before it, and one before the cell. Two, because one stands there in ordinary text (`'a','-b'`).
 *
 * Every decision ignores apostrophes at the beginning, and text that looks escaped gets more of them (`'=1` becomes
 * `''=1`), so `unescapeFormula(escapeFormula(text)) === text` holds for every text. Reading back needs no delimiter.
 */

const IGNORED_CHARACTERS =
  '\\p{Zs}\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u2064\\u2066-\\u2069\\uFEFF\\u00AD"\'`´‘’‚“”„«»‹›';

/** Quotation marks and invisible characters before the first character that counts. */
const LEADING = new RegExp(`^[${IGNORED_CHARACTERS}\\t\\v\\f]+`, 'u');

/** A cell that begins with a tab or carriage return. */
const CONTROL_START = new RegExp(`^[${IGNORED_CHARACTERS}]*[\\t\\r]`, 'u');

const TRIGGER = new Set(['=', '+', '-', '@', '＝', '＋', '－', '＠', '|', '%', '﹢', '﹣', '﹦', '﹫', '−']);

/**
 * `-12.50`, `-.5`, `+1,234.50`, `-1.234,50`, `-1.5E+10`, `- 5 %`, a lone sign. Behind a plus, groups that anything but commas
 * separates are those of a telephone number.
 */
const HARMLESS = new RegExp(
  '^(?:[+\\-−]\\s*(?:\\d+(?:[.,]\\d*)?|[.,]\\d+|\\d{1,3}(?:,\\d{3})+(?:\\.\\d+)?)' +
    "|[\\-−]\\s*\\d{1,3}(?:(?:\\.\\d{3})+(?:,\\d+)?|(?:['’\\s]\\d{3})+(?:[.,]\\d+)?))" +
    '(?:[eE][+-]?\\d+)?(?:\\s*%)?\\s*$|^[+\\-−]\\s*$',
  'u',
);

/** Nothing runs, but a spreadsheet program saves a telephone number in this form without its plus. */
const TELEPHONE = /^\+\d{6,}$/;

/** Anything that can matter is one of these; most cells are settled by one native search. */
const CANDIDATE = /[=+\-@|%\t\r＝＋－＠﹢﹣﹦﹫−]/u;

function isFormula(line: string): boolean {
  const rest = line.replace(LEADING, '');
  const first = rest.charAt(0);
  return TRIGGER.has(first) && !HARMLESS.test(rest);
}

/** A formula may span lines, so the first sign is harmless only if the whole text is. */
function startsFormula(text: string): boolean {
  return CONTROL_START.test(text) || isFormula(text) || TELEPHONE.test(text.replace(LEADING, ''));
}

/** What ends a cell somewhere: line breaks, and the delimiters that files are opened with. */
const END = /[\r\n\t;,|]/;
const PART = /(?<=([\r\n\t;,|]))[^\r\n\t;,|]+/g;

/** Changes the number of apostrophes before each part after an END that would run as a cell of its own. */
function changeApostrophes(text: string, change: (apostrophes: number, end: string) => number): string {
  if (!END.test(text)) return text;
  return text.replace(PART, (part: string, end: string) => {
    if (!isFormula(part)) return part;
    const leading = leadingApostrophes(part);
    return "'".repeat(change(leading, end)) + part.slice(leading);
  });
}

function leadingApostrophes(text: string): number {
  let count = 0;
  while (text.charCodeAt(count) === 0x27) count++;
  return count;
}

/** `escapeFormula` for a file with this delimiter, which ends no cell inside quotes. */
export function escapeFormulaFor(delimiter: string): (text: string) => string {
  // 0 → 2, 1 → 1 (it is no formula as it stands), 2 → 4, 3 → 5: no two texts become one.
  const more = (leading: number, end: string) =>
    leading === 1 || (leading === 0 && end === delimiter) ? leading : leading + 2;
  return (text) => {
    if (!CANDIDATE.test(text)) return text;
    const safe = changeApostrophes(text, more);
    return safe !== text || startsFormula(text) ? `'${safe}` : text;
  };
}

/** The text as it is written to a CSV file with commas. */
export const escapeFormula = escapeFormulaFor(',');

/** How programs write a text that is to stay one in a spreadsheet: `="00123"`. */
const TEXT_FORMULA = /^="((?:[^"]|"")*)"$/;

/**
 * The text that `escapeFormula` was given, whatever the delimiter, or that a formula holds which is nothing else; text it did
 * not escape comes back as it is.
 */
export function unescapeFormula(text: string): string {
  if (text.startsWith('="')) return TEXT_FORMULA.exec(text)?.[1]?.replaceAll('""', '"') ?? text;
  if (text.charCodeAt(0) !== 0x27 || !CANDIDATE.test(text)) return text;
  const safe = text.slice(1);
  const plain = safe.includes("''")
    ? changeApostrophes(safe, (leading) => (leading === 2 || leading > 3 ? leading - 2 : leading))
    : safe;
  return plain !== safe || startsFormula(plain) ? plain : text;
}
