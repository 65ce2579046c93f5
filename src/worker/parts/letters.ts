import type { Job, QueueEvents } from 'bullmq';
import type { Message, PartResult } from './protocol.js';

export interface PartListener {
  message(message: Message): void;
  completed?(result: PartResult): void;
  failed?(reason: string): void;
}

/** Hands the events of the parts queue to whoever deals with the part. One for a process. */
export interface Letters {
  listen(id: string, listener: PartListener): void;
  forget(id: string, listener: PartListener): void;
  send(job: Job, message: Message): Promise<void>;
}

export function openLetters(events: QueueEvents): Letters {
  // Both ends of a part may be in this process.
  const listeners = new Map<string, Set<PartListener>>();
  const each = (id: string, tell: (listener: PartListener) => void) => {
    for (const listener of listeners.get(id) ?? []) tell(listener);
  };
  events.on('progress', ({ jobId, data }) => {
    if (typeof data !== 'object' || data === null) return;
    each(jobId, (listener) => listener.message(data as Message));
  });
  events.on('completed', ({ jobId, returnvalue }) => {
    each(jobId, (listener) => listener.completed?.(asResult(returnvalue)));
  });
  events.on('failed', ({ jobId, failedReason }) => each(jobId, (listener) => listener.failed?.(failedReason)));
  return {
    listen(id, listener) {
      const known = listeners.get(id) ?? new Set();
      listeners.set(id, known.add(listener));
    },
    forget(id, listener) {
      const known = listeners.get(id);
      known?.delete(listener);
      if (known?.size === 0) listeners.delete(id);
    },
    send: (job, message) => job.updateProgress(message),
  };
}

/** Some stores hand the value on as it is, others as JSON. What is neither is no result: anybody can put it there. */
export function asResult(value: unknown): PartResult {
  const parsed = typeof value === 'string' ? parsedOf(value) : value;
  return typeof parsed === 'object' && parsed !== null ? (parsed as PartResult) : {};
}

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
