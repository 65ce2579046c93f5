import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { Notification } from '../../../src/worker/operations/notifier.js';

export interface Hook {
  readonly url: string;
  readonly bodies: Notification[];
  readonly headers: IncomingHttpHeaders[];
  close(): Promise<void>;
}

/** A webhook that keeps what it is sent. `answer` is called for each request with its number from 1. */
export async function openHook(
  answer: (response: ServerResponse, nth: number) => void = (r) => r.end(),
): Promise<Hook> {
  const bodies: Notification[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    bodies.push(JSON.parse(text));
    headers.push(request.headers);
    answer(response, bodies.length);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}/hook`,
    bodies,
    headers,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
