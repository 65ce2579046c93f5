import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import { createRecordFeed } from '../../src/files/csv/scan.js';
import { DEFAULT_LIMITS } from '../../src/files/limits.js';
import { RunError } from '../../src/model/error.js';
import { type Comparison, explained, newComparison, unexplained } from './comparison.js';
import { type Random, randomOf } from './random.js';

/*
 * The record reader against csv-parse: the same records of every well-formed table, however the bytes arrive, and of
 * mutated ones every record that csv-parse can read alone.
 */

const PIECES = [
  'a',
  'Zz',
  '12.5',
  ' ',
  '  x',
  ',',
  ';',
  '\t',
  '|',
  '"',
  '""',
  '\n',
  '\r\n',
  '\r',
  'é',
  '€',
  '😀',
  "'",
  '=1',
  'long text '.repeat(9),
];

interface OurRecord {
  readonly cells: readonly string[];
  readonly stray: boolean;
  readonly faults: readonly string[];
  readonly raw: Buffer;
}

/** Our records of bytes that arrive in pieces; a string is the refusal. */
function ourRecords(bytes: Buffer, delimiter: string, cuts: readonly number[]): OurRecord[] | string {
  const feed = createRecordFeed({ path: 'x', delimiter, limits: DEFAULT_LIMITS, collect: true, complete: true });
  const records: OurRecord[] = [];
  let done = 0;
  let before = 0;
  const drain = () => {
    while (feed.next()) {
      const { cells, strayCell: stray, faults } = feed.record;
      const length = feed.position - before;
      records.push({
        cells,
        stray: stray >= 0,
        faults: faults.map(({ code }) => code),
        raw: bytes.subarray(done, done + length),
      });
      done += length;
      before = feed.position;
    }
  };
  try {
    const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length];
    for (let i = 1; i < places.length; i++) {
      if (places[i] === places[i - 1]) continue;
      feed.push(bytes.subarray(places[i - 1]!, places[i]!));
      before = 0;
      drain();
    }
    feed.finish();
    drain();
  } catch (error) {
    if (error instanceof RunError) return error.message;
    throw error;
  }
  return records;
}

function parsed(bytes: Buffer, delimiter: string, relaxed = false): string[][] | string {
  try {
    return parse(bytes, {
      delimiter,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: relaxed,
    }) as string[][];
  } catch (error) {
    if (error instanceof CsvError) return error.code;
    throw error;
  }
}

const cutsOf = (random: Random, length: number) =>
  Array.from({ length: random.pick([0, 1, 3, 12]) }, () => random.int(length + 1));

function tableOf(random: Random, delimiter: string): Buffer {
  const newline = random.pick(['\n', '\r\n', '\r']);
  const quotes = random.pick(['all', 'needed', 'needed', 'some']);
  const ragged = random.chance(0.3);
  const width = random.between(1, 7);
  const lines = Array.from({ length: random.between(1, 25) }, () => {
    const cells = Array.from({ length: ragged ? random.between(1, width + 2) : width }, () =>
      Array.from({ length: random.pick([0, 1, 1, 2, 5]) }, () => random.pick(PIECES)).join(''),
    );
    return cells
      .map((text) => {
        const needed = /["\r\n]/.test(text) || text.includes(delimiter) || /^[ \t]*$/.test(text);
        return needed || quotes === 'all' || (quotes === 'some' && random.chance(0.5))
          ? `"${text.replaceAll('"', '""')}"`
          : text;
      })
      .join(delimiter);
  });
  return Buffer.from(lines.join(newline) + (random.chance(0.7) ? newline : ''));
}

const DELIMITERS = [',', ';', '\t', '|'] as const;

/** Well-formed tables: the records must be the same, without exception. */
export function compareTables(seed: number, count: number): Comparison {
  const comparison = newComparison();
  for (let i = 0; i < count; i++) {
    const random = randomOf(seed * 400_009 + i);
    const delimiter = random.pick(DELIMITERS);
    const bytes = tableOf(random, delimiter);
    const theirs = parsed(bytes, delimiter);
    const ours = ourRecords(bytes, delimiter, cutsOf(random, bytes.length));
    comparison.files++;
    const found = typeof ours === 'string' ? ours : ours.map(({ cells }) => cells);
    if (JSON.stringify(found) !== JSON.stringify(theirs)) {
      unexplained(
        comparison,
        `table ${i}: ${JSON.stringify(bytes.toString('utf8'))}: ${JSON.stringify(found)}, csv-parse: ${JSON.stringify(theirs)}`,
      );
    } else if (typeof theirs !== 'string') comparison.cells += theirs.reduce((sum, row) => sum + row.length, 0);
    if (Array.isArray(ours) && ours.some(({ stray, faults }) => stray || faults.length > 0)) {
      unexplained(comparison, `table ${i} has faults: ${JSON.stringify(bytes.toString('utf8'))}`);
    }
  }
  return comparison;
}

/** Mutated tables: where csv-parse gives records, ours are the same; where it gives up, ours name the row or the reason. */
export function compareMutated(seed: number, count: number): Comparison {
  const comparison = newComparison();
  for (let i = 0; i < count; i++) {
    const random = randomOf(seed * 500_009 + i);
    const delimiter = random.pick(DELIMITERS);
    let bytes = tableOf(random, delimiter).subarray(0, 700);
    for (let m = random.between(1, 5); m > 0; m--) bytes = mutated(random, bytes);
    comparison.files++;
    compareBytes(comparison, bytes, delimiter, cutsOf(random, bytes.length));
  }
  return comparison;
}

function mutated(random: Random, bytes: Buffer): Buffer {
  const at = random.int(bytes.length + 1);
  const length = random.pick([1, 1, 2, 9]);
  switch (random.int(4)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)]);
    default: {
      const token = random.pick(['"', '"', ' ', ',', '\n', '\r', '\0', '\xe9', '\xff', '" ', '"x', 'y"', '""']);
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(token, 'latin1'), bytes.subarray(at)]);
    }
  }
}

