import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { FaultAction } from './fault.js';
import { refuse, type ServiceResponse } from './render.js';
import { type Execute, increment, PREFIX, type RequestCounters, requestKind, type ServiceRequest } from './service.js';
import type { World } from './world.js';

/** What a watcher of requests is told, before anything happens to the request. */
export interface ReceivedRequest {
  readonly method: string;
  /** After `/api/v2`, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly requestId: string;
}

interface ServerSettings {
  readonly world: World;
  readonly execute: Execute;
  readonly faultOf: (method: string, path: string) => FaultAction | undefined;
  readonly rate: RateLimit;
  readonly latency: () => number;
  readonly counters: () => RequestCounters;
  readonly maxBodyBytes: number;
  readonly onRequest: ((request: ReceivedRequest) => void | Promise<void>) | undefined;
  readonly onAnswer: ((request: ReceivedRequest, status: number | undefined) => void) | undefined;
}

/** The HTTP side: reads bodies, keeps count, applies the fault plan, the hidden limit and the latency. */
export function createHttpServer(settings: ServerSettings): { server: Server; stop(): void } {
  const { world, execute, rate } = settings;
  const timers = new Set<NodeJS.Timeout>();
  let requests = 0;

  const later = (ms: number, run: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
  };

  const server = createServer((request, response) => {
    const { method = 'GET', url = '/' } = request;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
    const clientId = request.headers['x-request-id'];
    const requestId = typeof clientId === 'string' ? clientId : `r${++requests}`;
    const counters = settings.counters();
    counters.total++;
    if (method === 'GET') counters.reads++;
    else counters.writes++;
    increment(counters.kinds, requestKind(method, path, query));
    counters.inFlight++;
    counters.mostInFlight = Math.max(counters.mostInFlight, counters.inFlight);
    const short = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path;
    const received: ReceivedRequest = { method, path: short, query, requestId };
    response.on('close', () => {
      counters.inFlight--;
      const status = response.headersSent ? response.statusCode : undefined;
      increment(counters.statuses, String(status ?? 'none'));
      settings.onAnswer?.(received, status);
    });
    const action = settings.faultOf(method, mark < 0 ? short : short + url.slice(mark));
    const ready = (body: Buffer | 'too_large'): void => {
      const origin = `http://${request.headers.host ?? 'localhost'}`;
      const serviceRequest: ServiceRequest = { method, path, query, origin, headers: request.headers, body, requestId };
      const watched = settings.onRequest?.(received);
      if (watched)
        watched.then(
          () => handle(serviceRequest, action, request, response),
          () => reset(request),
        );
      else handle(serviceRequest, action, request, response);
    };
    readBody(request, settings.maxBodyBytes, ready);
  });

  const handle = (
    serviceRequest: ServiceRequest,
    action: FaultAction | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): void => {
    const wait = settings.latency() + (action?.kind === 'delay' ? action.ms : 0);
    const go = (): void => {
      if (action && action.kind !== 'delay') applyFault(serviceRequest, action, request, response);
      else send(response, rateLimited() ?? execute(serviceRequest));
    };
    if (wait > 0) later(wait, go);
    else go();
  };

  const rateLimited = (): ServiceResponse | undefined => {
    const wait = rate.take();
    if (wait === 0) return undefined;
    const seconds = Math.ceil(wait / 1000);
    const { retryAfter, errorFormat } = world.switches;
    const headers: Record<string, string> = {};
    if (retryAfter === 'seconds') headers['retry-after'] = String(seconds);
    if (retryAfter === 'date') headers['retry-after'] = new Date(Date.now() + seconds * 1000).toUTCString();
    return refuse(429, 'Request was throttled.', errorFormat, headers);
  };

  const applyFault = (
    serviceRequest: ServiceRequest,
    action: Exclude<FaultAction, { kind: 'delay' }>,
    request: IncomingMessage,
    response: ServerResponse,
  ): void => {
    switch (action.kind) {
      case 'close_before':
        reset(request);
        break;
      case 'close_after':
        execute(serviceRequest);
        reset(request);
        break;
      case 'timeout_before':
        break;
      case 'timeout_after':
        execute(serviceRequest);
        break;
      case 'late_commit':
        later(action.ms, () => execute(serviceRequest));
        break;
      case 'reset_after_status':
        resetAfterStatus(request, response, execute(serviceRequest));
        break;
      case 'drip':
        drip(response, execute(serviceRequest), action.ms);
        break;
      case 'huge':
        huge(response, action.megabytes);
        break;
      case 'status':
        if (action.execute) execute(serviceRequest);
        send(response, cannedResponse(action, Date.now()));
        break;
      case 'html_login':
      case 'redirect':
        send(response, cannedResponse(action, Date.now()));
        break;
      case 'drop_field':
        send(response, execute(serviceRequest, action.field));
        break;
      default: {
        const own = `${serviceRequest.origin}${serviceRequest.path}?${serviceRequest.query}`;
        send(response, corruptResponse(execute(serviceRequest), action, own));
        break;
      }
    }
  };

  server.keepAliveTimeout = 60_000;
  server.requestTimeout = 0;
  return {
    server,
    stop() {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
    },
  };
}

/** Calls back once, with the whole body, or with `too_large` and the rest of it thrown away. */
function readBody(request: IncomingMessage, max: number, ready: (body: Buffer | 'too_large') => void): void {
  const { headers } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    ready(Buffer.alloc(0));
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= max) chunks.push(chunk);
    else chunks.length = 0;
  });
  request.on('end', () => {
    if (size > max) ready('too_large');
    else ready(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  });
}

