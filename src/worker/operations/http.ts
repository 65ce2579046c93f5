import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { type GatewayOptions, openGateway } from '../../api/access/gateway.js';
import { API_PATH } from '../../api/operation.js';
import { systemCodes, usageError } from '../../model/error.js';
import type { Settings } from '../../runs/settings.js';
import { isLoopback } from '../../runs/settings-address.js';
import { withTimeout } from '../rights.js';
import type { Metrics } from './metrics.js';

export interface Health {
  readonly ok: boolean;
  /** One short line a part, for people: anybody who reaches the port reads them. */
  readonly details: Readonly<Record<string, string>>;
}

export interface OperationsOptions {
  readonly http: NonNullable<Settings['http']>;
  /** Whether queue and drop folder can be used now. May take its time: the answer to `/readyz` is bounded. */
  ready(): Promise<Health>;
  /** Whether this worker works. */
  live(): Health;
  readonly metrics: Metrics;
  /** Who may come in to the console and the API. */
  readonly gateway: Omit<GatewayOptions, 'host' | 'known'>;
  readonly notice: (level: 'info' | 'warn', text: string) => void;
}

/**
 * Health, readiness, metrics, the API and the console over HTTP. Throws `RunError` (usage) for a stated port that is taken.
 */
export async function openOperations(options: OperationsOptions) {
  const { http, metrics, notice } = options;
  const connections = openConnections();
  const gateway = openGateway({ ...options.gateway, host: http.host, known: connections.promote });
  const app = new Hono();
  app.use(headers, readOnly);
  if (isLoopback(http.host)) app.use(gateway.ownHost);
  app.get('/healthz', (c) => answer(c, options.live()));
  app.get('/readyz', async (c) => answer(c, await readiness(options.ready)));
  app.get('/metrics', async (c) => c.body(await metrics.text(), 200, { 'content-type': metrics.contentType }));
  app.route('/', gateway.app);
  // What went wrong may tell of the inside; the log of the worker says it.
  app.onError((error, c) => {
    notice('warn', `${c.req.path} could not be answered: ${error.message}`);
    return c.text('This could not be answered; the log of the worker says why.\n', 500);
  });
  const server = await listen(app, http, connections);
  if (!http.stated && server.port !== http.port) {
    notice('info', `Port ${http.port} is taken; console, health and metrics are at ${server.url}.`);
  }
  return {
    /** Where it is answered, e.g. `http://127.0.0.1:8720`. */
    url: server.url,
    /** Whether people may come to the pages of the console: on loopback, and beyond it where there are users. */
    arePagesOpen: gateway.arePagesOpen,
    /** From now on the API is answered. */
    serve: gateway.serve,
    /** Ends within 2 s, whoever is connected. */
    close: server.close,
  };
}

const answer = (c: Context, health: Health) => c.json(health, health.ok ? 200 : 503);

/** Within what the usual probes wait. */
const PATIENCE_MS = 3000;

/** The worker can be used: bounded in time, whatever `ready` waits for, and never a rejection. */
async function readiness(ready: () => Promise<Health>): Promise<Health> {
  const failed = (check: string): Health => ({ ok: false, details: { check } });
  const answer = ready().catch((error: unknown) => failed(error instanceof Error ? error.message : 'failed'));
  return (await withTimeout(PATIENCE_MS, answer)) ?? failed(`no answer within ${PATIENCE_MS} ms`);
}

/** Connections that do not end by themselves are cut after so long. */
const CLOSE_MS = 1000;
/** Beyond so many the oldest connection of a stranger is cut: those that never finish their question must not keep out the others. */
const MOST_ANONYMOUS = 100;
/** Of those who have signed in: event streams stay open. */
const MOST_SIGNED_IN = 1_000;
/** A connection on which nothing moves for so long is closed; event streams send something more often. */
const IDLE_MS = 60_000;

function openConnections() {
  const anonymous = new Set<Socket>();
  const signedIn = new Set<Socket>();
  const limitSize = (sockets: Set<Socket>, most: number): void => {
    const [oldest] = sockets;
    if (sockets.size > most) oldest?.destroy();
  };
  return {
    add(socket: Socket): void {
      anonymous.add(socket);
      socket.once('close', () => {
        anonymous.delete(socket);
        signedIn.delete(socket);
      });
      limitSize(anonymous, MOST_ANONYMOUS);
    },
    /** Somebody who has signed in asks through it. */
    promote(socket: Socket): void {
      if (!anonymous.delete(socket)) return;
      signedIn.add(socket);
      limitSize(signedIn, MOST_SIGNED_IN);
    },
  };
}

/**
 * Serves the pages. A default port that is taken gives way to any free one; a stated one that cannot be had throws
 * `RunError` (usage).
 */
async function listen(app: Hono, at: OperationsOptions['http'], connections: ReturnType<typeof openConnections>) {
  const server = createAdaptorServer({
    fetch: app.fetch,
    hostname: at.host,
    // A large file may take its time, as long as it moves.
    serverOptions: { requestTimeout: 0, headersTimeout: 5000, connectionsCheckingInterval: 1000 },
  }) as Server;
  server.setTimeout(IDLE_MS);
  server.on('connection', connections.add);
  try {
    await bind(server, at.port, at.host);
  } catch (error) {
    if (at.stated) throw usageError(portFault(systemCodes(error)[0] ?? 'unknown', at), [], { cause: error });
    // A second worker on this machine, as a rule.
    await bind(server, 0, at.host);
  }
  // Faults of single connections end these only.
  server.on('error', () => undefined);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${at.host.includes(':') ? `[${at.host}]` : at.host}:${port}`,
    port,
    async close(): Promise<void> {
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
      clearTimeout(timer);
    },
  };
}

async function bind(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

function portFault(code: string, { host, port }: { readonly host: string; readonly port: number }): string {
  const fault = code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be listened on (${code})`;
  return `${host}:${port} ${fault}. Name another one: with --port of \`rowferry console\`, --http of \`rowferry worker\`, or ROWFERRY_HTTP.`;
}

/**
 * Nothing here is a page of somebody else, nothing is kept by a browser, and no other server is asked for anything. What is
 * served with a policy of its own keeps it.
 */
const headers: MiddlewareHandler = async (c, next) => {
  await next();
  const { headers: present } = c.res;
  if (!present.has('cache-control')) c.header('cache-control', 'no-store');
  if (!present.has('content-security-policy')) c.header('content-security-policy', POLICY);
  c.header('cross-origin-opener-policy', 'same-origin');
  c.header('cross-origin-resource-policy', 'same-origin');
  c.header('referrer-policy', 'no-referrer');
  c.header('x-content-type-options', 'nosniff');
  c.header('x-frame-options', 'DENY');
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Outside of the API everything is for reading. */
const readOnly: MiddlewareHandler = async (c, next) => {
  if (c.req.method === 'GET' || c.req.method === 'HEAD' || c.req.path.startsWith(`${API_PATH}/`)) return next();
  return c.text('Only GET and HEAD are answered here.\n', 405, { allow: 'GET, HEAD' });
};
