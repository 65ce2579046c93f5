import { normaliseKey } from '../model/value.js';
import type { Json, Page, Readable, Service } from '../service/port.js';
import { filterRequests, listRequests, PAGE_SIZE } from './match-cost.js';

export { PAGE_SIZE };

/** A query parameter of a list that filters by a field. */
export interface Filter {
  readonly resource: Readable;
  readonly parameter: string;
  /** Field of the read form that it filters by. */
  readonly field: string;
}

/** Pages of one filtered answer beyond which the filter is not worth following. */
const MOST_PAGES = 20;

/** Whether the rest of the list costs no more requests than asking for each name (and the control). */
export function listIsCheaper(count: number, names: number): boolean {
  return listRequests(count) <= filterRequests(names);
}

/**
 * A positive control: a record that is known to exist must be found by the filter, and the filter must leave others out.
 * Only then is "nothing found" believed. `first` is the first page of the unfiltered list.
 */
export async function trustFilter(service: Service, filter: Filter, first: Page): Promise<boolean> {
  const control = first.results.find((record) => controlValue(record, filter) !== '');
  if (!control) return false;
  const answer = await service.page(filter.resource, 1, { [filter.parameter]: controlValue(control, filter) });
  if (answer.count >= first.count && first.count > 1) return false;
  return answer.count > PAGE_SIZE || answer.results.some((record) => record['id'] === control['id']);
}

/**
 * Other forms in which the service may keep a text that is the same as a key: with an outer blank, with accents as
 * characters of their own. A filter that compares whole texts finds each by itself only. `contains`: it finds parts of texts.
 */
export function storedForms(text: string, contains = false): readonly string[] {
  const key = normaliseKey(text);
  const blanks = contains ? [] : [` ${key}`, `${key} `];
  return [...new Set([key, key.normalize('NFD'), ...blanks])].filter((form) => form !== text);
}

/**
 * Everything the filter returns for a value; undefined where that is too much to be a filter: as much as the whole
 * list of `count` records, or endless pages. Hits must be checked again.
 */
export async function askFilter(
  service: Service,
  filter: Filter,
  value: string,
  count: number,
): Promise<readonly Json[] | undefined> {
  const found: Json[] = [];
  for (let page = 1; page <= MOST_PAGES; page++) {
    const answer = await service.page(filter.resource, page, { [filter.parameter]: value });
    if (answer.count > PAGE_SIZE && answer.count >= count) return undefined;
    found.push(...answer.results);
    if (page * PAGE_SIZE >= answer.count || answer.results.length === 0) return found;
  }
  return undefined;
}

function controlValue(record: Json, filter: Filter): string {
  const value = record[filter.field];
  // A serial number that is literally `list` is another request altogether (interface, section 4.4).
  return typeof value === 'string' && value !== 'list' ? value.trim() : '';
}
