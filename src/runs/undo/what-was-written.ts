import type { DiffText } from '../../model/change.js';
import { resultOf } from '../../report/results.js';
import { parseJson } from '../../service/json.js';
import { RunStore } from '../../store/run-store.js';

/**
 * A line of before.ndjson: the record as the service had it before the row's write. `row` is null where no row of the file
 * speaks of the record. `set`: the fields that the write sets; `ours`: what an earlier run of ours had left there that reads do
 * not show; both as `pipeline/codec.ts` writes values. Further members are kept.
 */
interface BeforeEntry {
  readonly row: number | null;
  readonly id: number;
  readonly record: unknown;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly ours?: Readonly<Record<string, unknown>>;
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
 * What a run wrote, in the order of its rows, then of its orphans: outcomes `created` and `updated`, and `unknown` ones, which
 * may have taken effect. `path`: its store.
 */
export function* whatWasWritten(path: string): Generator<readonly WrittenRecord[]> {
  const store = RunStore.existing(path);
  if (!store) return;
  try {
    let rowsBefore = 0;
    for (const rows of [store.rows, store.orphans]) {
      for (const batch of rows.whole(WRITTEN)) {
        yield batch.map((whole) => {
          const { outcome, diff } = resultOf(whole, '');
          const { kind, key, id, issues, ref } = outcome;
          const line = whole.before === undefined ? undefined : (parseJson(whole.before) as BeforeEntry);
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
      rowsBefore += rows.last;
    }
  } finally {
    store.close();
  }
}

const WRITTEN = `kind in ('created', 'updated', 'unknown') or (kind is null and op is not null)`;
const CHANGED: ReadonlySet<string> = new Set<DiffText['kind']>(['set', 'clear', 'at_risk']);

function withoutRow({ record, set, ours }: BeforeEntry): Omit<BeforeEntry, 'row' | 'id'> {
  return { record, ...(set ? { set } : {}), ...(ours ? { ours } : {}) };
}
