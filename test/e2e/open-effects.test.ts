import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { expectTruth } from '../support/truth.js';

const ASSETS = importOf(
  'asset',
  { key: 'serial_number', unique_field: 'serial_number' },
  { Name: 'name', Serial: 'serial_number', Cost: 'original_cost' },
);
const UNGUARDED = { ...ASSETS, match: { key: 'serial_number' } };
const SUPPLIERS = importOf('supplier', 'name', { Name: 'name', City: 'city' });
const CUSTOMERS = { ...SUPPLIERS, resource: 'customer' };
const ROWS = 6;
const FAST = { ROWFERRY_TIMEOUT: '1' };

let desk: Desk;

const assets = (rows = ROWS, cost = '10.00') =>
  desk.file('assets.csv', [
    ['Name', 'Serial', 'Cost'],
    ...Array.from({ length: rows }, (_, i) => [`Asset ${i}`, `SN-${i}`, cost]),
  ]);
const parties = (rows = ROWS, city = 'Bern') =>
  desk.file('parties.csv', [['Name', 'City'], ...Array.from({ length: rows }, (_, i) => [`Party ${i}`, city])]);

const outcomes = (imported: Imported) => imported.results.map((row) => row['outcome']);
const posts = () => desk.sandbox.commits.filter((one) => one.method === 'POST').length;
const sent = () =>
  Object.entries(desk.sandbox.requests.kinds).reduce((sum, [kind, n]) => sum + (kind.startsWith('POST') ? n : 0), 0);
const all = (outcome: string, rows = ROWS) => Array.from({ length: rows }, () => outcome);

