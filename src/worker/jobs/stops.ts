import { z } from 'zod';
import { STOPPED } from '../../runs/run/context.js';
import { isRunId } from '../../runs/run/list.js';
import { repeatEvery } from '../rights.js';
import type { Store } from '../store/port.js';
import { parseAs } from '../store/shared.js';

/** Runs that somebody wants stopped, in one text of the store that each worker looks at while it has runs. */
const stopsSchema = z.array(z.object({ run: z.custom<string>(isRunId), at: z.number() })).max(1_000);
type StopRequests = z.output<typeof stopsSchema>;

const STOPS_KEY = 'stops';
const POLL_MS = 1_000;
/** Whoever has the run looks long before, unless no worker is there; what nobody takes up is forgotten. */
const KEEP_MS = 7 * 86_400_000;
const MOST_STOPS = 200;

export type Stops = ReturnType<typeof openStops>;

export function openStops(store: Pick<Store, 'read' | 'update'>) {
  const running = new Map<string, AbortController>();

  async function poll(): Promise<void> {
    if (running.size === 0) return;
    // A store that is away is asked again.
    const text = await store.read(STOPS_KEY).catch(() => undefined);
    for (const { run } of parseAs(stopsSchema, text) ?? []) running.get(run)?.abort(STOPPED);
  }
  const close = repeatEvery(POLL_MS, poll);

  const change = (edit: (all: StopRequests) => StopRequests) =>
    store.update(STOPS_KEY, (text) => {
      const all = (parseAs(stopsSchema, text) ?? []).filter(({ at }) => Date.now() - at < KEEP_MS);
      return JSON.stringify(edit(all).slice(-MOST_STOPS));
    });

  const withdraw = (run: string) => change((all) => all.filter((one) => one.run !== run));

  return {
    /** While a run is at work here: the signal is aborted, with `STOPPED`, once somebody wants it stopped, or by what else ends it. */
    watch(run: string, ...ends: readonly AbortSignal[]): { readonly signal: AbortSignal; release(): void } {
      const controller = new AbortController();
      const signal = AbortSignal.any([controller.signal, ...ends]);
      running.set(run, controller);
      void poll();
      return {
        signal,
        release() {
          if (running.get(run) === controller) running.delete(run);
          // Where something else ended it here, another worker goes on with the run, and has to stop.
          if (signal.reason === STOPPED) void withdraw(run).catch(() => undefined);
        },
      };
    },
    /** Stops a run, on whichever worker of the queue it is, or will be where that one dies before the run has stopped. */
    async ask(run: string): Promise<void> {
      const local = running.get(run);
      local?.abort(STOPPED);
      await change((all) => [...all.filter((one) => one.run !== run), { run, at: Date.now() }]).catch((error) => {
        if (!local) throw error;
      });
    },
    /** What was asked before does not concern a run that is taken up on request. */
    withdraw,
    close,
  };
}
