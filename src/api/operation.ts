import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { createRoute, type OpenAPIHono, type RouteConfig, type z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import type { Logger } from 'pino';
import { RunError } from '../model/error.js';
import { isAway } from '../worker/store/faults.js';
import { problem as problemShape, ROLES, type Role } from './schema.js';

/** Who asks. Each door finds it out before the API is asked: the socket by the rights of its file, HTTP by the sign-in. */
export interface Who {
  readonly name: string;
  readonly role: Role;
  readonly via: 'user' | 'link' | 'key' | 'socket';
}

export type Env = { Variables: { who: Who } };
export type Api = OpenAPIHono<Env>;

export const API_PATH = '/api/v1';

type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 422 | 429 | 500 | 503;

/** Answers with a problem document (RFC 9457). */
export function problem(
  c: Context,
  status: ProblemStatus,
  detail: string,
  errors: readonly string[] = [],
  headers: Readonly<Record<string, string>> = {},
) {
  const code = status < 500 ? 'usage' : 'failed';
  const title = STATUS_CODES[status] ?? '';
  const body = { type: 'about:blank', title, status, code, detail, ...(errors.length > 0 && { errors }) };
  // Routes say what they answer where all is well; this is what they answer otherwise.
  return c.json(body, status, { 'content-type': 'application/problem+json', ...headers }) as never;
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
    if (isAway(error)) return problem(c, 503, error instanceof Error ? error.message : 'The queue is away.');
    if (error instanceof RunError) return problem(c, error.kind === 'usage' ? 422 : 500, error.message, error.details);
    log.error({ err: error, path: c.req.path }, 'api.failed');
    return problem(c, 500, 'This could not be answered; the log of the worker says why.');
  };

/** Lets those through who have this role, or one that may do more. */
export function needs(role: Role): MiddlewareHandler<Env> {
  return async (c, next) => {
    const who = c.get('who');
    if (may(who, role)) return next();
    throw new Fault(403, `This needs the role ${role}; ${who.name} is signed in as ${who.role}.`);
  };
}

export const may = (who: Who, role: Role): boolean => ROLES.indexOf(who.role) >= ROLES.indexOf(role);

/** Refuses a body of more bytes. */
export const atMost = (bytes: number, detail: string): MiddlewareHandler =>
  bodyLimit({
    maxSize: bytes,
    onError: () => {
      throw new Fault(413, detail);
    },
  });

/** Bytes of a body that are read to their end although nobody asks for them any more. */
const READ_ANYWAY = 1024 * 1024;

/** Where a large body was answered before it was read to its end, its connection cannot be used for anything else: said so. */
export const closesUnread: MiddlewareHandler = async (c, next) => {
  await next();
  const { incoming } = (c.env ?? {}) as { readonly incoming?: IncomingMessage };
  if (!incoming || incoming.complete) return;
  const { 'content-length': length = 0, 'transfer-encoding': chunked } = incoming.headers;
  if (chunked !== undefined || Number(length) > READ_ANYWAY) c.header('connection', 'close');
};

export const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });

/** What an operation answers: where not all is well, a problem document. */
export const answers = <S extends number, A extends object>(status: S, content?: A) =>
  ({
    [status]: { description: STATUS_CODES[status] ?? '', ...(content && { content }) },
    default: { description: 'A problem document.', content: { 'application/problem+json': { schema: problemShape } } },
  }) as Record<S, { description: string; content: A }> & {
    default: { description: string; content: { 'application/problem+json': { schema: typeof problemShape } } };
  };

type Asks = Omit<NonNullable<RouteConfig['request']>, 'body'>;

/** For the description: a question, and the shape of its answer. */
export const get = <P extends string, A extends z.ZodType, R extends Asks = object>(
  path: P,
  summary: string,
  answer: A,
  request?: R,
) => createRoute({ method: 'get', path, summary, request: request as R, responses: answers(200, json(answer)) });

/** For the description: something that has a body, and who may send it. */
export const send = <
  M extends 'post' | 'put',
  P extends string,
  B extends z.ZodType,
  S extends 200 | 202,
  A extends z.ZodType,
  R extends Asks = object,
>(
  method: M,
  path: P,
  summary: string,
  {
    body,
    optional = false,
    middleware,
    answer,
    request,
  }: {
    readonly body: B;
    /** The body may be left out. */
    readonly optional?: boolean;
    readonly middleware: MiddlewareHandler<Env>[];
    readonly answer: readonly [status: S, shape: A];
    readonly request?: R;
  },
) =>
  createRoute({
    method,
    path,
    summary,
    middleware,
    request: { ...(request as R), body: { content: json(body), required: !optional } },
    responses: answers(answer[0], json(answer[1])),
  });
