import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { copyPrivately } from '../files/safe-write.js';
import { codesOf, RunError } from '../model/error.js';
import { brakes, type RowsJob } from '../model/job.js';
import { parseJson } from '../service/json.js';
import type { Json } from '../service/port.js';
import { CHOSEN, RunStore } from '../store/run-store.js';
import { importFile } from './import.js';
import type { LoadedJob } from './job-file.js';
import type { OpenIntent } from './rows/past.js';
import type { RunResult } from './run/conclude.js';
import type { RunContext } from './run/context.js';
import { type AgainOptions, type EarlierRun, earlierRun } from './run/earlier-run.js';
import type { RunFolder } from './run/layout.js';
import { type ChosenRows, type ImportRequest, keepChosen, readChosen } from './run/run.js';

/**
 * Takes up the rows of a run that failed or were left unknown: a new run on the same private copy of the file, with the same
 * job and these rows alone. What became of an unknown row is looked up before anything is sent; a customer, which cannot be looked up, stays
 * unknown and is not sent again. The job's brakes are for whole files and do not count. `wanted`: the run's id, the beginning of it, or
 * `last`. Contract, sections 3 and 7.
 *
 * Throws a `RunError` of kind `usage` for a run that cannot be retried or has no such rows.
 */
export async function retryRun(wanted: string, options: AgainOptions, context: RunContext): Promise<RunResult> {
  const earlier = await earlierRun(wanted, 'retry', context.settings);
  const { request, folder } = earlier;
  if (request.kind === 'undo') {
    throw new RunError(
      'usage',
      `The run ${folder.run} is an undo. What it left is undone by \`rowferry runs undo ${request.lineage?.undoes}\`, once more.`,
    );
  }
  const { chosen, before } = openRows(folder);
  const notReached = earlier.summary?.rows.not_attempted ?? 0;
  if (chosen.rows.size === 0) throw nothingToRetry(earlier, notReached);
  const { reportDir, concurrency, force = false, run } = options;
  const again: ImportRequest = {
    kind: request.kind,
    lineage: { retries: folder.run },
    file: request.file,
    job: withoutBrakes(request.job),
    ...(request.jsonRows ? { jsonRows: true } : {}),
    ...(request.corrections && { corrections: request.corrections }),
    ...(run !== undefined && { run }),
    company: request.company,
    dryRun: false,
    force,
    notes: [takenUp(folder.run, chosen.rows.size), ...(notReached === 0 ? [] : [stillToDo(earlier, notReached)])],
    async makeSource(path, own) {
      // A retry of this retry goes by the same plan; a run without brakes on its plan keeps none.
      await copyFile(folder.plan, own.plan).catch((error: unknown) => {
        if (codesOf(error)[0] !== 'ENOENT') throw error;
      });
      const store = new RunStore(own.store);
      keepChosen(store, chosen);
      // Where such a row turns out to be written, this is what it can be put back to.
      store.rows.noteBefore(before);
      store.close();
      return copyPrivately(join(folder.dir, 'work', request.source), path);
    },
    ...(reportDir === undefined ? {} : { reportDir }),
    ...(concurrency === undefined ? {} : { concurrency }),
  };
  if (request.kind === 'import') return importFile(again, context);
  const { reconcileFile } = await import('./reconcile.js');
  return reconcileFile(again, context);
}

/** A share of a few rows says nothing about the file, whose plan has passed the brakes. */
function withoutBrakes(loaded: LoadedJob): LoadedJob {
  const none = brakes.parse({ min_rows: 0 });
  const job: RowsJob =
    loaded.job.kind === 'import'
      ? { ...loaded.job, brakes: none }
      : { ...loaded.job, brakes: { ...none, same_file: 'warn', unknown_keys: 'warn' } };
  return { ...loaded, job };
}

function nothingToRetry(earlier: EarlierRun, notReached: number): RunError {
  const { folder, request, summary } = earlier;
  const orphans = summary?.reconcile?.compared?.orphans_for_person ?? 0;
  const next = [
    ...(notReached > 0 ? [stillToDo(earlier, notReached)] : []),
    ...(orphans > 0 ? [orphansNext(orphans)] : []),
  ];
  if (next.length === 0) {
    next.push(
      summary?.status === 'partial'
        ? `Rows that need a person are in the rejected file of ${request.reportDir}: correct them there and import that file.`
        : 'Every row ended well.',
    );
  }
  return new RunError(
    'usage',
    `No row of the run ${folder.run} failed or was left unknown: there is nothing to retry. ${next.join(' ')}`,
  );
}

/** What the rows of a retry are, for its reports: its totals are not those of the file. */
function takenUp(run: string, rows: number): string {
  return `A retry: ${rows === 1 ? 'the one row' : `the ${rows} rows`} of the run ${run} that failed or ${rows === 1 ? 'was' : 'were'} left unknown, and no others.`;
}

/** Orphans are no rows: each night judges them anew. */
function orphansNext(orphans: number): string {
  return orphans === 1
    ? 'One orphan could not be acted on: orphans.csv says why, and the next run of the job takes it up.'
    : `${orphans} orphans could not be acted on: orphans.csv says why, and the next run of the job takes them up.`;
}

function stillToDo({ folder: { run }, summary }: EarlierRun, rows: number): string {
  const [what, them] = rows === 1 ? ['One row of the run was', 'it'] : [`${rows} rows of the run were`, 'them'];
  if (summary?.status === 'braked') {
    return `${what} not reached, because a brake stopped the run: its report says what to do about ${them}.`;
  }
  return `${what} not reached: \`rowferry runs resume ${run}\` goes on with ${them}.`;
}

/** The rows of a run that a retry takes up. */
interface OpenRows {
  readonly chosen: ChosenRows;
  /** Lines of before.ndjson of rows whose update may have taken effect. */
  readonly before: readonly { readonly row: number; readonly line: string }[];
}

/**
 * Rows that ended `failed` or `unknown`, and those that were sent and have no outcome. What is open of them is what the run
 * may have done: the requests it was about to send, with the records as they were before. Memory: some hundred bytes for each of these
 * rows, and their records.
 */
function openRows(folder: RunFolder): OpenRows {
  const rows = new Set<number>();
  const open = new Map<number, OpenIntent>();
  const lines: { row: number; line: string }[] = [];
  const store = RunStore.existing(folder.store);
  // A retry sends nothing of what it could not find out: what an earlier run may have done is still open.
  const earlier = store?.kept(CHOSEN) === undefined ? undefined : readChosen(store).open;
  for (const batch of store?.rows.whole(OPEN) ?? []) {
    for (const { row, kind, op, at = 0, record, before } of batch) {
      rows.add(row);
      if (kind === 'failed') continue;
      const still = op === undefined ? earlier?.get(row) : undefined;
      if (still) {
        open.set(row, still);
        if (before !== undefined) lines.push({ row, line: before });
      }
      if (op === undefined) continue;
      const intent: OpenIntent = { op, at, ...(record === undefined ? {} : { id: record }) };
      open.set(row, intent);
      if (op !== 'update' || before === undefined) continue;
      intent.before = (parseJson(before) as { record: Json }).record;
      lines.push({ row, line: before });
    }
  }
  store?.close();
  return { chosen: { rows, open }, before: lines };
}

const OPEN = `kind in ('failed', 'unknown') or (kind is null and op is not null)`;
