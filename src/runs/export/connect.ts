import { join } from 'node:path';
import type { ReadAll } from '../../pipeline/read-all.js';
import { serviceDir } from '../../service/address.js';
import { openKnownIds } from '../../service/known-ids.js';
import type { KnownIds, Service } from '../../service/port.js';
import { openService } from '../../service/service.js';
import { learnNames, sharedParts } from '../connect.js';
import { type RunLexicon, runLexicon } from '../lexicon.js';
import { openLists } from '../lists.js';
import { nameCompany } from '../name-company.js';
import { serviceOptions } from '../service-options.js';
import type { ExportRun } from './run.js';

/** The service of an export, and what is known of it. */
export interface ReadConnection {
  readonly service: Service;
  readonly known: KnownIds;
  readonly lexicon: RunLexicon;
  readonly readAll: ReadAll;
  /** Where it could be read. */
  readonly companyName: string | undefined;
}

/** Opens the service and says whose data is read. Throws a `RunError` where the company is not there. */
export async function connectForReading(run: ExportRun): Promise<ReadConnection> {
  const { settings, request } = run;
  const service = openService({
    ...serviceOptions(settings, request.company),
    maxInFlight: request.concurrency,
    signal: run.signal,
    // An export has nothing to write.
    mayWrite: () => false,
    ...sharedParts(run.worker),
    log: (level, event, fields) => run.log[level](fields, event),
  });
  run.closers.push(() => service.close());
  run.counts = service.counts;
  const known = await openKnownIds(serviceDir(settings.home, settings.apiUrl, request.company));
  run.closers.push(() => known.close());
  const readAll = openLists(
    service,
    (resource) => join(run.folder.dir, 'work', `list-${resource}.ndjson`),
    (resource, records) => {
      if (resource === 'contract' || resource === 'asset') for (const record of records) learnNames(record, known);
    },
  );
  const about = { company: request.company, address: request.service, verb: 'Exporting from', mayBeArchived: true };
  const companyName = await nameCompany(service, about, run);
  return { service, known, lexicon: runLexicon(known, readAll), readAll, companyName };
}
