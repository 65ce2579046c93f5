import { OpenAPIHono } from '@hono/zod-openapi';
import { Hono } from 'hono';
import { pause } from '../runs/run/context.js';
import { sessionOperations } from './access/session.js';
import type { ApiDeps, ApiParts } from './app.js';
import { fileOperations } from './files/operations.js';
import { tableOperations } from './files/tables.js';
import { Uploads } from './files/uploads.js';
import { jobOperations } from './jobs.js';
import { listOperations } from './lists.js';
import { nightOperations } from './nights.js';
import { API_PATH, type Api, answerFault, closeUnread, type Env, Fault, faultsIn, problem } from './operation.js';
import { overviewOperations } from './overview.js';
import { queueOperations } from './queue.js';
import { RunEntries } from './runs/entries.js';
import { runOperations } from './runs/operations.js';

/** BullMQ waits for a queue that is away, however long that takes: whoever asks is told of it after so long. */
const OUTAGE_CHECK_MS = 3_000;

/** The HTTP API: contract, section 12. */
export function openApi(deps: ApiDeps): Api {
  const app = new OpenAPIHono<Env>({
    defaultHook(result) {
      if (result.success) return;
      throw new Fault(400, 'This request is not as the description of the API has it.', faultsIn(result.error));
    },
  });
  app.use(closeUnread, async (c, next) => {
    await next();
    if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
  });
  app.use(async (c, next) => {
    // A large file takes its time, and no queue.
    if (c.req.path.endsWith('/files')) return next();
    // What is ordered waits for the queue, and would be carried out after its refusal: it is refused before, or waits.
    if (c.req.method === 'POST' && /\/runs(\/|$)/.test(c.req.path)) {
      await deps.store.check();
      return next();
    }
    const answered = new AbortController();
    const outage = (async () => {
      while (await pause(OUTAGE_CHECK_MS, answered.signal)) await deps.store.check();
    })();
    await Promise.race([next(), outage]).finally(() => answered.abort());
  });
  const { home, maxUpload } = deps.settings;
  const parts: ApiParts = {
    ...deps,
    uploads: new Uploads(home, maxUpload),
    entries: new RunEntries(home),
  };
  const groups = [
    ...[sessionOperations, runOperations, fileOperations, tableOperations, listOperations],
    ...[jobOperations, nightOperations, overviewOperations, queueOperations],
  ];
  for (const one of groups.flatMap((operations) => operations(parts))) one.register(app);
  app.openAPIRegistry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: '`rowferry console key add NAME --role …` makes one.',
  });
  app.doc31('/openapi.json', {
    openapi: '3.1.0',
    info: {
      title: 'rowferry',
      version: '1',
      description: 'Imports, exports and reconciliations of spreadsheets. Faults are problem documents (RFC 9457).',
    },
    servers: [{ url: API_PATH }],
    security: [{ key: [] }],
  });
  app.all('*', (c) => problem(c, 404, 'There is nothing at this address, or not for this method.'));
  app.onError(answerFault(deps.log));
  return new Hono<Env>().route(API_PATH, app);
}
