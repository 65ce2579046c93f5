import { setTimeout as pause } from 'node:timers/promises';
import { RunError } from '../../model/error.js';
import { faultOf } from './faults.js';
import type { StoreOptions } from './port.js';

const NOTICE_MS = 10_000;
const LEAST_PAUSE_MS = 200;
const MOST_PAUSE_MS = 2_000;

/**
 *   try → there: done
 *       → away: told at once and every ten seconds, tried again after a pause, until patience ends
 *       → anything else (password, rights, settings of the server): thrown, no waiting
 */
export async function whenThere<T>(
  address: string,
  attempt: () => Promise<T>,
  options: Pick<StoreOptions, 'patienceMs' | 'notice' | 'signal'>,
  explain: (error: unknown) => RunError,
): Promise<T> {
  const began = performance.now();
  let told: number | undefined;
  for (let tries = 0; ; tries++) {
    options.signal.throwIfAborted();
    try {
      const found = await attempt();
      if (told !== undefined) options.notice('info', `The queue at ${address} is there.`);
      return found;
    } catch (error) {
      const { kind, reason } = faultOf(error);
      if (error instanceof RunError || kind !== 'away') throw explain(error);
      const now = performance.now();
      const left = options.patienceMs - (now - began);
      if (left <= 0) {
        throw new RunError(
          'failed',
          `The queue at ${address} cannot be reached (${reason}); waited ${Math.round((now - began) / 1000)} s. ` +
            'Is the server running, and is ROWFERRY_QUEUE_URL right?',
          [],
          { cause: error },
        );
      }
      if (told === undefined || now - told >= NOTICE_MS) {
        told = now;
        options.notice('warn', `The queue at ${address} cannot be reached (${reason}): waiting until it is there.`);
      }
      const delay = Math.min(LEAST_PAUSE_MS * 2 ** Math.min(tries, 10), MOST_PAUSE_MS, left);
      await pause(delay, undefined, { signal: options.signal });
    }
  }
}
