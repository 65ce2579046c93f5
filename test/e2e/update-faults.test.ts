import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ReceivedRequest } from '../../src/sandbox/server.js';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { probed, stored, storedOne } from '../support/records.js';
import { hangVeil } from '../support/veil.js';

let desk: Desk;
afterEach(async () => {
  vi.restoreAllMocks();
});

const ASSET = { category: { id: 3, subcategory: 'Rack' }, city: 'Ulm', room: 'R1' };
const assets = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, at) => ({
    ...ASSET,
    name: `Box ${at + 1}`,
    serial_number: `S-${at + 1}`,
    ...more,
  }));
const job = (more: object = {}) => importOf('asset', 'serial_number', { Serial: 'serial_number', City: 'city' }, more);
const cities = (count: number) =>
  desk.file('a.csv', [['Serial', 'City'], ...Array.from({ length: count }, (_, at) => [`S-${at + 1}`, 'Bonn'])]);

it.each([
  [{}, /not known whether this service understands PATCH.*`rowferry doctor --probe` finds out/],
  [{ patch: false }, /`rowferry doctor --probe` found that this service does not do what PATCH means/],
])('PATCH of a service whose probe found %j is refused, with what is known', async (behaviour, says) => {
  desk = await openDesk();
  await probed(desk, behaviour);
  await expect(desk.import(await cities(1), job({ write: { method: 'patch' } }))).rejects.toThrow(says);
});

describe('a service that took PATCH when it was asked, and takes it no more', () => {
  it.each([
    ['405', () => desk.sandbox.setSwitches({ patch: 'off' })],
    ['404', () => desk.sandbox.setFaults(['PATCH * status=404'])],
  ])('answers %s: the rows are rejected with its words, and nothing goes out as a PUT', async (_status, away) => {
    desk = await openDesk();
    desk.sandbox.insert('asset', assets(3));
    await probed(desk, { patch: true });
    away();
    const before = stored(desk.sandbox, 'asset');
    const result = await desk.import(await cities(3), job({ write: { method: 'patch' } }));
    expect([result.exitCode, result.summary.rows.rejected, result.commits]).toEqual([3, 3, 0]);
    expect(result.faults.map((one) => one['code'])).toContain('service_rejected');
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
    expect(desk.sandbox.requests.kinds['PUT /asset/{id}'] ?? 0).toBe(0);
  });

  it('a record that is gone is the fault of its row alone', async () => {
    desk = await openDesk({
      onRequest: ({ method, path }: ReceivedRequest) => {
        if (method === 'PATCH' && path === '/asset/2') desk.sandbox.remove('asset', 2);
      },
    });
    desk.sandbox.insert('asset', assets(3));
    await probed(desk, { patch: true });
    const result = await desk.import(await cities(3), job({ write: { method: 'patch' } }));
    expect(result.outcomes).toEqual(['2 updated', '3 rejected', '4 updated']);
  });

  it('refuses bodies with 400: each row has the words of the service, and the others go on', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', assets(3));
    await probed(desk, { patch: true });
    desk.sandbox.setFaults(['PATCH /asset/1 status=400', 'PATCH /asset/3 status=400']);
    const result = await desk.import(await cities(3), job({ write: { method: 'patch' } }));
    expect(result.outcomes).toEqual(['2 rejected', '3 updated', '4 rejected']);
    expect(desk.sandbox.commits.map((one) => one.method)).toEqual(['PATCH']);
  });
});