describe('a create whose effect is open is found by its key, and there is one record', () => {
  /** Only where nothing else ends the request: on a busy machine an answer takes its time, too. */
  const patience = (fault: string) => (/^(?:timeout|drip)/.test(fault) ? { env: FAST } : {});
  const cases: [string, string, number][] = [
    ['no answer, not executed (2)', 'timeout_before', 2],
    ['no answer, executed (3)', 'timeout_after', 1],
    ['connection reset, not executed (6)', 'close_before', 2],
    ['connection reset, executed', 'close_after', 1],
    ['reset after the status line (5)', 'reset_after_status', 1],
    ['500, not executed (11)', 'status=500', 2],
    ['500, executed (11)', 'status=500 execute', 1],
    ['503, executed (11)', 'status=503 execute', 1],
    ['504, executed', 'status=504 execute', 1],
    ['408, executed', 'status=408 execute', 1],
    ['a login page (12)', 'html_login', 2],
    ['a body that is cut off (13)', 'truncated_json', 1],
    ['a body that is no JSON (13)', 'malformed_json', 1],
    ['a slow drip (14)', 'drip=1000', 1],
  ];
  it.each(cases)('asset: %s', async (_, fault, requests) => {
    desk = await openDesk({ faults: [`POST /asset nth=3 ${fault}`] });
    const imported = await desk.import(await assets(), ASSETS, patience(fault));
    expect(outcomes(imported)).toEqual(all('created'));
    expectTruth(imported, desk.sandbox, 'asset', 'serial_number', ROWS);
    expect(imported.exitCode).toBe(0);
    expect(sent()).toBe(ROWS - 1 + requests);
    expect(imported.summary.requests.retries).toBe(requests - 1);
    expect(posts()).toBe(ROWS);
  });

  it.each(cases)('supplier, whose list has no filter: %s', async (_, fault) => {
    desk = await openDesk({ faults: [`POST /supplier nth=2 ${fault}`] });
    const imported = await desk.import(await parties(), SUPPLIERS, patience(fault));
    expect(outcomes(imported)).toEqual(all('created'));
    expectTruth(imported, desk.sandbox, 'supplier', 'name', ROWS);
  });

  it('every create is cut off, executed or not in turn', async () => {
    desk = await openDesk({ faults: ['POST /asset every=2 close_after', 'POST /asset every=3 close_before'] });
    const imported = await desk.import(await assets(40), ASSETS, { env: FAST });
    expectTruth(imported, desk.sandbox, 'asset', 'serial_number', 40);
    expect(imported.results.filter((row) => row['outcome'] === 'created').length).toBeGreaterThan(30);
  });

  it('a service that commits after our time-out gets no second request inside the settle window (4)', async () => {
    desk = await openDesk({ faults: ['POST /asset nth=1 late_commit=450'] });
    const imported = await desk.import(await assets(), UNGUARDED, {
      env: { ROWFERRY_TIMEOUT: '0.2', ROWFERRY_SETTLE_WINDOW: '0.05,0.2,0.6' },
    });
    expect(outcomes(imported)).toEqual(all('created'));
    expect(sent()).toBe(ROWS);
    expectTruth(imported, desk.sandbox, 'asset', 'serial_number', ROWS);
  });

  it('a service whose look-ups lag behind its writes gets no second request inside the settle window (28)', async () => {
    desk = await openDesk({ faults: ['POST /asset nth=1 timeout_after'], switches: { lag: 700 } });
    const imported = await desk.import(await assets(), UNGUARDED, {
      env: { ROWFERRY_TIMEOUT: '0.2', ROWFERRY_SETTLE_WINDOW: '0.05,0.3,0.9' },
    });
    expect(sent()).toBe(ROWS);
    expect(imported.summary.rows.created).toBe(ROWS);
    expect(posts()).toBe(ROWS);
  });

  it('a key of several fields is found, too', async () => {
    desk = await openDesk({ faults: ['POST /asset nth=1 close_after'] });
    const job = { ...ASSETS, match: { key: ['serial_number', 'name'] } };
    const imported = await desk.import(await assets(), job, { env: FAST });
    expect(outcomes(imported)).toEqual(all('created'));
    expect(posts()).toBe(ROWS);
    const ids = desk.sandbox.records('asset').map((record) => String(record['id']));
    expect(imported.results.map((row) => row['id']).sort()).toEqual(ids.sort());
  });

  it.each(['contains', 'ignore_case', 'ignored'] as const)('where filters are %s (27)', async (filters) => {
    desk = await openDesk({ faults: ['POST /asset nth=1 close_after'], switches: { filters } });
    desk.sandbox.insert('asset', [
      { name: 'x', serial_number: 'SN-0 old' },
      { name: 'y', serial_number: 'sn-0' },
    ]);
    const imported = await desk.import(await assets(), { ...UNGUARDED }, { env: FAST });
    expect(outcomes(imported)).toEqual(all('created'));
    expect(posts()).toBe(ROWS);
  });

  it.each(['exact', 'ignored'] as const)('a serial number that is literally "list", filters %s', async (filters) => {
    desk = await openDesk({ faults: ['POST /asset nth=1 close_after'], switches: { filters } });
    const file = await desk.file('list.csv', 'Name,Serial,Cost\r\nOne,list,1.00');
    const imported = await desk.import(file, ASSETS, { env: FAST });
    expect(outcomes(imported)).toEqual(['created']);
    expect(posts()).toBe(1);
  });
});

