import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Commit } from '../../src/sandbox/service.js';
import { readAddress } from '../../src/service/address.js';
import type { Clock } from '../../src/service/clock.js';
import { openPacer } from '../../src/service/pace/gate.js';
import type { Channel } from '../../src/service/transport/channel.js';
import { openToken } from '../../src/service/transport/token.js';
import type { Violation } from '../invariants/evidence.js';
import { type Disk, mount, settleAll } from './disk.js';
import { activate } from './machine.js';
import { type NetworkOptions, openNetwork } from './network.js';
import { openSimService } from './service.js';
import { type Owner, openTimeline, Stuck, seeded, WORLD } from './timeline.js';

const EPOCH = Date.UTC(2026, 2, 2, 8);
const REQUEST_MS = 10_000;
const SETTLE_MS = [5_000, 15_000, 45_000] as const;
/** How long a request that was given up may still take effect. */
export const SETTLED_MS = REQUEST_MS + SETTLE_MS[2];
/** Nothing takes longer: a day of simulated time. */
export const LONGEST_MS = 86_400_000;
export const MACHINES = ['m0', 'm1'] as const;

/** What a scenario came to. */
export interface Played {
  readonly violations: readonly Violation[];
  /** Rows of all runs together. */
  readonly rows: number;
  readonly runs: number;
  readonly kills: number;
  readonly events: number;
  /** Simulated milliseconds. */
  readonly ms: number;
  readonly commits: number;
  /** Of everything that the service carried out, and when: the same scenario has the same. */
  readonly digest: string;
}

/** Two machines, their disks and clocks, the network, and a service at its other end; below a folder, which is emptied. */
export function openWorld(
  folder: string,
  seed: number,
  told: { onCommit?(commit: Commit): void } & Partial<Pick<NetworkOptions, 'arriving'>> = {},
) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const lots = { world: seeded(seed), net: seeded(seed + 1), machine: seeded(seed + 2) };
  const timeline = openTimeline();
  const disk: Disk = {
    root: folder,
    full: new Set(),
    latency: (sync) => (lots.machine() < 0.002 ? 500 : 0) + lots.machine() * (sync ? 4 : 0.2),
    random: lots.machine,
  };
  /** How far the clock of a machine is off. */
  const offsets = new Map<string, number>();
  const wallOf = (owner: Owner) => EPOCH + timeline.now + (offsets.get(owner.slice(0, 2)) ?? 0);
  const wall = () => wallOf(timeline.owner);
  const digest = createHash('sha256');
  let committed = 0;
  const service = openSimService(
    () => EPOCH + timeline.now,
    (commit) => {
      committed++;
      told.onCommit?.(commit);
      digest.update(`${timeline.now.toFixed(3)} ${commit.method} ${commit.resource} ${commit.id} ${commit.body}\n`);
    },
  );
  const network = openNetwork({
    ...{ timeline, service, random: lots.net, requestMs: REQUEST_MS },
    latestCommitMs: () => REQUEST_MS + SETTLE_MS[2] * 0.9,
    arriving: told.arriving ?? (() => undefined),
  });
  const looks = new Set<(owner: Owner) => void>();
  timeline.onEvent((owner) => {
    for (const look of [...looks]) look(owner);
  });

  const machine = { timeline, wall, random: lots.machine };
  return {
    ...{ lots, timeline, disk, wall, wallOf, service, network },
    commits: () => committed,
    watch(look: (owner: Owner) => void) {
      looks.add(look);
      return () => void looks.delete(look);
    },
    turnClock(of: string, ms: number): void {
      offsets.set(of, (offsets.get(of) ?? 0) + ms);
    },
    /** Before the story, when no clock is off: what stands there then is durable once it is settled. */
    prepare(): void {
      activate({ ...machine, wall: () => EPOCH });
      mount(disk);
    },
    begin: () => activate(machine),
    /** In true time, at the true disk; afterwards the story goes on. */
    async aside(work: () => Promise<void>): Promise<void> {
      leave();
      await work();
      activate(machine);
      mount(disk);
      settleAll(folder);
    },
    /** What somebody else does: no disk of the machines is asked, and no time goes by. */
    outside(act: () => void): void {
      activate(undefined);
      act();
      activate(machine);
    },
    async pass(ms: number): Promise<void> {
      let over = false;
      timeline.after(
        ms,
        () => {
          over = true;
        },
        WORLD,
      );
      await timeline.drive(() => over, LONGEST_MS);
    },
    /** What every process reads of its environment. */
    environment: (home: string, concurrency: number, patienceMs: number) => ({
      ROWFERRY_API_URL: 'http://service.test',
      ROWFERRY_API_TOKEN_FILE: join(home, 'token'),
      ROWFERRY_HOME: home,
      ROWFERRY_SETTLE_WINDOW: SETTLE_MS.map((ms) => ms / 1000).join(','),
      ROWFERRY_TIMEOUT: String(REQUEST_MS / 1000),
      ROWFERRY_PATIENCE: String(patienceMs / 1000),
      ROWFERRY_CONCURRENCY: String(concurrency),
    }),
    clockOf: (owner: Owner): Clock => ({
      now: () => timeline.now,
      wall,
      after(ms, run) {
        const handle = timeline.after(ms, run, owner);
        return () => handle.cancel();
      },
    }),
    /** The way of a process to the service. */
    channelOf(home: string, clock: Clock, maxInFlight: number): Channel {
      const ended = new AbortController();
      const { signal } = ended;
      const waits = { connectMs: 1_000, requestMs: REQUEST_MS, patienceMs: 60_000 };
      const tokens = openToken({ kind: 'file', path: join(home, 'token') }, waits, clock, signal);
      const pacer = openPacer({ maxInFlight, clock, random: lots.machine, signal });
      const gauges = { learnedRate: undefined, inFlight: 0, waiting: 0, answered: true, inFlightLimit: 0, heldMs: 0 };
      return {
        address: readAddress('http://service.test'),
        gauges: { ...gauges, awayMs: undefined },
        close: async () => ended.abort(),
        parts: { http: network.connect(), pacer, tokens, clock, signal },
      };
    },
    /** The story is over. */
    end(): void {
      timeline.onEvent(undefined);
      leave();
    },
    came: () => ({
      events: timeline.events,
      ms: timeline.now,
      commits: committed,
      digest: digest.digest('hex'),
    }),
  };
}

/** The fault of a story that came to no end of its own. */
export const broken = (error: unknown): Violation => ({
  rule: error instanceof Stuck ? 'no-hang' : 'no-crash',
  text: String((error as Error).stack ?? error),
});

/** Back in true time, at the true disk. */
export function leave(): void {
  activate(undefined);
  mount(undefined);
}

export const SILENT = new Proxy(
  {},
  { get: (_, name) => (name === 'child' ? () => SILENT : () => undefined) },
) as unknown as Logger;
