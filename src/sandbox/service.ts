import { isUtf8 } from 'node:buffer';
import { type Answer, json, oneFault, refuse, refuseFields } from './answer.js';
import type { Commit } from './commits.js';
import type { SortMemory } from './filters.js';
import { type Json, JsonSyntaxError, parseJson } from './json.js';
import { read } from './read.js';
import { type Route, routeOf } from './route.js';
import type { World } from './world.js';
import { write } from './write.js';

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

export interface ServiceSettings {
  readonly world: World;
  readonly tokens: () => ReadonlySet<string>;
  readonly keepBodies: boolean;
  /** Told of every write that takes effect, before it is answered. */
  readonly committed: (commit: Omit<Commit, 'sequence'>) => void;
}

export type Execute = (request: ServiceRequest, dropField?: string) => Answer;

/** The service itself: one request in, one answer out, at once. */
export function createService({ world, tokens, keepBodies, committed }: ServiceSettings): Execute {
  const memory: SortMemory = new Map();
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
        return read(world, { resource: route.resource, id: route.id, query: request.query, address, body }, memory);
      }
      default:
        return writeAnswer(request, route, dropField);
    }
  };

  type WriteRoute = Extract<Route, { kind: 'create' | 'update' | 'patch' }>;

  const writeAnswer = (request: ServiceRequest, route: WriteRoute, dropField: string | undefined): Answer => {
    if (request.body === 'too_large') return tooLarge();
    const type = String(request.headers['content-type'] ?? '');
    if (!/^application\/json\b/i.test(type)) {
      return refuse(415, `Unsupported media type "${type}" in request.`, format());
    }
    const parsed = parseBody(request.body);
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
    committed({
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

/** The JSON of a body, or what is wrong with it. */
function parseBody(body: Buffer): { readonly value: Json } | string {
  if (!isUtf8(body)) return 'JSON parse error - the body is not UTF-8';
  try {
    return { value: parseJson(body.toString('utf8')) };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return `JSON parse error - ${error.message}`;
    throw error;
  }
}
