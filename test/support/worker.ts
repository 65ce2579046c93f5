import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { table } from './desk.js';
import { type Started, start } from './process.js';
import type { StoreServer } from './servers.js';
import type { Told } from './truth.js';
import { until } from './until.js';

/**
 * Real `rowferry worker` processes on one queue and one drop folder; the service they write to runs in this process.
 * CREW_LOGS=<folder> in the environment of the tests keeps what they said.
 */
export interface Crew {
  readonly dir: string;
  readonly inbox: string;
  readonly sandbox: Sandbox;
  readonly server: StoreServer;
  /** Workers of one name have one data folder; resolves when it takes jobs, and files where it has the drop folder. */
  worker(name: string, options?: WorkerStart): Promise<RunningWorker>;
  /** Another command in the crew's folder, with the settings of a worker. */
  command(name: string, ...argv: string[]): Promise<Started>;
  home(name: string): string;
  settings(name: string): Record<string, string>;
  /** Puts a whole file into the drop folder of a job, by rename. */
  drop(file: string, content: string, job?: string): Promise<void>;
  /** Folders of runs that ended, of a job, in the order of their names: by minute, then by file. */
  ended(place?: 'done' | 'failed', job?: string): Promise<string[]>;
  /** Waits for the one run of a job to end. */
  only(withinMs: number, job?: string): Promise<Told & { readonly run: string; readonly dir: string }>;
  close(): Promise<void>;
}

export interface RunningWorker extends Started {
  readonly name: string;
  /** Base address of its health and metrics. */
  readonly http: string;
  /** Whether it began, or took up again, a run. */
  coordinates(): boolean;
  /** A sample of its metrics; 0 where there is none. */
  metric(sample: RegExp): Promise<number>;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  /** As a service manager does. Answers how long it took, in milliseconds, and its exit code. */
  terminate(): Promise<{ readonly ms: number; readonly code: number | NodeJS.Signals | null }>;
}

export interface WorkerStart {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Do not wait until it takes jobs: it is not to come so far. */
  readonly early?: boolean;
}

export interface CrewOptions {
  readonly server: StoreServer;
  /** All workers have one data folder, whatever their names. */
  readonly sharedHome?: boolean;
  readonly sandbox?: SandboxOptions;
  readonly env?: Readonly<Record<string, string>>;
  /** Job files by name, as YAML or JSON; default: `assets`. */
  readonly jobs?: Readonly<Record<string, string>>;
}

export const ASSETS = JSON.stringify({
  kind: 'import',
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: { Name: 'name', Serial: 'serial_number' },
});

/** A sheet for the job `ASSETS`, with serial numbers from `S<from>` on. */
export function assetSheet(rows: number, from = 0): string {
  return ['Name,Serial', ...Array.from({ length: rows }, (_, i) => `n${i + from},S${i + from}`)].join('\r\n');
}

export const TOKEN = 'test-token-of-the-crew';
/** Where the machine is busy. */
const UP_WITHIN_MS = 60_000;

