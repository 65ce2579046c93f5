import { stringifyBody } from '../../src/model/json.js';
import type { Json, Page, PageOptions, Service } from '../../src/service/port.js';

export interface Item {
  readonly id: number;
  version: number;
}

/** A list that lives on its own: records come, go, return and change, and it answers from the state it is in. */
export interface LivingList {
  readonly service: Service;
  /** In list order. */
  readonly items: Item[];
  /** Requests that were answered. */
  readonly served: number;
  /** Pages asked for, in the order of asking. */
  readonly asked: readonly number[];
  readonly mostPending: number;
  remove(at: number): void;
  /** With an id: a record that returns to its old place. */
  insert(id?: number): void;
  change(at: number): void;
  /** Ids that were removed at some time. */
  readonly removed: ReadonlySet<number>;
  readonly lastId: number;
}

export interface LivingOptions {
  readonly size?: number;
  readonly random?: () => number;
  /** Called before each answer, with its number from 1; what it changes is in the answer. */
  readonly beforeAnswer?: (list: LivingList, nth: number) => void;
  /** Changes what is answered. */
  readonly shape?: (page: Page, number: number, items: readonly Item[]) => Page;
  readonly pageSize?: number;
  readonly inFlightLimit?: number;
  readonly record?: (item: Item) => Json;
}

/**
 * Requests that wait are answered in random order, one a turn of the event loop, each from the state of that moment:
 * changes fall between answers and between the answers to requests that are in flight together.
 */
export function livingList(options: LivingOptions = {}): LivingList {
  const { random: chance = () => 0, pageSize = 25, record = ({ id, version }: Item) => ({ id, version }) } = options;
  const items: Item[] = Array.from({ length: options.size ?? 0 }, (_, index) => ({ id: (index + 1) * 3, version: 1 }));
  let lastId = items.length * 3;
  const removed = new Set<number>();
  const asked: number[] = [];
  const pending: Asked[] = [];
  let served = 0;
  let mostPending = 0;
  let turning = false;

  function turn(): void {
    const [next] = pending.splice(Math.floor(chance() * pending.length), 1);
    turning = pending.length > 0;
    if (turning) setImmediate(turn);
    if (!next) return;
    served++;
    options.beforeAnswer?.(list, served);
    const results = items.slice((next.number - 1) * pageSize, next.number * pageSize).map(record);
    const past = next.number > 1 && results.length === 0;
    const page = { count: past ? 0 : items.length, results };
    next.resolve(asText(options.shape ? options.shape(page, next.number, items) : page, next));
  }

  const list: LivingList = {
    items,
    removed,
    asked,
    get served() {
      return served;
    },
    get mostPending() {
      return mostPending;
    },
    get lastId() {
      return lastId;
    },
    remove(at) {
      const [gone] = items.splice(at, 1);
      if (gone) removed.add(gone.id);
    },
    insert(id) {
      if (id === undefined) {
        items.push({ id: ++lastId, version: 1 });
        return;
      }
      const at = items.findIndex((item) => item.id > id);
      items.splice(at < 0 ? items.length : at, 0, { id, version: 1 });
    },
    change(at) {
      const item = items[at];
      if (item) item.version++;
    },
    service: {
      inFlightLimit: options.inFlightLimit ?? 16,
      page: (_resource: string, number: number, _query: unknown, options: PageOptions = {}) =>
        new Promise<Page>((resolve) => {
          asked.push(number);
          pending.push({ ...options, number, resolve });
          mostPending = Math.max(mostPending, pending.length);
          if (!turning) setImmediate(turn);
          turning = true;
        }),
    } as unknown as Service,
  };
  return list;
}

interface Asked extends PageOptions {
  readonly number: number;
  readonly resolve: (page: Page) => void;
}

/** As the service answers who asks whether a page is known: with its text. */
function asText(page: Page, { isKnown }: Asked): Page {
  if (!isKnown) return page;
  const { count, results } = page;
  const text = stringifyBody({ count, results });
  return isKnown(text) ? { count: 0, results: [], text, known: true } : { ...page, text };
}
