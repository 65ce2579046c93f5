import type { ReadAll } from '../../pipeline/match/match.js';
import type { KnownIds, Service } from '../../service/port.js';
import { openService } from '../../service/service.js';
import { openSources, sharedParts } from '../connect.js';
import type { RunLexicon } from '../lexicon.js';
import { nameCompany } from '../name-company.js';
import { serviceOptions } from '../service-options.js';
import { tellAway } from '../tell-away.js';
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
    onAway: tellAway(run.info),
    ...sharedParts(run.worker),
    log: (level, event, fields) => run.log[level](fields, event),
  });
  run.closers.push(() => service.close());
  run.counts = service.counts;
  const sources = await openSources(run, service);
  const about = { company: request.company, address: request.service, verb: 'Exporting from', mayBeArchived: true };
  const companyName = await nameCompany(service, about, run);
  return { service, ...sources, companyName };
}
