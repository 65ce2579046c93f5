import { RunError } from '../../model/error.js';
import type { Json, Page, Readable, Service } from '../port.js';
import { idOf } from '../transport/answer.js';
import { datedAs, frontIsWrong, watermarkOf } from './delta.js';
import { createHeld, formOf, type Held } from './held.js';
import type { Moment } from './moment.js';
import { readAll } from './pages.js';

/** Times a list is read that changes meanwhile. */
const MOST_READINGS = 3;
/** Answers that are about the token, the pace, or may pass: they say nothing about the request. */
const NOT_ABOUT_THE_REQUEST: readonly number[] = [401, 403, 407, 408, 425, 429];

/** The last modified records first. Interface, section 4.4. */
export const LAST_MODIFIED = { ordering: '-modified_date' } as const;

export interface FullOptions {
  readonly dir: string;
  readonly newName: () => string;
  readonly parallel?: number;
  readonly now: () => number;
  readonly onRecords?: (records: readonly Json[]) => void;
  readonly onProgress?: (done: number, total: number) => void;
  /** Page 1 in the order `LAST_MODIFIED`, read before; undefined where the list cannot be had in that order. */
  readonly front: Page | undefined;
}

export interface Full {
  readonly held: Held;
  readonly certified: boolean;
  readonly problems: readonly string[];
  readonly readings: number;
  readonly pages: number;
  /** The latest modification date when the reading began; undefined where records do not all show theirs. */
  readonly watermark: Moment | undefined;
  /** Ids of page 1 in the order of modification when the reading began; undefined where there is no such order. */
  readonly front: readonly number[] | undefined;
}

/** Page 1 of the last modified records; undefined where the service does not know the order. */
export async function readFront(service: Service, resource: Readable): Promise<Page | undefined> {
  try {
    return await service.page(resource, 1, LAST_MODIFIED);
  } catch (error) {
    const status = error instanceof RunError ? error.status : undefined;
    if (status === undefined || status < 400 || status > 499 || NOT_ABOUT_THE_REQUEST.includes(status)) throw error;
    return undefined;
  }
}

/** Reads the whole list; again while it changes under the reading. The last is used, certain or not. */
export async function readFull(service: Service, resource: Readable, options: FullOptions): Promise<Full> {
  const watermark = options.front && watermarkOf(options.front);
  for (let reading = 1; ; reading++) {
    const held = createHeld(options.dir, options.newName);
    try {
      const { certified, problems, pages, dated, undated } = await readOnce(
        service,
        resource,
        held,
        watermark,
        options,
      );
      if (certified || reading === MOST_READINGS) {
        const front = options.front && (dated || undated) ? idsOfFront(options.front, held) : undefined;
        return { held, certified, problems, readings: reading, pages, front, watermark: dated ? watermark : undefined };
      }
    } catch (error) {
      await held.close();
      throw error;
    }
    await held.close();
  }
}

/** Undefined where the page is just the beginning of the list: then nothing shows that the order was looked at. */
function idsOfFront({ count, results }: Page, held: Held): readonly number[] | undefined {
  const ids = results.flatMap((record) => idOf(record) ?? []);
  return ids.length === results.length && frontIsWrong(results, count, held) === undefined ? ids : undefined;
}

async function readOnce(
  service: Service,
  resource: Readable,
  held: Held,
  watermark: Moment | undefined,
  { parallel, now, front, onRecords, onProgress }: FullOptions,
): Promise<Pick<Full, 'certified' | 'problems' | 'pages'> & { readonly dated: boolean; readonly undated: boolean }> {
  const last = await lastId(service, resource, front ?? (await service.page(resource, 1)));
  const walk = readAll(service, resource, {}, parallel === undefined ? {} : { parallel });
  let highest = 0;
  let dated = watermark !== undefined;
  let undated = true;
  let pages = 0;
  for await (const { records, count } of walk) {
    const readAt = now();
    pages++;
    onRecords?.(records);
    for (const record of records) {
      const id = idOf(record);
      // The walk has noted that as a problem: such a list is not certain.
      if (id === undefined) continue;
      highest = Math.max(highest, id);
      const micros = datedAs(record, watermark?.form);
      if (Number.isNaN(micros)) dated = false;
      if (record['modified_date'] !== undefined) undated = false;
      held.put(id, formOf(record), readAt, micros);
    }
    await held.drained();
    onProgress?.(held.size, count);
  }
  const problems = [...walk.problems];
  if (highest !== last) problems.push(`record ${Math.max(highest, last)} came or went while the list was read`);
  return { certified: walk.certified && problems.length === 0, problems, pages, dated, undated };
}

/**
 * The highest id of the list, asked for before page 1 is read. Where one record goes and another comes, the count is as before, and a record
 * that was pushed from a page unread to a page read is missed: one that came has a higher id than all before. (One that returns
 * under its old id is not noticed.)
 */
async function lastId(service: Service, resource: Readable, { count, results }: Page): Promise<number> {
  const page = await service.page(resource, Math.max(1, Math.ceil(count / Math.max(results.length, 1))));
  return page.results.reduce((highest, record) => Math.max(highest, idOf(record) ?? 0), 0);
}
