import { KNOWN_FROM } from '../../export/columns.js';
import { decodeFields } from '../../pipeline/codec.js';
import type { ReadAll } from '../../pipeline/match/match.js';
import { isObject } from '../../resources/path.js';
import type { ReadRecord } from '../../resources/read.js';
import { recordId } from '../../resources/read-value.js';
import type { Json, KnownIds } from '../../service/port.js';
import type { Records } from './records.js';

/**
 * The customers that can be known: the service has no list of them (interface, section 4.1). Contracts and assets are read
 * for the customers they name, some by id alone; of those that this data folder wrote the whole record is known.
 */
export async function readCustomers(known: KnownIds, readAll: ReadAll): Promise<Records> {
  const found = new Set<number>();
  for (const resource of ['contract', 'asset'] as const) {
    await readAll(resource, (records) => {
      for (const { customer: shown } of records) {
        const id = recordId(isObject(shown) ? shown['id'] : shown);
        if (id !== undefined) found.add(id);
      }
    });
  }
  for (const name of known.names('customer')) for (const id of known.ids('customer', name)) found.add(id);
  const ids = [...found].sort((a, b) => a - b);
  return {
    consistency: 'partial',
    neverWhole: true,
    passes: 1,
    records: ids.length,
    problems: [
      'The service has no list of customers. The file holds those that rowferry wrote from this data folder, whole, and ' +
        'those that contracts and assets name, by id and name alone (or by id alone: the name is blank); others may exist.',
    ],
    ids: () => ids,
    async *read(wanted = ids) {
      for (const id of wanted) yield [customer(id, known)];
    },
    close: async () => undefined,
  };
}

/** Read form of a customer as far as it is known, and how it came to be known. */
function customer(id: number, known: KnownIds): Json {
  const written = known.lastWritten('customer', id) !== undefined;
  return {
    id,
    name: known.nameOf('customer', id) ?? '',
    [KNOWN_FROM]: written ? 'written by rowferry' : 'named by a contract or asset',
  };
}

/** In canonical form: what our last write left, or the name alone. */
export function readCustomer(record: Json, known: KnownIds): ReadRecord {
  const id = Number(record['id']);
  const written = known.lastWritten('customer', id);
  const fields = written ? decodeFields(written) : { name: String(record['name']) };
  return { id, fields, losses: [], unknown: [] };
}

/** Whether the whole record is known, so that a changed row can be imported. */
export function isWhole(record: Json): boolean {
  return record[KNOWN_FROM] === 'written by rowferry';
}
