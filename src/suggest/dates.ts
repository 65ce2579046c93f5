import type { Cell } from '../model/row.js';
import { compileDateFormat, type DateFormat } from '../pipeline/date-format.js';
import { dateByItself, numericReadings } from '../pipeline/date-text.js';
import { isRefusal } from '../pipeline/refusal.js';
import type { SampledColumn } from './shapes.js';

/** What the values of a column say about how its dates are written. */
export interface DateFinding {
  /** Cells that are dates, read with what `formats` says, or in doubt where `open` is set. */
  readonly fits: number;
  /** Formats to state; empty where every date can be read without. */
  readonly formats: readonly string[];
  /** Ways to read the column that a person must choose between. */
  readonly open?: { readonly formats: readonly (readonly string[])[]; readonly text: string; readonly row: number };
  /** For people; '' where there is nothing to say. */
  readonly evidence: string;
  /** The column contradicts itself: no format is stated, and cells with two readings will be refused. */
  readonly mixed?: string;
}

/** Whether the cell is a date by any reading. */
export function isDate(cell: Cell): boolean {
  if (typeof cell === 'string') return (numericReadings(cell)?.length ?? 0) > 0 || !isRefusal(dateByItself(cell));
  return cell.t === 'd' || (cell.t === 'n' && /^\d{8}$/.test(cell.value) && !isRefusal(dateByItself(cell.value)));
}

interface Seen {
  readonly text: string;
  readonly row: number;
}

const TIMES = ['', ' H:mm:ss', ' H:mm', ' h:mm:ss a', ' h:mm a', "'T'HH:mm:ss"];
const SPOKEN = [
  'd MMM yyyy',
  'd-MMM-yyyy',
  'd-MMM-yy',
  'd MMM yy',
  'd/MMM/yyyy',
  'MMM d, yyyy',
  'MMM d yyyy',
  'MMM-d-yyyy',
  'd. MMM yyyy',
];
const PLAIN = ['yyyy-M-d', 'yyyy/M/d', 'yyyy.M.d', 'yyyyMMdd'];
/** More formats than this in one column are no format. */
const MOST = 5;

export function surveyFormats(column: SampledColumn): DateFinding {
  const dates = column.cells.filter(({ cell }) => isDate(cell));
  const texts = dates.filter(({ cell }) => typeof cell === 'string');
  const numeric = texts.flatMap(({ text, row }) => {
    const formats = (numericReadings(text) ?? []).map(({ format }) => format);
    return formats.length > 0 ? [{ text, row, formats }] : [];
  });
  const fits = dates.length;
  if (numeric.length === 0) {
    return { fits, formats: [], evidence: texts.length > 0 ? 'written so that they can be read in one way only' : '' };
  }

  // Dates of one mark and one length of year belong together: `5/19/2006` says how `4/12/2012` is meant.
  const groups = new Map<string, typeof numeric>();
  for (const one of numeric) {
    const key = one.text.replace(
      /^(\d+)(\D)\d+\D(\d+).*$/su,
      (_, _a, mark, year: string) => `${mark}${year.length > 2 ? 4 : 2}`,
    );
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  const settled: string[] = [];
  const evidence: string[] = [];
  for (const group of groups.values()) {
    const verdict = settle(group);
    if ('mixed' in verdict) return { fits, formats: [], evidence: '', mixed: verdict.mixed };
    if ('open' in verdict) return { fits, formats: [], evidence: '', open: doubt(verdict.open, texts, group[0]!) };
    settled.push(verdict.format);
    evidence.push(verdict.evidence);
  }
  const stated = complete(settled, texts);
  if (!stated)
    return {
      fits,
      formats: [],
      evidence: evidence.join('; '),
      mixed: 'the dates are written in too many ways to state them all',
    };
  return { fits, formats: stated, evidence: evidence.join('; ') };
}

type Numeric = Seen & { readonly formats: readonly string[] };
type Verdict =
  | { readonly format: string; readonly evidence: string }
  | { readonly open: readonly string[] }
  | { readonly mixed: string };

/** The one format that reads all of them, or why there is none. */
function settle(group: readonly Numeric[]): Verdict {
  const telling = new Map<string, { count: number; first: Numeric }>();
  const reads = new Map<string, number>();
  for (const one of group) {
    for (const format of one.formats) reads.set(format, (reads.get(format) ?? 0) + 1);
    if (one.formats.length > 1 || /^(\d+)\D\1\D/.test(one.text)) continue;
    const format = one.formats[0]!;
    const known = telling.get(format);
    if (known) known.count++;
    else telling.set(format, { count: 1, first: one });
  }
  const [one, ...others] = [...telling].sort((a, b) => b[1].count - a[1].count);
  if (others.length > 0) {
    const both = [one!, others[0]!].map(
      ([format, { count, first }]) => `${format} in ${count} (such as "${first.text}", row ${first.row})`,
    );
    return { mixed: `the dates contradict one another: ${both.join(', ')}` };
  }
  if (!one) return { open: [...reads.keys()].sort() };
  const [format, { count, first }] = one;
  return {
    format,
    evidence: `${count} of ${group.length} dates, such as "${first.text}" (row ${first.row}), can only be ${format}`,
  };
}

function doubt(formats: readonly string[], texts: readonly Seen[], first: Seen): NonNullable<DateFinding['open']> {
  const ways = formats.flatMap((format) => {
    const whole = complete([format], texts);
    return whole ? [whole] : [];
  });
  return { formats: ways.length > 0 ? ways : formats.map((format) => [format]), text: first.text, row: first.row };
}

/** The fewest formats that read every date of the column once `settled` are stated; undefined where that needs too many. */
function complete(settled: readonly string[], texts: readonly Seen[]): string[] | undefined {
  const chosen: DateFormat[] = [];
  const offered = [...settled.flatMap(withTimes), ...COMMON];
  for (const { text } of texts) {
    if (chosen.some((format) => reads(format, text))) continue;
    const format = offered.find((one) => reads(one, text));
    if (!format) continue;
    chosen.push(format);
    if (chosen.length > MOST) return undefined;
  }
  return chosen.map((format) => strict(format, texts));
}

function withTimes(source: string): DateFormat[] {
  return TIMES.flatMap((time) => {
    const format = compileDateFormat(`${source}${time}`);
    return typeof format === 'string' ? [] : [format];
  });
}

const COMMON = [...PLAIN, ...SPOKEN].flatMap(withTimes);

function reads(format: DateFormat, text: string): boolean {
  const date = format.parse(text);
  return date !== undefined && date !== 'no_such_day';
}

/** `dd/MM/yyyy` where every day and month that the format reads has two digits. */
function strict({ source, parse }: DateFormat, texts: readonly Seen[]): string {
  const two = source.replace(/(?<![a-zA-Z])d(?![a-zA-Z])/, 'dd').replace(/(?<![a-zA-Z])M(?![a-zA-Z])/, 'MM');
  const format = compileDateFormat(two);
  if (two === source || typeof format === 'string') return source;
  return texts.every(({ text }) => parse(text) === undefined || format.parse(text) !== undefined) ? two : source;
}
