import { describe, expect, it } from 'vitest';
import { call, sandboxWith } from './client.js';

const LISTS: [path: string, count: number][] = [
  ['/contract', 61],
  ['/supplier', 40],
  ['/asset', 300],
  ['/license', 40],
  ['/asset-owner', 10],
  ['/category', 10],
  ['/usage-status', 5],
  ['/custom-field-template', 5],
  ['/custom-form-template', 3],
  ['/user', 3],
  ['/company', 2],
];

describe('lists', () => {
  it('are all there, with and without the slash, 25 a page', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    for (const [path, count] of LISTS) {
      const bare = await call(sandbox, 'GET', `${path}?company=1`);
      const slashed = await call(sandbox, 'GET', `${path}/?company=1`);
      expect([path, bare.status, slashed.status]).toEqual([path, 200, 200]);
      expect([path, bare.json.count]).toEqual([path, count]);
      expect(slashed.json.results).toEqual(bare.json.results);
      expect(bare.json.results).toHaveLength(Math.min(25, count));
    }
  });

  it('walk page by page through next, by id, to the end', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const ids: unknown[] = [];
    let path: string | null = '/contract/?company=1';
    const previous: unknown[] = [];
    for (let page = 1; path !== null && page <= 10; page++) {
      const { json }: Awaited<ReturnType<typeof call>> = await call(sandbox, 'GET', path);
      ids.push(...json.results.map((one) => one['id']));
      previous.push(json['previous']);
      path = json['next'] === null ? null : String(json['next']).replace(`${sandbox.url}/api/v2`, '');
    }
    expect(ids).toEqual(Array.from({ length: 61 }, (_, index) => index + 1));
    expect(previous).toEqual([
      null,
      `${sandbox.url}/api/v2/contract/?company=1&page=1`,
      `${sandbox.url}/api/v2/contract/?company=1&page=2`,
    ]);
  });

  it('refuse a page past the end, and no page', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    for (const page of ['4', '0', '-1', 'x', '1.5']) {
      expect((await call(sandbox, 'GET', `/contract/?company=1&page=${page}`)).status).toBe(404);
    }
    const empty = await call(sandbox, 'GET', '/contract/?company=1&name=nothing');
    expect(empty.json).toEqual({ count: 0, next: null, previous: null, results: [] });
  });

  it('need a company that exists, except users and companies', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    for (const [path] of LISTS) {
      const without = path === '/user' || path === '/company';
      expect([path, (await call(sandbox, 'GET', `${path}/`)).status]).toEqual([path, without ? 200 : 400]);
      expect([path, (await call(sandbox, 'GET', `${path}/?company=77`)).status]).toEqual([path, without ? 200 : 404]);
    }
    expect((await call(sandbox, 'GET', '/asset/?company=one')).json).toEqual({
      company: ['A valid integer is required.'],
    });
  });

  it('hold what belongs to the company', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const archived = await call(sandbox, 'GET', '/asset/?company=2');
    expect(archived.json.results.map((one) => one['name'])).toEqual(['OLD-0001', 'OLD-0002']);
    expect((await call(sandbox, 'GET', '/asset/301/?company=1')).status).toBe(404);
    expect((await call(sandbox, 'GET', '/asset/301/?company=2')).status).toBe(200);
  });
});

describe('single records', () => {
  it('are read in both slash forms; licenses and customers are not', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    for (const [path] of LISTS) {
      for (const slash of ['', '/']) {
        const { status } = await call(sandbox, 'GET', `${path}/2${slash}?company=1`);
        expect([path, slash, status]).toEqual([path, slash, path === '/license' ? 404 : 200]);
      }
    }
    expect((await call(sandbox, 'GET', '/asset/99999/?company=1')).status).toBe(404);
    expect((await call(sandbox, 'GET', '/customer/1/?company=1')).status).toBe(405);
    expect((await call(sandbox, 'GET', '/customer/?company=1')).headers['allow']).toBe('POST');
    expect((await call(sandbox, 'GET', '/country/?company=1')).status).toBe(404);
    expect((await call(sandbox, 'DELETE', '/asset/1')).headers['allow']).toBe('GET, PUT, PATCH');
  });

  it('show references, countries and custom values in their read form', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const contract = (await call(sandbox, 'GET', '/contract/49/?company=1')).json;
    expect(contract).toMatchObject({
      number: 'C-1049',
      supplier: { id: 9, name: 'Vandelay Imports' },
      country: 'Germany',
      category: { id: 9, name: 'Services', subcategory: 'Maintenance' },
      business_unit: { id: 2, name: 'Finance', contact_email: 'elena.rossi@northwind.example' },
      expenditure_type: { type: 'blended', capex_percent: 97.27, opex_percent: 2.73 },
      alert: { is_active: true, type: 'notice_date' },
      template: { id: 2, fields: { 'PO Number': 'PO-20049', Savings: 12250, 'Reviewed On': '2023-02-20', Sites: 5 } },
    });
    expect((await call(sandbox, 'GET', '/contract/3/?company=1')).json['parent_contract']).toEqual({
      id: 1,
      number: 'C-1001',
    });
    const asset = (await call(sandbox, 'GET', '/asset/165/?company=1')).json;
    expect(asset).toMatchObject({
      name: 'NW-SV-0005',
      asset_owner: {
        id: 6,
        name: 'Farid Haddad',
        email: 'farid.haddad@northwind.example',
        phone_number: '+1 555 0106',
      },
      supplier_name: 'Wayne Facilities',
      usage_status: { id: 1, name: 'Production' },
      asset_usage_status: 'Production',
      custom_form: [{ id: 1, custom_form_data: { Rack: 'DC1-D10', Unit: 6, 'Power Draw': 475 } }],
    });
    expect((await call(sandbox, 'GET', '/asset/3/?company=1')).json['asset_hardware_model']).toBe('Latitude 5450');
  });

  it('never show what only writes know', async () => {
    const sandbox = await sandboxWith();
    const hidden = {
      inventory_no: 'I',
      ssb_tag: 'S',
      mac_address: 'M',
      uscp_no: 'U',
      asset_physical_location: 'P',
      make: 7,
    };
    const { json } = await call(sandbox, 'POST', '/asset', { company: 1, name: 'A', ...hidden });
    for (const name of Object.keys(hidden)) expect(json).not.toHaveProperty(name);
    expect(sandbox.raw('asset')[0]).toMatchObject(hidden);
  });
});

