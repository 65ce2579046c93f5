import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import type { ReceivedRequest } from '../../src/sandbox/server.js';
import { check, type Evidence, secondRunQuiet, type Violation } from '../invariants/check.js';
import { type Line, readTold } from '../invariants/facts.js';
import { QUICK } from '../support/process.js';

const TOKEN = 'test-token';
/** A program that takes longer on these few rows hangs, or repeats for ever. */
const LONGEST_MS = 60_000;

type Resource = Evidence['resource'];

/** A spreadsheet and the job that imports it, in terms of what is stored. */
export interface Sheet {
  readonly name: string;
  readonly resource: Resource;
  readonly keyField: string;
  /** The job file, without `kind`. */
  readonly job: string;
  readonly columns: Evidence['columns'];
  readonly lines: readonly string[];
  readonly stands?: Evidence['stands'];
  readonly constants?: readonly string[];
  readonly mayLose?: readonly string[];
}

/** One run, from its command to the verdict. */
export interface Act {
  readonly env?: Readonly<Record<string, string>>;
  readonly argv?: readonly string[];
  /** Exit codes that are right; another one is told as `run`. Default: 0 and 3. */
  readonly codes?: readonly (number | string)[];
  /** Requests whose effect the faults left open. Default: none. */
  readonly open?: number;
  /** Ends the process without a word at the n-th request of a method; the run is then resumed, and killed again at the next. */
  readonly kills?: readonly (readonly [method: string, nth: number])[];
  /** The outcome of each data row in order, where only one is right; alternatives as `created|unknown`. */
  readonly outcomes?: readonly string[];
  /** What others did meanwhile; called when the run is over. */
  readonly others?: () => Pick<Evidence, 'edits' | 'inserted' | 'removed'>;
  /** Called after each kill, with the folder of the runs. */
  readonly afterKill?: (runs: string) => void;
  /** What else is to be judged, e.g. by what the service was asked. */
  readonly also?: (seen: Seen) => readonly string[];
}

type Environment = Readonly<Record<string, string>>;

interface Ended {
  readonly code: number | string;
  /** The end of it. */
  readonly stderr: string;
}

export interface StageOptions {
  /** Each command is a process of its own: it can be killed, and its clock turned. Otherwise the program runs within this one. */
  readonly apart?: boolean | undefined;
  readonly service?: SandboxOptions | undefined;
}

/** What the service saw of a run, with moments in milliseconds, and what the run told. */
export interface Seen {
  readonly requests: readonly { readonly method: string; readonly path: string; readonly at: number }[];
  readonly answers: readonly { readonly status: number | undefined; readonly at: number }[];
  readonly told: readonly Line[];
}

/** A service and a home folder, where a compiled program of whatever faithfulness plays its scenes. */
export interface Stage {
  readonly sandbox: Sandbox;
  readonly dir: string;
  readonly found: Violation[];
  /** Runs the sheet and judges it; the answer is the report folder. */
  play(sheet: Sheet, act?: Act): Promise<string | undefined>;
  /** Two processes run it at the same time. */
  playTwice(sheet: Sheet, act?: Act): Promise<void>;
  /** Sees every request before it takes effect; a promise holds it back. */
  onRequest(see: (request: ReceivedRequest) => void | Promise<void>): void;
  /** Imports it again, and judges that nothing is sent. */
  again(sheet: Sheet, first: string | undefined): Promise<void>;
  close(): Promise<void>;
}

