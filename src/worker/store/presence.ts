import type { Primitives } from './primitives.js';

/** Tells the store which queues this process works on, so that all can count who is there. */
export interface Presence {
  /** Until the returned function is called. */
  enter(queue: string): () => void;
  count(queue: string): Promise<number>;
  close(): Promise<void>;
}

/** Three beats may be missed before a member counts as gone. */
const BEAT_MS = 3_000;

export function openPresence(
  store: Pick<Primitives, 'present' | 'absent' | 'count'>,
  member: string,
  failed: (error: unknown) => void,
): Presence {
  const working = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();

  async function beat(): Promise<void> {
    try {
      await Promise.all([...working.keys()].map((queue) => store.present(queue, member)));
    } catch (error) {
      failed(error);
    }
  }
  /** One after the other, so that a late beat never follows a farewell. */
  const next = (step: () => Promise<void>): Promise<void> => {
    beating = beating.then(step, step);
    return beating;
  };
  const leave = async (queue: string) => {
    if (!working.has(queue)) await store.absent(queue, member).catch(failed);
  };

  return {
    enter(queue) {
      working.set(queue, (working.get(queue) ?? 0) + 1);
      void next(beat);
      timer ??= setInterval(() => void next(beat), BEAT_MS).unref();
      let left = false;
      return () => {
        if (left) return;
        left = true;
        const others = (working.get(queue) ?? 1) - 1;
        if (others > 0) working.set(queue, others);
        else working.delete(queue);
        void next(() => leave(queue));
      };
    },
    async count(queue) {
      await beating;
      return Math.max(await store.count(queue), working.has(queue) ? 1 : 0);
    },
    async close() {
      clearInterval(timer);
      const queues = [...working.keys()];
      working.clear();
      await next(async () => void (await Promise.all(queues.map(leave))));
    },
  };
}