function compareBytes(comparison: Comparison, bytes: Buffer, delimiter: string, cuts: readonly number[]): void {
  const shown = JSON.stringify(bytes.toString('latin1'));
  const theirs = parsed(bytes, delimiter);
  const ours = ourRecords(bytes, delimiter, cuts);
  if (typeof ours === 'string') {
    if (/never closed/.test(ours) && theirs === 'CSV_QUOTE_NOT_CLOSED') explained(comparison, 'open-quote');
    else if (/never closed/.test(ours) && typeof theirs === 'string') explained(comparison, 'open-quote-after-other');
    else unexplained(comparison, `${shown}: refused (${ours}), csv-parse: ${JSON.stringify(theirs)}`);
    return;
  }
  // Where csv-parse reads the whole, the rows are the same ones.
  if (typeof theirs !== 'string' && theirs.length !== ours.length) {
    unexplained(comparison, `${shown}: ${ours.length} records, csv-parse: ${theirs.length}`);
    return;
  }
  for (const [i, record] of ours.entries())
    compareRecord(comparison, record, delimiter, typeof theirs === 'string' ? undefined : theirs[i]);
}

function compareRecord(
  comparison: Comparison,
  record: OurRecord,
  delimiter: string,
  theirs: readonly string[] | undefined,
): void {
  const alone = theirs ? [theirs] : parsed(record.raw, delimiter);
  const shown = `${JSON.stringify(record.raw.toString('latin1'))}: ${JSON.stringify(record.cells)}`;
  const same = (other: string[][] | readonly (readonly string[])[] | string) =>
    typeof other !== 'string' && other.length === 1 && JSON.stringify(other[0]) === JSON.stringify(record.cells);
  comparison.cells += record.cells.length;
  if (record.faults.includes('nul_character')) explained(comparison, 'nul');
  if (!isUtf8(record.raw)) {
    if (record.faults.includes('invalid_encoding')) explained(comparison, 'invalid-utf-8');
    else unexplained(comparison, `${shown}: invalid UTF-8 without a fault`);
    return;
  }
  if (record.stray) {
    if (typeof alone === 'string') explained(comparison, 'stray-quote');
    else if (record.raw.includes('"\0')) explained(comparison, 'nul-after-closing-quote');
    else unexplained(comparison, `${shown}: stray, csv-parse reads it: ${JSON.stringify(alone)}`);
    return;
  }
  if (same(alone)) return;
  if (typeof alone === 'string' && same(parsed(record.raw, delimiter, true))) {
    explained(comparison, 'quote-in-plain-cell');
    return;
  }
  if (typeof alone === 'string' && withoutBlanks(record.raw).some((raw) => same(parsed(raw, delimiter, true)))) {
    explained(comparison, 'blanks-after-closing-quote');
    return;
  }
  unexplained(comparison, `${shown}, csv-parse: ${JSON.stringify(alone)}`);
}

/** The record without the blanks between quotes and delimiters, for every choice of such places: some stand inside of quotes. */
function withoutBlanks(raw: Buffer): Buffer[] {
  const text = raw.toString('latin1');
  const places = [...text.matchAll(/"( +)(?=[,;\t|\r\n]|$)/g)].slice(0, 8);
  return Array.from({ length: 2 ** places.length }, (_, choice) => {
    let kept = text;
    for (let i = places.length - 1; i >= 0; i--) {
      if ((choice >> i) & 1)
        kept = kept.slice(0, places[i]!.index + 1) + kept.slice(places[i]!.index + places[i]![0].length);
    }
    return Buffer.from(kept, 'latin1');
  });
}