describe('an open create that cannot be settled is unknown, and never sent again', () => {
  it.each(['timeout_before', 'timeout_after', 'close_after', 'status=502', 'html_login'])(
    'a customer cannot be looked up: %s',
    async (fault) => {
      desk = await openDesk({ faults: [`POST /customer nth=2 ${fault}`] });
      const imported = await desk.import(await parties(), CUSTOMERS, { env: FAST });
      expect(imported.summary.rows).toMatchObject({ created: ROWS - 1, unknown: 1, total: ROWS });
      expect(imported.results.filter((row) => row['codes'] === 'outcome_unknown')).toHaveLength(1);
      expect(imported.exitCode).toBe(3);
      expect(sent()).toBe(ROWS);

      desk.sandbox.setFaults([]);
      const resumed = await desk.resume();
      expect(resumed.commits).toBe(0);
      expect(outcomes(resumed)).toEqual(outcomes(imported));
      expect(sent()).toBe(ROWS);
    },
  );

  it('not found, sent once more, open again: unknown, also after resume', async () => {
    desk = await openDesk({ faults: ['POST /asset timeout_before'] });
    const imported = await desk.import(await assets(2), ASSETS, { env: FAST });
    expect(outcomes(imported)).toEqual(['unknown', 'unknown']);
    expect(sent()).toBe(4);
    desk.sandbox.setFaults([]);
    const resumed = await desk.resume();
    expect(resumed.commits).toBe(0);
    expect(outcomes(resumed)).toEqual(['unknown', 'unknown']);
  });
});

describe('a record that is there after an open create', () => {
  it('is adopted where the second request is refused as a duplicate, and holds the same values (26)', async () => {
    // Invisible until after the window, so the create is sent once more, and refused: only then do lists catch up.
    let now = Date.now();
    let creates = 0;
    desk = await openDesk({
      faults: ['POST /asset nth=1 timeout_after'],
      switches: { lag: 700 },
      now: () => now,
      onRequest({ method }) {
        if (method === 'POST' && ++creates === 2) now += 1000;
      },
    });
    const imported = await desk.import(await assets(1), ASSETS, {
      env: { ROWFERRY_TIMEOUT: '0.3', ROWFERRY_SETTLE_WINDOW: '0.05,0.1,0.2' },
    });
    expect(posts()).toBe(1);
    expect(sent()).toBe(2);
    expect(imported.summary.rows.created).toBe(1);
  });

  it('is a conflict where it holds other values (26)', async () => {
    desk = await openDesk({ faults: ['POST /asset nth=1 close_before'] });
    const intruder = { name: 'Asset 0', serial_number: 'SN-0', original_cost: 99 };
    const { sandbox } = desk;
    await desk.close();
    let inserted = false;
    desk = await openDesk({
      faults: ['POST /asset nth=1 close_before'],
      onRequest({ method }) {
        if (method !== 'POST' || inserted) return;
        inserted = true;
        desk.sandbox.insert('asset', [intruder]);
      },
    });
    expect(sandbox.commits).toHaveLength(0);
    const imported = await desk.import(await assets(1), ASSETS, { env: FAST });
    expect(outcomes(imported)).toEqual(['conflict']);
    expect(imported.results[0]?.['message']).toContain('original_cost');
    expect(posts()).toBe(0);
    expect(desk.sandbox.records('asset')).toHaveLength(1);
  });

  it('is ambiguous where there are several', async () => {
    let inserted = false;
    desk = await openDesk({
      faults: ['POST /asset nth=1 close_before'],
      onRequest({ method }) {
        if (method !== 'POST' || inserted) return;
        inserted = true;
        const body = { name: 'Asset 0', serial_number: 'SN-0', original_cost: 10 };
        desk.sandbox.insert('asset', [body, body]);
      },
    });
    const imported = await desk.import(await assets(1), UNGUARDED, { env: FAST });
    expect(outcomes(imported)).toEqual(['ambiguous']);
    expect(posts()).toBe(0);
    for (const { id } of desk.sandbox.records('asset')) expect(imported.results[0]?.['message']).toContain(String(id));
  });
});

