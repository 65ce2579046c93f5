import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import type { Job } from 'bullmq';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Decimal } from '../../../src/model/decimal.js';
import type { Carried, CarriedAnswer, WriteRequest } from '../../../src/runs/run/context.js';
import { resolveSettings } from '../../../src/runs/settings.js';
import { partExecutor } from '../../../src/worker/parts/parts.js';
import type { PartListener } from '../../../src/worker/parts/protocol.js';
import { answersOf, openSigner, type PartData, pack } from '../../../src/worker/parts/protocol.js';
import { privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { creates, LEASE_MS, lettersWith, openPartsTeam, type PartsTeam } from './team.js';

let redis: Awaited<ReturnType<typeof privateRedis>>;
let team: PartsTeam;
let service: Server;
const seen: string[] = [];
const logged: string[] = [];
/** Answers to the first requests; then 200. */
let statuses: number[] = [];

beforeAll(async () => {
  redis = await privateRedis();
  service = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      seen.push(`${request.method} ${request.url?.replace('/api/v2', '')}`);
      const status = statuses.shift() ?? 200;
      response.writeHead(status, status === 429 ? { 'retry-after': '2' } : {});
      response.end(
        request.method === 'GET' && status === 200 ? '{"id":1,"name":"Acme","total":99999999999999.99}' : '',
      );
    });
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
  await redis?.stop();
});
beforeEach(async () => {
  team = await openPartsTeam(redis.url);
  seen.length = 0;
  statuses = [];
});
afterEach(() => team.close());

const update = (id: number, freshUntil?: number): WriteRequest => ({
  op: 'update',
  resource: 'supplier',
  id,
  method: 'PUT',
  body: { name: `Supplier ${id}` },
  ...(freshUntil === undefined ? {} : { freshUntil }),
});

const partOf = (requests: readonly unknown[], packed = pack(requests)): PartData => ({
  v: 4,
  run: 'run',
  company: 1,
  resource: 'supplier',
  count: requests.length,
  packed,
});

/** The answers of a real executor to a part that is granted by a coordinator whose clock shows `now`. */
async function carryOut(
  requests: readonly Carried[],
  now: number,
  onGrant: (job: Job) => void = () => undefined,
  signal = new AbortController().signal,
): Promise<(CarriedAnswer | null)[]> {
  const { port } = service.address() as AddressInfo;
  const settings = resolveSettings(
    {
      ROWFERRY_API_URL: `http://127.0.0.1:${port}`,
      ROWFERRY_API_TOKEN: 'test-token',
      ROWFERRY_CONCURRENCY: '1',
      ROWFERRY_PATIENCE: '0.05',
    },
    {},
    '/nowhere',
  );
  const { letters } = team;
  const execute = partExecutor({
    settings,
    messenger: letters,
    signal,
    leaseMs: LEASE_MS,
    log: pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }),
  });
  let given = 0;
  const give = () => {
    const jobId = `one.${given++}`;
    return team.queue.add('part', letters.signedPart(jobId, partOf(requests)), { jobId });
  };
  const result = new Promise<string>((resolve, reject) => {
    void team
      .executor(async (job, token) => {
        const listener: PartListener = {
          message(message) {
            if (!('ask' in message)) return;
            onGrant(job);
            void letters.send(job, { grant: message.ask, at: message.at, now });
          },
        };
        letters.listen(job.id ?? '', listener);
        const ended = await execute(job, token).finally(() => letters.forget(job.id ?? '', listener));
        if ('answers' in ended) resolve(ended.answers);
        // The grant came when its lease was over: on a busy machine it may.
        else if (job.id?.startsWith('one.')) await give();
        return ended;
      })
      .catch(reject);
  });
  await give();
  const pairs = answersOf(await result, requests);
  expect(pairs).toHaveLength(requests.length);
  return pairs.sort(([a], [b]) => a - b).map(([, answer]) => answer);
}

