import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceLimits } from '../../src/files/limits.js';
import { openSource } from '../../src/files/open.js';
import { RunError } from '../../src/model/error.js';
import type { Cell } from '../../src/model/row.js';
import type { SourceOptions } from '../../src/model/source.js';

/** A cell as it must come out; the number format code of a cell is not compared. */
export type ExpectedCell =
  | string
  | { readonly t: 'n' | 'd'; readonly value: string; readonly shown: string }
  | { readonly t: 'b'; readonly value: boolean }
  | { readonly t: 'e'; readonly value: string }
  | { readonly t: 'f'; readonly formula: string };

export interface ExpectedRow {
  readonly row: number;
  /** Undefined for a row whose fault leaves open what its cells are. */
  readonly cells?: readonly ExpectedCell[] | undefined;
  /** Codes of the row's faults, in order. */
  readonly faults?: readonly string[];
}

export interface ExpectedTable {
  readonly headings: readonly string[];
  readonly header_row?: number | null;
  readonly sheet?: string | null;
  readonly encoding?: string | null;
  readonly delimiter?: string | null;
  readonly rows: readonly ExpectedRow[];
  /** Words of the warnings, or the evidence, that must be there. */
  readonly says?: readonly string[];
}

/** What must come of a file: its table, or the words of the refusal. */
export type Expected = { readonly table: ExpectedTable } | { readonly refused: string };

export interface CorpusFile {
  readonly name: string;
  /** Numbers of the faults that the file has or looks like having. */
  readonly faults: readonly number[];
  readonly bytes: Buffer;
  readonly options?: SourceOptions;
  readonly limits?: Partial<SourceLimits>;
  readonly expected: Expected;
}

/** What a refusal must not look like: an accident of the program, told as if it were the file's. */
export const ACCIDENT =
  /TypeError|RangeError|ReferenceError|is not a function|is not iterable|Cannot read prop|\bundefined\b|\bNaN\b|\[object |\n\s+at |out of range|out of memory|Invalid array length/;

/** What is wrong with a refusal; empty where it is one that a person can use. */
export function refusalFaults(path: string, error: unknown): string[] {
  if (!(error instanceof RunError)) return [`not a refusal: ${String(error)}`];
  const faults: string[] = [];
  if (!error.message.includes(path) && !error.message.startsWith('source.'))
    faults.push('names neither file nor option');
  if (ACCIDENT.test(error.message.replaceAll(path, ''))) faults.push('reads like an accident');
  if (error.cause instanceof TypeError || error.cause instanceof RangeError)
    faults.push(`hides ${error.cause.message}`);
  if (error.message.includes('\n') || error.message.length > path.length + 900) faults.push('is no short text');
  if (!/[.?!)]$/.test(error.message)) faults.push('ends in mid-sentence');
  return faults.map((fault) => `the refusal ${fault}: ${error.message}`);
}

/** Reads a file of the corpus from a folder; the differences from what is expected, one line each, none when it is right. */
export async function differencesOf(file: CorpusFile, folder: string): Promise<string[]> {
  const path = join(folder, file.name);
  await writeFile(path, file.bytes);
  return readDifferences(path, file);
}

export async function readDifferences(
  path: string,
  file: Pick<CorpusFile, 'name' | 'options' | 'limits' | 'expected'>,
): Promise<string[]> {
  const differences: string[] = [];
  const differ = (what: string, found: unknown, expected: unknown) => {
    const [a, b] = [JSON.stringify(found) ?? 'nothing', JSON.stringify(expected) ?? 'nothing'];
    if (a !== b) differences.push(`${file.name}: ${what} is ${a.slice(0, 300)}, expected ${b.slice(0, 300)}`);
  };
  try {
    const { meta, rows } = await openSource(path, file.options, file.limits);
    if ('refused' in file.expected)
      return [`${file.name}: was read, expected to be refused (${file.expected.refused})`];
    const { table } = file.expected;
    differ('headings', meta.headings, table.headings);
    for (const name of ['header_row', 'sheet', 'encoding', 'delimiter'] as const) {
      if (table[name] !== undefined) differ(name, meta[name], table[name]);
    }
    const said = [...meta.warnings, ...meta.evidence].join('\n');
    for (const words of table.says ?? []) if (!new RegExp(words, 'i').test(said)) differ('what is said', said, words);
    let at = 0;
    for await (const batch of rows()) {
      for (const found of batch) {
        const expected = table.rows[at++];
        if (!expected) {
          if (at < table.rows.length + 4) differ(`row ${found.row}`, found.cells, 'no such row');
          continue;
        }
        differ(`number of the row after row ${table.rows[at - 2]?.row ?? meta.header_row}`, found.row, expected.row);
        differ(
          `faults of row ${found.row}`,
          (found.faults ?? []).map(({ code }) => code),
          expected.faults ?? [],
        );
        if (expected.cells)
          differ(`row ${found.row}`, found.cells.map(withoutFormat), expected.cells.map(withoutFormat));
      }
    }
    if (at < table.rows.length) differ('number of rows', at, table.rows.length);
  } catch (error) {
    differences.push(...refusalFaults(path, error).map((fault) => `${file.name}: ${fault}`));
    const message = error instanceof Error ? error.message : String(error);
    if (!('refused' in file.expected)) differences.push(`${file.name}: was refused, expected to be read: ${message}`);
    else if (!new RegExp(file.expected.refused, 'i').test(message))
      differ('the refusal', message, file.expected.refused);
  }
  return differences;
}

/** Keys in one order, so that cells compare as JSON. */
function withoutFormat(cell: Cell | ExpectedCell): ExpectedCell {
  if (typeof cell === 'string') return cell;
  if (cell.t === 'n' || cell.t === 'd') return { t: cell.t, value: cell.value, shown: cell.shown };
  return cell.t === 'f' ? { t: 'f', formula: cell.formula } : ({ t: cell.t, value: cell.value } as ExpectedCell);
}
