import { z } from 'zod';
import { STOPPED } from '../../runs/run/context.js';
import { isRunId } from '../../runs/run/list.js';
import { every } from '../rights.js';
import type { Store } from '../store/port.js';
import { parsed } from '../store/shared.js';

/** Runs that somebody wants stopped, in one text of the store that each worker looks at while it has runs. */
const asked = z.array(z.object({ run: z.custom<string>(isRunId), at: z.number() })).max(1_000);
type Asked = z.output<typeof asked>;

const NAME = 'stops';
const LOOK_MS = 1_000;
/** Whoever has the run looks long before, unless no worker is there; what nobody takes up is forgotten. */
const KEEP_MS = 7 * 86_400_000;
const MOST = 200;

export type Stops = ReturnType<typeof openStops>;

export function openStops(store: Pick<Store, 'read' | 'update'>) {
  const here = new Map<string, AbortController>();

  async function look(): Promise<void> {
    if (here.size === 0) return;
    // A store that is away is asked again.
    const text = await store.read(NAME).catch(() => undefined);
    for (const { run } of parsed(asked, text) ?? []) here.get(run)?.abort(STOPPED);
  }
  const close = every(LOOK_MS, look);

  const change = (edit: (all: Asked) => Asked) =>
    store.update(NAME, (text) => {
      const all = (parsed(asked, text) ?? []).filter(({ at }) => Date.now() - at < KEEP_MS);
      return JSON.stringify(edit(all).slice(-MOST));
    });

  const withdraw = (run: string) => change((all) => all.filter((one) => one.run !== run));

  return {
    /** While a run is at work here: the signal is aborted, with `STOPPED`, once somebody wants it stopped, or by what else ends it. */
    watch(run: string, ...ends: readonly AbortSignal[]): { readonly signal: AbortSignal; release(): void } {
      const controller = new AbortController();
      const signal = AbortSignal.any([controller.signal, ...ends]);
      here.set(run, controller);
      void look();
      return {
        signal,
        release() {
          if (here.get(run) === controller) here.delete(run);
          // Where something else ended it here, another worker goes on with the run, and has to stop.
          if (signal.reason === STOPPED) void withdraw(run).catch(() => undefined);
        },
      };
    },
    /** Stops a run, on whichever worker of the queue it is, or will be where that one dies before the run has stopped. */
    async ask(run: string): Promise<void> {
      const own = here.get(run);
      own?.abort(STOPPED);
      await change((all) => [...all.filter((one) => one.run !== run), { run, at: Date.now() }]).catch((error) => {
        if (!own) throw error;
      });
    },
    /** What was asked before does not concern a run that is taken up on request. */
    withdraw,
    close,
  };
}
