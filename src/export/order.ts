import { Decimal } from '../model/decimal.js';
import type { TableKind } from '../model/table.js';
import { isCalendarDate } from '../resources/calendar.js';
import type { ExportColumn } from './column.js';
import { choiceError, type Naming, resolveName, unknownNameText } from './names.js';

/**
 * How records are ordered (`--order FIELD` or `-FIELD`), and the same for people: `name, descending`. By id ascending where nothing
 * is stated, which is the list's own order. Throws a RunError for a name that nothing has.
 */
export function exportOrder(
  order: string | undefined,
  naming: Naming,
): { readonly by?: { readonly column: ExportColumn; readonly descending: boolean }; readonly described: string } {
  if (order === undefined) return { described: 'id' };
  const descending = order.trim().startsWith('-');
  const name = order.trim().replace(/^[-+]/, '').trim();
  const { field, columns } = resolveName(name, naming);
  const column = columns.find((one) => field && one.field === field.name) ?? columns[0];
  if (!column) throw choiceError('--order cannot be used.', [unknownNameText(name, naming)]);
  return { by: { column, descending }, described: `${name}${descending ? ', descending' : ''}` };
}

/** So many characters of a text count for its place. */
const MOST_CHARACTERS = 100;

const NUMERIC: ReadonlySet<TableKind> = new Set<TableKind>(['id', 'integer', 'decimal', 'money', 'date', 'boolean']);

/** Undefined: blank; a text in a column of numbers has not the form of the column. */
type Key = number | Decimal | string | undefined;

/**
 * Sorts by value: whole numbers, amounts and dates as such, `false` before `true`, text without regard to case and Unicode
 * form, character by character (so `NW-10` stands before `NW-9`), by its first 100 characters. What does not have the form
 * of its column comes after what does; blank cells come last, also descending. Equal values stand by id ascending.
 */
export function createSorter(kind: TableKind, descending: boolean) {
  const ids: number[] = [];
  const keys: Key[] = [];
  const rank = (key: Key) => (key === undefined ? 2 : NUMERIC.has(kind) && typeof key === 'string' ? 1 : 0);

  function compare(a: number, b: number): number {
    const [x, y] = [keys[a], keys[b]];
    const ranks = rank(x) - rank(y);
    if (ranks !== 0) return ranks;
    const order = compareKeys(x, y);
    if (order !== 0) return descending ? -order : order;
    return ids[a]! - ids[b]!;
  }

  return {
    /** `text`: the record's cell in the column to sort by. */
    add(id: number, text: string): void {
      ids.push(id);
      keys.push(keyOf(kind, text));
    },
    /** Ids in order. Nothing may be added afterwards. */
    *sorted(): Generator<number> {
      const order = Uint32Array.from(ids.keys()).sort(compare);
      for (const at of order) yield ids[at]!;
    },
  };
}

function keyOf(kind: TableKind, text: string): Key {
  if (text === '') return undefined;
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true' ? 1 : 0;
  if (kind === 'date' && isCalendarDate(text)) return Number(text.replaceAll('-', ''));
  const number = NUMERIC.has(kind) && kind !== 'boolean' && kind !== 'date' ? Decimal.parse(text) : undefined;
  if (number) return number;
  // Upper case first: `ß` and `SS` become the same.
  const folded = text.normalize('NFKC').trim().toUpperCase().toLowerCase();
  return folded.slice(0, MOST_CHARACTERS);
}

/** Of two keys of one rank. */
function compareKeys(x: Key, y: Key): number {
  if (x instanceof Decimal && y instanceof Decimal) return x.compare(y);
  if (x === undefined || y === undefined || x === y) return 0;
  return x < y ? -1 : 1;
}
