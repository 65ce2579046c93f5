import { type ExportRecord, exportRecord, isWritable } from '../../export/column.js';
import { withMemory } from '../../export/editable.js';
import { ReferenceCollector, type ReferenceNames } from '../../export/reference-text.js';
import { resourceSpec } from '../../resources/registry.js';
import type { Json } from '../../service/port.js';
import { idOf } from '../../service/transport/answer.js';
import type { ReadConnection } from './connect.js';
import { isWhole, readCustomer } from './customers.js';
import type { ExportPlan } from './plan.js';
import type { Records } from './records.js';
import type { ExportRun } from './run.js';

/** The records that the file is to hold. */
export interface Selection {
  /** In the order of the file; absent: all, in the order of the list. */
  readonly ids?: Iterable<number>;
  readonly rows: number;
  /** Names that they refer to; collected for editable files alone. */
  readonly names: ReferenceNames;
}

/** Turns a record of the service into what columns show. */
export function recordMaker(run: ExportRun, { lexicon, known }: ReadConnection): (json: Json) => ExportRecord {
  const { resource, editable } = run.request;
  if (resource === 'customer') return (json) => ({ json, read: readCustomer(json, known) });
  if (!editable || !isWritable(resource)) return (json) => exportRecord(resource, json, { lexicon });
  return (json) => {
    const record = exportRecord(resource, json, { lexicon });
    const { read } = record;
    return read ? { json, read: withMemory(resource, read, known.lastWritten(resource, read.id)) } : record;
  };
}

/** Goes through the records once more where filter, order or references ask for it; they are on this machine's disk. */
export async function selectRecords(
  run: ExportRun,
  connection: ReadConnection,
  { filter, order }: ExportPlan,
  list: Records,
): Promise<Selection> {
  const { resource, editable } = run.request;
  const keys = order.collect?.();
  const references = editable && isWritable(resource) ? new ReferenceCollector(resourceSpec(resource)) : undefined;
  const names: ReferenceNames = references?.names ?? new Map();
  const filtered = filter.conditions.length > 0;
  if (!filtered && !keys && !references) {
    warnOfNameless(run, list);
    return { rows: list.records, names };
  }
  const toRecord = recordMaker(run, connection);
  const ids: number[] = [];
  let partlyKnown = 0;
  let nameless = 0;
  let done = 0;
  for await (const batch of list.read()) {
    for (const json of batch) {
      const record = toRecord(json);
      if (filtered && !filter.keeps(record)) continue;
      if (references && resource === 'customer' && !isWhole(json)) {
        partlyKnown++;
        continue;
      }
      if (record.read) references?.add(record.read);
      const id = idOf(json);
      if (id === undefined) {
        nameless++;
        continue;
      }
      keys?.see(record);
      ids.push(id);
    }
    done += batch.length;
    run.progress('looking up', done, list.records);
  }
  if (partlyKnown > 0) {
    run.warn(
      `${partlyKnown} customers are known by name or id alone and are not in the file: a changed row of theirs could not be imported, because an update replaces the whole record.`,
    );
  }
  if (nameless > 0) {
    run.warn(
      `${nameless} records came without an id and are not in the file: they can be neither ordered nor found again. Export without --order, --filter and --editable to have them.`,
    );
  }
  return { ids: keys ? keys.ids() : ids, rows: ids.length, names };
}

/** They come last (service/lists/whole-list.ts), as the service sent them. */
function warnOfNameless(run: ExportRun, list: Records): void {
  let named = 0;
  for (const _ of list.ids()) named++;
  const nameless = list.records - named;
  if (nameless <= 0) return;
  run.warn(
    nameless === 1
      ? 'One record came without an id that can be used. It is the last in the file, as the service sent it.'
      : `${nameless} records came without an id that can be used. They are the last in the file, as the service sent them.`,
  );
}
