// Longer than most files here: one file format, its reading, writing and compaction belong together.
import {
  appendFileSync,
  closeSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readFileSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { linesFrom } from '../compact/block-reader.js';
import { isDiskFull, RunError } from '../model/error.js';
import { normaliseKey } from '../model/value.js';
import type { ResourceName } from '../resources/spec.js';
import { reached } from '../trace/milestones.js';
import { isAlive, MACHINE, startOf } from './alive.js';
import { type Clock, systemClock, wait } from './clock.js';
import { parseJson, stringifyBody } from './json.js';
import { type LastWritten, openLastWritten } from './last-written.js';
import type { Json, KnownIds, KnownKind } from './port.js';

/**
 * What runs learn about records that cannot be listed or are not shown in full, in `known.ndjson`:
 * `["n",kind,id,name]` a name, `["w",resource,id,{fields}]` what we wrote last, `["k",resource,identity,{fields}|null]` the
 * same before the id is known. The last line about a thing counts.
 *
 * Several processes may append: each batch is one write to a file opened for appending, and begins with a line break, so
 * that a line another process left torn spoils nothing but itself. The file is written anew without superseded lines at
 * opening, when nobody else has it open: an opener first leaves its mark (`open-<process>-…`), then waits while `compacting`
 * exists; a compactor first creates `compacting`, then looks for marks. One of the two always sees the other.
 */

const COMPACT_FROM_LINES = 1_000;
const BATCH_CHARACTERS = 64 * 1024;
/** A compactor touches its lock with every piece it writes. */
const LOCK_WAIT_MS = 30_000;

/**
 * A process of another machine or container can only be known to be gone by its mark, which nobody has touched for so long:
 * it does so whenever it makes durable what it learned.
 */
const GONE_AFTER_MS = 24 * 3_600_000;

/**
 * This process: its number, when it began, and its machine or container, in each of which the numbers begin anew. A container
 * that is started again gives the number to another process.
 */
const SELF = `${process.pid}-${startOf(process.pid)}-${MACHINE}`;

interface Name {
  name: string;
  ids: number[];
}

interface Book {
  readonly byName: Map<KnownKind, Map<string, Name>>;
  readonly byId: Map<KnownKind, Map<number, string>>;
  readonly written: LastWritten;
  /** JSON text by `resource/identity`: far smaller than the objects. */
  readonly unnamed: Map<string, string>;
}

/** Throws where the folder cannot be written. */
export async function openKnownIds(dir: string, clock: Clock = systemClock): Promise<KnownIds> {
  await mkdir(dir, { recursive: true });
  const path = join(dir, 'known.ndjson');
  const opener = `${SELF}-${Math.random().toString(36).slice(2, 10)}`;
  const mark = join(dir, `open-${opener}`);
  try {
    appendFileSync(mark, '');
  } catch (error) {
    throw diskFault(path, error);
  }
  await compactingOver(dir, clock);

  const before = openThere(path);
  const written = openLastWritten(before, join(dir, `written-${opener}`));
  const book: Book = { byName: new Map(), byId: new Map(), written, unnamed: new Map() };
  const lines = before === undefined ? 0 : load(before, book);
  const live = book.written.size + book.unnamed.size + spellings(book);
  if (lines > COMPACT_FROM_LINES && lines > 2 * live) await compact(dir, path, mark, book);

  let file = openSync(path, 'a');
  let pending: string[] = [];
  let size = 0;
  /** Something was written and may not be on the disk yet. */
  let unsynced = false;

  /** One write; to the new file where another process has replaced it meanwhile. */
  function append(): void {
    if (pending.length === 0) return;
    if (inode(path) !== fstatSync(file).ino) {
      closeSync(file);
      file = openSync(path, 'a');
    }
    const bytes = Buffer.from(`\n${pending.join('\n')}\n`);
    // A disk with a little room left takes a part and says so by the number alone.
    unsynced = true;
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    pending = [];
    size = 0;
  }

  /** Throws a fault that people understand. */
  function tried<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw diskFault(path, error);
    }
  }

  function save({ durable }: { readonly durable: boolean }): void {
    tried(() => {
      append();
      if (!durable || !unsynced) return;
      touch(mark);
      fdatasyncSync(file);
      unsynced = false;
    });
  }

  function put(line: string): void {
    pending.push(line);
    size += line.length;
    if (size >= BATCH_CHARACTERS) save({ durable: false });
  }

  return {
    ids: (kind, name) => book.byName.get(kind)?.get(normaliseKey(name))?.ids ?? [],
    nameOf: (kind, id) => book.byId.get(kind)?.get(id),
    learn(kind, id, name) {
      if (learn(book, kind, id, name)) put(JSON.stringify(['n', kind, id, name]));
    },
    *names(kind) {
      for (const { name, ids } of book.byName.get(kind)?.values() ?? []) if (ids.length > 0) yield name;
    },
    lastWritten: (resource, id) => tried(() => book.written.get(resource, id)),
    remember(resource, id, fields) {
      const line = tried(() => book.written.remember(resource, id, fields));
      if (line !== undefined) put(line);
    },
    lastWrittenAs(resource, identity) {
      const text = book.unnamed.get(`${resource}/${identity}`);
      return text === undefined ? undefined : (parseJson(text) as Json);
    },
    rememberAs(resource, identity, fields) {
      const key = `${resource}/${identity}`;
      const text = fields === undefined ? undefined : stringifyBody(fields);
      if (book.unnamed.get(key) === text) return;
      if (text === undefined) book.unnamed.delete(key);
      else book.unnamed.set(key, text);
      put(unnamedLine(key, text ?? 'null'));
    },
    async flush() {
      save({ durable: true });
      reached('known-durable');
    },
    async close() {
      try {
        save({ durable: true });
      } finally {
        closeSync(file);
        book.written.close();
        await rm(mark, { force: true });
      }
    },
  };
}

