import { describe, expect, it } from 'vitest';
import { Exact, startSandbox } from '../../src/sandbox/index.js';
import { call, sandboxWith, until } from './client.js';

describe('tokens', () => {
  it('are needed, each of them works, and an expired one does not', async () => {
    const sandbox = await sandboxWith({ token: ['one', 'two'] });
    const status = async (token: string) => (await call(sandbox, 'GET', '/user/', undefined, { token })).status;
    expect([await status('one'), await status('two'), await status('three')]).toEqual([200, 200, 401]);
    sandbox.expireToken('three');
    expect([await status('one'), await status('three'), sandbox.token]).toEqual([401, 200, 'three']);
    const refused = await call(sandbox, 'POST', '/asset', { company: 1, name: 'A' }, { token: 'one' });
    expect(refused.headers['www-authenticate']).toMatch(/^Bearer/);
    const basic = await call(sandbox, 'GET', '/user/', undefined, { headers: { authorization: 'Basic three' } });
    expect(basic.status).toBe(401);
    expect(sandbox.commits).toHaveLength(0);
  });

  it('are made up where none is given', async () => {
    const [one, two] = [await sandboxWith(), await sandboxWith()];
    expect(one.token).not.toBe(two.token);
    expect(one.token.length).toBeGreaterThan(20);
  });
});

