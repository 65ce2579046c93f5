import type { Logger } from 'pino';

/** What was opened, to be closed in the opposite order, whatever goes wrong on the way. */
export interface Closing {
  add(name: string, close: () => unknown): void;
  /** No step may take longer than this; a step that does is left behind. */
  all(eachMs: number): Promise<void>;
}

export function openClosing(log: Logger): Closing {
  const steps: { name: string; close: () => unknown }[] = [];
  return {
    add: (name, close) => steps.push({ name, close }),
    async all(eachMs) {
      for (const { name, close } of steps.splice(0).reverse()) {
        const ended = (async () => close())().catch((error: unknown) => {
          log.warn({ part: name, err: error }, 'worker.close');
        });
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<void>((resolve) => {
          timer = setTimeout(() => {
            log.warn({ part: name }, 'worker.close_late');
            resolve();
          }, eachMs);
        });
        await Promise.race([ended, late]);
        clearTimeout(timer);
      }
    },
  };
}
