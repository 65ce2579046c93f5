import { open } from 'node:fs/promises';
import { isDiskFull, RunError } from '../model/error.js';
import { parseJson, stringifyBody } from './json.js';
import type { Json, Snapshot } from './port.js';

const FLUSH_CHARACTERS = 256 * 1024;
const READ_BYTES = 1024 * 1024;
/** Records are mostly asked for in the order in which they stand here: so much is read at once where they are. */
const AHEAD_BYTES = 256 * 1024;
/** A record that begins no farther behind the one before is asked for in order. */
const NEAR_BYTES = 32 * 1024;
const [TAB, COMMA] = [9, 44];
const NONE: readonly number[] = [];
/** The length of a record that is not in the file; no line is as short. */
const NOTED = 0;

/** Reads a record that was noted alone. */
export type ReadNoted = (id: number) => ReturnType<Snapshot['get']>;

/**
 * Records in an append-only file, one a line: `id,readAt,"key"<tab>{record}`. In memory stand only where each record is
 * and its key, about 200 bytes a record. A later line replaces an earlier one; a torn last line is cut off at opening.
 * The key '' is no key: nothing is found under it.
 */
export async function openSnapshot(path: string, readNoted: ReadNoted = async () => undefined): Promise<Snapshot> {
  const file = await open(path, 'a+');
  const slots = new Map<number, number>();
  const offsets: number[] = [];
  const lengths: number[] = [];
  const keys: string[] = [];
  const prints: number[] = [];
  const byKey = new Map<string, number | number[]>();
  let written = 0;
  let end = 0;
  let pending: string[] = [];
  let pendingSize = 0;
  let writing: Promise<void> = Promise.resolve();

  function place(id: number, key: string, offset: number, length: number, print: number): void {
    const known = slots.get(id);
    const slot = known ?? offsets.length;
    if (known === undefined) slots.set(id, slot);
    else if (keys[slot] !== key) unlink(keys[slot] ?? '', id);
    if (known === undefined || keys[slot] !== key) link(key, id);
    offsets[slot] = offset;
    lengths[slot] = length;
    keys[slot] = key;
    prints[slot] = print;
  }

  function link(key: string, id: number): void {
    if (key === '') return;
    const ids = byKey.get(key);
    if (ids === undefined) byKey.set(key, id);
    else byKey.set(key, [ids, id].flat());
  }

  function unlink(key: string, id: number): void {
    const ids = [byKey.get(key) ?? []].flat().filter((other) => other !== id);
    if (ids.length === 0) byKey.delete(key);
    else byKey.set(key, ids.length === 1 ? (ids[0] as number) : ids);
  }

  /** One write at a time, in order. */
  function flush(): Promise<void> {
    writing = writing.then(async () => {
      if (pending.length === 0) return;
      const text = Buffer.from(pending.join(''), 'utf8');
      pending = [];
      pendingSize = 0;
      await file.appendFile(text).catch((error: unknown) => {
        throw diskFault(path, error);
      });
      written += text.length;
    });
    return writing;
  }

  async function load(): Promise<void> {
    const size = (await file.stat()).size;
    let rest = Buffer.alloc(0);
    let at = 0;
    while (at + rest.length < size) {
      const chunk = Buffer.alloc(Math.min(READ_BYTES, size - at - rest.length));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at + rest.length);
      if (bytesRead === 0) break;
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      let from = 0;
      for (let line = bytes.indexOf(10); line >= 0; line = bytes.indexOf(10, from)) {
        readHead(bytes.subarray(from, line), at + from);
        from = line + 1;
      }
      at += from;
      rest = bytes.subarray(from);
    }
    if (at < size) await file.truncate(at);
    written = at;
    end = at;
  }

  function readHead(line: Buffer, offset: number): void {
    const tab = line.indexOf(TAB);
    if (tab < 0) return;
    try {
      const [id, , key] = JSON.parse(`[${line.toString('utf8', 0, tab)}]`) as unknown[];
      if (typeof id === 'number' && typeof key === 'string') place(id, key, offset, line.length, Number.NaN);
    } catch {
      // A damaged line is no record: it will be read from the service again.
    }
  }

  /** What was read last; what stands in the file never changes. */
  let block: Buffer = Buffer.alloc(0);
  let blockAt = 0;
  let lastEnd = 0;

  async function bytesAt(offset: number, length: number): Promise<Buffer> {
    const inOrder = offset >= lastEnd && offset - lastEnd <= NEAR_BYTES;
    lastEnd = offset + length;
    if (offset < blockAt || lastEnd > blockAt + block.length) {
      const size = inOrder ? Math.max(length, Math.min(AHEAD_BYTES, written - offset)) : length;
      const bytes = Buffer.allocUnsafeSlow(size);
      const { bytesRead } = await file.read(bytes, 0, size, offset);
      if (!inOrder) return bytes.subarray(0, bytesRead);
      block = bytes.subarray(0, bytesRead);
      blockAt = offset;
      return block.subarray(0, length);
    }
    return block.subarray(offset - blockAt, offset - blockAt + length);
  }

  await load();
  const nothing = Promise.resolve();

  return {
    add(id, record, key, readAt, text = stringifyBody(record), fingerprint = Number.NaN) {
      const line = `${id},${readAt},${JSON.stringify(key)}\t${text}\n`;
      const length = Buffer.byteLength(line);
      place(id, key, end, length - 1, fingerprint);
      end += length;
      pending.push(line);
      pendingSize += line.length;
      return pendingSize < FLUSH_CHARACTERS ? nothing : flush();
    },
    note: (id, key, fingerprint) => place(id, key, 0, NOTED, fingerprint),
    holds: (id) => slots.has(id),
    ids(key) {
      const found = byKey.get(key);
      if (found === undefined) return NONE;
      return typeof found === 'number' ? [found] : [...found].sort((a, b) => a - b);
    },
    has: (key) => byKey.has(key),
    like(key, fingerprint) {
      const id = byKey.get(key);
      const slot = typeof id === 'number' ? slots.get(id) : undefined;
      return slot !== undefined && prints[slot] === fingerprint ? (id as number) : undefined;
    },
    async get(id) {
      const slot = slots.get(id);
      if (slot === undefined) return undefined;
      const offset = offsets[slot] as number;
      const length = lengths[slot] as number;
      if (length === NOTED) return readNoted(id);
      if (offset + length > written) await flush();
      const bytes = await bytesAt(offset, length);
      const tab = bytes.indexOf(TAB);
      if (bytes.length < length || tab < 0) throw new Error(`the snapshot ${path} was changed by somebody else`);
      const from = bytes.indexOf(COMMA) + 1;
      const readAt = Number(bytes.toString('latin1', from, bytes.indexOf(COMMA, from)));
      return { record: parseJson(bytes.toString('utf8', tab + 1)) as Json, readAt };
    },
    get size() {
      return slots.size;
    },
    async close() {
      await flush().finally(() => file.close());
    },
  };
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