describe('filters', () => {
  it('narrow assets by name, serial number, manufacturer and tag', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const ids = async (query: string) =>
      (await call(sandbox, 'GET', `/asset/?company=1&${query}`)).json.results.map((one) => one['id']);
    expect(await ids('name=NW-LT-0007')).toEqual([7]);
    expect(await ids('serial_number=00012347')).toEqual([283]);
    expect(await ids('serial_number=SN-DUPLICATE')).toEqual([299, 300]);
    expect(await ids('asset_tag=TAG-00042')).toEqual([42]);
    expect(await ids('manufacturer_name=Brother&serial_number=SN-DUPLICATE&name=NW-PR-0010')).toEqual([300]);
    expect(await ids('name=NW-LT-0007&serial_number=SN-100008')).toEqual([]);
    expect(await ids('custom_form_id=1&custom_form_name=Rack&custom_form_value=DC1-D10')).toEqual([165, 177, 189]);
    expect(await ids('custom_form_id=2')).toEqual([]);
    expect((await call(sandbox, 'GET', '/asset/?company=1&manufacturer_name=Brother')).json.count).toBe(10);
  });

  it('narrow contracts, categories and usage statuses', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const count = async (path: string) => (await call(sandbox, 'GET', path)).json.count;
    expect(await count('/contract/?company=1&contract_no=C-1050')).toBe(2);
    expect(await count('/contract/?company=1&name=Network%20maintenance%20C-1001')).toBe(1);
    expect(await count('/category/?company=1&name=Laptop')).toBe(1);
    expect(await count('/category/?company=1&subcategory=Rugged')).toBe(1);
    expect(await count('/category/?company=1&name=Laptop&subcategory=Rack')).toBe(0);
    expect(await count('/usage-status/?company=1&name=5')).toBe(1);
    expect(await count('/usage-status/?company=1&name=In%20repair')).toBe(1);
  });

  it('order assets both ways, empty values last, equal ones by id', async () => {
    const sandbox = await sandboxWith();
    sandbox.insert('asset', [
      { name: 'B', warranty_end_date: '2024-01-02' },
      { name: 'A' },
      { name: 'C', warranty_end_date: '2023-01-02' },
      { name: 'B' },
    ]);
    const order = async (by: string) =>
      (await call(sandbox, 'GET', `/asset/?company=1&ordering=${by}`)).json.results.map((one) => one['id']);
    expect(await order('asset_name')).toEqual([2, 1, 4, 3]);
    expect(await order('-asset_name')).toEqual([3, 1, 4, 2]);
    expect(await order('warranty_end_date')).toEqual([3, 1, 2, 4]);
    expect(await order('-warranty_end_date')).toEqual([1, 3, 2, 4]);
    expect(await order('-asset_id')).toEqual([4, 3, 2, 1]);
    expect((await call(sandbox, 'GET', '/asset/?company=1&ordering=price')).status).toBe(400);
  });

  it('follow a write in the order by modification', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const first = async () =>
      (await call(sandbox, 'GET', '/asset/?company=1&ordering=-modified_date')).json.results[0]!['id'];
    expect(await first()).toBe(300);
    await call(sandbox, 'PATCH', '/asset/17', { company: 1, room: 'R1' });
    expect(await first()).toBe(17);
  });
});

describe('the serial number probe', () => {
  it('answers in one page the serial numbers that exist, from the body of a GET', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const list = Array.from({ length: 60 }, (_, index) => `SN-${100_031 + index * 5}`);
    const { status, json } = await call(sandbox, 'GET', '/asset/?company=1&serial_number=list', { list });
    expect(status).toBe(200);
    const known = new Set(sandbox.raw('asset').map((one) => one['serial_number']));
    const expected = list.filter((one) => known.has(one));
    expect(json.results).toEqual(expected.map((serial_number) => ({ serial_number })));
    expect(json).toMatchObject({ count: 52, next: null, previous: null });
  });

  it('says one that several assets have once for each', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const body = { list: ['SN-DUPLICATE', 'SN-DUPLICATE', 'nothing', 'SN-000001'] };
    const { json } = await call(sandbox, 'GET', '/asset/?company=1&serial_number=list', body);
    expect(json.results).toEqual([{ serial_number: 'SN-DUPLICATE' }, { serial_number: 'SN-DUPLICATE' }]);
  });

  it('refuses another shape, and lists all without a body', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const path = '/asset/?company=1&serial_number=list';
    expect((await call(sandbox, 'GET', path, { list: 'SN-1' })).status).toBe(400);
    expect((await call(sandbox, 'GET', path, '{"list": [1]}')).status).toBe(400);
    expect((await call(sandbox, 'GET', path, '{')).status).toBe(400);
    const all = (await call(sandbox, 'GET', path)).json;
    expect(all.count).toBe(300);
    expect(all.results[0]).toEqual({ serial_number: 'SN-100001' });
  });
});
