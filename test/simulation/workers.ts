// One scenario from its beginning to its judgement reads top-down, as in `play.ts`.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { RunResult } from '../../src/runs/import.js';
import { resolveSettings } from '../../src/runs/settings.js';
import { DropFolder } from '../../src/worker/inbox/drop-folder.js';
import { openInbox } from '../../src/worker/inbox/inbox.js';
import { openJobFiles } from '../../src/worker/job-files.js';
import { runProcessor } from '../../src/worker/jobs/delivery.js';
import { homeId, restoreJobs } from '../../src/worker/jobs/home.js';
import { openStops } from '../../src/worker/jobs/stops.js';
import { keepLease, repeatEvery, settledAfterMs, waitForRight, whenAborted } from '../../src/worker/rights.js';
import { check } from '../invariants/check.js';
import type { Violation } from '../invariants/evidence.js';
import { settleAll } from './disk.js';
import { judgeUnique } from './judges.js';
import { FAIR, type Weather } from './network.js';
import { type Host, kill, launch, leftBehind, type Process } from './process.js';
import { openSimQueue } from './queue.js';
import { type Cut, cut, maybeCut } from './scenario.js';
import { type Kind, makeTable, SHAPES } from './table.js';
import { type Owner, WORLD } from './timeline.js';
import { broken, MACHINES, openWorld, type Played, SILENT } from './world.js';

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

const LEASE_MS = 15_000;
const JOBS = ['things', 'again'] as const;

