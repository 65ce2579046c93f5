import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
import { libraryExamples } from './support/examples.js';
import { until } from './support/until.js';

/**
 * The package as somebody gets it: packed, installed into an empty folder, and used from there. npm takes what it needs from its
 * cache, and asks the registry for the rest; where there is neither, the suite is skipped and says so.
 */

const run = promisify(execFile);

interface Packed {
  readonly filename: string;
  readonly version: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

const installed = await install();
if (typeof installed === 'string') it.skip(`npm has no packages to install: ${installed}`, () => undefined);
const { dir, packed } = typeof installed === 'string' ? { dir: '', packed: undefined } : installed;

async function install(): Promise<{ readonly dir: string; readonly packed: Packed } | string> {
  const npm = (args: readonly string[], cwd: string) =>
    run('npm', [...args, '--no-fund', '--no-audit', '--loglevel=error'], { cwd, maxBuffer: 64 << 20 });
  const place = join(await mkdtemp(join(tmpdir(), 'rowferry-package-')), 'place');
  await mkdir(place);
  // What is packed is what the sources say.
  await npm(['run', 'prepare'], resolve('.'));
  const { stdout } = await npm(
    ['pack', '--json', '--ignore-scripts', '--pack-destination', dirname(place)],
    resolve('.'),
  );
  const [first] = JSON.parse(stdout) as Packed[];
  const file = join(dirname(place), first?.filename ?? '');
  await writeFile(join(place, 'package.json'), '{ "private": true, "type": "module" }\n');
  try {
    await npm(['install', '--prefer-offline', file], place);
  } catch (error) {
    await rm(dirname(place), { recursive: true, force: true });
    const said = String((error as { stderr?: unknown }).stderr);
    const away = /E(?:NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|NOTCACHED|TARGET)|\bE40[34]\b/.exec(said);
    if (away) return away[0];
    throw error;
  }
  return { dir: place, packed: first! };
}

afterAll(async () => {
  if (dir !== '') await rm(dirname(dir), { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process in the folder, with nothing of the machine's own settings. */
async function inFolder(file: string, args: readonly string[]): Promise<Ran> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'] };
  return run(file, args, { cwd: dir, env }).then(
    (ran) => ({ code: 0, ...ran }),
    (error: Ran) => error,
  );
}

const rowferry = (...args: readonly string[]) => inFolder(join(dir, 'node_modules', '.bin', 'rowferry'), args);

/** A worker of the package takes a file out of the inbox that `init` made, on the embedded queue. */
async function dropped(file: string, job: string): Promise<void> {
  const worker = spawn(join(dir, 'node_modules', '.bin', 'rowferry'), ['worker', '--http', 'off'], {
    cwd: dir,
    stdio: 'ignore',
  });
  const ended = once(worker, 'exit');
  try {
    const inbox = join(dir, 'inbox');
    const names = (folder: string) => readdir(join(inbox, folder)).catch((): string[] => []);
    await until(async () => (await names('.')).includes(job), { withinMs: 120_000, what: `the folder of ${job}` });
    await cp(file, join(inbox, job, 'dropped.csv'));
    const done = async () => (await names(`done/${job}`))[0] ?? '';
    await until(async () => (await names(join('done', job, await done()))).includes('summary.json'), {
      withinMs: 120_000,
      what: 'the end of the dropped file',
    });
    const summary: unknown = JSON.parse(await readFile(join(inbox, 'done', job, await done(), 'summary.json'), 'utf8'));
    expect(summary).toMatchObject({ kind: 'import', job });
  } finally {
    worker.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  }
}

// It starts a dozen processes, and a compiler.
describe.skipIf(dir === '')('the packed package', { timeout: 300_000 }, () => {
  it('holds the bundle, declarations, jobs and pages, and no module twice', () => {
    const paths = packed?.files.map(({ path }) => path) ?? [];
    const folders = new Set(
      paths.map((path) =>
        path
          .split('/')
          .slice(0, path.startsWith('dist/') ? 2 : 1)
          .join('/'),
      ),
    );
    for (const name of [
      'dist/bin',
      'dist/console',
      'dist/types',
      'jobs',
      'fixtures',
      'docs',
      'schemas',
      'examples',
      'LICENSE',
    ])
      expect(folders).toContain(name);
    expect([...folders].filter((name) => name.startsWith('dist/'))).toEqual(['dist/bin', 'dist/console', 'dist/types']);
    expect([...folders].filter((name) => /^(?:src|test|bench|build|node_modules)$/.test(name))).toEqual([]);
    expect(packed?.size).toBeLessThan(3_000_000);
  });

  it('begins with a folder made ready, imports into a sandbox of its own, and takes dropped files', async () => {
    expect((await inFolder('npx', ['--no-install', 'rowferry', '--version'])).stdout).toBe(`${packed?.version}\n`);
    expect((await rowferry('init')).stdout).toContain('Made in .: .env, jobs/assets.yaml');
    expect((await stat(join(dir, '.env'))).mode & 0o777).toBe(0o600);
    expect(await readdir(dir)).toEqual(expect.arrayContaining(['inbox', 'jobs']));

    const sandbox = spawn(join(dir, 'node_modules', '.bin', 'rowferry'), ['sandbox', '--token', 'demo-token'], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      let said = '';
      for await (const piece of sandbox.stdout.setEncoding('utf8')) {
        said += piece as string;
        if (said.includes('ROWFERRY_API_TOKEN')) break;
      }
      const url = /ROWFERRY_API_URL=(\S+)/.exec(said)?.[1] ?? '';
      const text = await readFile(join(dir, '.env'), 'utf8');
      const filled = text.replace('_API_URL=', `_API_URL=${url}`).replace('_API_TOKEN=', '_API_TOKEN=demo-token');
      await writeFile(join(dir, '.env'), filled);
      const sheet = 'node_modules/rowferry/fixtures/assets-demo.xlsx';
      const ran = await rowferry('import', sheet, '--job', 'assets', '--json');
      expect(ran.code).toBe(3);
      expect(JSON.parse(ran.stdout)).toMatchObject({ status: 'partial', rows: { created: 207, total: 240 } });
      await dropped(join(dir, 'node_modules', 'rowferry', 'fixtures', 'suppliers.csv'), 'suppliers');
    } finally {
      sandbox.kill('SIGTERM');
    }
  });

  it('is a library that prints nothing, and shows nothing but what it exports', async () => {
    await writeFile(
      join(dir, 'import.mjs'),
      `import { writeFile } from 'node:fs/promises';
import * as rowferry from 'rowferry';

const sandbox = await rowferry.openSandbox({ seed: 'demo' });
const settings = { apiUrl: sandbox.url, apiToken: sandbox.token, home: 'by-library', logLevel: 'trace' };
const call = { settings, env: {}, job: 'node_modules/rowferry/jobs/assets.yaml' };
const run = rowferry.importFile({ file: 'node_modules/rowferry/fixtures/assets-demo.xlsx', ...call });
const phases = new Set();
for await (const { phase } of run) phases.add(phase);
const { summary } = await run;
const refused = await rowferry.importFile({ file: 'none.csv', ...call }).catch((error) => error);
const inner = await import('rowferry/dist/bin/index.js').catch((error) => error.code);
const { default: manifest } = await import('rowferry/package.json', { with: { type: 'json' } });
await sandbox.close();
const told = { names: Object.keys(rowferry), rows: summary.rows, phases: [...phases], refused: refused.code, inner, name: manifest.name };
await writeFile('told.json', JSON.stringify(told));
`,
    );
    const { code, stdout, stderr } = await inFolder(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      'import.mjs',
    ]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
    const told = JSON.parse(await readFile(join(dir, 'told.json'), 'utf8')) as Record<string, unknown>;
    expect(told).toMatchObject({
      names: ['RowferryError', 'enqueue', 'exportRecords', 'importFile', 'openSandbox', 'reconcileFile', 'resumeRun'],
      rows: { created: 207, total: 240 },
      refused: 'file_not_found',
      inner: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
      name: 'rowferry',
    });
    expect(told['phases']).toContain('writing');
  });

  it('has types that hold under the strictest settings, and so do the examples of the documentation', async () => {
    const path = join(dir, 'types.mts');
    await writeFile(
      path,
      `import { enqueue, importFile, type ImportJob, type Outcome, type Progress, RowferryError, type Summary } from 'rowferry';

const job: ImportJob = { kind: 'import', resource: 'asset', match: { key: 'name' }, columns: { Name: 'name', Cost: null } };
const run = importFile({ file: 'a.csv', job, settings: { apiUrl: 'http://localhost', maxRps: 5, strict: true }, env: {} });
const latest: Progress[] = [];
for await (const progress of run) latest.push(progress);
const summary: Summary = (await run).summary;
export const created: number = summary.rows['created' satisfies Outcome];
export const isOurs = (error: unknown): boolean => error instanceof RowferryError && error.code === 'usage';
export const queued = enqueue({ kind: 'export', job: 'assets', file: 'a.csv' });
// @ts-expect-error A misspelt setting is a fault.
void importFile({ file: 'a.csv', job, settings: { apiUri: 'http://localhost' } });
// @ts-expect-error So is a resource that cannot be imported.
export const wrong: ImportJob = { ...job, resource: 'license' };
`,
    );
    const examples = await Promise.all(
      (await libraryExamples()).map(async (text, i) => {
        await writeFile(join(dir, `example-${i}.mts`), text);
        return join(dir, `example-${i}.mts`);
      }),
    );
    expect(examples.length).toBeGreaterThanOrEqual(5);
    const program = ts.createProgram([path, ...examples], {
      lib: ['lib.es2023.d.ts'],
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      strict: true,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      types: ['node'],
      typeRoots: [resolve('node_modules/@types')],
    });
    const faults = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      return `${file?.fileName} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
    expect(faults).toEqual([]);
  });
});
