import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Answer, refuse } from './answer.js';
import { count, type RequestCounters } from './commits.js';
import type { FaultAction } from './fault.js';
import type { RateLimit } from './rate.js';
import { kindOf, PREFIX } from './route.js';
import type { Execute, ServiceRequest } from './service.js';
import * as transport from './transport.js';
import type { World } from './world.js';

/** What a watcher of requests is told, before anything happens to the request. */
export interface SeenRequest {
  readonly method: string;
  /** After `/api/v2`, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly requestId: string;
}

export interface ServerSettings {
  readonly world: World;
  readonly execute: Execute;
  readonly faultOf: (method: string, path: string) => FaultAction | undefined;
  readonly rate: RateLimit;
  readonly latency: () => number;
  readonly counters: () => RequestCounters;
  readonly maxBodyBytes: number;
  readonly onRequest: ((request: SeenRequest) => void | Promise<void>) | undefined;
  readonly onAnswer: ((request: SeenRequest, status: number | undefined) => void) | undefined;
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
    const given = request.headers['x-request-id'];
    const requestId = typeof given === 'string' ? given : `r${++requests}`;
    const counters = settings.counters();
    counters.total++;
    if (method === 'GET') counters.reads++;
    else counters.writes++;
    count(counters.kinds, kindOf(method, path, query));
    counters.inFlight++;
    counters.mostInFlight = Math.max(counters.mostInFlight, counters.inFlight);
    const short = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path;
    const seen: SeenRequest = { method, path: short, query, requestId };
    response.on('close', () => {
      counters.inFlight--;
      const status = response.headersSent ? response.statusCode : undefined;
      count(counters.statuses, String(status ?? 'none'));
      settings.onAnswer?.(seen, status);
    });
    const action = settings.faultOf(method, mark < 0 ? short : short + url.slice(mark));
    const ready = (body: Buffer | 'too_large'): void => {
      const origin = `http://${request.headers.host ?? 'localhost'}`;
      const whole: ServiceRequest = { method, path, query, origin, headers: request.headers, body, requestId };
      const watched = settings.onRequest?.(seen);
      if (watched)
        watched.then(
          () => begin(whole, action, request, response),
          () => transport.reset(request),
        );
      else begin(whole, action, request, response);
    };
    readBody(request, settings.maxBodyBytes, ready);
  });

  const begin = (
    whole: ServiceRequest,
    action: FaultAction | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): void => {
    const wait = settings.latency() + (action?.kind === 'delay' ? action.ms : 0);
    const go = (): void => {
      if (action && action.kind !== 'delay') misbehave(whole, action, request, response);
      else transport.send(response, limited() ?? execute(whole));
    };
    if (wait > 0) later(wait, go);
    else go();
  };

  const limited = (): Answer | undefined => {
    const wait = rate.take();
    if (wait === 0) return undefined;
    const seconds = Math.ceil(wait / 1000);
    const { retryAfter, errorFormat } = world.switches;
    const headers: Record<string, string> = {};
    if (retryAfter === 'seconds') headers['retry-after'] = String(seconds);
    if (retryAfter === 'date') headers['retry-after'] = new Date(Date.now() + seconds * 1000).toUTCString();
    return refuse(429, 'Request was throttled.', errorFormat, headers);
  };

  const misbehave = (
    whole: ServiceRequest,
    action: Exclude<FaultAction, { kind: 'delay' }>,
    request: IncomingMessage,
    response: ServerResponse,
  ): void => {
    switch (action.kind) {
      case 'close_before':
        transport.reset(request);
        break;
      case 'close_after':
        execute(whole);
        transport.reset(request);
        break;
      case 'timeout_before':
        break;
      case 'timeout_after':
        execute(whole);
        break;
      case 'late_commit':
        later(action.ms, () => execute(whole));
        break;
      case 'reset_after_status':
        transport.resetAfterStatus(request, response, execute(whole));
        break;
      case 'drip':
        transport.drip(response, execute(whole), action.ms);
        break;
      case 'huge':
        transport.huge(response, action.megabytes);
        break;
      case 'status':
        if (action.execute) execute(whole);
        transport.send(response, transport.fixedAnswer(action, Date.now()));
        break;
      case 'html_login':
      case 'redirect':
        transport.send(response, transport.fixedAnswer(action, Date.now()));
        break;
      case 'drop_field':
        transport.send(response, execute(whole, action.field));
        break;
      default: {
        const own = `${whole.origin}${whole.path}?${whole.query}`;
        transport.send(response, transport.spoil(execute(whole), action, own));
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
