import type { Queue } from 'bullmq';
import { reached } from '../trace/milestones.js';
import { type Claim, listClaims } from './inbox/claim.js';
import type { TakingKind } from './job-files.js';
import { claimJobId } from './jobs/ids.js';
import { every } from './rights.js';

/** Files that were taken and wait for their run. */
const MOST_WAITING = 500;
/** How often claims are looked through for those that no job stands for, in milliseconds. */
const LOOK_EVERY_MS = 60_000;

interface OffersOptions {
  readonly queue: Queue;
  readonly inbox: string;
  /** The kind of run for a file that was dropped for a job. */
  kindOf(job: string): Promise<TakingKind>;
  warn(text: string): void;
}

/** Puts what was taken from the drop folder on the queue. */
export function openOffers({ queue, inbox, kindOf, warn }: OffersOptions) {
  let waiting = 0;
  let looking: Promise<void> | undefined;

  /** A job of this id that is there already stands for the claim; the queue drops the second one. */
  async function put(claim: Claim): Promise<void> {
    await queue.add(await kindOf(claim.job), { job: claim.job, file: claim.file }, { jobId: claimJobId(claim) });
    reached('offered');
  }

  async function look(): Promise<void> {
    try {
      const claims = await listClaims(inbox);
      waiting = claims.length;
      for (const claim of claims) {
        const job = await queue.getJob(claimJobId(claim));
        // What ended without being put away had bad luck on its last step.
        if (job?.finishedOn !== undefined) await job.remove();
        if (!job || job.finishedOn !== undefined) await put(claim);
      }
    } catch (error) {
      warn(`What was taken from the drop folder could not be looked through: ${(error as Error).message}`);
    }
  }

  /** One look at a time: two would each put the same job back. */
  function lookThrough(): Promise<void> {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  return {
    /** Files that were taken and have no end yet, as far as is known here. */
    get waiting(): number {
      return waiting;
    },
    /** False while enough that was taken waits for its run; it is counted anew then. */
    mayOffer(): boolean {
      if (waiting < MOST_WAITING) return true;
      void lookThrough();
      return false;
    },
    async offer(claim: Claim): Promise<void> {
      waiting++;
      await put(claim);
    },
    /** Offers again what lies in `processing/`: the folder is the truth, the queue may have forgotten. */
    lookThrough,
    close: every(LOOK_EVERY_MS, lookThrough),
  };
}
