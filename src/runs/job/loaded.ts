import type { ExportJob, ImportJob, Job } from '../../model/job.js';

/** A job file that is fit to run. */
export interface Loaded<J extends Job> {
  readonly job: J;
  /** File name without folder and ending; `inline` for a job that came without a file. */
  readonly name: string;
  /** As the person would open it; '' for a job that came without a file. */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
  /** Remarks that stop nothing, as `file:line:column message`. */
  readonly warnings: readonly string[];
}

export type LoadedJob = Loaded<ImportJob>;
export type LoadedExportJob = Loaded<ExportJob>;
