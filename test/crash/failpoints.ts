import { existsSync, readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MILESTONES, type Milestone } from '../../src/trace/milestones.js';
import { start } from '../support/process.js';
import { type Bench, RESUME } from './bench.js';

/** When a process is killed: the n-th time that it comes to a milestone, or so many milliseconds after its start. */
export type Moment = { readonly milestone: Milestone; readonly nth: number } | { readonly ms: number };

/** How often a process came to each milestone. */
export type Reached = ReadonlyMap<Milestone, number>;

/** A run that is made ready in a bench of its own. */
export interface Trial {
  readonly bench: Bench;
  /** Rows of its file, or records of its list. */
  readonly rows: number;
  /** The command that begins it. */
  readonly argv: readonly string[];
  /** What it may end with once it is through. */
  readonly codes: readonly number[];
  /** Looks at what a killed process left, before the next one begins. */
  afterKill?(): Promise<readonly string[]>;
  /** Sentences for whatever is not as an undisturbed run leaves it. `killed`: processes. */
  verify(killed: number): Promise<readonly string[]>;
}

export type Scenario = () => Promise<Trial>;

/** What became of trials: what is wrong, and how many processes were killed and started. */
export interface Findings {
  readonly wrong: readonly string[];
  readonly killed: number;
  readonly processes: number;
  readonly rows: number;
}

interface Ended {
  readonly code: number | NodeJS.Signals | null;
  readonly err: string;
  readonly reached: Reached;
  readonly ms: number;
}

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'kill-at.mjs')).href;
/** More restarts than a run can need after its last kill. */
const MOST_RESTARTS = 3;
/** Trials under way at once. */
const AT_ONCE = 3;

/** The environment in which a process notes its milestones in a file, and is killed at one of them. */
export function failing(file: string, moment?: Moment): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${PRELOAD}`,
    MILESTONES_TO: file,
    ...(moment && 'milestone' in moment ? { KILL_AT: `${moment.milestone}:${moment.nth}` } : {}),
  };
}

let processes = 0;

/** Runs a command to its end, or to the moment at which it is killed. */
async function runTo({ bench }: Trial, argv: readonly string[], moment?: Moment): Promise<Ended> {
  const file = join(bench.dir, `milestones-${++processes}`);
  const began = performance.now();
  const started = await start(argv, { cwd: bench.dir, env: { ...bench.env, ...failing(file, moment) } });
  const timer = moment && 'ms' in moment ? setTimeout(() => started.child.kill('SIGKILL'), moment.ms) : undefined;
  const code = await started.ended;
  clearTimeout(timer);
  const reached = readReached(file);
  rmSync(file, { force: true });
  return { code, err: started.err(), reached, ms: performance.now() - began };
}

export function readReached(file: string): Reached {
  const counts = new Map<Milestone, number>();
  const names = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  for (const name of names.filter(Boolean) as Milestone[]) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Which of the occurrences of a milestone. */
const PLACES = [() => 1, (count: number) => Math.ceil(count / 2), (count: number) => count] as const;

/**
 * First, middle and last occurrence of every milestone that was reached, in the order of the milestones; or of each milestone
 * one of the three, dealt out in turn.
 */
function momentsOf(reached: Reached, all: boolean): Moment[] {
  return MILESTONES.flatMap((milestone, at) => {
    const count = reached.get(milestone);
    if (count === undefined) return [];
    const places = all ? PLACES : [PLACES[at % PLACES.length] ?? PLACES[0]];
    return [...new Set(places.map((nthOf) => nthOf(count)))].map((nth) => ({ milestone, nth }));
  });
}

export function momentText(moment: Moment): string {
  return 'ms' in moment ? `${moment.ms} ms` : `${moment.milestone}:${moment.nth}`;
}

/** Takes a run up again. Killed before it had its file, there is nothing to resume, and the message says so: it is begun anew. */
async function takeUp(trial: Trial, moment?: Moment): Promise<Ended> {
  const ended = await runTo(trial, RESUME, moment);
  const nothing = /There are no runs|nothing was (sent|read)/i.test(ended.err);
  return nothing ? runTo(trial, trial.argv, moment) : ended;
}

async function untilQuiet(trial: Trial): Promise<readonly string[]> {
  for (let restart = 1; ; restart++) {
    const ended = await takeUp(trial);
    if (trial.codes.includes(ended.code as number)) return [];
    if (restart === MOST_RESTARTS) return [`it ended with ${ended.code}: ${ended.err.slice(-600)}`];
  }
}

/** What a finished run may not leave: unfinished files and locks. */
async function leftOvers({ bench }: Trial): Promise<string[]> {
  const names = await readdir(bench.runDir(), { recursive: true });
  return names.filter((name) => name.includes('.tmp') || /(^|\/)lock/.test(name)).map((name) => `left behind: ${name}`);
}

/** Runs a scenario once, to see how often it comes to each milestone: undisturbed, or in the recovery from a kill. */
export async function countMilestones(scenario: Scenario, killed?: Moment): Promise<Ended> {
  const trial = await scenario();
  try {
    if (killed) {
      const { code, err } = await runTo(trial, trial.argv, killed);
      if (code !== 'SIGKILL') throw new Error(`not killed at ${momentText(killed)}, but ended with ${code}: ${err}`);
    }
    const ended = killed ? await takeUp(trial) : await runTo(trial, trial.argv);
    const wrong = trial.codes.includes(ended.code as number)
      ? await trial.verify(killed ? 1 : 0)
      : [`it ended with ${ended.code}: ${ended.err}`];
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    return ended;
  } finally {
    await trial.bench.close();
  }
}

/**
 * Begins a run, kills it at the first moment, takes it up again, kills that process at the second, and so on; then restarts it
 * until it is quiet, and looks at what it left. A process that ends before it comes to its moment is taken up all the same.
 */
export async function killAlong(scenario: Scenario, chains: readonly (readonly Moment[])[]): Promise<Findings> {
  const wrong: string[] = [];
  let [next, killed, rows] = [0, 0, 0];
  const before = processes;
  const worker = async (): Promise<void> => {
    for (let chain = chains[next++]; chain; chain = chains[next++]) {
      const name = chain.map(momentText).join(' ');
      try {
        const found = await oneTrial(chain, scenario);
        killed += found.killed;
        rows += found.rows;
        wrong.push(...found.wrong.map((text) => `killed at ${name}: ${text}`));
      } catch (error) {
        wrong.push(`killed at ${name}: ${error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, chains.length) }, worker));
  return { wrong, killed, rows, processes: processes - before };
}

