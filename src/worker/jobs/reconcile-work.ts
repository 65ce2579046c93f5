import { loadReconcileJob } from '../../runs/job-file.js';
import { reconcileFile } from '../../runs/reconcile.js';
import type { FitData } from './check-data.js';
import type { RowsOptions } from './data.js';
import type { Work } from './delivery.js';
import { rowsWork } from './rows-work.js';

/** A reconciliation: it writes where the data or else the job say so. */
export function reconcileWork({ ok: data, inline }: Extract<FitData, { readonly kind: 'reconcile' }>): Work {
  return rowsWork(data, {
    kind: 'reconcile',
    anewText: 'What it wrote is unchanged here; its own reports lie there, if anywhere.',
    deathAdvice:
      'reconcile the file by itself: rowferry reconcile FILE --job JOB. What was written stays written; reconciling the file again repeats nothing.',
    inline,
    load: loadReconcileJob,
    dryRun: ({ job }) => !(asked(data.options) ?? job.apply),
    begin: reconcileFile,
  });
}

/** Whether the data ask for the differences to be written, or not to be; undefined where they leave it to the job. */
export function asked({ apply, dry_run: dryRun }: RowsOptions = {}): boolean | undefined {
  return apply ?? (dryRun === undefined ? undefined : !dryRun);
}
