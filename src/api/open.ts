import { OpenAPIHono } from '@hono/zod-openapi';
import { HTTPException } from 'hono/http-exception';
import { RunError } from '../model/error.js';
import { isAway } from '../worker/store/faults.js';
import { sessionRoutes } from './access/session.js';
import {
  API_PATH,
  type Api,
  type ApiDeps,
  type ApiParts,
  type Env,
  type ProblemStatus,
  problem,
  STATUSES,
} from './app.js';
import { fileRoutes } from './files.js';
import { jobRoutes } from './jobs.js';
import { listRoutes } from './lists.js';
import { nightRoutes } from './nights.js';
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
    defaultHook(result, c) {
      if (result.success) return undefined;
      const faults = result.error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim());
      return problem(c, 400, 'This request is not as the description of the API has it.', faults);
    },
  });
  app.use(async (c, next) => {
    await next();
    if (!c.res.headers.has('cache-control')) c.header('cache-control', 'no-store');
  });
  const { home, console } = deps.settings;
  const parts: ApiParts = {
    ...deps,
    uploads: new Uploads(home, console.maxUpload),
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
  app.all('*', (c) => problem(c, 404, 'There is nothing at this address.'));
  app.onError((error, c) => {
    if (error instanceof HTTPException) return problem(c, asProblem(error.status), error.message);
    if (isAway(error)) return problem(c, 503, error instanceof Error ? error.message : 'The queue is away.');
    if (error instanceof RunError) {
      return problem(c, error.kind === 'usage' ? 422 : 500, error.message, error.details);
    }
    deps.log.error({ err: error, path: c.req.path }, 'api.failed');
    return problem(c, 500, 'This could not be answered; the log of the worker says why.');
  });
  return app;
}

function asProblem(status: number): ProblemStatus {
  return STATUSES.find((known) => known === status) ?? (status < 500 ? 400 : 500);
}