/** `dist`: folder of a compiled program. */
export async function openStage(dist: string, { apart = false, service = {} }: StageOptions): Promise<Stage> {
  let requests: { method: string; path: string; at: number }[] = [];
  let answers: { status: number | undefined; at: number }[] = [];
  let see: (request: ReceivedRequest) => void | Promise<void> = () => undefined;
  let atWork: ChildProcess | undefined;
  let trigger: { method: string; left: number } | undefined;
  const sandbox = await startSandbox({
    token: TOKEN,
    responses: 'bare',
    seed: 'empty',
    ...service,
    onRequest(request) {
      requests.push({ method: request.method, path: request.path, at: performance.now() });
      if (trigger?.method === request.method && --trigger.left <= 0) {
        trigger = undefined;
        atWork?.kill('SIGKILL');
      }
      return see(request);
    },
    onAnswer(_, status) {
      answers.push({ status, at: performance.now() });
    },
  });
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-plant-'));
  const found: Violation[] = [];
  const env = (more: Readonly<Record<string, string>> = {}) => ({
    PATH: process.env['PATH'] ?? '',
    ROWFERRY_API_URL: sandbox.url,
    ROWFERRY_API_TOKEN: TOKEN,
    ROWFERRY_HOME: join(dir, 'home'),
    ROWFERRY_SETTLE_WINDOW: '0.05,0.15,0.3',
    ROWFERRY_TIMEOUT: '4',
    ROWFERRY_PATIENCE: '5',
    ROWFERRY_LOG_LEVEL: 'fatal',
    ...more,
  });
  let acts = 0;

  async function rowferry(argv: readonly string[], more?: Readonly<Record<string, string>>): Promise<Ended> {
    const ended = await (apart ? asProcess(argv, env(more)) : within(argv, env(more)));
    trigger = undefined;
    return ended;
  }

  async function asProcess(argv: readonly string[], environment: Environment): Promise<Ended> {
    const child = spawn(process.execPath, [...QUICK, join(dist, 'cli', 'main.js'), ...argv], {
      cwd: dir,
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    atWork = child;
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString('utf8')).slice(-4000);
    });
    const tooLong = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
    const code = await new Promise<number | string>((resolve) =>
      child.on('close', (exit, signal) => resolve(exit ?? signal ?? '')),
    );
    clearTimeout(tooLong);
    return { code, stderr };
  }

  async function within(argv: readonly string[], environment: Environment): Promise<Ended> {
    const { openCli, runCli } = await programOf(dist);
    let said = '';
    const stderr = new Writable({
      write(chunk: Buffer, _encoding, done) {
        said = (said + chunk.toString('utf8')).slice(-4000);
        done();
      },
    });
    const cli = openCli({
      env: environment,
      cwd: dir,
      stdin: new PassThrough(),
      stdout: new PassThrough().resume(),
      stderr,
    });
    const tooLong = pause(LONGEST_MS, 'does not end', { ref: false });
    return { code: await Promise.race([runCli(argv, cli), tooLong]), stderr: said };
  }

  async function play(sheet: Sheet, act: Act = {}): Promise<string | undefined> {
    const { resource } = sheet;
    const [before, earlier] = [sandbox.raw(resource), sandbox.commits.length];
    const report = join(dir, `report-${++acts}`);
    [requests, answers] = [[], []];
    await place(sheet);
    let argv = argvFor(sheet, report, act);
    let ended: Ended | undefined;
    for (const [method, nth] of act.kills ?? []) {
      trigger = { method, left: nth };
      ended = await rowferry(argv, act.env);
      if (ended.code !== 'SIGKILL') break;
      act.afterKill?.(join(dir, 'home', 'runs'));
      argv = ['runs', 'resume', 'last', '--json'];
    }
    if (ended === undefined || ended.code === 'SIGKILL') ended = await rowferry(argv, act.env);
    if (!(act.codes ?? [0, 3]).includes(ended.code)) {
      found.push({ rule: 'run', text: `ended with ${ended.code}: ${ended.stderr.trim().slice(-400)}` });
    }
    const told = existsSync(join(report, 'summary.json'));
    if (!told) found.push({ rule: 'run', text: 'left no summary.json' });
    const evidence = evidenceOf(sheet, before, earlier, told ? [report] : [], act);
    found.push(...(await judged(evidence)));
    const lines = told ? await linesOf(report) : [];
    if (told && act.outcomes) found.push(...otherOutcomes(lines, act.outcomes));
    const seen = { requests, answers, told: lines };
    found.push(...(act.also?.(seen) ?? []).map((text) => ({ rule: 'traffic', text })));
    return told ? report : undefined;
  }

  function evidenceOf(
    sheet: Sheet,
    before: Evidence['before'],
    earlier: number,
    runs: readonly string[],
    act: Act,
  ): Evidence {
    const { resource, keyField, columns, stands, constants, mayLose } = sheet;
    return {
      ...{ resource, keyField, columns, before, runs },
      after: sandbox.raw(resource),
      commits: sandbox.commits.slice(earlier),
      input: join(dir, `${sheet.name}.csv`),
      open: act.open ?? 0,
      ...(act.argv?.includes('--dry-run') ? { dryRun: true } : {}),
      ...act.others?.(),
      ...(stands && { stands }),
      ...(constants && { constants }),
      ...(mayLose && { mayLose }),
    };
  }

  async function place(sheet: Sheet): Promise<void> {
    await writeFile(join(dir, `${sheet.name}.csv`), `${sheet.lines.join('\r\n')}\r\n`);
    await writeFile(join(dir, `${sheet.name}.yaml`), `kind: import\nresource: ${sheet.resource}\n${sheet.job}`);
  }

  return {
    sandbox,
    dir,
    found,
    play,
    onRequest(look) {
      see = look;
    },
    async playTwice(sheet, act = {}) {
      const { resource } = sheet;
      const [before, earlier] = [sandbox.raw(resource), sandbox.commits.length];
      await place(sheet);
      const reports = [1, 2].map((nth) => join(dir, `report-${nth}`));
      const argvOf = (report: string) => argvFor(sheet, report, act);
      for (const { code } of await Promise.all(reports.map((report) => rowferry(argvOf(report), act.env)))) {
        if (code !== 0) found.push({ rule: 'run', text: `ended with ${code}` });
      }
      const told = reports.filter((report) => existsSync(join(report, 'summary.json')));
      found.push(...(await judged(evidenceOf(sheet, before, earlier, told, act))));
    },
    async again(sheet, first) {
      const earlier = sandbox.commits.length;
      const second = await play(sheet);
      if (first && second) found.push(...(await secondRunQuiet(first, second, sandbox.commits.slice(earlier))));
    },
    async close() {
      if (atWork && atWork.exitCode === null && atWork.signalCode === null) atWork.kill('SIGKILL');
      await sandbox.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Each copy of the program is loaded once, with modules of its own. */
const programOf = (dist: string): Promise<typeof import('../../src/cli/program.js')> =>
  import(pathToFileURL(join(dist, 'cli', 'program.js')).href);

const argvFor = ({ name }: Sheet, report: string, { argv = [] }: Act): string[] => [
  ...['import', `${name}.csv`, '--job', `${name}.yaml`, '--json', '--report', report, ...argv],
];

/** A report that cannot be read is the program's fault, too. */
async function judged(evidence: Evidence): Promise<readonly Violation[]> {
  try {
    return await check(evidence);
  } catch (error) {
    return [{ rule: 'run', text: `its reports cannot be read: ${String(error)}` }];
  }
}

async function linesOf(report: string): Promise<readonly Line[]> {
  return readTold(report).then(
    ({ lines }) => lines,
    () => [],
  );
}

function otherOutcomes(lines: readonly Line[], wanted: readonly string[]): Violation[] {
  return lines.flatMap(({ row, outcome, message }, at) => {
    const right = (wanted[at] ?? '').split('|');
    if (right.includes(outcome)) return [];
    return [
      { rule: 'outcome', row, text: `is ${outcome} and should be ${right.join(' or ')}: ${message.slice(0, 200)}` },
    ];
  });
}

/** Folders of the runs of a home. */
export const runsOf = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder).sort() : []);
