import type { Random } from './random.js';
import { CODES, dayOf, isoDay, TEXTS, two } from './values.js';
import type { BookCell, BookSlot } from './xlsx-write.js';

/** Stored numbers with a format, and the text on the screen. Excel and LibreOffice agree on each of them. */
const SHOWN: readonly (readonly [raw: string, value: string, code: string | number | undefined, shown: string])[] = [
  ['12.5', '12.5', undefined, '12.5'],
  ['-3', '-3', undefined, '-3'],
  ['0', '0', undefined, '0'],
  ['4.1000000000000005', '4.1', undefined, '4.1'],
  ['1E3', '1000', undefined, '1000'],
  ['1.2000000000000002E-3', '0.0012', undefined, '0.0012'],
  ['1200.5', '1200.5', '"$"#,##0.00', '$1,200.50'],
  ['1200.5', '1200.5', 4, '1,200.50'],
  ['1234567.891', '1234567.891', '#,##0.00', '1,234,567.89'],
  ['1234567.891', '1234567.891', 3, '1,234,568'],
  ['12.345', '12.345', 2, '12.35'],
  ['7', '7', '00000', '00007'],
  ['42', '42', '"INV-"0000', 'INV-0042'],
  ['0.256', '0.256', 9, '26%'],
  ['0.256', '0.256', 10, '25.60%'],
  ['-1200', '-1200', '#,##0;(#,##0)', '(1,200)'],
  ['-1200', '-1200', '#,##0;[Red]-#,##0', '-1,200'],
  ['0', '0', '#,##0;(#,##0);"nil"', 'nil'],
  ['1500', '1500', '[$€-407] #,##0.00', '€ 1,500.00'],
  ['1500', '1500', '#,##0.00 "EUR"', '1,500.00 EUR'],
  ['1500000', '1500000', '0.0,,"M"', '1.5M'],
  ['12345', '12345', '0.00E+00', '1.23E+04'],
  ['5551234', '5551234', '000-0000', '555-1234'],
  ['1.5', '1.5', '[h]:mm:ss', '36:00:00'],
  ['0.75', '0.75', 20, '18:00'],
  ['0.75', '0.75', 'h:mm AM/PM', '6:00 PM'],
  ['4006381333931', '4006381333931', '0', '4006381333931'],
  ['150', '150', '[>100]"high";"low"', 'high'],
  ['50', '50', '[>100]"high";"low"', 'low'],
];

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** Formats of dates, and how they show a day and a time of it. Number 14 shows as ISO: the file does not tell the locale. */
const DATES: readonly (readonly [
  string | number,
  (year: number, month: number, day: number, hour: number, minute: number) => string,
])[] = [
  [14, (y, m, d) => `${y}-${two(m)}-${two(d)}`],
  [15, (y, m, d) => `${d}-${MONTHS[m - 1]!.slice(0, 3)}-${two(y % 100)}`],
  ['yyyy-mm-dd', (y, m, d) => `${y}-${two(m)}-${two(d)}`],
  ['YYYY\\-MM\\-DD', (y, m, d) => `${y}-${two(m)}-${two(d)}`],
  ['dd/mm/yyyy;@', (y, m, d) => `${two(d)}/${two(m)}/${y}`],
  ['m/d/yyyy', (y, m, d) => `${m}/${d}/${y}`],
  ['dd.mm.yyyy', (y, m, d) => `${two(d)}.${two(m)}.${y}`],
  ['[$-409]d mmmm yyyy', (y, m, d) => `${d} ${MONTHS[m - 1]} ${y}`],
  ['yyyy-mm-dd hh:mm', (y, m, d, h, n) => `${y}-${two(m)}-${two(d)} ${two(h)}:${two(n)}`],
  [22, (y, m, d, h, n) => `${m}/${d}/${two(y % 100)} ${h}:${two(n)}`],
];

export function textCell(text: string, random?: Random): BookCell {
  return {
    kind: 'text',
    raw: text,
    shows: text,
    ...(random?.chance(0.15) && text.length > 3 && !/\p{Surrogate}|_x|\u0301|\u200d/u.test(text) ? { rich: true } : {}),
    ...(random?.chance(0.05) ? { phonetic: true } : {}),
  };
}

export function dateCell(random: Random, date1904: boolean): BookCell {
  const day = dayOf(random);
  const [code, show] = random.pick(DATES);
  const timed = typeof code === 'number' ? code === 22 : /h/.test(code);
  const [hour, minute] = timed ? [random.int(24), random.int(60)] : [0, 0];
  if (date1904 && day.year < 1905) (day as { year: number }).year = 1950;
  const epoch = date1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  const days = (Date.UTC(day.year, day.month - 1, day.day) - epoch) / 86_400_000;
  const raw = String(days + (hour * 60 + minute) / 1_440);
  const value = isoDay(day) + (hour + minute > 0 ? `T${two(hour)}:${two(minute)}:00` : '');
  return {
    kind: 'number',
    raw,
    code,
    shows: { t: 'd', value, shown: show(day.year, day.month, day.day, hour, minute) },
  };
}

function numberCell(random: Random): BookCell {
  const [raw, value, code, shown] = random.pick(SHOWN);
  return { kind: 'number', raw, ...(code === undefined ? {} : { code }), shows: { t: 'n', value, shown } };
}

/** A cell of any kind, or none. */
export function anyCell(random: Random, date1904: boolean): BookSlot {
  const kind = random.int(20);
  if (kind === 0) return null;
  if (kind === 1) return 'styled';
  if (kind < 8) return textCell(random.pick(TEXTS), random);
  if (kind < 10) return textCell(random.pick(CODES));
  if (kind < 13) return numberCell(random);
  if (kind < 16) return dateCell(random, date1904);
  if (kind === 16) {
    const value = random.chance(0.5);
    return { kind: 'boolean', raw: value ? '1' : '0', shows: { t: 'b', value } };
  }
  if (kind === 17) {
    const value = random.pick(['#N/A', '#REF!', '#DIV/0!', '#VALUE!', '#NAME?', '#NULL!', '#NUM!']);
    return { kind: 'error', raw: value, shows: { t: 'e', value } };
  }
  const formula = random.pick(['SUM(A1:A9)', 'A2&"<x>"', "'Sheet 2'!B3", 'IF(A1>1,"a","b")']);
  if (kind === 18) {
    const cached = random.chance(0.5) ? numberCell(random) : textCell('cached text');
    return { ...cached, formula };
  }
  return { kind: 'number', raw: '', formula, uncached: true, shows: { t: 'f', formula } };
}
