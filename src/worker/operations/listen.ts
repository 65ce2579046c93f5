import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { RunError } from '../../model/error.js';

export interface Listening {
  /** With the port that was given, e.g. `http://127.0.0.1:8720`. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Connections that do not end by themselves are cut after so long. */
const CLOSE_MS = 1000;
/** Beyond so many the oldest connection is cut: those that never finish their question must not keep out the others. */
const MOST_CONNECTIONS = 100;

/**
 * Serves the pages. A default port that is taken gives way to any free one; a stated one that cannot be had throws
 * `RunError` (usage).
 */
export async function listen(
  pages: Hono,
  at: { readonly host: string; readonly port: number; readonly stated: boolean },
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch: pages.fetch,
    hostname: at.host,
    serverOptions: { requestTimeout: 10_000, headersTimeout: 5000, connectionsCheckingInterval: 1000 },
  }) as Server;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    const [oldest] = sockets;
    if (sockets.size > MOST_CONNECTIONS) oldest?.destroy();
  });
  try {
    await bind(server, at.port, at.host);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    if (at.stated) throw new RunError('usage', stated(code, at), [], { cause: error });
    // A second worker on this machine, as a rule.
    await bind(server, 0, at.host);
  }
  // Faults of single connections end these only.
  server.on('error', () => undefined);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${at.host.includes(':') ? `[${at.host}]` : at.host}:${port}`,
    port,
    async close() {
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
      clearTimeout(timer);
    },
  };
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function stated(code: string, { host, port }: { readonly host: string; readonly port: number }): string {
  const next = 'Set --http or ROWFERRY_HTTP to another one, or to off.';
  const at = `${host}:${port}`;
  if (code === 'EADDRINUSE') return `${at} (ROWFERRY_HTTP) is taken by another process. ${next}`;
  if (code === 'EACCES')
    return `${at} (ROWFERRY_HTTP) may not be used by this user: ports below 1024 are kept. ${next}`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `${at} (ROWFERRY_HTTP) is no address of this machine. ${next}`;
  return `${at} (ROWFERRY_HTTP) cannot be listened on (${code}). ${next}`;
}
