import type { Logger } from 'pino';
import type { Claim } from './claim.js';

export interface InboxOptions {
  /** Absolute: `Settings.worker.inbox`. Made where it is missing. */
  readonly dir: string;
  readonly jobsDir: string;
  /** Absolute paths that schedules read: never taken. A function where they change. */
  readonly scheduled: readonly string[] | (() => readonly string[]);
  /** Told of every claim once its file is complete, several at a time. What it throws is logged; `listClaims` still has the claim. */
  readonly offer: (claim: Claim) => Promise<void>;
  readonly log: Logger;
  /** For the operator: said once each. */
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  /** `auto`: network shares only. */
  readonly polling?: 'auto' | 'always' | 'never';
  /** False while no more files are to be taken. */
  readonly mayTake: () => boolean;
  /** How long a file must have been left alone; 2000 where absent. Milliseconds. */
  readonly quietMs?: number;
}

export interface Inbox {
  /** Looks at once, and resolves when that look is done. */
  rescan(): Promise<void>;
  /** Stops taking files. Claims whose file was not yet known to be complete are picked up at the next start. */
  close(): Promise<void>;
  health(): InboxHealth;
}

export interface InboxHealth {
  /** False where the folder, or the jobs folder, cannot be used now. */
  readonly ok: boolean;
  readonly problem?: string;
  /** Files that were seen and not yet taken. */
  readonly waiting: number;
  readonly polling: boolean;
}
