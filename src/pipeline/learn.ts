import type { Readable } from '../service/port.js';
import { PAGE_SIZE } from './filter.js';
import { keyText } from './key.js';
import { lookUpKey, type MatchOptions, recordKey } from './match.js';

/** Pages beyond the expected ones that are read in search of records that others wrote in between. */
const SPARE_PAGES = 4;

/**
 * Learns the ids of records that were created by requests whose answers were empty. New records have the highest ids,
 * so the last pages of the list hold them: one request for 25 ids. `rows` is row by key as text. Interface, section 8.
 */
export async function learnIds(
  rows: ReadonlyMap<string, number>,
  options: MatchOptions,
  learned: (row: number, id: number) => void,
): Promise<void> {
  const { spec, service } = options;
  if (rows.size === 0 || !spec.readPath || spec.name === 'customer') return;
  const open = new Map(rows);
  if (rows.size <= 2 && options.key.length === 1 && Object.hasOwn(spec.filters, options.key[0] ?? '')) {
    for (const [key, row] of rows) {
      const found = await lookUpKey(key, options);
      if (found?.length === 1 && found[0]) learned(row, found[0].id);
    }
    return;
  }
  const resource = spec.name as Readable;
  const first = await service.page(resource, 1);
  const last = Math.max(1, Math.ceil(first.count / PAGE_SIZE));
  const lowest = Math.max(1, last - Math.ceil(rows.size / PAGE_SIZE) - SPARE_PAGES);
  for (let top = last; top >= lowest && open.size > 0; top -= SPARE_PAGES * 2) {
    const pages = Array.from({ length: Math.min(SPARE_PAGES * 2, top - lowest + 1) }, (_, i) => top - i);
    const answers = await Promise.all(pages.map((page) => (page === 1 ? first : service.page(resource, page))));
    for (const record of answers.flatMap((answer) => answer.results)) {
      const id = record['id'];
      if (typeof id !== 'number') continue;
      const key = keyText(recordKey(record, options));
      const row = open.get(key);
      if (row === undefined) continue;
      open.delete(key);
      learned(row, id);
    }
  }
}