describe('amounts pass from wire to wire as text', () => {
  const LONG = '99999999999999.99';
  const record = (serial: string, cost: string) =>
    `{"name":"Box","serial_number":"${serial}","category":{"id":3},"original_cost":${cost},"contract_service_per_item":${cost},"templates":[{"id":1,"fields":[{"id":2,"value":${cost}}]}]}`;

  it.each(['put', 'patch'] as const)('set from a cell and carried over, in a %s (30)', async (method) => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [record('S-1', LONG), record('S-2', '0.10')]);
    await probed(desk, { patch: true });
    const columns = { Serial: 'serial_number', Cost: 'original_cost', Budget: 'template.Finance.Budget' };
    const file = await desk.file('a.csv', [
      ['Serial', 'Cost', 'Budget'],
      ['S-1', '0.30', ''],
      ['S-2', LONG, '999999999999998.99'],
    ]);
    const result = await desk.import(file, job({ columns, write: { method } }));
    expect(result.outcomes).toEqual(['2 updated', '3 updated']);
    const bodies = desk.sandbox.commits.map((one) => one.body ?? '').join('\n');
    expect(bodies).toMatch(new RegExp(`"original_cost":${LONG.replace('.', '\\.')}\\D`));
    expect(bodies).toMatch(/"value":999999999999998\.99\D/);
    expect(bodies).not.toMatch(/\de[+-]?\d/i);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({
      original_cost: '0.30',
      contract_service_per_item: LONG,
      template: [{ template: 1, values: [[2, LONG]] }],
    });
    expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({
      original_cost: LONG,
      contract_service_per_item: '0.10',
      template: [{ template: 1, values: [[2, '999999999999998.99']] }],
    });
  });

  it.each([
    ['1E+2', '100.00'],
    ['1.2e3', '1200.00'],
    ['1200.00', '1200.00'],
    ['1200.000000000000000', '1200.00'],
    ['12345678901234567e-5', '123456789012.34567'],
    ['-0', '0.00'],
    ['-0.0', '0.00'],
    ['0e5', '0.00'],
    ['"1200.50"', '1200.50'],
    ['"1,200.50"', '1200.50'],
    ['"1.200,50"', '1200.50'],
  ])('shown by the service as %s', async (shown, held) => {
    desk = await openDesk();
    const plain = /^(\d+)\.(\d+)$/.exec(held)!;
    desk.sandbox.insert('asset', [record('S-1', `${plain[1]}.${plain[2]}`), record('S-2', '1.00')]);
    const before = storedOne(desk.sandbox, 'asset', 1);
    const text = held.replace('.', '\\.');
    let veiled = 0;
    const veil = await hangVeil(desk.sandbox.url, (answer) =>
      answer.replace(new RegExp(`("original_cost":|"Budget":)${text}(?=[,}])`, 'g'), (_, key) => {
        veiled++;
        return `${key}${shown}`;
      }),
    );
    const result = await desk.import(await cities(1), job(), { env: { ROWFERRY_API_URL: veil.url } });
    expect([result.outcomes, result.plan.map((one) => one['field'])]).toEqual([['2 updated'], ['city']]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual({ ...before, city: 'Bonn' });
    expect(result.commits).toBe(1);
    expect(veiled).toBeGreaterThan(1);
  });

  it('a number beyond every range is not made another one: refused by the service, and nothing changes', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [record('S-1', '7.00')]);
    const before = stored(desk.sandbox, 'asset');
    const veil = await hangVeil(desk.sandbox.url, (answer) =>
      answer.replaceAll('"original_cost":7.00', '"original_cost":1e400'),
    );
    const result = await desk.import(await cities(1), job(), { env: { ROWFERRY_API_URL: veil.url } });
    expect(result.outcomes).toEqual(['2 rejected']);
    expect(result.faults[0]?.['field']).toBe('original_cost');
    expect([result.commits, stored(desk.sandbox, 'asset')]).toEqual([0, before]);
  });
});

