import type { DateParts } from './serial-date.js';

/** A piece of a number format code. */
export type Token =
  | { readonly kind: 'literal'; readonly text: string }
  /** A placeholder, `.`, `,`, `%`, `E+`, `@`, or a run of one date letter. */
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'elapsed'; readonly text: string };

/** What a section of a format code says about dates. */
export interface DateSection {
  /** Hours, minutes and seconds only: a time of day, no date. */
  readonly timeOnly: boolean;
  /** `[h]:mm`: a length of time, no date. */
  readonly elapsed: boolean;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const letter = (token: Token | undefined) => (token?.kind === 'code' ? token.text.charAt(0).toLowerCase() : '');
const isUnit = (token: Token | undefined) => token?.kind === 'elapsed' || /^[ymdhsegb]$/.test(letter(token));

/** Whether a run of `m` is minutes: after hours, or before seconds. */
function isMinutes(tokens: readonly Token[], at: number): boolean {
  let before = at - 1;
  while (before >= 0 && !isUnit(tokens[before])) before--;
  const previous = tokens[before];
  if (letter(previous) === 'h' || (previous?.kind === 'elapsed' && previous.text.startsWith('h'))) return true;
  let after = at + 1;
  while (after < tokens.length && !isUnit(tokens[after])) after++;
  const next = tokens[after];
  return letter(next) === 's' || (next?.kind === 'elapsed' && next.text.startsWith('s'));
}

/** Undefined where the section shows no date or time at all. */
export function dateSection(tokens: readonly Token[]): DateSection | undefined {
  let dated = false;
  let timed = false;
  let elapsed = false;
  tokens.forEach((token, i) => {
    if (token.kind === 'elapsed') elapsed = true;
    else if (token.kind === 'code' && !/^E[+-]$/i.test(token.text)) {
      const unit = letter(token);
      if (/^(?:AM\/PM|A\/P)$/i.test(token.text)) timed = true;
      else if (unit === 'm') {
        if (isMinutes(tokens, i)) timed = true;
        else dated = true;
      } else if (/^[hs]$/.test(unit)) timed = true;
      else if (/^[yde]$/.test(unit)) dated = true;
    }
  });
  if (!dated && !timed && !elapsed) return undefined;
  return { timeOnly: !dated || elapsed, elapsed };
}

const two = (n: number) => String(n).padStart(2, '0');

/** The date as the format shows it, with English names. `serial` gives fractions of a second. */
export function renderDate(tokens: readonly Token[], date: DateParts, serial: number): string {
  const halfDay = tokens.some((token) => token.kind === 'code' && /^(?:AM\/PM|A\/P)$/i.test(token.text));
  let text = '';
  let fraction = false;
  tokens.forEach((token, i) => {
    if (token.kind === 'literal') {
      text += token.text;
      fraction = false;
      return;
    }
    const size = token.text.length;
    const unit = letter(token);
    if (/^(?:AM\/PM|A\/P)$/i.test(token.text)) {
      const mark = date.hour < 12 ? 'AM' : 'PM';
      text += size === 3 ? mark.charAt(0) : mark;
    } else if (unit === 'y' || unit === 'e') text += size <= 2 && unit === 'y' ? two(date.year % 100) : date.year;
    else if (unit === 'm' && isMinutes(tokens, i)) text += size === 1 ? date.minute : two(date.minute);
    else if (unit === 'm') text += monthText(date.month, size);
    else if (unit === 'd') text += dayText(date, size);
    else if (unit === 'h') {
      const hour = halfDay ? date.hour % 12 || 12 : date.hour;
      text += size === 1 ? hour : two(hour);
    } else if (unit === 's') text += size === 1 ? date.second : two(date.second);
    else if (token.text === '.' && tokens[i + 1]?.text === '0') {
      text += '.';
      fraction = true;
    } else if (token.text === '0' && fraction) text += tenth(serial, tokens, i);
    else if (/^[.,/]$/.test(token.text)) text += token.text;
  });
  return text.trim();
}

function tenth(serial: number, tokens: readonly Token[], at: number): string {
  let place = 1;
  while (tokens[at - place]?.text === '0') place++;
  const seconds = (serial % 1) * 86_400;
  return String(Math.floor(Math.round((seconds % 1) * 1_000) / 10 ** (3 - place)) % 10);
}

function monthText(month: number, size: number): string {
  const name = MONTHS[month - 1]!;
  if (size >= 5) return name.charAt(0);
  if (size === 4) return name;
  if (size === 3) return name.slice(0, 3);
  return size === 2 ? two(month) : String(month);
}

function dayText(date: DateParts, size: number): string {
  const name = DAYS[date.weekday]!;
  if (size >= 4) return name;
  if (size === 3) return name.slice(0, 3);
  return size === 2 ? two(date.day) : String(date.day);
}

/** A length of time: `[h]:mm:ss` of 1.5 is `36:00:00`. */
export function renderDuration(tokens: readonly Token[], days: number): string {
  let left = Math.round(Math.abs(days) * 86_400);
  let text = days < 0 ? '-' : '';
  tokens.forEach((token) => {
    if (token.kind === 'literal') {
      text += token.text;
      return;
    }
    const unit = token.kind === 'elapsed' ? token.text.charAt(0) : letter(token);
    const seconds = unit === 'h' ? 3600 : unit === 'm' ? 60 : unit === 's' ? 1 : 0;
    if (seconds === 0) {
      if (/^[.,:/]$/.test(token.text)) text += token.text;
      return;
    }
    const amount = Math.floor(left / seconds);
    left -= amount * seconds;
    text += String(amount).padStart(token.text.length, '0');
  });
  return text.trim();
}
