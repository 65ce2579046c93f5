import { didYouMean } from '../pipeline/nearest.js';
import { readDate } from '../resources/calendar.js';
import { idOf } from '../service/transport/answer.js';
import { refused } from './choose.js';
import type { ExportColumn, ExportRecord } from './column.js';
import { guessedColumn } from './guessed.js';
import { columnOf, customNamed, fieldNamed, laterColumn, type Naming, partNamed, unknownName } from './names.js';
import { sortKeys } from './sort-keys.js';

/** `--order FIELD` or `-FIELD`. */
export interface ExportOrder {
  /** To be added to the query of the list. */
  readonly query: Readonly<Record<string, string>>;
  /** The service is asked to order, so that ids need not ascend in the list. */
  readonly serviceOrder: boolean;
  /** Sorted here: collects the records' keys; absent where the list's own order is the one asked for. */
  readonly collect?: () => OrderKeys;
  /** For people, e.g. `name, descending`. */
  readonly described: string;
  /** A name that only the records can tell of: `checkUnlisted`. */
  readonly unlisted?: string;
}

export interface OrderKeys {
  /** A record without an id takes no part. */
  see(record: ExportRecord): void;
  /** All ids that were seen, in order. Nothing may be seen afterwards. */
  ids(): Iterable<number>;
}

/**
 * Orderings of the asset list (interface, section 4.4) by what its records are not documented to show. Where they do, they
 * are sorted here.
 */
const BY_SERVICE = ['created_date', 'modified_date'];
/** Names of orderings for columns that are sorted here, exactly. */
const ORDERINGS: Readonly<Record<string, string>> = { asset_id: 'id', asset_name: 'name' };

/** How records are ordered; by id ascending where nothing is stated. Throws a RunError for a name that nothing has. */
export function exportOrder(order: string | undefined, naming: Naming): ExportOrder {
  if (order === undefined) return { query: {}, serviceOrder: false, described: 'id' };
  const descending = order.trim().startsWith('-');
  const name = order.trim().replace(/^[-+]/, '').trim();
  const described = `${name}${descending ? ', descending' : ''}`;
  const word = name.toLowerCase();
  if (naming.resource === 'asset' && BY_SERVICE.includes(word) && !columnOf(name, naming)) {
    const ordering = `${descending ? '-' : ''}${word}`;
    const own = laterColumn(word, naming)!;
    return {
      query: { ordering },
      serviceOrder: true,
      described: `${described} (as the service orders, where its records do not show it)`,
      // A service may leave the ordering out of account.
      collect: () =>
        keysElse(orderKeys({ ...own, text: (record) => momentText(own.text(record), naming) }, descending)),
    };
  }
  const known = columnToSortBy((naming.resource === 'asset' && ORDERINGS[word]) || name, naming);
  const column = known ?? guessedColumn(name, naming);
  if (!column) throw refused('--order cannot be used.', [unknownOrder(name, naming)]);
  return {
    query: {},
    serviceOrder: false,
    described,
    collect: () => orderKeys(column, descending),
    ...(known ? {} : { unlisted: name }),
  };
}

/** A moment so that its text sorts by time: the day first, whichever way the service spells it. */
function momentText(text: string, { lexicon }: Naming): string {
  // No moment is longer; what is would make the pattern below slow.
  if (text.length > 64 || /^\d{4}-\d\d-\d\d/.test(text)) return text;
  const [day = '', time = ''] = text.split(/[T\s,]+(?=\d{1,2}:\d)/);
  const date = readDate(day, lexicon.dateOrder);
  return date === undefined ? text : `${date} ${time.replace(/^\d:/, '0$&')}`.trim();
}

/** The order in which records were seen, that of the list, where none shows what is sorted by. 8 bytes more a record. */
function keysElse(keys: ShownKeys): OrderKeys {
  const seen: number[] = [];
  return {
    see(record) {
      const id = idOf(record.json);
      if (id !== undefined) seen.push(id);
      keys.see(record);
    },
    ids: () => (keys.shown() ? keys.ids() : seen),
  };
}

interface ShownKeys extends OrderKeys {
  /** Whether any record had a key. */
  shown(): boolean;
}

function orderKeys(column: ExportColumn, descending: boolean): ShownKeys {
  let shown = false;
  const keys = sortKeys(column.kind, descending);
  return {
    see(record) {
      const id = idOf(record.json);
      if (id === undefined) return;
      const text = column.text(record);
      shown ||= text !== '';
      keys.add(id, text);
    },
    shown: () => shown,
    ids: () => keys.sorted(),
  };
}

function columnToSortBy(name: string, naming: Naming): ExportColumn | undefined {
  const own = columnOf(name, naming);
  if (own) return own;
  const field = fieldNamed(name, naming);
  if (field) return field.columns.find((column) => column.field === field.field.name) ?? field.columns[0];
  const part = partNamed(name, naming);
  if (part) return part;
  const custom = customNamed(name, naming);
  const known =
    custom && 'name' in custom
      ? naming.columns.find(({ source }) => source.kind === 'custom' && source.name === custom.name)
      : undefined;
  return known ?? laterColumn(name, naming);
}

function unknownOrder(name: string, naming: Naming): string {
  const near = didYouMean(name, naming.resource === 'asset' ? [...BY_SERVICE, ...Object.keys(ORDERINGS)] : []);
  const unknown = unknownName(name, naming);
  return near === '' || unknown.includes('Did you mean') ? unknown : `${unknown}${near}`;
}
