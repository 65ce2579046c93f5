import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { OutcomeKind } from '../../src/model/outcome.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { cli, type Ran } from '../cli/fake-io.js';
import { table } from '../support/desk.js';
import { type Started, start } from '../support/process.js';
import type { Told } from '../support/truth.js';

export const TOKEN = 'test-token';

/** Real processes at work on one home folder and one service, to be killed at chosen moments. */
export interface Bench {
  readonly sandbox: Sandbox;
  readonly dir: string;
  readonly env: Record<string, string>;
  /** Kills the process at work, without a word, when the service sees its n-th request of a method, counted from now. */
  killAt(method: string, nth: number, signal?: NodeJS.Signals): void;
  /** Starts `rowferry …`; one at a time. */
  start(argv: readonly string[]): Promise<Started>;
  /** Starts it and waits for its end. */
  run(argv: readonly string[]): Promise<number | NodeJS.Signals | null>;
  /** The same command inside this process, for what is not to be killed: without a start it takes a tenth. */
  inside(argv: readonly string[]): Promise<Ran>;
  /** Kills the process at work as soon as there is a file of its only run whose name passes. */
  killWhenThere(name: RegExp): Promise<void>;
  /** Where the latest run keeps its things. */
  runDir(): string;
  /** What the latest run told, from its reports. */
  told(reportDir?: string): Promise<Told & { readonly status: string }>;
  close(): Promise<void>;
}

export async function openBench(options: SandboxOptions = {}, env: Record<string, string> = {}): Promise<Bench> {
  let atWork: Started | undefined;
  let trigger: { method: string; left: number; signal: NodeJS.Signals } | undefined;
  const sandbox = await startSandbox({
    token: TOKEN,
    responses: 'bare',
    ...options,
    onRequest(request) {
      if (trigger?.method === request.method && --trigger.left <= 0) {
        atWork?.child.kill(trigger.signal);
        trigger = undefined;
      }
      return options.onRequest?.(request);
    },
  });
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-crash-'));
  const runs = join(dir, 'home', 'runs');
  const bench: Bench = {
    sandbox,
    dir,
    env: {
      ROWFERRY_API_URL: sandbox.url,
      ROWFERRY_API_TOKEN: TOKEN,
      ROWFERRY_HOME: join(dir, 'home'),
      ROWFERRY_SETTLE_WINDOW: '0.1,0.3',
      ROWFERRY_TIMEOUT: '5',
      ROWFERRY_LOG_LEVEL: 'error',
      ...env,
    },
    killAt(method, nth, signal = 'SIGKILL') {
      trigger = { method, left: nth, signal };
    },
    async start(argv) {
      atWork = await start(argv, { cwd: dir, env: bench.env });
      return atWork;
    },
    async run(argv) {
      const started = await bench.start(argv);
      const code = await started.ended;
      trigger = undefined;
      return code;
    },
    async inside(argv) {
      trigger = undefined;
      return cli(argv, { cwd: dir, env: bench.env });
    },
    async killWhenThere(name) {
      let over = false;
      void atWork?.ended.then(() => {
        over = true;
      });
      const there = () =>
        existsSync(runs) && readdirSync(runs, { recursive: true, encoding: 'utf8' }).some((path) => name.test(path));
      while (!over && !there()) await setTimeout(1);
      atWork?.child.kill('SIGKILL');
      await atWork?.ended;
    },
    runDir: () => join(runs, readdirSync(runs).sort().at(-1) ?? ''),
    async told(reportDir = bench.runDir()) {
      const summary = JSON.parse(readFileSync(join(reportDir, 'summary.json'), 'utf8')) as Told['summary'] & {
        status: string;
      };
      return { summary, status: summary.status, results: await table(join(reportDir, 'results.csv')) };
    },
    async close() {
      if (atWork && atWork.child.exitCode === null && atWork.child.signalCode === null) {
        atWork.child.kill('SIGKILL');
        await atWork.ended;
      }
      await sandbox.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return bench;
}

/** A spreadsheet and its job, in the bench's folder. */
export async function place(bench: Bench, name: string, job: string, lines: readonly string[]): Promise<string[]> {
  await writeFile(join(bench.dir, `${name}.csv`), `${lines.join('\r\n')}\r\n`);
  await writeFile(join(bench.dir, `${name}.yaml`), `kind: import\n${job}`);
  return ['import', `${name}.csv`, '--job', `${name}.yaml`, '--json'];
}

export const RESUME = ['runs', 'resume', 'last', '--json'];

/** Outcomes of a told run that are not the one given: `row outcome message`. */
export function others(told: Told, outcome: OutcomeKind): string[] {
  return told.results
    .filter((line) => line['outcome'] !== outcome)
    .map((line) => `${line['row']} ${line['outcome']} ${line['message']}`);
}
