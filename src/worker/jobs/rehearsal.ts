import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { runFolder } from '../../runs/layout.js';
import type { Summary } from '../../runs/present.js';

/** The part of run.json that tells what the job does where nobody says otherwise. */
const stored = z.object({ job: z.object({ job: z.object({ apply: z.boolean() }) }) });

/**
 * Whether somebody asked for this run not to write, though its job does. A reconcile job that only reports does all its
 * work in report-only runs; they are no rehearsals.
 */
export async function isRehearsal(home: string, { run, kind, dry_run: dryRun }: Summary): Promise<boolean> {
  if (!dryRun || kind !== 'reconcile') return dryRun;
  const text = await readFile(runFolder(home, run).request, 'utf8').catch(() => undefined);
  // Our own file, complete or not there.
  const { data } = stored.safeParse(text === undefined ? undefined : JSON.parse(text));
  return data?.job.job.apply ?? false;
}
