import { endOfLines } from '../compact/block-reader.js';
import { numbersByPlace } from '../compact/by-place.js';
import { createHashIndex, hashOf } from '../compact/hash-index.js';
import { openScratchFile, tried } from '../compact/scratch-file.js';
import { isDiskFull, RunError } from '../model/error.js';
import { parseJson, stringifyBody } from './json.js';
import type { Json, Snapshot } from './port.js';

const [TAB, COMMA] = [9, 44];

/**
 * Records in an append-only file, one a line: `id,readAt,"key"<tab>{record}`. In memory stands only where each line is, found by
 * the hashes of id and key, some 32 bytes a record; the line tells whether it is the one that is looked for. A later line
 * replaces an earlier one; a torn last line is cut off at opening. The key '' is no key: nothing is found under it.
 */
export async function openSnapshot(path: string): Promise<Snapshot> {
  /** Both number the lines in the order in which they came. */
  const byId = createHashIndex();
  const byKey = createHashIndex();
  const offsets = numbersByPlace();
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

  function place(id: number, key: string, offset: number): void {
    const known = find(id);
    if (known < 0) size++;
    else if (keyIn(lineOf(known)) === JSON.stringify(key)) {
      offsets.set(known, offset);
      return;
    }
    byKey.add(hashOf(key));
    offsets.set(byId.add(hashOf(`${id},`)), offset);
  }

  for (const { at, bytes } of file.lines()) {
    const head = headOf(bytes);
    if (head) place(head.id, head.key, at);
  }

  const nothing = Promise.resolve();

  return {
    add(id, record, key, readAt, text = stringifyBody(record)) {
      place(id, key, file.append(`${id},${readAt},${JSON.stringify(key)}\t${text}\n`));
      return nothing;
    },
    ids(key) {
      const ids: number[] = [];
      if (key === '') return ids;
      const wanted = JSON.stringify(key);
      byKey.find(hashOf(key), (number) => {
        const line = lineOf(number);
        if (keyIn(line) !== wanted) return false;
        const id = Number(line.toString('latin1', 0, line.indexOf(COMMA)));
        if (find(id) === number) ids.push(id);
        return false;
      });
      return ids.sort((a, b) => a - b);
    },
    async get(id) {
      const number = find(id);
      if (number < 0) return undefined;
      const line = lineOf(number);
      const tab = line.indexOf(TAB);
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

/** Undefined for a damaged line, which is no record: it will be read from the service again. */
function headOf(line: Buffer): { readonly id: number; readonly key: string } | undefined {
  const tab = line.indexOf(TAB);
  if (tab < 0) return undefined;
  try {
    const [id, , key] = JSON.parse(`[${line.toString('utf8', 0, tab)}]`) as unknown[];
    return typeof id === 'number' && typeof key === 'string' ? { id, key } : undefined;
  } catch {
    return undefined;
  }
}

/** The key in a line, as JSON. */
function keyIn(line: Buffer): string {
  const readAt = line.indexOf(COMMA) + 1;
  return line.toString('utf8', line.indexOf(COMMA, readAt) + 1, line.indexOf(TAB));
}

function diskFault(path: string, cause: unknown): RunError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const reason = isDiskFull(cause) ? 'the disk is full' : `the disk failed (${code})`;
  return new RunError(
    'failed',
    `What was read from the service cannot be kept in ${path}: ${reason}. Free some space, then resume the run.`,
    [],
    { cause },
  );
}
