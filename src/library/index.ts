/** The package as programs see it: contract, section 13. Nothing else is public. */
export type { ErrorCode } from '../model/error.js';
export { RunError as RowferryError } from '../model/error.js';
export type {
  ExportJobText as ExportJob,
  ImportJobText as ImportJob,
  ReconcileJobText as ReconcileJob,
} from '../model/job.js';
export type { OutcomeCounts, OutcomeKind as Outcome } from '../model/outcome.js';
export type { Log, Notice, Progress } from '../model/progress.js';
export type { RunResult, Summary } from '../report/summary.js';
export type { SettingsInput as Settings } from '../runs/settings.js';
export type { Sandbox, SandboxOptions } from '../sandbox/index.js';
export type { CallOptions, RunHandle } from './open.js';
export type { EnqueueOptions, QueuedRun } from './queue.js';
export {
  type ExportOptions,
  enqueue,
  exportRecords,
  type ImportOptions,
  importFile,
  openSandbox,
  type ReconcileOptions,
  type ResumeOptions,
  reconcileFile,
  resumeRun,
} from './runs.js';
