import { textHash } from '../../compact/hash-index.js';
import { parseJson, stringifyBody } from '../../model/json.js';
import type { Json, Page } from '../port.js';
import { idOf, readPage } from '../transport/answer.js';
import type { LoggedPage, PageLog } from './page-log.js';
import { barrenPages } from './pages.js';
import { Pass, type PassResult, type Shown } from './pass.js';
import type { Slots } from './slots.js';
import { openWindow, type Walk } from './walk.js';

/** How passes follow one another, and when they are believed. */
export interface Rules {
  /** At most 8. */
  readonly most: number;
  readonly walk: (pass: number) => (pass: Pass) => Walk;
  /** `verified` and `hopeless` end the reading; `sameSet`: this pass showed the same records as the one before. */
  readonly judge: (
    last: PassResult,
    before: PassResult | undefined,
    sameSet: boolean,
  ) => 'verified' | 'hopeless' | 'open';
}

export interface PassesOptions {
  readonly parallel: () => number;
  readonly onProgress?: (done: number, total: number, pass: number) => void;
  readonly onRecords?: (records: readonly Json[]) => void;
  /** The first pass was sound: what the slots hold is the list, if the next shows the same. */
  readonly onFirstPass?: () => void | Promise<void>;
}

export interface PassesResult {
  readonly verified: boolean;
  readonly passes: number;
  readonly problems: readonly string[];
  /** Two passes were enough, and the second showed every record in the form of the first. */
  readonly asFirst: boolean;
}

/** Asks for a page; `isKnown` as in `PageOptions`. */
export type ReadPage = (page: number, pastEnd: boolean, isKnown: (text: string) => boolean) => Promise<Page>;

/** What a page was found to hold. */
type TakenPage = Pick<LoggedPage, 'count' | 'keys'> & { readonly hash: number };

/**
 * Passes over a list until the rules have it enough. Every page goes through the log before anything follows from it;
 * pages that the log holds already are taken from there, and the service is asked for the rest.
 */
export async function readPasses(
  read: ReadPage,
  log: PageLog,
  slots: Slots,
  rules: Rules,
  options: PassesOptions,
): Promise<PassesResult> {
  const problems: string[] = [];
  /** Pages as they were last taken in, by the hash of their texts: a list at rest is read twice, and parsed once. */
  const taken = new Map<number, TakenPage>();
  const window = openWindow((page, pastEnd, answered) => {
    return read(page, pastEnd, (text) => {
      // The next request goes out first: it is under way while this page is looked at.
      answered();
      const before = taken.get(page);
      return before !== undefined && before.hash === textHash(text);
    });
  }, options.parallel);
  let alone = false;
  let before: PassResult | undefined;
  /** A pass after the first showed something new. */
  let moved = false;

  for (let number = 1; ; number++) {
    const heard = before ?? { size: 25, sizeCertain: false, newest: undefined };
    const pass: Pass = new Pass(number, heard, { alone });
    const walk = rules.walk(number)(pass);
    const explained = barrenPages();
    let shared = 0;

    /** Shows a page's records in this pass and keeps what is new of them. */
    const show = (line: LoggedPage, places: readonly number[]): Shown => {
      let fresh = 0;
      let again: number | undefined;
      const found: number[] = [];
      for (const key of line.keys) {
        const slot = slots.add(key);
        found.push(slot);
        if (slots.show(slot, number)) {
          fresh++;
          if (number > 1 && slots.shownIn(slot, number - 1)) shared++;
        } else again ??= key;
      }
      if (number > 1 && line.at.length > 0) moved = true;
      for (const [index, place] of line.at.entries()) slots.store(found[place] as number, places[index] as number);
      return { page: line.page, count: line.count, keys: line.keys, fresh, again };
    };

    for (let step = walk.next(); !step.done; ) {
      const kept = log.next(number, step.value.page);
      let shown: Shown;
      if (kept) {
        if (options.onRecords && kept.places.length > 0) options.onRecords(log.read(kept.places));
        shown = show(kept.line, kept.places);
      } else {
        const { page: at } = step.value;
        const page = await window(step.value);
        const known = page.known ? taken.get(at) : undefined;
        let line: LoggedPage;
        let text = '[]';
        if (known) line = { pass: number, page: at, count: known.count, keys: known.keys, at: [] };
        else {
          const parsed = page.known ? parsedAnew(page, at) : page;
          options.onRecords?.(parsed.results);
          ({ line, text } = lineOf(parsed, number, at, slots, log));
          // A record that has changed may read as before where it is shown next: what it is then is to be kept.
          if (line.at.some((place) => slots.find(line.keys[place] as number) >= 0)) taken.clear();
          const { count, keys } = line;
          if (page.text !== undefined) taken.set(at, { hash: textHash(page.text), count, keys });
        }
        shown = show(line, log.append(line, text));
        explained(shown.fresh, pass.newest);
      }
      step = walk.next(shown);
      options.onProgress?.(pass.shown, Math.max(pass.newest, pass.shown), number);
    }

    const result: PassResult = pass.end();
    problems.push(...result.problems);
    const sameSet = before !== undefined && shared === result.shown && shared === before.shown;
    if (before && !sameSet) problems.push(differenceOf(result, before, shared));
    const verdict = rules.judge(result, before, sameSet);
    if (verdict !== 'open' || number === rules.most) {
      const verified = verdict === 'verified';
      return { verified, passes: number, problems, asFirst: verified && number === 2 && !moved };
    }
    if (number === 1 && result.sound) await options.onFirstPass?.();
    alone ||= !result.sound && !result.onlyNameless;
    before = result;
  }
}

function differenceOf(last: PassResult, before: PassResult, shared: number): string {
  const more = last.shown - shared;
  const fewer = before.shown - shared;
  const parts = [
    ...(more > 0 ? [`showed ${more} records that pass ${before.number} did not show`] : []),
    ...(fewer > 0 ? [`did not show ${fewer} records that pass ${before.number} showed`] : []),
  ];
  return `pass ${last.number} ${parts.join(' and ')}`;
}

/** A page that read so before, when its records had another form than now. */
function parsedAnew({ text = '' }: Page, number: number): Page {
  const page = readPage(parseJson(text), number);
  if (typeof page === 'string') throw new Error(page);
  return { ...page, text };
}

/** A page as the log keeps it, with the JSON of what is new to the slots, or reads otherwise than it did. */
function lineOf({ count, results, text }: Page, pass: number, page: number, slots: Slots, log: PageLog) {
  const nameless = new Set<number>();
  const keys = results.map((record) => idOf(record) ?? namelessKey(stringifyBody(record), nameless));
  const known = keys.map((key) => slots.find(key));
  const places = known.map((slot) => (slot < 0 ? 0 : slots.place(slot)));
  const before = log.read(places.filter((place) => place > 0));
  let next = 0;
  const at = results.flatMap((record, index) => {
    const old = places[index] === 0 ? undefined : before[next++];
    return old && stringifyBody(old) === stringifyBody(record) ? [] : [index];
  });
  const line: LoggedPage = { pass, page, count, keys, at };
  if (text !== undefined && at.length === keys.length && !text.includes('\n')) return { line, text };
  return { line, text: `[${at.map((index) => stringifyBody(results[index])).join()}]` };
}

/**
 * A record without an id is known by its content. Two alike on one page are two; on different pages they cannot be told
 * from one record that was shown twice.
 */
function namelessKey(text: string, onThisPage: Set<number>): number {
  let key = -textHash(text) - 1;
  for (let nth = 2; onThisPage.has(key); nth++) key = -textHash(`${nth} ${text}`) - 1;
  onThisPage.add(key);
  return key;
}
