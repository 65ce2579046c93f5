import { createHash } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { OpenAPIHono, RouteConfig, z } from '@hono/zod-openapi';
import type { Context, Hono, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import type { Logger } from 'pino';
import { RunError } from '../model/error.js';
import { isStoreUnavailable } from '../worker/store/faults.js';
import { problem as problemShape, ROLES, type Role } from './schema.js';

/** Who asks. Each door finds it out before the API is asked: the socket by the rights of its file, HTTP by the sign-in. */
export interface Caller {
  readonly name: string;
  readonly role: Role;
  readonly via: 'user' | 'link' | 'key' | 'socket';
}

/** What comes with a request: who asks, whether they still may while an answer goes on, and the request of the HTTP server. */
export type Env = {
  Bindings: { readonly who: Caller; isStillIn?(): Promise<boolean>; readonly incoming?: IncomingMessage };
};
export type Api = Hono<Env>;

export const API_PATH = '/api/v1';

type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 421 | 422 | 429 | 500 | 503;

/** Answers with a problem document (RFC 9457). */
export function problem(
  c: Context,
  status: ProblemStatus,
  detail: string,
  errors: readonly string[] = [],
  headers: Readonly<Record<string, string>> = {},
): Response {
  const code = status < 500 ? 'usage' : 'failed';
  const title = STATUS_CODES[status] ?? '';
  const body = { type: 'about:blank', title, status, code, detail, ...(errors.length > 0 && { errors }) };
  return c.json(body, status, { 'content-type': 'application/problem+json', ...headers });
}

/** Ends a request with a problem document. */
export class Fault extends HTTPException {
  constructor(
    override readonly status: ProblemStatus,
    detail: string,
    readonly errors: readonly string[] = [],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(status, { message: detail });
  }
}

/** The faults of a value, a line each. */
export const faultsIn = ({ issues }: z.ZodError): string[] =>
  issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim());

const NO_JSON = 'The body is no JSON. Send an object, with Content-Type: application/json.';

/** What is thrown on the way, as a problem document. */
export const answerFault =
  (log: Pick<Logger, 'error'>) =>
  (error: Error, c: Context): Response => {
    if (error instanceof Fault) return problem(c, error.status, error.message, error.errors, error.headers);
    // Of a library: what was sent is no JSON, or not sent as such.
    if (error instanceof HTTPException) return problem(c, 400, NO_JSON);
    if (isStoreUnavailable(error))
      return problem(c, 503, error instanceof Error ? error.message : 'The queue is away.');
    if (error instanceof RunError) return problem(c, error.kind === 'usage' ? 422 : 500, error.message, error.details);
    log.error({ err: error, path: c.req.path }, 'api.failed');
    return problem(c, 500, 'This could not be answered; the log of the worker says why.');
  };

/** Of the text of a job file. */
export const etagOf = (text: string): string => `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"`;

export const hasRole = (who: Pick<Caller, 'role'>, role: Role): boolean =>
  ROLES.indexOf(who.role) >= ROLES.indexOf(role);

/** Bytes of a body that are read to their end although nobody asks for them any more. */
const DRAIN_LIMIT = 1024 * 1024;

/** Where a large body was answered before it was read to its end, its connection cannot be used for anything else: said so. */
export const closeUnread: MiddlewareHandler = async (c, next) => {
  await next();
  const { incoming } = (c.env ?? {}) as { readonly incoming?: IncomingMessage };
  if (!incoming || incoming.complete) return;
  const { 'content-length': length = 0, 'transfer-encoding': chunked } = incoming.headers;
  if (chunked !== undefined || Number(length) > DRAIN_LIMIT) c.header('connection', 'close');
};

/** What an operation takes and answers, and who may ask for it. */
interface OperationSpec<P extends z.ZodType, Q extends z.ZodType, H extends z.ZodType, B extends z.ZodType, A> {
  readonly summary: string;
  readonly description?: string;
  /** Who may ask for it, and all that may do more. Default: viewers. */
  readonly role?: Role;
  readonly params?: P;
  readonly query?: Q;
  readonly headers?: H;
  /** JSON, which has to be there. */
  readonly body?: B;
  /** JSON, which may be left out. */
  readonly optionalBody?: B;
  /** A body that the operation reads itself. */
  readonly rawBody?: { readonly [mediaType: string]: { readonly schema: object } };
  /** A longer body is refused with these words. */
  readonly atMost?: readonly [bytes: number, detail: string];
  /** The JSON that is answered where all is well; nothing (204) where it is absent. */
  readonly answer?: A;
  /** Of that answer. Default: 200. */
  readonly status?: 200 | 201 | 202;
  /** What else may be answered, or in place of JSON. */
  readonly responses?: RouteConfig['responses'];
}

