import { z } from 'zod';
import type { ReconcileFacts } from '../model/reconcile.js';
import { type RunFolder, runFolder } from '../runs/run/layout.js';
import { readRunSummary } from '../runs/run/list.js';
import { RunStore } from '../store/run-store.js';
import type { ApiParts } from './app.js';
import { newestFirst } from './cursor.js';
import { Fault, type Operation, operation } from './operation.js';
import { allRuns, type Joined } from './runs/list.js';
import { type Night, nights } from './schema.js';

export function nightOperations(parts: ApiParts): Operation[] {
  const { settings, readJobs } = parts;
  return [
    operation(
      'GET /nights/{job}',
      {
        summary: 'The reconciliations of a job, newest first.',
        params: z.object({ job: z.string() }),
        query: z.object({
          after: z.string().optional().describe('`next` of the page before.'),
          limit: z.coerce.number().int().min(1).max(100).default(30),
        }),
        answer: nights,
      },
      async ({ params: { job }, query }) => {
        const all = (await allRuns(parts)).filter(({ run }) => run.kind === 'reconcile' && run.job === job);
        if (all.length === 0 && !(await readJobs()).has(job)) throw new Fault(404, `There is no job ${job}.`);
        const { page, next } = newestFirst(JSON.stringify(['nights', job]), all, ({ run }) => run.id, query);
        return { nights: await Promise.all(page.map((night) => nightOf(settings.home, night))), next };
      },
    ),
  ];
}

async function nightOf(home: string, { run, entry, reason }: Joined): Promise<Night> {
  const summary = entry && (await readRunSummary(home, run.id).catch(() => undefined));
  const { facts, total, updated, created } = summary
    ? { ...summary.rows, facts: summary.reconcile, updated: summary.reconcile?.compared?.put_right ?? 0 }
    : soFar(runFolder(home, run.id));
  // What was planned, and not done, is in the differences.
  const wrote = !run.dry_run;
  return {
    run: run.id,
    started_at: run.started_at,
    status: run.status,
    ...(run.verdict && { verdict: run.verdict }),
    apply: facts?.apply ?? wrote,
    rows: total,
    differences: facts?.differences.rows ?? 0,
    put_right: wrote ? updated : 0,
    created: wrote ? created : 0,
    orphans: facts?.orphans.total ?? 0,
    new_orphans: facts?.orphans.fresh ?? 0,
    reason: summary?.reason ?? reason ?? null,
    approved_by: facts?.approved?.by ?? null,
  };
}

/** Of a night that is at work, or was cut off before its reports. */
function soFar({ store: path }: RunFolder) {
  const found = RunStore.ask(
    path,
    (store) => ({
      kept: store.kept('facts') as { readonly facts: ReconcileFacts } | undefined,
      counted: store
        .prepare(
          `select count(*) as total, total(kind = 'updated') as updated, total(kind = 'created') as created from rows`,
        )
        .get() as Partial<Record<string, number>>,
    }),
    RunStore.reading,
  );
  const { total = 0, updated = 0, created = 0 } = found?.counted ?? {};
  return { facts: found?.kept?.facts, total, updated, created };
}
