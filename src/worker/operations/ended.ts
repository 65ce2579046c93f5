import type { OutcomeCounts } from '../../model/outcome.js';

/** What set a run off: a slot of its schedule, a file in the drop folder, or a job put on the queue. */
export type Trigger = 'schedule' | 'drop' | 'queue';

/**
 * How a run of a job ended; metrics and notifications are told the same. `refused`: there was no run, because the job
 * file, its data or its file was refused before anything was sent.
 */
export interface EndedRun {
  /** Absent where there was no telling, as the data of the job were refused. */
  readonly kind?: 'import' | 'export' | 'reconcile';
  /** Name of the job file. */
  readonly job: string;
  /** The job came with its data, not from a job file: its name is anybody's. Counted under one label, never notified. */
  readonly inline?: boolean;
  /**
   * Somebody asked for a rehearsal: neither a success nor a failure of the job. A reconcile job whose nights only report
   * does its work by that, so its report-only runs are none.
   */
  readonly dryRun?: boolean;
  /** Of a reconcile job: nothing was written, and its counts are of what would be. */
  readonly reportOnly?: boolean;
  /**
   * An export that is there but cannot be shown to be whole: somebody has to look, and the job has not done its work.
   * `reason` says why.
   */
  readonly doubtful?: boolean;
  readonly trigger: Trigger;
  /** Name of the file that the run was about, as it was dropped or named. */
  readonly file?: string | undefined;
  readonly status: 'succeeded' | 'partial' | 'braked' | 'failed' | 'interrupted' | 'refused';
  /** Absent where the job was refused before a run began. */
  readonly run?: string | undefined;
  readonly company?: number | undefined;
  readonly counts?: Partial<OutcomeCounts> | undefined;
  /** One sentence for people; needed where the status is braked, failed or refused. */
  readonly reason?: string | undefined;
  /** Folder of the reports, where they lie after the run was put away; of a dropped file, from the drop folder. */
  readonly reports?: string | undefined;
  /** From beginning to end. */
  readonly seconds?: number | undefined;
  /** Milliseconds since 1970; now, where absent. */
  readonly endedAt?: number | undefined;
}
