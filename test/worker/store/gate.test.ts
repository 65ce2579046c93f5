import { expect, it } from 'vitest';
import { Gate } from '../../../src/worker/store/embedded/gate.js';

/** Work that keeps the thread, and whose answer comes without the event loop turning, as PGlite's does. */
const busy = (ms: number) => async () => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

it('lets timers and sockets have their turn where every answer brings the next question', async () => {
  const gate = new Gate();
  const party = {};
  let turns = 0;
  let on = true;
  const turn = () => {
    turns++;
    if (on) setImmediate(turn);
  };
  setImmediate(turn);
  for (let i = 0; i < 80; i++) {
    await gate.run(party, busy(2), () => false);
    // As long a way back to whoever asked as through a client and its library: the gate has nothing to do by then.
    for (let step = 0; step < 20; step++) await undefined;
  }
  on = false;
  // 160 ms of work in pieces of 2 ms: after every third or fourth piece the loop turned.
  expect(turns).toBeGreaterThan(15);
  await gate.drain(new Error('closed'));
  expect(gate.free).toBe(true);
});