it('reckons by the clock of the coordinator, whatever its own shows', async () => {
  const hour = 3_600_000;
  for (const now of [Date.now() + hour, Date.now() - hour]) {
    seen.length = 0;
    const answers = await carryOut([update(1, now + 30_000), update(2, now - 1), update(3)], now);
    expect(answers.map((answer) => answer?.kind)).toEqual(['done', undefined, 'done']);
    expect(seen).toEqual(['PUT /supplier/1', 'PUT /supplier/3']);
    await team.close();
    team = await openPartsTeam(redis.url);
  }
});

it('says in its log of which run the request is that failed', async () => {
  statuses = [503];
  await carryOut([update(1)], Date.now());
  expect(logged.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ msg: 'service.open', run: 'run', part: expect.stringContaining('one.') }),
  );
});

it('reads records, also one that is there no more, and counts what it asked', async () => {
  statuses = [200, 404];
  const read = (id: number) => ({ op: 'read' as const, resource: 'supplier' as const, id });
  const answers = await carryOut([read(1), read(2), update(3)], Date.now());
  expect(answers.map((one) => (one?.kind === 'read' ? one.record : one?.kind))).toEqual([
    { id: 1, name: 'Acme', total: Decimal.of('99999999999999.99') },
    null,
    'done',
  ]);
  expect(seen).toEqual(['GET /supplier/1/?company=1', 'GET /supplier/2/?company=1', 'PUT /supplier/3']);
});

it('hands back what becomes stale while it waits; creates do not', async () => {
  statuses = [429];
  const now = Date.now();
  const [create] = creates(1);
  const answers = await carryOut([update(1, now + 1_000), update(2, now + 60_000), create as WriteRequest], now);
  expect(answers.map((answer) => answer?.kind)).toEqual([undefined, 'done', 'done']);
  expect(seen).toEqual(['PUT /supplier/1', 'PUT /supplier/2', 'POST /supplier']);
});

it('sends nothing more once it cannot be sure of its lock, also what waited in the gate (47, 53)', async () => {
  statuses = [429];
  const answers = await carryOut([update(1), update(2)], Date.now(), () => {
    void until(() => seen.length === 1).then(() => {
      // As a paused process: no timer of it runs.
      const end = performance.now() + LEASE_MS + 1_500;
      while (performance.now() < end);
    });
  });
  expect(answers).toEqual([null, null]);
  expect(seen).toEqual(['PUT /supplier/1']);
});

