import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Claim, claimFolder, segment } from './claim.js';
import { createText, isFolder, makeFolders, placeText, textOf } from './disk.js';

/** A claim, as far as the ledger names it. */
export type ClaimId = Pick<Claim, 'job' | 'run'>;

/** Which claim has a content, and what became of it. */
const entrySchema = z.object({
  run: z.string(),
  /** Name of its file as it was dropped. */
  file: z.string(),
  state: z.enum(['running', 'finished', 'withdrawn']),
  /** When it was first about to run, ISO 8601. */
  at: z.string(),
});
export type LedgerEntry = z.output<typeof entrySchema>;

export type Ledger = ReturnType<typeof openLedger>;

/** Beside the entries, what is known of each claim: its entry, and where it ends. */
const recordSchema = z.object({ entry: z.string().optional(), folder: z.string().optional() });
type ClaimRecord = z.output<typeof recordSchema>;

/** An entry that is being written, on a share that knows no second names, is complete long before that. Milliseconds. */
const TORN_AFTER_MS = 60_000;

/**
 * What the drop folder remembers beyond the folders themselves: which content was run, or is being run, and where claims
 * have ended. All workers on the folder share it.
 *
 *     (none) → running     by the one claim that enters it
 *     running → finished   its claim ended and did its work: the content is not run again
 *     running → withdrawn  its claim ended otherwise: whoever enters the content next has it
 *     running, its claim's folder gone from `processing/`: nobody's, as withdrawn
 *
 * It lies as files in `<inbox>/.ledger/<job>/`: `<content>.<number>` an entry, `<run>.run` the record of a claim. Each
 * entry is made by one claim, which alone changes it; one that is nobody's is followed by the next number.
 */
export function openLedger(inbox: string) {
  const root = join(inbox, '.ledger');
  const recordPath = ({ job, run }: ClaimId): string => join(root, segment(job), `${segment(run)}.run`);

  async function recordOf(claim: ClaimId): Promise<ClaimRecord> {
    return parse(recordSchema, await textOf(recordPath(claim))) ?? {};
  }

  async function note(claim: ClaimId, what: ClaimRecord): Promise<void> {
    await makeFolders(join(root, segment(claim.job)));
    await placeText(recordPath(claim), JSON.stringify({ ...(await recordOf(claim)), ...what }));
  }

  /** Whether the claim that has an entry is still there, or this cannot be told yet. */
  async function isHeld(job: string, path: string, entry: LedgerEntry | undefined): Promise<boolean> {
    if (entry) return isFolder(claimFolder(inbox, { job, run: entry.run }));
    const info = await stat(path).catch(() => undefined);
    return info !== undefined && Math.abs(Date.now() - info.mtimeMs) < TORN_AFTER_MS;
  }

  return {
    /** Enters a content as being run by this claim. Returns the entry of another claim that has it; undefined where it is ours. */
    async enter(claim: Claim, content: string): Promise<LedgerEntry | undefined> {
      const { job, run, name } = claim;
      const own: LedgerEntry = { run, file: name, state: 'running', at: new Date().toISOString() };
      for (let number = 1; ; ) {
        const file = `${segment(content)}.${number}`;
        const path = join(root, segment(job), file);
        let text = await textOf(path);
        if (text === undefined) {
          // First, so that whoever ends this claim finds the entry, wherever a crash falls.
          await note(claim, { entry: file });
          if (await createText(path, JSON.stringify(own))) return undefined;
          text = await textOf(path);
        }
        const entry = parse(entrySchema, text);
        if (entry?.state !== 'withdrawn') {
          if (entry?.run === run) return undefined;
          const isTaken = entry?.state === 'finished' || (await isHeld(job, path, entry));
          if (isTaken) return entry ?? { ...own, run: '', file: '' };
        }
        // Its claim may have ended between the two looks: it says so here before its folder moves.
        if ((await textOf(path)) === text) number++;
      }
    },
    /** The claim has ended; `finished`: its content counts as run. To be said before its folder moves. */
    async settle(claim: ClaimId, finished: boolean): Promise<void> {
      const { entry: file } = await recordOf(claim);
      if (file === undefined) return;
      const path = join(root, segment(claim.job), segment(file));
      const entry = parse(entrySchema, await textOf(path));
      if (entry?.run !== claim.run || entry.state !== 'running') return;
      await placeText(path, JSON.stringify({ ...entry, state: finished ? 'finished' : 'withdrawn' }));
    },
    /** The claim is about to end in this folder, relative to the drop folder. */
    moving: (claim: ClaimId, folder: string): Promise<void> => note(claim, { folder }),
    /** The folder that was last said by `moving`; whether the claim got there, the folders tell. */
    movedTo: async (claim: ClaimId): Promise<string | undefined> => (await recordOf(claim)).folder,
    /** Forgets where claims have ended whose folders are gone. */
    async prune(): Promise<void> {
      for (const job of await readdir(root).catch((): string[] => [])) {
        for (const file of await readdir(join(root, job)).catch((): string[] => [])) {
          const run = /^(.+)\.run$/.exec(file)?.[1];
          if (run === undefined || (await isFolder(claimFolder(inbox, { job, run })))) continue;
          const { folder } = await recordOf({ job, run });
          if (folder === undefined || !(await isFolder(join(inbox, folder)))) await rm(join(root, job, file));
        }
      }
    },
  };
}

/** What is not there, or cannot be read, is none. */
function parse<T>(schema: z.ZodType<T>, text: string | undefined): T | undefined {
  try {
    return schema.parse(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}
