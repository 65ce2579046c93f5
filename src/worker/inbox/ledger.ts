import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { LockHeld, takeLock } from '../../runs/lock.js';
import { type Claim, claimFolder, segment } from './claim.js';
import { createText, isFolder, makeFolders, placeText, textOf } from './disk.js';

/**
 * Which content was run, or is being run: one file a content in `<inbox>/.ledger/<job>/`. Beside them lie the names of the
 * folders in which runs have ended (`endClaim`).
 *
 *   (none) → running: by whoever makes the file    running → finished: its claim ended so
 *   running → (none): its claim ended otherwise, or its folder is gone from `processing/`
 *
 * An entry is settled before its claim's folder moves: a running one without a folder is nobody's.
 */
const ledgerEntry = z.object({
  v: z.literal(1),
  run: z.string(),
  /** Name of the file as it was dropped. */
  file: z.string(),
  state: z.enum(['running', 'finished']),
  /** When the claim was first about to run, ISO 8601. */
  at: z.string(),
});
export type LedgerEntry = z.output<typeof ledgerEntry>;

/** One that is being written, on a share that knows no second names, is complete long before that. Milliseconds. */
const TORN_AFTER_MS = 60_000;
/** While another one removes an entry, it is looked at again so soon. */
const AGAIN_MS = 5;

/** Enters a content as being run by this claim. Returns the entry of another claim that has it; undefined where it is ours. */
export async function enter(dir: string, claim: Claim, key: string): Promise<LedgerEntry | undefined> {
  const path = pathOf(dir, claim.job, key);
  await makeFolders(join(dir, '.ledger', segment(claim.job)));
  const own: LedgerEntry = { v: 1, run: claim.run, file: claim.name, state: 'running', at: new Date().toISOString() };
  for (let attempt = 0; attempt < 20; attempt++) {
    if (await createText(path, JSON.stringify(own))) return undefined;
    const text = await textOf(path);
    if (text === undefined) continue;
    const entry = parse(text);
    if (entry?.run === claim.run) return undefined;
    if (entry ? entry.state === 'finished' || (await underWay(dir, claim.job, entry)) : await isFresh(path)) {
      return entry ?? { ...own, run: '', file: '' };
    }
    // It may have ended between the two looks.
    await removeStale(path, text);
  }
  // Others come and go with the same content: one of them has it.
  return parse((await textOf(path)) ?? '') ?? { ...own, run: '', file: '' };
}

/** The claim's content counts as run from now on. */
export async function noteFinished(dir: string, claim: Claim, key: string): Promise<void> {
  const path = pathOf(dir, claim.job, key);
  const text = await textOf(path);
  const entry = text === undefined ? undefined : parse(text);
  const own: LedgerEntry = { v: 1, run: claim.run, file: claim.name, state: 'finished', at: new Date().toISOString() };
  if (text === undefined) {
    await makeFolders(join(dir, '.ledger', segment(claim.job)));
    await createText(path, JSON.stringify(own));
  } else if (entry?.run === claim.run && entry.state === 'running') {
    await placeText(path, JSON.stringify({ ...entry, state: 'finished' }));
  }
}

/** The claim ended without having done its work: its content may be run again. */
export async function withdraw(dir: string, claim: Claim, key: string): Promise<void> {
  const path = pathOf(dir, claim.job, key);
  const entry = parse((await textOf(path)) ?? '');
  if (entry?.run === claim.run && entry.state === 'running') await rm(path, { force: true });
}

function pathOf(dir: string, job: string, key: string): string {
  return join(dir, '.ledger', segment(job), segment(key));
}

function underWay(dir: string, job: string, entry: LedgerEntry): Promise<boolean> {
  return isFolder(claimFolder(dir, { job, run: entry.run }));
}

function parse(text: string): LedgerEntry | undefined {
  try {
    return ledgerEntry.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

async function isFresh(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => undefined);
  return info !== undefined && Math.abs(Date.now() - info.mtimeMs) < TORN_AFTER_MS;
}

/**
 * One at a time removes what was judged stale: between the look and the removal another one may have removed it, and a third
 * entered itself. Where another is at it, it is looked again at what it left.
 */
async function removeStale(path: string, text: string): Promise<void> {
  const release = await takeLock(`${path}.lock`, `The entry ${path}`).catch((error: unknown) => {
    if (error instanceof LockHeld) return undefined;
    throw error;
  });
  if (!release) return pause(AGAIN_MS);
  try {
    if ((await textOf(path)) === text) await rm(path, { force: true });
  } finally {
    await release();
  }
}