async function oneTrial(chain: readonly Moment[], scenario: Scenario): Promise<Omit<Findings, 'processes'>> {
  const trial = await scenario();
  const { bench, rows } = trial;
  const wrong: string[] = [];
  let killed = 0;
  try {
    for (const [at, moment] of chain.entries()) {
      const { code } = await (at === 0 ? runTo(trial, trial.argv, moment) : takeUp(trial, moment));
      if (code !== 'SIGKILL') continue;
      killed++;
      wrong.push(...((await trial.afterKill?.()) ?? []));
    }
    wrong.push(...(await untilQuiet(trial)));
    if (wrong.length === 0) wrong.push(...(await trial.verify(killed)), ...(await leftOvers(trial)));
    return { wrong, killed, rows };
  } finally {
    await bench.close();
  }
}

/** What trials came to, and how many moments there were to be killed at. */
export type Every = Findings & { readonly moments: number };

/** One kill a trial, at everything that an undisturbed run comes to. `all`: first, middle and last occurrence, not one of them. */
export async function everyMoment(scenario: Scenario, all: boolean): Promise<Every> {
  const at = momentsOf((await countMilestones(scenario)).reached, all);
  const found = await killAlong(
    scenario,
    at.map((moment) => [moment]),
  );
  return { ...found, moments: at.length };
}

/**
 * Kills during recovery. The recovery from a kill at `begun` is counted; then, in one trial, every recovery is killed at the
 * next of its milestones. `places`: where it comes there first (0), in the middle (1), or last (2), each a trial.
 */
export async function everyRecovery(scenario: Scenario, begun: Moment, places: readonly (0 | 1 | 2)[]): Promise<Every> {
  const { reached } = await countMilestones(scenario, begun);
  const chains = places.map((place) => [
    begun,
    ...MILESTONES.flatMap((milestone) => {
      const count = reached.get(milestone);
      return count === undefined ? [] : [{ milestone, nth: PLACES[place](count) }];
    }),
  ]);
  const found = await killAlong(scenario, chains);
  return { ...found, moments: chains.reduce((sum, chain) => sum + chain.length, 0) };
}

/** `TEST_FAILPOINTS=all`: every occurrence that there is to choose from. Takes some minutes. */
export const ALL = process.env['TEST_FAILPOINTS'] === 'all';
