import type { WritableName } from './kinds.js';
import { type ReadName, read, type SortCache } from './read.js';
import { json, oneFault, refuse, refuseFields, type ServiceResponse } from './render.js';
import type { Switches } from './switches.js';
import { readJson } from './values.js';
import type { World } from './world.js';
import { write } from './write.js';

/** A write that took effect. */
export interface Commit {
  /** Counts from 1 in the order in which writes took effect. */
  readonly sequence: number;
  /** Milliseconds. */
  readonly at: number;
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly resource: WritableName;
  readonly id: number;
  /** `x-request-id` as sent, else a number given by the sandbox. */
  readonly requestId: string;
  /** The body as it was sent: JSON text. Left out where bodies are not kept. */
  readonly body?: string;
}

/** What was asked of the sandbox so far. Kinds look like `GET /asset/{id}/` and `GET /asset/?serial_number`. */
export interface RequestCounters {
  total: number;
  reads: number;
  writes: number;
  inFlight: number;
  mostInFlight: number;
  readonly kinds: Record<string, number>;
  /** Answers sent, by status; requests that a fault left without one are under `none`. */
  readonly statuses: Record<string, number>;
}

export const newCounters = (): RequestCounters => ({
  total: 0,
  reads: 0,
  writes: 0,
  inFlight: 0,
  mostInFlight: 0,
  kinds: {},
  statuses: {},
});

export function increment(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** A request with its body read to the end. */
export interface ServiceRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** `http://host`, as the client called it. */
  readonly origin: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** `too_large`: beyond the limit, not read. */
  readonly body: Buffer | 'too_large';
  readonly requestId: string;
}

interface ServiceSettings {
  readonly world: World;
  readonly tokens: () => ReadonlySet<string>;
  readonly keepBodies: boolean;
  /** Told of every write that takes effect, before it is answered. */
  readonly recordCommit: (commit: Omit<Commit, 'sequence'>) => void;
}

export type Execute = (request: ServiceRequest, dropField?: string) => ServiceResponse;

/** The service itself: one request in, one answer out, at once. */
export function createService({ world, tokens, keepBodies, recordCommit }: ServiceSettings): Execute {
  const cache: SortCache = new Map();
  const format = () => world.switches.errorFormat;
  const tooLarge = () => refuse(413, 'Request body is too large.', format());

  const execute: Execute = (request, dropField) => {
    if (!authorized(request, tokens())) {
      return refuse(401, 'Authentication credentials were not provided or are not valid.', format(), {
        'www-authenticate': 'Bearer realm="api"',
      });
    }
    const route = routeOf(request.method, request.path, world.switches);
    switch (route.kind) {
      case 'unknown':
        return refuse(404, 'Not found.', format());
      case 'wrong_method':
        return refuse(405, `Method "${request.method}" not allowed.`, format(), { allow: route.allowed.join(', ') });
      case 'redirect': {
        const query = request.query.size > 0 ? `?${request.query}` : '';
        return { status: 301, headers: { location: `${request.origin}${route.path}${query}` }, body: '' };
      }
      case 'read': {
        const { body } = request;
        if (body === 'too_large') return tooLarge();
        const address = `${request.origin}${request.path}`;
        return read(world, { resource: route.resource, id: route.id, query: request.query, address, body }, cache);
      }
      default:
        return handleWrite(request, route, dropField);
    }
  };

  type WriteRoute = Extract<Route, { kind: 'create' | 'update' | 'patch' }>;

  const handleWrite = (request: ServiceRequest, route: WriteRoute, dropField: string | undefined): ServiceResponse => {
    if (request.body === 'too_large') return tooLarge();
    const type = String(request.headers['content-type'] ?? '');
    if (!/^application\/json\b/i.test(type)) {
      return refuse(415, `Unsupported media type "${type}" in request.`, format());
    }
    const parsed = readJson(request.body);
    if (typeof parsed === 'string') return refuse(400, parsed, format());
    const body = parsed.value;
    if (!(body instanceof Map)) return refuse(400, 'Invalid data. Expected a dictionary.', format());
    if (dropField !== undefined) body.delete(dropField);
    const company = body.get('company') ?? null;
    if (company === null) return refuseFields(oneFault('company', 'This field is required.'), format());
    if (typeof company !== 'number') return refuseFields(oneFault('company', 'A valid integer is required.'), format());
    if (!world.lookups.get('company', company, 0)) {
      return refuseFields(oneFault('company', `Invalid pk "${company}" - object does not exist.`), format());
    }
    const current = route.kind === 'create' ? undefined : world.table(route.resource).get(route.id);
    if (route.kind !== 'create' && current?.company !== company) return refuse(404, 'Not found.', format());
    const unique = route.kind === 'create' && route.resource === 'asset' ? request.query.get('unique_field') : null;
    if (unique !== null && unique !== 'name' && unique !== 'serial_number') {
      const message = `"${unique}" is not a valid choice. Choose one of: name, serial_number.`;
      return refuseFields(oneFault('unique_field', message), format());
    }
    const written = write(world, {
      resource: route.resource,
      operation: route.kind,
      company,
      body,
      current,
      uniqueField: unique ?? undefined,
    });
    if (!written.ok) return refuseFields(written.faults, format());
    recordCommit({
      at: world.now(),
      method: request.method as Commit['method'],
      resource: route.resource,
      id: written.record.id,
      requestId: request.requestId,
      ...(keepBodies ? { body: request.body.toString('utf8') } : {}),
    });
    // Creating a customer is the one write whose answer is documented (section 4.1).
    const { responses, writeStatus } = world.switches;
    const answersRecord = responses === 'full' || (route.resource === 'customer' && route.kind === 'create');
    let status = writeStatus === 'default' ? (written.created ? 201 : 200) : writeStatus;
    if (status === 204 && route.resource === 'customer' && route.kind === 'create') status = 201;
    return json(status, answersRecord && status !== 204 ? world.show(route.resource, written.record) : '');
  };

  return execute;
}

