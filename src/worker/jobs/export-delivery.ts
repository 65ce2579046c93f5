import { RunError } from '../../model/error.js';
import { exportRecords } from '../../runs/export.js';
import { dateOf, exportRequest, type LoadedExportJob, loadExportJob, outputOf, withDate } from '../../runs/job-file.js';
import type { ExportData } from './data.js';
import { Delivery, type Prepared } from './delivery.js';
import type { JobState } from './state.js';
import { makeTarget, targetFolders } from './target.js';

/** An export: it has a file to write, and changes nothing in the service. */
export class ExportDelivery extends Delivery<ExportData, LoadedExportJob> {
  readonly kind = 'export';
  protected readonly anewText = 'All is read again; nothing of it is lost.';
  protected readonly deathAdvice = 'export by itself: rowferry export --job JOB. Nothing was changed in the service.';

  protected reached(state: JobState): number {
    return state.done;
  }

  /** Nothing that was sent can take effect. */
  protected settleMs(): number {
    return 0;
  }

  async prepare(): Promise<Prepared> {
    const { settings } = this.deps;
    const loaded = this.inline ?? (await loadExportJob(this.name, { jobsDir: settings.jobsDir }));
    const { slot, notes } = this.occasion(loaded.job.schedule);
    const target = await this.target(loaded, slot?.slot);
    const company = this.data.options?.company;
    const request = exportRequest(
      loaded,
      { target, run: this.state.run, notes, ...(company !== undefined && { company }) },
      { cwd: settings.home },
    );
    return { file: target, begin: (context) => exportRecords(request, context) };
  }

  /** The file to write, in a folder that is there; handed on to other machines where it is not below a folder of this one. */
  private async target({ job, name }: LoadedExportJob, slot: string | undefined): Promise<string> {
    const stated = this.data.file ?? outputOf(job);
    if (stated === undefined) {
      throw new RunError(
        'usage',
        `The job ${name} does not say which file to write. Give it a line such as \`output: exports/${job.resource}s-{date}.xlsx\`, or send \`file\` with the job of the queue.`,
      );
    }
    // The date of the slot also where its run begins after midnight.
    const date = slot?.slice(0, 10) ?? dateOf(Date.now(), job.schedule?.timezone);
    try {
      return await makeTarget(withDate(stated, date), targetFolders(this.deps.settings));
    } catch (error) {
      throw await this.handOn(error, 'Name a folder that the worker may write to.');
    }
  }
}
