import { beforeEach, expect, test } from 'vitest';
import { answerOther } from '../runs/export/odd-service.js';
import { serve } from '../service/server.js';
import { type Desk, openDesk } from '../support/desk.js';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});

const JOB = { resource: 'supplier', match: { key: 'name' }, columns: { Name: 'name', City: 'city' } };

/** A service of suppliers whose ids are `first` and those after it, as JSON shows them by `shown`. */
async function suppliers(first: bigint, shown: (id: bigint) => string) {
  const records: { readonly id: bigint; fields: Record<string, unknown> }[] = [];
  const writes: string[] = [];
  const json = ({ id, fields }: (typeof records)[number]) =>
    `{"id":${shown(id)},${JSON.stringify({ ...fields, company: undefined }).slice(1)}`;
  const { url } = await serve((response, { method, url: { pathname, searchParams }, body }) => {
    const end = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    const id = /\/supplier\/(\d+)/.exec(pathname)?.[1];
    const record = records.find((one) => String(one.id) === id);
    if (!pathname.includes('/supplier')) answerOther(response, pathname);
    else if (method === 'POST') {
      writes.push(method);
      records.push({ id: first + BigInt(records.length), fields: JSON.parse(body) as Record<string, unknown> });
      end(201, '');
    } else if (id !== undefined && !record) end(404, '{}');
    else if (method === 'PUT' && record) {
      writes.push(method);
      record.fields = JSON.parse(body) as Record<string, unknown>;
      end(200, '');
    } else if (record) end(200, json(record));
    else {
      const page = Number(searchParams.get('page') ?? 1);
      const results = records.slice((page - 1) * 25, page * 25).map(json);
      end(results.length > 0 || page === 1 ? 200 : 404, `{"count":${records.length},"results":[${results.join()}]}`);
    }
  });
  return { env: { ROWFERRY_API_URL: url }, writes, records };
}

const file = (city: string) =>
  `Name,City\n${Array.from({ length: 60 }, (_, at) => `Supplier ${at},${at === 31 ? city : 'Bonn'}`).join('\n')}\n`;

const job = { kind: 'import', ...JOB };

test.each([
  ['texts', 7n, (id: bigint) => `"${id}"`],
  ['beyond 2^31', 3_000_000_000n, String],
  ['of sixteen digits', 9_007_199_254_740_000n, String],
])('ids that are %s: nothing is written twice, and one change is one update', async (_, first, shown) => {
  const { env, writes, records } = await suppliers(first, shown);
  const created = await desk.import(await desk.file('a.csv', file('Bonn')), job, { env });
  expect(created.summary.rows).toMatchObject({ created: 60, total: 60 });
  const idOf = (key: string | undefined) => String(records.find(({ fields }) => fields['name'] === key)?.id);
  for (const { key, id } of created.results) expect(id).toBe(idOf(key));
  const again = await desk.import(await desk.file('a.csv', file('Bonn')), job, { env });
  expect(again.summary.rows).toMatchObject({ unchanged: 60 });
  const changed = await desk.import(await desk.file('b.csv', file('Ulm')), job, { env });
  expect(changed.summary.rows).toMatchObject({ updated: 1, unchanged: 59 });
  expect(changed.results.find(({ outcome }) => outcome === 'updated')).toMatchObject({ id: idOf('Supplier 31') });
  expect(records.filter(({ fields }) => fields['city'] === 'Ulm').map(({ fields }) => fields['name'])).toEqual([
    'Supplier 31',
  ]);
  expect(writes).toHaveLength(61);
  const night = await desk.reconcile(await desk.file('b.csv', file('Ulm')), JOB, { env });
  expect(night.summary.rows).toMatchObject({ unchanged: 60 });
});

test('records whose id no number can hold stop the run before anything is written', async () => {
  const { env, writes, records } = await suppliers(1_900_000_000_000_000_000n, String);
  records.push({ id: 1_900_000_000_000_000_000n, fields: { name: 'Supplier 3', city: 'Ulm' } });
  const { summary, exitCode } = await desk.import(await desk.file('a.csv', file('Bonn')), job, { env });
  expect(exitCode).toBe(1);
  expect(summary).toMatchObject({ status: 'failed', reason: expect.stringContaining('id = 1900000000000000000') });
  expect(writes).toEqual([]);
});