export async function playWorkers(scenario: WorkerScenario, folder: string): Promise<Played> {
  const world = openWorld(folder, scenario.seed);
  const { lots, timeline, disk, service, network } = world;
  const shape = SHAPES[scenario.kind];
  const table = makeTable(shape, scenario.size, 5, lots.world);
  const input = join(folder, 'input.csv');
  writeFileSync(input, table.csv);
  /** The same rows, as another file. */
  const textOf = (version: number): string => table.csv + '\n'.repeat(version);

  let kills = 0;
  let launched = 0;
  const homes = scenario.oneHome ? [join(folder, 'home'), join(folder, 'home')] : MACHINES.map((m) => join(folder, m));
  const inbox = join(folder, 'inbox');
  const jobsDir = join(folder, 'jobs');
  const faults: Violation[] = [];

  world.prepare();
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
  const sim = openSimQueue(timeline, lots.machine, world.wall);

  const hosts: Host[] = homes.map((home) => ({
    ...{ timeline, network, home },
    commits: world.commits,
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
        ...world.environment(home, 4, 60_000),
        ROWFERRY_INBOX: inbox,
        ROWFERRY_JOBS_DIR: jobsDir,
        ROWFERRY_LEASE: String(LEASE_MS / 1000),
      },
      {},
      folder,
    );

  /** As `src/worker/worker.ts` puts a worker together, without what listens to a port. */
  async function work(home: string, owner: Owner, stop: AbortSignal): Promise<void> {
    const settings = settingsOf(home);
    const clock = world.clockOf(owner);
    const channel = world.channelOf(home, clock, 4);
    const store = sim.connect(owner);
    const id = homeId(home);
    const away = keepLease(store, `home.${id}`, LEASE_MS);
    const stops = openStops(store);
    const dropFolder = new DropFolder(inbox, [jobsDir, home]);
    const readJobs = openJobFiles(jobsDir);
    const goAway = store.presence.enter('rowferry');
    const processor = runProcessor({
      ...{ settings, store, queue: sim.queue, log: SILENT, stopping: stop, homeId: id, dropFolder, stops },
      context: ({ run, insteadOf }) => ({
        settings,
        clock,
        worker: {
          channel,
          carrier: () => Promise.resolve(undefined as never),
          shared: store,
          exclusive: (name, signal) =>
            waitForRight({
              ...{ store, name, runs: [run, insteadOf], leaseMs: LEASE_MS, settleMs: settledAfterMs(settings), signal },
              notify: () => undefined,
            }),
        },
      }),
      onEnded: () => undefined,
    });
    const taking = sim.worker(owner, processor, { concurrency: 4, lockMs: LEASE_MS });
    stop.addEventListener('abort', () => taking.pause(), { once: true });
    const restore = () => restoreJobs(home, sim.queue, store).catch(() => undefined);
    await restore();
    const endRestoring = repeatEvery(60_000, restore);
    const watched = await openInbox({
      ...{ folder: dropFolder, jobsDir, jobs: readJobs, scheduled: () => [], queue: sim.queue, log: SILENT },
      notice: () => undefined,
    });
    await whenAborted(stop);
    await watched.close();
    endRestoring();
    await taking.close();
    goAway();
    await store.presence.close().catch(() => undefined);
    stops.close();
    await away().catch(() => undefined);
    await channel.close();
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
      world.watch,
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
    const touch = (at: string, content: string, flag: string) => {
      world.outside(() => writeFileSync(at, content, { flag }));
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
    let written = 0;
    const write = (i: number) => {
      const to = cuts[i] ?? text.length;
      // Whoever writes has it open, wherever it is moved.
      const where = whereIs(name, step.job) ?? path;
      touch(where, text.slice(written, to), written === 0 ? 'w' : 'a');
      written = to;
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
    await world.pass(ms);
    for (const at of [0, 1] as const) bury(at);
  }

  const restless = (): string[] => [
    ...JOBS.flatMap((job) => readdirSync(join(inbox, job)).filter((name) => /^file \d+\.csv(\.ready)?$/.test(name))),
    ...filesBelow(join(inbox, 'processing')),
    ...sim.open(),
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
        return world.turnClock(MACHINES[step.machine], step.ms);
      case 'full': {
        const where = step.where === 'inbox' ? inbox : (homes[0] ?? '');
        disk.full.add(where);
        timeline.after(step.ms, () => void disk.full.delete(where), WORLD).background(true);
        return;
      }
    }
  }

  try {
    world.begin();
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
    faults.push(broken(error));
  } finally {
    world.end();
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
  return { violations, rows, runs: told.length, kills, ...world.came() };
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Smaller ones more often. */
function upTo(...most: number[]): fc.Arbitrary<number> {
  return fc.oneof(...most.map((max) => fc.nat({ max })));
}

const side = fc.constantFrom(0 as const, 1 as const);
const drop = fc.record({
  do: fc.constant('drop' as const),
  version: fc.nat(2),
  how: fc.constantFrom('rename' as const, 'rename' as const, 'slow' as const, 'ready' as const),
  // What is taken once only is what most can go wrong with.
  job: fc.oneof(
    { weight: 5, arbitrary: fc.constant('things' as const) },
    { weight: 1, arbitrary: fc.constant('again' as const) },
  ),
});
const machineStep = fc.oneof<fc.WeightedArbitrary<WorkerStep>[]>(
  { weight: 2, arbitrary: drop },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('begin' as const), machine: side, cut: maybeCut }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      machine: side,
      how: fc.constantFrom('kill' as const, 'power' as const, 'signal' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: upTo(3_000, 10_000, 40_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('away' as const), ms: fc.nat(30_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      machine: side,
      ms: fc.integer({ min: -3_600_000, max: 3_600_000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('full' as const),
      where: fc.constantFrom('home' as const, 'inbox' as const),
      ms: fc.nat(30_000),
    }),
  },
);

/** Scenarios of two workers. The first is at work, and gets a file, whatever comes then. */
export const workerScenarios: fc.Arbitrary<WorkerScenario> = fc.record({
  seed: fc.nat(0x7ffffffe),
  kind: fc.constantFrom('supplier', 'asset_guarded', 'asset_open', 'contract'),
  size: upTo(8, 40, 150).map((n) => 4 + n),
  oneHome: fc.oneof({ weight: 2, arbitrary: fc.constant(true) }, { weight: 3, arbitrary: fc.constant(false) }),
  weather: fc.record({
    latency: fc.constantFrom<Weather['latency'][]>([5, 40], [1, 2], [50, 800]),
    faulty: fc.constantFrom(0, 0, 0.02, 0.1),
    faults: fc.constant<Weather['faults']>([
      ...(['cut_before', 'cut_after', 'timeout_after', 'late_commit'] as const),
      ...(['status_before', 'status_after', 'throttled'] as const),
    ]),
    outages: fc.constant([]),
  }),
  steps: fc
    .tuple(cut, fc.array(machineStep, { minLength: 2, maxLength: 15, size: 'max' }))
    .map(([first, more]): WorkerStep[] => [
      { do: 'begin', machine: 0, cut: first },
      { do: 'drop', version: 0, how: 'rename', job: 'things' },
      ...more,
    ]),
});