describe('names that change while a run goes on', () => {
  const FINANCE = { id: 1, name: 'Finance', is_active: true, type: 'asset' } as const;
  const field = (id: number, name: string, order: number) =>
    ({ id, name, data_type: 'text', is_active: true, order }) as const;

  /** Two assets are moved; `meanwhile` happens with the first PUT, and the clock goes on by a minute, if `late`. */
  async function renaming(meanwhile: () => void, late: boolean) {
    let passed = 0;
    const now = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + passed);
    desk = await openDesk({
      onRequest({ method, path }: ReceivedRequest) {
        if (method !== 'PUT' || path !== '/asset/1') return;
        meanwhile();
        if (late) passed = 61_000;
      },
    });
    const templates = [{ id: 1, fields: [{ id: 1, value: 'CC-7' }] }];
    desk.sandbox.insert('asset', assets(3, { templates }));
  }

  it.each([false, true])(
    'a category: its id stands, and so do all rows; read again meanwhile: %s (35)',
    async (late) => {
      await renaming(() => {
        desk.sandbox.putLookup('category', null, { id: 3, category: 'Machines', subcategories: ['Rack', 'Blade'] });
        desk.sandbox.putLookup('category', null, { id: 4, category: 'Server', subcategories: ['Rack'] });
      }, late);
      const before = stored(desk.sandbox, 'asset');
      const columns = { Serial: 'serial_number', City: 'city', Cat: 'category.name', Sub: 'category.subcategory' };
      const file = await desk.file('a.csv', [
        ['Serial', 'City', 'Cat', 'Sub'],
        ...[1, 2, 3].map((n) => [`S-${n}`, 'Bonn', 'Server', 'Blade']),
      ]);
      const result = await desk.import(file, job({ columns }));
      expect(result.outcomes).toEqual(['2 updated', '3 updated', '4 updated']);
      for (const [id, one] of before) {
        const wanted = { ...one, city: 'Bonn', category: { category: 3, subcategory: 'Blade' } };
        expect(storedOne(desk.sandbox, 'asset', id)).toEqual(wanted);
      }
    },
  );

  it('a field of a template, in a record that was read before: its id stands, and nothing is lost (35)', async () => {
    await renaming(() => {
      desk.sandbox.putLookup('custom-field-template', 1, {
        ...FINANCE,
        name: 'Money',
        fields: [field(1, 'Centre', 1)],
      });
    }, false);
    const before = stored(desk.sandbox, 'asset');
    const result = await desk.import(await cities(3), job());
    // The first one is read back, and shows the value under its new name: that is no loss.
    expect([result.exitCode, result.outcomes, result.faults]).toEqual([0, ['2 updated', '3 updated', '4 updated'], []]);
    for (const [id, one] of before) {
      const now = storedOne(desk.sandbox, 'asset', id);
      expect(now).toEqual({ ...one, city: 'Bonn' });
    }
  });

  it('a field of a template, in a record that is read again: held back and named, and written by the next run (35)', async () => {
    let passed = 0;
    const now = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + passed);
    desk = await openDesk({
      onRequest({ method, path }: ReceivedRequest) {
        if (method !== 'GET' || path !== '/asset/1/' || passed > 0) return;
        passed = 61_000;
        desk.sandbox.putLookup('custom-field-template', 1, { ...FINANCE, fields: [field(1, 'Centre', 1)] });
      },
    });
    const templates = [{ id: 1, fields: [{ id: 1, value: 'CC-7' }] }];
    desk.sandbox.insert(
      'asset',
      assets(3, { templates }).map((one, at) => (at === 0 ? { ...one, templates: [] } : one)),
    );
    const before = stored(desk.sandbox, 'asset');
    const result = await desk.import(await cities(3), job());
    expect(result.outcomes).toEqual(['2 updated', '3 at_risk', '4 at_risk']);
    expect(result.faults.map((one) => `${one['row']} ${one['code']} ${one['field']} ${one['value']}`)).toEqual([
      '3 would_lose_value template.1.Centre CC-7',
      '4 would_lose_value template.1.Centre CC-7',
    ]);
    expect(result.faults[0]?.['message']).toMatch(/renamed.*import the row again/);
    for (const id of [2, 3]) expect(storedOne(desk.sandbox, 'asset', id)).toEqual(before.get(id));
    const next = await desk.import(await cities(3), job());
    expect(next.outcomes).toEqual(['2 unchanged', '3 updated', '4 updated']);
    for (const id of [2, 3]) expect(storedOne(desk.sandbox, 'asset', id)).toEqual({ ...before.get(id), city: 'Bonn' });
  });
});

describe('the company is named and its status looked at before the first write', () => {
  it.each([
    ['one that does not exist', 99, /There is no company 99/],
    ['one that is archived', 2, /2 \(Northwind Archive\) is archived/],
  ])('%s: nothing is sent, and the words say whose it would have been (36)', async (_, company, words) => {
    desk = await openDesk();
    desk.sandbox.insert('asset', assets(3));
    const before = stored(desk.sandbox, 'asset');
    const result = await desk.import(await cities(3), job(), { company });
    expect([result.exitCode, result.summary.status, result.commits]).toEqual([1, 'failed', 0]);
    expect(result.summary.reason).toMatch(words);
    expect(result.summary.rows).toMatchObject({ not_attempted: 3, total: 3 });
    expect(desk.sandbox.requests.writes).toBe(0);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });

  it('a right one is asked for before anything is written, and its name is in the first lines (36)', async () => {
    const seen: string[] = [];
    desk = await openDesk({ onRequest: ({ method, path }: ReceivedRequest) => void seen.push(`${method} ${path}`) });
    desk.sandbox.insert('asset', assets(2));
    const result = await desk.import(await cities(2), job());
    expect(seen.findIndex((one) => one.startsWith('GET /company'))).toBe(0);
    expect(seen.findIndex((one) => one.startsWith('PUT'))).toBeGreaterThan(0);
    expect(result.notices.join('\n')).toContain('Importing into Northwind Operations (company 1)');
    for (const { body } of desk.sandbox.commits) expect(JSON.parse(body ?? '')).toMatchObject({ company: 1 });
  });
});
