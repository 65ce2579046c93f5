// One scenario from its beginning to its judgement reads top-down, as in `play.ts`.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { RunResult } from '../../src/runs/import.js';
import { resolveSettings } from '../../src/runs/settings.js';
import { readAddress } from '../../src/service/address.js';
import type { Clock } from '../../src/service/clock.js';
import { openPacer } from '../../src/service/pace/gate.js';
import { openToken } from '../../src/service/transport/token.js';
import { DropFolder } from '../../src/worker/inbox/drop-folder.js';
import { openInbox } from '../../src/worker/inbox/inbox.js';
import { openJobFiles } from '../../src/worker/job-files.js';
import { homeId, restoreJobs } from '../../src/worker/jobs/home.js';
import { runProcessor } from '../../src/worker/jobs/process.js';
import { openStops } from '../../src/worker/jobs/stops.js';
import { openOffers } from '../../src/worker/offers.js';
import { effectOverMs, every, given, keepLease, waitForRight } from '../../src/worker/rights.js';
import { check } from '../invariants/check.js';
import type { Violation } from '../invariants/evidence.js';
import { type Disk, mount, settleAll } from './disk.js';
import { judgeUnique } from './judges.js';
import { activate } from './machine.js';
import { FAIR, openNetwork, type Weather } from './network.js';
import type { Played } from './play.js';
import { type Host, kill, launch, leftBehind, type Process } from './process.js';
import { openSimQueue } from './queue.js';
import { openRights } from './rights.js';
import type { Cut } from './scenario.js';
import { openSimService } from './service.js';
import { type Kind, makeTable, SHAPES } from './table.js';
import { type Owner, openTimeline, Stuck, seeded, WORLD } from './timeline.js';

/** What is done to two machines with a worker each, and to the drop folder that they share. */
export type WorkerStep =
  /** A file is dropped: at once, or written bit by bit; with a `.ready` when it is whole. */
  | {
      readonly do: 'drop';
      readonly version: number;
      readonly how: 'rename' | 'slow' | 'ready';
      readonly job: 'things' | 'again';
    }
  /** The worker of a machine is begun where it is not there. */
  | { readonly do: 'begin'; readonly machine: 0 | 1; readonly cut?: Cut | undefined }
  | { readonly do: 'end'; readonly machine: 0 | 1; readonly how: Cut['how'] }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'away'; readonly ms: number }
  | { readonly do: 'lose' }
  | { readonly do: 'clock'; readonly machine: 0 | 1; readonly ms: number }
  | { readonly do: 'full'; readonly where: 'home' | 'inbox'; readonly ms: number };

export interface WorkerScenario {
  readonly seed: number;
  readonly kind: Kind;
  readonly size: number;
  readonly oneHome: boolean;
  readonly weather: Weather;
  readonly steps: readonly WorkerStep[];
}

const EPOCH = Date.UTC(2026, 2, 2, 8);
const REQUEST_MS = 10_000;
const SETTLE_MS = [5_000, 15_000, 45_000];
const LONGEST_MS = 86_400_000;
const LEASE_MS = 15_000;
const MACHINES = ['m0', 'm1'] as const;
const JOBS = ['things', 'again'] as const;

