import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { copyPrivately } from '../../files/atomic-write.js';
import { usageError } from '../../model/error.js';
import { READ_AS, RunStore } from '../../store/run-store.js';
import { requireService, type Settings } from '../settings.js';
import { type RunOptions, resumeRefusal } from './core.js';
import { type RunFolder, runFolder } from './layout.js';
import { findRun, type RunEntry, readRun, readRunSummary, readStored } from './list.js';
import type { ImportRequest, StoredRequest } from './run.js';
import { queryStore, readAsOf } from './table.js';

/** What a run that takes up another one may be told. */
export interface FollowUpOptions extends Pick<RunOptions, 'run' | 'concurrency'> {
  readonly reportDir?: string | undefined;
  /** Writes also to a company that is archived. */
  readonly force?: boolean;
}

/** A run that another run is to be about. */
export type EarlierRun = Awaited<ReturnType<typeof findEndedRun>>;

/**
 * Finds a run at which no process works, begun against the service of the settings: `runRef` is its id, the beginning of it, or
 * `last`; `action`: what is to be done with it, after "cannot be". Throws a `RunError` of kind `usage` where there is none.
 */
export async function findEndedRun(
  runRef: string,
  action: string,
  settings: Settings,
  matches?: (run: RunEntry) => boolean,
) {
  const { home } = settings;
  const run = await findRun(home, runRef, matches);
  const folder = runFolder(home, run);
  /** That it cannot be done, and what to do instead. */
  const refuse = (why: string) => usageError(`The run ${run} cannot be ${action}: ${why}`);
  const request = readRequest(folder);
  if (!request) throw refuse('it ended before its file was taken over, and nothing was sent.');
  const why = resumeRefusal(request, requireService(settings).apiUrl);
  if (why !== undefined) throw refuse(why);
  const { status } = await readRun(home, run);
  if (status === 'running') throw refuse('a process is at work on it. Wait for it to end, or end it first.');
  // Of its reports, which lie where it was asked to put them; undefined where a later run has put its own.
  const summary = await readRunSummary(home, run);
  return { folder, request, status, summary, refuse };
}

/** Whether rows of a run failed or were left unknown, and no later one has taken them up. Asked of the latest run first. */
function hasRowsToRetry(): (run: RunEntry) => boolean {
  const retried = new Set<string>();
  return ({ run, manner, of_run: of, dry_run: dry, kind, outcomes }) => {
    if (manner === 'retry' && of !== undefined) retried.add(of);
    return !dry && kind !== 'undo' && !retried.has(run) && (outcomes?.failed ?? 0) + (outcomes?.unknown ?? 0) > 0;
  };
}

/** One that took rows into the service and has ended; one that only read or rehearsed, or was killed and not resumed, is refused. */
export async function findWrittenRun(
  runRef: string,
  command: 'undo' | 'retry',
  settings: Settings,
): Promise<EarlierRun> {
  const found = await (command === 'undo'
    ? findEndedRun(runRef, 'undone', settings)
    : findEndedRun(runRef, 'retried', settings, hasRowsToRetry()));
  const { folder, request, status, refuse } = found;
  const kind: string = request.kind;
  if (kind === 'export') throw refuse('it is an export, which writes nothing to the service.');
  if (request.dryRun) {
    throw refuse(`it was ${kind === 'reconcile' ? 'report-only' : 'a dry run'}, and nothing was sent.`);
  }
  if (status === 'unfinished') {
    throw refuse(
      `it ended without its reports. Finish it with \`rowferry runs resume ${folder.run}\`, then \`rowferry runs ${command} ${folder.run}\`.`,
    );
  }
  assertNotPruned(folder);
  return found;
}

/** What a run is asked to do that takes the file of another one, and its job, and reads it as that one did. */
export function reuseFileOf(
  { folder, request }: EarlierRun,
  { reportDir, concurrency, run }: FollowUpOptions,
): ImportRequest & Required<Pick<ImportRequest, 'kind' | 'makeSource'>> {
  return {
    kind: request.kind,
    file: request.file,
    job: request.job,
    jsonRows: request.jsonRows,
    corrections: request.corrections,
    company: request.company,
    dryRun: false,
    force: false,
    makeSource(path, own) {
      const readAs = queryStore(folder, readAsOf);
      const store = new RunStore(own.store);
      if (readAs) store.setValue(READ_AS, readAs);
      store.close();
      return copyPrivately(join(folder.dir, 'work', request.source), path);
    },
    reportDir,
    concurrency,
    run,
  };
}

/** What a run of rows was asked to do; undefined where it ended before it noted that. */
export const readRequest = (folder: RunFolder): StoredRequest | undefined => readStored<StoredRequest>(folder);

/** @throws RunError `usage` where of a run that has ended only the summary is left. */
export function assertNotPruned(folder: RunFolder): void {
  if (existsSync(folder.store) || !existsSync(join(folder.dir, 'summary.json'))) return;
  throw usageError(
    `Of the run ${folder.run} only the summary is left: its rows were removed by \`rowferry runs prune\` or ROWFERRY_KEEP_DAYS. It cannot be resumed, retried, undone or approved any more; to have its rows written, import the file again.`,
  );
}
