import XLSX from 'xlsx';
import { numberText } from '../../src/files/number/cell-value.js';
import { builtInCode, numberFormat } from '../../src/files/number/number-format.js';
import { type Comparison, explained, newComparison, unexplained } from './comparison.js';
import { type Random, randomOf } from './random.js';

/*
 * Number formats against SheetJS's: every built-in one, codes of real workbooks, and codes put together at random, each
 * over numbers of every size and sign.
 */

const NUMBERS: readonly number[] = [
  0,
  1,
  -1,
  0.5,
  -0.5,
  0.05,
  0.005,
  0.995,
  1.005,
  2.5,
  -2.5,
  9.995,
  12.345,
  99.5,
  100,
  999.995,
  1000,
  1234.5,
  -1234.56,
  12345.678,
  99999,
  123456.789,
  1234567.891,
  -9876543.21,
  0.1,
  0.25,
  1 / 3,
  1e-5,
  1.5e-7,
  43831,
  44197.75,
  45322.999,
  36526.5,
  61,
  367,
  2958465,
  1e9,
  123456789012,
];

/** Codes as they are found in workbooks. */
const CODES: readonly string[] = [
  '0',
  '0.0',
  '0.00',
  '0.000',
  '#',
  '#.##',
  '#,##0',
  '#,##0.00',
  '#,##0.0',
  '#,###',
  '0,000',
  '00000',
  '000-00-0000',
  '(000) 000-0000',
  '0%',
  '0.0%',
  '0.00%',
  '#,##0%',
  '$#,##0.00',
  '"$"#,##0',
  '[$$-409]#,##0.00',
  '[$€-2] #,##0.00',
  '#,##0.00 [$€-407]',
  '[$£-809]#,##0.00',
  '"USD" #,##0.00',
  '#,##0.00" kg"',
  '0" pcs"',
  '"No. "0',
  '#,##0;-#,##0',
  '#,##0;(#,##0)',
  '#,##0.00;[Red]-#,##0.00',
  '#,##0.00_);(#,##0.00)',
  '#,##0_);[Red](#,##0)',
  '0;-0;"zero"',
  '0;-0;;@',
  '0.00;-0.00;"-"',
  '+0;-0;0',
  '_-* #,##0.00_-;-* #,##0.00_-;_-* "-"??_-;_-@_-',
  '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
  '[Blue]0;[Red]-0',
  '[>=1000]#,##0,"K";0',
  '[<1]0.00;0',
  '[>100]"high";[<0]"neg";"low"',
  '0.0,',
  '0,',
  '0.00,,',
  '#,##0,',
  '0.00E+00',
  '0E+0',
  '##0.0E+0',
  '0.0E-0',
  'yyyy-mm-dd',
  'yyyy/mm/dd',
  'dd/mm/yyyy',
  'd/m/yy',
  'mm/dd/yyyy',
  'm/d/yy',
  'dd.mm.yyyy',
  'd.m.yy',
  'd-mmm-yy',
  'dd-mmm-yyyy',
  'mmm-yy',
  'mmmm yyyy',
  'd mmmm yyyy',
  'dddd, d mmmm yyyy',
  'ddd dd mmm',
  'mmmmm',
  'yyyy',
  'yy',
  'yyyy-mm-dd hh:mm',
  'yyyy-mm-dd hh:mm:ss',
  'dd/mm/yyyy hh:mm',
  'm/d/yy h:mm AM/PM',
  'h:mm',
  'hh:mm',
  'h:mm:ss',
  'h:mm AM/PM',
  'hh:mm:ss AM/PM',
  'mm:ss',
  'mm:ss.0',
  '[h]:mm',
  '[hh]:mm:ss',
  '[mm]:ss',
  '[h]:mm:ss',
  'h "h" m "min"',
  'yyyy"年"m"月"d"日"',
  '[$-409]mmmm d, yyyy;@',
  '[$-F800]dddd, mmmm dd, yyyy',
  'yyyy\\-mm\\-dd;@',
  'yyyy-mm-dd"T"hh:mm:ss',
  '0\\ 000',
  '#\\ ##0',
  '"text only"',
  'General',
  '@',
  'General" units"',
  '"<"0">"',
  '0.0#',
  '0.##',
  '#.0',
  '?.??',
  '???',
  '0.???',
  '# ?/?',
  '# ??/??',
  '?/?',
  '0/8',
  '# ?/4',
  '0.0##',
  '#0.0',
  '##',
  '00.00',
  '#,##0.00##',
  '\\0',
  '0\\%',
  '0_)',
  '* 0',
  '0*x',
  ';;;',
  '0;',
  '0;;',
  '"a"0"b"0"c"',
];

/** Codes that SheetJS reads by a rule of their own, which loses digits and signs. */
const SHORTCUTS = /000-00|^\(000\)|^0+E|00\.0|#\.[0#]|0\.0E|0,/;

