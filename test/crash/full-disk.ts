import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { RunStore } from '../../src/store/run-store.js';
import { cli } from '../cli/fake-io.js';
import { table } from '../support/desk.js';
import { run } from '../support/process.js';
import type { Told } from '../support/truth.js';
import { breakDisk, type DiskPlan } from './disk-faults.mjs';

/** How the disk fails: `disk-faults.mjs`. */
export type DiskFault = DiskPlan['fault'];

/** What is done while it fails. */
export interface Work {
  readonly name: string;
  argv(dir: string): readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** Records that are there before. */
  readonly there: readonly Readonly<Record<string, unknown>>[];
  /** What is wrong once it is done; empty where all is right. `dir` holds its files, `told` what it says of its rows. */
  verify(sandbox: Sandbox, told: Told | undefined, dir: string): Promise<string[]> | string[];
}

/** What became of one attempt. `wrong` lists what should not have happened; empty where the promise held. */
export interface Attempt {
  readonly wrong: readonly string[];
  /** Writes, or flushes, that were counted, as `number what path`. */
  readonly touched: readonly string[];
  readonly code: number | NodeJS.Signals | null;
  readonly said: string;
}

const PRELOAD = fileURLToPath(new URL('./disk-faults.mjs', import.meta.url));
const TOKEN = 'test-token';
/** Of an attempt; its fault and number follow. */
const FOLDER = 'rowferry-full-';

/**
 * Does the work on a disk whose n-th write fails, looks at what it left, and then goes on with a sound disk. `inside` this
 * process, through the same command line, which is much quicker than a process of its own.
 */
export async function attempt(
  work: Work,
  fault: DiskFault,
  nth: number,
  { inside }: { readonly inside: boolean },
): Promise<Attempt> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), `${FOLDER}${fault}-${nth}-`)));
  const sandbox = await startSandbox({ token: TOKEN, responses: 'bare' });
  try {
    sandbox.insert('asset', work.there);
    for (const [name, text] of Object.entries(work.files)) await writeFile(join(dir, name), text);
    await mkdir(join(dir, 'out'));
    const home = join(dir, 'home');
    const env = {
      ROWFERRY_API_URL: sandbox.url,
      ROWFERRY_API_TOKEN: TOKEN,
      ROWFERRY_HOME: home,
      ROWFERRY_SETTLE_WINDOW: '0.1,0.3',
      ROWFERRY_TIMEOUT: '5',
      ROWFERRY_LOG_LEVEL: 'error',
    };
    const roots = [home, join(dir, 'out')];
    const { ended: broken, touched } = await (inside ? insideThis : inAnother)(work.argv(dir), dir, env, {
      roots,
      fault,
      nth,
    });
    const wrong = [
      ...endedWell(broken),
      ...(await unforeseen(home, sandbox)),
      ...(await falselyFinished(work, dir, home, sandbox, broken.code)),
    ];
    // The disk has space again.
    if (broken.code === 1) {
      const begun = runFolders(home).at(-1);
      const resumable = begun !== undefined && existsSync(join(begun, 'run.json'));
      const argv = resumable ? ['runs', 'resume', 'last', '--json'] : work.argv(dir);
      const again = await (inside ? cli : run)(argv, { cwd: dir, env });
      if (again.code !== 0 && again.code !== 3) wrong.push(`${argv.join(' ')} ended with ${again.code}: ${again.err}`);
      wrong.push(...(await work.verify(sandbox, await toldOf(home), dir)));
    }
    return { wrong, touched, code: broken.code, said: broken.err };
  } finally {
    await sandbox.close();
    await rm(dir, { recursive: true, force: true });
  }
}

/** What a run hands from one stage to the next. Such a file may stay open after a fault elsewhere, one for a failed run. */
const BETWEEN_STAGES = /\/work\/(?:staged|resolved|plan|orphans|list)[^/]*\.ndjson(?:\.tmp)?$/;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Files of attempts inside this process that it still holds open: a worker lives on after a run that failed. */
export async function leftOpen(): Promise<string[]> {
  let open = openFiles();
  // libsql lets go of a closed database once its statements are collected, which may take the collector some turns.
  for (let turn = 0; turn < 20 && open.length > 0; turn++) {
    collect();
    await new Promise(setImmediate);
    open = openFiles();
  }
  return open.map((path) => `left open: ${path}`);
}

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      // The folder of an attempt that is over is gone.
      const path = readlinkSync(`/proc/self/fd/${fd}`).replace(/ \(deleted\)$/, '');
      return path.includes(`/${FOLDER}`) && !BETWEEN_STAGES.test(path) ? [path] : [];
    } catch {
      return [];
    }
  });
}

