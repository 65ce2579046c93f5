import { parseJson } from '../../service/json.js';
import type { Json } from '../../service/port.js';
import { RunStore } from '../../store/run-store.js';
import type { ChosenRows } from '../chosen-rows.js';
import type { RunFolder } from '../layout.js';
import type { OpenIntent } from '../past.js';

/** The rows of a run that a retry takes up. */
export interface OpenRows {
  readonly chosen: ChosenRows;
  /** Lines of before.ndjson of rows whose update may have taken effect. */
  readonly before: readonly { readonly row: number; readonly line: string }[];
}

/**
 * Rows that ended `failed` or `unknown`, and those that were sent and have no outcome. What is open of them is what the run
 * may have done: the requests it was about to send, with the records as they were before. Memory: some hundred bytes for each of these
 * rows, and their records.
 */
export function openRows(folder: RunFolder): OpenRows {
  const rows = new Set<number>();
  const open = new Map<number, OpenIntent>();
  const lines: { row: number; line: string }[] = [];
  const store = RunStore.existing(folder.store);
  for (const batch of store?.rows.whole(OPEN) ?? []) {
    for (const { row, kind, op, at = 0, record, before } of batch) {
      rows.add(row);
      if (op === undefined || kind === 'failed') continue;
      const intent: OpenIntent = { op, at, ...(record === undefined ? {} : { id: record }) };
      open.set(row, intent);
      if (op !== 'update' || before === undefined) continue;
      intent.before = (parseJson(before) as { record: Json }).record;
      lines.push({ row, line: before });
    }
  }
  store?.close();
  return { chosen: { rows, open }, before: lines };
}

const OPEN = `kind in ('failed', 'unknown') or (kind is null and op is not null)`;
