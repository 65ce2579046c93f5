import { Hono } from 'hono';
import { API_PATH, type Api, type ApiDeps, type Env, type Who } from '../../src/api/app.js';
import { openApi } from '../../src/api/open.js';
import type { RunsApi } from '../../src/api/runs.js';
import type { Role } from '../../src/api/schema.js';

/** The API over a queue alone. */
export const apiOf = (runs: RunsApi): Api => openApi({ runs, audit: async () => undefined } as unknown as ApiDeps);

export const pagesOf = (runs: RunsApi): Hono<Env> => pagesFor(apiOf(runs));

/** The API as a door mounts it, for whoever is signed in so. */
export function pagesFor(api: Api, role: Role = 'approver', via: Who['via'] = 'socket'): Hono<Env> {
  const pages = new Hono<Env>();
  pages.use(async (c, next) => {
    c.set('who', { name: 'mara', role, via });
    await next();
  });
  pages.route(API_PATH, api);
  return pages;
}
