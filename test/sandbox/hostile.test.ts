import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { call, sandboxWith } from './client.js';

/** Whatever is sent, the service answers, stores only what it can show again, and goes on. */
describe('anything', () => {
  const names = [
    ...['company', 'name', 'contract', 'category', 'country', 'original_cost', 'currency', 'template', 'templates'],
    ...['form_template', 'custom_form', 'usage_status', 'asset_usage_status', 'hardware_model', 'number', 'status'],
    ...['contact_person', 'ein', 'nda_signed', 'expenditure_type', 'notice_period', 'alert', 'supplier', '__proto__'],
    ...['contract_start_date', 'contract_end_date', 'total_contract_spend_value', 'contract_type', 'warranty_type'],
  ];
  const value = fc.oneof(
    { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    fc.constantFrom(1, 2, 840, 12.5, '2024-01-01', 'active', 'buy_side', 'production', true, null),
    fc.record({
      id: fc.constantFrom<unknown>(1, 2, 'x', null),
      fields: fc.jsonValue(),
      custom_form_data: fc.jsonValue(),
    }),
    fc.array(fc.record({ id: fc.constantFrom(1, 2, 11), value: fc.jsonValue(), fields: fc.jsonValue() })),
  );
  const body = fc
    .dictionary(fc.constantFrom(...names), value)
    .map((members) => ({ company: 1, name: 'A', ...members }) as object);

  it('may be written', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    sandbox.setSwitches({ undocumentedOnPut: 'accepted' });
    const targets = fc.constantFrom(
      ...(['asset', 'contract', 'supplier', 'customer'] as const).flatMap((resource) => [
        { method: 'POST' as const, resource, path: `/${resource}?unique_field=name` },
        { method: 'PUT' as const, resource, path: `/${resource}/2` },
        { method: 'PATCH' as const, resource, path: `/${resource}/3` },
      ]),
    );
    await fc.assert(
      fc.asyncProperty(targets, body, async ({ method, resource, path }, sent) => {
        const commits = sandbox.commits.length;
        const { status, json } = await call(sandbox, method, path, sent);
        expect([200, 201, 400, 404]).toContain(status);
        expect(sandbox.commits.length - commits).toBe(status < 300 ? 1 : 0);
        if (status < 300) expect(sandbox.record(resource, Number(json['id']))).toHaveProperty('name', json['name']);
      }),
      { numRuns: 400 },
    );
    for (const resource of ['asset', 'contract', 'supplier'] as const) {
      expect((await call(sandbox, 'GET', `/${resource}/?company=1`)).json.count).toBeGreaterThan(0);
    }
  });

  it('may stand in an address', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const parameter = fc.constantFrom('company', 'page', 'ordering', 'req', 'name', 'serial_number', 'custom_form_id');
    const path = fc.constantFrom(
      '/asset/',
      '/contract/',
      '/category/',
      '/usage-status/',
      '/license/',
      '/asset/1/',
      '/x/',
    );
    const query = fc.dictionary(parameter, fc.oneof(fc.string(), fc.constantFrom('1', '2', 'list', '-asset_id')));
    await fc.assert(
      fc.asyncProperty(path, query, async (at, parameters) => {
        const { status } = await call(sandbox, 'GET', `${at}?${new URLSearchParams({ company: '1', ...parameters })}`);
        expect([200, 400, 404]).toContain(status);
      }),
      { numRuns: 200 },
    );
    for (const raw of ['/asset/%', '/asset/?company=%zz', '/asset/1/2/', '/asset//', '/asset/-1/', '//asset/']) {
      expect([400, 404]).toContain((await call(sandbox, 'GET', raw)).status);
    }
  });

  it('may be bytes that are no UTF-8', async () => {
    const sandbox = await sandboxWith();
    const answer = await fetch(`${sandbox.url}/api/v2/asset`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' },
      body: Buffer.from('{"company":1,"name":"M\xfcller"}', 'latin1'),
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('UTF-8');
  });
});
