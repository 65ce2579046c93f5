import { chmod, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { isMainThread } from 'node:worker_threads';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { RunError } from '../model/error.js';
import { checkJobData } from '../worker/jobs/check-data.js';
import { DATA_LIMITS, JOB_KINDS } from '../worker/jobs/data.js';
import { isAway } from '../worker/store/faults.js';
import type { RunsApi } from './runs.js';
import { socketAddress } from './socket.js';

/** The rest of a body is job data, which `checkJobData` looks at. */
const order = z.looseObject({ kind: z.enum(JOB_KINDS), once: z.boolean().optional() });
const KEY = /^[\w-]{1,64}$/;
/** What the job data may have, and the few words around them. */
const MOST_BYTES = DATA_LIMITS.bytes + 1024;

/** Runs over HTTP: contract, section 12. What is refused is answered with a problem document (RFC 9457). */
export function apiPages(runs: RunsApi): Hono {
  const pages = new Hono().basePath('/api/v1');
  const tooLong = bodyLimit({
    maxSize: MOST_BYTES,
    onError: (c) => problem(c, 413, `The order has more than ${DATA_LIMITS.bytes} bytes. Put the rows into a file.`),
  });
  pages.post('/runs', tooLong, async (c) => {
    const body: unknown = await c.req.json().catch(() => undefined);
    const { data: read, error } = order.safeParse(body);
    if (!read) {
      const faults = error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim());
      return problem(c, 400, 'This is no order of a run; a JSON object with `kind` is expected.', faults);
    }
    const key = c.req.header('idempotency-key');
    if (key !== undefined && !KEY.test(key)) {
      return problem(c, 400, 'An Idempotency-Key has 1 to 64 letters, digits, - and _.');
    }
    const { kind, once = false, ...data } = read;
    const checked = checkJobData(kind, data);
    if ('faults' in checked)
      return problem(c, 422, 'This is no job for the queue; nothing was put on it.', checked.faults);
    const id = await runs.put({ kind, data, once, ...(key !== undefined && { key }) });
    return c.json({ id }, 202, { location: `/api/v1/runs/${id}` });
  });
  pages.get('/runs/:id', async (c) => {
    const run = await runs.look(c.req.param('id'));
    return run ? c.json(run) : problem(c, 404, 'There is no such run on the queue.');
  });
  pages.get('/queue', async (c) => c.json(await runs.queue()));
  pages.onError((error, c) => {
    if (!(error instanceof RunError)) return problem(c, 500, `unexpected ${error.name}: ${error.message}`);
    return problem(c, isAway(error) ? 503 : error.kind === 'usage' ? 422 : 500, error.message, error.details);
  });
  pages.notFound((c) => problem(c, 404, 'There is nothing at this address.'));
  return pages;
}

function problem(
  c: Context,
  status: 400 | 404 | 413 | 422 | 500 | 503,
  detail: string,
  errors: readonly string[] = [],
): Response {
  const code = status < 500 ? 'usage' : 'failed';
  return c.json({ type: 'about:blank', status, code, detail, ...(errors.length > 0 && { errors }) }, status, {
    'content-type': 'application/problem+json',
  });
}

/**
 * Answers the processes of this user on this machine, at the socket of the data folder. Only the process that has the
 * embedded queue open may: whatever lies at the address is of one that is gone. Returns what ends it.
 */
export async function serveHome(home: string, runs: RunsApi): Promise<() => Promise<void>> {
  const address = await socketAddress(home);
  if (process.platform !== 'win32') await rm(address, { force: true });
  const server = createAdaptorServer({ fetch: apiPages(runs).fetch }) as Server;
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
