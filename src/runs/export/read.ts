import { MOST_PASSES, readWholeList } from '../../service/lists/whole-list.js';
import type { Json, Readable } from '../../service/port.js';
import { learnNames } from '../connect.js';
import type { ReadConnection } from './connect.js';
import { readCustomers } from './customers.js';
import type { ExportPlan } from './plan.js';
import { MOST_IDS, readByIds } from './read-ids.js';
import type { Records } from './records.js';
import type { ExportRun } from './run.js';

/**
 * Reads every record that the filter lets through, again until it is established that none is missing. `onFirstPass`: as for
 * `readWholeList`.
 */
export async function readRecords(
  run: ExportRun,
  connection: ReadConnection,
  plan: ExportPlan,
  onFirstPass: (list: Records) => void,
): Promise<Records> {
  const { resource } = run.request;
  const records =
    resource === 'customer'
      ? await readCustomers(connection.known, connection.readAll)
      : await readList(run, connection, plan, resource, onFirstPass);
  run.closers.push(() => records.close());
  const { consistency, problems, passes } = records;
  if (consistency === 'partial' && !records.neverWhole) {
    const why =
      passes < MOST_PASSES
        ? `The list held still while it was read ${passes} times, and yet it does not add up`
        : `The list changed while it was read ${passes} times, and no two passes agreed`;
    run.warn(
      `${why}: it could not be established that no record is missing. Every record that was seen in any pass is in the file. ` +
        (passes < MOST_PASSES ? 'Ask those who run the service.' : 'Export again when fewer changes are made.'),
    );
  }
  for (const text of problems) (consistency === 'partial' ? run.warn : run.info)(text);
  return records;
}

async function readList(
  run: ExportRun,
  { service, known }: ReadConnection,
  plan: ExportPlan,
  resource: Readable,
  onFirstPass: (list: Records) => void,
): Promise<Records> {
  const see = (record: Json) => {
    plan.extras.see(record);
    plan.habits.see(record);
    learnNames(resource, record, known);
  };
  const { ids } = plan.filter;
  if (ids && ids.length <= MOST_IDS) return readByIds(service, resource, ids, see);
  return readWholeList(service, resource, plan.query, {
    file: run.folder.records,
    ordered: plan.ordered,
    parallel: run.request.concurrency,
    onProgress: (done, total, pass) => run.progress(pass === 1 ? 'reading' : 'reading again', done, total),
    onRecords: (records) => records.forEach(see),
    onFirstPass,
  });
}
