/** What a zone's clock shows, read in another way than the program does: `2026-03-29 02:30:00`. */
export function clockText(instant: number, zone: string): string {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
    formats.set(zone, format);
  }
  return format.format(instant);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** A change of a zone's clock. Milliseconds. */
export interface Change {
  readonly zone: string;
  /** First instant of the new offset. */
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

const WEEK = 7 * 86_400_000;

/** All changes of all zones in these years; one that several zones make at the same instant stands once. */
export function changes(firstYear: number, lastYear: number): Change[] {
  const known = new Map<string, Change>();
  for (const zone of Intl.supportedValuesOf('timeZone')) {
    for (const change of changesOf(zone, Date.UTC(firstYear, 0, 1), Date.UTC(lastYear + 1, 0, 1))) {
      known.set(`${change.at} ${change.from} ${change.to}`, change);
    }
  }
  return [...known.values()];
}

function changesOf(zone: string, start: number, end: number): Change[] {
  const found: Change[] = [];
  let from = offset(start, zone);
  for (let at = start; at < end; at += WEEK) {
    const to = offset(at + WEEK, zone);
    if (to !== from) found.push({ zone, at: border(at, at + WEEK, (x) => offset(x, zone) !== from), from, to });
    from = to;
  }
  return found;
}

function offset(instant: number, zone: string): number {
  return Date.parse(`${clockText(instant, zone).replace(' ', 'T')}Z`) - instant;
}

function border(before: number, after: number, changed: (instant: number) => boolean): number {
  let [low, high] = [before, after];
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000;
    if (changed(middle)) high = middle;
    else low = middle;
  }
  return high;
}
