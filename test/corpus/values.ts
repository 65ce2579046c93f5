import type { Random } from './random.js';

/** Texts of the kinds that come in such sheets: accents, scripts, quotes, blanks, line breaks, things that look like something else. */
export const TEXTS: readonly string[] = [
  'Dell Latitude 7440',
  'Größe & Gewicht',
  'Zürich – Österreich',
  'São Paulo, Brasil',
  'say "hello"',
  '"quoted"',
  'a,b;c|d',
  'line one\nline two',
  'tab\there',
  '東京都港区',
  'مرحبا بالعالم',
  'Привет',
  '😀 emoji 👩‍👩‍👧',
  'e\u0301 combining',
  ' leading blank',
  'trailing blank ',
  'no\u00a0break',
  'NULL',
  'null',
  'N/A',
  'TRUE',
  '-',
  '<b>&amp;</b>',
  "O'Brien",
  '5" pipe',
  'C:\\temp\\new',
  '__proto__',
  'constructor',
  'x'.repeat(300),
  'http://example.invalid/?a=1&b=2',
  'mail@example.invalid',
  '#N/A in text',
  'ﬁ ligature',
  '１２３ full width',
  'a_x000D_b',
];

/** Texts that windows-1252 has a place for. */
export const WESTERN = ['Größe', 'Zürich – Österreich', 'café', '€ 12', 'naïve “quotes”', 'plain', 'Ärger, Öl; Übung'];

/** Digits that are no numbers to be reckoned with: leading zeros, more digits than a float keeps. */
export const CODES = [
  '000123',
  '0',
  '00',
  '12345678901234567890',
  '4006381333931',
  '1E5',
  '1-2',
  '0x1F',
  '+49 30 123',
  '007.50',
];

const HEADINGS = [
  'Name',
  'Serial number',
  'Cost',
  'Purchase date',
  'Größe',
  'Notes',
  'Owner e-mail',
  '__proto__',
  'Line\nbreak',
  'Amount, net',
  'constructor',
  'Vendor "A"',
];

/** Headings, all different. */
export function headingsOf(random: Random, width: number): string[] {
  const left = [...HEADINGS];
  return Array.from({ length: width }, () => left.splice(random.int(left.length), 1)[0]!);
}

export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export const two = (n: number) => String(n).padStart(2, '0');

export function dayOf(random: Random): Day {
  return { year: random.between(1901, 2090), month: random.between(1, 12), day: random.between(1, 28) };
}

export const isoDay = ({ year, month, day }: Day) => `${year}-${two(month)}-${two(day)}`;
