import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeSafely } from '../files/safe-write.js';
import type { RunError } from '../model/error.js';
import { brakeStop } from '../report/summary.js';
import { importFile } from './import.js';
import { reconcileFile } from './reconcile.js';
import type { RunResult } from './run/conclude.js';
import type { RunContext } from './run/context.js';
import {
  type AgainOptions,
  assertNotPruned,
  type EarlierRun,
  readRequest,
  runAtRest,
  withFileOf,
} from './run/earlier-run.js';
import { type RunFolder, runFolder } from './run/layout.js';
import { freshRunId, isOpen, readRun } from './run/list.js';
import type { Settings } from './settings.js';

export interface ApproveOptions extends Omit<AgainOptions, 'force'> {
  /** Who approves, for the reports. */
  readonly by: string;
}

/**
 * Carries out exactly the plan of a run that a brake stopped, or that was a rehearsal, or nothing: a new run on the same
 * private copy of the file, which plans anew and ends `braked` where any row would now be written otherwise. Contract,
 * sections 3 and 8. Throws a `RunError` of kind `usage` for runs that have no such plan.
 */
export async function approveRun(wanted: string, options: ApproveOptions, context: RunContext): Promise<RunResult> {
  const { home } = context.settings;
  const earlier = await runToApprove(wanted, context.settings);
  const { folder, request } = earlier;
  const approved = folder.run;
  const run = options.run ?? (await freshRunId(home));
  const at = new Date().toISOString();
  await writeSafely(markerOf(folder), (write) => write(`${JSON.stringify({ run, by: options.by, at })}\n`));
  const carryOut = request.kind === 'reconcile' ? reconcileFile : importFile;
  return carryOut(
    {
      // Not forced: the person looked at the brakes on the plan; what trips while it is written was not looked at.
      ...withFileOf(earlier, { concurrency: request.concurrency, ...options, run }),
      lineage: { approves: { run: approved, by: options.by, at } },
      notes: [...(request.notes ?? []), `The plan of the run ${approved} was approved by ${options.by}.`],
    },
    context,
  );
}

/** The run with the plan that is to be carried out. Throws a `RunError` of kind `usage` where that cannot be. */
export async function runToApprove(wanted: string, settings: Settings): Promise<EarlierRun> {
  const found = await runAtRest(wanted, 'approved', settings);
  const { folder, request, status, summary, refuse } = found;
  if (request.kind !== 'import' && request.kind !== 'reconcile') {
    throw refuse('only imports and reconciliations have a plan.');
  }
  const planned = status === 'braked' || (request.dryRun && (status === 'succeeded' || status === 'partial'));
  if (!planned)
    throw refuse(
      `it ended as ${status}. A run can be approved that a brake stopped, or that was a dry run or only reported, to its end.`,
    );
  if (request.lineage?.approves) {
    throw refuse(
      'it was itself to carry out an approved plan, and the records had changed. Run the file again and look at the new plan.',
    );
  }
  assertNotPruned(folder);
  if (summary && status === 'braked' && brakeStop(summary) === 'refusals') {
    throw refuse('what the service refused stopped it while it was writing. Put that right, and run the file again.');
  }
  // It has its name only once it is whole.
  if (!existsSync(folder.plan)) {
    throw refuse('it stopped before all its rows were planned. Run the file again.');
  }
  await assertNotYet(folder, settings.home, refuse);
  return found;
}

const markerOf = (folder: RunFolder) => join(folder.dir, 'approved.json');

/** A plan is carried out once; an approval that came to nothing may be given again. */
async function assertNotYet(folder: RunFolder, home: string, refuse: (why: string) => RunError): Promise<void> {
  const text = await readFile(markerOf(folder), 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const { run, by } = JSON.parse(text) as { run: string; by: string };
  const begun = readRequest(runFolder(home, run));
  if (!begun) return;
  const entry = await readRun(home, run);
  const { status } = entry;
  if (status === 'braked') return;
  const next = isOpen(entry) ? ` Go on with: rowferry runs resume ${run}` : '';
  throw refuse(`${by} approved it already; the run ${run} carried it out and is ${status}.${next}`);
}
