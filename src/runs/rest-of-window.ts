import { guardsEveryRow } from '../pipeline/apply/request.js';
import type { Connection } from './connect.js';
import type { Run } from './run.js';

/** A holder of a lock may have lived so long after it last touched it, in milliseconds. */
const TOUCHED_MS = 5_000;

/**
 * Milliseconds within which requests of a process that was killed may still take effect: the settle window after its end.
 * Where the service guards every row, its last but one look is enough: what comes later than that is refused there. `leftAt`:
 * when the process last showed that it lived; undefined: up to now, for all that is known.
 */
export function restOfWindow(
  { settings, clock, job }: Pick<Run, 'settings' | 'clock' | 'job'>,
  { spec, behaviour }: Pick<Connection, 'spec' | 'behaviour'>,
  leftAt: number | undefined,
): number {
  const { settleWindowMs } = settings;
  const enough =
    (guardsEveryRow(job.match, spec, behaviour) ? settleWindowMs.at(-2) : undefined) ?? settleWindowMs.at(-1) ?? 0;
  if (leftAt === undefined) return enough;
  // Never more than the whole: a time ahead of now says that the clock was put back, not how long ago it was.
  return Math.min(enough, leftAt + TOUCHED_MS + enough - clock.wall());
}
