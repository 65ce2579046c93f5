import { rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { reached } from '../../trace/milestones.js';
import { type Claim, droppedName, shown } from './claim.js';
import { createClaimNote, readClaimNote } from './claim-note.js';
import { claimFolders, dataFileIn } from './claims.js';
import { lookAtEntry, type Mark, openPlain, reasonOf, sameMark } from './disk.js';
import { endClaim } from './end.js';
import type { Jobs } from './jobs.js';
import { openForWriting } from './open-files.js';
import type { InboxOptions } from './port.js';
import { refusalOf } from './refusal.js';
import type { Troubles } from './trouble.js';

/**
 * Claims between the rename and the offer. Whoever had the file open goes on writing into it where it lies now, so it is
 * looked at again until it rests.
 *
 *   taken → resting → noted → offered        taken → refused (to `failed/`)
 *
 * The note is made by one process only; a claim without it, whose process is gone, is adopted by another one.
 */
export interface Settling {
  /** `mark`: the file as it was seen before it was taken. `quick`: its marker said that it is complete. */
  add(claim: Claim, mark: Mark, quick: boolean): void;
  /** Finds claims that nobody settles any more, and removes folders that were left empty. */
  adopt(): Promise<void>;
  step(jobs: Jobs): Promise<void>;
  /** Claims that are not offered yet. */
  readonly count: number;
}

interface Taken {
  readonly claim: Claim;
  mark: Mark | undefined;
  since: number;
  /** For how long it must rest from `since` on. */
  restMs: number;
}

/** An empty folder is between its making and the rename, for the blink of an eye. */
const EMPTY_AFTER_MS = 60_000;
/** Most claims of other processes that are looked after at a time. */
const MOST_ADOPTED = 200;

export function openSettling(
  options: Pick<InboxOptions, 'dir' | 'offer' | 'log'> & { quietMs: number; troubles: Troubles },
): Settling {
  const { dir, offer, log, quietMs, troubles } = options;
  const takens = new Map<string, Taken>();
  const offering = new Set<string>();
  let empties = new Map<string, number>();

  async function adopt(): Promise<void> {
    const now = performance.now();
    const stillEmpty = new Map<string, number>();
    for (const { job, run, folder } of await claimFolders(dir)) {
      if (takens.has(folder) || takens.size >= MOST_ADOPTED) continue;
      try {
        if ((await readClaimNote(folder)) !== undefined) continue;
        const file = await dataFileIn(folder);
        if (file !== undefined) {
          const claim = { job, run, dir: folder, file: join(folder, file), name: droppedName(file) };
          takens.set(folder, { claim, mark: undefined, since: now, restMs: quietMs });
          continue;
        }
        const since = empties.get(folder) ?? now;
        if (now - since < EMPTY_AFTER_MS) stillEmpty.set(folder, since);
        else await rmdir(folder);
      } catch (error) {
        // Ended by another process, not empty, or not ours to touch: the next look tells.
        log.debug({ folder, err: error }, 'inbox.adopt');
      }
    }
    empties = stillEmpty;
  }

  async function step(jobs: Jobs): Promise<void> {
    const resting: Taken[] = [];
    await Promise.all(
      [...takens.values()].map(async (taken) => {
        const done = await attempt(taken, () => look(taken, jobs));
        if (done === 'resting') resting.push(taken);
      }),
    );
    const files = resting.flatMap(({ claim, mark, restMs }) =>
      mark && restMs > 0 ? [{ info: mark, name: basename(claim.file) }] : [],
    );
    const writers = await openForWriting(files);
    for (const taken of resting) {
      if (taken.restMs > 0 && taken.mark && writers.has(taken.mark.ino)) continue;
      await attempt(taken, () => settle(taken));
    }
  }

  /** A fault leaves the claim for the next step. */
  async function attempt<T>(taken: Taken, work: () => Promise<T>): Promise<T | undefined> {
    const key = `settle:${taken.claim.dir}`;
    try {
      const result = await work();
      if (!takens.has(taken.claim.dir)) troubles.over(key);
      return result;
    } catch (error) {
      const why = error instanceof Error && error.name === 'RunError' ? error.message : `${reasonOf(error)}.`;
      troubles.tell(key, `The file ${shown(taken.claim.file)} was taken and cannot go on: ${why} It is tried again.`);
      return undefined;
    }
  }

  async function look(taken: Taken, jobs: Jobs): Promise<'resting' | undefined> {
    const { claim } = taken;
    const info = await lookAtEntry(claim.file);
    if (!info) {
      takens.delete(claim.dir);
      await rmdir(claim.dir).catch(() => undefined);
      return undefined;
    }
    if (jobs.fault !== undefined) return undefined;
    const refusal = refusalOf(claim, info, jobs);
    if (refusal !== undefined) {
      await refuse(claim, refusal);
      return undefined;
    }
    const mark = await freshMark(claim.file).catch(() => info);
    if (!sameMark(taken.mark, mark)) {
      const { ino, size, mtimeNs } = mark;
      Object.assign(taken, { mark: { ino, size, mtimeNs }, since: performance.now(), restMs: quietMs });
    }
    return performance.now() - taken.since >= taken.restMs ? 'resting' : undefined;
  }

  async function refuse(claim: Claim, text: string): Promise<void> {
    const folder = await endClaim(dir, claim, {
      place: 'failed',
      result: 'refused',
      finished: false,
      note: { name: 'ERROR.txt', text },
    });
    takens.delete(claim.dir);
    log.warn({ job: claim.job, run: claim.run, file: claim.name, folder }, `Refused: ${text.split('\n')[2] ?? text}`);
  }

  async function settle(taken: Taken): Promise<void> {
    const { claim } = taken;
    const mine = await createClaimNote(claim.dir, { v: 1, name: claim.name, file: basename(claim.file) });
    takens.delete(claim.dir);
    if (!mine) return;
    reached('claim-noted');
    offering.add(claim.dir);
    // Not waited for: the queue may be away for long.
    void Promise.resolve()
      .then(() => offer(claim))
      .catch((error: unknown) => log.warn({ job: claim.job, run: claim.run, err: error }, 'inbox.not_offered'))
      .finally(() => offering.delete(claim.dir));
  }

  return {
    add(claim, { ino, size, mtimeNs }, quick) {
      const restMs = quick ? 0 : quietMs / 4;
      takens.set(claim.dir, { claim, mark: { ino, size, mtimeNs }, since: performance.now(), restMs });
    },
    adopt,
    step,
    get count() {
      return takens.size + offering.size;
    },
  };
}

/** A share may answer from memory until the file is opened. */
async function freshMark(path: string): Promise<Mark> {
  const handle = await openPlain(path);
  try {
    return await handle.stat({ bigint: true });
  } finally {
    await handle.close();
  }
}
