import type { Cell } from '../model/row.js';
import { isRefusal } from '../pipeline/map/cell-text.js';
import { compileDateFormat, type DateFormat, unambiguousDate } from '../pipeline/map/dates.js';
import { excerpt } from '../pipeline/map/headings.js';
import { type DateReading, recogniseDate } from '../resources/calendar.js';
import type { SampledCell } from './profile.js';

/** What the values of a column say about how its dates are written. */
export interface DateFinding {
  /** Formats to state; empty where every date can be read without. */
  readonly formats: readonly string[];
  /** Ways to read the column that a person must choose between. */
  readonly ambiguous?: {
    readonly formats: readonly (readonly string[])[];
    readonly text: string;
    readonly row: number;
  };
  /** For people; '' where there is nothing to say. */
  readonly evidence: string;
  /** The column contradicts itself: no format is stated, and cells with two readings will be refused. */
  readonly mixed?: string;
}

/** Whether the cell is a date by any reading. */
export function isDate(cell: Cell): boolean {
  if (typeof cell === 'string') return (numericReadings(cell)?.length ?? 0) > 0 || !isRefusal(unambiguousDate(cell));
  return cell.t === 'd' || (cell.t === 'n' && /^\d{8}$/.test(cell.value) && !isRefusal(unambiguousDate(cell.value)));
}

/** The ways to read `01/02/2024`; undefined where the text is no such date. */
function numericReadings(text: string): readonly DateReading[] | undefined {
  const found = recogniseDate(text);
  return typeof found === 'string' ? undefined : found;
}

const TIMES = ['', ' H:mm:ss', ' H:mm', ' h:mm:ss a', ' h:mm a', "'T'HH:mm:ss"];
const MONTH_NAME_FORMATS = [
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
const NUMERIC_FORMATS = ['yyyy-M-d', 'yyyy/M/d', 'yyyy.M.d', 'yyyyMMdd'];
/** More formats than this in one column are no format. */
const MOST = 5;

export function surveyFormats(cells: readonly SampledCell[]): DateFinding {
  const texts = cells.filter(({ cell }) => typeof cell === 'string' && isDate(cell));
  // Dates of one mark and one length of year belong together: `5/19/2006` says how `4/12/2012` is meant.
  const groups = dateGroups(texts);
  if (groups.size === 0)
    return { formats: [], evidence: texts.length > 0 ? 'written so that they can be read in one way only' : '' };
  const certain: string[] = [];
  const evidence: string[] = [];
  for (const { count, firstOpen, certain: shown } of groups.values()) {
    const [only, other] = [...shown].sort(([, a], [, b]) => b.count - a.count);
    if (only && other) {
      const both = [only, other].map(([format, such]) => `${format} in ${such.count}, such as ${cite(such.first)}`);
      return { formats: [], evidence: '', mixed: `the dates contradict one another: ${both.join('; ')}` };
    }
    if (only) {
      certain.push(only[0]);
      evidence.push(`${only[1].count} of ${count} dates, such as ${cite(only[1].first)}, can only be ${only[0]}`);
    } else if (firstOpen) {
      const ways = (numericReadings(firstOpen.text) ?? []).map(({ format }) => format).sort();
      const formats = ways.map((format) => completeFormats([format], texts) ?? [format]);
      return { formats: [], evidence: '', ambiguous: { formats, ...firstOpen } };
    }
  }
  const formats = completeFormats(certain, texts);
  if (formats) return { formats, evidence: evidence.join('; ') };
  const mixed = 'the dates are written in too many ways to state them all';
  return { formats: [], evidence: evidence.join('; '), mixed };
}

/**
 * The fewest formats that read every date of the column once `certain` are stated; undefined where that needs too many. Days and
 * months of one digit are read too: another column, the next file or a spreadsheet program that saved this one may write them.
 */
function completeFormats(certain: readonly string[], texts: readonly SampledCell[]): string[] | undefined {
  const candidates = [...certain.flatMap(withTimes), ...COMMON_FORMATS];
  const chosen: DateFormat[] = [];
  for (const { text } of texts) {
    if (chosen.some((format) => reads(format, text))) continue;
    const format = candidates.find((one) => reads(one, text));
    if (!format) continue;
    chosen.push(format);
    if (chosen.length > MOST) return undefined;
  }
  return chosen.map(({ source }) => source);
}

function withTimes(source: string): DateFormat[] {
  return TIMES.map((time) => compileDateFormat(`${source}${time}`)).filter((format) => typeof format !== 'string');
}

const COMMON_FORMATS = [...NUMERIC_FORMATS, ...MONTH_NAME_FORMATS].flatMap(withTimes);

function reads(format: DateFormat, text: string): boolean {
  const date = format.parse(text);
  return date !== undefined && date !== 'no_such_day';
}

interface DateSample {
  readonly text: string;
  readonly row: number;
}

/** Dates of one mark and one length of the year. */
interface DateGroup {
  count: number;
  /** A cell that can be read in several ways. */
  firstOpen: DateSample | undefined;
  /** By format, the cells that fit it alone. */
  readonly certain: Map<string, { count: number; first: DateSample }>;
}

/** Numeric dates by way of writing, and what each shows of the order of day and month. */
function dateGroups(cells: Iterable<DateSample>): ReadonlyMap<string, DateGroup> {
  const groups = new Map<string, DateGroup>();
  for (const cell of cells) {
    const readings = numericReadings(cell.text);
    const [first] = readings ?? [];
    if (!readings || !first) continue;
    const notation = notationOf(first.format);
    const group = groups.get(notation) ?? { count: 0, firstOpen: undefined, certain: new Map() };
    groups.set(notation, group);
    group.count++;
    if (readings.length > 1) {
      group.firstOpen ??= cell;
    } else if (showsOrder(cell.text)) {
      const certain = group.certain.get(first.format);
      if (certain) certain.count++;
      else group.certain.set(first.format, { count: 1, first: cell });
    }
  }
  return groups;
}

/** `d/M/yyyy` and `M/d/yyyy` → `//yyyy`: the way of writing, whatever the order. */
function notationOf(format: string): string {
  const [mark = ''] = /[^dMy]/.exec(format) ?? [];
  return `${mark}${mark}${/yyyy|yy/.exec(format)?.[0] ?? ''}`;
}

/** Where day and month are the same number, either format fits. */
function showsOrder(text: string): boolean {
  const [first, second] = text.split(/\D/);
  return Number(first) !== Number(second);
}

function cite({ text, row }: DateSample): string {
  return `"${excerpt(text)}" (row ${row})`;
}