function diskFault(path: string, cause: unknown): RunError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const reason = isDiskFull(cause) ? 'the disk is full' : `the disk failed (${code})`;
  return new RunError(
    'failed',
    `What was written cannot be remembered in ${path}: ${reason}. Free some space, then resume the run.`,
    [],
    { cause },
  );
}

/** False where nothing is new. A renamed record loses its old name; a country has as many spellings as were seen. */
function learn(book: Book, kind: KnownKind, id: number, name: string): boolean {
  const key = normaliseKey(name);
  if (key === '' || !Number.isSafeInteger(id)) return false;
  const names = within(book.byName, kind, () => new Map<string, Name>());
  const ids = within(book.byId, kind, () => new Map<number, string>());
  const entry = within(names, key, () => ({ name, ids: [] }));
  const before = ids.get(id);
  if (entry.ids.includes(id) && (before === name || kind === 'country')) return false;
  if (before !== undefined && kind !== 'country') {
    const old = names.get(normaliseKey(before));
    if (old && old !== entry) old.ids = old.ids.filter((other) => other !== id);
  }
  if (!entry.ids.includes(id)) entry.ids = [...entry.ids, id].sort((a, b) => a - b);
  entry.name = name;
  ids.set(id, name);
  return true;
}

/** Names that count, over all kinds. */
function spellings(book: Book): number {
  let count = 0;
  for (const names of book.byName.values()) for (const { ids } of names.values()) count += ids.length;
  return count;
}

function within<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** Undefined where there is no such file. */
function openThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Lines read; what is torn or damaged is passed over. */
function load(file: number, book: Book): number {
  let lines = 0;
  for (const { at, bytes } of linesFrom(file)) {
    if (bytes.length === 0) continue;
    lines++;
    readLine(bytes.toString('utf8'), at, book);
  }
  return lines;
}

function unnamedLine(key: string, text: string): string {
  const cut = key.indexOf('/');
  return `["k",${JSON.stringify(key.slice(0, cut))},${JSON.stringify(key.slice(cut + 1))},${text}]`;
}

function readLine(line: string, begin: number, book: Book): void {
  const entry = parsed(line);
  if (!Array.isArray(entry) || entry.length < 4) return;
  if (entry[0] === 'k' && typeof entry[2] === 'string') {
    const key = `${entry[1] as ResourceName}/${entry[2]}`;
    if (entry[3] === null) book.unnamed.delete(key);
    else book.unnamed.set(key, stringifyBody(entry[3]));
    return;
  }
  if (typeof entry[2] !== 'number') return;
  const [tag, what, id, value] = entry as [unknown, unknown, number, unknown];
  if (tag === 'n' && typeof value === 'string') learn(book, what as KnownKind, id, value);
  if (tag === 'w' && typeof value === 'object' && value !== null) book.written.show(String(what), id, begin);
}

