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
 * Other forms in which the service may keep a text that equals a key after trimming and NFKC. A filter that compares whole
 * texts finds each by itself only, and there is no end of them: these are the ones that typing, copying and other programs
 * leave, one at a time. `contains`: the filter finds parts of texts, so that outer blanks hide nothing.
 */
export function storedForms(text: string, contains = false): readonly string[] {
  const key = normaliseKey(text);
  const outer = contains ? [] : [`${key} `, ` ${key}`, `${key}\u00a0`, `\u00a0${key}`];
  const inner = [key.normalize('NFD'), ...INNER.map(([what, form]) => key.replace(what, form))];
  return [...new Set([key, ...outer, ...inner])].filter((form) => form !== text);
}

/** What the normal form of a character, or of several, is the form of; by the texts in which they stand. */
const INNER: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/ /g, () => '\u00a0'],
  [/[\u3001-\u30ff]+/g, (kana) => kana.normalize('NFD').replace(/./gu, (one) => HALF_WIDTH.get(one) ?? one)],
  [/ffi|ffl|ff|fi|fl/g, (letters) => LIGATURES.get(letters) ?? letters],
  [/\.\.\.|TM|(?<=m)[23]|[\u03bc\u03a9\u00c5]/g, (sign) => SIGNS.get(sign) ?? sign],
  [/[ -~]/g, (ascii) => (ascii === ' ' ? '\u3000' : String.fromCodePoint((ascii.codePointAt(0) ?? 0) + FULL_WIDTH))],
];

/** From a visible character of ASCII to the same in full width. */
const FULL_WIDTH = 0xfee0;

const byNormalForm = (forms: string): ReadonlyMap<string, string> =>
  new Map([...forms].map((one) => [one.normalize('NFKC'), one]));

const LIGATURES = byNormalForm('\ufb00\ufb01\ufb02\ufb03\ufb04');
/** Micro, ohm and angstrom sign, and what a text program writes of itself. */
const SIGNS = byNormalForm('\u00b5\u2126\u212b\u2026\u2122\u00b2\u00b3');
const HALF_WIDTH = byNormalForm(String.fromCodePoint(...Array.from({ length: 63 }, (_, at) => 0xff61 + at)));

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
