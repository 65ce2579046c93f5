import { lookalikeForm, normaliseKey } from '../../model/value.js';
import type { Json, Page, Readable, SerialPage, SerialProbe, Service } from '../../service/port.js';
import { countTexts, type Keys, keyAccessor } from './key.js';

/**
 * What looking up keys costs in requests, and which way is the cheapest. Nothing here asks the service.
 *
 *   the list      pages - 1 (the first page is known), and 2 for its ends where a key was not in it
 *   filters       one request for each text, and one control where no probe has shown that they can be believed
 *   the probe     500 texts in a request; what exists comes in pages of 25, the control that travels along among it
 *
 * How many keys exist is not known before the probe. It is told from the first page of an answer, which counts all that was
 * found: where the list turns out to be cheaper, that one request was too much.
 */

/** Records a page; fixed by the service (interface, section 8). */
export const PAGE_SIZE = 25;
/** Serial numbers asked for in one probe. */
export const PROBE_SIZE = 500;

/** Requests for the rest of a list whose first page is known. `missing`: a key is not in it, so its ends are asked for again. */
export function listRequests(count: number, missing = false): number {
  const pages = Math.ceil(count / PAGE_SIZE);
  return pages <= 1 ? 0 : pages - 1 + (missing ? 2 : 0);
}

/** Requests that filter for so many texts. `known`: a probe has shown that they exist, which is control enough. */
export function filterRequests(texts: number, known = false): number {
  return texts + (known ? 0 : 1);
}

/** Requests that tell which of so many texts exist, where `hits` of them do. `unpaged`: answers are not cut into pages. */
function probeRequests(texts: number, hits: number, unpaged = false): number {
  if (texts === 0) return 0;
  const batches = Math.ceil(texts / PROBE_SIZE);
  return unpaged ? batches : batches * Math.max(1, Math.ceil((hits / batches + 1) / PAGE_SIZE));
}

/** What the probe has told so far, in texts. */
interface ProbeProgress {
  readonly asked: number;
  readonly hits: number;
  /** An answer held more than a page. */
  readonly unpaged: boolean;
  /** Pages of the last answer that were not read yet. */
  readonly pagesLeft: number;
}

export const NOTHING_PROBED: ProbeProgress = { asked: 0, hits: 0, unpaged: false, pagesLeft: 0 };

/**
 * How many texts the next probe asks for, or `list` where reading the list is cheaper than going on and filtering for what
 * exists. `texts`: all of them; `probed`: a fair sample of them.
 */
export function nextProbe(
  count: number,
  texts: number,
  { asked, hits, unpaged, pagesLeft }: ProbeProgress,
): number | 'list' {
  const rest = texts - asked;
  const more = asked === 0 ? 0 : (hits / asked) * rest;
  const goOn = pagesLeft + probeRequests(rest, more, unpaged) + filterRequests(hits + more, true);
  return listRequests(count, hits < asked) <= Math.round(goOn) ? 'list' : Math.min(PROBE_SIZE, rest);
}

/** A query parameter of a list that filters by a field. */
export interface Filter {
  readonly resource: Readable;
  readonly parameter: string;
  /** Field of the read form that it filters by. */
  readonly field: string;
}

/** Pages of one filtered answer beyond which the filter is not worth following. */
const MAX_PAGES = 20;

/**
 * A positive control: a record that is known to exist must be found by the filter, and the filter must leave others out.
 * Only then is "nothing found" believed. `first` is the first page of the unfiltered list.
 */
export async function verifyFilter(service: Service, filter: Filter, first: Page): Promise<boolean> {
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
  const blanks = [...key.matchAll(/ /g)].slice(0, MAX_BLANKS);
  const oneBlank = blanks.map(({ index }) => `${key.slice(0, index)}\u00a0${key.slice(index + 1)}`);
  const inner = [key.normalize('NFD'), ...oneBlank, ...INNER.map(([what, form]) => key.replace(what, form))];
  return [...new Set([key, ...outer, ...inner])].filter((form) => form !== text);
}

/** Blanks of which each alone may be a no-break space: between a number and its unit, before a colon. */
const MAX_BLANKS = 3;

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
 * list of `count` records, a page without the value, fewer than it counts, or endless pages. Hits must be checked again.
 */
export async function queryFilter(
  service: Service,
  filter: Filter,
  value: string,
  count: number,
): Promise<readonly Json[] | undefined> {
  const found: Json[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const answer = await service.page(filter.resource, page, { [filter.parameter]: value });
    if (answer.count > PAGE_SIZE && (answer.count >= count || !answer.results.some((one) => isHit(one, filter, value))))
      return undefined;
    found.push(...answer.results);
    // One that counts more than it shows tells nothing of what it does not show.
    if (page * PAGE_SIZE >= answer.count || answer.results.length === 0)
      return found.length < answer.count ? undefined : found;
  }
  return undefined;
}

/** Whether a record has the value, or holds it as a part. */
const isHit = (record: Json, { field }: Filter, value: string): boolean =>
  normaliseKey(String(record[field] ?? '')).includes(normaliseKey(value));

