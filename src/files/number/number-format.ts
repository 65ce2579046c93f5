import { type DateSection, dateSection, renderDate, renderDuration, type Token } from './date-format.js';
import { dateOfSerial } from './serial-date.js';

/**
 * Number format codes of spreadsheet programs: whether a code makes a number a date, and the text a person sees.
 * Covers sections, conditions, literals, currency and locale prefixes, digit placeholders, thousands, scaling,
 * percent, exponents, fractions, dates and elapsed time.
 *
 * Two departures from what is on the screen, for the sake of values that are read on: General shows every digit of a
 * long number, and the short date of the locale (14) shows as `yyyy-MM-dd`, because the file does not tell the locale.
 */
export interface NumberFormat {
  /** `date`: a calendar date, with or without time; `time` and durations are numbers. */
  readonly kind: 'general' | 'number' | 'date' | 'text';
  /** Undefined for General. */
  readonly code: string | undefined;
  /** The text a person sees. `decimal`: the number in plain decimal notation. */
  show(decimal: string, date1904: boolean): string;
}

interface Section {
  readonly tokens: readonly Token[];
  readonly condition: ((value: number) => boolean) | undefined;
  readonly date: DateSection | undefined;
  readonly general: boolean;
}

const TOKEN =
  /"([^"]*)"?|\\(.)|_.|\*.|\[([^\]]*)\]|General|AM\/PM|A\/P|E[+-]|y+|Y+|m+|M+|d+|D+|h+|H+|s+|S+|e+|g+|b+|[0#?.,%@/]|./gisu;

/** What stands behind a currency: `-407`, `-en-GB`, `-x-sysdate`, `-D000409,1`, or a lone dash. */
const LOCALE = /-(?:[\da-z]{1,8}(?:-[\da-z]{1,8})*)?(?:,[^,]*)?$/i;

