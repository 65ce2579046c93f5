import { z } from 'zod';
import { isRehearsal } from '../report/summary.js';
import { type RunEntry, readRunSummary } from '../runs/run/list.js';
import type { ApiParts } from './app.js';
import { type Api, Fault, get } from './operation.js';
import { type Night, nights } from './schema.js';

export function nightRoutes(app: Api, { settings, entries, readJobs }: ApiParts): void {
  app.openapi(
    get('/nights/{job}', 'The reconciliations of a job, newest first.', nights, {
      params: z.object({ job: z.string() }),
      query: z.object({
        after: z.string().optional().describe('`next` of the page before.'),
        limit: z.coerce.number().int().min(1).max(100).default(30),
      }),
    }),
    async (c) => {
      const { job } = c.req.valid('param');
      const { after, limit } = c.req.valid('query');
      const all = (await entries.list()).filter((entry) => entry.kind === 'reconcile' && entry.job === job);
      if (all.length === 0 && !(await readJobs()).has(job)) throw new Fault(404, `There is no job ${job}.`);
      const older = after === undefined ? all : all.filter(({ run }) => run < after);
      const page = older.slice(0, limit);
      const next = older.length > limit ? (page.at(-1)?.run ?? null) : null;
      return c.json({ nights: await Promise.all(page.map((entry) => nightOf(settings.home, entry))), next }, 200);
    },
  );
}

async function nightOf(home: string, entry: RunEntry): Promise<Night> {
  const summary = await readRunSummary(home, entry.run).catch(() => undefined);
  const { reconcile: facts, rows } = summary ?? {};
  // What was planned, and not done, is in the differences.
  const wrote = summary !== undefined && !isRehearsal(summary);
  return {
    run: entry.run,
    started_at: entry.startedAt,
    status: entry.status,
    apply: facts?.apply ?? !entry.dryRun,
    rows: rows?.total ?? 0,
    differences: facts?.differences.rows ?? 0,
    put_right: (wrote && facts?.compared?.put_right) || 0,
    created: (wrote && rows?.created) || 0,
    orphans: facts?.orphans.total ?? 0,
    new_orphans: facts?.orphans.fresh ?? 0,
    reason: summary?.reason ?? null,
    approved_by: facts?.approved?.by ?? null,
  };
}
