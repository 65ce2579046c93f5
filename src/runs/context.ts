import type { Logger } from 'pino';
import type { RunListener } from './progress.js';
import type { Settings } from './settings.js';

/** What every run is given from outside. */
export interface RunContext {
  readonly settings: Settings;
  readonly listener: RunListener;
  readonly log: Logger;
  /** Aborted by SIGINT / SIGTERM: requests in flight finish, nothing new is sent. */
  readonly signal: AbortSignal;
}