export async function openCrew({ server, sharedHome = false, ...options }: CrewOptions): Promise<Crew> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'rowferry-crew-')));
  const sandbox = await startSandbox({ responses: 'bare', seed: 'empty', token: TOKEN, ...options.sandbox });
  const [inbox, jobsDir] = [join(dir, 'drop'), join(dir, 'jobs')];
  for (const one of [inbox, jobsDir]) await mkdir(one);
  for (const [name, text] of Object.entries(options.jobs ?? { assets: ASSETS })) {
    await writeFile(join(jobsDir, `${name}.yaml`), text);
  }
  const running: Started[] = [];
  const embedded = server.url === undefined;
  const home = (name: string) => (sharedHome || embedded ? server.home : join(dir, `home-${name}`));
  const settings = (name: string) => ({
    ROWFERRY_API_URL: sandbox.url,
    ROWFERRY_API_TOKEN: TOKEN,
    ROWFERRY_HOME: home(name),
    ROWFERRY_INBOX: inbox,
    ROWFERRY_HTTP: '127.0.0.1:0',
    ROWFERRY_LEASE: '2',
    ROWFERRY_SETTLE_WINDOW: '0.3,1,2',
    ...(server.url === undefined ? {} : { ROWFERRY_QUEUE_URL: server.url }),
    ...options.env,
  });
  const ended = async (place: 'done' | 'failed' = 'done', job = 'assets') => {
    const folder = join(inbox, place, job);
    return (await readdir(folder).catch((): string[] => [])).sort().map((run) => join(folder, run));
  };

  return {
    dir,
    inbox,
    sandbox,
    server,
    home,
    settings,
    ended,
    async worker(name, { argv = [], env = {}, early = false } = {}) {
      const started = await start(['worker', ...argv], { cwd: dir, env: { ...settings(name), ...env } });
      running.push(started);
      const sign = argv.includes('--queue-only') ? '"Queue: ' : '"Drop folder: ';
      if (!early) await within(UP_WITHIN_MS, started, (text) => text.includes(sign));
      return runningWorker(name, started);
    },
    async command(name, ...argv) {
      const { ROWFERRY_HTTP: _, ...env } = settings(name);
      const started = await start(argv, { cwd: dir, env });
      running.push(started);
      return started;
    },
    async drop(file, content, job = 'assets') {
      const target = join(inbox, job, file);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(`${target}.tmp`, content);
      await rename(`${target}.tmp`, target);
    },
    async only(withinMs, job = 'assets') {
      await until(async () => (await ended('done', job)).length + (await ended('failed', job)).length > 0, {
        withinMs,
        what: 'the end of the run',
      });
      const folders = [...(await ended('done', job)), ...(await ended('failed', job))];
      const [folder] = folders;
      if (folder === undefined || folders.length > 1) throw new Error(`not one run, but: ${folders.join(', ')}`);
      const one = await told(folder);
      return { ...one, dir: folder, run: String(one.summary.run) };
    },
    async close() {
      for (const { child } of running) child.kill('SIGKILL');
      await Promise.all(running.map((one) => one.ended));
      const kept = process.env['CREW_LOGS'];
      if (kept !== undefined) {
        for (const one of running) await writeFile(join(kept, `${basename(dir)}-${one.child.pid}.log`), one.err());
      }
      await server.stop();
      await sandbox.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** What a run says of itself, from its reports. */
export async function told(folder: string): Promise<Told> {
  const summary = JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')) as Told['summary'];
  return { summary, results: await table(join(folder, 'results.csv')) };
}

/** Bounded, and with what the process said where it does not come. */
async function within(ms: number, started: Started, passes: (text: string) => boolean): Promise<void> {
  const text = () => started.out() + started.err();
  await until(
    () => {
      const { exitCode, signalCode } = started.child;
      if (exitCode !== null || signalCode !== null) throw new Error(`ended with ${exitCode ?? signalCode}: ${text()}`);
      return passes(text());
    },
    { withinMs: ms },
  ).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}\n${text()}`);
  });
}

function runningWorker(name: string, started: Started): RunningWorker {
  const { child } = started;
  return {
    ...started,
    name,
    get http() {
      const url = /Health and metrics: (http:\/\/[^\s"/]+)/.exec(started.err())?.[1];
      if (url === undefined) throw new Error(`It tells no address: ${started.err()}`);
      return url;
    },
    coordinates: () => /"msg":"run (?:begun|taken up again)"/.test(started.err()),
    async metric(sample) {
      const text = await (await fetch(`${this.http}/metrics`)).text();
      const line = text.split('\n').find((one) => !one.startsWith('#') && sample.test(one));
      return line === undefined ? 0 : Number(line.split(' ').at(-1));
    },
    async kill() {
      child.kill('SIGKILL');
      await started.ended;
    },
    async terminate() {
      const began = performance.now();
      child.kill('SIGTERM');
      const code = await started.ended;
      return { ms: performance.now() - began, code };
    },
  };
}
