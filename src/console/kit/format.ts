import { countText, formatNumber, setNumberFormat } from '../../report/summary.js';

/** Numbers and times in the reader's form and zone. Amounts of cells and records are texts, and stand as they are. */

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });

setNumberFormat(whole);

export { countText as counted, formatNumber as number };

/** Those that there are, as one text. */
export const joinParts = (...parts: readonly (string | false | null | undefined)[]) => parts.filter(Boolean).join(', ');

export const { format: oneDecimal } = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** 0.25 → `25%`; a share that is not whole never reads as all or nothing. */
export function percent(part: number): string {
  if (part > 0.99 && part < 1) return share.format(0.99);
  return part > 0 && part < 0.01 ? `< ${share.format(0.01)}` : share.format(part);
}

function timeAs(options: Intl.DateTimeFormatOptions) {
  const form = new Intl.DateTimeFormat(undefined, options);
  return (at: string | Date) => form.format(new Date(at));
}

const moment = timeAs({ dateStyle: 'medium', timeStyle: 'short' });
export const timeOfDay = timeAs({ timeStyle: 'short' });
export const toTheSecond = timeAs({ timeStyle: 'medium' });
/** With seconds and the zone. */
export const exactly = timeAs({ dateStyle: 'medium', timeStyle: 'long' });
/** `31 Mar` */
export const shortDay = timeAs({ day: 'numeric', month: 'short' });
/** A calendar date, `2026-03-31`, which has no zone. */
export const day = timeAs({ dateStyle: 'medium', timeZone: 'UTC' });

/** A moment; the time alone where it is of today. */
export function when(iso: string): string {
  return new Date(iso).toDateString() === new Date().toDateString() ? timeOfDay(iso) : moment(iso);
}