/** What was asked, as the schemas of the operation read it. */
interface OperationInput<P, Q, H, B> {
  readonly who: Caller;
  readonly params: P;
  readonly query: Q;
  readonly headers: H;
  readonly body: B;
}

/** The same for whoever only tells it. */
export type DeepReadonly<T> = T extends object ? { readonly [key in keyof T]: DeepReadonly<T[key]> } : T;

/** An operation that is ready to be asked. */
export interface Operation {
  register(app: OpenAPIHono<Env>): void;
}

type None = z.ZodUndefined;

/**
 * An operation of the API: how it is described, and what answers it, with the JSON of its answer or a response of its own. One that
 * is answered elsewhere is only described.
 */
export function operation<
  P extends z.ZodType = None,
  Q extends z.ZodType = None,
  H extends z.ZodType = None,
  B extends z.ZodType = None,
  A extends z.ZodType = None,
>(
  address: `${'GET' | 'POST' | 'PUT' | 'DELETE'} ${string}`,
  spec: OperationSpec<P, Q, H, B, A>,
  answerTo?: (
    input: OperationInput<z.output<P>, z.output<Q>, z.output<H>, z.output<B>>,
    c: Context<Env>,
  ) => DeepReadonly<z.output<A>> | Response | Promise<DeepReadonly<z.output<A>> | Response>,
): Operation {
  const [method = '', path = ''] = address.split(' ');
  const { summary, description, role, params, query, headers, atMost, answer } = spec;
  const { status = answer || spec.responses ? 200 : 204 } = spec;
  const schema = spec.body ?? spec.optionalBody;
  const content = spec.rawBody ?? (schema && { 'application/json': { schema } });
  const reads = { ...(params && { params }), ...(query && { query }), ...(headers && { headers }) };
  const body = content && { body: { content, required: spec.optionalBody === undefined } };
  const route = {
    ...{ method: method.toLowerCase(), path, summary },
    ...(description !== undefined && { description }),
    request: { ...reads, ...body },
    responses: {
      ...(spec.responses?.[status] === undefined && { [status]: response(status, 'application/json', answer) }),
      ...spec.responses,
      default: response('default', 'application/problem+json', problemShape),
    },
  } as unknown as RouteConfig;
  const middleware = [...(role ? [requireRole(role)] : []), ...(atMost ? [limit(...atMost)] : [])];
  const handler = async (c: Context<Env>): Promise<Response> => {
    // Undefined where the operation has no such schema.
    const read = (part: string) => c.req.valid(part as never) as never;
    const input = { who: c.env.who, params: read('param'), query: read('query'), headers: read('header') };
    const result = await answerTo?.({ ...input, body: read('json') }, c);
    const answer = result instanceof Response ? result : c.json(result as object, status as 200);
    // Nobody reads it: whatever it holds open is let go.
    if (c.req.method === 'HEAD') await answer.body?.cancel();
    return answer;
  };
  return {
    register(app) {
      app.openAPIRegistry.registerPath(route);
      const request = (spec.rawBody ? reads : route.request) as object;
      if (answerTo) app.openapi({ ...route, request, hide: true, middleware }, handler as never);
    },
  };
}

/** What an operation answers with a status, for its description. */
export const response = (status: number | 'default', mediaType = '', schema?: z.ZodType) => ({
  description: status === 'default' ? 'A problem document.' : (STATUS_CODES[status] ?? ''),
  ...(schema && { content: { [mediaType]: { schema } } }),
});

/** Lets those through who have this role, or one that may do more. */
function requireRole(role: Role): MiddlewareHandler<Env> {
  return async (c, next) => {
    const who = c.env.who;
    if (hasRole(who, role)) return next();
    throw new Fault(403, `This needs the role ${role}; ${who.name} is signed in as ${who.role}.`);
  };
}

const limit = (maxSize: number, detail: string): MiddlewareHandler =>
  bodyLimit({
    maxSize,
    onError: () => {
      throw new Fault(413, detail);
    },
  });
