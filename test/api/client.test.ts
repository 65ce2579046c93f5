import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clientTypes } from '../../build/client-types.mjs';
import { ApiProblem, call } from '../../examples/client/client.ts';
import { importFile } from '../../examples/client/import-file.ts';
import { type ApiBench, openApiBench, sheet } from './worker.js';

it('the types of the example client are made from the published description (`node build/client-types.mjs`)', async () => {
  const description = JSON.parse(await readFile('schemas/openapi.json', 'utf8'));
  expect(await readFile('examples/client/api.ts', 'utf8')).toBe(clientTypes(description));
  const schemas = { A: { type: ['object', 'null'], properties: { b: { type: 'string' } } } };
  expect(clientTypes({ paths: {}, components: { schemas } })).toContain('export type A = { "b"?: string; } | null;');
});

let bench: ApiBench;
beforeAll(async () => {
  bench = await openApiBench();
});
afterAll(() => bench.close());

it('the example client sends a file, checks it, lets it be written, and tells which rows need a person', async () => {
  const connection = { url: bench.url, key: bench.keys.operator };
  const said: string[] = [];
  const good = await importFile(connection, await bench.file('good.csv', sheet(20)), 'assets', (line) =>
    said.push(line),
  );
  expect(good).toMatchObject({ status: 'succeeded', dry_run: false, outcomes: { created: 20 } });
  expect(said).toContain('20 rows, 0 need a person');
  const bad = await importFile(
    connection,
    await bench.file(
      'bad.csv',
      sheet(4, () => 'dear'),
    ),
    'assets',
    (line) => said.push(line),
  );
  expect(bad).toMatchObject({ dry_run: true, status: 'partial' });
  expect(said.filter((line) => line.startsWith('row 2 S-0:'))).toHaveLength(1);
  const refused = await call(connection, 'POST /runs', { body: { kind: 'import', job: '../a' } }).catch(
    (error) => error,
  );
  expect(refused).toBeInstanceOf(ApiProblem);
  expect(refused).toMatchObject({ problem: { status: 422 }, message: expect.stringContaining('`job`') });
});