export async function playWorkers(scenario: WorkerScenario, folder: string): Promise<Played> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const lots = { world: seeded(scenario.seed), net: seeded(scenario.seed + 1), machine: seeded(scenario.seed + 2) };
  const shape = SHAPES[scenario.kind];
  const table = makeTable(shape, scenario.size, 5, lots.world);
  const input = join(folder, 'input.csv');
  writeFileSync(input, table.csv);
  /** The same rows, as another file. */
  const textOf = (version: number): string => table.csv + '\n'.repeat(version);

  const timeline = openTimeline();
  const disk: Disk = {
    root: folder,
    full: new Set(),
    latency: (sync) => (lots.machine() < 0.002 ? 500 : 0) + lots.machine() * (sync ? 4 : 0.2),
    random: lots.machine,
  };
  const offsets = new Map<string, number>();
  const wall = () => EPOCH + timeline.now + (offsets.get(timeline.owner.slice(0, 2)) ?? 0);
  const digest = createHash('sha256');
  let committed = 0;
  let kills = 0;
  let launched = 0;
  const service = openSimService(
    () => EPOCH + timeline.now,
    (commit) => {
      committed++;
      digest.update(`${timeline.now.toFixed(3)} ${commit.method} ${commit.id} ${commit.body}\n`);
    },
  );
  const network = openNetwork({
    ...{ timeline, service, random: lots.net, requestMs: REQUEST_MS },
    latestCommitMs: () => REQUEST_MS + (SETTLE_MS.at(-1) ?? 0) * 0.9,
    arriving: () => undefined,
  });
  const rights = openRights(timeline, lots.machine, 0);
  const homes = scenario.oneHome ? [join(folder, 'home'), join(folder, 'home')] : MACHINES.map((m) => join(folder, m));
  const inbox = join(folder, 'inbox');
  const jobsDir = join(folder, 'jobs');
  const faults: Violation[] = [];
  const looks = new Set<(owner: Owner) => void>();
  const watch = (look: (owner: Owner) => void) => {
    looks.add(look);
    return () => void looks.delete(look);
  };
  timeline.onEvent((owner) => {
    for (const look of [...looks]) look(owner);
  });

  const machine = { timeline, wall, random: lots.machine };
  activate({ ...machine, wall: () => EPOCH });
  mount(disk);
  if (shape.resource === 'contract') service.insert('supplier', [{ name: 'The supplier' }]);
  service.insert(shape.resource, table.before);
  const before = service.raw(shape.resource);
  service.tokens = new Set(['token']);
  for (const at of [...homes, jobsDir, ...JOBS.map((job) => join(inbox, job))]) mkdirSync(at, { recursive: true });
  for (const home of homes) writeFileSync(join(home, 'token'), 'token');
  for (const name of JOBS)
    writeFileSync(
      join(jobsDir, `${name}.yaml`),
      JSON.stringify({ kind: 'import', ...shape.job, ...(name === 'again' && { repeat: true }) }),
    );
  settleAll(folder);
  const sim = openSimQueue(timeline, lots.machine, wall);

  const hosts: Host[] = homes.map((home) => ({
    ...{ timeline, network, rights, home },
    commits: () => committed,
    died(_, how) {
      kills++;
      // Without power no process of the machine goes on.
      if (how !== 'power') return;
      for (const [at, other] of workers.entries())
        if (other?.state === 'working' && hosts[at]?.home === home) kill(hosts[at], other, 'kill');
    },
  }));

  const settingsOf = (home: string) =>
    resolveSettings(
      {
        ROWFERRY_API_URL: 'http://service.test',
        ROWFERRY_API_TOKEN_FILE: join(home, 'token'),
        ROWFERRY_HOME: home,
        ROWFERRY_INBOX: inbox,
        ROWFERRY_JOBS_DIR: jobsDir,
        ROWFERRY_LEASE: String(LEASE_MS / 1000),
        ROWFERRY_SETTLE_WINDOW: SETTLE_MS.map((ms) => ms / 1000).join(','),
        ROWFERRY_TIMEOUT: String(REQUEST_MS / 1000),
        ROWFERRY_PATIENCE: '60',
        ROWFERRY_CONCURRENCY: '4',
      },
      {},
      folder,
    );

  /** As `src/worker/worker.ts` puts a worker together, without what listens to a port. */
  async function work(home: string, owner: Owner, stop: AbortSignal): Promise<void> {
    const settings = settingsOf(home);
    const clock: Clock = {
      now: () => timeline.now,
      wall,
      after(ms, run) {
        const handle = timeline.after(ms, run, owner);
        return () => handle.cancel();
      },
    };
    const ended = new AbortController();
    const waits = { connectMs: 1_000, requestMs: REQUEST_MS, patienceMs: 60_000 };
    const tokens = openToken({ kind: 'file', path: join(home, 'token') }, waits, clock, ended.signal);
    const pacer = openPacer({ maxInFlight: 4, clock, random: lots.machine, signal: ended.signal });
    const store = sim.connect(owner);
    const id = homeId(home);
    const away = keepLease(store, `home.${id}`, LEASE_MS);
    const stops = openStops(store);
    const dropFolder = new DropFolder(inbox, [jobsDir, home]);
    const readJobs = openJobFiles(jobsDir);
    const gauges = { learnedRate: undefined, inFlight: 0, waiting: 0, answered: true, inFlightLimit: 0, heldMs: 0 };
    const channel = {
      address: readAddress('http://service.test'),
      gauges: { ...gauges, awayMs: undefined },
      close: async () => undefined,
      parts: { http: network.connect(), pacer, tokens, clock, signal: ended.signal },
    };
    const leave = store.presence.enter('rowferry');
    const processor = runProcessor({
      ...{ settings, store, log: SILENT, stopping: stop, homeId: id, dropFolder, stops },
      context: ({ run, insteadOf }) => ({
        settings,
        clock,
        worker: {
          channel,
          carrier: () => Promise.resolve(undefined as never),
          shared: store,
          exclusive: (name, signal) =>
            waitForRight({
              ...{ store, name, runs: [run, insteadOf], leaseMs: LEASE_MS, settleMs: effectOverMs(settings), signal },
              told: () => undefined,
            }),
        },
      }),
      onEnded: () => undefined,
    });
    const taking = sim.worker(owner, processor, { concurrency: 4, lockMs: LEASE_MS });
    stop.addEventListener('abort', () => taking.pause(), { once: true });
    const restore = () => restoreJobs(home, sim.queue).catch(() => undefined);
    await restore();
    const endRestoring = every(60_000, restore);
    const offers = openOffers({ queue: sim.queue, inbox, kindOf: async () => 'import', warn: () => undefined });
    await offers.lookThrough();
    const watched = await openInbox({
      ...{ folder: dropFolder, jobsDir, jobs: readJobs, scheduled: () => [], offer: offers.offer, log: SILENT },
      mayTake: () => offers.mayOffer(),
      notice: () => undefined,
    });
    await given(stop);
    await watched.close();
    offers.close();
    endRestoring();
    await taking.close();
    leave();
    await store.presence.close().catch(() => undefined);
    stops.close();
    await away().catch(() => undefined);
    ended.abort();
  }

  const workers: (Process | undefined)[] = [undefined, undefined];
  function begin(at: 0 | 1, cut?: Cut): void {
    const old = workers[at];
    if (old?.state === 'working') return;
    if (old) bury(at);
    const owner = `${MACHINES[at]}.${++launched}`;
    const host = hosts[at] as Host;
    workers[at] = launch(
      host,
      { owner, run: owner, cut },
      (stop) => work(homes[at] ?? '', owner, stop) as Promise<unknown> as Promise<RunResult>,
      watch,
    );
  }
  function bury(at: 0 | 1): void {
    const process = workers[at];
    if (!process || process.state === 'working') return;
    process.release();
    workers[at] = undefined;
    if (process.state === 'killed') return;
    if (process.state === 'failed') faults.push({ rule: 'no-crash', text: String((process.error as Error)?.stack) });
    const alone = !scenario.oneHome || workers.every((one) => one?.state !== 'working');
    for (const what of leftBehind(hosts[at] as Host, process, alone))
      faults.push({ rule: 'lets-go', text: `${what} by a worker that ended` });
  }

  const terminate = ({ stop, owner }: Process) => void timeline.after(0, () => stop.abort('SIGTERM'), owner);

  const dropped: { readonly hash: string; readonly name: string; readonly job: string }[] = [];
  function drop(step: Extract<WorkerStep, { do: 'drop' }>): void {
    const text = textOf(step.version);
    const name = `file ${dropped.length}.csv`;
    const path = join(inbox, step.job, name);
    dropped.push({ hash: hashOf(text), name, job: step.job });
    const settled = (at: string) => settleAll(join(at, '..'));
    // Their disk is another one.
    const touch = (at: string, content: string, flag: string) => {
      activate(undefined);
      writeFileSync(at, content, { flag });
      activate(machine);
      settled(at);
    };
    if (step.how === 'rename') {
      touch(`${path}.tmp`, text, 'w');
      renameSync(`${path}.tmp`, path);
      settled(path);
      return;
    }
    // Pauses are shorter than what a file must rest.
    const cuts = [...Array(4)].map((_, i) => Math.floor((text.length * (i + 1)) / 4));
    const handle = { at: 0 };
    const write = (i: number) => {
      const to = cuts[i] ?? text.length;
      // Whoever writes has it open, wherever it is moved.
      const where = whereIs(name, step.job) ?? path;
      touch(where, text.slice(handle.at, to), handle.at === 0 ? 'w' : 'a');
      handle.at = to;
      if (i + 1 < cuts.length) timeline.after(lots.world() * 1_400, () => write(i + 1), WORLD);
      else if (step.how === 'ready') touch(`${path}.ready`, '', 'w');
    };
    write(0);
  }
  const filesBelow = (at: string): string[] =>
    existsSync(at)
      ? readdirSync(at, { recursive: true, withFileTypes: true }).flatMap((entry) =>
          entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
        )
      : [];
  const whereIs = (name: string, job: string): string | undefined =>
    filesBelow(inbox).find((path) => path.endsWith(`/${name}`) && path.includes(`/${job}/`));

  async function pass(ms: number): Promise<void> {
    let over = false;
    timeline.after(
      ms,
      () => {
        over = true;
      },
      WORLD,
    );
    await timeline.drive(() => over, LONGEST_MS);
    for (const at of [0, 1] as const) bury(at);
  }

  const restless = (): string[] => [
    ...JOBS.flatMap((job) => readdirSync(join(inbox, job)).filter((name) => /^file \d+\.csv(\.ready)?$/.test(name))),
    ...filesBelow(join(inbox, 'processing')),
    ...(sim.open > 0 ? sim.states.filter((state) => !/ (completed|failed) /.test(state)) : []),
  ];

  async function take(step: WorkerStep): Promise<void> {
    switch (step.do) {
      case 'drop':
        drop(step);
        return pass(1);
      case 'begin':
        begin(step.machine, step.cut);
        return pass(1);
      case 'end': {
        const process = workers[step.machine];
        if (process?.state !== 'working') return;
        process.release();
        if (step.how === 'signal') terminate(process);
        else kill(hosts[step.machine] as Host, process, step.how);
        return pass(1);
      }
      case 'wait':
        return pass(step.ms);
      case 'away':
        return sim.away(step.ms);
      case 'lose':
        return sim.lose();
      case 'clock':
        offsets.set(MACHINES[step.machine], (offsets.get(MACHINES[step.machine]) ?? 0) + step.ms);
        return;
      case 'full': {
        const where = step.where === 'inbox' ? inbox : (homes[0] ?? '');
        disk.full.add(where);
        timeline.after(step.ms, () => void disk.full.delete(where), WORLD).background(true);
        return;
      }
    }
  }

  try {
    activate(machine);
    network.weather = scenario.weather;
    for (const step of scenario.steps) await take(step);
    network.weather = FAIR;
    await pass(200_000);
    disk.full.clear();
    for (let n = 0; n < 80; n++) {
      for (const at of [0, 1] as const) begin(at);
      await pass(15_000);
      if (restless().length === 0) break;
    }
    const left = restless();
    if (left.length > 0) faults.push({ rule: 'comes-to-an-end', text: left.join('; ') });
    for (const process of workers) if (process) terminate(process);
    await pass(60_000);
    for (const process of workers)
      if (process) faults.push({ rule: 'ends', text: `the worker ${process.owner} does not end` });
  } catch (error) {
    const rule = error instanceof Stuck ? 'no-hang' : 'no-crash';
    faults.push({ rule, text: String((error as Error).stack ?? error) });
  } finally {
    timeline.onEvent(undefined);
    activate(undefined);
    mount(undefined);
  }

  const violations = [...faults];
  let rows = 0;
  // Each file that was dropped lies in one place, whole.
  const found = new Map<string, string[]>();
  for (const path of filesBelow(inbox).filter((one) => /\/file \d+\.csv$/.test(one))) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    found.set(name, [...(found.get(name) ?? []), path]);
  }
  const told: { readonly dir: string; readonly finished: string }[] = [];
  const imported = new Map<string, string[]>();
  for (const { name, hash, job } of dropped) {
    const paths = found.get(name) ?? [];
    const short = paths.map((path) => path.slice(inbox.length));
    if (paths.length !== 1)
      violations.push({ rule: 'one-place', text: `${name} lies in ${short.length} places: ${short.join(', ')}` });
    const [path] = paths;
    if (path === undefined) continue;
    if (hashOf(readFileSync(path, 'utf8')) !== hash) violations.push({ rule: 'whole', text: `${short[0]} is changed` });
    const dir = join(path, '..');
    if (!/\/done\//.test(path)) {
      const why = existsSync(join(dir, 'ERROR.txt')) ? readFileSync(join(dir, 'ERROR.txt'), 'utf8') : '';
      violations.push({ rule: 'done', text: `${short[0]} failed: ${why.slice(0, 400)}` });
    }
    if (!existsSync(join(dir, 'summary.json'))) continue;
    const summary = JSON.parse(readFileSync(join(dir, 'summary.json'), 'utf8'));
    rows += Number(summary.rows.total);
    told.push({ dir, finished: summary.finished_at });
    const key = `${job} ${hash}`;
    const { created, updated, unchanged, skipped } = summary.rows;
    // Of which no row is in, it may be tried again.
    if (job === 'things' && created + updated + unchanged + skipped > 0)
      imported.set(key, [...(imported.get(key) ?? []), `${short[0]} ${summary.finished_at}`]);
  }
  for (const places of imported.values())
    if (places.length > 1)
      violations.push({ rule: 'once', text: `the same content was imported: ${places.join(', ')}` });
  try {
    violations.push(...judgeUnique(service.raw(shape.resource), shape.keyField));
    const judged = await check({
      ...{ resource: shape.resource, keyField: shape.keyField, before, after: service.raw(shape.resource) },
      commits: service.commits.filter(({ resource }) => resource === shape.resource),
      ...{ input, columns: shape.columns, blank: 'keep', constants: shape.constants },
      runs: told.sort((a, b) => (a.finished < b.finished ? -1 : 1)).map(({ dir }) => dir),
      open: network.open + kills + 1_000,
    });
    // A run that is begun anew on another machine finds what the lost one wrote.
    violations.push(
      ...judged.filter(({ rule }) => scenario.oneHome || !['unchanged-sends-nothing', 'told-is-true'].includes(rule)),
    );
  } catch (error) {
    violations.push({ rule: 'can-be-judged', text: String((error as Error).stack ?? error) });
  }
  return {
    ...{ violations, rows, runs: told.length, kills, events: timeline.events, ms: timeline.now, commits: committed },
    digest: digest.digest('hex'),
  };
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const SILENT = new Proxy(
  {},
  { get: (_, name) => (name === 'child' ? () => SILENT : () => undefined) },
) as unknown as Logger;

