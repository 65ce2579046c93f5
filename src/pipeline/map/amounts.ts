import { countText } from '../../model/count-text.js';
import type { SheetRow } from '../../model/row.js';
import { type Refusal, refuse } from './cell-text.js';
import { excerpt } from './headings.js';

/**
 * Amounts as people write them: `$1,200.50`, `1.200,50 €`, `(12.00)`, `CHF 1’200.—`, `1 200,5-`. Text in, text out:
 * nothing passes through a float. Which of `.` and `,` is the decimal sign is told by each amount where it can be.
 */

type DecimalSign = '.' | ',';

/** How the decimal sign of a column is decided. */
export interface DecimalRule {
  /** `each`: the file uses both, so only amounts that are certain by themselves are read. */
  readonly sign: DecimalSign | 'each';
  /** Why, as a clause: `cells such as "1.234,56" (row 3) show it`. */
  readonly why: string;
}

/** The bare digits and separators of an amount, and its sign. */
interface Amount {
  readonly negative: boolean;
  readonly body: string;
}

const CURRENCY_CODES = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()));
const CURRENCY_WORDS = new Set('kr fr sfr zł kč ft lei rs лв руб r rm rp euro eur'.split(' '));
const SYMBOL_PREFIXES = new Set(['', 'us', 'a', 'au', 'c', 'ca', 'nz', 'hk', 's', 'sg', 'r', 'nt', 'mx']);
// A point belongs to the currency only in abbreviations: in `EUR.5` it is the decimal sign.
const LEADING = /^(\p{L}{0,2}\p{Sc}|(?:kr|rs|s?fr|руб)\.|\p{L}{1,4})\s*/iu;
const TRAILING = /\s*(\p{Sc}|(?:kr|rs|s?fr|руб)\.|\p{L}{1,4})$/iu;
/** No amount is longer; bounds the work on hostile cells. */
const MAX_LENGTH = 64;

