import { RunError } from '../../model/error.js';
import { RUNS_QUEUE } from './data.js';
import { type Delivery, postpone } from './delivery.js';
import { FileAway, OutsideRoots } from './roots.js';
import type { JobState } from './state.js';
import { readElsewhere } from './told-roots.js';

/** A file that is on another machine is looked for by others, so often and so long apart. */
const AWAY = { times: 30, everyMs: 2_000 };

/**
 * What is to be thrown for a file that this worker cannot have: the job is handed on to the workers that may, and fails,
 * with `advice`, where there are none. Any other error comes back as it is.
 */
export async function handOn(delivery: Delivery, state: JobState, error: unknown, advice: string): Promise<unknown> {
  const { data, deps } = delivery;
  const away =
    error instanceof FileAway ||
    (error instanceof OutsideRoots && (await readElsewhere(deps.store, deps.homeId, data.file ?? '')));
  if (!away) return error;
  const times = (state.away ?? 0) + 1;
  // Where no other worker is there, nobody else can have it.
  const alone = (await deps.store.workers(RUNS_QUEUE)) === 1;
  if (!alone && times <= AWAY.times) return postpone(delivery, AWAY.everyMs, { ...state, away: times });
  const looked = alone ? '' : ` No worker that took the job within ${(AWAY.times * AWAY.everyMs) / 1000} s has it.`;
  return new RunError('failed', `${error.message}${looked} ${advice}`, [], { cause: error });
}