describe('a refusal is no open effect', () => {
  it.each(['fields', 'detail', 'errors', 'message', 'text', 'html'] as const)(
    'the words of a refusal reach the report, format %s (18)',
    async (errorFormat) => {
      desk = await openDesk({ switches: { errorFormat } });
      desk.sandbox.insert('asset', [{ name: 'Asset 0', serial_number: 'other' }]);
      const job = { ...ASSETS, match: { key: 'serial_number', unique_field: 'name' } };
      const imported = await desk.import(await assets(2), job);
      expect(outcomes(imported)).toEqual(['rejected', 'created']);
      expect(imported.results[0]?.['codes']).toBe('service_rejected');
      expect(imported.results[0]?.['message']).toMatch(/already|unique|exists/i);
      expect(sent()).toBe(2);
    },
  );

  it('a long unknown error body is capped and shows no secret (18)', async () => {
    const body = `test-token ${'x'.repeat(100_000)}`;
    desk = await openDesk({
      faults: [{ match: { method: 'POST', nth: 1 }, action: { kind: 'status', status: 422, body } }],
    });
    const imported = await desk.import(await assets(1), ASSETS);
    expect(outcomes(imported)).toEqual(['rejected']);
    expect(imported.results[0]?.['message']?.length).toBeLessThan(3_000);
    expect(JSON.stringify(imported)).not.toContain('test-token');
  });
});

describe('a service that asks for patience', () => {
  it.each(['retry_after=1', 'retry_after_date=1', '', 'retry_after=-5', 'retry_after=soon'])(
    '429 %s: not executed, sent again, one record (7, 8, 9)',
    async (option) => {
      desk = await openDesk({ faults: [`POST /asset nth=2 status=429 ${option}`.trim()] });
      const imported = await desk.import(await assets(), ASSETS, { env: { ROWFERRY_PATIENCE: '1' } });
      expect(outcomes(imported)).toEqual(all('created'));
      expect(posts()).toBe(ROWS);
      expect(sent()).toBe(ROWS + 1);
      expect(imported.summary.requests.retries).toBeGreaterThan(0);
    },
  );

  it('a burst of 5xx on reads is waited out (10)', async () => {
    desk = await openDesk({ faults: ['GET * to=5 status=503'] });
    const imported = await desk.import(await assets(), ASSETS, { env: { ROWFERRY_PATIENCE: '1' } });
    expect(outcomes(imported)).toEqual(all('created'));
  });

  it('an answer of 100 MB is not read to its end; the run stops with words (19)', async () => {
    desk = await openDesk({ faults: ['GET /asset nth=1 huge=100'] });
    const imported = await desk.import(await assets(), ASSETS, { env: { ROWFERRY_TIMEOUT: '20' } });
    expect(imported.exitCode).toBe(1);
    expect(imported.summary.reason).toContain('MB');
    expect(outcomes(imported)).toEqual(all('not_attempted'));
  });
});

