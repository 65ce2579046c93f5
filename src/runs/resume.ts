import { resumeExport } from './export.js';
import { carryOutImport } from './import.js';
import { carryOutReconcile } from './reconcile.js';
import type { RunResult } from './run/conclude.js';
import type { RunContext } from './run/context.js';
import { assertNotPruned, readRequest } from './run/earlier-run.js';
import { runFolder } from './run/layout.js';
import { findRun, isOpen } from './run/list.js';
import { reopenRun } from './run/run.js';
import { carryOutUndo } from './undo.js';

/**
 * Continues a run that was interrupted or killed, whatever its kind: `wanted` is its id, the beginning of it, or `last`: the latest that
 * is not at its end.
 * Throws `RunError` where there is no such run, or it was begun against another service.
 */
export async function resumeRun(wanted: string, context: RunContext): Promise<RunResult> {
  const id = await findRun(context.settings.home, wanted, isOpen);
  const folder = runFolder(context.settings.home, id);
  // Of one that was killed before it noted its request whoever takes it up says so.
  const kind: string | undefined = readRequest(folder)?.kind;
  if (kind !== 'export') assertNotPruned(folder);
  if (kind === 'export') return resumeExport(id, context);
  const run = await reopenRun(id, context);
  if (kind === 'reconcile') return carryOutReconcile(run);
  return kind === 'undo' ? carryOutUndo(run) : carryOutImport(run);
}
