import { RunError } from '../../src/model/error.js';
import type { Json, Page, Service } from '../../src/service/port.js';

/** Places in time are counted in events: a version of a record counts from one event to the next of that record. */
interface Version {
  readonly version: number;
  readonly from: number;
  /** Undefined while it is the newest. */
  until?: number;
}

interface Asset {
  readonly id: number;
  version: number;
  /** Milliseconds. */
  modified: number;
  /** A name of something else, which changes without the asset. */
  label: number;
}

export type Grain = 'ms' | 's' | 'day';
export type Ties = 'id' | '-id' | 'any';

export interface AssetListOptions {
  readonly size: number;
  readonly random: () => number;
  /** How finely the service keeps modification dates. */
  readonly grain?: Grain;
  /** How it orders records of the same date. */
  readonly ties?: Ties;
  /** What it does with `ordering=-modified_date`. */
  readonly ordering?: 'honoured' | 'ignored' | 'ascending' | 'refused';
  readonly show?: (millis: number) => unknown;
  readonly pageSize?: number;
  /** Before each answer, which shows what it did. `unread`: where the page begins, if it is one of the last modified first. */
  readonly beforeAnswer?: (list: AssetList, nth: number, unread: number | undefined) => void;
}

/** Assets in memory that others change, and a service that lists them. Every event and request takes some time. */
export interface AssetList {
  readonly service: Service;
  readonly size: number;
  readonly ids: readonly number[];
  /** The id at this place of the last modified first. */
  standing(place: number): number | undefined;
  /** Ids that were updated, the latest last. */
  readonly touched: number[];
  /** Requests answered. */
  requests: number;
  /** Milliseconds. */
  time: number;
  /** The number of the last event. */
  readonly event: number;
  create(): number;
  /** `moves: false`: without a new modification date. */
  update(id: number, moves?: boolean): void;
  remove(id: number): void;
  /** Changes what an asset shows of something else. */
  rename(id: number): void;
  /** All records as they are, ascending by id. */
  records(): Json[];
  /** Whether the record was like this at the event or later. */
  wasSo(record: Json, event: number): boolean;
  /** Ids that were there at the event and ever since. */
  there(event: number): number[];
}

const DAY = 86_400_000;

export function assetList(options: AssetListOptions): AssetList {
  const { random, grain = 'ms', ties = 'id', ordering = 'honoured', pageSize = 25 } = options;
  const show = options.show ?? ((millis: number) => new Date(millis).toISOString());
  const width = { ms: 1, s: 1_000, day: DAY }[grain];
  const assets = new Map<number, Asset>();
  const texts = new Map<number, Map<string, Version>>();
  const born = new Map<number, number>();
  let lastId = 0;
  let event = 0;
  let sorted: { readonly event: number; readonly assets: readonly Asset[] } | undefined;

  const stamp = (): number => Math.floor(list.time / width) * width;
  const jsonOf = ({ id, version, modified, label }: Asset): Json => ({
    id,
    name: `asset ${id}`,
    version,
    category: { id: 1, name: `label ${label}` },
    modified_date: show(modified),
  });

  function happened(asset: Asset): void {
    event++;
    list.time += 1 + Math.floor(random() * 2_000);
    const known = texts.get(asset.id) ?? new Map<string, Version>();
    texts.set(asset.id, known);
    for (const version of known.values()) version.until ??= event;
    known.set(JSON.stringify(jsonOf(asset)), { version: asset.version, from: event });
  }

  const rank = (id: number): number => Math.imul(id, 0x9e3779b1) >>> 0;
  const tie = (a: Asset, b: Asset): number =>
    ties === 'id' ? a.id - b.id : ties === '-id' ? b.id - a.id : rank(a.id) - rank(b.id);

  function lastModified(): readonly Asset[] {
    if (sorted?.event !== event) {
      const sign = ordering === 'ascending' ? -1 : 1;
      const all = [...assets.values()].sort((a, b) => sign * (b.modified - a.modified) || tie(a, b));
      sorted = { event, assets: all };
    }
    return sorted.assets;
  }

  async function page(_resource: string, number: number, query: Readonly<Record<string, string>> = {}): Promise<Page> {
    await undefined;
    list.requests++;
    list.time += 1 + Math.floor(random() * 40);
    const by = query['ordering'];
    options.beforeAnswer?.(list, list.requests, by === undefined ? undefined : (number - 1) * pageSize);
    if (by !== undefined && by !== '-modified_date') throw new Error(`unexpected ordering ${by}`);
    if (by && ordering === 'refused') throw new RunError('failed', 'refused', [], { status: 400 });
    const all = by && ordering !== 'ignored' ? lastModified() : [...assets.values()];
    const results = all.slice((number - 1) * pageSize, number * pageSize).map(jsonOf);
    return { count: number > 1 && results.length === 0 ? 0 : assets.size, results };
  }

  const list: AssetList = {
    requests: 0,
    touched: [],
    time: Date.UTC(2026, 0, 5, 1, 30),
    get size() {
      return assets.size;
    },
    get ids() {
      return [...assets.keys()];
    },
    standing: (place) => lastModified()[place]?.id,
    get event() {
      return event;
    },
    create() {
      const id = ++lastId;
      const asset = { id, version: 1, modified: stamp(), label: 0 };
      assets.set(id, asset);
      happened(asset);
      born.set(id, event);
      return id;
    },
    update(id, moves = true) {
      const asset = assets.get(id);
      if (!asset) return;
      asset.version++;
      if (moves) asset.modified = stamp();
      list.touched.push(id);
      happened(asset);
    },
    remove(id) {
      const asset = assets.get(id);
      if (!asset) return;
      assets.delete(id);
      event++;
      for (const version of texts.get(id)?.values() ?? []) version.until ??= event;
    },
    rename(id) {
      const asset = assets.get(id);
      if (!asset) return;
      asset.label++;
      happened(asset);
    },
    records: () => [...assets.values()].map(jsonOf),
    wasSo(record, at) {
      const version = texts.get(record['id'] as number)?.get(JSON.stringify(record));
      return version !== undefined && (version.until === undefined || version.until > at);
    },
    there: (at) => [...assets.keys()].filter((id) => (born.get(id) as number) <= at),
    service: {
      inFlightLimit: 4,
      page,
      async get(_resource: string, id: number) {
        list.requests++;
        const asset = assets.get(id);
        return asset && jsonOf(asset);
      },
    } as unknown as Service,
  };
  for (let made = 0; made < options.size; made++) {
    list.create();
    // The list grew over a long time, now and then many records at once.
    if (random() < 0.7) list.time += Math.floor(random() * DAY * 2);
  }
  return list;
}