describe('the door behind the service', () => {
  it('puts records in and shows them without HTTP', async () => {
    const sandbox = await sandboxWith();
    expect(sandbox.insert('supplier', [{ name: 'S' }])).toEqual([1]);
    const ids = sandbox.insert('contract', [
      {
        contract_type: 'buy_side',
        name: 'C',
        number: 'C-1',
        supplier: 1,
        country: 840,
        status: 'expired',
        contract_start_date: '2020-01-01',
        contract_end_date: '2021-01-01',
        total_contract_spend_value: new Exact('99999999999999.99'),
        mrc: 10.5,
        alert: { is_active: true, email_list: ['a@b.example'] },
      },
    ]);
    expect(sandbox.records('contract')).toMatchObject([
      { id: ids[0], status: 'expired', total_contract_spend_value: '99999999999999.99', mrc: '10.50' },
    ]);
    expect(sandbox.raw('contract')).toMatchObject([{ supplier: 1, country: 840, contract_start_date: '2020-01-01' }]);
    expect(
      sandbox.insert('asset', ['{"name":"A","original_cost":0.10}', { name: 'B', id: 77 }, { name: 'C' }]),
    ).toEqual([1, 77, 78]);
    expect(sandbox.commits).toHaveLength(0);
    expect(() => sandbox.insert('asset', [{ name: 'D', country: 1 }])).toThrow(/country: Invalid country code/);
    expect(sandbox.records('category', 1)).toHaveLength(10);
  });

  it('changes and removes records as somebody else would', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    sandbox.edit('asset', 7, { room: 'R9', asset_usage_status: 5 });
    const { json } = await call(sandbox, 'GET', '/asset/7/?company=1');
    expect(json).toMatchObject({ room: 'R9', usage_status: { id: 5 }, name: 'NW-LT-0007' });
    sandbox.remove('asset', 8);
    expect((await call(sandbox, 'GET', '/asset/8/?company=1')).status).toBe(404);
    expect((await call(sandbox, 'GET', '/asset/?company=1')).json.count).toBe(299);
    expect((await call(sandbox, 'GET', '/asset/?company=1&serial_number=SN-100008')).json.count).toBe(0);
    sandbox.insert('asset', [{ id: 8, name: 'Back' }]);
    const { results } = (await call(sandbox, 'GET', '/asset/?company=1')).json;
    expect(results.slice(6, 9).map((one) => one['id'])).toEqual([7, 8, 9]);
    sandbox.putLookup('category', 1, { id: 1, category: 'Notebook', subcategories: ['Business'] });
    expect(sandbox.record('asset', 7)).toMatchObject({ category: { id: 1, name: 'Notebook' } });
    expect(sandbox.commits).toHaveLength(0);
    expect(() => sandbox.edit('asset', 999, {})).toThrow(/no asset with the id 999/);
    expect(() => sandbox.edit('asset', 1, { name: '' })).toThrow(/not valid/);
  });

  it('logs every write that took effect, with or without its body', async () => {
    const sandbox = await sandboxWith();
    const text = '{"company":1, "name":"A","original_cost":99999999999999.99}';
    await call(sandbox, 'POST', '/asset', text, { headers: { 'x-request-id': 'mine' } });
    await call(sandbox, 'POST', '/asset', { company: 1 });
    await call(sandbox, 'PUT', '/asset/1', { company: 1, name: 'B' });
    await call(sandbox, 'PATCH', '/asset/1', { company: 1, name: 'C' });
    expect(sandbox.commits).toMatchObject([
      { sequence: 1, method: 'POST', resource: 'asset', id: 1, requestId: 'mine', body: text },
      { sequence: 2, method: 'PUT', resource: 'asset', id: 1, requestId: expect.stringMatching(/^r\d+$/) },
      { sequence: 3, method: 'PATCH', resource: 'asset', id: 1 },
    ]);
    const bare = await sandboxWith({ keepBodies: false });
    await call(bare, 'POST', '/asset', { company: 1, name: 'A' });
    expect(bare.commits[0]).not.toHaveProperty('body');
  });

  it('counts requests by kind and by status', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    await call(sandbox, 'GET', '/asset/?company=1&page=2');
    await call(sandbox, 'GET', '/asset/?company=1&serial_number=SN-1');
    await call(sandbox, 'GET', '/asset/?company=1&serial_number=list', { list: [] });
    await call(sandbox, 'GET', '/asset/1?company=1');
    await call(sandbox, 'POST', '/asset', {});
    await call(sandbox, 'PUT', '/asset/1/', { company: 1, name: 'A' });
    await until(() => sandbox.requests.inFlight === 0);
    expect(sandbox.requests).toMatchObject({
      total: 6,
      reads: 4,
      writes: 2,
      mostInFlight: 1,
      statuses: { 200: 5, 400: 1 },
      kinds: {
        'GET /asset/': 1,
        'GET /asset/?serial_number': 1,
        'GET /asset/?serial_number=list': 1,
        'GET /asset/{id}/': 1,
        'POST /asset': 1,
        'PUT /asset/{id}': 1,
      },
    });
    sandbox.resetRequests();
    expect(sandbox.requests.total).toBe(0);
  });

  it('lets a watcher act before a request takes effect', async () => {
    const seen: string[] = [];
    const answered: unknown[] = [];
    const sandbox = await sandboxWith({
      seed: 'demo',
      onRequest: async ({ method, path }) => {
        seen.push(`${method} ${path}`);
        if (method === 'PATCH') sandbox.edit('asset', 1, { floor: 'between' });
      },
      onAnswer: (_request, status) => answered.push(status),
    });
    await call(sandbox, 'PATCH', '/asset/1', { company: 1, room: 'R' });
    expect(sandbox.record('asset', 1)).toMatchObject({ floor: 'between', room: 'R' });
    expect(seen).toEqual(['PATCH /asset/1']);
    await until(() => answered.length === 1);
    expect(answered).toEqual([200]);
  });
});

