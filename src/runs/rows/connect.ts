import { join } from 'node:path';
import { RunError } from '../../model/error.js';
import type { ExportableName } from '../../model/resource-names.js';
import type { ReadAll } from '../../pipeline/match/match.js';
import { recordId } from '../../resources/read-value.js';
import { resourceSpec } from '../../resources/registry.js';
import type { ResourceSpec } from '../../resources/spec.js';
import { serviceName } from '../../service/address.js';
import { loadBehaviour, openKnownIds } from '../../service/known.js';
import type { Json, KnownIds, ProbedBehaviour, RequestCounts, Service } from '../../service/port.js';
import { openService, type ServiceOptions } from '../../service/service.js';
import type { WorkerContext } from '../run/context.js';
import { nameCompany, serviceOptions, tellAway } from '../run/open-service.js';
import type { RowsKind, Run } from '../run/run.js';
import type { Shell, StoredRun } from '../run/shell.js';
import { openLists, type RunLexicon, runLexicon } from './lexicon.js';

/** The service of a run, and what is known of it. */
export interface Connection {
  readonly service: Service;
  readonly spec: ResourceSpec;
  readonly known: KnownIds;
  readonly lexicon: RunLexicon;
  readonly readAll: ReadAll;
  readonly behaviour: ProbedBehaviour | undefined;
  /** Where the token may read it. */
  readonly companyName?: string;
}

const VERBS: Readonly<Record<RowsKind, readonly [rehearsal: string, real: string]>> = {
  import: ['Rehearsing for', 'Importing into'],
  reconcile: ['Comparing with', 'Reconciling with'],
  undo: ['Rehearsing for', 'Putting back in'],
};

/** The service of a run that reads it, and what is known of it. */
export type ReadConnection = Omit<Connection, 'spec' | 'behaviour'>;

/**
 * Opens the service and says whose data is read or about to change; names are learned from whatever is read. Throws a
 * `RunError` where the company is not there, or archived and may not be.
 */
export async function openConnection(
  run: Shell<StoredRun> & Partial<Pick<Run, 'now'>>,
  about: { readonly verb: string; readonly mayBeArchived: boolean },
  {
    mayWrite = () => false,
    observe,
    named,
  }: Pick<ServiceOptions, 'mayWrite' | 'observe'> & { named?: Parameters<typeof runLexicon>[2] } = {},
): Promise<ReadConnection> {
  const { settings, request, folder } = run;
  const service = openService({
    ...serviceOptions(settings, request.company),
    maxInFlight: request.concurrency,
    signal: run.signal,
    mayWrite,
    onAway: tellAway(run.info, run.clock),
    ...sharedParts(run.worker),
    ...(observe ? { observe } : {}),
    log: (level, event, fields) => run.log[level](fields, event),
  });
  run.closers.push(() => service.close());
  run.counts = service.counts;
  const known = openKnownIds(settings.home, serviceName(settings.apiUrl, request.company));
  run.closers.push(() => known.close());
  const readAll = openLists(
    service,
    (resource) => join(folder.dir, 'work', `list-${resource}.ndjson`),
    (resource, records) => {
      for (const record of records) learnNames(resource, record, known);
    },
    run.now,
  );
  const { company, service: address } = request;
  const companyName = await nameCompany(service, { ...about, company, address }, run);
  const lexicon = runLexicon(known, readAll, named);
  return { service, known, readAll, lexicon, ...(companyName === undefined ? {} : { companyName }) };
}

/** The same for a run of rows; its requests may be carried by other workers. */
export async function connect(run: Run): Promise<Connection> {
  const { settings, request } = run;
  const { company, dryRun, force } = request;
  const connection = await openConnection(
    run,
    { verb: VERBS[request.kind][dryRun ? 0 : 1], mayBeArchived: force },
    {
      mayWrite: () => mayWrite(run),
      named: (names) => run.store.keepNames(names),
      observe(exchange) {
        run.outlook.observe(exchange);
        run.worker?.observe?.(exchange);
      },
    },
  );
  const carrier = await run.worker?.carrier(run.folder.run, {
    log: run.log,
    signal: run.signal,
    company,
    resource: run.job.resource,
    now: run.now,
    mayWrite: () => mayWrite(run),
  });
  if (carrier) {
    run.closers.push(() => carrier.close());
    const { sent } = carrier;
    run.counts = countsWith(connection.service.counts, () => ({ ...sent, total: sent.reads + sent.writes }));
  }
  run.carrier = carrier;
  const behaviour = loadBehaviour(settings.home, serviceName(settings.apiUrl, company));
  if (run.job.write.method === 'patch' && behaviour?.patch !== true) {
    throw new RunError(
      'usage',
      'The job asks for `write.method: patch`, and it is not known whether this service understands PATCH: the interface does not describe its requests. `rowferry doctor --probe` finds out; until then use `put`.',
    );
  }
  return { ...connection, spec: resourceSpec(run.job.resource), behaviour };
}

/** What a run shares with others of its process. */
export function sharedParts(
  worker: Pick<WorkerContext, 'channel' | 'observe'> | undefined,
): Pick<ServiceOptions, 'channel' | 'observe'> {
  return { ...(worker?.channel && { channel: worker.channel }), ...(worker?.observe && { observe: worker.observe }) };
}

/** A process that was paused may learn that its right is over only here; the run then stops before anything else is tried. */
function mayWrite(run: Run): boolean {
  if (run.rights.every(({ valid }) => valid)) return true;
  run.halt('the right to write was lost to another worker');
  return false;
}

/** Requests that are counted in two places; both go on counting. */
export function countsWith(
  own: Readonly<RequestCounts> | undefined,
  more: () => Partial<RequestCounts>,
): Readonly<RequestCounts> {
  const sum = (kind: keyof RequestCounts) => (own?.[kind] ?? 0) + (more()[kind] ?? 0);
  return {
    get total() {
      return sum('total');
    },
    get reads() {
      return sum('reads');
    },
    get writes() {
      return sum('writes');
    },
    get retries() {
      return sum('retries');
    },
  };
}

/** Contracts and assets show the customers and business units they belong to, which cannot be listed. */
export function learnNames(resource: ExportableName, record: Json, known: Pick<KnownIds, 'learn'>): void {
  if (resource !== 'contract' && resource !== 'asset') return;
  for (const [key, kind] of [
    ['customer', 'customer'],
    ['business_unit', 'business-unit'],
  ] as const) {
    const value = record[key];
    if (typeof value !== 'object' || value === null || !('id' in value) || !('name' in value)) continue;
    const id = recordId(value.id);
    if (id !== undefined && typeof value.name === 'string' && value.name !== '') known.learn(kind, id, value.name);
  }
}
