import type { Log, RunListener } from '../../model/progress.js';
import type { ReadAnswer, ReadRequest } from '../../pipeline/apply/write.js';
import type { Clock } from '../../service/clock.js';
import type { WriteAnswer, WriteRequest } from '../../service/port.js';
import type { ServiceOptions } from '../../service/service.js';
import type { Settings } from '../settings.js';

export type { Log, Notice, Progress, RunListener } from '../../model/progress.js';
export { pause, systemClock } from '../../service/clock.js';
export type { Clock, WriteAnswer, WriteRequest };

/** Why a signal ends a run that somebody stopped: its reports are written, and nobody takes it up but on request. */
export const STOPPED = 'stopped';

/** What every run is given from outside. */
export interface RunContext {
  readonly settings: Settings;
  readonly listener: RunListener;
  readonly log: Log;
  /** Aborted by SIGINT / SIGTERM: requests in flight finish, nothing new is sent. */
  readonly signal: AbortSignal;
  /** What a worker adds; absent on the command line. */
  readonly worker?: WorkerContext;
  /** Time as the run sees it; default: the system's. The service client has its own, of its channel. */
  readonly clock?: Clock;
}

/** What a run in a worker shares with the other runs of its process, and with other workers. */
export interface WorkerContext extends Pick<ServiceOptions, 'channel' | 'observe'> {
  /** Takes a right that one process of all machines holds at a time; waits for it. Undefined where the run was stopped. */
  exclusive(name: string, signal: AbortSignal): Promise<Right | undefined>;
  /** Small texts that all workers on the queue share, also those with other data folders. A blank one counts as none. */
  readonly shared?: {
    read(name: string): Promise<string | undefined>;
    update(name: string, edit: (text: string | undefined) => string | undefined): Promise<string | undefined>;
  };
  /**
   * Opens the way by which a run's writing requests reach other workers; absent where there are none. `run` names the run over all
   * machines.
   */
  readonly carrier?: ((run: string, context: CarrierContext) => Promise<Carrier>) | undefined;
}
export interface CarrierContext extends Pick<RunContext, 'log' | 'signal'> {
  readonly company: number;
  /** Kind of the records that the run writes. Together with the company: what its right to write is for. */
  readonly resource: string;
  /** The clock by which the run's requests say until when they are fresh. */
  readonly now: () => number;
  /** False once the run may have lost its right to write: nobody is then allowed any more to send for it. */
  readonly mayWrite: () => boolean;
}

export interface Right {
  /** False once it may be lost, at this very moment: looked at before each request. */
  readonly valid: boolean;
  /** Aborted when the right is lost: nothing more may be sent. */
  readonly lost: AbortSignal;
  /** `open`: requests were left of which nobody knows what became; whoever comes next has to give them time. */
  release(open?: boolean): Promise<void>;
}

export type Carried = WriteRequest | ReadRequest;
export type CarriedAnswer = WriteAnswer | ReadAnswer;

/** Takes requests of one run to whatever worker is free. */
export interface Carrier {
  /** Parts that may be under way at once; 0 while there is nobody to share the work with. */
  readonly parts: number;
  /**
   * One promise for each request, settled when its answer is known; in the order in which they are sent. A request goes
   * out at most once: `open` where a worker was lost that may have sent it, undefined where it surely was not sent, as an
   * update is not whose record has to be read again. A record is `read`, or undefined where it was not. After more than
   * `mostRefused` refusals no further one of them is sent.
   */
  carry(requests: readonly Carried[], mostRefused?: number): readonly Promise<CarriedAnswer | undefined>[];
  /** The run stops: what was not begun is not sent any more, and answered undefined. */
  cancel(): void;
  /**
   * Resolves when nobody sends any more for an earlier process of this run, or for another run that had the right to write
   * before this one. Called once the right is this run's. Somebody may have sent just before.
   */
  quiesce(): Promise<void>;
  /** Requests that other workers sent for this run. */
  readonly sent: { readonly reads: number; readonly writes: number; readonly retries: number };
  /** A worker was lost that may have sent more for this run. */
  readonly lost: boolean;
  close(): Promise<void>;
}
