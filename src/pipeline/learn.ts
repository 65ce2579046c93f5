import type { Json, Readable } from '../service/port.js';
import { eachLimit } from './apply.js';
import { PAGE_SIZE } from './filter.js';
import { keyText } from './key.js';
import { lookUpKeys } from './look-up.js';
import { type MatchOptions, recordKey } from './match.js';

/** Pages beyond the expected ones that are read in search of records that others wrote in between. */
const SPARE_PAGES = 4;
/** Pages asked for at once; how many are in flight is the service's business. */
const AT_ONCE = 64;

/**
 * Learns the ids of records that were created by requests whose answers were empty. New records have the highest ids,
 * so the last pages of the list hold them: one request for 25 ids. `rows` is row by key, as outcomes show it; `created`
 * is how many records the run created in all: those with known ids stand among the others. A key that two of the
 * records have stays without an id: which of them is ours cannot be told. `look` is shown the records on the way.
 * Interface, section 8.
 */
export async function learnIds(
  rows: ReadonlyMap<string, number>,
  created: number,
  options: MatchOptions,
  learned: (row: number, id: number) => void,
  look: (row: number, record: Json) => void = () => undefined,
): Promise<void> {
  const { spec, service } = options;
  if (rows.size === 0 || !spec.readPath || spec.name === 'customer') return;
  if (rows.size <= 2 && Object.keys(spec.filters).some((field) => options.key.includes(field))) {
    const found = await lookUpKeys(new Map([...rows.keys()].map((key) => [key, []])), options);
    for (const [key, row] of rows) {
      const [one, other] = found.get(key) ?? [];
      if (!one || other) continue;
      look(row, one.record);
      learned(row, one.id);
    }
    return;
  }
  const resource = spec.name as Readable;
  const first = await service.page(resource, 1);
  const last = Math.max(1, Math.ceil(first.count / PAGE_SIZE));
  const expected = Math.ceil(rows.size / PAGE_SIZE) + 1;
  const lowest = Math.max(1, last - Math.ceil(Math.max(rows.size, created) / PAGE_SIZE) - 1 - SPARE_PAGES);
  const found = new Map<string, number | 'several'>();
  let top = last;
  for (let pages = expected; top >= lowest && found.size < rows.size; pages = SPARE_PAGES) {
    const count = Math.min(pages, top - lowest + 1);
    const numbers = Array.from({ length: count }, (_, i) => top - i);
    await eachLimit(numbers, AT_ONCE, async (page) => {
      const { results } = page === 1 ? first : await service.page(resource, page);
      for (const record of results) note(record, rows, found, options, look);
    });
    top -= pages;
  }
  for (const [key, id] of found) {
    const row = rows.get(key);
    if (row !== undefined && id !== 'several') learned(row, id);
  }
}

function note(
  record: Json,
  rows: ReadonlyMap<string, number>,
  found: Map<string, number | 'several'>,
  options: MatchOptions,
  look: (row: number, record: Json) => void,
): void {
  const id = record['id'];
  const key = keyText(recordKey(record, options));
  const row = rows.get(key);
  if (typeof id !== 'number' || key === '' || row === undefined) return;
  const other = found.get(key);
  found.set(key, other === undefined || other === id ? id : 'several');
  look(row, record);
}
