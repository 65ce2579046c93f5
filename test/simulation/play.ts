// Above 300 lines: one scenario from its beginning to its judgement reads top-down.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { RunError, RunInterrupted } from '../../src/model/error.js';
import { importFile, type RunResult } from '../../src/runs/import.js';
import { inlineJob, inlineReconcileJob } from '../../src/runs/job-file.js';
import { reconcileFile } from '../../src/runs/reconcile.js';
import { resumeRun } from '../../src/runs/resume.js';
import { retryRun } from '../../src/runs/retry.js';
import type { RunContext, WorkerContext } from '../../src/runs/run/context.js';
import { newRunId } from '../../src/runs/run/layout.js';
import { resolveSettings } from '../../src/runs/settings.js';
import type { Commit } from '../../src/sandbox/service.js';
import { readAddress } from '../../src/service/address.js';
import type { Clock } from '../../src/service/clock.js';
import { openPacer } from '../../src/service/pace/gate.js';
import { openToken } from '../../src/service/transport/token.js';
import { check, secondRunQuiet } from '../invariants/check.js';
import type { Evidence, Violation } from '../invariants/evidence.js';
import { openAftermath, type Work } from './aftermath.js';
import { type Disk, mount, settleAll } from './disk.js';
import { openEdits } from './edits.js';
import { openHistory } from './history.js';
import { judgeMade, judgeUnique } from './judges.js';
import { activate } from './machine.js';
import { FAIR, openNetwork } from './network.js';
import { type Host, launch, leftBehind, type Process } from './process.js';
import { openRights } from './rights.js';
import type { Cut, Scenario, Step } from './scenario.js';
import { openSimService, type SimService } from './service.js';
import { makeTable, SHAPES } from './table.js';
import { type Owner, openTimeline, Stuck, seeded, WORLD } from './timeline.js';

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

const EPOCH = Date.UTC(2026, 2, 2, 8);
const REQUEST_MS = 10_000;
const SETTLE_MS = [5_000, 15_000, 45_000];
/** Nothing takes longer: a day of simulated time. */
const LONGEST_MS = 86_400_000;
const MACHINES = ['m0', 'm1'] as const;

