import { concludeExport } from './export/conclude.js';
import { planExport } from './export/plan.js';
import { readRecords } from './export/read.js';
import type { ExportRequest } from './export/request.js';
import { type ExportRun, openExport, reopenExport } from './export/run.js';
import { openDraft, writeRecords } from './export/write.js';
import { openConnection } from './rows/connect.js';
import type { RunResult } from './run/conclude.js';
import type { RunContext } from './run/context.js';

export type { ExportRequest } from './export/request.js';
export type { RunResult } from './run/conclude.js';

/**
 * Writes the records of a resource to a file: contract, section 3. Nothing is ever written to the service. Faults of the
 * run are thrown or in the summary.
 */
export async function exportRecords(request: ExportRequest, context: RunContext): Promise<RunResult> {
  return carryOut(await openExport(request, context));
}

/** Continues an export that was interrupted or killed: pages that were read are not asked for again. */
export async function resumeExport(run: string, context: RunContext): Promise<RunResult> {
  const reopened = await reopenExport(run, context);
  return 'finished' in reopened ? reopened.finished : carryOut(reopened);
}

/** The export from top to bottom. The target is the old file or the complete new one at every moment. */
async function carryOut(run: ExportRun): Promise<RunResult> {
  try {
    const connection = await openConnection(run, { verb: 'Exporting from', mayBeArchived: true });
    const plan = await planExport(run, connection);
    const draft = openDraft(run, connection, plan);
    const list = await readRecords(run, connection, plan, draft.begin);
    const written = (await draft.settle(list)) ?? (await writeRecords(run, connection, plan, list));
    return await concludeExport(run, { list, written });
  } catch (error) {
    return await concludeExport(run, { stopped: error as Error });
  }
}