interface Broken {
  readonly ended: { readonly code: number | NodeJS.Signals | null; readonly out: string; readonly err: string };
  readonly touched: readonly string[];
}

async function insideThis(
  argv: readonly string[],
  cwd: string,
  env: Record<string, string>,
  plan: DiskPlan,
): Promise<Broken> {
  breakDisk(plan);
  try {
    const ended = await cli(argv, { cwd, env });
    return { ended, touched: breakDisk(SOUND) };
  } finally {
    breakDisk(SOUND);
  }
}

const SOUND: DiskPlan = { roots: [], fault: 'count', nth: 0 };

async function inAnother(
  argv: readonly string[],
  cwd: string,
  env: Record<string, string>,
  { roots, fault, nth }: DiskPlan,
): Promise<Broken> {
  const log = `${cwd}.log`;
  const ended = await run(argv, {
    cwd,
    env: {
      ...env,
      NODE_OPTIONS: `--import=${PRELOAD}`,
      DISK_ROOTS: roots.join(':'),
      DISK_FAULT: fault,
      DISK_NTH: String(nth),
      DISK_LOG: log,
    },
  });
  const touched = (await readFile(log, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  await rm(log, { force: true });
  return { ended, touched };
}

/** Exit 1 in words that say what and where, or all was done although something beside the work failed. */
function endedWell({ code, err, out }: { code: unknown; err: string; out: string }): string[] {
  const wrong: string[] = [];
  if (code !== 0 && code !== 1 && code !== 3) wrong.push(`exit code ${code}`);
  const said = `${err}\n${out}`;
  if (code === 1 && !/disk is full|input\/output error|disk failed/.test(err)) wrong.push('does not name the disk');
  if (code === 1 && !/\/(?:home|out)\b/.test(err)) wrong.push('does not name the file');
  if (/^\s+at .*[(/]/m.test(said)) wrong.push('shows a stack trace');
  if (/bug in rowferry|unexpected \w*Error|UnhandledPromise/.test(said)) wrong.push('takes it for a bug');
  return wrong.map((what) => `${what}: ${said}`);
}

const runFolders = (home: string): string[] => {
  const runs = join(home, 'runs');
  return existsSync(runs)
    ? readdirSync(runs)
        .sort()
        .map((name) => join(runs, name))
    : [];
};

/** Writes of the service that no intent on the disk had announced. */
async function unforeseen(home: string, sandbox: Sandbox): Promise<string[]> {
  const announced = new Map<string, number>();
  for (const folder of runFolders(home)) {
    const store = RunStore.openExisting(join(folder, 'run.db'));
    for (const rows of store ? [store.rows, store.orphans] : []) {
      for (const { op, key, record, sent } of [...rows.rows('op is not null')].flat()) {
        const what = op === 'create' ? `POST ${key}` : `PUT ${record}`;
        announced.set(what, (announced.get(what) ?? 0) + sent);
      }
    }
    store?.close();
  }
  return sandbox.commits.flatMap(({ method, id, body }) => {
    const key = String((JSON.parse(body ?? '{}') as Record<string, unknown>)['serial_number']);
    const what = method === 'POST' ? `POST ${key}` : `PUT ${id}`;
    const left = announced.get(what) ?? 0;
    announced.set(what, left - 1);
    return left > 0 ? [] : [`the service was given what no intent on the disk announces: ${what}`];
  });
}

async function toldOf(home: string): Promise<Told | undefined> {
  const folder = runFolders(home).at(-1);
  if (folder === undefined || !existsSync(join(folder, 'summary.json'))) return undefined;
  const summary = JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')) as Told['summary'];
  const results = join(folder, 'results.csv');
  return { summary, results: existsSync(results) ? await table(results) : [] };
}

/** Reports that call the work done must be true, and so must an exit code. */
async function falselyFinished(
  work: Work,
  dir: string,
  home: string,
  sandbox: Sandbox,
  code: unknown,
): Promise<string[]> {
  const told = await toldOf(home);
  const status = told?.summary.status;
  const done = status === 'succeeded' || status === 'partial';
  if (code === 1 && !done) return [];
  if (code !== 1 && !done) return [`exit code ${code}, but the summary says ${status}`];
  return (await work.verify(sandbox, told, dir)).map((line) => `told as done: ${line}`);
}
