import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { cliPath } from '../support/build.js';
import { libraryExamples } from '../support/examples.js';
import { type Started, start } from '../support/process.js';

/** The examples of docs/integrate.md, run one after the other in one folder; test/package.test.ts checks their types. */

let dir: string;
let sandbox: Sandbox;
let worker: Started | undefined;
const examples = await libraryExamples();

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-examples-'));
  sandbox = await startSandbox({ seed: 'demo', token: 'test-token' });
  const root = dirname(dirname(dirname(await cliPath())));
  await mkdir(join(dir, 'node_modules'));
  await symlink(root, join(dir, 'node_modules', 'rowferry'), 'dir');
  await cp('jobs', join(dir, 'jobs'), { recursive: true });
  await cp('fixtures/assets-demo.xlsx', join(dir, 'assets.xlsx'));
  await cp('fixtures/assets-demo.xlsx', join(dir, 'erp.csv'));
  await writeFile(
    join(dir, 'vendors.csv'),
    'Company,Town,Country\nBrightwater Labs,Ghent,Belgium\nNordlys AS,Oslo,NO\n',
  );
  await writeFile(
    join(dir, '.env'),
    `ROWFERRY_API_URL=${sandbox.url}\nROWFERRY_API_TOKEN=test-token\nROWFERRY_HTTP=off\nROWFERRY_LEASE=2\n`,
  );
});
afterAll(async () => {
  worker?.child.kill('SIGTERM');
  await worker?.ended;
  await sandbox.close();
  await rm(dir, { recursive: true, force: true });
});

describe('the examples of the library', () => {
  it.each(examples.map((text, i) => [/^(?:const|await|try).*/m.exec(text)?.[0] ?? '', text, i] as const))(
    'run: %s',
    async (_, text, i) => {
      if (text.includes('enqueue(')) worker = await start(['worker'], { cwd: dir });
      const { outputText } = ts.transpileModule(text, {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      });
      const path = join(dir, `example-${i}.mjs`);
      await writeFile(path, outputText);
      const ran = await promisify(execFile)(process.execPath, [path], { cwd: dir, env: { PATH: process.env['PATH'] } });
      expect(ran.stderr).toBe('');
      expect(ran.stdout).toMatch(EXPECTED[i] ?? /./);
    },
  );
});

/** What each of them prints, in their order on the page. */
const EXPECTED = [
  /^partial 207 14 /,
  /^reading: [\s\S]*reporting: 240 of 240 rows, 14 invalid\n$/,
  /^2 rows in, [1-9]\d* records out\n$/,
  /differ|usage/,
  /^job \S+ on the queue \(embedded in [^)]*\), \d workers\n[\s\S]*succeeded\n$/,
];
