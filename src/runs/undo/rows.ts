import { createHash } from 'node:crypto';
import { writeSafely } from '../../files/safe-write.js';
import type { DiffText } from '../../model/change.js';
import { parseJson, stringifyBody } from '../../model/json.js';
import { resultOf } from '../../report/results.js';
import type { ResourceSpec } from '../../resources/spec.js';
import { RunStore } from '../../store/run-store.js';
import { lines } from '../rows/row-files.js';
import type { RunFolder } from '../run/layout.js';

/**
 * Writes the rows of an undo: its source, one JSON object a line, on the very line whose number the row had in the file of
 * the run that is undone (the lines between are blank), so that every report numbers rows as that file does; and what the undo
 * needs of each record, in its folder alone: what happens to the run's own folder does not matter any more. Returns the SHA-256 of
 * the source, in hex.
 */
export async function writeUndoRows(
  source: string,
  folder: RunFolder,
  written: AsyncIterable<readonly WrittenRecord[]>,
): Promise<{ readonly sha256: string; readonly rows: number }> {
  const hash = createHash('sha256');
  let rows = 0;
  let line = 0;
  await writeSafely(source, (writeSource) =>
    writeSafely(folder.staged, async (write) => {
      for await (const batch of written) {
        for (const record of batch) {
          const text = `${'\n'.repeat(record.row - line - 1)}${JSON.stringify(shownRow(record))}\n`;
          hash.update(text);
          await writeSource(text);
          await write(`${stringifyBody(record)}\n`);
          line = record.row;
          rows++;
        }
      }
    }),
  );
  return { sha256: hash.digest('hex'), rows };
}

/** What an undo's `rejected.ndjson` shows of a record. */
function shownRow({ row, key, outcome, id, diff, before }: WrittenRecord) {
  const fields = diff.length > 0 ? diff.map(({ field }) => field) : Object.keys(before?.set ?? {});
  return { row, id: id ?? null, key, run_outcome: outcome, fields: fields.join('; ') };
}

/** Records that are read, and decided about, at once. */
const AT_ONCE = 64;

/** The records of an undo, in the order of its rows. */
export async function* undoRows(folder: RunFolder): AsyncGenerator<readonly WrittenRecord[]> {
  let batch: WrittenRecord[] = [];
  for await (const line of lines(folder.staged)) {
    if (batch.push(parseJson(line) as WrittenRecord) < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * A line of before.ndjson: the record as the service had it before the row's write. `row` is null where no row of the file
 * speaks of the record. `set`: the fields that the write sets; `ours`: what an earlier run of ours had left there that reads do
 * not show; both as `pipeline/rows.ts` writes values. Further members are kept.
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

const WRITTEN = `kind in ('created', 'updated') or (op is not null and coalesce(kind, 'unknown') = 'unknown')`;
const CHANGED: ReadonlySet<string> = new Set<DiffText['kind']>(['set', 'clear', 'at_risk']);

function withoutRow({ record, set, ours }: BeforeEntry): Omit<BeforeEntry, 'row' | 'id'> {
  return { record, ...(set ? { set } : {}), ...(ours ? { ours } : {}) };
}

/** What an undo has to deal with, found in one look over its rows. */
export interface Survey {
  readonly rows: number;
  /** Ids of the records, for those that have one. */
  readonly ids: ReadonlySet<number>;
  /** Rows whose records were created; true where the id is known. */
  readonly created: ReadonlyMap<number, boolean>;
  /** Fields in which the service was seen to tidy values up. */
  readonly tidied: ReadonlySet<string>;
  /** Whether the records held custom fields, or were given some. */
  readonly templates: boolean;
  readonly forms: boolean;
}

export async function survey(folder: RunFolder, spec: ResourceSpec): Promise<Survey> {
  let rows = 0;
  const ids = new Set<number>();
  const created = new Map<number, boolean>();
  const tidied = new Set<string>();
  const uses = { templates: false, forms: false };
  for await (const batch of undoRows(folder)) {
    for (const record of batch) {
      rows++;
      if (record.id !== undefined) ids.add(record.id);
      if (record.outcome === 'created') created.set(record.row, record.id !== undefined);
      for (const field of record.normalised) tidied.add(field);
      uses.templates ||= holdsCustom(record, 'template.', spec.template.read);
      uses.forms ||= holdsCustom(record, 'form.', spec.form?.read);
    }
  }
  return { rows, ids, created, tidied, ...uses };
}

function holdsCustom({ diff, before }: WrittenRecord, prefix: string, read: string | undefined): boolean {
  const shown = read === undefined ? undefined : (before?.record as Record<string, unknown> | undefined)?.[read];
  const isThere = shown !== undefined && shown !== null && !(Array.isArray(shown) && shown.length === 0);
  const fields = [...diff.map(({ field }) => field), ...Object.keys(before?.set ?? {})];
  return isThere || fields.some((field) => field.startsWith(prefix));
}
