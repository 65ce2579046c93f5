import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { RunResult } from '../../src/runs/run/conclude.js';
import { closeAll, cutPower, openFiles } from './disk.js';
import type { Network } from './network.js';
import type { Rights } from './rights.js';
import type { Cut } from './scenario.js';
import type { Owner, Timeline } from './timeline.js';

/** A simulated process that works on one run. */
export interface Process {
  readonly owner: Owner;
  readonly run: string;
  state: 'working' | 'ended' | 'failed' | 'killed';
  result?: RunResult;
  error?: unknown;
  /** Asks it to stop, as SIGTERM does. */
  readonly stop: AbortController;
  /** Takes away what watches it. */
  release(): void;
}

export interface Host {
  readonly timeline: Timeline;
  readonly network: Network;
  /** Where they are simulated, and not those of the simulated queue. */
  readonly rights?: Rights;
  /** Data folder of the machine. */
  readonly home: string;
  /** Writes that took effect so far. */
  commits(): number;
  /** Called when a process of the host has died. */
  died(process: Process, how: Cut['how']): void;
}

/** Processes at work, by the home that they share. */
const atWork = new Map<string, Set<Process>>();

/** Begins the work of a process. Where a cut is given, the process is watched, and killed or stopped there. */
export function launch(
  host: Host,
  given: { readonly owner: Owner; readonly run: string; readonly cut?: Cut | undefined },
  work: (stop: AbortSignal) => Promise<RunResult>,
  watch: (look: (owner: Owner) => void) => () => void,
): Process {
  const { timeline } = host;
  const { owner, cut } = given;
  const stop = new AbortController();
  const process: Process = { owner, run: given.run, state: 'working', stop, release: () => undefined };
  const others = atWork.get(host.home) ?? new Set();
  atWork.set(host.home, others);
  // What a dying process had asked of the disk may have been done after its death.
  if (![...others].some(({ state }) => state === 'working')) orphanLocks(host.home);
  others.add(process);
  timeline.after(
    0,
    () => {
      work(stop.signal).then(
        (result) => {
          process.state = 'ended';
          process.result = result;
        },
        (error: unknown) => {
          process.state = 'failed';
          process.error = error;
        },
      );
    },
    owner,
  );
  if (cut) process.release = guard(host, process, cut, watch);
  return process;
}

function guard(
  host: Host,
  process: Process,
  cut: Cut,
  watch: (look: (owner: Owner) => void) => () => void,
): () => void {
  const { timeline } = host;
  const commitsBefore = host.commits();
  let events = 0;
  let milestones = 0;
  let left: number | undefined;
  const onMilestone = (): void => {
    if (timeline.owner === process.owner) milestones++;
  };
  subscribe('rowferry:milestone', onMilestone);
  const unwatch = watch((owner) => {
    if (owner !== process.owner || process.state !== 'working') return;
    events++;
    const seen = cut.at === 'event' ? events : cut.at === 'commit' ? host.commits() - commitsBefore : milestones;
    if (left === undefined) {
      if (seen < cut.nth) return;
      left = cut.plus;
    }
    if (left-- > 0) return;
    release();
    if (cut.how === 'signal') process.stop.abort('SIGTERM');
    else kill(host, process, cut.how);
  });
  const release = (): void => {
    unwatch();
    unsubscribe('rowferry:milestone', onMilestone);
  };
  return release;
}

/** Ends a process in the middle of whatever it does. */
export function kill(host: Host, process: Process, how: Cut['how']): void {
  const { timeline, home } = host;
  process.state = 'killed';
  timeline.kill(process.owner);
  host.network.abandoned(process.owner);
  host.rights?.abandoned(process.owner);
  closeAll(process.owner);
  if (how === 'power') cutPower(home);
  orphanLocks(home);
  host.died(process, how);
}

/** What a process left behind that has come to its end, well or not; and takes it away, as the system would. */
export function leftBehind({ timeline, home, network }: Host, process: Process, alone: boolean): string[] {
  const left = openFiles(process.owner).map((path) => `${path.slice(home.length)} is left open`);
  timeline.kill(process.owner);
  network.abandoned(process.owner);
  closeAll(process.owner);
  if (!alone) return left;
  // A run that left requests open leaves its right to write as one that died does: so the next one knows.
  const locks = locksBelow(home).filter(
    (path) => !/^writing-/.test(basename(path)) && !readFileSync(path, 'utf8').startsWith(`${NOBODY} `),
  );
  for (const path of locks) rmSync(path, { force: true });
  return [...left, ...locks.map((path) => `${path.slice(home.length)} is left locked`)];
}

/**
 * Locks name the process that holds them. Here all processes are one, which lives: those of a dead one are made to name
 * one that does not, so that they are told from locks that a process leaves which ends in order. They stay as old as they were.
 */
function orphanLocks(folder: string): void {
  for (const path of locksBelow(folder)) {
    const { atime, mtime } = statSync(path);
    const [, owner = ''] = readFileSync(path, 'utf8').split(' ');
    writeFileSync(path, `${NOBODY} ${owner}`);
    utimesSync(path, atime, mtime);
  }
}

/** Above every number that a system gives to a process. */
const NOBODY = 999_999_999;

function locksBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(^|\.)lock$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
