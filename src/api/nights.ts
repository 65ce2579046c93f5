import { z } from 'zod';
import { readRunSummary } from '../runs/run/list.js';
import type { ApiParts } from './app.js';
import { Fault, type Operation, operation } from './operation.js';
import { allRuns, isUndoOf, pageOf } from './runs/list.js';
import { type FoundRun, whyFailed } from './runs/queued.js';
import { afterRun, type Night, nights } from './schema.js';

export function nightOperations(parts: ApiParts): Operation[] {
  const { settings, readJobs } = parts;
  return [
    operation(
      'GET /nights/{job}',
      {
        summary: 'The reconciliations of a job, newest first.',
        params: z.object({ job: z.string() }),
        query: z.object({
          after: afterRun,
          limit: z.coerce.number().int().min(1).max(100).default(30),
        }),
        answer: nights,
      },
      async ({ params: { job }, query }) => {
        const runs = await allRuns(parts);
        const all = runs.filter(({ run }) => run.kind === 'reconcile' && run.job === job);
        if (all.length === 0 && !(await readJobs()).has(job)) throw new Fault(404, `There is no job ${job}.`);
        const { page, next } = pageOf(all, query);
        return { nights: await Promise.all(page.map((night) => nightOf(settings.home, night, runs))), next };
      },
    ),
  ];
}

async function nightOf(home: string, { run, entry, job }: FoundRun, runs: readonly FoundRun[]): Promise<Night> {
  const summary = entry && (await readRunSummary(home, run.id).catch(() => undefined));
  // Of one that is at work, or was cut off, its run tells.
  const facts = summary?.reconcile;
  // What was planned, and not done, is in the differences.
  const wrote = !run.dry_run;
  const undo = runs.find((one) => isUndoOf(one.run, run.id));
  return {
    run: run.id,
    started_at: run.started_at,
    status: run.status,
    ...(run.verdict && { verdict: run.verdict }),
    apply: facts?.apply ?? wrote,
    rows: summary?.rows.total ?? 0,
    differences: facts?.differences.rows ?? 0,
    put_right: wrote ? (facts?.compared?.put_right ?? 0) : 0,
    created: wrote ? (summary?.rows.created ?? 0) : 0,
    orphans: facts?.orphans.total ?? 0,
    new_orphans: facts?.orphans.fresh ?? 0,
    orphans_acted: wrote ? (facts?.compared?.orphans_acted ?? 0) : 0,
    reason: summary?.reason ?? (job?.failedReason ? whyFailed(job) : null),
    approved_by: facts?.approved?.by ?? null,
    ...(undo && { undone_by: undo.run.id }),
  };
}
