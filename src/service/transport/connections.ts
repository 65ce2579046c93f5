import { createRequire } from 'node:module';
import type { buildConnector, Client } from 'undici';

/** Kept-alive connections to one origin, each for one request at a time. */
export interface Connections {
  /** Calls back with a connection that nobody else uses: at once where one is free or may be made. */
  take(use: (connection: Client) => void): void;
  giveBack(connection: Client): void;
  /** Cuts off what is in flight. */
  destroy(): Promise<void>;
}

/**
 * At most so many clients of undici. Its own `Pool` looks through all of them for every request; and undici's front door,
 * behind which fetch, WebSocket and caches stand, takes longer to load than all of the code here. The inner paths are why package.json
 * names one version of it.
 */
export function openConnections(origin: string, most: number, connectMs: number): Connections {
  const require = createRequire(import.meta.url);
  const UndiciClient = require('undici/lib/dispatcher/client.js') as typeof Client;
  const makeConnector = require('undici/lib/core/connect.js') as typeof buildConnector;
  // One for all, so that they share their TLS sessions.
  const connect = makeConnector({ timeout: connectMs });
  const all: Client[] = [];
  const free: Client[] = [];
  const waiting: ((connection: Client) => void)[] = [];

  function another(): Client {
    // The deadline of `http.ts` covers the whole request; a slow drip would never trip timers that restart with each byte.
    const client = new UndiciClient(origin, { connect, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
    all.push(client);
    return client;
  }

  return {
    take(use) {
      const connection = free.pop() ?? (all.length < most ? another() : undefined);
      if (connection) use(connection);
      else waiting.push(use);
    },
    giveBack(connection) {
      const next = waiting.shift();
      if (next) next(connection);
      else free.push(connection);
    },
    async destroy() {
      await Promise.all(all.map((client) => client.destroy()));
    },
  };
}
