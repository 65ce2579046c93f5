import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addKey, openKeys } from '../../src/api/access/credentials.js';
import type { ApiDeps } from '../../src/api/app.js';
import { type RunSnapshot, runEvents, streamOf } from '../../src/api/runs/events.js';
import type { RunDetail } from '../../src/api/schema.js';
import { noOutcomes } from '../../src/model/outcome.js';
import { until } from '../support/until.js';
import { apiIn, pagesFor } from './support.js';
import { type ApiBench, openApiBench, sheet } from './worker.js';

interface Event {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: of two forms
  readonly data: any;
}

/** Reads events until the stream ends, or `enough`. */
async function read(
  body: ReadableStream<Uint8Array>,
  enough: (events: Event[]) => boolean = () => false,
): Promise<Event[]> {
  const events: Event[] = [];
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (let text = ''; ; ) {
    const { done, value } = await reader.read();
    if (done) return events;
    text += decoder.decode(value, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const fields = new Map(part.split('\n').map((line) => line.split(': ', 2) as [string, string]));
      const [, data = 'null'] = /^data: (.*)$/m.exec(part) ?? [];
      if (fields.has('event'))
        events.push({ id: fields.get('id') ?? '', event: fields.get('event') ?? '', data: JSON.parse(data) });
    }
    if (enough(events)) {
      await reader.cancel();
      return events;
    }
  }
}

describe('with a worker', () => {
  let bench: ApiBench;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  beforeAll(async () => {
    bench = await openApiBench(
      { onRequest: ({ method }) => (method === 'GET' ? undefined : held) },
      { ROWFERRY_TIMEOUT: '30' },
    );
  });
  afterAll(async () => {
    release();
    await bench.close();
  });
  const listen = (run: string, lastId?: string, key = bench.keys.viewer) =>
    fetch(`${bench.url}/api/v1/runs/${run}/events`, {
      headers: { authorization: `Bearer ${key}`, ...(lastId && { 'last-event-id': lastId }) },
    });

  it('tells how a run goes on and how it ended; whoever comes back is told nothing anew', async () => {
    const run = await bench.order({ kind: 'import', job: 'assets', file: await bench.file('e.csv', sheet(30)) });
    const answer = await listen(run);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const whole = read(answer.body!);
    await until(async () => (await bench.call('GET', `/runs/${run}`)).body.progress?.phase === 'writing');
    const writing = ({ data }: { data: { phase?: string } }) => data.phase === 'writing';
    const at = (await read((await listen(run)).body!, (events) => events.some(writing))).find(writing);
    expect(at).toMatchObject({ event: 'progress', data: { phase: 'writing', total: 30, done: 0 } });
    // The state is the one that is known: there is nothing to tell but its end.
    const back = read((await listen(run, at?.id)).body!);
    // Whose key is removed meanwhile hears no more of it.
    const keys = openKeys(bench.home);
    const gone = await listen(run, undefined, await addKey(keys, 'gone', 'viewer'));
    await keys.remove('gone');
    expect((await read(gone.body!)).map(({ event }) => event)).not.toContain('end');
    release();
    const [events, later] = await Promise.all([whole, back]);
    const end = events.at(-1);
    expect(end).toMatchObject({ event: 'end', data: { id: run, status: 'succeeded', rows: 30 } });
    expect(events.every(({ event }, i) => event === (i === events.length - 1 ? 'end' : 'progress'))).toBe(true);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(later.some(({ id }) => id === at?.id)).toBe(false);
    expect((await listen(run, end?.id)).status).toBe(204);
    expect(await read((await listen(run)).body!)).toEqual([end]);
  });

  it('takes no more listeners than it has places for; who leaves makes room', async () => {
    const run = await bench.order({ kind: 'import', job: 'assets', file: await bench.file('l.csv', sheet(1)) });
    const answers = await Promise.all(Array.from({ length: 101 }, () => listen(run)));
    const open = answers.filter(({ status }) => status === 200);
    expect([open.length, answers.filter(({ status }) => status === 429).length]).toEqual([100, 1]);
    await Promise.all(open.map(({ body }) => body?.cancel()));
    await until(async () => {
      const { status, body } = await listen(run);
      await body?.cancel();
      return status === 200;
    });
  });

  it('a question for the headers alone takes no place of a listener', async () => {
    const run = await bench.order({ kind: 'import', job: 'assets', file: await bench.file('h.csv', sheet(1)) });
    await bench.ended(run);
    for (let i = 0; i < 110; i++) expect((await bench.call('HEAD', `/runs/${run}/events`)).status).toBe(200);
    expect((await listen(run)).status).toBe(200);
  });
});

it('says of a run at work that the service does not answer', async () => {
  const bench = await openApiBench({}, { ROWFERRY_PATIENCE: '1' });
  try {
    const file = await bench.file('a.csv', sheet(2));
    await bench.sandbox.close();
    const run = await bench.order({ kind: 'import', job: 'assets', file, once: true });
    await until(async () => (await bench.call('GET', `/runs/${run}`)).body.progress?.service_away === true);
  } finally {
    await bench.close();
  }
});

it('one that takes nothing for a while is told the latest, and the end', async () => {
  let now: RunSnapshot | undefined;
  const note = (done: number) => {
    now = { progress: { phase: 'writing', done, total: 12, outcomes: noOutcomes() } };
  };
  let ended = 0;
  const body = streamOf(
    runEvents(async () => now, undefined, new AbortController().signal, 1),
    () => ended++,
  );
  note(1);
  const reader = body.getReader();
  const next = async () => new TextDecoder().decode((await reader.read()).value);
  expect([await next(), await next()]).toEqual([': listening\n\n', expect.stringContaining('"done":1,')]);
  for (let done = 2; done <= 12; done++) note(done);
  expect(await next()).toContain('"done":12,');
  now = { progress: null, end: { id: 'one', status: 'succeeded' } as RunDetail };
  expect(await next()).toContain('"status":"succeeded"');
  expect([(await reader.read()).done, ended]).toEqual([true, 1]);
});

it('all who listen to a run share what is seen of it', async () => {
  let looks = 0;
  const job = { id: 'a-job', name: 'import', data: { job: 'assets' }, timestamp: Date.now(), progress: {} };
  const queue = {
    getJob: async () => {
      looks++;
      return job;
    },
    getJobState: async () => 'active',
  } as unknown as ApiDeps['queue'];
  const pages = pagesFor(apiIn(join(tmpdir(), 'rowferry-no-home'), { queue }));
  const heard = async () => {
    const { body } = await pages.request('/api/v1/runs/a-job/events');
    return body!.getReader();
  };
  const readers = await Promise.all(Array.from({ length: 50 }, heard));
  const before = looks;
  await Promise.all(readers.map(async (reader) => [await reader.read(), await reader.read()]));
  expect(looks - before).toBeLessThan(5);
  await Promise.all(readers.map((reader) => reader.cancel()));
});
