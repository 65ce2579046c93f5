import { expect, it } from 'vitest';
import { Halted } from '../../../src/pipeline/apply/write.js';
import { dispatcher } from '../../../src/runs/rows/dispatch.js';
import type { Carried, Carrier, WriteRequest } from '../../../src/runs/run/context.js';
import type { Service } from '../../../src/service/port.js';

it.each([
  { takers: 'nobody', parts: 0 },
  { takers: 'others', parts: 5 },
])('what was gathered when the run stops is not sent any more, where $takers could take it', async ({ parts }) => {
  const sent: string[] = [];
  const never = async (): Promise<never> => {
    sent.push('from here');
    throw new Error('sent');
  };
  const carrier: Carrier = {
    parts,
    sent: { reads: 0, writes: 0, retries: 0 },
    lost: false,
    carry(requests) {
      sent.push('by others');
      return requests.map(() => Promise.resolve({ kind: 'done' as const }));
    },
    cancel: () => undefined,
    quiesce: async () => undefined,
    close: async () => undefined,
  };
  let stopped = false;
  const service = { write: never } as unknown as Service;
  const { send } = dispatcher(service, {
    resource: 'supplier',
    carrier,
    size: () => 100,
    stopped: () => stopped,
    now: Date.now,
  });
  const request: WriteRequest = { op: 'create', resource: 'supplier', body: {} };
  const answers = Promise.allSettled(Array.from({ length: 100 }, () => send(request)));
  stopped = true;
  for (const answer of await answers) expect(answer).toMatchObject({ status: 'rejected', reason: expect.any(Halted) });
  expect(sent).toEqual([]);
});

it('what a worker may have died of is sent again from here, whoever else could take it (94)', async () => {
  const sent = { here: 0, byOthers: 0 };
  const carrier = {
    parts: 5,
    carry(requests: readonly WriteRequest[]) {
      sent.byOthers += requests.length;
      return requests.map(() => Promise.resolve({ kind: 'open' as const, answered: false, reason: 'lost' }));
    },
  } as unknown as Carrier;
  const write = async () => {
    sent.here++;
    return { kind: 'done' as const };
  };
  const service = { write } as unknown as Service;
  const { send } = dispatcher(service, {
    resource: 'supplier',
    carrier,
    size: () => 100,
    stopped: () => false,
    now: Date.now,
  });
  const request: WriteRequest = { op: 'create', resource: 'supplier', body: {} };
  for (const again of [false, true]) await Promise.all(Array.from({ length: 100 }, () => send(request, again)));
  expect(sent).toEqual({ here: 100, byOthers: 100 });
});

it('a record is read again by others, is as old as the asking for it, and is left to who asked where they did not', async () => {
  const carrier = {
    parts: 5,
    carry: (requests: readonly Carried[]) =>
      requests.map(async (one) =>
        one.op === 'read' && one.id % 2 === 1 ? { kind: 'read' as const, record: { id: one.id } } : undefined,
      ),
  } as unknown as Carrier;
  let now = 1_000;
  const service = {} as unknown as Service;
  const { readAgain } = dispatcher(service, {
    resource: 'supplier',
    carrier,
    size: () => 100,
    stopped: () => false,
    now: () => now,
  });
  const read = Promise.all(Array.from({ length: 50 }, (_, at) => readAgain?.(at + 1)));
  now = 9_000;
  expect((await read).slice(0, 2)).toEqual([{ record: { id: 1 }, readAt: 1_000 }, undefined]);
  // Few are not worth the way.
  expect(await readAgain?.(1)).toBeUndefined();
});