/** The scenario of a seed. */
export function drawWorkers(seed: number): WorkerScenario {
  const random = seeded(seed);
  const below = (n: number) => Math.floor(random() * n);
  const one = <T>(of: readonly T[]): T => of[below(of.length)] as T;
  const drawCut = (): Cut => ({
    at: one(['event', 'event', 'commit', 'milestone'] as const),
    nth: 1 + one([below(12), below(150), below(1_500)]),
    plus: below(7),
    how: one(['kill', 'power', 'signal'] as const),
  });
  const side = () => one([0, 1] as const);
  const step = (): WorkerStep =>
    one<() => WorkerStep>([
      () => ({
        do: 'drop',
        version: below(3),
        how: one(['rename', 'slow', 'ready'] as const),
        job: one(['things', 'things', 'again'] as const),
      }),
      () => ({
        do: 'drop',
        version: below(3),
        how: one(['rename', 'rename', 'slow', 'ready'] as const),
        job: 'things',
      }),
      () => ({ do: 'begin', machine: side(), cut: drawCut() }),
      () => ({ do: 'begin', machine: side(), cut: drawCut() }),
      () => ({ do: 'begin', machine: side() }),
      () => ({ do: 'end', machine: side(), how: one(['kill', 'power', 'signal'] as const) }),
      () => ({ do: 'wait', ms: below(one([3_000, 10_000, 40_000])) }),
      () => ({ do: 'wait', ms: below(one([3_000, 10_000, 40_000])) }),
      () => ({ do: 'away', ms: below(30_000) }),
      () => ({ do: 'lose' }),
      () => ({ do: 'clock', machine: side(), ms: below(7_200_000) - 3_600_000 }),
      () => ({ do: 'full', where: one(['home', 'inbox'] as const), ms: below(30_000) }),
    ])();
  return {
    seed: below(0x7fffffff),
    kind: one(['supplier', 'asset_guarded', 'asset_open', 'contract'] as const),
    size: 4 + below(one([8, 40, 150])),
    oneHome: random() < 0.4,
    weather: {
      latency: one([
        [5, 40],
        [1, 2],
        [50, 800],
      ] as const),
      faulty: one([0, 0, 0.02, 0.1]),
      faults: ['cut_before', 'cut_after', 'timeout_after', 'late_commit', 'status_before', 'status_after', 'throttled'],
      outages: [],
    },
    steps: [
      { do: 'begin', machine: 0, cut: drawCut() },
      { do: 'drop', version: 0, how: 'rename', job: 'things' },
      ...Array.from({ length: 2 + below(14) }, step),
    ],
  };
}
