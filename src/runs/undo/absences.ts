import { RunStore } from '../../store/run-store.js';
import { readRequest } from '../earlier-run.js';
import { jobKey, type RunFolder, runFolder } from '../layout.js';
import { forgetAbsences } from '../nights-forget.js';
import { actedOrphans } from '../reconcile/write-orphans.js';
import type { Run, StoredRequest } from '../run.js';

/**
 * Orphans that were put back are still missing from the job's file. That this was counted before ends here, or the very next
 * run of the job would act on them again. Can be repeated.
 */
export async function beginAbsencesAnew(run: Run): Promise<void> {
  const { settings, request } = run;
  if (request.dryRun) return;
  const undone = await undoneRun(settings.home, request);
  if (undone?.request.job.job.kind !== 'reconcile' || !hasOrphans(undone.folder)) return;
  const acted = new Set((await actedOrphans(undone.folder)).map(({ id }) => id));
  const back = putBackBy(run, acted);
  if (back.size === 0) return;
  const { home } = settings;
  const { company, service, job } = undone.request;
  await forgetAbsences({ home, job: jobKey(job, home), company, service }, back);
  run.warn(`${told(back.size)} ${actedAgain(back.size, undone.request.job.job.orphans.after)}`);
}

/** The run whose writes are put back; undefined where they are made again by the undo of an undo, or its folder is gone. */
async function undoneRun(
  home: string,
  { lineage }: StoredRequest,
): Promise<{ readonly folder: RunFolder; readonly request: StoredRequest } | undefined> {
  let id = lineage?.undoes;
  for (let undone = true; id !== undefined; undone = !undone) {
    const folder = runFolder(home, id);
    const request = await readRequest(folder);
    if (request?.kind !== 'undo') return request && undone ? { folder, request } : undefined;
    id = request.lineage?.undoes;
  }
  return undefined;
}

function hasOrphans(folder: RunFolder): boolean {
  const store = RunStore.existing(folder.store);
  const count = store?.orphans.count() ?? 0;
  store?.close();
  return count > 0;
}

/** Of these records: those that are as they were before the run again. */
function putBackBy({ rowStore }: Run, ids: ReadonlySet<number>): ReadonlySet<number> {
  const back = new Set<number>();
  for (const batch of rowStore.rows(`kind in ('updated', 'unchanged')`)) {
    for (const { id } of batch) if (id !== undefined && ids.has(id)) back.add(id);
  }
  return back;
}

function told(orphans: number): string {
  return orphans === 1
    ? 'One orphan is as before the run again, and that it is missing from the file is counted anew.'
    : `${orphans} orphans are as before the run again, and that they are missing from the file is counted anew.`;
}

function actedAgain(orphans: number, after: number): string {
  const [it, is] = orphans === 1 ? ['it', 'is'] : ['them', 'are'];
  const when = after === 1 ? 'in its next run' : `after ${after} more runs`;
  return `The job acts on ${it} again ${when}, unless ${it === 'it' ? 'it' : 'they'} ${is} in the file by then.`;
}
