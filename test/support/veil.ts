import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A service that shows its records in another way than the one behind it. */
export interface Veil {
  readonly url: string;
  close(): Promise<void>;
}

/** Passes every request on to the service at `target`; the text of answers to reads is changed on its way back. */
export async function hangVeil(target: string, change: (answer: string) => string): Promise<Veil> {
  const server = createServer((request, response) => {
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
      const answer = await fetch(`${target}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { authorization, 'content-type': type },
        ...(pieces.length > 0 && request.method !== 'GET' ? { body: Buffer.concat(pieces) } : {}),
      });
      const text = await answer.text();
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
      response.end(request.method === 'GET' ? change(text) : text);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
