import { access, open } from 'node:fs/promises';
import type { OutcomeKind } from '../../model/outcome.js';
import { readLog } from '../../report/append-log.js';
import type { BeforeEntry } from '../../report/before.js';
import type { DiffText } from '../../report/journal.js';
import { indexOutcomes, PER_READ, readResults } from '../../report/outcome-index.js';
import { createRowIndex, type RowIndex, type RowPlace } from '../../report/row-index.js';
import { readPieces } from '../../report/scattered-read.js';
import { parseJson } from '../../service/json.js';

/** The logs of one pass over records: its journal, and the records as they were before. */
export interface RunLogs {
  readonly journal: string;
  readonly before: string;
}

/** A record that a run created or changed, or may have changed. */
export interface WrittenRecord {
  /** Of the run's file. Records that no row speaks of are numbered on behind its last row. */
  readonly row: number;
  /** As the run's reports show it. */
  readonly key: string;
  readonly outcome: 'created' | 'updated' | 'unknown';
  /** Absent where the service never told. */
  readonly id?: number;
  /** Fields that were set, cleared or destroyed, as texts; none where the run ended before it noted them. */
  readonly diff: readonly DiffText[];
  /** Of updates. */
  readonly before?: Omit<BeforeEntry, 'row' | 'id'>;
  /** Fields in which the service was seen to store another form of what the run sent. */
  readonly normalised: readonly string[];
}

/**
 * What a run wrote, in the order of its rows, from its own logs: outcomes `created` and `updated`, and `unknown` ones, which may
 * have taken effect. Memory does not grow with what was written, but for 26 bytes a row.
 */
export async function* whatWasWritten(logs: readonly RunLogs[]): AsyncGenerator<readonly WrittenRecord[]> {
  let rowsBefore = 0;
  for (const one of logs) {
    if (!(await exists(one.journal))) continue;
    const index = await indexOutcomes(one.journal);
    const places = await indexBefore(one.before);
    const journal = await open(one.journal, 'r');
    const before = await open(one.before, 'r').catch(() => undefined);
    let last = 0;
    try {
      for (const batch of index.batches(PER_READ)) {
        last = batch.at(-1)?.row ?? last;
        const wanted = batch.filter(({ state }) => state === 'open' || WRITTEN.has(state));
        if (wanted.length === 0) continue;
        const results = await readResults(journal, one.journal, wanted, '', index.ids);
        const entries = results.map(({ outcome }) => place(places, outcome.ref.row, outcome.id));
        const lines = before ? await readPieces(before, entries) : [];
        yield results.map(({ outcome, diff }, at) => {
          const { kind, key, id, issues, ref } = outcome;
          const line = lines[at]?.length ? (parseJson(lines[at].toString('utf8')) as BeforeEntry) : undefined;
          return {
            row: rowsBefore + ref.row,
            key,
            outcome: kind as WrittenRecord['outcome'],
            ...(id === undefined ? {} : { id }),
            diff: diff.filter((change) => CHANGED.has(change.kind)),
            ...(line && kind !== 'created' ? { before: withoutRow(line) } : {}),
            normalised: issues.flatMap(({ code, field }) => (code === 'value_normalised' && field ? [field] : [])),
          };
        });
      }
    } finally {
      await journal.close();
      await before?.close();
    }
    rowsBefore += last;
  }
}

const WRITTEN: ReadonlySet<string> = new Set<OutcomeKind>(['created', 'updated', 'unknown']);
const CHANGED: ReadonlySet<string> = new Set<DiffText['kind']>(['set', 'clear', 'at_risk']);

/** Where the lines of a log stand: by row, and those of no row by the record's id. The last line of a row counts. */
interface BeforeIndex {
  readonly byRow: RowIndex;
  readonly byId: RowIndex;
}

async function indexBefore(log: string): Promise<BeforeIndex> {
  const byRow = createRowIndex();
  const byId = createRowIndex();
  for await (const block of readLog(log)) {
    for (const { bytes, offset, length } of block) {
      const { row, id } = JSON.parse(bytes.toString('utf8')) as BeforeEntry;
      if (typeof row === 'number') byRow.set(row, 'open', offset, length);
      else byId.set(id, 'open', offset, length);
    }
  }
  return { byRow, byId };
}

function place({ byRow, byId }: BeforeIndex, row: number, id: number | undefined): RowPlace {
  const found = byRow.get(row);
  return found.state === 'none' && id !== undefined ? byId.get(id) : found;
}

function withoutRow({ record, set, ours }: BeforeEntry): Omit<BeforeEntry, 'row' | 'id'> {
  return { record, ...(set ? { set } : {}), ...(ours ? { ours } : {}) };
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