describe('the service as a process', () => {
  it('keeps requests waiting for its latency, many at a time', async () => {
    const sandbox = await sandboxWith({ latencyMs: 60 });
    const from = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => call(sandbox, 'GET', '/company/1')));
    expect(performance.now() - from).toBeGreaterThan(55);
    await until(() => sandbox.requests.inFlight === 0);
    expect(sandbox.requests.mostInFlight).toBeGreaterThan(5);
  });

  it('holds a hidden limit and lets requests through again', async () => {
    let now = 0;
    const sandbox = await sandboxWith({ maxRps: 50, now: () => now });
    const passed = async () => {
      const calls = Array.from({ length: 40 }, async () => (await call(sandbox, 'GET', '/company/1')).status);
      const statuses = await Promise.all(calls);
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
      return statuses.filter((status) => status === 200).length;
    };
    expect(await passed()).toBe(5);
    now += 40;
    expect(await passed()).toBe(2);
    sandbox.setMaxRps(200);
    expect(await passed()).toBe(20);
  });

  it('listens on the port it is told, and says when it cannot', async () => {
    const first = await sandboxWith();
    expect(first.url).toBe(`http://127.0.0.1:${first.port}`);
    await expect(startSandbox({ port: first.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('holds thousands of records and finds any of them at once', async () => {
    const sandbox = await sandboxWith();
    const bodies = Array.from({ length: 20_000 }, (_, n) => ({
      name: `A${n}`,
      serial_number: `S${n}`,
      original_cost: n,
    }));
    sandbox.insert('asset', bodies);
    const { json } = await call(sandbox, 'GET', '/asset/?company=1&serial_number=S19999');
    expect(json.results).toMatchObject([{ id: 20_000, name: 'A19999' }]);
    const last = await call(sandbox, 'GET', '/asset/?company=1&page=800');
    expect(last.json).toMatchObject({ count: 20_000, next: null });
    expect(last.json.results.at(-1)).toMatchObject({ id: 20_000 });
  });
});

describe('the demo company', () => {
  it('is the same every time', async () => {
    const [one, two] = [await sandboxWith({ seed: 'demo' }), await sandboxWith({ seed: 'demo' })];
    for (const resource of ['asset', 'contract', 'supplier', 'customer', 'license'] as const) {
      expect(one.records(resource)).toEqual(two.records(resource));
    }
  });

  it('holds what the examples rely on', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const assets = sandbox.records('asset', 1);
    const names = assets.map((one) => one['name']);
    expect(new Set(names).size).toBe(300);
    expect(assets[0]).toMatchObject({ name: 'NW-LT-0001', serial_number: 'SN-100001' });
    const serials = assets.map((one) => String(one['serial_number']));
    expect(serials.filter((one) => one === 'SN-DUPLICATE')).toHaveLength(2);
    expect(serials).toContain('00012345');
    const count = (test: (one: Record<string, unknown>) => boolean) => assets.filter(test).length;
    expect(count((one) => one['asset_usage_status'] === 'In repair')).toBeGreaterThan(3);
    expect(count((one) => one['state_province'] !== null && one['area'] !== null)).toBeGreaterThan(3);
    expect(count((one) => one['template'] !== null)).toBeGreaterThan(10);
    expect(count((one) => (one['custom_form'] as unknown[]).length > 0)).toBeGreaterThan(10);
    const contracts = sandbox.records('contract', 1);
    expect(contracts.filter((one) => one['number'] === 'C-1050')).toHaveLength(2);
    expect(new Set(contracts.map((one) => one['status'])).size).toBe(7);
    expect(contracts.filter((one) => one['contract_type'] === 'sell_side').length).toBeGreaterThan(2);
    for (const field of ['alert', 'approver', 'signer', 'parent_contract', 'template']) {
      expect([field, contracts.some((one) => one[field] !== null)]).toEqual([field, true]);
    }
    const suppliers = sandbox.records('supplier', 1).map((one) => one['name']);
    expect([suppliers.length, suppliers[0], suppliers[6]]).toEqual([40, 'Acme Computers', 'Café Réseau SARL']);
    expect(sandbox.records('customer').map((one) => one['name'])).toContain('Tailspin Airways');
    expect(sandbox.records('asset-owner').filter((one) => one['name'] === 'Sam Lee')).toHaveLength(2);
  });

  it('without records still has its look-ups', async () => {
    const sandbox = await sandboxWith({ seed: 'empty' });
    expect(sandbox.records('asset')).toEqual([]);
    expect(sandbox.records('custom-field-template').map((one) => one['name'])).toContain('Finance');
  });
});
