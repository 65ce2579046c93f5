import { expect, it } from 'vitest';
import { Halted } from '../../../src/pipeline/apply/write.js';
import { dispatcher } from '../../../src/runs/rows/dispatch.js';
import type { Carrier, WriteRequest } from '../../../src/runs/run/context.js';
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
    sent: { writes: 0, retries: 0 },
    carry(requests) {
      sent.push('by others');
      return requests.map(() => Promise.resolve({ kind: 'done' as const }));
    },
    cancel: () => undefined,
    quiesce: async () => undefined,
    close: async () => undefined,
  };
  let stopped = false;
  const service = { create: never, update: never } as unknown as Service;
  const send = dispatcher(service, carrier, () => stopped, Date.now);
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
  const create = async () => {
    sent.here++;
    return { kind: 'done' as const };
  };
  const send = dispatcher({ create } as unknown as Service, carrier, () => false, Date.now);
  const request: WriteRequest = { op: 'create', resource: 'supplier', body: {} };
  for (const again of [false, true]) await Promise.all(Array.from({ length: 100 }, () => send(request, again)));
  expect(sent).toEqual({ here: 100, byOthers: 100 });
});
