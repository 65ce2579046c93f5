import { needsWholePlan, trippedByPlan } from '../pipeline/plan/brakes.js';
import { openAppendGuard } from './rows/append-guard.js';
import { takeWriteLock } from './rows/connection.js';
import { matchRows } from './rows/match.js';
import { headingsOf } from './rows/outcomes.js';
import { assertNotRejected, loadGivenPlan, passBrakes, planRows } from './rows/plan.js';
import { openReferences } from './rows/references.js';
import { resolveRows, stageRows } from './rows/stage.js';
import { writeRows } from './rows/write.js';
import { conclude, isFinished, type RunResult } from './run/conclude.js';
import type { RunContext } from './run/context.js';
import { jobKey } from './run/layout.js';
import { lastRows } from './run/list.js';
import { type ImportRequest, openRun, type Run } from './run/run.js';

export type { RunResult } from './run/conclude.js';

/** Imports a file: contract, sections 5 to 8. Faults of rows are in the reports; faults of the run are thrown or in the summary. */
export async function importFile(request: ImportRequest, context: RunContext): Promise<RunResult> {
  return executeImport(await openRun(request, context));
}

/**
 * The import from top to bottom. Every step leaves its result in the run's folder, and a run that was killed
 * goes through the same steps again: rows that have an outcome are left alone, open ones are looked up.
 */
export async function executeImport(run: Run): Promise<RunResult> {
  if (isFinished(run)) return conclude(run, undefined);
  let stopped: Error | undefined;
  let appended: Awaited<ReturnType<typeof openAppendGuard>>;
  let headings: ReturnType<typeof headingsOf> = {};
  try {
    appended = await openAppendGuard(run);
    await appended?.assertNew();
    const staged = await stageRows(run);
    headings = headingsOf(run, staged.mapping);
    await takeWriteLock(run, staged);
    const references = openReferences(run, staged);
    const lookUp = async () => matchRows(run, await resolveRows(run, staged, references));
    if (run.past.passed) await references?.create(executeImport);
    let matched = await lookUp();
    run.planned = await loadGivenPlan(run);
    if (!run.past.passed) {
      const wholePlan = run.request.dryRun || references?.isOpen || needsWholePlan(run.job.brakes, matched.counts);
      const counts = wholePlan ? await planRows(run, matched, references?.see) : { ...matched.counts };
      if (references) {
        counts.named = references.planned;
        references.keep();
      }
      const tripped = trippedByPlan(
        run.job.brakes,
        counts,
        lastRows(run.settings.home, jobKey(run.request.job, run.settings.home), run.request.company),
        { corrected: run.corrected },
      );
      await passBrakes(run, matched, { tripped });
    }
    if (!run.request.dryRun) {
      assertNotRejected(run);
      await appended?.claim();
      if (await references?.create(executeImport)) {
        matched.releaseKeys?.();
        matched = await lookUp();
      }
    }
    matched.releaseKeys?.();
    if (!run.request.dryRun) await writeRows(run, matched);
  } catch (error) {
    stopped = error as Error;
  }
  // Where it cannot be settled, the file counts as taken.
  await appended?.releaseUnused().catch(() => undefined);
  return conclude(run, stopped, { columnOf: (name) => headings[name] });
}
