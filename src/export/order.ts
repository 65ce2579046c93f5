import { Decimal } from '../model/decimal.js';
import type { TableKind } from '../model/table.js';
import { didYouMean } from '../pipeline/map/headings.js';
import { inWaves } from '../pipeline/match/filter.js';
import { isCalendarDate } from '../resources/calendar.js';
import type { Service } from '../service/port.js';
import { idOf } from '../service/transport/answer.js';
import type { ExportColumn, ExportRecord } from './column.js';
import { columnOf, fieldNamed, type Naming, partNamed, refused, unknownName } from './names.js';

/** `--order FIELD` or `-FIELD`. */
export interface ExportOrder {
  /** Collects what the order needs of the records; absent where the list's own order is the one asked for. */
  readonly collect?: (service: Service) => Promise<OrderKeys>;
  /** For people, e.g. `name, descending`. */
  readonly described: string;
}

interface OrderKeys {
  /** A record without an id takes no part. */
  see(record: ExportRecord): void;
  /** All ids that were seen, in order. Nothing may be seen afterwards. */
  ids(): Iterable<number>;
}

/** Orderings of the asset list (interface, section 4.4) by what its records are not documented to show. */
const BY_SERVICE = ['created_date', 'modified_date'];
/** Names of orderings for columns that are sorted here, exactly. */
const ORDERINGS: ReadonlyMap<string, string> = new Map([
  ['asset_id', 'id'],
  ['asset_name', 'name'],
]);

/** How records are ordered; by id ascending where nothing is stated. Throws a RunError for a name that nothing has. */
export function exportOrder(order: string | undefined, naming: Naming): ExportOrder {
  if (order === undefined) return { described: 'id' };
  const descending = order.trim().startsWith('-');
  const name = order.trim().replace(/^[-+]/, '').trim();
  const described = `${name}${descending ? ', descending' : ''}`;
  const word = name.toLowerCase();
  const isAsset = naming.resource === 'asset';
  const column = columnToSortBy((isAsset && ORDERINGS.get(word)) || name, naming);
  if (column) {
    return {
      described,
      collect: async () => {
        const keys = sortKeys(column.kind, descending);
        return {
          see(record) {
            const id = idOf(record.json);
            if (id !== undefined) keys.add(id, column.text(record));
          },
          ids: () => keys.sorted(),
        };
      },
    };
  }
  if (isAsset && BY_SERVICE.includes(word))
    return {
      described: `${described} (as the service orders)`,
      collect: (service) => orderOfService(service, `${descending ? '-' : ''}${word}`),
    };
  const unknown = unknownName(name, naming);
  const near = isAsset ? didYouMean(name, [...BY_SERVICE, ...ORDERINGS.keys()]) : '';
  throw refused('--order cannot be used.', [unknown.includes('Did you mean') ? unknown : `${unknown}${near}`]);
}

/** Assets in an order that only the service knows: it is asked for that once more, and what it does not show comes last. */
async function orderOfService(service: Service, ordering: string): Promise<OrderKeys> {
  const { count, results } = await service.page('asset', 1, { ordering });
  const pages = [results.map(idOf)];
  const last = Math.ceil(count / Math.max(1, results.length));
  const further = Array.from({ length: Math.max(0, last - 1) }, (_, at) => at + 2);
  await inWaves(further, async (page) => {
    pages[page - 1] = (await service.page('asset', page, { ordering })).results.map(idOf);
  });
  const places = new Map(pages.flat().map((id, at) => [id, at]));
  const ids: number[] = [];
  const place = (id: number): number => places.get(id) ?? places.size;
  return {
    see(record) {
      const id = idOf(record.json);
      if (id !== undefined) ids.push(id);
    },
    ids: () => ids.sort((a, b) => place(a) - place(b)),
  };
}

function columnToSortBy(name: string, naming: Naming): ExportColumn | undefined {
  const own = columnOf(name, naming);
  const field = own ? undefined : fieldNamed(name, naming);
  if (!field) return own ?? partNamed(name, naming);
  return field.columns.find((column) => column.field === field.field.name) ?? field.columns[0];
}

/** So many characters of a text count for its place. */
const MOST_CHARACTERS = 100;

const NUMERIC: ReadonlySet<TableKind> = new Set<TableKind>(['id', 'integer', 'decimal', 'money', 'date', 'boolean']);

/** A double where it is exact. Undefined: blank; a text in a column of numbers has not the form of the column. */
type Key = number | Decimal | string | undefined;

/**
 * Sorts by value: whole numbers, amounts and dates as such, `false` before `true`, text without regard to case and Unicode
 * form, character by character (so `NW-10` stands before `NW-9`), by its first 100 characters. What does not have the form
 * of its column comes after what does; blank cells come last, also descending. Equal values stand by id ascending.
 */
export function sortKeys(kind: TableKind, descending: boolean) {
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
  if (number) return number.text.replace(/[-.]/g, '').length > 15 ? number : Number(number.text);
  // Upper case first: `ß` and `SS` become the same.
  const folded = text.normalize('NFKC').trim().toUpperCase().toLowerCase();
  return folded.slice(0, MOST_CHARACTERS);
}

/** Of two keys of one rank. */
function compareKeys(x: Key, y: Key): number {
  if (x instanceof Decimal || y instanceof Decimal) return decimalOf(x).compare(decimalOf(y));
  if (x === undefined || y === undefined || x === y) return 0;
  return x < y ? -1 : 1;
}

const decimalOf = (key: Key): Decimal => (key instanceof Decimal ? key : Decimal.of(Number(key)));
