import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from '../files/atomic-write.js';
import { EXIT, type RunError, usageError } from '../model/error.js';
import { brakes, type RowsJob } from '../model/job.js';
import { isUnverifiable } from '../model/outcome.js';
import { brakeStop } from '../report/summary.js';
import { RunStore, type StoredRow } from '../store/run-store.js';
import { resumeExport } from './export.js';
import { executeImport, importFile } from './import.js';
import type { LoadedJob } from './job-file.js';
import { executeReconcile, reconcileFile } from './reconcile.js';
import type { RunResult } from './run/conclude.js';
import type { RunContext } from './run/context.js';
import {
  assertNotPruned,
  type EarlierRun,
  type FollowUpOptions,
  findEndedRun,
  findWrittenRun,
  readRequest,
  reuseFileOf,
} from './run/earlier-run.js';
import { type RunFolder, runFolder } from './run/layout.js';
import { findRun, freshRunId, isResumable, type RunEntry, readRun, readSummary, undoneBy } from './run/list.js';
import { type ImportRequest, reopenRun } from './run/run.js';
import type { Settings } from './settings.js';
import { executeUndo } from './undo.js';

/**
 * Continues a run that was interrupted or killed, whatever its kind: `runRef` is its id, the beginning of it, or `last`: the latest that
 * is not at its end.
 * Throws `RunError` where there is no such run, or it was begun against another service.
 */
export async function resumeRun(runRef: string, context: RunContext): Promise<RunResult> {
  const { home } = context.settings;
  const isOpen = async (run: RunEntry) => isResumable(run) && (await undoneBy(home, run.run)) === undefined;
  const id = await findRun(home, runRef, isOpen);
  const undo = await undoneBy(home, id);
  if (undo !== undefined) throw undoneError(id, undo);
  const folder = runFolder(home, id);
  // Of one that was killed before it noted its request whoever takes it up says so.
  const request = readRequest(folder);
  const kind: string | undefined = request?.kind;
  if (kind !== 'export') assertNotPruned(folder);
  if (kind === 'export') return resumeExport(id, context);
  // Planned anew, it would no longer be the plan that a person has read, and approves.
  const ended = await readSummary(folder.dir);
  if (request && ended?.status === 'braked')
    return { summary: ended, exitCode: EXIT.braked, reportDir: request.reportDir };
  const run = await reopenRun(id, context);
  if (kind === 'reconcile') return executeReconcile(run);
  return kind === 'undo' ? executeUndo(run) : executeImport(run);
}

/** Of a run that does not go on because another one put back what it wrote: its reports would say that it is in. */
export const undoneError = (run: string, by: string): RunError =>
  usageError(
    `The run ${run} cannot be resumed: the run ${by} put back what it wrote. Import the file again; rows that it did not reach are in its rejected file.`,
  );

/**
 * Takes up the rows of a run that failed or were left unknown: a new run on the same private copy of the file, with the same
 * job and these rows alone. What became of an unknown row is looked up before anything is sent; one that cannot be looked up (a
 * customer) stays unknown and is not sent again; a row without a key goes on in its own run alone. The job's brakes are for
 * whole files and do not count. `runRef`: the run's id, the beginning of it, or `last`. Contract, sections 3 and 7.
 *
 * Throws a `RunError` of kind `usage` for a run that cannot be retried or has no such rows.
 */
