import { appendFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { reached } from '../../trace/milestones.js';
import type { Readable } from '../port.js';
import { diskError, type Segment } from './segments.js';

const FILE = 'mirror.json';
/** Files of processes that were killed are removed when they are so old. */
const ABANDONED_MS = 24 * 3600_000;
const OURS = /^(records|written)-[0-9a-z-]+\.ndjson$|^mirror\.json\.[0-9a-z-]+\.tmp$/;

const segment = z.object({ name: z.string().regex(OURS), bytes: z.number().int(), sha256: z.string() });
const schema = z.object({
  version: z.literal(2),
  resource: z.string(),
  /** Names the file of what was written since (`written.ts`); another with every reading. */
  reading: z.string().regex(/^[0-9a-z-]+$/),
  /** Milliseconds since 1970: when the last reading of the whole list began. */
  fullAt: z.number(),
  /** Delta readings since. */
  deltas: z.number().int().min(0),
  size: z.number().int().min(0),
  /** The latest modification date that the service showed when the reading began; null where it cannot be told. */
  watermark: z.object({ form: z.enum(['date', 'local', 'zoned']), micros: z.number() }).nullable(),
  /** Ids of page 1 in that order when the reading began; null where the service does not honour it, or shows dates that cannot be compared. */
  front: z.array(z.number()).nullable(),
  /** The service was seen to write a record without moving its modification date: delta readings are over for good. */
  unmoved: z.boolean(),
  segments: z.array(segment),
});

/** What is known of the last certain reading. */
export type MirrorState = Omit<z.output<typeof schema>, 'version' | 'segments'> & {
  readonly segments: readonly Segment[];
};

/** Undefined where nothing is kept, or not in this form, or of another list. */
export async function loadState(dir: string, resource: Readable): Promise<MirrorState | undefined> {
  try {
    const { version: _, ...state } = schema.parse(JSON.parse(await readFile(join(dir, FILE), 'utf8')));
    return state.resource === resource ? state : undefined;
  } catch {
    return undefined;
  }
}

/** Makes this reading the one that is kept. A process that is killed leaves the old one or the new. */
export async function saveState(dir: string, state: MirrorState, before: readonly Segment[]): Promise<void> {
  const temporary = join(dir, `${FILE}.${state.reading}.tmp`);
  try {
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ version: 2, ...state }, undefined, 1)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, join(dir, FILE));
    reached('mirror-kept');
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw diskError(dir, error);
  }
  const needed = new Set(state.segments.map(({ name }) => name));
  for (const { name } of before)
    if (!needed.has(name)) await rm(join(dir, name), { force: true }).catch(() => undefined);
}

/** Makes the folder, and removes what killed processes left in it. */
export async function prepareFolder(dir: string, state: MirrorState | undefined): Promise<void> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw diskError(dir, error);
  }
  const now = Date.now();
  const needed = new Set(state?.segments.map(({ name }) => name));
  if (state) needed.add(writtenName(state.reading));
  for (const name of await readdir(dir).catch(() => [])) {
    if (!OURS.test(name) || needed.has(name)) continue;
    const path = join(dir, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now }));
    if (now - mtimeMs > ABANDONED_MS) await rm(path, { force: true }).catch(() => undefined);
  }
}

const writtenName = (reading: string): string => `written-${reading}.ndjson`;

/** Ids in a line; a line is one write, so that a torn one loses few. */
const IN_A_LINE = 1_000;

/** The records that were to be written after a reading, whatever became of it. A torn line holds none. */
export async function loadWritten(dir: string, reading: string): Promise<Set<number>> {
  const ids = new Set<number>();
  const text = await readFile(join(dir, writtenName(reading)), 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    if (!/^\d+(,\d+)*;$/.test(line)) continue;
    for (const id of line.slice(0, -1).split(',')) ids.add(Number(id));
  }
  return ids;
}

/** In the file when it returns, so that a process killed while it writes has left word of it. */
export function noteWritten(dir: string, reading: string, ids: Iterable<number>): void {
  const all = [...ids];
  let text = '';
  for (let from = 0; from < all.length; from += IN_A_LINE)
    text += `\n${all.slice(from, from + IN_A_LINE).join(',')};\n`;
  if (text === '') return;
  try {
    appendFileSync(join(dir, writtenName(reading)), text, { mode: 0o600 });
  } catch (error) {
    throw diskError(dir, error);
  }
}

export function forgetWritten(dir: string, reading: string): Promise<void> {
  return rm(join(dir, writtenName(reading)), { force: true }).catch(() => undefined);
}
