import { RunError } from '../model/error.js';
import { eachLimit } from '../pipeline/apply/apply.js';
import { isFreshAt, sendRequest, type WriteRequest } from '../pipeline/apply/request.js';
import type { RequestCounts, WriteAnswer } from '../service/port.js';
import { openService } from '../service/service.js';
import { sharedParts } from './connect.js';
import type { RunContext, WorkerContext } from './context.js';
import { serviceOptions } from './service-options.js';

export { isFreshAt };

export interface PartContext
  extends Pick<RunContext, 'settings' | 'signal' | 'log'>,
    Pick<WorkerContext, 'channel' | 'observe'> {
  readonly company: number;
  /** Asked at the last moment before each try: false where the right to send this part is in doubt. */
  readonly maySend: () => boolean;
  /** Asked likewise: false where the record of an update has to be read again before it is sent. */
  readonly isFresh: (request: WriteRequest) => boolean;
}

/**
 * Sends a part of another worker's run, in order. `told` hears of every request exactly once: its answer, or undefined
 * where it certainly was not sent.
 */
export async function sendPart(
  requests: readonly WriteRequest[],
  context: PartContext,
  told: (index: number, answer: WriteAnswer | undefined) => void,
): Promise<RequestCounts> {
  const { settings, signal, log, company, maySend, isFresh } = context;
  const service = openService({
    ...serviceOptions(settings, company),
    ...sharedParts(context),
    signal,
    mayWrite: maySend,
    log: (level, event, fields) => log[level](fields, event),
  });
  let stopped = false;
  try {
    await eachLimit([...requests.entries()], settings.concurrency, async ([index, request]) => {
      if (signal.aborted || stopped) return told(index, undefined);
      try {
        const answer = await sendRequest(request, service, isFresh);
        told(index, isOurs(answer, signal) ? undefined : answer);
      } catch (error) {
        // A token refused, a redirect: nothing was written. The run's own worker meets the same, and says it to people.
        if (!(error instanceof RunError)) throw error;
        log.warn({ reason: error.message }, 'part.stopped');
        stopped = true;
        told(index, undefined);
      }
    });
    return { ...service.counts };
  } finally {
    await service.close();
  }
}

/** Not sent for a reason of this process: somebody else may send it, or its run decide anew. */
function isOurs(answer: WriteAnswer, signal: AbortSignal): boolean {
  return answer.kind === 'unsent' && (answer.withheld !== undefined || signal.aborted);
}
