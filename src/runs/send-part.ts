import { eachLimit } from '../pipeline/apply.js';
import { sendRequest, type WriteRequest } from '../pipeline/send.js';
import type { RequestCounts, WriteAnswer } from '../service/port.js';
import { openService } from '../service/service.js';
import { sharedParts } from './connect.js';
import type { RunContext, WorkerContext } from './context.js';
import { serviceOptions } from './service-options.js';

export interface PartContext
  extends Pick<RunContext, 'settings' | 'signal' | 'log'>,
    Pick<WorkerContext, 'channel' | 'observe'> {
  readonly company: number;
  /** Asked at the last moment before each request: false where the right to send this part is in doubt. */
  readonly maySend: () => boolean;
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
  const { settings, signal, log, company, maySend } = context;
  const service = openService({
    ...serviceOptions(settings, company),
    ...sharedParts(context),
    signal,
    log: (level, event, fields) => log[level](fields, event),
  });
  const stopped = () => signal.aborted || !maySend();
  try {
    await eachLimit([...requests.entries()], settings.concurrency, async ([index, request]) => {
      if (stopped()) return told(index, undefined);
      const answer = await sendRequest(request, service);
      told(index, answer.kind === 'unsent' && stopped() ? undefined : answer);
    });
    return { ...service.counts };
  } finally {
    await service.close();
  }
}