describe('a fault of the whole run stops it; the rest is not attempted, and resume completes', () => {
  it.each([
    ['403 (16)', 'status=403', '403'],
    ['301 (17)', 'redirect=301 location=http://127.0.0.1:9/', 'redirect'],
    ['307 to another host (17)', 'redirect=307 location=http://127.0.0.1:9/', 'redirect'],
    ['308 (17)', 'redirect=308 location=/api/v2/asset/', 'redirect'],
  ])('%s on a write', async (_, fault, words) => {
    desk = await openDesk({ faults: [`POST /asset from=8 ${fault}`] });
    const imported = await desk.import(await assets(30), ASSETS, { env: { ROWFERRY_CONCURRENCY: '2' } });
    expect(imported.exitCode).toBe(1);
    expect(imported.summary.status).toBe('failed');
    expect(imported.summary.reason).toContain(words);
    expect(imported.summary.rows).toMatchObject({ created: 7, not_attempted: 23 });
    expectTruth(imported, desk.sandbox, 'asset', 'serial_number', 30);
    expect(sent()).toBeLessThanOrEqual(9);

    desk.sandbox.setFaults([]);
    const resumed = await desk.resume();
    expect(resumed.exitCode).toBe(0);
    expect(outcomes(resumed)).toEqual(all('created', 30));
    expectTruth(resumed, desk.sandbox, 'asset', 'serial_number', 30);
  });

  it('403 while an open create is looked up leaves it open; resume finds it', async () => {
    desk = await openDesk({ faults: ['POST /asset nth=1 close_after', 'GET /asset from=2 status=403'] });
    const imported = await desk.import(await assets(), ASSETS, { env: FAST });
    expect(imported.exitCode).toBe(1);
    expect(imported.summary.rows.unknown).toBe(1);
    desk.sandbox.setFaults([]);
    const resumed = await desk.resume();
    expect(outcomes(resumed)).toEqual(all('created'));
    expectTruth(resumed, desk.sandbox, 'asset', 'serial_number', ROWS);
  });

  it.each(['status=403', 'status=429', 'close_before'])(
    '%s on the second request of a row leaves it open',
    async (second) => {
      desk = await openDesk({
        faults: ['POST /asset nth=1 close_before', `POST /asset from=2 ${second}`],
      });
      const imported = await desk.import(await assets(1), ASSETS, { env: { ...FAST, ROWFERRY_PATIENCE: '0.005' } });
      expect(outcomes(imported)).toEqual(['unknown']);
      expect(posts()).toBe(0);
    },
  );

  it('a refused token mid-run is read again from its file, once for everybody (15)', async () => {
    desk = await openDesk({
      onRequest({ method }) {
        if (method === 'POST' && desk.sandbox.commits.length === 5 && desk.sandbox.token === 'test-token') {
          desk.sandbox.expireToken('second-token');
          return writeFile(tokenFile, 'second-token\n');
        }
        return undefined;
      },
    });
    const tokenFile = await desk.file('token', 'test-token\n');
    const imported = await desk.import(await assets(40), ASSETS, {
      env: { ROWFERRY_API_TOKEN: '', ROWFERRY_API_TOKEN_FILE: tokenFile },
    });
    expect(imported.exitCode).toBe(0);
    expect(outcomes(imported)).toEqual(all('created', 40));
    expect(desk.sandbox.requests.statuses['401']).toBeGreaterThan(0);
    expectTruth(imported, desk.sandbox, 'asset', 'serial_number', 40);
  });

  it('a token file that becomes unusable mid-run stops the run, and nothing it did is forgotten', async () => {
    desk = await openDesk({
      onRequest({ method }) {
        if (method !== 'POST' || desk.sandbox.commits.length !== 5) return undefined;
        desk.sandbox.expireToken('second-token');
        return writeFile(tokenFile, 'not a token\n');
      },
    });
    const tokenFile = await desk.file('token', 'test-token\n');
    const env = { ROWFERRY_API_TOKEN: '', ROWFERRY_API_TOKEN_FILE: tokenFile };
    const imported = await desk.import(await assets(40), ASSETS, { env });
    expect(imported.exitCode).toBe(1);
    expect(imported.summary.rows).toMatchObject({ created: 5, not_attempted: 35 });
    await writeFile(tokenFile, 'second-token\n');
    const resumed = await desk.resume({ env });
    expect(outcomes(resumed)).toEqual(all('created', 40));
    expect(desk.sandbox.commits).toHaveLength(40);
  });

  it('a token that stays refused stops the run; with a good one resume completes', async () => {
    desk = await openDesk({
      onRequest({ method }) {
        if (method === 'POST' && desk.sandbox.commits.length === 5) desk.sandbox.expireToken('second-token');
      },
    });
    const imported = await desk.import(await assets(40), ASSETS);
    expect(imported.exitCode).toBe(1);
    expect(imported.summary.reason).toContain('401');
    expect(imported.summary.rows).toMatchObject({ created: 5, not_attempted: 35 });
    expectTruth(imported, desk.sandbox, 'asset', 'serial_number', 40);
    const resumed = await desk.resume({ env: { ROWFERRY_API_TOKEN: 'second-token' } });
    expect(outcomes(resumed)).toEqual(all('created', 40));
    expectTruth(resumed, desk.sandbox, 'asset', 'serial_number', 40);
  });
});

