import type { ReadAll } from '../pipeline/match/match.js';
import { readingClock, systemClock } from '../service/clock.js';
import { parseJson, stringifyBody } from '../service/json.js';
import { readAll as walk } from '../service/lists/pages.js';
import type { Json, Page, Readable, Service } from '../service/port.js';
import { lines, lineWriter } from './row-files.js';

/** Milliseconds for which page 1 stands for the list's beginning: long enough to decide how to read the rest. */
const FIRST_PAGE_HOLDS = 10_000;

interface Kept {
  readonly file: string;
  readonly first: Page;
}

/**
 * Reads lists for one run, each at most once: page 1 is asked for once by whoever decides how to read a list, and a list
 * that is kept stands in a file until the run ends. `onRecords` sees every record that comes from the service; `parallel`: most
 * pages in flight.
 */
export function openLists(
  service: Service,
  fileOf: (resource: Readable) => string,
  onRecords: (resource: Readable, records: readonly Json[]) => void,
  now: () => number = readingClock(systemClock),
  parallel?: number,
): ReadAll {
  const kept = new Map<Readable, Kept>();
  const firsts = new Map<Readable, { readonly at: number; readonly page: Promise<Page> }>();

  function first(resource: Readable): Promise<Page> {
    const known = kept.get(resource);
    if (known) return Promise.resolve(known.first);
    const recent = firsts.get(resource);
    if (recent && now() - recent.at < FIRST_PAGE_HOLDS) return recent.page;
    const page = service.page(resource, 1);
    firsts.set(resource, { at: now(), page });
    return page;
  }

  const all: (...given: Parameters<ReadAll>) => ReturnType<ReadAll> = async (
    resource,
    visit,
    { keep = false, backward = false } = {},
  ) => {
    const known = kept.get(resource);
    if (known) {
      for await (const line of lines(known.file)) {
        const [at, records] = parseJson(line) as [number, Json[]];
        await visit(records, at);
      }
      return { certified: true, confirm: async () => false };
    }
    const beginning = await first(resource);
    firsts.delete(resource);
    const pages = walk(
      service,
      resource,
      {},
      {
        first: beginning,
        direction: backward ? 'backward' : 'forward',
        ...(parallel === undefined ? {} : { parallel }),
      },
    );
    const file = fileOf(resource);
    const out = keep ? await lineWriter(file) : undefined;
    for await (const { records } of pages) {
      const at = now();
      onRecords(resource, records);
      out?.write(`${stringifyBody([at, records])}\n`);
      await out?.drained();
      await visit(records, at);
    }
    await out?.close();
    if (keep && pages.certified) kept.set(resource, { file, first: beginning });
    return { certified: pages.certified, confirm: () => pages.confirm() };
  };

  return Object.assign(all, { first, has: (resource: Readable) => kept.has(resource) });
}
