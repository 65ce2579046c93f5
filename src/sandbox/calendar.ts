/** Calendar dates as `yyyy-MM-dd` text; never a moment in a time zone. */
const SHAPE = /^(\d{4})-(\d{2})-(\d{2})$/;
const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** Whether the text is a date of the calendar in the interface's format (section "Notation"). */
export function isDate(text: string): boolean {
  const match = SHAPE.exec(text);
  if (!match) return false;
  const year = Number(match[1]);
  const month = Number(match[2]);
  const day = Number(match[3]);
  if (year === 0 || month < 1 || month > 12 || day < 1) return false;
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= LENGTHS[month - 1]! + (leap ? 1 : 0);
}

/** Whole days from one date to another. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000);
}

export type DateStyle = 'iso' | 'datetime' | 'long' | 'd/m';

/** A date as responses show it; the interface leaves the format open (section 2.1). */
export function showDate(date: string, style: DateStyle): string {
  if (style === 'iso') return date;
  const [year, month, day] = date.split('-') as [string, string, string];
  if (style === 'datetime') return `${date}T00:00:00Z`;
  if (style === 'long') return `${MONTHS[Number(month) - 1]} ${Number(day)}, ${year}`;
  return `${day}/${month}/${year}`;
}

/** A moment (milliseconds) as responses show it: in full, except in the styles that show dates for people. */
export function showMoment(moment: number, style: DateStyle): string {
  const text = new Date(moment).toISOString();
  return style === 'long' || style === 'd/m' ? showDate(text.slice(0, 10), style) : text;
}
