import { EXIT } from '../model/error.js';

/**
 * SIGINT and SIGTERM while a command works.
 *
 *   working --first signal--> stopping: `signal` is aborted; requests in flight finish and the reports are written
 *   stopping --second signal--> the process ends at once; the journal holds what is needed to resume
 */
export interface Interruption {
  /** Its reason is the signal's name. */
  readonly signal: AbortSignal;
  /** 130 or 143 once a signal has come. */
  exitCode(): number | undefined;
  /** Stops listening. */
  release(): void;
}

export function onInterrupt(announce: (signal: NodeJS.Signals) => void): Interruption {
  const controller = new AbortController();
  let code: number | undefined;
  const listen = (name: 'SIGINT' | 'SIGTERM') => () => {
    const own = name === 'SIGINT' ? EXIT.sigint : EXIT.sigterm;
    if (code !== undefined) process.exit(own);
    code = own;
    announce(name);
    controller.abort(name);
  };
  const listeners = { SIGINT: listen('SIGINT'), SIGTERM: listen('SIGTERM') };
  process.on('SIGINT', listeners.SIGINT);
  process.on('SIGTERM', listeners.SIGTERM);
  return {
    signal: controller.signal,
    exitCode: () => code,
    release() {
      process.off('SIGINT', listeners.SIGINT);
      process.off('SIGTERM', listeners.SIGTERM);
    },
  };
}