/** How an answer goes over the wire, whole or in the ways a fault makes it go. */

function send(response: ServerResponse, { status, headers, body }: ServiceResponse): void {
  if (response.destroyed) return;
  const bytes = Buffer.byteLength(body);
  response.writeHead(status, status === 204 ? headers : { ...headers, 'content-length': bytes });
  response.end(body);
}

/** A reset, so that the client sees ECONNRESET rather than an orderly end. */
function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

/** The status line and headers go out, and a beginning of the body; then the connection is reset. */
function resetAfterStatus(request: IncomingMessage, response: ServerResponse, answer: ServiceResponse): void {
  const body = answer.body || '{}';
  response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(body) });
  // A reset overtakes what the client has not read yet: leave it the time of a breath.
  response.write(body.slice(0, 1), () => setTimeout(() => reset(request), 25).unref());
}

/** One byte every `ms`; stops when the client has gone. */
function drip(response: ServerResponse, answer: ServiceResponse, ms: number): void {
  const bytes = Buffer.from(answer.body || '{}');
  response.writeHead(answer.status, { ...answer.headers, 'content-length': bytes.length });
  let sent = 0;
  const timer = setInterval(() => {
    if (response.destroyed) return clearInterval(timer);
    response.write(bytes.subarray(sent, ++sent));
    if (sent < bytes.length) return;
    clearInterval(timer);
    response.end();
  }, ms);
  response.on('close', () => clearInterval(timer));
}

/** A list whose only result is a text of so many megabytes; made as fast as the client reads. */
function huge(response: ServerResponse, megabytes: number): void {
  const chunk = Buffer.alloc(65_536, 'x');
  let remaining = Math.ceil(megabytes * 16);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"count":1,"next":null,"previous":null,"results":["');
  const pump = (): void => {
    while (remaining > 0) {
      if (response.destroyed) return;
      remaining--;
      if (!response.write(chunk)) {
        response.once('drain', pump);
        return;
      }
    }
    response.end('"]}');
  };
  pump();
}

const LOGIN_PAGE = `<!doctype html><html><head><title>Sign in</title></head>
<body><h1>Sign in to continue</h1><form method="post"><input name="user"><input name="password" type="password"></form></body></html>`;

/** The answer of a fault that does not look at the request. */
function cannedResponse(
  action: Extract<FaultAction, { kind: 'status' | 'html_login' | 'redirect' }>,
  now: number,
): ServiceResponse {
  if (action.kind === 'html_login') {
    return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: LOGIN_PAGE };
  }
  if (action.kind === 'redirect') {
    return { status: action.status, headers: { location: action.location }, body: '' };
  }
  const { status, retryAfter, retryAfterDate } = action;
  const body = action.body ?? `{"detail":"Fault plan: status ${status}."}`;
  const headers: Record<string, string> = { 'content-type': action.contentType ?? typeOf(body) };
  if (retryAfterDate !== undefined) headers['retry-after'] = new Date(now + retryAfterDate * 1000).toUTCString();
  else if (retryAfter !== undefined) headers['retry-after'] = String(retryAfter);
  return { status, headers, body: status === 204 ? '' : body };
}

function typeOf(body: string): string {
  if (/^\s*[{[]/.test(body)) return 'application/json';
  return /^\s*</.test(body) ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8';
}

/** An answer as a fault spoils it; answers that the fault does not concern stay as they are. */
function corruptResponse(answer: ServiceResponse, action: FaultAction, ownAddress: string): ServiceResponse {
  switch (action.kind) {
    case 'truncated_json':
      return { ...answer, body: answer.body.length > 1 ? answer.body.slice(0, answer.body.length >> 1) : '{"id": 1' };
    case 'malformed_json':
      return {
        ...answer,
        headers: { ...answer.headers, 'content-type': 'application/json' },
        body: `{"id": 1,, ${answer.body.slice(1)}`,
      };
    case 'wrong_count':
      return {
        ...answer,
        body: answer.body.replace(/^\{"count":(\d+)/, (_all, count: string) => {
          return `{"count":${Math.max(0, Number(count) + action.by)}`;
        }),
      };
    case 'next': {
      const address = JSON.stringify(action.address === 'loop' ? ownAddress : action.address);
      return {
        ...answer,
        body: answer.body.replace(/^(\{"count":\d+,"next":)(?:null|"[^"]*")/, (_all, head: string) => head + address),
      };
    }
    default:
      return answer;
  }
}

export type RateLimit = ReturnType<typeof createRateLimit>;

/** A bucket of tokens: so many requests a second (undefined: no limit), and a tenth of a second's worth at once. */
export function createRateLimit(initial: number | undefined, now: () => number) {
  let rate = initial;
  let tokens = 0;
  let filledAt = 0;
  const capacity = () => Math.max(1, (rate ?? 0) / 10);
  const set = (perSecond: number | undefined): void => {
    rate = perSecond;
    tokens = capacity();
    filledAt = now();
  };
  set(initial);
  return {
    set,
    /** Takes a token; the milliseconds until the next one where there is none. */
    take(): number {
      if (rate === undefined) return 0;
      const moment = now();
      tokens = Math.min(capacity(), tokens + ((moment - filledAt) / 1000) * rate);
      filledAt = moment;
      if (tokens < 1) return Math.ceil(((1 - tokens) / rate) * 1000);
      tokens--;
      return 0;
    },
  };
}