/** Undefined for a line that was torn by a crash: what it said is learned again. */
function parsed(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

/** Where anything stands in its way the old file stays; a disk that fails says so at the next write. */
async function compact(dir: string, path: string, mark: string, book: Book): Promise<void> {
  const lock = join(dir, 'compacting');
  const temporary = `${path}.${SELF}.tmp`;
  try {
    await writeFile(lock, SELF, { flag: 'wx' });
  } catch {
    return;
  }
  let isOurs = true;
  /** Throws where somebody took this process for dead, and may have begun to write. */
  const touch = async () => {
    isOurs = false;
    await utimes(lock, new Date(), new Date());
    isOurs = true;
  };
  try {
    if ((await others(dir, mark)).length > 0) return;
    const file = await open(temporary, 'w');
    try {
      for (const text of bookLines(book)) {
        await file.appendFile(text);
        await touch();
      }
      await file.datasync();
    } finally {
      await file.close();
    }
    await touch();
    await rename(temporary, path);
  } catch {
    // The old file stays.
  } finally {
    await rm(temporary, { force: true });
    if (isOurs) await rm(lock, { force: true });
  }
}

/** The whole book in pieces of a thousand lines. */
function* bookLines(book: Book): Generator<string> {
  let lines: string[] = [];
  function* full(limit: number): Generator<string> {
    if (lines.length < limit) return;
    yield `${lines.join('\n')}\n`;
    lines = [];
  }
  for (const [kind, names] of book.byName) {
    for (const { name, ids } of names.values()) for (const id of ids) lines.push(JSON.stringify(['n', kind, id, name]));
    yield* full(1_000);
  }
  for (const line of book.written.lines()) {
    lines.push(line);
    yield* full(1_000);
  }
  for (const [key, text] of book.unnamed) {
    lines.push(unnamedLine(key, text));
    yield* full(1_000);
  }
  yield* full(1);
}

/** Marks of others that live; those of dead processes are removed. */
async function others(dir: string, mine: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(dir)) {
    const [, pid, start, machine = MACHINE] = /^open-(\d+)-(?:(\d*)-(?:([0-9a-f]{8})-)?)?/.exec(name) ?? [];
    const path = join(dir, name);
    if (pid === undefined || path === mine) continue;
    const lives = machine === MACHINE ? isAlive(Number(pid), start) : await isTouched(path);
    if (lives) found.push(path);
    else await rm(path, { force: true });
  }
  return found;
}

async function isTouched(mark: string): Promise<boolean> {
  const info = await stat(mark).catch(() => undefined);
  return info !== undefined && Date.now() - info.mtimeMs < GONE_AFTER_MS;
}

/** Shows those of other machines that this process lives. Made again where one of them took it for gone. */
function touch(mark: string): void {
  try {
    appendFileSync(mark, '');
    utimesSync(mark, new Date(), new Date());
  } catch {
    // What is said to the disk next fails as well, and says why.
  }
}

/** Waits for a compaction. A lock that stays as it is belongs to a process that died, or that cannot go on. */
async function compactingOver(dir: string, clock: Clock): Promise<void> {
  const lock = join(dir, 'compacting');
  let touched = Number.NaN;
  for (let until = 0; ; await wait(clock, 20)) {
    const held = holderOf(lock);
    if (held === undefined) return;
    if (held.touched !== touched) until = clock.now() + LOCK_WAIT_MS;
    touched = held.touched;
    if (!held.lives || clock.now() > until) {
      await rm(lock, { force: true });
      return;
    }
  }
}

/** Undefined where there is no lock. Of one that is not written yet, or of another machine, nothing says that it is over. */
function holderOf(lock: string): { readonly lives: boolean; readonly touched: number } | undefined {
  try {
    const { mtimeMs: touched } = statSync(lock);
    const [pid = '', start, machine = MACHINE] = readFileSync(lock, 'utf8').split('-');
    return { lives: !(Number(pid) > 0) || machine !== MACHINE || isAlive(Number(pid), start), touched };
  } catch {
    return undefined;
  }
}

function inode(path: string): number | undefined {
  try {
    return statSync(path).ino;
  } catch {
    return undefined;
  }
}
