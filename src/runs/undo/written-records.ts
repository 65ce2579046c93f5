import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { writeAtomically } from '../../files/atomic-write.js';
import type { DiffText } from '../../model/change.js';
import { parseJson, stringifyBody } from '../../model/json.js';
import type { Fields } from '../../model/value.js';
import { findTarget, usesCustomFields } from '../../pipeline/map/targets.js';
import { type MatchOptions, matchKeys } from '../../pipeline/match/match.js';
import { resultOf } from '../../report/results.js';
import type { ResourceSpec } from '../../resources/spec.js';
import { beginSnapshot } from '../../service/lists/snapshot.js';
import { RunStore } from '../../store/run-store.js';
import type { Connection } from '../rows/connection.js';
import { readLines, readRows } from '../rows/row-files.js';
import { readRequest } from '../run/earlier-run.js';
import { type RunFolder, runFolder } from '../run/layout.js';
import { loadCustomFields } from '../run/open-service.js';
import type { Run } from '../run/run.js';

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
  await writeAtomically(source, (writeSource) =>
    writeAtomically(folder.staged, async (write) => {
      for await (const batch of written) {
        for (const record of batch) {
          const text = `${'\n'.repeat(record.row - line - 1)}${JSON.stringify(sourceRow(record))}\n`;
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
function sourceRow(record: WrittenRecord) {
  const { row, key, outcome, id } = record;
  return { row, id: id ?? null, key, run_outcome: outcome, fields: fieldsOf(record).join('; ') };
}

/** What the run wrote in a record, or was about to. */
export const fieldsOf = ({ diff, before }: WrittenRecord): string[] =>
  diff.length > 0 ? [...new Set(diff.map(({ field }) => field))] : Object.keys(before?.set ?? {});

/** Records that are read, and decided about, at once. */
const BATCH_ROWS = 64;

/** The records of an undo, in the order of its rows. */
export async function* undoRows(folder: RunFolder): AsyncGenerator<readonly WrittenRecord[]> {
  let batch: WrittenRecord[] = [];
  for await (const line of readLines(folder.staged)) {
    if (batch.push(parseJson(line) as WrittenRecord) < BATCH_ROWS) continue;
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
  readonly before?: BeforeEntry;
  /** Fields in which the service was seen to store another form of what the run sent. */
  readonly normalised: readonly string[];
}

/**
 * What a run wrote, in the order of its rows, then of its orphans: outcomes `created` and `updated`, and `unknown` ones, which
 * may have taken effect. `path`: its store.
 */
export function* writtenRecords(path: string): Generator<readonly WrittenRecord[]> {
  const store = RunStore.openExisting(path);
  if (!store) return;
  try {
    let rowsBefore = 0;
    for (const rows of [store.rows, store.orphans]) {
      for (const batch of rows.rows(WRITTEN_ROWS, { before: true })) {
        yield batch.map((stored) => {
          const { outcome, diff } = resultOf(stored, '');
          const { kind, key, id, issues, ref } = outcome;
          const line = stored.before === undefined ? undefined : (parseJson(stored.before) as BeforeEntry);
          return {
            row: rowsBefore + ref.row,
            key,
            outcome: kind as WrittenRecord['outcome'],
            ...(id === undefined ? {} : { id }),
            diff: diff.filter((change) => CHANGED.has(change.kind)),
            ...(line && kind !== 'created' ? { before: line } : {}),
            normalised: issues.flatMap(({ code, field }) => (code === 'value_normalised' && field ? [field] : [])),
          };
        });
      }
      rowsBefore += rows.lastRow;
    }
  } finally {
    store.close();
  }
}

const WRITTEN_ROWS = `kind in ('created', 'updated') or (op is not null and coalesce(kind, 'unknown') = 'unknown')`;
const CHANGED: ReadonlySet<string> = new Set<DiffText['kind']>(['set', 'clear', 'at_risk']);

export type Survey = Awaited<ReturnType<typeof survey>>;

/** What an undo has to deal with, found in one look over its rows. */
export async function survey(folder: RunFolder, spec: ResourceSpec) {
  let rows = 0;
  /** Ids of the records, for those that have one. */
  const ids = new Set<number>();
  /** Rows whose records were created; true where the id is known. */
  const created = new Map<number, boolean>();
  /** Fields in which the service was seen to tidy values up. */
  const tidied = new Set<string>();
  /** Whether the records held custom fields, or were given some. */
  const uses = { templates: false, forms: false };
  for await (const batch of undoRows(folder)) {
    for (const record of batch) {
      rows++;
      if (record.id !== undefined) ids.add(record.id);
      if (record.outcome === 'created') created.set(record.row, record.id !== undefined);
      for (const field of record.normalised) tidied.add(field);
      uses.templates ||= hasCustomFields(record, 'template.', spec.template.read);
      uses.forms ||= hasCustomFields(record, 'form.', spec.form?.read);
    }
  }
  return { rows, ids, created, tidied, ...uses };
}

function hasCustomFields({ diff, before }: WrittenRecord, prefix: string, read: string | undefined): boolean {
  const readValue = read === undefined ? undefined : (before?.record as Record<string, unknown> | undefined)?.[read];
  const hasValue =
    readValue !== undefined && readValue !== null && !(Array.isArray(readValue) && readValue.length === 0);
  const fields = [...diff.map(({ field }) => field), ...Object.keys(before?.set ?? {})];
  return hasValue || fields.some((field) => field.startsWith(prefix));
}

/** A record that the run created, as its file made it. */
export interface CreatedRecord {
  /** What the file gave in the fields that retire a record. */
  readonly fileValues: Fields;
  /** Ids of the records that have its key; of those alone whose id the service had not told. */
  readonly ids?: readonly number[];
}

/**
 * What the run that is undone gave to the records that it created: whether somebody changed a field since can be told by that
 * alone. Its rows lie in its folder as they were resolved. Records without a known id are looked up by their key.
 *
 * @param created rows whose records were created; `true` where the id is known
 * @param fields the fields of interest, canonical
 */
export async function readCreated(
  run: Run,
  connection: Connection,
  created: ReadonlyMap<number, boolean>,
  fields: readonly string[],
): Promise<ReadonlyMap<number, CreatedRecord>> {
  const folder = runFolder(run.settings.home, run.request.lineage?.undoes ?? '');
  const found = new Map<number, CreatedRecord>();
  const withoutId = new Map<string, number>();
  try {
    for await (const rows of readRows(folder.resolved)) {
      for (const { ref, key, set } of rows) {
        const isKnown = created.get(ref.row);
        if (isKnown === undefined) continue;
        const fileValues = Object.fromEntries(
          fields.flatMap((field) => (field in set ? [[field, set[field] ?? null]] : [])),
        );
        found.set(ref.row, { fileValues });
        if (!isKnown && key !== '') withoutId.set(key, ref.row);
      }
    }
  } catch {
    // A power cut has torn the file, or somebody removed the folder: what was read of it holds.
  }
  if (withoutId.size > 0) {
    for (const [row, ids] of await lookUp(withoutId, run, connection, folder))
      found.set(row, { fileValues: found.get(row)?.fileValues ?? {}, ids });
  }
  return found;
}

async function lookUp(
  withoutId: ReadonlyMap<string, number>,
  run: Run,
  { spec, service, lexicon, readAll }: Connection,
  folder: RunFolder,
): Promise<(readonly [row: number, ids: readonly number[]])[]> {
  const job = readRequest(folder)?.job.job ?? run.job;
  const catalogue = await loadCustomFields(usesCustomFields(job), lexicon);
  const key = job.match.key.map((name) => {
    const target = findTarget(name, job, spec, catalogue);
    return 'field' in target ? target.field : name;
  });
  // An earlier process of this run may have found other records.
  const snapshot = await beginSnapshot(join(run.folder.dir, 'work', 'created.ndjson'));
  try {
    const options: MatchOptions = { spec, key, service, lexicon, snapshot, readAll, now: run.now };
    await matchKeys(new Map([...withoutId.keys()].map((one) => [one, []])), options);
    return [...withoutId].map(([one, row]) => [row, snapshot.ids(one)] as const);
  } finally {
    await snapshot.close();
  }
}
