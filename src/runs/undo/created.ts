import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RunError } from '../../model/error.js';
import type { Fields } from '../../model/value.js';
import { findTarget, usesCustomFields } from '../../pipeline/map/targets.js';
import { type MatchOptions, matchKeys } from '../../pipeline/match/match.js';
import { beginSnapshot } from '../../service/lists/snapshot.js';
import type { Connection } from '../rows/connect.js';
import { loadCustomFields } from '../rows/lexicon.js';
import { storedRows } from '../rows/row-files.js';
import { readRequest } from '../run/earlier-run.js';
import { type RunFolder, runFolder } from '../run/layout.js';

import type { Run } from '../run/run.js';

/** A record that the run created, as its file made it. */
export interface CreatedRecord {
  /** What the file gave in the fields that retire a record. */
  readonly given: Fields;
  /** Ids of the records that have its key; of those alone whose id the service had not told. */
  readonly ids?: readonly number[];
}

/**
 * What the run that is undone gave to the records that it created: whether somebody changed a field since can be told by that
 * alone. Its rows lie in its folder as they were resolved. Records without a known id are looked up by their key. Memory: some
 * 100 bytes for each created record. Throws a `RunError` where that folder is gone.
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
  const distinct = new Map<string, Fields>();
  const nameless = new Map<string, number>();
  if (!existsSync(folder.request)) {
    throw new RunError(
      'failed',
      `The folder of the run ${folder.run} is gone: what its file gave to the records it created cannot be told any more. Bring ${folder.dir} back, or look at these records in the service.`,
    );
  }
  try {
    for await (const rows of storedRows(folder.resolved)) {
      for (const { ref, key, set } of rows) {
        const isKnown = created.get(ref.row);
        if (isKnown === undefined) continue;
        const given = Object.fromEntries(
          fields.flatMap((field) => (field in set ? [[field, set[field] ?? null]] : [])),
        );
        const text = JSON.stringify(given);
        const shared = distinct.get(text) ?? given;
        distinct.set(text, shared);
        found.set(ref.row, { given: shared });
        if (!isKnown && key !== '') nameless.set(key, ref.row);
      }
    }
  } catch {
    // A power cut has torn the file, or an earlier version did not keep it: what was read of it holds.
  }
  if (nameless.size > 0) {
    for (const [row, ids] of await lookUp(nameless, run, connection, folder))
      found.set(row, { given: found.get(row)?.given ?? {}, ids });
  }
  return found;
}

async function lookUp(
  nameless: ReadonlyMap<string, number>,
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
    await matchKeys(new Map([...nameless.keys()].map((one) => [one, []])), options);
    return [...nameless].map(([one, row]) => [row, snapshot.ids(one)] as const);
  } finally {
    await snapshot.close();
  }
}
