import { join } from 'node:path';
import { RunError } from '../../model/error.js';
import type { RowsJob } from '../../model/job.js';
import type { OpenSource } from '../../model/source.js';
import type { Fields } from '../../model/value.js';
import { compileMapping, type Mapping } from '../../pipeline/map/map.js';
import { type MatchOptions, matchKeys } from '../../pipeline/match/match.js';
import { loadDirectory } from '../../pipeline/resolve/directory.js';
import { makeResolver, NameCollector, type ResolvedRow } from '../../pipeline/resolve/resolve.js';
import type { StagedRow, StagedValue } from '../../pipeline/rows.js';
import { beginSnapshot } from '../../service/lists/snapshot.js';
import type { Connection } from '../rows/connect.js';
import { mappingInput } from '../rows/stage.js';
import { withCorrections } from '../run/corrections.js';
import { readRequest } from '../run/earlier-run.js';
import { runFolder } from '../run/layout.js';
import type { Run } from '../run/run.js';
import { shownBy, type Table, tableOf } from '../run/table.js';

/** A record that the run created, as its file made it. */
export interface CreatedRecord {
  /** What the file gave in the fields that retire a record. */
  readonly given: Fields;
  /** Ids of the records that have its key; of those alone whose id the service had not told. */
  readonly ids?: readonly number[];
}

/**
 * Reads the file of the run that is undone once more, for what it gave to the records that were created: whether somebody
 * changed a field since can be told by that alone. Records without a known id are looked up by their key. Memory: some 100 bytes for each
 * created record. Throws a `RunError` where that run's folder is gone.
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
  const { job, source, earlier, jsonRows } = await originalOf(run);
  const input = await mappingInput(job, shownBy(source, earlier), connection);
  const mapping = compileMapping({ ...input, jsonRows });
  const wanted = new Set([...fields, ...mapping.key]);
  const { service, known, readAll } = connection;
  const rows = () => createdRows(source, mapping, created, wanted);
  const names = new NameCollector();
  for await (const row of rows()) names.add(row);
  const directory = await loadDirectory(names.names, { service, known, readAll });
  const resolve = makeResolver({ directory, key: mapping.key, columnOf: mapping.columnOf });
  const found = new Map<number, CreatedRecord>();
  const distinct = new Map<string, Fields>();
  const nameless = new Map<string, number>();
  for await (const staged of rows()) {
    const row = resolve(staged);
    const given = givenIn(row, fields);
    const text = JSON.stringify(given);
    const shared = distinct.get(text) ?? given;
    distinct.set(text, shared);
    found.set(row.ref.row, { given: shared });
    if (created.get(row.ref.row) === false && row.key !== '') nameless.set(row.key, row.ref.row);
  }
  if (nameless.size > 0) {
    for (const [row, ids] of await lookUp(nameless, run, connection, mapping))
      found.set(row, { given: found.get(row)?.given ?? {}, ids });
  }
  return found;
}

async function originalOf(run: Run): Promise<Table & { readonly job: RowsJob; readonly jsonRows: boolean }> {
  const folder = runFolder(run.settings.home, run.request.lineage?.undoes ?? '');
  const request = await readRequest(folder);
  if (!request) {
    throw new RunError(
      'failed',
      `The folder of the run ${folder.run} is gone: what its file gave to the records it created cannot be told any more. Bring ${folder.dir} back, or look at these records in the service.`,
    );
  }
  const table = await tableOf(run.settings.home, folder.run);
  return {
    ...table,
    job: request.job.job,
    jsonRows: request.jsonRows ?? false,
    source: withCorrections(table.source, request.corrections),
  };
}

/** The wanted fields of the rows whose records were created, in file order. */
async function* createdRows(
  source: OpenSource,
  mapping: Mapping,
  created: ReadonlyMap<number, boolean>,
  wanted: ReadonlySet<string>,
): AsyncGenerator<StagedRow> {
  let left = created.size;
  for await (const batch of source.rows()) {
    for (const row of batch) {
      if (!created.has(row.row)) continue;
      const { ref, set } = mapping.mapRow(row);
      const picked: Record<string, StagedValue> = {};
      for (const [field, value] of Object.entries(set)) if (wanted.has(field)) picked[field] = value;
      yield { ref, set: picked, issues: [] };
      if (--left === 0) return;
    }
  }
}

function givenIn({ set }: ResolvedRow, fields: readonly string[]): Fields {
  return Object.fromEntries(fields.flatMap((field) => (field in set ? [[field, set[field] ?? null]] : [])));
}

async function lookUp(
  nameless: ReadonlyMap<string, number>,
  run: Run,
  { spec, service, lexicon, readAll }: Connection,
  { key }: Mapping,
): Promise<(readonly [row: number, ids: readonly number[]])[]> {
  // An earlier process of this run may have found other records.
  const snapshot = await beginSnapshot(join(run.folder.dir, 'work', 'created.ndjson'));
  try {
    const options: MatchOptions = { spec, key, service, lexicon, snapshot, readAll, now: run.now };
    await matchKeys(new Map([...nameless.keys()].map((one) => [one, []])), options);
    return [...nameless].map(([one, row]) => [row, snapshot.ids(one)] as const);
  } finally {
    await snapshot.close();
  }
}