export async function retryRun(runRef: string, options: FollowUpOptions, context: RunContext): Promise<RunResult> {
  const earlier = await findWrittenRun(runRef, 'retry', context.settings);
  const { request, folder } = earlier;
  if (request.kind === 'undo') {
    throw usageError(
      `The run ${folder.run} is an undo. What it left is undone by \`rowferry runs undo ${request.lineage?.undoes}\`, once more.`,
    );
  }
  const rows = rowsToRetry(folder);
  if (rows.length === 0)
    throw usageError(
      `No row of the run ${folder.run} failed or was left unknown: there is nothing to retry.${request.kind === 'reconcile' ? ' Orphans are taken up by the next run of the job.' : ''} Its reports in ${request.reportDir} say what is to be done about other rows.`,
    );
  const { match, resource } = request.job.job;
  const append = match.key.length === 0;
  if (isUnverifiable({ append, resource }) && rows.every(({ kind }) => kind !== 'failed'))
    throw earlier.refuse(
      `its rows are unknown and cannot be looked up (${rows.length}), so that nothing would be sent. Look in the service. Delete from the rejected file in ${request.reportDir} what is there; of what is not, empty the cell in _outcome, and import that file.`,
    );
  // Two runs that send the same rows would not find those of each other.
  if (append)
    throw earlier.refuse(
      `its rows have no key by which they would be found in the service. Go on with the run itself: rowferry runs resume ${folder.run}`,
    );
  const fileRequest = reuseFileOf(earlier, options);
  const retryRequest: ImportRequest = {
    ...fileRequest,
    lineage: { retries: folder.run },
    job: withoutBrakes(request.job),
    force: options.force ?? false,
    notes: [
      `A retry of the rows of the run ${folder.run} that failed or were left unknown (${rows.length}), and of no others.`,
    ],
    makeSource(path, own) {
      seedRetryStore(rows, own);
      return fileRequest.makeSource(path, own);
    },
  };
  return request.kind === 'reconcile' ? reconcileFile(retryRequest, context) : importFile(retryRequest, context);
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

/** Rows that ended `failed` or `unknown`, and those that were sent and have no outcome. Memory: what the store has of each. */
function rowsToRetry(folder: RunFolder): readonly StoredRow[] {
  return RunStore.query(folder.store, ({ rows }) => [...rows.rows(RETRY_ROWS, { before: true })].flat()) ?? [];
}

const RETRY_ROWS = `kind in ('failed', 'unknown') or (kind is null and op is not null)`;

/**
 * Puts the rows into the store of the retry. What the run may have done is open there as it was here: the request that it was
 * about to send, with the record as it was before, which is also what the row can be put back to.
 */
function seedRetryStore(rows: readonly StoredRow[], own: RunFolder): void {
  const store = new RunStore(own.store);
  store.rows.addRows(rows.map(({ row }) => row));
  for (const { row, kind, op, key, record, at = 0, before } of rows) {
    if (kind === 'failed' || op === undefined) continue;
    const intent = { row, op, key, at, ...(record === undefined ? {} : { id: record }) };
    store.rows.addIntents([intent], before === undefined ? [] : [{ row, line: before }]);
  }
  store.close();
}

interface ApproveOptions extends Omit<FollowUpOptions, 'force'> {
  /** Who approves, for the reports. */
  readonly by: string;
}

/**
 * Carries out the plan of a run that a brake stopped, or that was a rehearsal, and nothing else: a new run on the same private
 * copy of the file, in which a row that would now be written otherwise than planned is a `conflict`. Contract, sections 3, 5
 * and 8. Throws a `RunError` of kind `usage` for runs that have no such plan.
 */
export async function approveRun(runRef: string, options: ApproveOptions, context: RunContext): Promise<RunResult> {
  const { home } = context.settings;
  const earlier = await runToApprove(runRef, context.settings);
  const { folder, request } = earlier;
  const approved = folder.run;
  const run = options.run ?? (await freshRunId(home));
  const at = new Date().toISOString();
  await writeAtomically(approvalFile(folder), (write) => write(`${JSON.stringify({ run, by: options.by, at })}\n`));
  const execute = request.kind === 'reconcile' ? reconcileFile : importFile;
  return execute(
    {
      // Not forced: the person looked at the brakes on the plan; what trips while it is written was not looked at.
      ...reuseFileOf(earlier, { concurrency: request.concurrency, ...options, run }),
      lineage: { approves: { run: approved, by: options.by, at } },
      notes: [...(request.notes ?? []), `The plan of the run ${approved} was approved by ${options.by}.`],
    },
    context,
  );
}

/** The run with the plan that is to be carried out. Throws a `RunError` of kind `usage` where that cannot be. */
export async function runToApprove(runRef: string, settings: Settings): Promise<EarlierRun> {
  const found = await findEndedRun(runRef, 'approved', settings);
  const { folder, request, status, summary, refuse } = found;
  if (request.kind !== 'import' && request.kind !== 'reconcile') {
    throw refuse('only imports and reconciliations have a plan.');
  }
  const hasPlan = status === 'braked' || (request.dryRun && (status === 'succeeded' || status === 'partial'));
  if (!hasPlan)
    throw refuse(
      `it ended as ${status}. A run can be approved that a brake stopped, or that was a dry run or only reported, to its end.`,
    );
  assertNotPruned(folder);
  if (summary && status === 'braked' && brakeStop(summary) === 'refusals') {
    throw refuse('what the service refused stopped it while it was writing. Put that right, and run the file again.');
  }
  // It has its name only once it is whole.
  if (!existsSync(folder.plan)) {
    throw refuse('it stopped before all its rows were planned. Run the file again.');
  }
  await assertNotApproved(folder, settings.home, refuse);
  return found;
}

const approvalFile = (folder: RunFolder) => join(folder.dir, 'approved.json');

/** A plan is carried out once; where the service's refusals stopped that, it may be approved again. */
async function assertNotApproved(folder: RunFolder, home: string, refuse: (why: string) => RunError): Promise<void> {
  const text = await readFile(approvalFile(folder), 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const { run, by } = JSON.parse(text) as { run: string; by: string };
  const begun = readRequest(runFolder(home, run));
  if (!begun) return;
  const entry = await readRun(home, run);
  const { status } = entry;
  if (status === 'braked') return;
  const next = isResumable(entry) ? ` Go on with: rowferry runs resume ${run}` : '';
  throw refuse(`${by} approved it already; the run ${run} carried it out and is ${status}.${next}`);
}
