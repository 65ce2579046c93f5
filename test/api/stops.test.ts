import { expect, it } from 'vitest';
import { newRunId } from '../../src/runs/run/layout.js';
import { openStops } from '../../src/worker/jobs/stops.js';
import { until } from '../support/until.js';

/** The texts of a store that several workers share; each answer comes in a later turn. */
function sharedTexts() {
  const texts = new Map<string, string>();
  return {
    texts,
    read: async (name: string) => texts.get(name),
    async update(name: string, edit: (text: string | undefined) => string | undefined) {
      const before = texts.get(name);
      const text = edit(before);
      if (text !== undefined) texts.set(name, text);
      return before;
    },
  };
}

it('a run is stopped by whichever worker has it, and only once', async () => {
  const store = sharedTexts();
  const [here, there] = [openStops(store), openStops(store)];
  const [run, other] = [newRunId(), newRunId()];
  const [watched, left] = [there.watch(run), there.watch(other)];
  await here.ask(run);
  await until(() => watched.signal.aborted);
  expect([watched.signal.reason, left.signal.aborted]).toEqual(['stopped', false]);
  const ending = new AbortController();
  const ends = there.watch(newRunId(), ending.signal);
  ending.abort('SIGTERM');
  expect(ends.signal.reason).toBe('SIGTERM');
  ends.release();
  // Taken up again it is not stopped by what was asked before.
  watched.release();
  await until(() => store.texts.get('stops') === '[]');
  left.release();
});

it('own runs are stopped at once; what was asked for a run that is taken up is taken back', async () => {
  const store = sharedTexts();
  const stops = openStops(store);
  const run = newRunId();
  const watched = stops.watch(run);
  await stops.ask(run);
  expect(watched.signal.aborted).toBe(true);
  watched.release();
  await until(() => store.texts.get('stops') === '[]');
  await stops.ask(run);
  expect(store.texts.get('stops')).toContain(run);
  await stops.withdraw(run);
  expect(store.texts.get('stops')).toBe('[]');
});

it('what several ask for at the same time is all asked for', async () => {
  const store = sharedTexts();
  const runs = Array.from({ length: 10 }, (_, i) => newRunId(new Date(Date.UTC(2026, 0, 1) + i)));
  await Promise.all(runs.map((run) => openStops(store).ask(run)));
  for (const run of runs) expect(store.texts.get('stops')).toContain(run);
});

it('a stop that was asked for holds where the worker dies before the run has stopped', async () => {
  const store = sharedTexts();
  const dead = openStops(store);
  const run = newRunId();
  expect(dead.watch(run).signal.aborted).toBe(false);
  await dead.ask(run);
  dead.close();
  const next = openStops(store).watch(run);
  await until(() => next.signal.aborted);
  next.release();
  await until(() => store.texts.get('stops') === '[]');
});

it('a stop holds that is asked for while the worker is ending: whoever goes on with the run stops', async () => {
  const store = sharedTexts();
  const ending = new AbortController();
  const run = newRunId();
  const here = openStops(store).watch(run, ending.signal);
  ending.abort();
  await openStops(store).ask(run);
  here.release();
  const next = openStops(store).watch(run);
  await until(() => next.signal.reason === 'stopped');
  next.release();
});
