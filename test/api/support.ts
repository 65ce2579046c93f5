import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Hono } from 'hono';
import type { ApiDeps } from '../../src/api/app.js';
import { openApi } from '../../src/api/open.js';
import type { Api, Caller } from '../../src/api/operation.js';
import type { RunsApi } from '../../src/api/runs/orders.js';
import type { Role } from '../../src/api/schema.js';
import { resolveSettings } from '../../src/runs/settings.js';

/** The API of a data folder without a worker; what a test is about it gives itself. */
export function apiIn(home: string, more: Partial<ApiDeps> = {}, env: Readonly<Record<string, string>> = {}): Api {
  const deps: Partial<ApiDeps> = {
    settings: resolveSettings({ ROWFERRY_HOME: home, ROWFERRY_JOBS_DIR: join(home, 'job-files'), ...env }, {}, home),
    version: '1.2.3',
    log: { warn: () => undefined, error: () => undefined } as unknown as ApiDeps['log'],
    stopping: new AbortController().signal,
    queue: {
      getJobs: async () => [],
      getJob: async () => undefined,
      getJobCounts: async () => ({}),
    } as unknown as ApiDeps['queue'],
    store: { check: async () => undefined } as unknown as ApiDeps['store'],
    channel: { gauges: { heldMs: 0 } } as ApiDeps['channel'],
    stops: { ask: async () => undefined } as unknown as ApiDeps['stops'],
    audit: async () => undefined,
    ...more,
  };
  return openApi(deps as ApiDeps);
}

/** The API over a queue alone, with one job at work. */
export function apiOf(runs: RunsApi): Api {
  const [timestamp, progress] = [Date.now(), { phase: 'writing', done: 3, run: '20261121T081502123Z-3f9a' }];
  const job = { id: 'a-job', name: 'import', data: { job: 'assets', file: 'in/a.csv' }, timestamp, progress };
  const queue = {
    getJobs: async () => [],
    getJob: async (id: string) => (id === job.id ? job : undefined),
    getJobState: async () => 'active',
    getJobCounts: async () => ({}),
  } as unknown as ApiDeps['queue'];
  return apiIn(join(tmpdir(), 'rowferry-no-home'), { runs, queue });
}

export const pagesOf = (runs: RunsApi): Hono => pagesFor(apiOf(runs));

/** The API as a door asks it, for whoever is signed in so. */
export function pagesFor(api: Api, role: Role = 'approver', via: Caller['via'] = 'socket'): Hono {
  const pages = new Hono();
  pages.all('*', (c) => api.fetch(c.req.raw, { ...(c.env as object), who: { name: 'mara', role, via } }));
  return pages;
}
