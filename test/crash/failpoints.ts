import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MILESTONES, type Milestone } from '../../src/trace/milestones.js';
import { start } from '../support/process.js';
import { type Bench, RESUME } from './bench.js';

/** When a process is killed: the n-th time that it comes to a milestone. */
export interface Moment {
  readonly milestone: Milestone;
  readonly nth: number;
}

/** How often a run came to each milestone. */
type Reached = ReadonlyMap<Milestone, number>;

/** A run that is made ready in a bench of its own. */
export interface Trial {
  readonly bench: Bench;
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

/** What became of trials: what is wrong, and how many processes were killed. */
interface Findings {
  readonly wrong: readonly string[];
  readonly killed: number;
}

interface Ended {
  readonly code: number | NodeJS.Signals | null;
  readonly err: string;
}

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'kill-at.mjs')).href;
/** More restarts than a run can need after its last kill. */
const MOST_RESTARTS = 3;
/** Trials under way at once. */
const AT_ONCE = 3;

/** The environment in which a process is killed at a milestone once a file names it: `armed`. */
export function armable(file: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${PRELOAD}`, KILL_AT_FROM: file };
}

/** What such a file holds. */
export const armed = ({ milestone, nth }: Moment): string => `${milestone}:${nth}`;

/** The environment in which a process is killed at a milestone; `notes`: a file for those that it comes to. */
export function failing({ milestone, nth }: Moment, notes?: string): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${PRELOAD}`,
    KILL_AT: armed({ milestone, nth }),
    ...(notes !== undefined && { MILESTONES_TO: notes }),
  };
}

/** Runs a command in a process that is killed at the moment; without one inside this process, to its end. */
async function runTo({ bench }: Trial, argv: readonly string[], moment?: Moment): Promise<Ended> {
  if (moment === undefined) return bench.inside(argv);
  const started = await start(argv, { cwd: bench.dir, env: { ...bench.env, ...failing(moment) } });
  return { code: await started.ended, err: started.err() };
}

/** Whether a process with these notes came to a milestone. */
export function hasReached(notes: string, milestone: Milestone): boolean {
  return existsSync(notes) && readFileSync(notes, 'utf8').split('\n').includes(milestone);
}

/** Which of the occurrences of a milestone. */
const PLACES = [() => 1, (count: number) => Math.ceil(count / 2), (count: number) => count] as const;

/**
 * First, middle and last occurrence of every milestone that was reached, in the order of the milestones; or of each milestone
 * one of the three, dealt out in turn.
 */
function momentsOf(reached: Reached): Moment[] {
  return MILESTONES.flatMap((milestone, at) => {
    const count = reached.get(milestone);
    if (count === undefined) return [];
    const places = ALL ? PLACES : [PLACES[at % PLACES.length] ?? PLACES[0]];
    return [...new Set(places.map((nthOf) => nthOf(count)))].map((nth) => ({ milestone, nth }));
  });
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
async function countMilestones(scenario: Scenario, killed?: Moment): Promise<Reached> {
  const trial = await scenario();
  const reached = new Map<Milestone, number>();
  const note = (message: unknown) => {
    const { name } = message as { name: Milestone };
    reached.set(name, (reached.get(name) ?? 0) + 1);
  };
  try {
    if (killed) {
      const { code, err } = await runTo(trial, trial.argv, killed);
      if (code !== 'SIGKILL') throw new Error(`not killed at ${armed(killed)}, but ended with ${code}: ${err}`);
    }
    subscribe('rowferry:milestone', note);
    const ended = killed ? await takeUp(trial) : await runTo(trial, trial.argv);
    const wrong = trial.codes.includes(ended.code as number)
      ? await trial.verify(killed ? 1 : 0)
      : [`it ended with ${ended.code}: ${ended.err}`];
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
    return reached;
  } finally {
    unsubscribe('rowferry:milestone', note);
    await trial.bench.close();
  }
}

/**
 * Begins a run, kills it at the first moment, takes it up again, kills that process at the second, and so on; then restarts it
 * until it is quiet, and looks at what it left. A process that ends before it comes to its moment is taken up all the same.
 */
async function killAlong(scenario: Scenario, chains: readonly (readonly Moment[])[]): Promise<Findings> {
  const wrong: string[] = [];
  let [next, killed] = [0, 0];
  const worker = async (): Promise<void> => {
    for (let chain = chains[next++]; chain; chain = chains[next++]) {
      const name = chain.map(armed).join(' ');
      try {
        const found = await oneTrial(chain, scenario);
        killed += found.killed;
        wrong.push(...found.wrong.map((text) => `killed at ${name}: ${text}`));
      } catch (error) {
        wrong.push(`killed at ${name}: ${error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, chains.length) }, worker));
  return { wrong, killed };
}

async function oneTrial(chain: readonly Moment[], scenario: Scenario): Promise<Findings> {
  const trial = await scenario();
  const { bench } = trial;
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
    return { wrong, killed };
  } finally {
    await bench.close();
  }
}

/** What trials came to, and how many moments there were to be killed at. */
type Every = Findings & { readonly moments: number };

/** `TEST_FAILPOINTS=all`: every occurrence that there is to choose from. Takes some minutes. */
const ALL = process.env['TEST_FAILPOINTS'] === 'all';
const SEED = Number(process.env['TEST_SEED']);

/** Of moments at which recoveries are killed every third one is taken, others with each seed. */
export const isTaken = (at: number): boolean => ALL || at % 3 === SEED % 3;

/**
 * One kill a trial, at everything that an undisturbed run comes to: at its first, middle or last occurrence, or at all three.
 * `own`: the milestones that no other scenario comes to; of the rest a share is taken, as of recoveries.
 */
export async function everyMoment(scenario: Scenario, own: readonly Milestone[] = MILESTONES): Promise<Every> {
  const reached = momentsOf(await countMilestones(scenario));
  const at = reached.filter(({ milestone }) => own.includes(milestone) || isTaken(MILESTONES.indexOf(milestone)));
  const found = await killAlong(
    scenario,
    at.map((moment) => [moment]),
  );
  return { ...found, moments: at.length };
}

/**
 * Kills during recovery. The recovery from a kill at `begun` is counted; then, in one trial, every recovery is killed at the
 * next of its milestones. `place`: where it comes there first (0), in the middle (1), or last (2).
 */
export async function everyRecovery(scenario: Scenario, begun: Moment, place: 0 | 1 | 2): Promise<Every> {
  const reached = await countMilestones(scenario, begun);
  const chains = (ALL ? ([0, 1, 2] as const) : [place]).map((at) => [
    begun,
    ...MILESTONES.filter((name, i) => reached.has(name) && isTaken(i)).map((milestone) => ({
      milestone,
      nth: PLACES[at](reached.get(milestone) ?? 0),
    })),
  ]);
  const found = await killAlong(scenario, chains);
  return { ...found, moments: chains.reduce((sum, chain) => sum + chain.length, 0) };
}
