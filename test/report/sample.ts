import { readFile } from 'node:fs/promises';
import { fault, type Issue } from '../../src/model/issue.js';
import type { Outcome, OutcomeKind } from '../../src/model/outcome.js';
import type { RowIntent, RowResult, RunStore } from '../../src/store/run-store.js';

/** An outcome with everything a test does not care about filled in. */
export function outcome(row: number, kind: OutcomeKind, more: Partial<Outcome> = {}): Outcome {
  return { ref: { row }, kind, key: `K-${row}`, attempts: 1, issues: [], changed: [], ...more };
}

/** The intent of a request with everything a test does not care about filled in. */
export function intent(row: number, op: RowIntent['op'], more: Partial<RowIntent> = {}): RowIntent {
  return { row, op, key: `K-${row}`, at: 1, ...more };
}

/** Notes of the rows of a run, in this order, what it was about to send and how they ended, and writes it. */
export function record(store: RunStore, ...noted: readonly (RowIntent | Outcome | RowResult)[]): void {
  for (const one of noted) {
    if ('op' in one) store.rows.addIntents([one]);
    else store.rows.addOutcome('outcome' in one ? one : { outcome: one, diff: [] });
  }
  store.write();
}

export function tooLong(value: string, column = 'Item Name'): Issue {
  return fault('too_long', 'The service accepts 50 characters. Shorten the text.', { column, field: 'name', value });
}

/** All lines of a CSV text, read strictly by RFC 4180 with nothing but this function. */
export function parseCsv(text: string, delimiter = ','): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (quoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[++at];
      else quoted = false;
    } else if (char === '"' && cell === '') quoted = true;
    else if (char === delimiter) {
      row.push(cell);
      cell = '';
    } else if (char === '\r' && text[at + 1] === '\n') {
    } else if (char === '\n') {
      rows.push([...row, cell]);
      row = [];
      cell = '';
    } else cell += char;
  }
  return cell !== '' || row.length ? [...rows, [...row, cell]] : rows;
}

export async function readCsv(path: string, delimiter = ','): Promise<string[][]> {
  return parseCsv(await readFile(path, 'utf8'), delimiter);
}