/** What is asked of a filter. */
interface ValueQuery {
  readonly service: Service;
  readonly filter: Filter;
  /** Records of the whole list. */
  readonly count: number;
  /** Sees what the filter returns, which must be checked again. */
  readonly visit: (records: readonly Json[]) => void;
  /** The values are known to exist. */
  readonly known?: boolean;
  /** The filter finds parts of texts. */
  readonly contains?: boolean;
  /** The list was read, and has shown in which forms keys are stored. */
  readonly whole?: boolean;
  /** Requests for the rest of the list, where that may be read in its place. */
  readonly instead?: number;
}

/**
 * Filters for each value, as the file spells it; then, for those that were not found, for the other forms that may be stored,
 * and at last for the one that only looks the same.
 * `doubted` where the filter is not to be believed: an answer too long for a filter's, or of values that are `known` to exist
 * one that was not found. `expensive` where the list, which shows every form, is cheaper than the rest.
 */
export async function queryValues(
  values: Keys,
  { service, filter, count, visit, known, contains, whole, instead = Number.POSITIVE_INFINITY }: ValueQuery,
): Promise<'believed' | 'doubted' | 'expensive'> {
  const missing: (readonly [value: string, forms: readonly string[]])[] = [];
  let believed = true;
  let pages = 0;
  const isFound = async (value: string, texts: readonly string[], enough: boolean): Promise<boolean> => {
    let found = false;
    for (const text of texts) {
      if (text === '' || text.trim() === 'list') continue;
      const records = await queryFilter(service, filter, text, count);
      if (!records) believed = false;
      if (!records) return false;
      pages += Math.max(1, Math.ceil(records.length / PAGE_SIZE));
      found ||= records.some((record) => normaliseKey(String(record[filter.field] ?? '')) === value);
      visit(records);
      if (found && enough) break;
    }
    return found;
  };
  const valueAt = keyAccessor(values);
  const fair = fairOrder(values.size);
  let formsLeft = 0;
  // The first goes alone: it shows a filter that is ignored before many are sent.
  let wave = 1;
  for (let at = 0; at < values.size; ) {
    const some = Array.from({ length: Math.min(wave, values.size - at) }, (_, n) => valueAt(fair(at + n)));
    await Promise.all(
      some.map(async ([value, spellings]) => {
        const texts = [value, ...spellings];
        if (await isFound(value, texts, false)) return;
        const others = whole ? [] : new Set([...storedForms(value, contains), lookalikeForm(value)]);
        const forms = [...others].filter((form) => !texts.includes(form));
        missing.push([value, forms]);
        formsLeft += forms.length;
      }),
    );
    if (!believed) return 'doubted';
    at += some.length;
    const rest = ((pages + formsLeft) / at) * (values.size - at) + formsLeft;
    // One long answer says little of the others.
    if (at > FIRST_WAVE && instead < rest) return 'expensive';
    wave = at === 1 ? FIRST_WAVE : WAVE;
  }
  if (instead <= formsLeft) return 'expensive';
  await inWaves(missing, async ([value, forms]) => {
    if (!(await isFound(value, forms, true)) && known) believed = false;
  });
  return believed ? 'believed' : 'doubted';
}

/** Look-ups started at once; how many are in flight is the service's business. */
const WAVE = 64;
/** Before that a few, which show how long the answers of a filter are. */
const FIRST_WAVE = 8;

/** Works on the items, some at a time. */
export async function inWaves<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += WAVE) await Promise.all(items.slice(at, at + WAVE).map(work));
}

/** Goes through `length` places so that every beginning is spread evenly over all of them, in no rhythm that a file may have. */
function fairOrder(length: number): (at: number) => number {
  let step = Math.max(1, Math.round(length * GOLDEN));
  while (commonDivisor(step, length) !== 1) step++;
  // From the middle: the first rows of a file are often not like the others.
  const start = Math.floor(length / 2);
  return (at) => (start + at * step) % length;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}

function controlValue(record: Json, filter: Filter): string {
  const value = record[filter.field];
  // A serial number that is literally `list` is another request altogether (interface, section 4.4).
  return typeof value === 'string' && value !== 'list' ? value.trim() : '';
}

/** What was asked for, in texts, and what of it exists. */
interface ProbeResult extends ProbeProgress {
  readonly existing: Keys;
  /** The rest was not asked for: the list is cheaper than going on. */
  readonly expensive: boolean;
}

/**
 * Which serial numbers exist, up to 500 in one request, each asked for also in the forms that may be stored. Undefined where the
 * service's answer cannot be believed. `first`: page 1 of the list. Interface, section 4.4.
 */
export async function probeValues(values: Keys, first: Page, service: Service): Promise<Keys | undefined> {
  return (await probe(values, first, service, Number.POSITIVE_INFINITY))?.existing;
}

/**
 * The same, also of those that only look like one of the values, as long as it is likely to be cheaper than the list
 * (`nextProbe`). Every answer is a fair sample of the file, wherever in it the new rows stand.
 */
export function probeWhileCheap(values: Keys, first: Page, service: Service): Promise<ProbeResult | undefined> {
  return probe(values, first, service, first.count, lookalikeForm);
}

