import { Decimal } from '../model/decimal.js';
import type { TableKind } from '../model/table.js';
import { isCalendarDate } from '../resources/calendar.js';

/** Keys of records that are to be sorted, collected one by one. */
interface SortKeys {
  /** `text`: the record's cell in the column to sort by. */
  add(id: number, text: string): void;
  readonly size: number;
  /** Ids in order. Nothing may be added afterwards. */
  sorted(): Iterable<number>;
}

/** So many characters of a text count for its place. */
const MOST_CHARACTERS = 100;

const START = 1024;

/**
 * Sorts by value: whole numbers, amounts and dates as such, `false` before `true`, text without regard to case and Unicode
 * form, character by character (so `NW-10` stands before `NW-9`), by its first 100 characters. What does not have the form
 * of its column comes after what does; blank cells come last, also descending. Equal values stand by id ascending.
 *
 * Memory: 20 bytes a record and 4 more while sorting; text columns 8 bytes more and the texts in UTF-8.
 */
export function sortKeys(kind: TableKind, descending: boolean): SortKeys {
  const numeric = NUMERIC.has(kind) || kind === 'date' || kind === 'boolean';
  let ids = new Float64Array(START);
  /** Numbers as the nearest double, which never reverses their order; the first 6 bytes of a text. Blank: infinity. */
  let lead = new Float64Array(START);
  const texts = textArena();
  /** What a double cannot hold, and what is no number although it should be one: both are rare. */
  const exact = new Map<number, Decimal>();
  const odd = new Map<number, string>();
  let size = 0;

  function grow(): void {
    const [moreIds, moreLead] = [new Float64Array(size * 2), new Float64Array(size * 2)];
    moreIds.set(ids);
    moreLead.set(lead);
    ids = moreIds;
    lead = moreLead;
  }

  function leadOf(slot: number, text: string): number {
    if (text === '') return BLANK;
    if (!numeric) return texts.add(slot, foldForOrder(text));
    const value = numberOf(kind, text);
    if (value === undefined) {
      odd.set(slot, foldForOrder(text));
      return ODD;
    }
    if (value instanceof Decimal) {
      const near = Number(value.text);
      if (value.text.replace(/[-.]/g, '').length > 15) exact.set(slot, value);
      return Math.max(-Number.MAX_VALUE, Math.min(near, LARGEST));
    }
    return value;
  }

  function compare(a: number, b: number): number {
    const [x, y] = [lead[a]!, lead[b]!];
    const last = Math.max(x, y);
    // What has no value of the column's kind keeps its place in both directions.
    if (x !== y && last >= ODD) return x < y ? -1 : 1;
    let order = x < y ? -1 : x > y ? 1 : 0;
    if (order === 0 && x === ODD) order = compareText(odd.get(a) ?? '', odd.get(b) ?? '');
    else if (order === 0 && x < ODD) order = numeric ? compareExactly(a, b) : texts.compare(a, b);
    if (order !== 0) return descending ? -order : order;
    return ids[a]! - ids[b]!;
  }

  function compareExactly(a: number, b: number): number {
    if (!exact.has(a) && !exact.has(b)) return 0;
    const [x, y] = [a, b].map((slot) => exact.get(slot) ?? Decimal.of(lead[slot]!)) as [Decimal, Decimal];
    return x.compare(y);
  }

  return {
    add(id, text) {
      if (size === ids.length) grow();
      ids[size] = id;
      lead[size] = leadOf(size, text);
      size++;
    },
    get size() {
      return size;
    },
    *sorted() {
      const order = new Uint32Array(size).map((_, index) => index).sort(compare);
      for (const slot of order) yield ids[slot]!;
    },
  };
}

const BLANK = Number.POSITIVE_INFINITY;
const ODD = Number.MAX_VALUE;
/** The largest double below `ODD`. */
const LARGEST = Number.MAX_VALUE / 2;

const NUMERIC: ReadonlySet<TableKind> = new Set<TableKind>(['id', 'integer', 'decimal', 'money']);

function numberOf(kind: TableKind, text: string): number | Decimal | undefined {
  if (kind === 'boolean') return text === 'true' ? 1 : text === 'false' ? 0 : undefined;
  if (kind === 'date') return isCalendarDate(text) ? Number(text.replaceAll('-', '')) : undefined;
  return Decimal.parse(text);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Upper case first: `ß` and `SS` become the same. */
function foldForOrder(text: string): string {
  const folded = text.normalize('NFKC').trim().toUpperCase().toLowerCase();
  return folded.length > MOST_CHARACTERS ? folded.slice(0, MOST_CHARACTERS) : folded;
}

/** Texts one after the other in UTF-8, whose bytes compare as its characters do. */
function textArena() {
  let bytes = Buffer.alloc(START * 16);
  let starts = new Float64Array(START);
  let end = 0;
  /** Slots are filled in ascending order; one without a text takes no room. */
  let filled = 0;

  function startAt(slot: number): void {
    if (slot + 2 > starts.length) {
      const more = new Float64Array((slot + 2) * 2);
      more.set(starts);
      starts = more;
    }
    while (filled <= slot) starts[filled++] = end;
  }

  return {
    /** Returns the text's first 6 bytes as a number. */
    add(slot: number, text: string): number {
      startAt(slot);
      const length = Buffer.byteLength(text);
      if (end + length > bytes.length) {
        const more = Buffer.alloc(Math.max(bytes.length * 2, end + length));
        bytes.copy(more);
        bytes = more;
      }
      bytes.write(text, end);
      let lead = 0;
      for (let at = 0; at < 6; at++) lead = lead * 256 + (at < length ? bytes[end + at]! : 0);
      end += length;
      starts[filled] = end;
      return lead;
    },
    compare(a: number, b: number): number {
      return bytes.compare(bytes, starts[b]!, starts[b + 1]!, starts[a]!, starts[a + 1]!);
    },
  };
}
