import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { cli } from './fake-io.js';

let sandbox: Sandbox;
let cwd: string;

beforeEach(async () => {
  sandbox = await startSandbox({ token: 'test-token', responses: 'bare' });
  cwd = await mkdtemp(join(tmpdir(), 'rowferry-report-only-'));
  sandbox.insert('asset', [
    { name: 'Box', serial_number: 'S-1', room: 'R1', category: { id: 3, subcategory: 'Rack' } },
  ]);
  await writeFile(join(cwd, 'erp.csv'), 'Serial,Room\r\nS-1,R2\r\n');
  await writeFile(
    join(cwd, 'erp.yaml'),
    'kind: reconcile\nresource: asset\nmatch: { key: serial_number, missing: skip }\ncolumns: { Serial: serial_number, Room: room }\n',
  );
});
afterEach(async () => {
  await sandbox.close();
  await rm(cwd, { recursive: true, force: true });
});

const run = (...argv: string[]) =>
  cli(argv, { cwd, env: { ROWFERRY_API_URL: sandbox.url, ROWFERRY_API_TOKEN: 'test-token' } });

it('a reconciliation that only reported is called so wherever it is named, and is no dry run', async () => {
  const told = [
    (await run('reconcile', 'erp.csv', '--job', join(cwd, 'erp.yaml'))).out,
    (await run('runs', 'list')).out,
    (await run('runs', 'show', 'last')).out,
    (await run('runs', 'undo', 'last')).err,
    (await run('runs', 'retry', 'last')).err,
  ];
  for (const text of told) {
    expect(text).toMatch(/report[ -]only/i);
    expect(text).not.toMatch(/dry run/i);
  }
  expect(told[1]).toContain('succeeded (report only)');
});
