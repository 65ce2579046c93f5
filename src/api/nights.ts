import { z } from 'zod';
import type { ReconcileFacts } from '../model/reconcile.js';
import { type RunFolder, runFolder } from '../runs/run/layout.js';
import { type RunEntry, readRunSummary } from '../runs/run/list.js';
import { RunStore } from '../store/run-store.js';
import type { ApiParts } from './app.js';
import { Fault, type Operation, operation } from './operation.js';
import { type Night, nights } from './schema.js';

export function nightOperations({ settings, entries, readJobs, cursors }: ApiParts): Operation[] {
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
        const all = (await entries.list()).filter((entry) => entry.kind === 'reconcile' && entry.job === job);
        if (all.length === 0 && !(await readJobs()).has(job)) throw new Fault(404, `There is no job ${job}.`);
        const { page, next } = cursors.newestFirst(JSON.stringify(['nights', job]), all, ({ run }) => run, query);
        return { nights: await Promise.all(page.map((entry) => nightOf(settings.home, entry))), next };
      },
    ),
  ];
}

async function nightOf(home: string, entry: RunEntry): Promise<Night> {
  const summary = await readRunSummary(home, entry.run).catch(() => undefined);
  const { facts, total, updated, created } = summary
    ? { ...summary.rows, facts: summary.reconcile, updated: summary.reconcile?.compared?.put_right ?? 0 }
    : soFar(runFolder(home, entry.run));
  // What was planned, and not done, is in the differences.
  const wrote = !entry.dry_run;
  return {
    run: entry.run,
    started_at: entry.started_at,
    status: entry.status,
    apply: facts?.apply ?? !entry.dry_run,
    rows: total,
    differences: facts?.differences.rows ?? 0,
    put_right: wrote ? updated : 0,
    created: wrote ? created : 0,
    orphans: facts?.orphans.total ?? 0,
    new_orphans: facts?.orphans.fresh ?? 0,
    reason: summary?.reason ?? null,
    approved_by: facts?.approved?.by ?? null,
  };
}

/** Of a night that is at work, or was cut off before its reports. */
function soFar({ store: path }: RunFolder) {
  const store = RunStore.reading(path);
  const counted = store
    ?.prepare(
      `select count(*) as total, total(kind = 'updated') as updated, total(kind = 'created') as created from rows`,
    )
    .get();
  const stored = store?.kept('facts') as { readonly facts: ReconcileFacts } | undefined;
  store?.close();
  const { total = 0, updated = 0, created = 0 } = (counted ?? {}) as Partial<Record<string, number>>;
  return { facts: stored?.facts, total, updated, created };
}
