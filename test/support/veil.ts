import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a service in between makes of the body of a request, and of its answer. */
export interface Between {
  readonly sent?: (method: string, body: string) => string;
  readonly answered?: (method: string, answer: string, path: string) => string;
}

/** A service before the one at `target`, through which every request passes, for as long as the test takes. */
export async function hangBetween(
  target: string,
  { sent = (_, body) => body, answered = (_, answer) => answer }: Between,
): Promise<{ readonly url: string }> {
  const server = createServer((request, response) => {
    void (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      const { method = 'GET', url: path = '' } = request;
      const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
      const answer = await fetch(`${target}${path}`, {
        method,
        headers: { authorization, 'content-type': type },
        ...(pieces.length > 0 && method !== 'GET' ? { body: sent(method, String(Buffer.concat(pieces))) } : {}),
      });
      const text = await answer.text();
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
      response.end(answered(method, text, path));
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A service that shows its records in another way than the one behind it. */
export const hangVeil = (target: string, change: (answer: string) => string) =>
  hangBetween(target, { answered: (method, answer) => (method === 'GET' ? change(answer) : answer) });
