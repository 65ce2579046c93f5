import { OpenAPIHono } from '@hono/zod-openapi';
import { sessionRoutes } from './access/session.js';
import type { ApiDeps, ApiParts } from './app.js';
import { fileRoutes } from './files.js';
import { jobRoutes } from './jobs.js';
import { listRoutes } from './lists.js';
import { nightRoutes } from './nights.js';
import { API_PATH, type Api, answerFault, closesUnread, type Env, Fault, faultsIn } from './operation.js';
import { overviewRoutes } from './overview.js';
import { queueRoutes } from './queue.js';
import { RunEntries } from './run-entries.js';
import { runRoutes } from './run-routes.js';
import { Tables } from './table-index.js';
import { tableRoutes } from './tables.js';
import { Uploads } from './uploads.js';

/** The HTTP API: contract, section 12. Mounted at `API_PATH` by both doors, below whatever sets `who`. */
export function openApi(deps: ApiDeps): Api {
  const app: Api = new OpenAPIHono<Env>({
    defaultHook(result) {
      if (result.success) return;
      throw new Fault(400, 'This request is not as the description of the API has it.', faultsIn(result.error));
    },
  });
  app.use(closesUnread, async (c, next) => {
    await next();
    if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
  });
  const { home, maxUpload } = deps.settings;
  const parts: ApiParts = {
    ...deps,
    uploads: new Uploads(home, maxUpload),
    tables: new Tables(),
    entries: new RunEntries(home),
  };
  sessionRoutes(app, parts);
  runRoutes(app, parts);
  fileRoutes(app, parts);
  tableRoutes(app, parts);
  listRoutes(app, parts);
  jobRoutes(app, parts);
  nightRoutes(app, parts);
  overviewRoutes(app, parts);
  queueRoutes(app, parts);
  app.doc31('/openapi.json', {
    openapi: '3.1.0',
    info: {
      title: 'rowferry',
      version: '1',
      description: 'Imports, exports and reconciliations of spreadsheets. Faults are problem documents (RFC 9457).',
    },
    servers: [{ url: API_PATH }],
  });
  app.all('*', (c) => {
    const allow = methodsAt(app, c.req.path.replace(API_PATH, ''));
    if (allow.length === 0) throw new Fault(404, 'There is nothing at this address.');
    throw new Fault(405, `This address takes ${allow.join(', ')}, not ${c.req.method}.`, [], {
      allow: allow.join(', '),
    });
  });
  app.onError(answerFault(deps.log));
  return app;
}

/** By which methods an address can be asked. */
function methodsAt(app: Api, path: string): string[] {
  const found = app.openAPIRegistry.definitions.flatMap((one) => (one.type === 'route' ? [one.route] : []));
  const asked = path.split('/');
  const there = found.filter((route) => {
    const parts = route.path.split('/');
    return (
      parts.length === asked.length && parts.every((part, at) => (part[0] === '{' ? asked[at] : part === asked[at]))
    );
  });
  return there.map(({ method }) => method.toUpperCase());
}
