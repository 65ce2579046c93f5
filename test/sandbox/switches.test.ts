import { describe, expect, it } from 'vitest';
import { DEFAULT_SWITCHES, type Switches } from '../../src/sandbox/index.js';
import { CONTRACT, call, sandboxWith } from './client.js';

const withSwitches = (switches: Partial<Switches>) => sandboxWith({ seed: 'demo', switches });

describe('switches', () => {
  it('filters: exact, contains, ignore_case, ignored', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const count = async (value: string) => {
      const { json } = await call(sandbox, 'GET', `/asset/?company=1&serial_number=${value}`);
      return json.count;
    };
    const counts = async () => [await count('SN-100001'), await count('sn-100001'), await count('10000')];
    expect(await counts()).toEqual([1, 0, 0]);
    sandbox.setSwitches({ filters: 'contains' });
    expect(await counts()).toEqual([1, 0, 9]);
    sandbox.setSwitches({ filters: 'ignore_case' });
    expect(await counts()).toEqual([1, 1, 0]);
    sandbox.setSwitches({ filters: 'ignored' });
    expect(await counts()).toEqual([300, 300, 300]);
    const categories = await call(sandbox, 'GET', '/category/?company=1&name=nothing&subcategory=nothing');
    expect(categories.json.count).toBe(10);
  });

  it('uniqueField: upserts and ignored', async () => {
    const sandbox = await withSwitches({ uniqueField: 'upserts' });
    const body = { company: 1, name: 'Renamed', serial_number: 'SN-100001', asset_usage_status: 2 };
    const path = '/asset?unique_field=serial_number';
    const upserted = await call(sandbox, 'POST', path, body);
    expect(upserted.status).toBe(200);
    expect(upserted.json).toMatchObject({ id: 1, name: 'Renamed', asset_tag: 'TAG-00001', usage_status: { id: 2 } });
    sandbox.setSwitches({ uniqueField: 'ignored' });
    expect((await call(sandbox, 'POST', path, body)).json['id']).toBe(303);
  });

  it('omittedOnPut: kept', async () => {
    const sandbox = await withSwitches({ omittedOnPut: 'kept' });
    const before = sandbox.record('asset', 25)!;
    await call(sandbox, 'PUT', '/asset/25', { company: 1, name: 'Other', room: null });
    expect(sandbox.record('asset', 25)).toEqual({ ...before, name: 'Other', room: null });
    expect((await call(sandbox, 'PUT', '/asset/25', { company: 1 })).status).toBe(400);
  });

  it('undocumentedOnPut: accepted and rejected', async () => {
    const sandbox = await withSwitches({ undocumentedOnPut: 'accepted' });
    const more = { area: 'North', bldg_name: 'Tower', asset_usage_status: 5, templates: [{ id: 1, fields: [] }] };
    const accepted = await call(sandbox, 'PUT', '/asset/25', { company: 1, name: 'A', ...more });
    expect(accepted.json).toMatchObject({ area: 'North', bldg_name: 'Tower', usage_status: { id: 5 } });
    const contract = await call(sandbox, 'PUT', '/contract/1', {
      ...CONTRACT,
      approver: 'Ada',
      alert: { is_active: true },
    });
    expect(contract.json).toMatchObject({ approver: 'Ada', alert: { is_active: true } });
    const typed = await call(sandbox, 'PUT', '/contract/1', { ...CONTRACT, contract_type: 'sell_side', customer: 1 });
    expect(typed.json).toEqual({ contract_type: [expect.stringContaining('cannot be changed')] });
    sandbox.setSwitches({ undocumentedOnPut: 'rejected' });
    const rejected = await call(sandbox, 'PUT', '/asset/25', { company: 1, id: 25, name: 'A', area: 'North' });
    expect([rejected.status, Object.keys(rejected.json)]).toEqual([400, ['area']]);
    expect((await call(sandbox, 'POST', '/asset', { company: 1, name: 'A', nobody: 1 })).status).toBe(201);
  });

  it('errorFormat: each says the field and the words', async () => {
    const sandbox = await sandboxWith();
    const fault = async (errorFormat: Switches['errorFormat']) => {
      sandbox.setSwitches({ errorFormat });
      const { text, headers } = await call(sandbox, 'POST', '/asset', { company: 1, name: '' });
      return [String(headers['content-type']).split(';')[0], text];
    };
    const said = 'This field may not be blank.';
    expect(await fault('fields')).toEqual(['application/json', `{"name":["${said}"]}`]);
    expect(await fault('detail')).toEqual(['application/json', `{"detail":"name: ${said}"}`]);
    expect(await fault('errors')).toEqual(['application/json', `{"errors":[{"field":"name","message":"${said}"}]}`]);
    expect(await fault('message')).toEqual(['application/json', `{"message":"name: ${said}"}`]);
    expect(await fault('text')).toEqual(['text/plain', `name: ${said}`]);
    expect((await fault('html'))[1]).toContain(`<p>name: ${said}</p>`);
    sandbox.setSwitches({ errorFormat: 'fields' });
    expect((await call(sandbox, 'GET', '/asset/1/?company=1')).json).toEqual({ detail: 'Not found.' });
  });

  it('patch: off', async () => {
    const sandbox = await withSwitches({ patch: 'off' });
    const { status, headers } = await call(sandbox, 'PATCH', '/asset/1', { company: 1, room: 'R' });
    expect([status, headers['allow']]).toEqual([405, 'GET, PUT']);
  });

  it('probe: ignored and plain', async () => {
    const sandbox = await withSwitches({ probe: 'ignored' });
    const probe = async () =>
      (await call(sandbox, 'GET', '/asset/?company=1&serial_number=list', { list: ['SN-100001'] })).json;
    const ignored = await probe();
    expect([ignored.count, ignored.results.length, Object.keys(ignored.results[0]!)]).toEqual([
      300,
      25,
      ['serial_number'],
    ]);
    sandbox.setSwitches({ probe: 'plain' });
    expect(await probe()).toEqual({ count: 0, next: null, previous: null, results: [] });
    sandbox.insert('asset', [{ name: 'A', serial_number: 'list' }]);
    expect((await probe()).results).toMatchObject([{ name: 'A', serial_number: 'list' }]);
  });

  it('dates: datetime, long and d/m, everywhere', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const dates = async () => {
      const contract = (await call(sandbox, 'GET', '/contract/1/?company=1')).json;
      const license = (await call(sandbox, 'GET', '/license/?company=1')).json.results[0]!;
      const { fields } = contract['template'] as { fields: Record<string, unknown> };
      return [
        contract['contract_start_date'],
        fields['Reviewed On'],
        license['issued_date'],
        contract['modified_date'],
      ];
    };
    const modified = '2024-01-10T05:00:00.000Z';
    expect(await dates()).toEqual(['2023-02-01', '2023-02-20', '2022-01-01', modified]);
    sandbox.setSwitches({ dates: 'datetime' });
    expect(await dates()).toEqual(['2023-02-01T00:00:00Z', '2023-02-20T00:00:00Z', '2022-01-01T00:00:00Z', modified]);
    sandbox.setSwitches({ dates: 'long' });
    expect(await dates()).toEqual(['February 1, 2023', 'February 20, 2023', 'January 1, 2022', 'January 10, 2024']);
    sandbox.setSwitches({ dates: 'd/m' });
    expect(await dates()).toEqual(['01/02/2023', '20/02/2023', '01/01/2022', '10/01/2024']);
  });

  it('country: alpha2 and alpha3', async () => {
    const sandbox = await withSwitches({ country: 'alpha2' });
    expect(sandbox.record('supplier', 2)).toMatchObject({ country: 'DE' });
    sandbox.setSwitches({ country: 'alpha3' });
    expect((await call(sandbox, 'GET', '/supplier/2/?company=1')).json).toMatchObject({ country: 'DEU' });
  });

  it('pastEnd: empty', async () => {
    const sandbox = await withSwitches({ pastEnd: 'empty' });
    const { status, json } = await call(sandbox, 'GET', '/supplier/?company=1&page=9');
    expect(status).toBe(200);
    expect(json).toEqual({ count: 40, next: null, previous: expect.stringContaining('page=2'), results: [] });
    expect((await call(sandbox, 'GET', '/supplier/?company=1&page=0')).status).toBe(404);
  });

  it('lag: lists see a write later, a read by id at once', async () => {
    let now = 1_000_000;
    const sandbox = await sandboxWith({ seed: 'demo', switches: { lag: 150 }, now: () => now });
    await call(sandbox, 'POST', '/asset', { company: 1, name: 'Late' });
    await call(sandbox, 'PATCH', '/asset/1', { company: 1, serial_number: 'SN-NEW' });
    const count = async (query: string) => (await call(sandbox, 'GET', `/asset/?company=1&${query}`)).json.count;
    expect([await count('name=Late'), await count('serial_number=SN-NEW'), await count('')]).toEqual([0, 0, 300]);
    expect(await count('serial_number=SN-100001')).toBe(1);
    expect((await call(sandbox, 'GET', '/asset/303/?company=1')).json).toMatchObject({ name: 'Late' });
    now += 149;
    expect(await count('name=Late')).toBe(0);
    now += 1;
    expect([await count('name=Late'), await count('serial_number=SN-NEW'), await count('')]).toEqual([1, 1, 301]);
    expect(await count('serial_number=SN-100001')).toBe(0);
    sandbox.setSwitches({ lag: 0 });
    await call(sandbox, 'POST', '/asset', { company: 1, name: 'Soon' });
    expect(await count('name=Soon')).toBe(1);
  });

  it('writeStatus and responses', async () => {
    const sandbox = await sandboxWith({ responses: 'bare' });
    const post = async () => {
      const { status, text } = await call(sandbox, 'POST', '/asset', { company: 1, name: 'A' });
      return [status, text];
    };
    const put = async () => (await call(sandbox, 'PUT', '/asset/1', { company: 1, name: 'A' })).status;
    expect([await post(), await put()]).toEqual([[201, ''], 200]);
    sandbox.setSwitches({ writeStatus: 200 });
    expect([await post(), await put()]).toEqual([[200, ''], 200]);
    sandbox.setSwitches({ writeStatus: 201 });
    expect([await post(), await put()]).toEqual([[201, ''], 201]);
    sandbox.setSwitches({ writeStatus: 204 });
    expect([await post(), await put()]).toEqual([[204, ''], 204]);
    sandbox.setSwitches({ writeStatus: 'default', responses: 'full' });
    expect((await post())[1]).toContain('"name":"A"');
  });

  it('wraps: a single record is a list of one', async () => {
    const sandbox = await withSwitches({ wraps: true });
    const { json } = await call(sandbox, 'GET', '/company/1');
    expect(json).toEqual({
      count: 1,
      next: null,
      previous: null,
      results: [{ id: 1, name: 'Northwind Operations', status: 'active' }],
    });
  });

  it('trimsText and cutsText', async () => {
    const sandbox = await withSwitches({ trimsText: 'on', cutsText: 5 });
    const { json } = await call(sandbox, 'POST', '/asset', { company: 1, name: '  abcdefgh ' });
    expect(json['name']).toBe('abcde');
    sandbox.setSwitches({ trimsText: 'off', cutsText: 0 });
    expect((await call(sandbox, 'POST', '/asset', { company: 1, name: ' a ' })).json['name']).toBe(' a ');
  });

  it('slashes: redirect and not_found', async () => {
    const sandbox = await withSwitches({ slashes: 'redirect' });
    const read = await call(sandbox, 'GET', '/asset?company=1&page=2');
    expect([read.status, read.headers['location']]).toEqual([301, `${sandbox.url}/api/v2/asset/?company=1&page=2`]);
    const write = await call(sandbox, 'POST', '/asset/', { company: 1, name: 'A' });
    expect([write.status, write.headers['location']]).toEqual([301, `${sandbox.url}/api/v2/asset`]);
    for (const path of [
      '/asset/',
      '/asset/1/',
      '/user',
      '/company/1',
      '/custom-form-template',
      '/custom-form-template/',
    ]) {
      expect([path, (await call(sandbox, 'GET', `${path}?company=1`)).status]).toEqual([path, 200]);
    }
    sandbox.setSwitches({ slashes: 'not_found' });
    expect((await call(sandbox, 'GET', '/user/')).status).toBe(404);
    expect((await call(sandbox, 'PUT', '/asset/1', { company: 1, name: 'A' })).status).toBe(200);
  });

  it('retryAfter: what a 429 of the hidden limit says', async () => {
    let now = 1_000_000;
    const sandbox = await sandboxWith({ maxRps: 0.5, now: () => now });
    const header = async (retryAfter: Switches['retryAfter']) => {
      sandbox.setSwitches({ retryAfter });
      const { status, headers } = await call(sandbox, 'GET', '/user/');
      expect(status).toBe(429);
      return headers['retry-after'];
    };
    expect((await call(sandbox, 'GET', '/user/')).status).toBe(200);
    expect(await header('seconds')).toBe('2');
    expect(Date.parse(String(await header('date')))).toBeGreaterThan(Date.now());
    expect(await header('none')).toBeUndefined();
    now += 2_000;
    expect((await call(sandbox, 'GET', '/user/')).status).toBe(200);
    expect(await header('seconds')).toBe('2');
    sandbox.setMaxRps(undefined);
    expect((await call(sandbox, 'GET', '/user/')).status).toBe(200);
  });

  it('are all tried here', () => {
    expect(Object.keys(DEFAULT_SWITCHES).sort()).toEqual(
      [
        ...['filters', 'uniqueField', 'omittedOnPut', 'undocumentedOnPut', 'errorFormat', 'patch', 'probe', 'dates'],
        ...[
          'responses',
          'country',
          'pastEnd',
          'lag',
          'writeStatus',
          'wraps',
          'trimsText',
          'cutsText',
          'slashes',
          'retryAfter',
        ],
      ].sort(),
    );
  });
});