/** What differs for a reason that test/files/differences.md gives, by the code, the number and both texts. */
function known(code: string, value: number, ours: string, theirs: string): string | undefined {
  const shown = theirs.trim();
  if (/general/i.test(code)) return 'general-shows-every-digit';
  if (code === 'mm-dd-yy') return 'short-date-as-iso';
  if (ours === shown) return 'blanks-at-the-ends';
  if (/\?\/|\/\?|0\/\d/.test(code) && ours === numberText(String(value))) return 'fractions-as-numbers';
  if (code === '@') return 'general-shows-every-digit';
  const dated = /[ydm]|\[[hms]/i.test(code.replace(/"[^"]*"|\\.|\[(?![hms])[^\]]*\]/gi, ''));
  if (dated && (value < 1 || value > 2_958_465)) return 'no-such-day';
  if (/ddd/.test(code) && value < 60) return 'weekday-of-1900';
  for (const nudge of [1e-12, 1e-9, 1e-6]) {
    if (dense(ours) === dense(formatted(code, value * (1 + nudge)) ?? '')) return 'halves-round-up';
  }
  if (dense(ours) === dense(theirs)) return 'blanks-at-the-ends';
  if (code.includes('?') && dense(ours).replace(/0+$/, '') === dense(theirs).replace(/0+$/, ''))
    return 'question-mark-digits';
  if (shown.replace('-', '') === '0' && ours === '0') return 'minus-zero';
  if (/\*[^ ]/.test(code) && Math.abs(Number(ours) - Number(shown.replace(code.replace(/^.*\*(.).*$/, '$1'), ''))) <= 1)
    return 'fill-characters';
  if (value < 0 && /\[[hms]/.test(code) && shown === '') return 'negative-times';
  if (SHORTCUTS.test(code)) return 'sheetjs-shortcuts';
  if (value < 0 && ours.replace('-', '') === shown.replace('-', '')) return 'place-of-the-minus-sign';
  return undefined;
}

const dense = (text: string) => text.replaceAll(' ', '');

function formatted(code: string, value: number): string | undefined {
  try {
    return XLSX.SSF.format(code, value) as string;
  } catch {
    return undefined;
  }
}

function compare(comparison: Comparison, code: string, value: number): void {
  const decimal = numberText(String(value));
  if (decimal === undefined) return;
  comparison.cells++;
  const theirs = formatted(code, value);
  if (theirs === undefined) {
    explained(comparison, 'code-refused');
    return;
  }
  const ours = numberFormat(code).toText(decimal, false);
  if (ours === theirs) return;
  const name = known(code, value, ours, theirs);
  if (name) explained(comparison, name);
  else unexplained(comparison, `${code} of ${value}: ${JSON.stringify(ours)}, SheetJS: ${JSON.stringify(theirs)}`);
}

/** Built-in codes and those of real workbooks over every number. */
export function compareFormats(): Comparison {
  const comparison = newComparison();
  const builtIn = Array.from({ length: 50 }, (_, id) => builtInCode(id)).filter((code) => code !== undefined);
  for (const code of new Set([...builtIn, ...CODES])) {
    comparison.files++;
    for (const value of NUMBERS) compare(comparison, code, value);
  }
  return comparison;
}

/** Codes put together at random. */
export function compareRandomFormats(seed: number, count: number): Comparison {
  const comparison = newComparison();
  for (let i = 0; i < count; i++) {
    const random = randomOf(seed * 600_011 + i);
    comparison.files++;
    const code = codeOf(random);
    for (let n = 0; n < 6; n++) compare(comparison, code, random.pick(NUMBERS));
  }
  return comparison;
}

/** A code as a person puts it together in the dialogue of a spreadsheet program. */
function codeOf(random: Random): string {
  if (random.chance(0.4)) return dateCode(random);
  const whole = random.pick(['0', '#,##0', '#,##0', '0,000', '0000', '#']);
  const fraction = random.pick(['', '', '.0', '.00', '.000', '.0000']);
  const before = random.pick(['', '', '"x "', '$', '"EUR" ', '[$€-407]', '\\~']);
  const after = random.pick(['', '', '%', ' "kg"', ' "€"', '_)', ',', '\\ "h"']);
  const code = `${before}${whole}${fraction}${after}`;
  const negative = random.pick([`-${code}`, `(${code})`, `[Red]-${code}`]);
  return [
    code,
    ...(random.chance(0.4) ? [negative, ...(random.chance(0.4) ? [random.pick(['"-"', '"zero"', '0'])] : [])] : []),
  ].join(';');
}

function dateCode(random: Random): string {
  const separator = random.pick(['-', '/', '.', ' ', '\\-', '", "']);
  const day = random.pick(['d', 'dd']);
  const month = random.pick(['m', 'mm', 'mmm', 'mmmm']);
  const year = random.pick(['yy', 'yyyy']);
  const date = random
    .pick([
      [day, month, year],
      [month, day, year],
      [year, month, day],
      [month, year],
    ])
    .join(separator);
  const time = random.pick(['h:mm', 'hh:mm', 'hh:mm:ss', 'h:mm AM/PM', 'h:mm:ss AM/PM', 'mm:ss']);
  return `${random.pick(['', '', '[$-409]'])}${random.pick([date, date, `${date} ${time}`, `dddd ${date}`, time])}${random.pick(['', '', ';@'])}`;
}