function parseSection(source: string): Section {
  const tokens: Token[] = [];
  let condition: Section['condition'];
  for (const match of source.matchAll(TOKEN)) {
    const [whole, quoted, escaped, bracket] = match;
    if (quoted !== undefined) tokens.push({ kind: 'literal', text: quoted });
    else if (escaped !== undefined) tokens.push({ kind: 'literal', text: escaped });
    else if (bracket !== undefined) {
      if (/^(?:h+|m+|s+)$/i.test(bracket)) tokens.push({ kind: 'elapsed', text: bracket.toLowerCase() });
      else if (bracket.startsWith('$')) tokens.push({ kind: 'literal', text: bracket.slice(1).replace(LOCALE, '') });
      else condition ??= conditionOf(bracket);
    } else if (/^[_*]./u.test(whole)) tokens.push({ kind: 'literal', text: '' });
    else if (/^(?:General|AM\/PM|A\/P|E[+-]|[ymdhsegb]+|[0#?.,%@/])$/i.test(whole)) {
      tokens.push({ kind: 'code', text: whole });
    } else tokens.push({ kind: 'literal', text: whole });
  }
  const general = tokens.some((token) => token.kind === 'code' && token.text.toLowerCase() === 'general');
  const date = general ? undefined : dateSection(tokens);
  return { tokens, condition, general, date };
}

function conditionOf(bracket: string): Section['condition'] {
  const match = /^(<=|>=|<>|<|>|=)\s*(-?[\d.]+)$/.exec(bracket);
  if (!match) return undefined;
  const limit = Number(match[2]);
  const operators: Readonly<Record<string, (value: number) => boolean>> = {
    '<': (value) => value < limit,
    '<=': (value) => value <= limit,
    '>': (value) => value > limit,
    '>=': (value) => value >= limit,
    '=': (value) => value === limit,
    '<>': (value) => value !== limit,
  };
  return operators[match[1]!];
}

/** Splits at semicolons that stand outside quotes, escapes and brackets. */
function sectionsOf(code: string): string[] {
  const sections: string[] = [];
  let from = 0;
  for (const match of code.matchAll(/"[^"]*"?|\\.|\[[^\]]*\]|;/gu)) {
    if (match[0] !== ';') continue;
    sections.push(code.slice(from, match.index));
    from = match.index + 1;
  }
  return [...sections, code.slice(from)];
}

const compiled = new Map<string, NumberFormat>();

/** A format code, compiled once. */
export function numberFormat(code: string): NumberFormat {
  let format = compiled.get(code);
  if (!format) {
    const compiledCode = compile(code.slice(0, 255));
    format = { ...compiledCode, code: compiledCode.kind === 'general' ? undefined : code };
    if (compiled.size < 5_000) compiled.set(code, format);
  }
  return format;
}

const GENERAL: Omit<NumberFormat, 'code'> = { kind: 'general', show: (decimal) => decimal };

function compile(code: string): Omit<NumberFormat, 'code'> {
  // B1 and B2 choose the calendar of the text, Gregorian or Hijri; the date is the same.
  const trimmed = code.trim().replace(/^B[12](?=[dmyhsgDMYHSG[])/, '');
  if (trimmed === '' || /^general$/i.test(trimmed)) return GENERAL;
  if (trimmed === '@') return { kind: 'text', show: (decimal) => decimal };
  if (trimmed === '0') return { kind: 'number', show: (decimal) => roundDecimal(decimal, 0) };
  const sections = sectionsOf(trimmed).slice(0, 4).map(parseSection);
  const first = sections[0]!;
  const short = trimmed === 'mm-dd-yy';
  return {
    kind: first.date && !first.date.timeOnly ? 'date' : first.general && sections.length === 1 ? 'general' : 'number',
    show(decimal, date1904) {
      const value = Number(decimal);
      const { section, magnitude } = choose(sections, value);
      if (!section) return decimal;
      const digits = magnitude && decimal.startsWith('-') ? decimal.slice(1) : decimal;
      if (section.general) return withLiterals(section, digits);
      if (section.date) {
        if (section.date.elapsed) return renderDuration(section.tokens, value);
        const date = dateOfSerial(section.date.timeOnly && value >= 0 ? (value % 1) + 2 : value, date1904);
        if (!date) return decimal;
        return renderDate((short ? SHORT_DATE : section).tokens, date, value);
      }
      return showNumber(section.tokens, digits);
    },
  };
}

const SHORT_DATE = parseSection('yyyy-mm-dd');

/** The section that applies; `magnitude`: it shows the number without its sign. */
function choose(sections: readonly Section[], value: number): { section: Section | undefined; magnitude: boolean } {
  if (sections.some((section) => section.condition)) {
    const at = sections.findIndex((section, i) => (section.condition ? section.condition(value) : i > 0));
    return { section: sections[at] ?? sections[0], magnitude: at > 0 && value < 0 };
  }
  const numeric = sections.length > 3 ? sections.slice(0, 3) : sections;
  if (value < 0 && numeric.length > 1) return { section: numeric[1], magnitude: true };
  if (value === 0 && numeric.length > 2) return { section: numeric[2], magnitude: true };
  return { section: numeric[0], magnitude: false };
}

function withLiterals(section: Section, digits: string): string {
  return section.tokens
    .map((token) => (token.kind === 'literal' ? token.text : token.text.toLowerCase() === 'general' ? digits : ''))
    .join('')
    .trim();
}

const isPlace = (token: Token | undefined) => token?.kind === 'code' && /^[0#?]$/.test(token.text);

function showNumber(tokens: readonly Token[], decimal: string): string {
  const has = (text: string) => tokens.some((token) => token.kind === 'code' && token.text === text);
  const places = tokens.map((token, i) => (isPlace(token) ? i : -1)).filter((i) => i >= 0);
  if (places.length === 0) return `${sign(decimal)}${literalsOf(tokens, decimal)}`.trim();
  if (has('/')) return showFraction(tokens, decimal);
  const exponent = tokens.findIndex((token) => token.kind === 'code' && /^E[+-]$/i.test(token.text));
  if (exponent >= 0) return scientific(tokens, exponent, decimal);
  const point = tokens.findIndex((token) => token.kind === 'code' && token.text === '.');
  const whole = places.filter((i) => point < 0 || i < point);
  const fraction = places.filter((i) => point >= 0 && i > point);
  const last = places[places.length - 1]!;
  let commasAfter = 0;
  for (let i = last + 1; tokens[i]?.text === ',' && tokens[i]!.kind === 'code'; i++) commasAfter++;
  if (fraction.length === 0 && point > last) for (let i = point - 1; tokens[i]?.text === ','; i--) commasAfter++;
  const grouped = tokens.some(
    (token, i) => token.kind === 'code' && token.text === ',' && i > (whole[0] ?? -1) && i < (whole.at(-1) ?? -1),
  );
  const percents = tokens.filter((token) => token.kind === 'code' && token.text === '%').length;
  const rounded = roundDecimal(shift(decimal, percents * 2 - commasAfter * 3), fraction.length);
  const [integer = '0', decimals = ''] = rounded.replace('-', '').split('.');
  const zero = /^[0.-]*$/.test(rounded);

  const minimum = whole.filter((i) => tokens[i]!.text === '0').length;
  let digits = integer === '0' ? '' : integer;
  digits = digits.padStart(minimum, '0');
  const out = new Map<number, string>();
  // Placeholders take digits from the right; the first one takes all that are left.
  let taken = digits.length;
  for (let k = whole.length - 1; k >= 0; k--) {
    const from = k === 0 ? 0 : Math.max(0, taken - 1);
    const part = digits.slice(from, taken);
    out.set(
      whole[k]!,
      part === '' && tokens[whole[k]!]!.text === '?' ? ' ' : group(part, digits.length - taken, grouped),
    );
    taken = from;
  }
  let kept = fraction.length;
  while (kept > 0 && tokens[fraction[kept - 1]!]!.text === '#' && (decimals[kept - 1] ?? '0') === '0') kept--;
  for (const [k, i] of fraction.entries()) out.set(i, k < kept ? (decimals[k] ?? '0') : '');

  let text = rounded.startsWith('-') && !zero ? '-' : '';
  tokens.forEach((token, i) => {
    if (token.kind === 'literal') text += token.text;
    else if (out.has(i)) text += out.get(i);
    else if (token.text === '%') text += '%';
    else if (i === point) text += '.';
    else if (token.kind === 'code' && !/^[,@]$/.test(token.text)) text += token.text;
  });
  return text.trim();
}

const sign = (decimal: string) => (decimal.startsWith('-') ? '-' : '');

function literalsOf(tokens: readonly Token[], decimal: string): string {
  return tokens.map((token) => (token.kind === 'literal' ? token.text : token.text === '@' ? decimal : '')).join('');
}

/** Thousands separators in a run of digits after which `after` further digits follow. */
function group(digits: string, after: number, grouped: boolean): string {
  if (!grouped) return digits;
  let text = '';
  for (let i = 0; i < digits.length; i++) {
    const left = digits.length - i + after;
    text += digits[i];
    if (left > 1 && (left - 1) % 3 === 0) text += ',';
  }
  return text;
}

function scientific(tokens: readonly Token[], at: number, decimal: string): string {
  const mantissa = tokens.slice(0, at);
  const before = mantissa.findIndex((token) => token.kind === 'code' && token.text === '.');
  const step = Math.max(1, mantissa.slice(0, before < 0 ? undefined : before).filter(isPlace).length);
  const places = before < 0 ? 0 : mantissa.slice(before).filter(isPlace).length;
  const value = Number(decimal);
  let exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  exponent = Math.floor(exponent / step) * step;
  let digits = roundDecimal(shift(decimal, -exponent), places);
  if (Math.abs(Number(digits)) >= 10 ** step) {
    exponent += step;
    digits = roundDecimal(shift(decimal, -exponent), places);
  }
  const width = tokens.slice(at + 1).filter(isPlace).length;
  const mark = exponent < 0 ? '-' : tokens[at]!.text.endsWith('+') ? '+' : '';
  return `${digits}E${mark}${String(Math.abs(exponent)).padStart(width, '0')}`;
}

/** Moves the decimal point of a plain decimal number. */
function shift(decimal: string, by: number): string {
  if (by === 0) return decimal;
  const negative = decimal.startsWith('-');
  const [whole = '0', fraction = ''] = (negative ? decimal.slice(1) : decimal).split('.');
  let digits = whole + fraction;
  let point = whole.length + by;
  if (point <= 0) {
    digits = '0'.repeat(1 - point) + digits;
    point = 1;
  }
  digits = digits.padEnd(point, '0');
  const left = digits.slice(0, point).replace(/^0+(?=\d)/, '');
  const right = digits.slice(point);
  return `${negative ? '-' : ''}${left}${right ? `.${right}` : ''}`;
}

/** Rounds a plain decimal number half away from zero; always `places` digits after the point. */
export function roundDecimal(decimal: string, places: number): string {
  const negative = decimal.startsWith('-');
  const [whole = '0', fraction = ''] = (negative ? decimal.slice(1) : decimal).split('.');
  let digits = whole + fraction.slice(0, places).padEnd(places, '0');
  if ((fraction[places] ?? '0') >= '5') digits = String(BigInt(digits) + 1n).padStart(digits.length, '0');
  const cut = digits.length - places;
  const text = places > 0 ? `${digits.slice(0, cut)}.${digits.slice(cut)}` : digits;
  return negative && /[1-9]/.test(text) ? `-${text}` : text;
}

/*
 * Fractions as spreadsheet programs show them: `# ?/?` of 2.25 is `2 1/4`. The denominator is either stated (`# ??/16`)
 * or the best one with as many digits as the format has places.
 */

const MOST_DIGITS = 7;

const isDigit = (token: Token | undefined) =>
  token !== undefined && token.kind !== 'elapsed' && /^\d$/.test(token.text);

/** `decimal`: a number in plain decimal notation; blanks that only align columns stand at its sides. */
export function showFraction(tokens: readonly Token[], decimal: string): string {
  const slash = tokens.findIndex((token) => token.kind === 'code' && token.text === '/');
  let top = slash;
  while (top > 0 && tokens[top - 1]!.kind === 'literal' && tokens[top - 1]!.text.trim() === '') top--;
  const topEnd = top;
  while (top > 0 && isPlace(tokens[top - 1])) top--;
  let bottom = slash + 1;
  while (tokens[bottom]?.kind === 'literal' && tokens[bottom]!.text.trim() === '') bottom++;
  let end = bottom;
  const stated = isDigit(tokens[bottom]) && tokens[bottom]!.text !== '0';
  while (stated ? isDigit(tokens[end]) : isPlace(tokens[end])) end++;
  if (top === topEnd || end === bottom) return decimal;

  const texts = (from: number, to: number) =>
    tokens
      .slice(from, to)
      .map((token) => (token.kind === 'literal' ? token.text : ''))
      .join('');
  const wholeAt = tokens.findIndex((token, i) => i < top && isPlace(token));
  const mixed = wholeAt >= 0;
  const value = Math.abs(Number(decimal));
  const places = Math.min(MOST_DIGITS, Math.max(mixed ? topEnd - top : 0, end - bottom));
  const denominatorText = stated
    ? tokens
        .slice(bottom, end)
        .map((token) => token.text)
        .join('')
    : '';
  let [numerator, denominator] = stated
    ? ([Math.round(value * Number(denominatorText)), Number(denominatorText)] as const)
    : nearest(value, 10 ** places - 1);
  let whole = 0;
  if (mixed) {
    whole = Math.floor(numerator / denominator);
    numerator -= whole * denominator;
  }
  const sign = decimal.startsWith('-') && (whole > 0 || numerator > 0) ? '-' : '';
  const before = sign + texts(0, mixed ? wholeAt : top);
  if (mixed && numerator === 0) return `${before}${whole}${texts(end, tokens.length)}`.trim();
  const pad = (text: string, from: number, to: number) =>
    tokens[from]!.text === '?'
      ? text.padStart(to - from, ' ')
      : tokens[from]!.text === '0'
        ? text.padStart(to - from, '0')
        : text;
  let firstGap = wholeAt;
  while (mixed && isPlace(tokens[firstGap])) firstGap++;
  const zero = mixed && tokens.slice(wholeAt, firstGap).some((token) => token.text === '0');
  const wholeText = mixed ? `${whole > 0 || zero ? whole : ''}${texts(firstGap, top)}` : '';
  const bottomText = stated ? denominatorText : String(denominator).padEnd(end - bottom, ' ');
  const text = `${before}${wholeText}${pad(String(numerator), top, topEnd)}${texts(topEnd, slash)}/${texts(slash + 1, bottom)}${bottomText}`;
  return `${text}${texts(end, tokens.length)}`.trim();
}

/** The last convergent of the continued fraction whose denominator is at most `limit`. */
function nearest(value: number, limit: number): readonly [number, number] {
  let [numerator, denominator] = [Math.floor(value), 1];
  let [before, beforeDenominator] = [1, 0];
  let rest = value - Math.floor(value);
  while (rest >= 5e-8) {
    const inverse = 1 / rest;
    const step = Math.floor(inverse);
    const next = step * numerator + before;
    const nextDenominator = step * denominator + beforeDenominator;
    if (nextDenominator > limit) break;
    [before, beforeDenominator] = [numerator, denominator];
    [numerator, denominator] = [next, nextDenominator];
    rest = inverse - step;
  }
  return [numerator, denominator];
}

/** Codes that files name by number only. Those from 27 on are East Asian; what matters is that they are dates. */
const BUILT_IN: Readonly<Record<number, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '"$"#,##0_);\\("$"#,##0\\)',
  6: '"$"#,##0_);[Red]\\("$"#,##0\\)',
  7: '"$"#,##0.00_);\\("$"#,##0.00\\)',
  8: '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'mm-dd-yy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yy h:mm',
  37: '#,##0_);\\(#,##0\\)',
  38: '#,##0_);[Red]\\(#,##0\\)',
  39: '#,##0.00_);\\(#,##0.00\\)',
  40: '#,##0.00_);[Red]\\(#,##0.00\\)',
  41: '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
  42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
  44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
};
const EAST_ASIAN_DATES = new Set([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]);
const EAST_ASIAN_TIMES = new Set([32, 33, 34, 35, 55, 56]);

/** The code of a built-in format; undefined for a number that has none. */
export function builtInCode(id: number): string | undefined {
  if (EAST_ASIAN_DATES.has(id)) return 'yyyy\\-mm\\-dd';
  if (EAST_ASIAN_TIMES.has(id)) return 'h:mm:ss';
  return BUILT_IN[id];
}
