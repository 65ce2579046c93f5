import { parseJson, stringifyBody } from '../json.js';
import type { Json, MirrorRecord } from '../port.js';
import { createSegments, damaged, openSegments, type Segment, type Segments } from './segments.js';
import { createSlots, textHash } from './slots.js';

/**
 * The records of a list as they were last read: in memory where each stands, its fingerprint and its modification date (43
 * to 57 bytes a record), everything else in files, one line a record: `id,readAt,fingerprint,micros<tab>{record}`.
 */
export interface Held {
  readonly size: number;
  /** Undefined where there is no such record. */
  look(id: number): { readonly hash: number; readonly micros: number } | undefined;
  /** Adds or replaces. `micros`: its modification date, NaN where it is not known. */
  put(id: number, form: Form, readAt: number, micros: number): void;
  /** Resolves when the disk keeps up. */
  drained(): Promise<void>;
  /** Whether a record has a later modification date than this and is not in the set. */
  laterThan(micros: number, among: { has(id: number): boolean }): boolean;
  /** Records with this modification date or a later one. */
  since(micros: number): number;
  /** Ascending by id, in batches of up to 500. */
  records(): AsyncIterable<readonly MirrorRecord[]>;
  /** In the order of the ids, which must be held. */
  read(ids: readonly number[]): Promise<MirrorRecord[]>;
  /** Ids by their places in ascending order, from 0. */
  slice(from: number, to: number): readonly number[];
  seal(): Promise<readonly Segment[]>;
  /** Whether so much of the files is out of date that writing them anew is worth it. */
  readonly stale: boolean;
  close(): Promise<void>;
}

/** A record as it is kept and compared: the fingerprint is of its whole JSON. */
export interface Form {
  readonly text: string;
  readonly hash: number;
}

export function formOf(record: Json): Form {
  const text = stringifyBody(record);
  return { text, hash: textHash(text) };
}

const TAB = 9;
const BATCH = 500;
/** Files of which a mirror may consist. */
const MOST_FILES = 16;

export function createHeld(dir: string, newName: () => string): Held {
  return heldOf(dir, createSegments(dir, newName), createSlots(true), 0);
}

/** What the files hold; undefined where they are not as they were left. */
export async function openHeld(
  dir: string,
  newName: () => string,
  known: readonly Segment[],
  size: number,
): Promise<Held | undefined> {
  const slots = createSlots(true);
  let live = 0;
  const segments = await openSegments(dir, newName, known, (line, place) => {
    const tab = line.indexOf(TAB);
    const [id, , hash, micros] = line.toString('latin1', 0, Math.max(tab, 0)).split(',').map(toNumber);
    if (tab < 0 || !id || hash === undefined || micros === undefined) return false;
    const slot = slots.add(id);
    live += place.length - slots.place(slot).length;
    slots.store(slot, place, hash);
    slots.setPosition(slot, micros);
    return true;
  });
  if (!segments) return undefined;
  if (slots.size === size) return heldOf(dir, segments, slots, live);
  await segments.close();
  return undefined;
}

const toNumber = (text: string): number => (text === '' ? Number.NaN : Number(text));

function heldOf(dir: string, segments: Segments, slots: ReturnType<typeof createSlots>, bytes: number): Held {
  /** Bytes of the lines that count. */
  let live = bytes;
  let sorted: Float64Array | undefined;

  function ascending(): Float64Array {
    if (sorted?.length !== slots.size) {
      sorted = Float64Array.from({ length: slots.size }, (_, slot) => slots.key(slot)).sort();
    }
    return sorted;
  }

  async function read(ids: ArrayLike<number>): Promise<MirrorRecord[]> {
    const places = Array.from(ids, (id) => {
      const slot = slots.find(id);
      if (slot < 0) throw new RangeError(`record ${id} is not held`);
      return slots.place(slot);
    });
    const lines = await segments.read(places);
    return lines.map((line, index) => {
      const tab = line.indexOf(TAB);
      const [id, readAt] = line.toString('latin1', 0, Math.max(tab, 0)).split(',').map(toNumber);
      if (id !== ids[index] || readAt === undefined) throw damaged(dir);
      try {
        const text = line.toString('utf8', tab + 1);
        return { record: parseJson(text) as Json, readAt, text };
      } catch (error) {
        throw damaged(dir, error);
      }
    });
  }

  return {
    get size() {
      return slots.size;
    },
    look(id) {
      const slot = slots.find(id);
      if (slot < 0) return undefined;
      return { hash: slots.hash(slot) as number, micros: slots.position(slot) };
    },
    put(id, { text, hash }, readAt, micros) {
      const line = Buffer.from(`${id},${readAt},${hash},${Number.isNaN(micros) ? '' : micros}\t${text}\n`);
      const slot = slots.add(id);
      live += line.length - 1 - slots.place(slot).length;
      slots.setPosition(slot, micros);
      slots.store(slot, segments.append(line), hash);
    },
    drained: () => segments.drained(),
    laterThan(micros, among) {
      for (let slot = 0; slot < slots.size; slot++) {
        if (slots.position(slot) > micros && !among.has(slots.key(slot))) return true;
      }
      return false;
    },
    since(micros) {
      let found = 0;
      for (let slot = 0; slot < slots.size; slot++) if (slots.position(slot) >= micros) found++;
      return found;
    },
    async *records() {
      const ids = ascending();
      for (let from = 0; from < ids.length; from += BATCH) yield await read(ids.subarray(from, from + BATCH));
    },
    read,
    slice: (from, to) => Array.from(ascending().subarray(from, to)),
    seal: () => segments.seal(),
    get stale() {
      return segments.files > MOST_FILES || segments.bytes > 2 * live + (1 << 20);
    },
    close: () => segments.close(),
  };
}