describe('a service that is away', () => {
  it('from the start: nothing was sent, every row is not attempted, and the reason says so (1)', async () => {
    desk = await openDesk();
    const dead = createServer();
    await new Promise<void>((done) => dead.listen(0, '127.0.0.1', done));
    const { port } = dead.address() as { port: number };
    await new Promise((done) => dead.close(done));
    const imported = await desk.import(await assets(), ASSETS, {
      env: { ROWFERRY_API_URL: `http://127.0.0.1:${port}`, ROWFERRY_PATIENCE: '0.005' },
    });
    expect(imported.exitCode).toBe(1);
    expect(imported.summary.status).toBe('failed');
    expect(imported.summary.reason).toContain('refused');
    expect(imported.summary.rows).toMatchObject({ not_attempted: ROWS, total: ROWS });
    expect(desk.sandbox.requests.total).toBe(0);
  });

  it('in the middle, and back later: rows are failed or not attempted, and resume completes all of them', async () => {
    desk = await openDesk();
    const target = new URL(desk.sandbox.url);
    const front = await openFront(target.port);
    let seen = 0;
    front.onRequest = (method) => {
      if (method === 'POST' && ++seen === 8) front.goAway();
    };
    const env = { ROWFERRY_API_URL: front.url, ROWFERRY_CONCURRENCY: '4', ROWFERRY_PATIENCE: '0.005' };
    const imported = await desk.import(await assets(40), ASSETS, { env });
    expect(imported.exitCode).toBe(1);
    expect(imported.summary.status).toBe('failed');
    const { created, failed, not_attempted, unknown } = imported.summary.rows;
    expect(created + failed + not_attempted + unknown).toBe(40);
    expect(not_attempted).toBeGreaterThan(0);
    expectTruth(imported, desk.sandbox, 'asset', 'serial_number', 40);

    await front.comeBack();
    front.onRequest = () => undefined;
    const resumed = await desk.resume({ env });
    expect(outcomes(resumed)).toEqual(all('created', 40));
    expect(resumed.exitCode).toBe(0);
    expectTruth(resumed, desk.sandbox, 'asset', 'serial_number', 40);
    await front.close();
  });
});

