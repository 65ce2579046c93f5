import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { afterEach } from 'vitest';
import type { ResourceName } from '../../src/resources/spec.js';
import type { Json, Service, WriteAnswer } from '../../src/service/port.js';
import { openService, type ServiceOptions } from '../../src/service/service.js';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Milliseconds, monotonic. */
  readonly at: number;
}

type Answer = (response: ServerResponse, seen: Seen, nth: number) => void | Promise<void>;

const open: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A real HTTP server on a private port; `answer` gets each request with its number, from 1. */
export async function serve(answer: Answer): Promise<{ readonly url: string; readonly seen: Seen[] }> {
  const seen: Seen[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://service');
      const one: Seen = {
        method: request.method ?? '',
        path: url.pathname,
        url,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        at: performance.now(),
      };
      seen.push(one);
      void answer(response, one, seen.length);
    });
  });
  const port = await listen(server);
  open.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${port}`, seen };
}

/** A TCP server that says whatever bytes a test wants; `onRequest` is called once per complete request head and body. */
export async function serveBytes(
  onRequest: (socket: Socket, nth: number, head: string) => void,
): Promise<{ readonly url: string; readonly requests: string[] }> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < end + 4 + length) return;
      requests.push(text.slice(0, end + 4 + length));
      text = text.slice(end + 4 + length);
      onRequest(socket, requests.length, requests.at(-1) ?? '');
    });
  });
  const port = await listen(server);
  open.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${port}`, requests };
}

export function listen(server: TcpServer): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** A client with its writing requests in short. */
export interface Client extends Service {
  create(resource: ResourceName, body: Json, query?: Readonly<Record<string, string>>): Promise<WriteAnswer>;
  update(
    resource: ResourceName,
    id: number,
    body: Json,
    method?: 'PUT' | 'PATCH',
    more?: { readonly isFresh?: () => boolean; readonly ahead?: boolean },
  ): Promise<WriteAnswer>;
}

/** A service client that is closed after the test; quick to give up and with the shortest backoff. */
export function client(url: string, more: Partial<ServiceOptions> = {}): Client {
  const service = openService({
    baseUrl: url,
    company: 7,
    token: { kind: 'token', token: 'planted-secret-token' },
    maxInFlight: 16,
    patienceMs: 400,
    timeouts: { connectMs: 2_000, requestMs: 5_000 },
    random: () => 0.01,
    ...more,
  });
  open.push(() => service.close());
  return Object.assign(service, {
    create: (resource: ResourceName, body: Json, query: Readonly<Record<string, string>> = {}) =>
      service.write({ op: 'create', resource, body, query }),
    update: (
      resource: ResourceName,
      id: number,
      body: Json,
      method: 'PUT' | 'PATCH' = 'PUT',
      { isFresh, ahead = false }: { readonly isFresh?: () => boolean; readonly ahead?: boolean } = {},
    ) => service.write({ op: 'update', resource, id, body, method, ahead }, isFresh),
  });
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

/** The RunError's text, or what came instead. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    return `no error, but ${JSON.stringify(await promise)}`;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}

/** Waits until the condition holds; fails after five seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 5_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error('the condition never held');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
