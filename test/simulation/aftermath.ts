import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunError } from '../../src/model/error.js';
import { exportRecords } from '../../src/runs/export.js';
import { approveRun } from '../../src/runs/follow-up.js';
import { importFile, type RunResult } from '../../src/runs/import.js';
import { inlineJob, loadJob } from '../../src/runs/job-file.js';
import { reconcileFile } from '../../src/runs/reconcile.js';
import type { RunContext } from '../../src/runs/run/context.js';
import { undoRun } from '../../src/runs/undo.js';
import type { Violation } from '../invariants/evidence.js';
import type { Edits } from './edits.js';
import type { History } from './history.js';
import { judgeEdited, judgeExport, judgeNight, judgeNothingToUndo, judgeUndo } from './judges.js';
import type { Network } from './network.js';
import type { Process } from './process.js';
import type { After, Cut, Meanwhile, Scenario } from './scenario.js';
import type { SimService } from './service.js';
import { changeCells, type Shape, type Table } from './table.js';
import { type Timeline, WORLD } from './timeline.js';

/** What a process works on. */
export type Work = (run: string, context: RunContext) => Promise<RunResult>;

/** The world, as far as what comes after the steps of a scenario needs it. */
export interface World {
  readonly scenario: Scenario;
  readonly shape: Shape;
  readonly table: Table;
  /** Of the world's files. */
  readonly folder: string;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly service: SimService;
  readonly edits: Edits;
  readonly history: History;
  readonly random: () => number;
  readonly runs: ReadonlyMap<
    string,
    { readonly machine: number; readonly finished: boolean; readonly result?: RunResult }
  >;
  readonly begin: (
    machine: number,
    what: { readonly work: Work },
    more?: { readonly cut?: Cut | undefined },
  ) => Process;
  readonly settle: (...processes: Process[]) => Promise<void>;
  readonly pass: (ms: number) => Promise<void>;
  /** In fair weather. Returns the runs that do not come to their end. */
  readonly bringToEnd: () => Promise<readonly string[]>;
  /** The import of the file. */
  readonly importing: Work;
  readonly judging: (judge: () => Violation[] | Promise<Violation[]>) => Promise<void>;
  readonly fault: (fault: Violation) => void;
  /** The job by which the file is reconciled. */
  readonly reconciled: object;
}

