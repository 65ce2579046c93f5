import type { Logger } from 'pino';
import type { Channel } from '../runs/run/open-service.js';
import type { Settings } from '../runs/settings.js';
import type { JobFiles } from '../worker/job-files.js';
import type { Stops } from '../worker/jobs/stops.js';
import type { Queue, Store } from '../worker/store/port.js';
import type { Uploads } from './files/uploads.js';
import type { Caller } from './operation.js';
import type { RunEntries } from './runs/entries.js';
import type { RunsApi } from './runs/orders.js';

/** What the worker that the API is part of gives it. */
export interface ApiDeps {
  readonly settings: Settings;
  readonly version: string | undefined;
  readonly log: Logger;
  /** Aborted when this process was told to end. */
  readonly stopping: AbortSignal;
  readonly store: Store;
  /** `RUNS_QUEUE`, for what the verbs of `runs` do not tell. */
  readonly queue: Queue;
  readonly runs: RunsApi;
  /** Through it go the requests of all runs of this process, and those of the API; its gauges tell how the service does. */
  readonly channel: Channel;
  readJobs(): Promise<JobFiles>;
  readonly stops: Stops;
  /** Whether queue and drop folder can be used now: what `/readyz` says. */
  ready(): Promise<{ readonly ok: boolean; readonly details: Readonly<Record<string, string>> }>;
  /** Leaves a line in the audit log; awaited before anything is answered. Never a cell or a secret in it. */
  audit(who: Caller, what: string, about?: AuditAbout): Promise<void>;
}

/** What the operations share besides. */
export interface ApiParts extends ApiDeps {
  readonly uploads: Uploads;
  readonly entries: RunEntries;
}

interface AuditAbout extends Partial<Record<'dry_run' | 'apply' | 'force', boolean | undefined>> {
  readonly run?: string;
  /** The earlier run that it is about. */
  readonly of?: string;
  readonly job?: string;
  readonly file?: string;
  /** Whom somebody named who acts for them: `by` of an approval. */
  readonly by?: string | undefined;
}
