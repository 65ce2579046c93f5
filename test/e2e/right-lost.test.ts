import { expect, it } from 'vitest';
import { RunInterrupted } from '../../src/model/error.js';
import type { Carrier, Right, WorkerContext } from '../../src/runs/run/context.js';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;

const ROWS = 20;
const sheet = (city: string) =>
  csv([['Name', 'City'], ...Array.from({ length: ROWS }, (_, i) => [`Supplier ${i}`, city])]);
const JOB = importOf('supplier', 'name', { Name: 'name', City: 'city' });

/** Shares its work with nobody. */
const alone: Carrier = {
  parts: 0,
  sent: { reads: 0, writes: 0, retries: 0 },
  lost: false,
  carry: (requests) => requests.map(() => Promise.resolve(undefined)),
  cancel: () => undefined,
  quiesce: async () => undefined,
  close: async () => undefined,
};

/** A right as a process has it that was paused: it is over, and no timer had the time to tell. */
function endingRight(): { readonly worker: WorkerContext; end(): void } {
  let valid = true;
  const right: Right = {
    get valid() {
      return valid;
    },
    lost: new AbortController().signal,
    release: async () => undefined,
  };
  return {
    worker: { exclusive: async () => right, carrier: async () => alone },
    end() {
      valid = false;
    },
  };
}

it.each([
  { what: 'creates', method: 'POST', before: [] },
  { what: 'updates', method: 'PUT', before: Array.from({ length: ROWS }, (_, i) => ({ name: `Supplier ${i}` })) },
])('$what that wait in the gate are not sent once the right may be over; the resumption sends them', async (given) => {
  const { worker, end } = endingRight();
  let writes = 0;
  desk = await openDesk({
    onRequest({ method }) {
      // The pause that is asked for with this answer is longer than the right lasts.
      if (method === given.method && ++writes === 5) end();
    },
  });
  desk.sandbox.insert('supplier', given.before);
  desk.sandbox.setFaults([`${given.method} /supplier nth=5 status=429 retry_after=1`]);
  const file = await desk.file('suppliers.csv', sheet('Bern'));
  const env = { ROWFERRY_CONCURRENCY: '1' };
  await expect(desk.import(file, JOB, { worker, env })).rejects.toThrow(RunInterrupted);
  expect(writes).toBe(5);
  expect(desk.sandbox.commits).toHaveLength(4);

  const { summary } = await desk.resume();
  expect(summary.rows).toMatchObject({ [given.what === 'creates' ? 'created' : 'updated']: ROWS, total: ROWS });
  expect(summary.status).toBe('succeeded');
  expect(desk.sandbox.commits).toHaveLength(ROWS);
});

it('a run at whose end the queue is away lets go of everything all the same: it can be taken up at once', async () => {
  const away = async () => {
    throw new Error('the queue is away');
  };
  const right: Right = { valid: true, lost: new AbortController().signal, release: away };
  desk = await openDesk();
  const file = await desk.file('suppliers.csv', sheet('Bern'));
  const unreleased: WorkerContext = { exclusive: async () => right, carrier: async () => alone };
  expect((await desk.import(file, JOB, { worker: unreleased })).summary.status).toBe('succeeded');

  const carrier = { ...alone, close: away };
  const unclosed: WorkerContext = { exclusive: async () => right, carrier: async () => carrier };
  await expect(desk.import(file, JOB, { worker: unclosed })).rejects.toThrow('the queue is away');
  expect((await desk.resume()).summary).toMatchObject({ status: 'succeeded', rows: { unchanged: ROWS } });
});
