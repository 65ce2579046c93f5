import { RunError } from '../../model/error.js';
import { faultOf, StoreAway } from './faults.js';
import type { StoreOptions } from './port.js';

/** Turns a driver's errors into words for people, and tells of each at most every ten seconds. */
export interface Reports {
  /** An error nobody waits for: of a connection, of a worker that looks for jobs. */
  heard(error: unknown): void;
  /** The store has answered: told once where it was away. */
  answered(): void;
  /** The same error as a `RunError`. */
  explain(error: unknown): RunError;
}

/** BullMQ's words for it. */
const LOCK_LOST = /missing (lock|key) for job|could not renew lock|lock mismatch|is not in the active state/i;
const QUIET_MS = 10_000;
/** Different texts remembered; they come from outside. */
const MOST_TEXTS = 100;

export function openReports(
  what: { readonly name: string; readonly address: string },
  notice: StoreOptions['notice'],
): Reports {
  const told = new Map<string, number>();
  let away = false;

  const words = (error: unknown): string => {
    const { kind, reason } = faultOf(error);
    const place = `The queue at ${what.address}`;
    switch (kind) {
      case 'away':
        return `${place} cannot be reached (${reason}).`;
      case 'refused':
        return `${place} refuses the user or the password (${reason}). Look at ROWFERRY_QUEUE_URL.`;
      case 'forbidden':
        return `${place} does not allow its user what a queue needs (${reason}). Give the user that right.`;
      case 'missing':
        return `${place} does not exist (${reason}). Create the database, or correct ROWFERRY_QUEUE_URL.`;
      case 'full':
        return (
          `${place} is full: ${what.name} takes no more data (${reason}). ` +
          'Give it more memory or disk, or remove old jobs; nothing is lost, work goes on when there is room.'
        );
      default:
        if (LOCK_LOST.test(reason))
          return `${place}: a job's lock had ended before its work did (${reason}). The job is taken up again; nothing is sent twice.`;
        return `${place} answered with an error: ${reason}`;
    }
  };

  return {
    heard(error) {
      const { kind } = faultOf(error);
      if (kind === 'away') away = true;
      const text = kind === 'away' ? `${words(error)} Trying again until it is there.` : words(error);
      const now = performance.now();
      if (now - (told.get(text) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
      if (told.size >= MOST_TEXTS) told.clear();
      told.set(text, now);
      notice('warn', text);
    },
    answered() {
      if (!away) return;
      away = false;
      told.clear();
      notice('info', `The queue at ${what.address} is there again.`);
    },
    explain(error) {
      if (error instanceof RunError) return error;
      const { kind } = faultOf(error);
      const text = words(error);
      return kind === 'away' || kind === 'full'
        ? new StoreAway(text, error)
        : new RunError('failed', text, [], { cause: error });
    },
  };
}