/** Takes currency, sign and brackets off; undefined where what is left is not an amount. */
export function stripAmount(text: string): Amount | undefined {
  // Fractions and raised digits (`1½`, `12²`) would turn into other numbers under NFKC.
  if (text.length > MAX_LENGTH || /\p{No}/u.test(text)) return undefined;
  let rest = text
    .replace(/[’‘ʼ´`]/g, "'")
    .replace(/[−–—‐‑]/g, '-')
    .normalize('NFKC')
    .trim();
  let negative = false;
  let signs = 0;
  let currencies = 0;
  for (;;) {
    const [, bracketed] = /^\((.*)\)$/su.exec(rest) ?? [];
    const currency = [LEADING, TRAILING]
      .map((pattern) => pattern.exec(rest))
      .find((found) => found && isCurrency(found[1]!));
    if (bracketed !== undefined) {
      negative = true;
      rest = bracketed.trim();
      signs++;
    } else if (currency) {
      rest = rest.slice(0, currency.index) + rest.slice(currency.index + currency[0].length);
      currencies++;
    } else if (/^[+-]/.test(rest)) {
      negative ||= rest.startsWith('-');
      rest = rest.slice(1).trimStart();
      signs++;
    } else if (/\d\s*-$/.test(rest)) {
      negative = true;
      rest = rest.slice(0, -1).trimEnd();
      signs++;
    } else break;
    if (signs > 1 || currencies > 2) return undefined;
  }
  // `5,-` and `5.--` are whole amounts.
  rest = rest.replace(/(?<=[.,])-{1,2}$/, '00');
  const body = rest.replace(/\s/g, ' ');
  return /^[\d.,][\d.,' ]*$/.test(body) && /\d/.test(body) && /[\d.,]$/.test(body) ? { negative, body } : undefined;
}

function isCurrency(token: string): boolean {
  const bare = token.toLowerCase().replace(/\./g, '');
  const symbol = /\p{Sc}$/u.exec(bare);
  return symbol
    ? SYMBOL_PREFIXES.has(bare.slice(0, symbol.index))
    : CURRENCY_CODES.has(bare) || CURRENCY_WORDS.has(bare);
}

/**
 * Which decimal sign an amount shows by itself: `none` where it has neither sign, `open` where a single sign is followed by
 * exactly three digits (`1,234`), undefined where the separators make no number.
 */
export function decimalSignIn(body: string): DecimalSign | 'none' | 'open' | undefined {
  const dots = count(body, '.');
  const commas = count(body, ',');
  const blanks = / |'/.test(body);
  if (dots === 0 && commas === 0) return 'none';
  if (dots > 0 && commas > 0) {
    const last: DecimalSign = body.lastIndexOf('.') > body.lastIndexOf(',') ? '.' : ',';
    return blanks || (last === '.' ? dots : commas) > 1 ? undefined : last;
  }
  const sign: DecimalSign = dots > 0 ? '.' : ',';
  if (dots + commas > 1) return blanks ? undefined : sign === '.' ? ',' : '.';
  const [head = '', tail = ''] = body.split(sign);
  const grouped = tail.length === 3 && /^[1-9]\d{0,2}$/.test(head);
  return grouped ? 'open' : sign;
}

/** `1.234,56` with `,` → `1234.56`. Groups must be well formed (3 digits, or 2 as in India); undefined otherwise. */
export function amountDigits(body: string, sign: DecimalSign): string | undefined {
  const [whole = '', fraction = '', ...more] = body.split(sign);
  if (more.length > 0 || !/^\d*$/.test(fraction) || whole + fraction === '') return undefined;
  if (!/^\d*$/.test(whole) && !groups(sign).some((grouping) => grouping.test(whole))) return undefined;
  return `${whole.replace(/\D/g, '') || '0'}${fraction ? `.${fraction}` : ''}`;
}

const grouping = (mark: string) => new RegExp(`^(\\d{1,3}(${mark}\\d{3})+|\\d{1,2}(${mark}\\d{2})*${mark}\\d{3})$`);
const BLANK_GROUPS = [grouping(' '), grouping("'")];
const GROUPS = { '.': [grouping(','), ...BLANK_GROUPS], ',': [grouping('\\.'), ...BLANK_GROUPS] };
const groups = (sign: DecimalSign) => GROUPS[sign];

/** The amount as plain decimal text (`-1234.5`), or why it cannot be read under this rule. */
export function amountText(text: string, rule: DecimalRule): string | Refusal {
  // What most cells hold; a single `.` that three digits follow needs the full look.
  if (rule.sign !== ',' && /^-?\d{1,30}(?:\.\d{1,2})?$/.test(text)) return text;
  const amount = stripAmount(text);
  const ownSign = amount && decimalSignIn(amount.body);
  if (!amount || ownSign === undefined) return unreadable(text, rule);
  if (rule.sign === 'each' && ownSign === 'open') {
    return refuse('not_a_number', `has two readings, because ${rule.why}. State ${AS_STATED}`);
  }
  const sign: DecimalSign = rule.sign !== 'each' ? rule.sign : ownSign === ',' ? ',' : '.';
  if ((ownSign === '.' || ownSign === ',') && ownSign !== sign) {
    return refuse(
      'not_a_number',
      `does not fit the decimal sign "${sign}", which is taken because ${rule.why}. Correct the cell, or if the sign is "${ownSign}": state it in the job: \`source: { decimal: "${ownSign}" }\` or \`decimal: "${ownSign}"\` on the column.`,
    );
  }
  const digits = amountDigits(amount.body, sign);
  return digits === undefined ? unreadable(text, rule) : amount.negative ? `-${digits}` : digits;
}

/** How a job says which sign is meant; also part of warnings. */
const AS_STATED = 'it in the job: `source: { decimal: "," }` or `decimal: ","` on the column (or ".").';
const HOW_TO_STATE = `state ${AS_STATED}`;

/** In the sign that the column has. */
export const notANumber = ({ sign }: DecimalRule): Refusal => NOT_A_NUMBER[sign === ',' ? ',' : '.'];

const notDigits = (example: string) =>
  refuse('not_a_number', `cannot be read as a number. Write digits such as ${example}.`);
const NOT_A_NUMBER = { '.': notDigits('1234.50'), ',': notDigits('1234,50') };

function unreadable(text: string, rule: DecimalRule): Refusal {
  if (text.length > MAX_LENGTH) return notANumber(rule);
  if (/[%‰]/.test(text)) return refuse('not_a_number', 'is a percentage; write the number without the sign.');
  if (/^\W*[-−–—]\W*$/u.test(text)) {
    return refuse(
      'not_a_number',
      'could mean zero or no value. Write 0 or clear the cell, or say it in the job: `values: { "-": 0 }`.',
    );
  }
  if (/^[+-]?\d+([.,]\d+)?e[+-]?\d+$/i.test(text)) {
    return refuse(
      'number_precision_lost',
      'is shortened to scientific notation, so digits may be lost. Write the number in full.',
    );
  }
  return notANumber(rule);
}

function count(text: string, sign: string): number {
  let found = 0;
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) found++;
  return found;
}

