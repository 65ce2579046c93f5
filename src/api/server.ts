import { chmod, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { userInfo } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { createAdaptorServer } from '@hono/node-server';
import type { Api, Caller } from './operation.js';
import { socketAddress } from './socket.js';

/**
 * Answers the processes of this user on this machine, at the socket of the data folder. Only the process that has the
 * embedded queue open may: whatever lies at the address is of one that is gone. Returns what ends it.
 */
export async function serveHome(home: string, api: Api): Promise<() => Promise<void>> {
  const address = await socketAddress(home);
  if (process.platform !== 'win32') await rm(address, { force: true });
  // Whoever can open the socket is this user, whose the settings and the data folder are, too.
  const who: Caller = { name: userInfo().username, role: 'approver', via: 'socket' };
  const server = createAdaptorServer({ fetch: (request, env) => api.fetch(request, { ...env, who }) }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // Made closed to others at once, not closed afterwards: between the two anybody could connect. The socket is made
    // before `listen` returns, so that nothing else is made under this mask. Threads have no mask of their own.
    const mask = isMainThread ? process.umask(0o177) : undefined;
    try {
      server.listen(address, () => resolve());
    } finally {
      if (mask !== undefined) process.umask(mask);
    }
  });
  if (process.platform !== 'win32') await chmod(address, 0o600);
  server.on('error', () => undefined);
  // What keeps the process alive is its work, not the help it gives to others.
  server.unref();
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const late = setTimeout(() => server.closeAllConnections(), 1_000);
    await closed;
    clearTimeout(late);
  };
}
