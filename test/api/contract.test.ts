import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { apiIn, pagesFor } from './support.js';
import { type Answer, type ApiBench, openApiBench, sheet } from './worker.js';

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}
interface Operation {
  readonly summary?: string;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

const published = 'schemas/openapi.json';
const description = async () =>
  (await (await pagesFor(apiIn('/no/home')).request('/api/v1/openapi.json')).json()) as Described;

it('schemas/openapi.json is what the API says of itself (made anew with `-u`)', async () => {
  await expect(`${JSON.stringify(await description(), null, 2)}\n`).toMatchFileSnapshot(`../../${published}`);
});

let bench: ApiBench;
let doc: Described;
let run: string;
let stopped: string;
let failed: string;
let upload: string;
beforeAll(async () => {
  bench = await openApiBench({ seed: 'demo' });
  doc = await description();
  const braked = {
    kind: 'import',
    resource: 'asset',
    match: { key: 'serial_number' },
    columns: { Serial: 'serial_number', Name: 'name' },
  };
  await writeFile(
    path.join(bench.dir, 'jobs', 'braked.yaml'),
    JSON.stringify({ ...braked, brakes: { max_creates: 1 } }),
  );
  const night = { ...braked, kind: 'reconcile', source: {} };
  await writeFile(path.join(bench.dir, 'jobs', 'night.yaml'), JSON.stringify(night));
  const file = await bench.file(
    'c.csv',
    sheet(12, (i) => (i % 2 ? 'much' : '1.00')),
  );
  const sent = await bench.call('POST', '/files?name=c.csv', sheet(3), {
    headers: { 'content-type': 'application/octet-stream' },
  });
  upload = sent.body.id;
  run = await bench.order({ kind: 'import', job: 'assets', file });
  stopped = await bench.order({ kind: 'import', job: 'braked', file });
  failed = await bench.order({ kind: 'import', job: 'none', file });
  const nightly = await bench.order({ kind: 'reconcile', job: 'night', file });
  for (const one of [run, stopped, failed, nightly]) await bench.ended(one);
});
afterAll(() => bench.close());

const MADE = {
  kind: 'import',
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: { Serial: 'serial_number' },
};

/** An example of each operation, and the status that it is answered with. */
const EXAMPLES: Readonly<
  Record<string, () => readonly [address: string, status: number, body?: unknown, more?: object]>
> = {
  'get /session': () => ['/session', 200],
  'post /session': () => ['/session', 401, { name: 'nobody', password: 'wrong-password' }, { origin: bench.url }],
  'delete /session': () => ['/session', 204],
  'post /runs': () => ['/runs', 202, { kind: 'import', job: 'assets', rows: [{ Serial: 'x', Name: 'y' }] }],
  'get /runs': () => ['/runs?limit=2', 200],
  'get /runs/{id}': () => [`/runs/${run}`, 200],
  'get /runs/{id}/events': () => [`/runs/${run}/events`, 200],
  'get /runs/{id}/rows': () => [`/runs/${run}/rows?cells=true`, 200],
  'get /runs/{id}/rows/{row}': () => [`/runs/${run}/rows/3`, 200],
  'put /runs/{id}/aside': () => [`/runs/${run}/aside`, 204, { aside: true }],
  'get /runs/{id}/faults': () => [`/runs/${run}/faults`, 200],
  'get /runs/{id}/plan': () => [`/runs/${stopped}/plan`, 200],
  'get /runs/{id}/reports/{name}': () => [`/runs/${run}/reports/rejected.csv`, 200],
  'post /runs/{id}/resume': () => [`/runs/${run}/resume`, 409, {}],
  'post /runs/{id}/retry': () => [`/runs/${run}/retry`, 409, {}],
  'post /runs/{id}/undo': () => [`/runs/${run}/undo`, 202, { dry_run: true }],
  'post /runs/{id}/approve': () => [`/runs/${stopped}/approve`, 202, { by: 'Mara' }],
  'post /runs/{id}/stop': () => [`/runs/${run}/stop`, 409, {}],
  'post /files': () => ['/files?name=a.csv', 201, sheet(2), { 'content-type': 'application/octet-stream' }],
  'get /files/{id}': () => [`/files/${upload}`, 200],
  'post /tables': () => ['/tables', 200, { file: upload }],
  'post /suggestions': () => ['/suggestions', 200, { file: upload, resource: 'asset' }],
  'get /resources': () => ['/resources', 200],
  'get /names': () => ['/names?of=supplier&q=a', 200],
  'get /jobs': () => ['/jobs', 200],
  'get /jobs/{name}': () => ['/jobs/assets', 200],
  'put /jobs/{name}': () => ['/jobs/made', 200, { text: JSON.stringify(MADE) }, { 'if-none-match': '*' }],
  'post /jobs/check': () => ['/jobs/check', 200, { text: 'kind: import\n' }],
  'get /nights/{job}': () => ['/nights/night', 200],
  'get /overview': () => ['/overview', 200],
  'get /health': () => ['/health', 200],
  'get /queue': () => ['/queue', 200],
};

/** A schema of the description with what it refers to, as zod reads it. */
function shape(schema: object): z.ZodType {
  const text = JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/');
  const defs = JSON.parse(JSON.stringify(doc.components.schemas).replaceAll('#/components/schemas/', '#/$defs/'));
  return z.fromJSONSchema({ ...JSON.parse(text), $defs: defs });
}

function operation(name: string): Operation {
  const [method = '', at = ''] = name.split(' ');
  const found = doc.paths[at]?.[method];
  if (!found) throw new Error(`${name} is not described`);
  return found;
}

/** Throws where an answer is none of those that the description has. */
function check(name: string, { status, headers, body }: Answer): void {
  const { responses } = operation(name);
  const described = responses[String(status)] ?? (status >= 400 ? responses['default'] : undefined);
  if (!described) throw new Error(`${name} answers ${status}, which is not described`);
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  if (!described.content) {
    expect(body, name).toBe('');
    return;
  }
  const content = described.content[type] ?? described.content['application/octet-stream'];
  if (!content) throw new Error(`${name} answers ${type}, which is not described`);
  if (type.includes('json') && !headers.get('content-disposition')) shape(content.schema).parse(body);
}

describe('each operation', () => {
  it('is driven here, and is told in a line', async () => {
    const described = Object.entries(doc.paths).flatMap(([at, methods]) =>
      Object.entries(methods).map(([method, { summary }]) => [`${method} ${at}`, summary] as const),
    );
    expect(described.map(([name]) => name).sort()).toEqual(Object.keys(EXAMPLES).sort());
    expect(described.filter(([, summary]) => !summary)).toEqual([]);
  });

  it.each(Object.keys(EXAMPLES))('%s answers as it is described', async (name) => {
    const [address, status, body, headers = {}] = EXAMPLES[name]!();
    const answer = await bench.call(name.split(' ')[0]!.toUpperCase(), address, body, {
      headers: headers as Record<string, string>,
    });
    expect(
      [answer.status, status < 400 ? '' : answer.headers.get('content-type')],
      JSON.stringify(answer.body),
    ).toEqual([status, status < 400 ? '' : 'application/problem+json']);
    check(name, answer);
  });

  it.each(Object.keys(EXAMPLES).filter((name) => name.includes('{') && !name.startsWith('put')))(
    '%s of what is not there is a problem',
    async (name) => {
      const address = name.split(' ')[1]!.replace(/\{\w+\}/g, 'none-of-these');
      const [, , body] = EXAMPLES[name]!();
      const answer = await bench.call(name.split(' ')[0]!.toUpperCase(), address, body);
      expect(answer.status).toBe(404);
      check(name, answer);
    },
  );

  describe.each(Object.keys(EXAMPLES).filter((name) => /^p/.test(name) && name !== 'post /files'))('%s', (name) => {
    const JSON_TYPE = { 'content-type': 'application/json' };
    it.each([
      ['no JSON', '{"a":', JSON_TYPE],
      ['a list', '[]', JSON_TYPE],
      ['a text', '"x"', JSON_TYPE],
      ['null', 'null', JSON_TYPE],
      ['keys that mean nothing', '{"nothing":1}', JSON_TYPE],
      ['what curl makes of -d', '{"dry_run":true}', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['text', '{"dry_run":true}', { 'content-type': 'text/plain' }],
    ])('refuses %s with a problem', async (_, body, headers) => {
      const [address, , , more = {}] = EXAMPLES[name]!();
      const given = { ...more, ...headers } as Record<string, string>;
      const answer = await bench.call(name.split(' ')[0]!.toUpperCase(), address, body, { headers: given });
      const type = answer.headers.get('content-type');
      expect([[400, 415].includes(answer.status), type], JSON.stringify(answer.body)).toEqual([
        true,
        'application/problem+json',
      ]);
      expect(answer.body).toMatchObject({ code: 'usage', detail: expect.stringMatching(/\.$/) });
      check(name, answer);
    });
  });

  it('a filter that nothing can meet is a fault', async () => {
    const answer = await bench.call('GET', '/runs?status=failed,nope');
    expect([answer.status, answer.body.errors]).toMatchObject([400, [expect.stringContaining('status names')]]);
  });

  it('an Idempotency-Key may be what others make of it', async () => {
    const order = { kind: 'import', job: 'none', rows: [{ a: '1' }] };
    const keys = ['"8e03978e-40d5-43dd-bc93-6894a57f9324"', `order:17/${'x'.repeat(100)}`];
    for (const key of keys) {
      const send = () => bench.call('POST', '/runs', order, { headers: { 'idempotency-key': key } });
      const [one, two] = [await send(), await send()];
      expect([one.status, two.body]).toEqual([202, one.body]);
    }
  });

  it('a run that was refused says why', async () => {
    const answer = await bench.call('GET', `/runs/${failed}`);
    check('get /runs/{id}', answer);
    expect(answer.body).toMatchObject({
      status: 'failed',
      here: false,
      failure: 'usage',
      reason: expect.stringContaining('none'),
    });
  });

  it.each(['rows', 'rows/2', 'faults', 'plan', 'reports/results.csv'])(
    'of a run that has nothing here, %s are not empty: they are elsewhere',
    async (what) => {
      const answer = await bench.call('GET', `/runs/${failed}/${what}`);
      expect([answer.status, answer.body]).toMatchObject([409, { detail: expect.stringContaining('another worker') }]);
    },
  );
});
