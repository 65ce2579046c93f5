import type { OutcomeKind } from '../../model/outcome.js';
import { readLog } from '../../report/append-log.js';
import { readJournal } from '../../report/journal.js';
import { parseJson } from '../../service/json.js';
import type { Json } from '../../service/port.js';
import type { ChosenRows } from '../chosen-rows.js';
import type { RunFolder } from '../layout.js';
import type { OpenIntent } from '../past.js';

/** The rows of a run that a retry takes up. */
export interface OpenRows {
  readonly chosen: ChosenRows;
  /** Lines of the run's log of records, line ends among them, for rows whose update may have taken effect. */
  readonly before: readonly Buffer[];
}

/**
 * Rows that ended `failed` or `unknown`, and those that were sent and have no outcome. What is open of them is what the run
 * may have done: the requests it was about to send, with the records as they were before. Memory: some hundred bytes for each of these
 * rows, and their records.
 */
export async function openRows(folder: RunFolder): Promise<OpenRows> {
  const rows = new Set<number>();
  const intents = new Map<number, OpenIntent>();
  for await (const { entry } of readJournal(folder.journal)) {
    if (entry.t === 'intent') {
      const { row, op, at, id } = entry;
      intents.set(row, { op, at, ...(id === undefined ? {} : { id }) });
      rows.delete(row);
    } else if (entry.t === 'outcome') {
      const { ref, kind } = entry.outcome;
      if (TAKEN_UP.has(kind)) rows.add(ref.row);
      else rows.delete(ref.row);
      if (kind !== 'unknown') intents.delete(ref.row);
    }
  }
  const chosen = new Set([...rows, ...intents.keys()].sort((a, b) => a - b));
  const before = await recordsBefore(folder.before, intents);
  return { chosen: { rows: chosen, open: intents }, before };
}

const TAKEN_UP: ReadonlySet<OutcomeKind> = new Set<OutcomeKind>(['failed', 'unknown']);

/** Puts the records before their updates to the open intents; the last line of a row counts. */
async function recordsBefore(log: string, open: ReadonlyMap<number, OpenIntent>): Promise<readonly Buffer[]> {
  const found = new Map<number, Buffer>();
  if (![...open.values()].some(({ op }) => op === 'update')) return [];
  for await (const block of readLog(log)) {
    for (const { bytes } of block) {
      const { row, record } = parseJson(bytes.toString('utf8')) as { row: number; record: Json };
      const intent = open.get(row);
      if (!intent) continue;
      intent.before = record;
      found.set(row, Buffer.concat([bytes, NEWLINE]));
    }
  }
  return [...found.values()];
}

const NEWLINE = Buffer.from('\n');