describe('a forged part', () => {
  const name = { name: 'Supplier' };
  const bomb = deflateRawSync(`[${'[],'.repeat(2_000_000)}[]]`, { level: 9 }).toString('base64');
  const large = deflateRawSync(Buffer.alloc(100 << 20, ' ')).toString('base64');
  const deep = deflateRawSync(`${'['.repeat(100_000)}${']'.repeat(100_000)}`).toString('base64');
  /** Signed by a worker all the same, so that the form alone holds it back. */
  const ofRequest = (request: unknown) => partOf([request]);
  const SIGNED: readonly [what: string, part: unknown][] = [
    ['another op', ofRequest({ op: 'delete', resource: 'supplier', id: 7, body: name })],
    ['a method that is none', ofRequest({ ...update(7), method: 'DELETE' })],
    [
      'a path for the id of what is read',
      ofRequest({ op: 'read', resource: 'supplier', id: '../../../admin/users/7' }),
    ],
    ['a path for an id', ofRequest({ ...update(7), id: '../../../admin/users/7' })],
    ['no positive id', ofRequest({ ...update(7), id: -1 })],
    ['records that are not written', { ...ofRequest({ ...update(7), resource: 'license' }), resource: 'license' }],
    ['records of another kind', ofRequest({ ...update(7), resource: 'asset' })],
    ['records of another company', ofRequest({ ...update(7), body: { ...name, company: 2 } })],
    ['a query of its own', ofRequest({ ...creates(1)[0], query: { company: '2' } })],
    ['something more', ofRequest({ ...update(7), headers: {} })],
    ['a company that is none', { ...partOf([update(7)]), company: '1/../2' }],
    ['fewer requests than it says', { ...partOf([update(7)]), count: 2 }],
    ['objects by the million (94)', partOf([update(7)], bomb)],
    ['a hundred times its size (94)', partOf([update(7)], large)],
    ['level upon level (94)', partOf([update(7)], deep)],
  ];
  const secret = 'the secret of others';
  const UNSIGNED: readonly [what: string, part: () => unknown][] = [
    ['without a signature', () => partOf([update(7)])],
    [
      'signed with another secret',
      async () => (await lettersWith(team, secret)).signedPart('forged', partOf([update(7)])),
    ],
    ['of another part', () => team.letters.signedPart('run.another.0', partOf([update(7)]))],
    ['changed', () => ({ ...team.letters.signedPart('forged', partOf([update(7)])), company: 2 })],
  ];
  it.each([
    ...SIGNED.map(([what, part]) => [what, () => team.letters.signedPart('forged', part as PartData)] as const),
    ...UNSIGNED,
  ])('%s: nothing of it is sent, nobody asks for it, and the next one is (92)', async (_, part) => {
    let asked = false;
    const listener: PartListener = {
      message() {
        asked = true;
      },
    };
    team.letters.listen('forged', listener);
    const forged = await team.queue.add('part', (await part()) as object, { jobId: 'forged', attempts: 3 });
    const now = Date.now();
    expect((await carryOut([update(8)], now)).map((answer) => answer?.kind)).toEqual(['done']);
    await until(async () => (await team.queue.getJob('forged'))?.finishedOn !== undefined);
    expect(await forged.getState()).toBe('failed');
    expect([seen, asked]).toEqual([['PUT /supplier/8'], false]);
  });

  it('that is granted by a forger is not sent, and one that was granted before is not sent again (92)', async () => {
    const { letters } = team;
    const part = letters.signedPart('old', partOf([update(7)]));
    // Whoever signed the part is gone; what it said then is all there is.
    const listener: PartListener = {
      message(message) {
        if (!('ask' in message)) return;
        void job.updateProgress({ grant: message.ask, at: message.at, now: Date.now() });
        void letters.send(job, { grant: 'an earlier executor', at: message.at, now: Date.now() });
        void letters.send(job, { deny: message.ask });
      },
    };
    letters.listen('old', listener);
    const job = await team.queue.add('part', part, { jobId: 'old' });
    expect((await carryOut([update(8)], Date.now())).map((answer) => answer?.kind)).toEqual(['done']);
    await until(async () => (await team.queue.getJob('old'))?.finishedOn !== undefined);
    expect(seen).toEqual(['PUT /supplier/8']);
  });
});

it('signs with what stays the same of the credentials, and takes nothing else', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'rowferry-secret-')), 'token');
  await writeFile(file, 'Bearer the-token-of-today\n');
  const ours = await openSigner({ auth: { kind: 'file', path: file } });
  const token = await openSigner({ auth: { kind: 'token', token: 'the-token-of-today' } });
  expect(token.verify('text', ours.sign('text'))).toBe(true);
  expect(token.verify('texts', ours.sign('text'))).toBe(false);
  const oauth = { kind: 'oauth', tokenUrl: 'http://x', clientId: 'a', clientSecret: 'b' } as const;
  const others = [oauth, { ...oauth, clientSecret: 'c' }, { kind: 'file', path: `${file}.none` } as const];
  for (const auth of others) expect(ours.verify('text', (await openSigner({ auth })).sign('text'))).toBe(false);
  expect((await openSigner({ auth: oauth })).verify('text', (await openSigner({ auth: oauth })).sign('text'))).toBe(
    true,
  );
  await rm(dirname(file), { recursive: true });
});