/** Plays a scenario below the folder, which is emptied, and judges what it left. */
export async function play(scenario: Scenario, folder: string): Promise<Played> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const lots = { world: seeded(scenario.seed), net: seeded(scenario.seed + 1), machine: seeded(scenario.seed + 2) };
  const shape = SHAPES[scenario.kind];
  const table = makeTable(shape, scenario.size, scenario.others, lots.world);
  const input = join(folder, 'input.csv');
  writeFileSync(input, table.csv);

  const timeline = openTimeline();
  const disk: Disk = {
    root: folder,
    full: new Set(),
    latency: (sync) => (lots.machine() < 0.002 ? 500 : 0) + lots.machine() * (sync ? 4 : 0.2),
    random: lots.machine,
  };
  /** How far the clock of a machine is off. */
  const offsets = new Map<string, number>();
  const machineOf = (owner: Owner) => owner.slice(0, 2);
  const wall = () => EPOCH + timeline.now + (offsets.get(machineOf(timeline.owner)) ?? 0);
  const digest = createHash('sha256');
  let committed = 0;
  /** Run of each process; and whose request takes effect at this moment. */
  const runOf = new Map<Owner, string>();
  let arrived: { readonly by: string | undefined; readonly sent: number } = { by: undefined, sent: 0 };
  const history = openHistory(
    () => timeline.now,
    (id) => service.stored(shape.resource, id),
  );
  const service: SimService = openSimService(
    () => EPOCH + timeline.now,
    (commit) => {
      committed++;
      if (commit.resource === shape.resource) history.note(commit.id, arrived);
      digest.update(`${timeline.now.toFixed(3)} ${commit.method} ${commit.resource} ${commit.id} ${commit.body}\n`);
    },
  );
  const edits = openEdits({ timeline, service, shape, random: lots.world, history });
  const network = openNetwork({
    timeline,
    service,
    random: lots.net,
    requestMs: REQUEST_MS,
    latestCommitMs: () => REQUEST_MS + (SETTLE_MS.at(-1) ?? 0) * 0.9,
    arriving(owner, sent) {
      arrived = { by: runOf.get(owner), sent };
    },
  });
  const rights = openRights(timeline, lots.machine, REQUEST_MS + (SETTLE_MS.at(-1) ?? 0));
  const homes = MACHINES.map((name) => join(folder, name));
  const token = (n: number) => `token-${n}`;
  let tokenNumber = 0;

  const looks = new Set<(owner: Owner) => void>();
  const watch = (look: (owner: Owner) => void) => {
    looks.add(look);
    return () => void looks.delete(look);
  };
  timeline.onEvent((owner) => {
    for (const look of [...looks]) look(owner);
  });

  // The company's things, and the records that are there.
  const machine = { timeline, wall, random: lots.machine };
  const seedTime = { timeline, wall: () => EPOCH, random: lots.machine };
  activate(seedTime);
  mount(disk);
  if (shape.resource === 'contract') service.insert('supplier', [{ name: 'The supplier' }]);
  service.insert(shape.resource, table.before);
  const before = service.raw(shape.resource);
  for (const record of before) history.note(Number(record['id']));
  service.setSwitches(scenario.switches);
  service.tokens = new Set([token(0)]);
  for (const home of homes) {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'token'), token(0));
  }
  settleAll(folder);

  const job = { ...shape.job, blank: scenario.blank, match: { ...matchOf(shape.job), existing: scenario.existing } };
  const imported = inlineJob({ kind: 'import', ...job });
  // A reconciliation makes no records for its rows.
  const reconciledJob = { kind: 'reconcile', ...job, references: { missing: 'reject' } };
  const reconciled = inlineReconcileJob(reconciledJob);
  let launched = 0;
  let kills = 0;
  let unnoted = 0;
  let rows = 0;
  const faults: Violation[] = [];
  /** Runs in the order in which they were begun; and whether they came to their end. */
  const runs = new Map<string, { machine: number; finished: boolean; result?: RunResult; error?: string }>();
  const order: string[] = [];
  const retries = new Set<string>();

  const hosts: Host[] = homes.map((home) => ({
    timeline,
    network,
    rights,
    home,
    commits: () => committed,
    died: () => void kills++,
  }));

  function contextFor(machine: number, owner: Owner, signal: AbortSignal, shared: boolean): RunContext {
    const home = homes[machine] ?? '';
    const clock: Clock = {
      now: () => timeline.now,
      wall,
      after(ms, run) {
        const handle = timeline.after(ms, run, owner);
        return () => handle.cancel();
      },
    };
    const stopping = new AbortController();
    const tokens = openToken(
      { kind: 'file', path: join(home, 'token') },
      { connectMs: 1_000, requestMs: REQUEST_MS, patienceMs: 60_000 },
      clock,
      stopping.signal,
    );
    const pacer = openPacer({
      maxInFlight: scenario.concurrency,
      clock,
      random: lots.machine,
      signal: stopping.signal,
    });
    const http = network.connect();
    const worker: WorkerContext = {
      channel: {
        address: readAddress('http://service.test'),
        gauges: {
          learnedRate: undefined,
          inFlight: 0,
          waiting: 0,
          answered: true,
          inFlightLimit: 0,
          heldMs: 0,
          awayMs: undefined,
        },
        close: async () => stopping.abort(),
        parts: { http, pacer, tokens, clock, signal: stopping.signal },
      },
      // A run on a machine of its own, as the command line has it, shares no right and no parts.
      exclusive: (name, asked) => (shared ? rights.exclusive(name, asked) : Promise.resolve(undefined)),
      carrier: () => Promise.resolve(undefined as never),
    };
    const settings = resolveSettings(
      {
        ROWFERRY_API_URL: 'http://service.test',
        ROWFERRY_API_TOKEN_FILE: join(home, 'token'),
        ROWFERRY_HOME: home,
        ROWFERRY_SETTLE_WINDOW: SETTLE_MS.map((ms) => ms / 1000).join(','),
        ROWFERRY_TIMEOUT: String(REQUEST_MS / 1000),
        ROWFERRY_PATIENCE: String(scenario.patienceMs / 1000),
        ROWFERRY_CONCURRENCY: String(scenario.concurrency),
      },
      {},
      folder,
    );
    return {
      settings,
      log: SILENT,
      signal,
      clock,
      worker,
      listener: { progress: () => undefined, notice: () => undefined },
    };
  }

  const importing: Work = (run, context) =>
    importFile({ file: input, job: imported, dryRun: false, force: false, run }, context);
  const reconciling =
    (apply: boolean): Work =>
    (run, context) =>
      reconcileFile({ file: input, job: reconciled, dryRun: !apply, force: true, run }, context);

  /** Begins a process; a run without an id is a new one. */
  function begin(
    machine: number,
    what: { readonly run: string } | { readonly work: Work },
    more: { readonly cut?: Cut | undefined; readonly shared?: boolean } = {},
  ): Process {
    const host = hosts[machine] as Host;
    const owner = `${MACHINES[machine]}.${++launched}`;
    const run =
      'run' in what ? what.run : newRunId(new Date(EPOCH + timeline.now + (offsets.get(MACHINES[machine] ?? '') ?? 0)));
    if (!runs.has(run)) {
      runs.set(run, { machine, finished: false });
      order.push(run);
    }
    runOf.set(owner, run);
    return launch(
      host,
      { owner, run, cut: more.cut },
      (signal) => {
        const context = contextFor(machine, owner, signal, more.shared ?? false);
        return 'run' in what ? resumeRun(run, context) : what.work(run, context);
      },
      watch,
    );
  }

  async function settle(...processes: Process[]): Promise<void> {
    await timeline.drive(() => processes.every(({ state }) => state !== 'working'), LONGEST_MS);
    for (const process of processes) {
      process.release();
      if (process.state !== 'killed') {
        const host = hosts[runs.get(process.run)?.machine ?? 0] as Host;
        const left = leftBehind(host, process, true);
        for (const what of left)
          faults.push({
            rule: 'lets-go',
            text: `${what} by a run that ended: ${process.error ?? process.result?.summary.status}`,
          });
      }
      const known = runs.get(process.run);
      if (!known) continue;
      // Of a finished run that was taken up again the reports are written anew, and may be cut off.
      known.finished = false;
      if (process.state === 'ended' && process.result) {
        const { status, rows: counts } = process.result.summary;
        known.result = process.result;
        known.finished = status === 'succeeded' || status === 'partial' || status === 'braked';
        rows += Number(counts.total);
        order.splice(order.indexOf(process.run), 1);
        order.push(process.run);
      }
      // What it had sent, and could not note any more, is open.
      if (!known.finished) unnoted++;
      if (process.state === 'failed') known.error = String(process.error);
      if (process.state === 'failed' && !isExpected(process.error)) {
        faults.push({ rule: 'no-crash', text: String((process.error as Error)?.stack ?? process.error) });
      }
    }
  }

  const unfinished = () => [...runs].filter(([, { finished }]) => !finished).map(([run]) => run);

  async function take(step: Step): Promise<void> {
    switch (step.do) {
      case 'import':
        return settle(begin(0, { work: importing }, { cut: step.cut }));
      case 'reconcile':
        return settle(begin(0, { work: reconciling(step.apply) }, { cut: step.cut }));
      case 'resume': {
        const run = unfinished().at(-1) ?? [...runs.keys()].at(-1);
        return run === undefined ? undefined : settle(begin(runs.get(run)?.machine ?? 0, { run }, { cut: step.cut }));
      }
      case 'retry': {
        const toRetry = () => order.findLast((one) => isToRetry(runs.get(one)?.result?.summary));
        if (toRetry() === undefined) {
          const outage = { at: timeline.now + step.away, ms: 60_000, how: 'refused' as const };
          network.weather = { ...network.weather, outages: [...network.weather.outages, outage] };
          await settle(begin(0, { work: importing }));
        }
        const run = toRetry();
        const known = run === undefined ? undefined : runs.get(run);
        if (run === undefined || !known) return;
        const work = (id: string, context: RunContext) => retryRun(run, { run: id }, context);
        const process = begin(known.machine, { work }, { cut: step.cut });
        retries.add(process.run);
        return settle(process);
      }
      case 'two': {
        const first = begin(0, { work: importing }, { shared: true });
        await pass(step.apart);
        const second = begin(1, { work: importing }, { shared: true });
        if (step.loseAfter !== undefined) timeline.after(step.loseAfter, rights.lose, WORLD);
        return settle(first, second);
      }
      case 'again': {
        const first = begin(0, { work: importing });
        await pass(step.after);
        return settle(first, begin(0, { run: first.run }));
      }
      case 'edit':
        return edits.plan(step.records, step.over);
      case 'wait':
        return pass(step.ms);
      case 'clock':
        offsets.set('m0', (offsets.get('m0') ?? 0) + step.ms);
        return;
      case 'full': {
        const home = homes[0] ?? '';
        timeline.after(step.after, () => void disk.full.add(home), WORLD).background(true);
        timeline.after(step.after + step.ms, () => void disk.full.delete(home), WORLD).background(true);
        return;
      }
    }
  }

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
  }

  /** In fair weather everything comes to its end. Returns the runs that do not. */
  async function bringToEnd(): Promise<string[]> {
    network.weather = FAIR;
    disk.full.clear();
    await pass(300_000);
    disk.full.clear();
    for (let round = 0; unfinished().length > 0 && round < 3; round++) {
      for (const run of unfinished()) await settle(begin(runs.get(run)?.machine ?? 0, { run }));
    }
    const left = unfinished();
    for (const run of left) {
      // Cut off before its file was taken over, a run says so, and is none.
      const dir = join(homes[runs.get(run)?.machine ?? 0] ?? '', 'runs', run);
      const why = runs.get(run)?.result?.summary.reason ?? runs.get(run)?.error ?? 'no reason told';
      const text = `the run ${run} does not finish in fair weather: ${why}`;
      if (wasBegun(dir)) faults.push({ rule: 'comes-to-an-end', text });
      runs.delete(run);
    }
    return left;
  }

  /** Judges in true time, from the true disk. */
  async function judging(judge: () => Violation[] | Promise<Violation[]>): Promise<void> {
    activate(undefined);
    mount(undefined);
    faults.push(...(await judge()));
    activate(machine);
    mount(disk);
    settleAll(folder);
  }

  const aftermath = openAftermath({
    ...{ scenario, shape, table, folder, timeline, network, service, edits, history },
    ...{ random: lots.world, runs, begin, settle, pass, bringToEnd, judging, importing },
    fault: (fault) => void faults.push(fault),
    reconciled: reconciledJob,
  });

  let open: number | undefined;
  let evidence: Evidence | undefined;
  /** What the last import of all wrote, which should be nothing. */
  let again: readonly Commit[] = [];
  const idsByName = (resource: 'supplier') =>
    Object.fromEntries(service.raw(resource).map(({ id, name }) => [String(name), id]));
  const reportsOf = (run: string) => runs.get(run)?.result?.reportDir ?? '';
  const gatherEvidence = (): Evidence => {
    const told = order.filter((run) => runs.get(run)?.finished);
    return {
      resource: shape.resource,
      keyField: shape.keyField,
      before,
      after: service.raw(shape.resource),
      commits: service.commits.filter(({ resource }) => resource === shape.resource),
      edits: edits.survivors(),
      input,
      columns: shape.columns,
      runs: told.map(reportsOf),
      retries: told.filter((run) => retries.has(run)).map(reportsOf),
      blank: scenario.blank,
      constants: shape.constants,
      ...(shape.making && { stands: { [shape.making.field]: idsByName(shape.making.resource) } }),
      ...(open === undefined ? {} : { open }),
    };
  };
  /** The last two imports. */
  const quiet: string[] = [];
  try {
    activate(machine);
    network.weather = scenario.weather;
    for (const at of scenario.tokenChanges) {
      timeline
        .after(
          at,
          () => {
            service.tokens = new Set([token(++tokenNumber)]);
            for (const home of homes) writeFileSync(join(home, 'token'), token(tokenNumber));
          },
          WORLD,
        )
        .background(true);
    }
    for (const step of scenario.steps) await take(step);
    // Then the sky clears, and all is brought to its end.
    service.setSwitches({ lag: 0 });
    await bringToEnd();
    open = network.open + kills + unnoted;
    let from = 0;
    for (let n = 0; n < 2; n++) {
      from = committed;
      const process = begin(0, { work: importing });
      await settle(process);
      quiet.push(process.run);
    }
    evidence = gatherEvidence();
    again = service.commits.slice(from);
    if (shape.making) faults.push(...judgeMade(service.raw(shape.making.resource), table.csv));
    for (const after of scenario.after ?? []) await aftermath.follow(after);
    faults.push(...judgeUnique(service.raw(shape.resource), shape.keyField));
  } catch (error) {
    faults.push({
      rule: error instanceof Stuck ? 'no-hang' : 'no-crash',
      text: String((error as Error).stack ?? error),
    });
  } finally {
    timeline.onEvent(undefined);
    activate(undefined);
    mount(undefined);
  }

  const violations = [...faults];
  try {
    const judged = evidence ?? gatherEvidence();
    violations.push(...(await check(judged)), ...edits.lost());
    if (quiet.length === 2) {
      const [first = '', second = ''] = quiet.map(reportsOf);
      const found = await secondRunQuiet(first, second, again);
      // Where the job refuses records that exist, its own are refused the second time.
      violations.push(...found.filter(({ row }) => scenario.existing !== 'fail' || row === undefined));
    }
  } catch (error) {
    violations.push({ rule: 'can-be-judged', text: String((error as Error).stack ?? error) });
  }
  return {
    violations,
    rows,
    runs: launched,
    kills,
    events: timeline.events,
    ms: timeline.now,
    commits: committed,
    digest: digest.digest('hex'),
  };
}

const SILENT = new Proxy({}, { get: () => () => undefined }) as unknown as Logger;

function matchOf(job: object): object {
  return (job as { readonly match: object }).match;
}

const isToRetry = (summary: RunResult['summary'] | undefined): boolean =>
  summary?.dry_run === false && summary.rows.failed + summary.rows.unknown > 0;

const wasBegun = (dir: string): boolean => existsSync(join(dir, 'run.json'));

/** Faults of the run, told to people; and a run that was stopped. */
function isExpected(error: unknown): boolean {
  if (error instanceof RunError || error instanceof RunInterrupted) return true;
  return error instanceof Error && 'code' in error && error.code === 'ENOSPC';
}

/** The same; a fault of the simulation itself is a violation, too, and leaves nothing behind. */
export async function playSafely(scenario: Scenario, folder: string): Promise<Played> {
  try {
    return await play(scenario, folder);
  } catch (error) {
    const text = String((error as Error).stack ?? error);
    const nothing = { rows: 0, runs: 0, kills: 0, events: 0, ms: 0, commits: 0, digest: '' };
    return { violations: [{ rule: 'simulation', text }], ...nothing };
  } finally {
    activate(undefined);
    mount(undefined);
  }
}