/** What a look at the first rows said about the decimal sign of a file. */
export interface DecimalSurvey {
  readonly rule: DecimalRule;
  readonly evidence?: string;
  readonly warning?: string;
}

interface AmountSample {
  readonly text: string;
  readonly row: number;
  readonly heading: string;
}

/**
 * Decides `decimal: auto` for all number columns together: a cell such as `1.234,56` or `0,5` shows its sign, `1,234` does not.
 * Cells that show both signs decide nothing: then only cells with one reading are read; neither do some such as `12,5` among
 * more such as `1,234`, which are whole numbers if those few are mistyped. Without any cell that shows its
 * sign, `1,234` is a whole number, as nobody writes amounts with three decimals in every cell; `1.234` may be either, so
 * it is refused. So is `1,234` where semicolons part the cells: programs write them where the comma is the decimal sign.
 */
export function surveyDecimals(
  columns: readonly { readonly heading: string; readonly index: number }[],
  sample: readonly SheetRow[],
  delimiter: string | null,
): DecimalSurvey {
  /** By the sign that cells show, `none`, or `open` with their mark for such as `1,234`. */
  const seen = new Map<string, { readonly first: AmountSample; count: number }>();
  /** Cells such as `1.234,5` show their sign by two marks: no slip of the finger does. */
  let certain = false;
  let amounts = 0;
  for (const { row, cells } of sample) {
    for (const { heading, index } of columns) {
      const text = cells[index];
      if (typeof text !== 'string' || text === '') continue;
      const amount = stripAmount(text);
      const ownSign = amount && decimalSignIn(amount.body);
      if (ownSign === undefined) continue;
      amounts++;
      const kind = ownSign === 'open' ? `open${text.includes('.') ? '.' : ','}` : ownSign;
      const entry = seen.get(kind) ?? { first: { text, row, heading }, count: 0 };
      entry.count++;
      seen.set(kind, entry);
      certain ||= kind.length === 1 && /\d[.,' ]\d{2,3}[.,]\d|(?:[.,]\d{2,3}){2}/.test(amount!.body);
    }
  }
  const undecided = (why: string, example: string): DecimalSurvey => ({
    rule: { sign: 'each', why },
    warning: `The decimal sign could not be told: ${why}. Cells that can be read in one way only are imported, others such as ${example} are refused. To settle it, ${HOW_TO_STATE}`,
  });
  const [dot, comma] = [seen.get('.'), seen.get(',')];
  if (dot && comma) return undecided(`the file writes both ${cite(dot.first)} and ${cite(comma.first)}`, '1,234');
  const proof = dot ?? comma;
  const sign = comma ? ',' : '.';
  const unclear = seen.get(`open${sign}`) ?? (delimiter === ';' && !proof ? seen.get('open,') : undefined);
  const unclearText = unclear && `${cite(unclear.first)} may be a whole or a decimal number`;
  if (proof) {
    const { first, count } = proof;
    const cells = countText(count, 'cell');
    const show = count === 1 ? 'shows' : 'show';
    if (unclear && !certain && unclear.count > count) {
      const why = `only ${cells} of the first ${sample.length} rows, such as ${cite(first)}, ${show} "${sign}" as the decimal sign, and ${unclearText}`;
      return undecided(why, unclear.first.text.trim());
    }
    const neutral = amounts - count;
    const others = neutral === 0 ? '' : `, ${countText(neutral, 'says', 'say')} nothing`;
    return {
      rule: { sign, why: `cells such as ${cite(first)} show it` },
      evidence: `The decimal sign is "${sign}": ${cite(first)}; ${cells} of the first ${sample.length} rows ${show} it${others}.`,
    };
  }
  if (unclear) {
    const why = `no cell of the first ${sample.length} rows shows the decimal sign, and ${unclearText}`;
    return undecided(why, unclear.first.text.trim());
  }
  const thousands = seen.get('open,');
  return {
    rule: { sign: '.', why: `no cell of the first ${sample.length} rows shows another` },
    ...(thousands && {
      warning: `No cell shows the decimal sign for certain. "." is taken as the decimal sign and "," as the thousands sign, so ${cite(thousands.first)} is read as a whole number. If that is wrong, ${HOW_TO_STATE}`,
    }),
  };
}

/** Whether cells were seen that are read by the sign. */
export const showsAmounts = ({ evidence, warning }: DecimalSurvey): boolean => (evidence ?? warning) !== undefined;

function cite({ text, row, heading }: AmountSample): string {
  return `"${excerpt(text)}" (row ${row}, ${excerpt(heading)})`;
}
