import type { ExportJob, Job, ReconcileJob, RowsJob } from '../../model/job.js';

/** A job file that is fit to run. */
export interface Loaded<J extends Job> {
  readonly job: J;
  /** File name without folder and ending; `inline` for a job that came without a file. */
  readonly name: string;
  /** Absolute; '' for a job that came without a file. */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
  /** Remarks that stop nothing, as `file:line:column message`. */
  readonly warnings: readonly string[];
}

/** A job that takes rows: an import or a reconciliation. */
export type LoadedJob = Loaded<RowsJob>;
export type LoadedReconcileJob = Loaded<ReconcileJob>;
export type LoadedExportJob = Loaded<ExportJob>;
