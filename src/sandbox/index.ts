import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createFaultPlan, type Fault, parseFault } from './fault.js';
import type { WritableName } from './kinds.js';
import type { ReadName } from './read.js';
import { seedCompanies, seedDemo } from './seed/demo.js';
import { createHttpServer, createRateLimit, type ReceivedRequest } from './server.js';
import { type Commit, createService, newCounters, type RequestCounters } from './service.js';
import type { LookupItems, LookupName } from './stored-record.js';
import { DEFAULT_SWITCHES, type Switches } from './switches.js';
import { asObject, parseJson, toJson, toPlain } from './values.js';
import { createWorld, type World } from './world.js';
import { insertRecord, rawValues, write } from './write.js';

/** A complete service of its own over HTTP, for trying things out and for tests. */

export type { Fault, FaultAction, FaultMatch } from './fault.js';
export { FAULT_ACTIONS, parseFault } from './fault.js';
export type { Commit, RequestCounters } from './service.js';
export { DEFAULT_SWITCHES, SWITCH_VALUES, type Switches } from './switches.js';
export { Exact } from './values.js';

export interface SandboxOptions {
  /** Default: a free port. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: one made up, see `Sandbox.token`. */
  readonly token?: string | readonly string[];
  /** `empty` holds the companies and look-ups of the demo, and no records. Default: empty. */
  readonly seed?: 'demo' | 'empty';
  /** The switch of this name. */
  readonly responses?: Switches['responses'];
  /** Every request waits this long before it takes effect. */
  readonly latencyMs?: number;
  readonly faults?: readonly (Fault | string)[];
  readonly switches?: Partial<Switches>;
  /** A limit of requests per second that the service does not tell; beyond it 429. */
  readonly maxRps?: number;
  /** Whether the commit log keeps bodies. Default: true. */
  readonly keepBodies?: boolean;
  /** Beyond it 413. Default: 10 MB. */
  readonly maxBodyBytes?: number;
  /** The clock (milliseconds) of modification dates, `lag` and the hidden limit. Default: the machine's. */
  readonly now?: () => number;
  /** Called with each write that takes effect, before it is answered. */
  readonly onCommit?: (commit: Commit) => void;
  /** Called with each request before it takes effect; a promise holds the request back. */
  readonly onRequest?: (request: ReceivedRequest) => void | Promise<void>;
  /** Called when a request is over; without a status where none was sent. */
  readonly onAnswer?: (request: ReceivedRequest, status: number | undefined) => void;
}

/** A running service, and the door behind it for tests. */
export interface Sandbox {
  /** `{base_url}`: without `/api/v2` and without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** A token that is accepted now. */
  readonly token: string;
  close(): Promise<void>;
  /** The read form of all records or entries, by id. Decimals are text with all their digits ("1200.00"). */
  records(resource: ReadName | 'customer', company?: number): Record<string, unknown>[];
  record(resource: WritableName, id: number): Record<string, unknown> | undefined;
  /** The stored values of all records by field name, without nulls: also those that no read shows. Dates are ISO, references ids. */
  raw(resource: WritableName): Record<string, unknown>[];
  /**
   * Puts records in without HTTP and without a commit; bodies are create bodies (`company` is 1 if left out; every
   * spelling, every contract status and `alert` are allowed), a string is JSON text. Answers the ids; throws on a bad body.
   */
  insert(resource: WritableName, bodies: readonly (object | string)[]): number[];
  /** Changes a record as somebody else would: no HTTP, no commit. Members as in `insert`; the others stay. */
  edit(resource: WritableName, id: number, changes: object): void;
  /** Takes a record away, as the service may. `insert` with its `id` brings one back. */
  remove(resource: WritableName, id: number): void;
  /** Adds or replaces a look-up entry (a category, a template, an owner …); company `null`: of the whole account. */
  putLookup<N extends LookupName>(name: N, company: number | null, item: LookupItems[N]): void;
  /** Writes that took effect over HTTP, in order. */
  readonly commits: readonly Commit[];
  readonly requests: RequestCounters;
  resetRequests(): void;
  setFaults(faults: readonly (Fault | string)[]): void;
  setSwitches(changes: Partial<Switches>): void;
  setMaxRps(perSecond: number | undefined): void;
  setLatency(ms: number): void;
  /** From now on only the new token is accepted. */
  expireToken(newToken: string): void;
}

