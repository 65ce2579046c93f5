import { crc32 } from 'node:zlib';
import type { FieldDiff } from '../model/change.js';
import { RunError } from '../model/error.js';
import type { Issue } from '../model/issue.js';
import type { Outcome, OutcomeKind } from '../model/outcome.js';
import { type OpenDurableLines, openDurableLines } from './durable-lines.js';
import { lineBlocks } from './line-blocks.js';

/** The journal's format; a newer one is refused, never guessed at. */
export const JOURNAL_VERSION = 1;

/** A field's change as text, old → new, as reports show it. */
export interface DiffText {
  readonly field: string;
  readonly old: string;
  readonly new: string;
  readonly kind: FieldDiff['kind'];
}

/**
 * What a run notes as it goes. `at` is milliseconds since 1970, `hash` the hash of the body that is about to be sent.
 * An intent without an outcome of the same row is open: the request may have taken effect.
 */
export type Entry =
  | { readonly t: 'run'; readonly v: typeof JOURNAL_VERSION; readonly run: string; readonly data?: unknown }
  | { readonly t: 'phase'; readonly phase: string; readonly data?: unknown }
  | {
      readonly t: 'intent';
      readonly row: number;
      readonly op: 'create' | 'update';
      readonly key: string;
      readonly id?: number;
      readonly hash: string;
      readonly at: number;
    }
  /** `requests`: how many this process has sent by then, where that has changed: total, reads, writes, retries. */
  | {
      readonly t: 'outcome';
      readonly outcome: Outcome;
      readonly diff?: readonly DiffText[];
      readonly requests?: readonly [total: number, reads: number, writes: number, retries: number];
    }
  /**
   * Ids learned after their rows were written, as pairs of row and id: answers to writes may be empty. `issues`: what the
   * records then told of their rows.
   */
  | {
      readonly t: 'ids';
      readonly ids: readonly (readonly [row: number, id: number])[];
      readonly issues?: readonly (readonly [row: number, issues: readonly Issue[]])[];
    };

/** An entry and where its line stands: byte offset and length, the line end not counted. */
export interface Located<E = Entry> {
  readonly entry: E;
  readonly offset: number;
  readonly length: number;
}

