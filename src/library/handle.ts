import type { Progress } from '../model/progress.js';
import type { RunResult } from '../report/summary.js';

/**
 * A run at work: a promise of its result, and its progress while it lasts. Iterating is optional, and may begin at any time. A
 * slow reader sees the latest state and none in between; the iteration ends, without throwing, when the run has ended, whatever
 * its end. Leaving it early leaves the run alone.
 */
export interface RunHandle extends Promise<RunResult>, AsyncIterable<Progress> {}

/** `work` is given where to tell its progress. */
export function runHandle(work: (tell: (progress: Progress) => void) => Promise<RunResult>): RunHandle {
  let latest: Progress | undefined;
  let told = 0;
  let wake = resolvers();
  let ended = false;
  const ring = () => {
    wake.resolve();
    wake = resolvers();
  };
  const result = work((progress) => {
    latest = progress;
    told++;
    ring();
  }).finally(() => {
    ended = true;
    ring();
  });
  async function* progress(): AsyncGenerator<Progress, void, undefined> {
    // Whoever iterates learns of a fault from the promise.
    result.catch(() => undefined);
    for (let seen = 0; ; ) {
      if (seen < told && latest) {
        seen = told;
        yield latest;
      } else if (ended) return;
      else await wake.promise;
    }
  }
  return Object.assign(result, { [Symbol.asyncIterator]: progress });
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function resolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
