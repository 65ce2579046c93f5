import { createNumberMap } from '../../compact/dense-map.js';
import { createHashIndex, hash32, hash53, hashNumber } from '../../compact/hash-index.js';
import { openScratchFile } from '../../compact/scratch-file.js';
import { isDiskFull, type RunError, runFailure } from '../../model/error.js';
import { parseJson, stringifyBody } from '../../model/json.js';
import type { Json, Snapshot } from '../port.js';

const TAB = 9;

/** Reads a record that was noted alone. */
type ReadNoted = (id: number) => ReturnType<Snapshot['get']>;

/**
 * An empty snapshot in the place of what an earlier process left there: records in an append-only file, one a line,
 * `readAt<tab>{record}`. In memory stands of each where its line is, its id, its fingerprint, and 85 bits of its key, 32 of
 * them other ones in every process: some 55 bytes. The key '' is no key: nothing is found under it. A record that was noted
 * alone has no line.
 */
export async function beginSnapshot(path: string, readNoted: ReadNoted = async () => undefined): Promise<Snapshot> {
  /** Both number the records in the order in which they came; one that came again with another key has a new number. */
  const byId = createHashIndex();
  const byKey = createHashIndex();
  const ids = createNumberMap();
  const keyMarks = createNumberMap();
  const offsets = createNumberMap();
  const prints = createNumberMap();
  let size = 0;
  const file = openScratchFile(path, (cause) => diskFault(path, cause));

  const find = (id: number): number => byId.find(hashNumber(id), (number) => ids.get(number) === id);

  /** `offset`, `fingerprint`: NaN where there is none. */
  function put(id: number, key: string, offset: number, fingerprint: number): void {
    const keyHash = hash53(key);
    let number = find(id);
    if (number < 0 || keyMarks.get(number) !== keyHash) {
      if (number < 0) size++;
      byKey.add(hash32(key));
      number = byId.add(hashNumber(id));
      ids.set(number, id);
      keyMarks.set(number, keyHash);
    }
    offsets.set(number, offset);
    prints.set(number, fingerprint);
  }

  /** The records with this key, the last one first. */
  function eachWithKey(key: string, visit: (number: number, id: number) => boolean): void {
    if (key === '') return;
    const keyHash = hash53(key);
    byKey.find(hash32(key), (number) => {
      if (keyMarks.get(number) !== keyHash) return false;
      const id = ids.get(number) as number;
      return find(id) === number && visit(number, id);
    });
  }

  return {
    add(id, record, key, readAt, text = stringifyBody(record)) {
      put(id, key, file.append(`${readAt}\t${text}\n`), Number.NaN);
    },
    addFingerprint: (id, key, fingerprint) => put(id, key, Number.NaN, fingerprint),
    hasId: (id) => find(id) >= 0,
    ids(key) {
      const found: number[] = [];
      eachWithKey(key, (_, id) => {
        found.push(id);
        return false;
      });
      return found.sort((a, b) => a - b);
    },
    has(key) {
      let found = false;
      eachWithKey(key, () => (found = true));
      return found;
    },
    idByFingerprint(key, fingerprint) {
      let only: number | undefined;
      let others = false;
      eachWithKey(key, (number) => {
        others = only !== undefined;
        only = number;
        return others;
      });
      return only !== undefined && !others && prints.get(only) === fingerprint ? ids.get(only) : undefined;
    },
    async get(id) {
      const number = find(id);
      if (number < 0) return undefined;
      const offset = offsets.get(number);
      if (offset === undefined) return readNoted(id);
      const line = file.line(offset);
      const tab = line.indexOf(TAB);
      if (tab < 0) throw new Error(`the snapshot ${path} was changed by somebody else`);
      return {
        record: parseJson(line.toString('utf8', tab + 1)) as Json,
        readAt: Number(line.toString('latin1', 0, tab)),
      };
    },
    get size() {
      return size;
    },
    async close() {
      file.close();
    },
  };
}

/** What kept a scratch file from being written, in words. */
export function diskFault(path: string, cause: unknown): RunError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const reason = isDiskFull(cause) ? 'the disk is full' : `the disk failed (${code})`;
  return runFailure(
    `What was read from the service cannot be kept in ${path}: ${reason}. Free some space, then resume the run.`,
    [],
    { cause },
  );
}