/** What follows the runs of a scenario: each carried out in its weather, with its cut, and judged by all that the records ever were. */
export function openAftermath(world: World): { follow(after: After): Promise<void> } {
  const { scenario, shape, table, folder, timeline, network, service, edits, history, random, runs } = world;
  const { begin, settle, pass, bringToEnd, importing, judging, fault, reconciled } = world;
  const exports = join(folder, 'exports');
  mkdirSync(exports);
  // A row without a key may be any record: nothing is retired then.
  const withKeys = join(folder, 'with-keys.csv');
  writeFileSync(withKeys, table.csv.replace(/^,.*\r\n/gm, ''));
  /** Undos that came to their end. */
  const undos: string[] = [];
  let extra = 0;

  async function follow(after: After): Promise<void> {
    network.weather = {
      ...scenario.weather,
      outages: scenario.weather.outages.map((one) => ({ ...one, at: one.at + timeline.now })),
    };
    service.setSwitches({ lag: scenario.switches.lag ?? 0 });
    edits.plan(after.edits, after.over);
    const later = (times: number, change: () => void) => {
      for (let n = 0; n < times; n++) timeline.after(random() * after.over, change, WORLD).background(true);
    };
    later(after.adds, () => {
      const [id] = service.insert(shape.resource, [shape.body(`Added ${++extra}`, extra)]);
      if (id !== undefined) history.note(id);
    });
    later(after.removes, () => {
      const all = service.raw(shape.resource);
      const id = Number(all[Math.floor(random() * all.length)]?.['id']);
      if (all.length < 2) return;
      service.remove(shape.resource, id);
      history.note(id);
    });
    if (after.do === 'export') return followExport(after);
    if (after.do === 'edited') return followEdited(after);
    return after.do === 'night' ? followNight(after) : followUndo(after);
  }

  /** A run in the weather, with its cut, and brought to its end; undefined where it does not come to one. */
  async function finish(
    machine: number,
    what: string,
    work: Work,
    { cut, beside }: Pick<Meanwhile, 'cut' | 'beside'> = {},
  ): Promise<{ readonly run: string; readonly result: RunResult } | undefined> {
    let process = begin(machine, { work }, { cut });
    const others: Process[] = [];
    if (beside !== undefined) {
      await pass(beside);
      others.push(begin(machine, { work: importing }));
    }
    await settle(process, ...others);
    if (!runs.get(process.run)?.finished && (await bringToEnd()).includes(process.run)) {
      // Nothing of it could be used by a later one.
      process = begin(machine, { work });
      await settle(process);
    }
    const { run } = process;
    const { finished, result } = runs.get(run) ?? {};
    if (finished && result) return { run, result };
    // Only an undo may find that there is nothing to do.
    if (!(process.error instanceof RunError && process.error.message.includes('wrote nothing')))
      fault({ rule: 'comes-to-an-end', text: `${what}: ${process.error}` });
    return undefined;
  }

  function exporting(target: string, editable: boolean): Work {
    const { resource } = shape;
    return (run, context) =>
      exportRecords({ run, resource, target, filter: {}, editable, job: { name: resource } }, context);
  }

  async function followExport(after: Extract<After, { do: 'export' }>): Promise<void> {
    const file = join(exports, `${++extra}.csv`);
    const from = timeline.now - (scenario.switches.lag ?? 0);
    const ended = await finish(0, 'export', exporting(file, false), after);
    const consistency = ended?.result.summary.consistency;
    const fields = [shape.keyField, shape.mapped, shape.unmapped];
    if (ended) await judging(() => judgeExport({ history, file, consistency, fields, from, until: timeline.now }));
  }

  async function followEdited(after: Extract<After, { do: 'edited' }>): Promise<void> {
    const file = join(exports, `${++extra}.csv`);
    const from = timeline.now - (scenario.switches.lag ?? 0);
    if (!(await finish(0, 'editable export', exporting(file, true)))) return;
    const until = timeline.now;
    const mine = changeCells(file, shape.mapped, after.cells, random);
    edits.plan(after.cells, 1_000);
    // As long ago as what was read before a write may be, and longer.
    if (random() < 0.5) await pass(100_000);
    const work: Work = async (run, context) => {
      const changed = await loadJob('import', file.replace(/csv$/, 'yaml'), { jobsDir: exports });
      return importFile({ file, job: changed, dryRun: false, force: true, run }, context);
    };
    const ended = await finish(0, 'import of a changed file', work, after);
    if (!ended) return;
    const { run, result } = ended;
    const field = shape.mapped;
    await judging(() => judgeEdited({ history, run, reports: result.reportDir, mine, field, from, until }));
  }

  async function followNight(after: Extract<After, { do: 'night' }>): Promise<void> {
    const field = shape.mapped;
    const all = { max_updates: '100%', max_orphans: '100%', max_cleared: '100%', max_change: '100%' };
    const nightly = inlineJob('reconcile', {
      ...reconciled,
      orphans: { action: { set: { [field]: 'retired' } }, after: 1 },
      brakes: { ...all, same_file: 'warn', unknown_keys: 'warn' },
    });
    const reconcile =
      (dryRun: boolean): Work =>
      (run, context) =>
        reconcileFile({ file: withKeys, dryRun, force: true, run, job: nightly }, context);
    let work = reconcile(false);
    if (after.approved) {
      const planned = await finish(0, 'plan of a night', reconcile(true));
      if (!planned) return;
      work = (run, context) => approveRun(planned.run, { run, by: 'A person' }, context);
    }
    const from = timeline.now - (scenario.switches.lag ?? 0);
    const ended = await finish(0, 'night', work, after);
    if (!ended) return;
    const { run, result } = ended;
    const { compared, orphans } = result.summary.reconcile ?? {};
    // Records that have changed since it was planned stop an approved run.
    const braked = result.summary.status === 'braked';
    const whole = !braked && compared?.orphans_for_person === 0 && orphans?.held_reason === undefined;
    const { keyField, columns, constants } = shape;
    const mapped = [...Object.values(columns), ...constants];
    const retired = { field, value: '"retired"' };
    const heading = Object.keys(columns).find((one) => columns[one] === field) ?? '';
    const told = { reports: result.reportDir, file: withKeys, heading };
    await judging(() =>
      judgeNight({ history, run, keys: table.keys, keyField, mapped, retired, from, whole, ...told }),
    );
  }

  async function followUndo(after: Extract<After, { do: 'undo' }>): Promise<void> {
    const { of, retire } = after;
    const wrote = new Map<string, number>();
    for (const moments of history.moments.values())
      for (const { by } of moments) if (by !== undefined) wrote.set(by, (wrote.get(by) ?? 0) + 1);
    const candidates = [...wrote]
      .filter(([run]) => runs.get(run)?.finished && !undos.includes(run))
      .sort((a, b) => b[1] - a[1]);
    const target = of === 'undo' ? undos.at(-1) : candidates[0]?.[0];
    const known = target === undefined ? undefined : runs.get(target);
    if (target === undefined || !known?.result) return;
    const field = retire === undefined ? undefined : shape[retire];
    const more = field === undefined ? {} : { retire: { [field]: 'retired' } };
    const work: Work = (run, context) => undoRun(target, { run, dryRun: false, ...more }, context);
    const undone = { id: target, reports: known.result.reportDir };
    const judge = (id: string, from: number) =>
      judging(() => {
        const reports = runs.get(id)?.result?.reportDir ?? '';
        const retired = field === undefined ? undefined : { field, value: '"retired"' };
        return judgeUndo({ history, run: undone, undo: { id, reports }, retired, from });
      });
    const from = timeline.now;
    const ended = await finish(known.machine, `undo of ${target}`, work, after);
    if (!ended) return judging(() => judgeNothingToUndo(target, undone.reports));
    undos.push(ended.run);
    await judge(ended.run, from);
    await bringToEnd();
    const [began, commits] = [timeline.now, service.commits.length];
    const again = begin(known.machine, { work });
    await settle(again);
    await judge(again.run, began);
    const { total, updated, unchanged } = ended.result.summary.rows;
    // An import beside it may have written its values once more.
    const whole = after.beside === undefined && total === updated + unchanged;
    if (whole && service.commits.length > commits)
      fault({ rule: 'undo-twice', text: `it sent ${service.commits.length - commits} writes more` });
  }

  return { follow };
}
