import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeSafely } from '../files/safe-write.js';
import type { Night } from '../model/reconcile.js';
import { LockHeld, takeLock } from './lock.js';

/** What the folder of a job's nights holds. */

/** One line of nights.ndjson: a run that ended. `headings` of the run alone that the next one is compared with. */
export interface Line {
  readonly service: string;
  readonly sha256: string;
  readonly headings?: readonly string[];
  readonly night: Night;
  /** The run whose plan it carried out, and whose file it took. */
  readonly approves?: string;
  /** Brakes tripped, and somebody let it pass. */
  readonly overridden?: boolean;
}

export const HISTORY = 90;
export const APPLIED = 30;

/** `job`: `jobKey` of the job. */
export function nightsDir({ home, job, company }: { home: string; job: string; company: number }): string {
  return join(home, 'reconcile', `${job}-${company}`);
}

/** All lines in the order in which the runs began: one may have been interrupted, and end after a later one. */
export async function readLines(dir: string): Promise<Line[]> {
  const text = await readFile(join(dir, 'nights.ndjson'), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  const lines = text.split('\n').flatMap((line) => {
    try {
      const value = JSON.parse(line) as Partial<Line> | null;
      return typeof value?.night?.run === 'string' && typeof value.service === 'string' ? [value as Line] : [];
    } catch {
      return [];
    }
  });
  return inOrder(lines);
}

/** Of all services; what no later night needs is left out. */
export async function writeLines(dir: string, lines: readonly Line[]): Promise<void> {
  await writeSafely(join(dir, 'nights.ndjson'), (write) =>
    write(
      keep(inOrder(lines))
        .map((one) => `${JSON.stringify(one)}\n`)
        .join(''),
    ),
  );
}

const inOrder = (lines: readonly Line[]): Line[] =>
  [...lines].sort(({ night: { run: a } }, { night: { run: b } }) => (a < b ? -1 : a > b ? 1 : 0));

/** It came to its end, whatever became of single rows. */
export const isFinished = ({ status }: Pick<Night, 'status'>): boolean =>
  status === 'succeeded' || status === 'partial';

/** Whether a run wrote, or found nothing to write; one that was stopped at it counts as well. */
export const isApplied = ({ night }: Line): boolean => night.apply && (isFinished(night) || night.writes > 0);

/**
 * Whose file a run took, as a place in the order of runs. An approved run took the file of the run that was approved, however
 * long that was ago.
 */
export const fileOf = ({ run, approves }: { readonly run: string; readonly approves?: string | undefined }): string =>
  approves ?? run;

/**
 * The run that the next one is compared with: of those that finished, the one with the newest file. A look with `--force` at
 * a file that brakes would stop is no measure.
 */
export function baseline(lines: readonly Line[]): Line | undefined {
  const fit = lines.filter(({ night, overridden }) => isFinished(night) && (night.apply || !overridden));
  const placeOf = ({ night, approves }: Line) => fileOf({ run: night.run, approves });
  return fit.reduce<Line | undefined>((best, line) => (best && placeOf(best) > placeOf(line) ? best : line), undefined);
}

/** What the next night needs, of each service: a run of another one takes nothing away. */
function keep(lines: readonly Line[]): Line[] {
  const needed = new Set<Line>();
  const last = new Set<Line>();
  for (const service of new Set(lines.map((line) => line.service))) {
    const own = lines.filter((line) => line.service === service);
    const measure = baseline(own);
    if (measure) last.add(measure);
    for (const line of [...own.slice(-HISTORY), ...own.filter(isApplied).slice(-APPLIED), ...last]) needed.add(line);
  }
  return lines
    .filter((line) => needed.has(line))
    .map((line) => {
      const { headings: _, ...rest } = line;
      return last.has(line) ? line : rest;
    });
}

const WAIT_MS = 30_000;

/** Does something while no other run writes what is kept here; waits for one that does. Throws `LockHeld` after half a minute. */
export async function alone<T>(dir: string, work: () => Promise<T>): Promise<T> {
  const release = await waitForLock(dir, Date.now() + WAIT_MS);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function waitForLock(dir: string, until: number): Promise<() => Promise<void>> {
  for (;;) {
    try {
      return await takeLock(join(dir, 'lock'), `What earlier runs of the job left in ${dir}`);
    } catch (error) {
      if (!(error instanceof LockHeld) || Date.now() > until) throw error;
    }
    await pause(20 + Math.random() * 80);
  }
}