/** A list of so few serial numbers is refused for another reason than its length. */
const MIN_SPLIT = 100;

/**
 * A service or proxy may drop the body of a GET. Then the answer is every asset, or none (a filter for the serial number
 * "list"). So a serial number that is known to exist travels along as a control, and an answer counts only where it comes back
 * and nothing comes back that was not asked for. A list that is refused, perhaps for its length, is asked for in halves.
 * `count`: records of the list that may be read in place of going on.
 */
async function probe(
  values: Keys,
  first: Page,
  service: Service,
  count: number,
  alike: (text: string) => string = (text) => text,
): Promise<ProbeResult | undefined> {
  const { serialProbe } = service;
  const valueAt = keyAccessor(values);
  const texts = countTexts(values);
  const fair = fairOrder(values.size);
  const existing = new Map<string, readonly string[]>();
  const giveUp = () => {
    serialProbe.batchLimit = 0;
    return undefined;
  };
  let probed = NOTHING_PROBED;
  let known = first;
  for (let at = 0; at < values.size; ) {
    const size = nextProbe(count, texts, probed);
    if (size === 'list') return { ...probed, existing, expensive: true };
    if (known.count === 0) break;
    const control = known.results.map((record) => record['serial_number']).find(isSerial);
    if (control === undefined || serialProbe.batchLimit === 0) return giveUp();

    const entries: (readonly [value: string, spellings: readonly string[]])[] = [];
    const serials = new Set([control]);
    let asked = 0;
    // The spellings of a value stay together.
    while (at + entries.length < values.size && asked < size && serials.size < serialProbe.batchLimit) {
      const [value, spellings] = valueAt(fair(at + entries.length));
      entries.push([value, spellings]);
      asked += 1 + spellings.length;
      const alsoAlike = [value, ...spellings].flatMap((text) => [text, alike(text)]);
      for (const form of alsoAlike.flatMap(formsOf)) serials.add(form);
    }

    const list = [...serials];
    const askedFor = new Set(list.map(folded));
    const answer = await serialProbe.page(list, 1);
    if (answer === 'too_many' && list.length > MIN_SPLIT && entries.length > 1) {
      serialProbe.batchLimit = Math.ceil(list.length / 2);
      continue;
    }
    if (!isAnswerTo(askedFor, answer)) return giveUp();
    const progress = (hits: number, pagesLeft: number): ProbeProgress => ({
      asked: probed.asked + asked,
      hits: probed.hits + hits,
      unpaged: probed.unpaged || answer.serials.length > PAGE_SIZE,
      pagesLeft,
    });
    if (answer.serials.length < answer.count) {
      // Among the records is the control; several may have one serial number.
      const sampled = progress(Math.min(answer.count - 1, asked), Math.ceil(answer.count / PAGE_SIZE) - 1);
      if (nextProbe(count, texts, sampled) === 'list') return { ...sampled, existing, expensive: true };
    }
    const found = await readAnswer(serialProbe, list, askedFor, answer);
    if (!found) return giveUp();
    if (!found.has(normaliseKey(control))) {
      if (known !== first) return giveUp();
      // The control itself may have been changed or removed meanwhile: once more with another one.
      known = await service.page('asset', 1);
      continue;
    }
    let hits = 0;
    for (const [value, spellings] of entries) {
      const one = found.has(value) ? value : alike(value);
      if (!found.has(one)) continue;
      existing.set(one, values.get(one) ?? []);
      hits += 1 + spellings.length;
    }
    probed = progress(hits, 0);
    at += entries.length;
  }
  return { ...probed, existing, expensive: false };
}

/** What is asked for to find a text. What the screen shows nothing of looks like no serial number. */
function formsOf(text: string): readonly string[] {
  return text === '' ? [] : [text, ...storedForms(text)];
}

/** All pages of an answer, in the form of keys; undefined where they cannot be the answer to this list. */
async function readAnswer(
  serialProbe: SerialProbe,
  list: readonly string[],
  askedFor: ReadonlySet<string>,
  first: SerialPage,
): Promise<ReadonlySet<string> | undefined> {
  const found = new Set(first.serials.map(normaliseKey));
  let read = first.serials.length;
  let { count } = first;
  for (let number = 2; read < count; number++) {
    const answer = await serialProbe.page(list, number);
    if (!isAnswerTo(askedFor, answer)) return undefined;
    const before = found.size;
    for (const serial of answer.serials) found.add(normaliseKey(serial));
    // Serial numbers may repeat across records; a whole page of repetitions means that pages are not told apart.
    if (found.size === before) return undefined;
    read += answer.serials.length;
    ({ count } = answer);
  }
  return found;
}

/** Whether nothing comes back that was not asked for. */
function isAnswerTo(askedFor: ReadonlySet<string>, answer: SerialPage | 'too_many' | undefined): answer is SerialPage {
  if (!answer || answer === 'too_many') return false;
  if (answer.serials.length === 0) return answer.count === 0;
  return answer.serials.every((serial) => askedFor.has(folded(serial)));
}

/** Services that ignore case still looked at the list. */
function folded(serial: string): string {
  return normaliseKey(serial).toLowerCase();
}

function isSerial(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