describe('an update whose effect is open', () => {
  const bodies = (rows: number) =>
    Array.from({ length: rows }, (_, i) => ({
      name: `Asset ${i}`,
      serial_number: `SN-${i}`,
      original_cost: 10,
      category: { id: 1 },
      city: 'Bern',
    }));

  it.each([
    'timeout_before',
    'timeout_after',
    'close_before',
    'close_after',
    'reset_after_status',
    'status=500',
    'status=500 execute',
    'html_login',
    'truncated_json',
  ])('is read, and sent again only where the record is as before: %s', async (fault) => {
    for (const nth of [1, 3]) {
      desk = await openDesk({ faults: [`PUT /asset/ nth=${nth} ${fault}`] });
      desk.sandbox.insert('asset', bodies(ROWS));
      const imported = await desk.import(await assets(ROWS, '25.00'), ASSETS, { env: FAST });
      expect(outcomes(imported)).toEqual(all('updated'));
      expectTruth(imported, desk.sandbox, 'asset', 'serial_number', ROWS);
      for (const record of desk.sandbox.records('asset'))
        expect(record).toMatchObject({ original_cost: '25.00', city: 'Bern' });
      expect(posts()).toBe(0);
      if (nth === 1) await desk.close();
    }
  });

  it('is unknown where it is open twice, and the record holds the old values', async () => {
    desk = await openDesk({ faults: ['PUT /asset/ timeout_before'] });
    desk.sandbox.insert('asset', bodies(1));
    const imported = await desk.import(await assets(1, '25.00'), ASSETS, { env: FAST });
    expect(outcomes(imported)).toEqual(['unknown']);
    desk.sandbox.setFaults([]);
    const resumed = await desk.resume();
    expect(resumed.commits).toBe(0);
    expect(outcomes(resumed)).toEqual(['unknown']);
  });

  it('is a conflict where the record holds neither the old nor the new value, and the words say that it was sent (33)', async () => {
    let edited = false;
    desk = await openDesk({
      faults: ['PUT /asset/ nth=1 close_before'],
      onRequest({ method }) {
        if (method !== 'PUT' || edited) return;
        edited = true;
        desk.sandbox.edit('asset', Number(desk.sandbox.records('asset')[0]?.['id']), { original_cost: 77 });
      },
    });
    desk.sandbox.insert('asset', bodies(1));
    const imported = await desk.import(await assets(1, '25.00'), ASSETS, { env: FAST });
    expect(outcomes(imported)).toEqual(['conflict']);
    expect(imported.results[0]?.['message']).not.toContain('Nothing was sent');
    expect(desk.sandbox.records('asset')[0]).toMatchObject({ original_cost: '77.00' });
  });

  it('of a customer is unknown: it cannot be read (and is not sent again)', async () => {
    desk = await openDesk();
    await desk.import(await parties(), CUSTOMERS);
    desk.sandbox.setFaults(['PUT /customer/ nth=2 timeout_after']);
    const imported = await desk.import(await parties(ROWS, 'Thun'), CUSTOMERS, { env: FAST });
    expect(imported.summary.rows).toMatchObject({ updated: ROWS - 1, unknown: 1 });
    const before = desk.sandbox.requests.writes;
    const resumed = await desk.resume();
    expect(desk.sandbox.requests.writes).toBe(before);
    expect(outcomes(resumed)).toEqual(outcomes(imported));
  });

  it('that drops a field is noticed on the first one, and the run stops after it (29)', async () => {
    desk = await openDesk({ faults: ['PUT /asset/ drop_field=city'] });
    desk.sandbox.insert('asset', bodies(ROWS));
    const imported = await desk.import(await assets(ROWS, '25.00'), ASSETS);
    expect(imported.exitCode).toBe(1);
    expect(imported.summary.reason).toContain('city');
    expect(imported.summary.rows).toMatchObject({ updated: 1, not_attempted: ROWS - 1 });
    expect(imported.commits).toBe(1);
  });

  it('counts as updated even where reading it back fails', async () => {
    desk = await openDesk({ faults: [String.raw`GET /\/asset\/\d+\// status=403`] });
    desk.sandbox.insert('asset', bodies(3));
    const imported = await desk.import(await assets(3, '25.00'), ASSETS);
    expect(imported.exitCode).toBe(1);
    expect(imported.summary.rows).toMatchObject({ updated: 1, not_attempted: 2 });
    expect(imported.commits).toBe(1);
    desk.sandbox.setFaults([]);
    const resumed = await desk.resume();
    expect(outcomes(resumed)).toEqual(all('updated', 3));
  });
});

/** A door in front of the sandbox that can be shut: connections are then refused. */
async function openFront(port: string) {
  const { createServer: tcpServer, connect } = await import('node:net');
  const sockets = new Set<import('node:net').Socket>();
  const front = {
    url: '',
    onRequest: (_method: string): void => undefined,
    goAway() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
    comeBack: () => listen(Number(new URL(front.url).port)),
    close: async () => front.goAway(),
  };
  let server = tcpServer();
  async function listen(at: number): Promise<void> {
    server = tcpServer((socket) => {
      const onward = connect(Number(port), '127.0.0.1');
      for (const one of [socket, onward]) {
        sockets.add(one);
        one.on('error', () => undefined);
        one.on('close', () => {
          sockets.delete(one);
          socket.destroy();
          onward.destroy();
        });
      }
      socket.on('data', (chunk) => {
        front.onRequest(/^[A-Z]+/.exec(chunk.toString('latin1'))?.[0] ?? '');
        onward.write(chunk);
      });
      onward.pipe(socket);
    });
    await new Promise<void>((done) => server.listen(at, '127.0.0.1', done));
  }
  await listen(0);
  front.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  return front;
}