/** Starts the service on a port of its own; resolves when it listens. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const world = createWorld({ ...DEFAULT_SWITCHES }, options.now ?? Date.now);
  if (options.seed === 'demo') seedDemo(world);
  else seedCompanies(world);
  world.setSwitches({ ...(options.responses && { responses: options.responses }), ...options.switches });

  let tokens = new Set(
    typeof options.token === 'string' ? [options.token] : (options.token ?? [`sandbox-${randomUUID()}`]),
  );
  let faultOf = createFaultPlan(readFaults(options.faults ?? []));
  let latency = options.latencyMs ?? 0;
  let counters = newCounters();
  const commits: Commit[] = [];
  const rate = createRateLimit(options.maxRps, options.now ?? (() => performance.now()));
  const execute = createService({
    world,
    tokens: () => tokens,
    keepBodies: options.keepBodies ?? true,
    recordCommit(one) {
      const commit = { sequence: commits.length + 1, ...one };
      commits.push(commit);
      options.onCommit?.(commit);
    },
  });
  const { server, stop } = createHttpServer({
    world,
    execute,
    rate,
    faultOf: (method, path) => faultOf(method, path),
    latency: () => latency,
    counters: () => counters,
    maxBodyBytes: options.maxBodyBytes ?? 10_000_000,
    onRequest: options.onRequest,
    onAnswer: options.onAnswer,
  });
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    get token() {
      return [...tokens][0] ?? '';
    },
    close() {
      return new Promise((resolve) => {
        server.close(() => resolve());
        stop();
      });
    },
    ...storeAccess(world),
    commits,
    get requests() {
      return counters;
    },
    resetRequests() {
      counters = { ...newCounters(), inFlight: counters.inFlight };
    },
    setFaults(faults) {
      faultOf = createFaultPlan(readFaults(faults));
    },
    setSwitches: world.setSwitches,
    setMaxRps: rate.set,
    setLatency(ms) {
      latency = ms;
    },
    expireToken(newToken) {
      tokens = new Set([newToken]);
    },
  };
}

const readFaults = (faults: readonly (Fault | string)[]): Fault[] =>
  faults.map((fault) => (typeof fault === 'string' ? parseFault(fault) : fault));

const isWritable = (resource: string): resource is WritableName =>
  resource === 'asset' || resource === 'contract' || resource === 'supplier' || resource === 'customer';

/** Access to what is stored, without HTTP. */
function storeAccess(world: World) {
  const toReadForm = (resource: WritableName, record: Parameters<World['show']>[1]) =>
    toPlain(parseJson(world.show(resource, record))) as Record<string, unknown>;
  const bodyOf = (body: object | string) => {
    const members = asObject(typeof body === 'string' ? parseJson(body) : toJson(body));
    if (!members) throw new TypeError('A body must be an object, or the JSON text of one.');
    return members;
  };
  return {
    records(resource: ReadName | 'customer', company?: number) {
      if (isWritable(resource)) {
        const all = [...world.table(resource).all()].filter((one) => company === undefined || one.company === company);
        return all.sort((a, b) => a.id - b.id).map((record) => toReadForm(resource, record));
      }
      const companies = company === undefined ? world.lookups.list('company', 0).map((one) => one.id) : [company];
      const items = new Set<object>(companies.flatMap((id): readonly object[] => world.lookups.list(resource, id)));
      return [...items].map((item) => structuredClone(item) as Record<string, unknown>);
    },
    record(resource: WritableName, id: number) {
      const record = world.table(resource).get(id);
      return record && toReadForm(resource, record);
    },
    raw: (resource: WritableName) => [...world.table(resource).all()].map((record) => rawValues(record)),
    insert: (resource: WritableName, bodies: readonly (object | string)[]) =>
      bodies.map((body) => insertRecord(world, resource, bodyOf(body)).id),
    edit(resource: WritableName, id: number, changes: object) {
      const current = world.table(resource).get(id);
      if (!current) throw new Error(`The sandbox has no ${resource} with the id ${id}.`);
      const { company } = current;
      const body = bodyOf(changes);
      const written = write(world, { resource, operation: 'patch', company, body, current, inserted: true });
      if (!written.ok) throw new Error(`This change is not valid: ${JSON.stringify([...written.faults])}`);
    },
    remove: (resource: WritableName, id: number) => world.remove(resource, id),
    putLookup<N extends LookupName>(name: N, company: number | null, item: LookupItems[N]) {
      world.lookups.put(name, company, item);
    },
  };
}
