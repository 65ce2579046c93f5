import { RunError } from '../../model/error.js';
import { exportRecords } from '../../runs/export.js';
import { dateOf, exportRequest, type LoadedExportJob, loadExportJob, outputOf, withDate } from '../../runs/job-file.js';
import type { FitData } from './check-data.js';
import type { ExportData } from './data.js';
import type { Delivery, Plan, Work } from './delivery.js';
import { handOn, type Occasion, occasionOf } from './delivery.js';
import { makeTarget, targetFolders } from './target.js';

/** What an export does in its own way: it has a file to write, and changes nothing in the service. */
export function exportWork({ ok: data, inline }: Extract<FitData, { readonly kind: 'export' }>): Work {
  return {
    kind: 'export',
    anewText: 'All is read again; nothing of it is lost.',
    deathAdvice: 'export by itself: rowferry export --job JOB. Nothing was changed in the service.',
    reached: (state) => state.done,
    // Nothing that was sent can take effect.
    settleMs: () => 0,
    endedBefore: async () => undefined,
    async prepare(delivery, plan) {
      const { name, deps } = delivery;
      const { settings } = deps;
      const loaded = inline ?? (await loadExportJob(name, { jobsDir: settings.jobsDir }));
      const occasion = occasionOf(delivery, plan.state, loaded.job.schedule);
      const target = await targetOf(delivery, data, plan, loaded, occasion);
      const company = data.options?.company;
      const { run } = plan.state;
      const request = exportRequest(
        loaded,
        { target, run, notes: occasion.notes, ...(company !== undefined && { company }) },
        { cwd: settings.home },
      );
      return { file: target, begin: (context) => exportRecords(request, context) };
    },
    cleanUp: async () => undefined,
    putAway: async (_, { summary, reportDir }) => ({ dir: reportDir, summary }),
    giveUp: async () => undefined,
  };
}

/** The file to write, in a folder that is there; handed on to other machines where it is not below a folder of this one. */
async function targetOf(
  delivery: Delivery,
  data: ExportData,
  plan: Plan,
  { job, name }: LoadedExportJob,
  { slot }: Occasion,
): Promise<string> {
  const stated = data.file ?? outputOf(job);
  if (stated === undefined) {
    throw new RunError(
      'usage',
      `The job ${name} does not say which file to write. Give it a line such as \`output: exports/${job.resource}s-{date}.xlsx\`, or send \`file\` with the job of the queue.`,
    );
  }
  // The date of the slot also where its run begins after midnight.
  const date = slot?.slot.slice(0, 10) ?? dateOf(Date.now(), job.schedule?.timezone);
  try {
    return await makeTarget(withDate(stated, date), targetFolders(delivery.deps.settings));
  } catch (error) {
    throw await handOn(delivery, plan.state, error, 'Name a folder that the worker may write to.');
  }
}
