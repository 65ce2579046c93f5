import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tableFormat } from '../files/table-write.js';
import { RunError, RunInterrupted } from '../model/error.js';
import { noOutcomes } from '../model/outcome.js';
import { writeSummary } from '../report/finish.js';
import type { RunStatus, Summary, SummaryTarget } from '../report/summary.js';
import { reached } from '../trace/milestones.js';
import { planExport, type Records, readRecords } from './export/read.js';
import { type ExportRequest, type ExportRun, openExport, reopenExport } from './export/run.js';
import { openDraft, writeRecords } from './export/write.js';
import { exitCode, keepSummary, type RunResult, reasonOf, saveAsLastRun, summaryHead } from './run/conclude.js';
import { type RunContext, STOPPED } from './run/context.js';
import { closeAll } from './run/core.js';
import { openConnection } from './run/open-service.js';

export { parseFilter } from '../export/filter.js';
export type { ExportRequest } from './export/run.js';
export type { RunResult } from './run/conclude.js';

/**
 * Writes the records of a resource to a file: contract, section 3. Nothing is ever written to the service. Faults of the
 * run are thrown or in the summary.
 */
export async function exportRecords(request: ExportRequest, context: RunContext): Promise<RunResult> {
  return execute(await openExport(request, context));
}

/** Continues an export that was interrupted or killed: pages that were read are not asked for again. */
export async function resumeExport(run: string, context: RunContext): Promise<RunResult> {
  const reopened = await reopenExport(run, context);
  return 'finished' in reopened ? reopened.finished : execute(reopened);
}

/** The export from top to bottom. The target is the old file or the complete new one at every moment. */
async function execute(run: ExportRun): Promise<RunResult> {
  try {
    const connection = await openConnection(run, { verb: 'Exporting from', mayBeArchived: true });
    const plan = await planExport(run, connection);
    const draft = openDraft(plan);
    const list = await readRecords(plan, draft.begin);
    const written = (await draft.finish(list)) ?? (await writeRecords(plan, list));
    return await concludeExport(run, { list, written });
  } catch (error) {
    return await concludeExport(run, { stopped: error as Error });
  }
}
export type ExportEnd =
  | { readonly list: Records; readonly written: SummaryTarget & { readonly rows: number } }
  | { readonly stopped: Error };

/** Writes the summary and ends the run: `summary.json` is the last that appears. */
async function concludeExport(run: ExportRun, end: ExportEnd): Promise<RunResult> {
  let finished = false;
  try {
    const stopped = 'stopped' in end ? end.stopped : undefined;
    const status = statusOf(run, end);
    if (stopped instanceof RunError && status === 'failed' && stopped.kind === 'usage') {
      // What was asked for cannot be done: there is nothing to be continued.
      await rm(run.folder.dir, { recursive: true, force: true });
      throw stopped;
    }
    // In a worker it is taken up again at once, here or elsewhere.
    if (status === 'interrupted' && run.worker && run.signal.reason !== STOPPED) throw new RunInterrupted();
    const reason = stopped && status === 'failed' ? reasonOf(stopped) : undefined;
    const summary = summaryOf(run, end, status, reason);
    await writeSummary(run.request.reportDir, summary);
    reached('reports-written');
    await keepSummary(run, summary);
    finished = status === 'succeeded' || status === 'partial';
    // Without a job file the name is the resource's, which may be the name of another job.
    const { job } = run.request;
    if (status === 'succeeded' && 'path' in job) saveAsLastRun(run, job, summary.records ?? 0);
    const error = stopped instanceof RunError && status === 'failed' ? { error: stopped } : {};
    return { summary, exitCode: exitCode(status, run), reportDir: run.request.reportDir, ...error };
  } finally {
    await closeAll(run);
    // All of it can be read again, and the file holds it.
    if (finished) await rm(join(run.folder.dir, 'work'), { recursive: true, force: true });
  }
}

function summaryOf(run: ExportRun, end: ExportEnd, status: RunStatus, reason: string | undefined): Summary {
  const { request } = run;
  return {
    ...summaryHead(run, run.earlier),
    job: request.job.name,
    resource: request.resource,
    dry_run: false,
    status,
    ...(reason === undefined ? {} : { reason }),
    source: null,
    ...('written' in end ? targetFacts(end) : { target: { path: request.file, ...tableFormat(request.file) } }),
    rows: { ...noOutcomes(), total: 0 },
    top_faults: [],
    reports: ['summary.json'],
  };
}

function targetFacts({ list, written }: Extract<ExportEnd, { list: Records }>) {
  const { rows, ...target } = written;
  return { target, records: rows, passes: list.passes, consistency: list.consistency };
}

function statusOf(run: ExportRun, end: ExportEnd): RunStatus {
  if ('written' in end) return end.list.consistency === 'partial' && !end.list.neverComplete ? 'partial' : 'succeeded';
  return run.signal.aborted ? 'interrupted' : 'failed';
}
