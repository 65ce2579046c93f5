import type { Cell } from '../model/row.js';
import { isRefusal } from '../pipeline/map/cell-text.js';
import { compileDateFormat, type DateFormat, dateByItself, numericReadings, writingOf } from '../pipeline/map/dates.js';
import type { SampledCell } from './profile.js';

/** What the values of a column say about how its dates are written. */
export interface DateFinding {
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

interface Numeric {
  readonly text: string;
  readonly row: number;
  readonly formats: readonly string[];
}

export function surveyFormats(cells: readonly SampledCell[]): DateFinding {
  const texts = cells.filter(({ cell }) => typeof cell === 'string' && isDate(cell));
  // Dates of one mark and one length of year belong together: `5/19/2006` says how `4/12/2012` is meant.
  const groups = new Map<string, Numeric[]>();
  for (const { text, row } of texts) {
    const formats = (numericReadings(text) ?? []).map(({ format }) => format);
    if (formats.length === 0) continue;
    const writing = writingOf(formats[0]!);
    const group = groups.get(writing);
    if (group) group.push({ text, row, formats });
    else groups.set(writing, [{ text, row, formats }]);
  }
  if (groups.size === 0)
    return { formats: [], evidence: texts.length > 0 ? 'written so that they can be read in one way only' : '' };
  const settled: string[] = [];
  const evidence: string[] = [];
  for (const group of groups.values()) {
    const verdict = settle(group);
    if ('mixed' in verdict) return { formats: [], evidence: '', mixed: verdict.mixed };
    if ('open' in verdict) {
      const ways = verdict.open.map((format) => complete([format], texts) ?? [format]);
      return { formats: [], evidence: '', open: { formats: ways, text: group[0]!.text, row: group[0]!.row } };
    }
    settled.push(verdict.format);
    evidence.push(verdict.evidence);
  }
  const formats = complete(settled, texts);
  if (formats) return { formats, evidence: evidence.join('; ') };
  const mixed = 'the dates are written in too many ways to state them all';
  return { formats: [], evidence: evidence.join('; '), mixed };
}

type Verdict =
  | { readonly format: string; readonly evidence: string }
  | { readonly open: readonly string[] }
  | { readonly mixed: string };

/** The one format that reads all dates of a group, or why there is none. */
function settle(group: readonly Numeric[]): Verdict {
  const telling = new Map<string, Numeric[]>();
  for (const one of group) {
    const [format] = one.formats;
    // Where day and month are the same number, either format fits.
    if (one.formats.length > 1 || /^(\d+)\D\1\D/.test(one.text)) continue;
    const known = telling.get(format!);
    if (known) known.push(one);
    else telling.set(format!, [one]);
  }
  const [only, other] = [...telling].sort((a, b) => b[1].length - a[1].length);
  if (!only) return { open: [...new Set(group.flatMap(({ formats }) => formats))].sort() };
  const [format, dates] = only;
  const such = ([{ text, row } = group[0]!]: readonly Numeric[]) => `"${text}" (row ${row})`;
  if (!other) {
    const evidence = `${dates.length} of ${group.length} dates, such as ${such(dates)}, can only be ${format}`;
    return { format, evidence };
  }
  const both = [only, other].map(([format, dates]) => `${format} in ${dates.length}, such as ${such(dates)}`);
  return { mixed: `the dates contradict one another: ${both.join('; ')}` };
}

/** The fewest formats that read every date of the column once `settled` are stated; undefined where that needs too many. */
function complete(settled: readonly string[], texts: readonly SampledCell[]): string[] | undefined {
  const offered = [...settled.flatMap(withTimes), ...COMMON];
  const chosen: DateFormat[] = [];
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
  return TIMES.map((time) => compileDateFormat(`${source}${time}`)).filter((format) => typeof format !== 'string');
}

const COMMON = [...PLAIN, ...SPOKEN].flatMap(withTimes);

function reads(format: DateFormat, text: string): boolean {
  const date = format.parse(text);
  return date !== undefined && date !== 'no_such_day';
}

/** `dd/MM/yyyy` where every day and month that the format reads has two digits. */
function strict({ source, parse }: DateFormat, texts: readonly SampledCell[]): string {
  const two = source.replace(/(?<![a-zA-Z])d(?![a-zA-Z])/, 'dd').replace(/(?<![a-zA-Z])M(?![a-zA-Z])/, 'MM');
  const format = compileDateFormat(two);
  if (two === source || typeof format === 'string') return source;
  return texts.every(({ text }) => parse(text) === undefined || format.parse(text) !== undefined) ? two : source;
}
