import { didYouMean } from '../pipeline/map/headings.js';
import { idOf } from '../service/transport/answer.js';
import type { ExportColumn, ExportRecord } from './column.js';
import { columnOf, fieldNamed, type Naming, partNamed, refused, unknownName } from './names.js';
import { sortKeys } from './sort-keys.js';

/** `--order FIELD` or `-FIELD`. */
export interface ExportOrder {
  /** To be added to the query of the list: the service orders, so that ids need not ascend in it. */
  readonly query: Readonly<Record<string, string>>;
  /** Sorted here: collects the records' keys; absent where the list's own order is the one asked for. */
  readonly collect?: () => OrderKeys;
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
  if (order === undefined) return { query: {}, described: 'id' };
  const descending = order.trim().startsWith('-');
  const name = order.trim().replace(/^[-+]/, '').trim();
  const described = `${name}${descending ? ', descending' : ''}`;
  const word = name.toLowerCase();
  const isAsset = naming.resource === 'asset';
  const column = columnToSortBy((isAsset && ORDERINGS.get(word)) || name, naming);
  if (column) {
    return {
      query: {},
      described,
      collect: () => {
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
      query: { ordering: `${descending ? '-' : ''}${word}` },
      described: `${described} (as the service orders)`,
    };
  const unknown = unknownName(name, naming);
  const near = isAsset ? didYouMean(name, [...BY_SERVICE, ...ORDERINGS.keys()]) : '';
  throw refused('--order cannot be used.', [unknown.includes('Did you mean') ? unknown : `${unknown}${near}`]);
}

function columnToSortBy(name: string, naming: Naming): ExportColumn | undefined {
  const own = columnOf(name, naming);
  const field = own ? undefined : fieldNamed(name, naming);
  if (!field) return own ?? partNamed(name, naming);
  return field.columns.find((column) => column.field === field.field.name) ?? field.columns[0];
}
