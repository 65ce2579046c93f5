// Above 300 lines: one scenario from its beginning to its judgement reads top-down.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunError, RunInterrupted } from '../../src/model/error.js';
import { resumeRun, retryRun } from '../../src/runs/follow-up.js';
import { importFile, type RunResult } from '../../src/runs/import.js';
import { inlineJob } from '../../src/runs/job-file.js';
import { reconcileFile } from '../../src/runs/reconcile.js';
import type { RunContext } from '../../src/runs/run/context.js';
import { newRunId } from '../../src/runs/run/layout.js';
import { resolveSettings } from '../../src/runs/settings.js';
import type { Commit } from '../../src/sandbox/service.js';
import { check, secondRunQuiet } from '../invariants/check.js';
import type { Evidence, Violation } from '../invariants/evidence.js';
import { openAftermath, type Work } from './aftermath.js';
import { settleAll } from './disk.js';
import { openEdits } from './edits.js';
import { openHistory } from './history.js';
import { judgeMade, judgeUnique } from './judges.js';
import { FAIR } from './network.js';
import { type Host, launch, leftBehind, type Process } from './process.js';
import { openRights } from './rights.js';
import type { Cut, Scenario, Step } from './scenario.js';
import { makeTable, SHAPES } from './table.js';
import { type Owner, WORLD } from './timeline.js';
import { broken, LONGEST_MS, MACHINES, openWorld, type Played, SETTLED_MS, SILENT } from './world.js';

/** Plays a scenario below the folder, which is emptied, and judges what it left. */
export async function play(scenario: Scenario, folder: string): Promise<Played> {
  /** Run of each process; and whose request takes effect at this moment. */
  const runOf = new Map<Owner, string>();
  let arrived: { readonly by: string | undefined; readonly sent: number } = { by: undefined, sent: 0 };
  const world = openWorld(folder, scenario.seed, {
    onCommit(commit) {
      if (commit.resource === shape.resource) history.note(commit.id, arrived);
    },
    arriving(owner, sent) {
      arrived = { by: runOf.get(owner), sent };
    },
  });
  const { lots, timeline, disk, service, network, pass } = world;
  const shape = SHAPES[scenario.kind];
  const table = makeTable(shape, scenario.size, scenario.others, lots.world);
  const input = join(folder, 'input.csv');
  writeFileSync(input, table.csv);

  const history = openHistory(
    () => timeline.now,
    (id) => service.stored(shape.resource, id),
  );
  const edits = openEdits({ timeline, service, shape, random: lots.world, history });
  const rights = openRights(timeline, lots.machine, SETTLED_MS);
  const homes = MACHINES.map((name) => join(folder, name));
  const token = (n: number) => `token-${n}`;
  let tokenNumber = 0;

  // The company's things, and the records that are there.
  world.prepare();
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
  const imported = inlineJob('import', { kind: 'import', ...job });
  // A reconciliation makes no records for its rows.
  const reconciledJob = { kind: 'reconcile', ...job, references: { missing: 'reject' } };
  const reconciled = inlineJob('reconcile', reconciledJob);
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
    commits: world.commits,
    died: () => void kills++,
  }));

  function contextFor(machine: number, owner: Owner, signal: AbortSignal, shared: boolean): RunContext {
    const home = homes[machine] ?? '';
    const clock = world.clockOf(owner);
    const worker = {
      channel: world.channelOf(home, clock, scenario.concurrency),
      // A run on a machine of its own, as the command line has it, shares no right and no parts.
      exclusive: (name: string, asked: AbortSignal) =>
        shared ? rights.exclusive(name, asked) : Promise.resolve(undefined),
      carrier: () => Promise.resolve(undefined as never),
    };
    const settings = resolveSettings(world.environment(home, scenario.concurrency, scenario.patienceMs), {}, folder);
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
    const run = 'run' in what ? what.run : newRunId(new Date(world.wallOf(owner)));
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
      world.watch,
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
        return world.turnClock('m0', step.ms);
      case 'full': {
        const home = homes[0] ?? '';
        timeline.after(step.after, () => void disk.full.add(home), WORLD).background(true);
        timeline.after(step.after + step.ms, () => void disk.full.delete(home), WORLD).background(true);
        return;
      }
    }
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
  const judging = (judge: () => Violation[] | Promise<Violation[]>): Promise<void> =>
    world.aside(async () => void faults.push(...(await judge())));

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
    world.begin();
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
      from = world.commits();
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
    faults.push(broken(error));
  } finally {
    world.end();
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
  return { violations, rows, runs: launched, kills, ...world.came() };
}

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
