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
      else if (/^[ydeb]$/.test(unit)) dated = true;
    }
  });
  if (!dated && !timed && !elapsed) return undefined;
  return { timeOnly: !dated || elapsed, elapsed };
}

/** Years of the Buddhist calendar (`bbbb`) before those of the common one. */
const BUDDHIST = 543;

const two = (n: number) => (n < 10 ? `0${n}` : String(n));

/** Digits of a fraction of a second that a format shows: the zeros behind `s.`. */
function fractionPlaces(tokens: readonly Token[]): number {
  const point = tokens.findIndex(
    (token, i) => token.text === '.' && token.kind === 'code' && tokens[i + 1]?.text === '0',
  );
  let places = 0;
  while (point >= 0 && tokens[point + 1 + places]?.text === '0') places++;
  return Math.min(places, 3);
}

const LAST_SECOND = 86_399;

/** The time of day in units of the last digit shown, so that whole seconds are not rounded up beside their fraction. */
function unitsOfDay(serial: number, places: number): number {
  return Math.round((serial - Math.floor(serial)) * 86_400 * 10 ** places);
}

function withFraction(date: DateParts, serial: number, places: number): DateParts {
  const seconds = Math.floor(unitsOfDay(serial, places) / 10 ** places);
  if (places === 0 || seconds >= LAST_SECOND) return date;
  return { ...date, hour: Math.floor(seconds / 3600), minute: Math.floor(seconds / 60) % 60, second: seconds % 60 };
}

/** The date as the format shows it, with English names. `serial` gives fractions of a second. */
export function renderDate(tokens: readonly Token[], rounded: DateParts, serial: number): string {
  const places = fractionPlaces(tokens);
  const date = withFraction(rounded, serial, places);
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
    } else if (unit === 'b') text += size <= 2 ? two((date.year + BUDDHIST) % 100) : date.year + BUDDHIST;
    else if (unit === 'y' || unit === 'e') text += size <= 2 && unit === 'y' ? two(date.year % 100) : date.year;
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
    } else if (token.text === '0' && fraction) text += digitOf(unitsOfDay(serial, places), tokens, i, places);
    else if (/^[.,/]$/.test(token.text)) text += token.text;
  });
  return text.trim();
}

/** The digit that stands for the zero at `at` of `units`, whose last `places` digits are the fraction. */
function digitOf(units: number, tokens: readonly Token[], at: number, places: number): string {
  let place = 1;
  while (tokens[at - place]?.text === '0') place++;
  return place > places ? '0' : String(Math.floor(units / 10 ** (places - place)) % 10);
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
  const places = fractionPlaces(tokens);
  const units = Math.round(Math.abs(days) * 86_400 * 10 ** places);
  let left = Math.floor(units / 10 ** places);
  let text = days < 0 ? '-' : '';
  tokens.forEach((token, i) => {
    if (token.kind === 'literal') {
      text += token.text;
      return;
    }
    const unit = token.kind === 'elapsed' ? token.text.charAt(0) : letter(token);
    const seconds = unit === 'h' ? 3600 : unit === 'm' ? 60 : unit === 's' ? 1 : 0;
    if (seconds === 0) {
      if (/^[.,:/]$/.test(token.text)) text += token.text;
      else if (token.text === '0' && places > 0) text += digitOf(units, tokens, i, places);
      return;
    }
    const amount = Math.floor(left / seconds);
    left -= amount * seconds;
    text += String(amount).padStart(token.text.length, '0');
  });
  return text.trim();
}
