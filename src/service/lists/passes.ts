import { parseJson, stringifyBody } from '../json.js';
import type { Json, Page } from '../port.js';
import { idOf, readPage } from '../transport/answer.js';
import { bytesHash } from './bytes-hash.js';
import type { LoggedPage, PageLog } from './page-log.js';
import { barrenPages } from './pages.js';
import { openPass, type PassResult, type Shown } from './pass.js';
import { recordTexts } from './record-texts.js';
import type { Place, Slots } from './slots.js';
import { takenPages } from './taken-pages.js';
import { textHash } from './text-hash.js';
import type { Walk } from './walk.js';
import { openWindow } from './window.js';

/** How passes follow one another, and when they are believed. */
export interface Rules {
  /** At most 8. */
  readonly most: number;
  readonly walk: (pass: number) => (pass: ReturnType<typeof openPass>) => Walk;
  /** `verified` and `hopeless` end the reading; `sameSet`: this pass showed the same records as the one before. */
  readonly judge: (
    last: PassResult,
    before: PassResult | undefined,
    sameSet: boolean,
  ) => 'verified' | 'hopeless' | 'open';
}

export interface PassesOptions {
  readonly ordered: boolean;
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
  /** Two passes were enough, and the second showed every record in the form and, where they are kept, at the place of the first. */
  readonly asFirst: boolean;
}

/** Asks for a page; `isKnown` as in `PageOptions`. */
export type ReadPage = (page: number, pastEnd: boolean, isKnown: (bytes: Buffer) => boolean) => Promise<Page>;

/** `hash` of the answer's bytes, where it has any. */
type Answered = Page & { readonly hash: number };

/** `hashes` of its texts. */
type HashedPage = LoggedPage & { readonly hashes: readonly number[] };

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
  let farthest = 0;
  const taken = takenPages(slots, () => farthest);
  const ask = async (page: number, pastEnd: boolean, answered: () => void): Promise<Answered> => {
    let hash = 0;
    const answer = await read(page, pastEnd, (bytes) => {
      // The next request goes out first: it is under way while this page is looked at.
      answered();
      hash = bytesHash(bytes);
      return taken.isKnown(page, hash);
    });
    return { ...answer, hash };
  };
  const window = openWindow(ask, options.parallel);
  let alone = false;
  let before: PassResult | undefined;
  /** A pass after the first showed something new, or at another place. */
  let moved = false;

  for (let number = 1; ; number++) {
    const heard = before ?? { size: 25, sizeCertain: false, newest: undefined };
    const pass = openPass(number, heard, { alone, ordered: options.ordered });
    const walk = rules.walk(number)(pass);
    const explained = barrenPages();
    let shared = 0;

    /** Shows a page's records in this pass and keeps what is new of them. */
    const show = (line: HashedPage, places: readonly Place[]): Shown => {
      let fresh = 0;
      let again: number | undefined;
      const first = (line.page - 1) * 0x10_0000;
      for (const [index, key] of line.keys.entries()) {
        const slot = slots.add(key);
        if (slots.show(slot, number)) {
          fresh++;
          if (number > 1 && slots.shownIn(slot, number - 1)) shared++;
        } else again ??= key;
        if (number > 1 && !options.ordered && slots.position(slot) !== first + index) moved = true;
        slots.setPosition(slot, first + index);
      }
      if (number > 1 && line.texts.length > 0) moved = true;
      for (const [index, place] of line.at.entries()) {
        const slot = slots.find(line.keys[place] as number);
        const stored = places[index] as Place;
        slots.store(slot, stored, line.hashes[index] as number);
        farthest = stored.offset;
      }
      return { page: line.page, count: line.count, keys: line.keys, fresh, again };
    };

    for (let step = walk.next(); !step.done; ) {
      const kept = await log.next(number, step.value.page);
      let shown: Shown;
      if (kept) {
        if (options.onRecords && kept.line.texts.length > 0) options.onRecords(await log.read(kept.places));
        shown = show({ ...kept.line, hashes: kept.line.texts.map(bytesHash) }, kept.places);
      } else {
        const { page: at } = step.value;
        const page = await window(step.value);
        const known = page.known && taken.find(at, page.hash);
        let line: HashedPage;
        if (known) line = { pass: number, page: at, ...known, at: [], texts: [], hashes: [] };
        else {
          const parsed = page.known ? parsedAnew(page, at) : page;
          options.onRecords?.(parsed.results);
          line = lineOf(parsed, number, at, slots);
        }
        const places = log.append(line);
        shown = show(line, places instanceof Promise ? await places : places);
        explained(shown.fresh, pass.newest);
        if (page.bytes && !known) taken.take(at, page.hash, line);
      }
      step = walk.next(shown);
      options.onProgress?.(pass.shown, Math.max(pass.newest, pass.shown), number);
    }

    const result = pass.end();
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

/** A page that read so before, and made sense. */
function parsedAnew({ bytes = Buffer.alloc(0) }: Page, number: number): Page {
  const page = readPage(parseJson(bytes.toString('utf8')), number);
  if (typeof page === 'string') throw new Error(page);
  return { ...page, bytes };
}

function lineOf({ count, results, bytes }: Page, pass: number, page: number, slots: Slots): HashedPage {
  const found = bytes && recordTexts(bytes);
  const sent = found?.length === results.length ? found : undefined;
  const keys: number[] = [];
  const at: number[] = [];
  const texts: Buffer[] = [];
  const hashes: number[] = [];
  const nameless = new Set<number>();
  for (const [index, record] of results.entries()) {
    const text = sent?.[index] ?? Buffer.from(stringifyBody(record));
    const hash = bytesHash(text);
    const key = idOf(record) ?? namelessKey(stringifyBody(record), nameless);
    const slot = slots.find(key);
    keys.push(key);
    if (slot >= 0 && slots.hash(slot) === hash) continue;
    at.push(index);
    texts.push(text);
    hashes.push(hash);
  }
  return { pass, page, count, keys, at, texts, hashes };
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
