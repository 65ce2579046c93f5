import { count, countAs, counted } from '../../report/summary.js';

/** Numbers and times in the reader's form and zone. Amounts of cells and records are texts, and stand as they are. */

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const short = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

countAs(whole);

export { count as number, counted };

export function oneDecimal(n: number): string {
  return tenth.format(n);
}

/** 0.25 → `25%`; a share that is not whole never reads as all or nothing. */
export function percent(part: number): string {
  if (part > 0.99 && part < 1) return share.format(0.99);
  return part > 0 && part < 0.01 ? `< ${share.format(0.01)}` : share.format(part);
}

/** As settings and messages count them. */
const MB = 1024 * 1024;

export function bytes(n: number): string {
  const [size, unit] = n < MB ? [n / 1024, 'kB'] : [n / MB, 'MB'];
  return `${n < 1024 ? '< 1' : tenth.format(size)} ${unit}`;
}

/** A moment; the time alone where it is of today. */
export function when(iso: string): string {
  const at = new Date(iso);
  return at.toDateString() === new Date().toDateString() ? clock.format(at) : moment.format(at);
}

export function timeOfDay(at: string | Date): string {
  return clock.format(typeof at === 'string' ? new Date(at) : at);
}

export function toTheSecond(iso: string): string {
  return seconds.format(new Date(iso));
}

/** `31 Mar` */
export function shortDay(iso: string): string {
  return short.format(new Date(iso));
}

/** With seconds and the zone. */
export function exactly(iso: string): string {
  return exact.format(new Date(iso));
}

/** A calendar date, `2026-03-31`, which has no zone. */
export function day(isoDate: string): string {
  return date.format(new Date(`${isoDate}T00:00:00Z`));
}
