import { resumeExport } from './export.js';
import { resumeImport } from './import.js';
import { resumeReconcile } from './reconcile.js';
import type { RunResult } from './run/conclude.js';
import type { RunContext } from './run/context.js';
import { assertNotPruned, readRequest } from './run/earlier-run.js';
import { runFolder } from './run/layout.js';
import { findRun } from './run/list.js';
import { resumeUndo } from './undo.js';

/**
 * Continues a run that was interrupted or killed, whatever its kind: `run` is its id, the beginning of it, or `last`.
 * Throws `RunError` where there is no such run, or it was begun against another service.
 */
export async function resumeRun(run: string, context: RunContext): Promise<RunResult> {
  const id = await findRun(context.settings.home, run);
  const folder = runFolder(context.settings.home, id);
  // Of one that was killed before it noted its request whoever takes it up says so.
  const kind: string | undefined = (await readRequest(folder))?.kind;
  if (kind !== 'export') await assertNotPruned(folder);
  switch (kind) {
    case 'export':
      return resumeExport(id, context);
    case 'reconcile':
      return resumeReconcile(id, context);
    case 'undo':
      return resumeUndo(id, context);
    default:
      return resumeImport(id, context);
  }
}
