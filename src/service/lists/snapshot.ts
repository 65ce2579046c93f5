import { rm } from 'node:fs/promises';
import { endOfLines } from '../../compact/block-reader.js';
import { numbersByPlace } from '../../compact/by-place.js';
import { createHashIndex, hashOf } from '../../compact/hash-index.js';
import { openScratchFile, tried } from '../../compact/scratch-file.js';
import { isDiskFull, RunError } from '../../model/error.js';
import { parseJson, stringifyBody } from '../json.js';
import type { Json, Snapshot } from '../port.js';

const [TAB, COMMA] = [9, 44];

/** Reads a record that was noted alone. */
export type ReadNoted = (id: number) => ReturnType<Snapshot['get']>;

/** An empty snapshot in the place of what an earlier process left there. */
export async function beginSnapshot(path: string, readNoted?: ReadNoted): Promise<Snapshot> {
  await rm(path, { force: true });
  return openSnapshot(path, readNoted);
}

/**
 * Records in an append-only file, one a line: `id,readAt,"key"<tab>{record}`. In memory stands only where each line is, found by
 * the hashes of id and key, and the fingerprint, some 40 bytes a record; the line tells whether it is the one that is looked
 * for. A later line replaces an earlier one; a torn last line is cut off at opening. The key '' is no key: nothing is found
 * under it. A record that was noted alone has the line `id,null,"key"<tab>`, which means nothing to a later process.
 */
export async function openSnapshot(path: string, readNoted: ReadNoted = async () => undefined): Promise<Snapshot> {
  /** Both number the lines in the order in which they came. */
  const byId = createHashIndex();
  const byKey = createHashIndex();
  const offsets = numbersByPlace();
  const prints = numbersByPlace();
  let size = 0;
  const fault = (cause: unknown) => diskFault(path, cause);
  const keep = tried(fault, () => endOfLines(path));
  const file = openScratchFile(path, fault, keep);

  function lineOf(number: number): Buffer {
    const line = file.line(offsets.get(number) as number);
    if (!line.includes(TAB)) throw new Error(`the snapshot ${path} was changed by somebody else`);
    return line;
  }

  /** The line of a record that counts: the last one; -1 where there is none. */
  function find(id: number): number {
    const begin = `${id},`;
    return byId.find(hashOf(begin), (number) => lineOf(number).toString('latin1', 0, begin.length) === begin);
  }

  function place(id: number, key: string, offset: number, fingerprint: number): void {
    let number = find(id);
    if (number < 0) size++;
    if (number < 0 || keyIn(lineOf(number)) !== JSON.stringify(key)) {
      byKey.add(hashOf(key));
      number = byId.add(hashOf(`${id},`));
    }
    offsets.set(number, offset);
    prints.set(number, fingerprint);
  }

  /** The lines of the records with this key that count, the last one first. */
  function withKey(key: string, take: (number: number, id: number) => boolean): void {
    if (key === '') return;
    const wanted = JSON.stringify(key);
    byKey.find(hashOf(key), (number) => {
      const line = lineOf(number);
      if (keyIn(line) !== wanted) return false;
      const id = Number(line.toString('latin1', 0, line.indexOf(COMMA)));
      return find(id) === number && take(number, id);
    });
  }

  for (const { at, bytes } of file.lines()) {
    const head = headOf(bytes);
    if (head) place(head.id, head.key, at, Number.NaN);
  }

  const nothing = Promise.resolve();

  return {
    add(id, record, key, readAt, text = stringifyBody(record), fingerprint = Number.NaN) {
      place(id, key, file.append(`${id},${readAt},${JSON.stringify(key)}\t${text}\n`), fingerprint);
      return nothing;
    },
    note(id, key, fingerprint) {
      place(id, key, file.append(`${id},null,${JSON.stringify(key)}\t\n`), fingerprint);
    },
    holds: (id) => find(id) >= 0,
    ids(key) {
      const ids: number[] = [];
      withKey(key, (_, id) => {
        ids.push(id);
        return false;
      });
      return ids.sort((a, b) => a - b);
    },
    has(key) {
      let found = false;
      withKey(key, () => (found = true));
      return found;
    },
    like(key, fingerprint) {
      let only: { readonly number: number; readonly id: number } | undefined;
      let others = false;
      withKey(key, (number, id) => {
        others = only !== undefined;
        only = { number, id };
        return others;
      });
      return only && !others && prints.get(only.number) === fingerprint ? only.id : undefined;
    },
    async get(id) {
      const number = find(id);
      if (number < 0) return undefined;
      const line = lineOf(number);
      const tab = line.indexOf(TAB);
      if (tab === line.length - 1) return readNoted(id);
      const from = line.indexOf(COMMA) + 1;
      const readAt = Number(line.toString('latin1', from, line.indexOf(COMMA, from)));
      return { record: parseJson(line.toString('utf8', tab + 1)) as Json, readAt };
    },
    get size() {
      return size;
    },
    async close() {
      try {
        file.flush();
      } finally {
        file.close();
      }
    },
  };
}

/** Undefined for a damaged line and for one that only notes a record: it will be read from the service again. */
function headOf(line: Buffer): { readonly id: number; readonly key: string } | undefined {
  const tab = line.indexOf(TAB);
  if (tab < 0) return undefined;
  try {
    const [id, readAt, key] = JSON.parse(`[${line.toString('utf8', 0, tab)}]`) as unknown[];
    return typeof id === 'number' && readAt !== null && typeof key === 'string' ? { id, key } : undefined;
  } catch {
    return undefined;
  }
}

/** The key in a line, as JSON. */
function keyIn(line: Buffer): string {
  const readAt = line.indexOf(COMMA) + 1;
  return line.toString('utf8', line.indexOf(COMMA, readAt) + 1, line.indexOf(TAB));
}

/** What kept a scratch file from being written, in words. */
export function diskFault(path: string, cause: unknown): RunError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const reason = isDiskFull(cause) ? 'the disk is full' : `the disk failed (${code})`;
  return new RunError(
    'failed',
    `What was read from the service cannot be kept in ${path}: ${reason}. Free some space, then resume the run.`,
    [],
    { cause },
  );
}