function authorized({ headers }: ServiceRequest, tokens: ReadonlySet<string>): boolean {
  const given = headers['authorization'];
  return typeof given === 'string' && given.startsWith('Bearer ') && tokens.has(given.slice(7));
}

/** Paths and methods of the interface: table in section 4.1. */

export const PREFIX = '/api/v2';

const READABLE: ReadonlySet<string> = new Set<ReadName>([
  'contract',
  'supplier',
  'custom-form-template',
  'custom-field-template',
  'asset',
  'user',
  'license',
  'asset-owner',
  'category',
  'usage-status',
  'company',
]);
const WRITABLE: ReadonlySet<string> = new Set<WritableName>(['contract', 'supplier', 'customer', 'asset']);
/** Licenses can be listed, not read one by one. */
const LIST_ONLY: ReadonlySet<string> = new Set<ReadName>(['license']);
/** Written without a slash at the end in section 4.1, also for reads. */
const READ_WITHOUT_SLASH: ReadonlySet<string> = new Set<ReadName>(['user', 'company']);
/** Written both ways: `/custom-form-template[/{id}/]`. */
const LIST_EITHER_WAY: ReadonlySet<string> = new Set<ReadName>(['custom-form-template', 'custom-field-template']);

type Route =
  | { readonly kind: 'read'; readonly resource: ReadName; readonly id: number | undefined }
  | { readonly kind: 'create'; readonly resource: WritableName }
  | { readonly kind: 'update' | 'patch'; readonly resource: WritableName; readonly id: number }
  | { readonly kind: 'redirect'; readonly path: string }
  | { readonly kind: 'wrong_method'; readonly allowed: readonly string[] }
  | { readonly kind: 'unknown' };

const SHAPE = /^\/api\/v2\/([a-z-]+)(?:\/(\d{1,15}))?(\/?)$/;

/** Finds what a request asks for. `path` is without the query. */
function routeOf(method: string, path: string, switches: Readonly<Switches>): Route {
  const [, name, digits, slash] = SHAPE.exec(path) ?? [];
  if (name === undefined) return { kind: 'unknown' };
  const id = digits === undefined ? undefined : Number(digits);
  const allowed = allowedMethods(name, id, switches);
  if (allowed.length === 0) return { kind: 'unknown' };
  if (!allowed.includes(method)) return { kind: 'wrong_method', allowed };
  if (switches.slashes !== 'both' && !isDocumentedForm(method, name, id, slash === '/')) {
    if (switches.slashes === 'not_found') return { kind: 'unknown' };
    return { kind: 'redirect', path: slash === '/' ? path.slice(0, -1) : `${path}/` };
  }
  if (method === 'GET') return { kind: 'read', resource: name as ReadName, id };
  if (id === undefined) return { kind: 'create', resource: name as WritableName };
  return { kind: method === 'PUT' ? 'update' : 'patch', resource: name as WritableName, id };
}

function allowedMethods(name: string, id: number | undefined, switches: Readonly<Switches>): string[] {
  const allowed: string[] = [];
  if (READABLE.has(name) && (id === undefined || !LIST_ONLY.has(name))) allowed.push('GET');
  if (WRITABLE.has(name)) {
    if (id === undefined) allowed.push('POST');
    else allowed.push('PUT', ...(switches.patch === 'on' ? ['PATCH'] : []));
  }
  return allowed;
}

function isDocumentedForm(method: string, name: string, id: number | undefined, slash: boolean): boolean {
  if (method !== 'GET' || READ_WITHOUT_SLASH.has(name)) return !slash;
  return slash || (id === undefined && LIST_EITHER_WAY.has(name));
}

/** How a request is counted: `GET /asset/{id}/`, `GET /asset/?serial_number`, `POST /asset`. */
export function requestKind(method: string, path: string, query: URLSearchParams): string {
  const short = path.startsWith(`${PREFIX}/`) ? path.slice(PREFIX.length) : path;
  const pattern = short.replace(/\/\d+(?=\/|$)/, '/{id}');
  if (method !== 'GET') return `${method} ${pattern.replace(/\/$/, '')}`;
  const named = pattern.endsWith('/') ? pattern : `${pattern}/`;
  const filters = [...query.keys()].filter((key) => key !== 'company' && key !== 'page').sort();
  const probe = query.get('serial_number') === 'list' ? '?serial_number=list' : undefined;
  return `GET ${named}${probe ?? (filters.length > 0 ? `?${filters.join('&')}` : '')}`;
}