export interface Journal {
  /** Buffers the entries. Throws a `RunError` once any write has failed: what cannot be recorded must not be sent. */
  append(entries: readonly Entry[]): void;
  /** Resolves when everything appended so far is on the disk; concurrent calls share one sync. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const KNOWN: ReadonlySet<unknown> = new Set<Entry['t']>(['run', 'phase', 'intent', 'outcome', 'ids']);
const PREFIX = 9;
const NEWLINE = 10;
const BLANK = 0x20;

/**
 * Opens a journal for appending and makes it if it is missing. Each entry is a line `<crc32 of the JSON, 8 hex digits> <JSON>`.
 * A last line torn by a crash is cut off first; a corrupt line before it, or a newer format, throws a `RunError`.
 */
export async function openJournal(path: string, openLines: OpenDurableLines = openDurableLines): Promise<Journal> {
  let keep = 0;
  for await (const block of readJournalBlocks(path, { missing: 'empty' })) {
    const last = block[block.length - 1];
    if (last) keep = last.offset + last.length + 1;
  }
  const lines = await openLines(path, keep, 'The journal');
  return {
    append(entries) {
      for (const entry of entries) {
        const json = JSON.stringify(entry);
        lines.append(PREFIX + json.length * 3 + 1, (buffer, at) => {
          const size = buffer.write(json, at + PREFIX, 'utf8');
          const end = at + PREFIX + size;
          writeHex(crc32(buffer.subarray(at + PREFIX, end)), buffer, at);
          buffer[at + PREFIX - 1] = BLANK;
          buffer[end] = NEWLINE;
          return PREFIX + size + 1;
        });
      }
    },
    flush: lines.flush,
    close: lines.close,
  };
}

/**
 * Every entry in the order it was written. A torn end is left out; a line that fails its checksum and is followed by
 * sound ones, and a journal of a newer format, throw a `RunError` that names file and line.
 */
export async function* readJournal(path: string): AsyncGenerator<Located> {
  for await (const block of readJournalBlocks(path)) yield* block;
}

/** The same in blocks, for readers that go through millions of lines. A missing file is an error unless it may be empty. */
export async function* readJournalBlocks(
  path: string,
  { missing = 'error' }: { readonly missing?: 'error' | 'empty' } = {},
): AsyncGenerator<readonly Located[]> {
  yield* blocksOf(path, missing, parseLine);
}

/** The same for an index: of outcomes and intents no more than their heads. */
export function readJournalHeads(path: string): AsyncGenerator<readonly Located<Head | Entry>[]> {
  return blocksOf(path, 'error', (line, ...at) => headOf(line) ?? parseLine(line, ...at));
}

async function* blocksOf<E>(
  path: string,
  missing: 'error' | 'empty',
  parse: (line: Buffer, path: string, number: number) => E | undefined,
): AsyncGenerator<readonly Located<E>[]> {
  let number = 0;
  let torn: number | undefined;
  for await (const lines of lineBlocks(path, 'The journal', missing)) {
    const block: Located<E>[] = [];
    for (const { offset, length, bytes } of lines) {
      number++;
      const entry = parse(bytes, path, number);
      if (entry === undefined) torn ??= number;
      else if (torn !== undefined) throw corrupt(path, torn);
      else block.push({ entry, offset, length });
    }
    if (block.length) yield block;
  }
}

/** What an index of a journal needs of the lines that are there by the million. */
export interface Head {
  readonly t: 'outcome' | 'intent';
  readonly row: number;
  /** Outcomes. */
  readonly kind?: OutcomeKind;
}

/** Lines as `append` writes them; others, and newer ones, are read whole. */
const OUTCOME_HEAD = /^\{"t":"outcome","outcome":\{"ref":\{(?:"sheet":"[^"\\]*",)?"row":(\d+)\},"kind":"([a-z_]+)"/;
const INTENT_HEAD = /^\{"t":"intent","row":(\d+),/;
const HEAD_BYTES = 160;

/**
 * The beginning of a line that `parseLine` would read as an outcome or an intent, at a fraction of the cost; undefined for
 * any other line, also for one that is damaged.
 */
export function headOf(line: Buffer): Head | undefined {
  if (line.length <= PREFIX || line[PREFIX - 1] !== 0x20) return undefined;
  const begin = line.toString('latin1', PREFIX, PREFIX + HEAD_BYTES);
  const outcome = OUTCOME_HEAD.exec(begin);
  const intent = outcome ? null : INTENT_HEAD.exec(begin);
  const found = outcome ?? intent;
  if (!found || stated(line) !== crc32(line.subarray(PREFIX))) return undefined;
  const row = Number(found[1]);
  return outcome ? { t: 'outcome', row, kind: outcome[2] as OutcomeKind } : { t: 'intent', row };
}

/** Reads one line, the line end not included; undefined where it is not what was written. */
export function parseLine(line: Buffer, path: string, number: number): Entry | undefined {
  if (line.length <= PREFIX || line[PREFIX - 1] !== 0x20) return undefined;
  const json = line.subarray(PREFIX);
  if (stated(line) !== crc32(json)) return undefined;
  const entry = JSON.parse(json.toString('utf8')) as { t?: unknown; v?: unknown };
  if (!KNOWN.has(entry.t) || (entry.t === 'run' && entry.v !== JOURNAL_VERSION)) {
    const found = entry.t === 'run' ? `format ${String(entry.v)}` : `entries of kind ${JSON.stringify(entry.t)}`;
    throw new RunError(
      'failed',
      `The journal ${path} has ${found} in line ${number}; this version of rowferry reads format ${JOURNAL_VERSION}. ` +
        'Continue the run with the version that began it.',
    );
  }
  return entry as Entry;
}

function corrupt(path: string, line: number): RunError {
  return new RunError(
    'failed',
    `The journal ${path} is damaged in line ${line}: its checksum does not match, and sound lines follow. ` +
      'What was sent cannot be told with certainty, so the run is not continued. Restore the file from a backup, ' +
      'or import the spreadsheet again: rows that are in already will be found unchanged.',
  );
}

/** Eight digits. By hand, because this runs for every line. */
function writeHex(crc: number, buffer: Buffer, at: number): void {
  for (let digit = 7, rest = crc; digit >= 0; digit--, rest >>>= 4) {
    const value = rest & 15;
    buffer[at + digit] = value < 10 ? 0x30 + value : 0x57 + value;
  }
}

/** The checksum a line begins with; NaN where that is not eight digits. By hand, because this runs for every line twice. */
function stated(line: Buffer): number {
  let crc = 0;
  for (let at = 0; at < PREFIX - 1; at++) {
    const byte = line[at] ?? 0;
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : Number.NaN;
    crc = crc * 16 + digit;
  }
  return crc;
}
