import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { removeUnfinished } from '../../files/safe-write.js';
import { EXIT } from '../../model/error.js';
import { noOutcomes } from '../../model/outcome.js';
import type { RequestCounts } from '../../service/port.js';
import type { RunResult } from '../run/conclude.js';
import type { Progress, RunContext } from '../run/context.js';
import type { RunFolder } from '../run/layout.js';
import { readRunSummary } from '../run/list.js';
import { LockHeld, takeLock } from '../run/lock.js';
import { beginRun, type Kept, keptRun, openShell, type Shell } from '../run/shell.js';
import type { ExportRequest, StoredExport } from './request.js';
import { checkTarget } from './target.js';
export interface ExportRun extends Shell<StoredExport> {
  progress(phase: Progress['phase'], done: number, total: number): void;
  /** Requests of earlier processes of this run, as far as they are on record. */
  readonly earlier: Readonly<RequestCounts>;
  /**
   * Whether nothing of it could be used by a later one: no record was read. A worker's run is never in vain, it may be
   * delivered again.
   */
  isVain(): boolean;
}

const NO_REQUESTS: RequestCounts = { total: 0, reads: 0, writes: 0, retries: 0 };

/** Begins an export; what cannot be written to is refused before anything is read. */
export async function openExport(request: ExportRequest, context: RunContext): Promise<ExportRun> {
  // A worker gives a run its id. It was told where it may write; what a link there leads to, it was not.
  const byHand = request.run === undefined && context.worker === undefined;
  const file = await checkTarget(request, { byHand });
  const { resource, columns, filter, order, editable, job } = request;
  return beginRun(
    request,
    context,
    async (common, folder): Promise<StoredExport> => ({
      ...common,
      kind: 'export',
      resource,
      file,
      ...(columns === undefined ? {} : { columns }),
      filter,
      ...(order === undefined ? {} : { order }),
      editable,
      job,
      reportDir: folder.dir,
    }),
    (kept) => begin(kept, context, { requests: NO_REQUESTS, vain: byHand }),
  );
}

/** Takes up an export that ended without finishing; of one that finished, how it ended. */
export async function reopenExport(
  wanted: string,
  context: RunContext,
): Promise<ExportRun | { readonly finished: RunResult }> {
  const kept = await keptRun<StoredExport>(wanted, context);
  const { folder, request } = kept;
  const summary = await readRunSummary(kept.settings.home, folder.run);
  if (summary && (summary.status === 'succeeded' || summary.status === 'partial')) {
    const exitCode = summary.status === 'succeeded' ? EXIT.ok : EXIT.needsPerson;
    await clearAway(folder);
    return { finished: { summary, exitCode, reportDir: request.reportDir } };
  }
  await forgetOld(folder);
  return begin(kept, context, { requests: summary?.requests ?? NO_REQUESTS, vain: false });
}

/** What a process could not remove any more that was killed right after its summary: what was read, and its lock. */
async function clearAway(folder: RunFolder): Promise<void> {
  try {
    const unlock = await takeLock(folder.lock, `The run ${folder.run}`);
    await removeUnfinished(folder.dir);
    await rm(join(folder.dir, 'work'), { recursive: true, force: true }).finally(unlock);
  } catch (error) {
    // That process lives, and clears away itself.
    if (!(error instanceof LockHeld)) throw error;
  }
}

/** What was read longer ago is read anew: people take a file for what the service holds now. */
const READING_HOLDS_MS = 3_600_000;

async function forgetOld({ records }: RunFolder): Promise<void> {
  const log = await stat(records).catch(() => undefined);
  if (log && Date.now() - log.mtimeMs > READING_HOLDS_MS) await rm(records, { force: true });
}

async function begin(
  kept: Kept<StoredExport>,
  context: RunContext,
  { requests, vain }: { readonly requests: Readonly<RequestCounts>; readonly vain: boolean },
): Promise<ExportRun> {
  const shell = await openShell(kept, context);
  let isVain = vain;
  return {
    ...shell,
    progress(phase, done, total) {
      isVain = false;
      shell.tell(done === total, () => ({ phase, done, total, outcomes: noOutcomes() }));
    },
    earlier: requests,
    isVain: () => isVain,
  };
}
