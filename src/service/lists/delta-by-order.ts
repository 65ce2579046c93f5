import type { Json, Page } from '../port.js';
import { idOf } from '../transport/answer.js';
import { countsDiffer, type Delta, doubt, frontIsWrong, MOST_ROUNDS, type Rules, TOO_MUCH } from './delta.js';
import { formOf, type Held } from './held.js';
import { idSet } from './id-set.js';

export interface OrderOptions {
  readonly read: (page: number) => Promise<Page>;
  readonly held: Held;
  /** Ids of page 1 in the order `-modified_date`, as it was before what is held was read. */
  readonly front: readonly number[];
  readonly now: () => number;
  readonly rules: Rules;
}

/** What a reading by order came to; `front`: page 1 when it began. */
export type OrderDelta =
  | (Omit<Extract<Delta, { kind: 'read' }>, 'watermark'> & { readonly front: readonly number[] })
  | Extract<Delta, { kind: 'doubt' }>;

/** Pages in a row on which every record is as held: one may be records that were saved without a change. */
const CLEAN_PAGES = 2;

/**
 * The same as `readDelta` for records that do not show when they were modified, as the interface has assets (section 2.5):
 * what was written since stands above everything that was not, and there above all above what stood first before.
 *
 *   walk from page 1 until a record of the old front is shown that is as held, and two pages in a row are as held
 *     → page 1 again: as it was when the walk began? done : walk again
 *
 * It rests on one promise of the service: what is written comes before all that was not written since. Where dates are as
 * coarse as a day it does not hold; what it then misses is as old as the last full reading.
 */
export async function readDeltaByOrder(options: OrderOptions): Promise<OrderDelta> {
  const { held, read, rules } = options;
  const shown = idSet();
  const changed = new Set<number>();
  let { front } = options;
  let first: readonly number[] | undefined;
  let pages = 0;
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const walk = await walkDown(options, front, { shown, changed });
    if (walk.kind === 'doubt') return walk;
    pages += walk.pages;
    first ??= walk.top;
    if (walk.kind === 'moved') continue;
    front = walk.top;
    if (walk.pages > 1 && rules.secondLook) {
      const again = await read(1);
      pages++;
      if (!isAsBefore(again, walk, held)) continue;
    }
    if (rules.counts && walk.count !== held.size) return doubt(countsDiffer(walk.count, held.size));
    return { kind: 'read', front: first, pages, changed: [...changed].sort((a, b) => a - b), shown };
  }
  return doubt('the list changes faster than it can be read');
}

interface Walked {
  readonly kind: 'ended' | 'moved';
  readonly pages: number;
  readonly count: number;
  /** Ids of page 1. */
  readonly top: readonly number[];
}

function isAsBefore({ count, results }: Page, walk: Walked, held: Held): boolean {
  if (count !== walk.count || results.length !== walk.top.length) return false;
  return results.every((record, at) => idOf(record) === walk.top[at] && isHeld(record, held));
}

function isHeld(record: Json, held: Held): boolean {
  return held.look(idOf(record) ?? -1)?.hash === formOf(record).hash;
}

async function walkDown(
  { read, held, now, rules }: OrderOptions,
  front: readonly number[],
  found: { readonly shown: { add(id: number): boolean }; readonly changed: Set<number> },
): Promise<Walked | Extract<Delta, { kind: 'doubt' }>> {
  const walked = idSet();
  const before = new Set(front);
  let most = 1;
  let count = 0;
  let top: readonly number[] = [];
  let clean = 0;
  let anchored = false;
  for (let number = 1; number <= most; number++) {
    const { results, ...page } = await read(number);
    const readAt = now();
    if (number === 1) {
      ({ count } = page);
      if (rules.counts && count < held.size) return doubt(countsDiffer(count, held.size));
      const wrong = frontIsWrong(results, count, held);
      if (wrong !== undefined) return doubt(wrong);
      most = Math.max(1, Math.floor(Math.ceil(count / results.length) / 2));
    } else if (rules.counts && page.count !== count) return { kind: 'moved', pages: number, count, top };
    let asHeld = true;
    let news = 0;
    for (const record of results) {
      const id = idOf(record);
      if (id === undefined) return doubt('a record has no id');
      if (walked.add(id)) news++;
      found.shown.add(id);
      const form = formOf(record);
      if (held.look(id)?.hash === form.hash) {
        anchored ||= before.delete(id);
        continue;
      }
      before.delete(id);
      asHeld = false;
      found.changed.add(id);
      held.put(id, form, readAt, Number.NaN);
    }
    await held.drained();
    if (number === 1) top = results.map((record) => idOf(record) as number);
    if (news === 0) return doubt(`page ${number} shows nothing that was not shown before`);
    clean = asHeld ? clean + 1 : 0;
    if (number === 1 && results.length >= count) return { kind: 'ended', pages: 1, count, top };
    // Of an old front that was written anew as a whole, no record can show where the old part begins.
    const reached = anchored || before.size === 0 || !rules.watermark;
    if (reached && clean >= (rules.watermark ? CLEAN_PAGES : 1)) return { kind: 'ended', pages: number, count, top };
  }
  return doubt(TOO_MUCH);
}
