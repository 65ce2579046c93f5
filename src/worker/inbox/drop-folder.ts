import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { z } from 'zod';
import { visible } from '../../model/control-characters.js';
import { diskErrorText, runFailure } from '../../model/error.js';
import type { LoadedJob } from '../../runs/job-file.js';
import { changedAt, diskUsage, type Pruned, type PruneOptions, pruneCutoff, pruneRuns } from '../../runs/prune.js';
import { runFolder } from '../../runs/run/layout.js';
import { isRunId, readSummary } from '../../runs/run/list.js';
import { isReportName } from '../../runs/run/present.js';
import { reached } from '../../trace/milestones.js';
import { tickets } from '../jobs/home.js';
import { parseAs } from '../store/shared.js';
import {
  type Claim,
  claimFolder,
  dataFileIn,
  displayName,
  ENDED_FOLDER,
  endedPrefix,
  isNamedAfter,
  RESERVED_FOLDERS,
  RESULT_SUFFIX,
  runsBefore,
  safeSegment,
} from './claim.js';
import { isFolder, makeFolders, makeFolderWith, moveFolder, openPlain, readIfExists, replaceText } from './disk.js';

/** The run that had the same content first. */
export type FirstRun = Pick<LedgerEntry, 'run' | 'file' | 'at'>;

type ContentCheck = { readonly verdict: 'run' } | { readonly verdict: 'repeated' | 'wait'; readonly first: FirstRun };

export interface ClaimEnd {
  readonly place: 'done' | 'failed';
  /** What became of it, in a few words: the end of the folder's name. */
  readonly result: string;
  /** Then the content counts as run, and is not run again. */
  readonly finished: boolean;
  /** Names no path of this machine by the time it lies there. */
  readonly note?: { readonly name: 'ERROR.txt' | 'NOTE.txt'; readonly text: string };
}

/** The drop folder, as the runs of its claims need it. */
export class DropFolder {
  readonly ledger: Ledger;
  readonly #hidden: readonly string[];

  /** `roots`: folders that people at the drop folder know nothing of. */
  constructor(
    readonly dir: string,
    roots: readonly string[] = [],
  ) {
    this.ledger = openLedger(dir);
    this.#hidden = [dir, ...roots].sort((a, b) => b.length - a.length).map((root) => join(root, '/'));
  }

  /**
   * Before a claim is run: `run` (also where this very claim had begun before, and for jobs that repeat), `repeated` where its
   * content was run to the end with the same job and company, `wait` while another claim with that content is being run: ask
   * again in a while.
   * @throws RunError `failed` where the file cannot be read or is none, or the ledger cannot be written.
   */
  async check(claim: Claim, { sha256, job }: LoadedJob, company: number): Promise<ContentCheck> {
    const content = await contentHash(claim);
    if (job.kind === 'reconcile' || job.repeat) return { verdict: 'run' };
    const purpose = createHash('sha256').update(`${sha256}\0${company}`).digest('hex').slice(0, 16);
    try {
      const first = await this.ledger.enter(claim, `${content}-${purpose}`);
      if (!first) return { verdict: 'run' };
      return { verdict: first.state === 'finished' ? 'repeated' : 'wait', first };
    } catch (error) {
      throw runFailure(
        `Whether "${displayName(claim.name)}" was imported before cannot be found out: in the drop folder ${this.dir}, ${diskErrorText(error)}. ` +
          'Put that right and drop the file again.',
        [],
        { cause: error },
      );
    }
  }

  /**
   * Claims of the same job that came before, oldest first, and may have ended. None for a claim whose content is entered: its
   * run goes on, and one of those before it may wait for that.
   */
  async claimsBefore(claim: ClaimId): Promise<ClaimId[]> {
    if (await this.ledger.isEntered(claim)) return [];
    return (await runsBefore(this.dir, claim)).map((run) => ({ job: claim.job, run }));
  }

  /** Whether there is nothing left to do for a claim than to move its folder. */
  async isOver(claim: ClaimId): Promise<boolean> {
    const hasFile = (await dataFileIn(claimFolder(this.dir, claim))) !== undefined;
    return !hasFile || (await this.ledger.movedTo(claim)) !== undefined;
  }

  /**
   * Ends a claim: the folder moves as a whole to `<dir>/<place>/<job>/`, under a name that people can read. May be called again
   * after a crash, or for a claim that has ended; one that ended elsewhere stays there. Returns the folder in which things lie now.
   *
   *   note written → ledger settled → place said to the ledger → folder moved → note where it was dropped
   *
   * Every step may be done again.
   *
   * @throws RunError `failed` where the folder cannot be moved; it is still in `processing/`.
   */
  async end(claim: Claim, { place, result, finished, note }: ClaimEnd): Promise<string> {
    const from = claimFolder(this.dir, claim);
    const parent = join(this.dir, place, safeSegment(claim.job));
    const name = `${endedPrefix(claim)} - ${result}`;
    try {
      const inProcessing = await isFolder(from);
      if (inProcessing && note) await replaceText(join(from, note.name), visible(this.withoutPaths(claim, note.text)));
      await this.ledger.settle(claim, finished);
      const before = await this.endFolder(claim);
      if (!inProcessing && before === undefined) return join(parent, name);
      const now = before ?? (await this.#move(claim, join(place, claim.job, name)));
      if (inProcessing) reached('archived');
      await this.#noteResult(claim, result, `${this.sharePath(now)}/${note?.name ?? 'report.html'}`);
      return now;
    } catch (error) {
      throw runFailure(
        `The folder ${from} cannot be moved to ${parent}: ${diskErrorText(error)}. It is left where it is; put that right, and it is tried again.`,
        [],
        { cause: error },
      );
    }
  }

  /** Tells whoever dropped the file what became of it, in the folder where they look first. Does without where that is gone. */
  async #noteResult({ job, name }: Claim, result: string, detailsPath: string): Promise<void> {
    const text = `${name}: ${result}.\n\nMore is said in ${detailsPath}; the file lies beside it.\n`;
    const folder = join(this.dir, safeSegment(job));
    if (await isFolder(folder))
      await replaceText(join(folder, `${name}${RESULT_SUFFIX}`), visible(text)).catch(() => undefined);
  }

  /** The folder in which a claim has ended; undefined for one that has not, or whose folder somebody removed. */
  async endFolder(claim: ClaimId): Promise<string | undefined> {
    const moved = await this.ledger.movedTo(claim);
    // The ledger is told before the folder moves: while its file lies in `processing/`, it has not.
    if (moved === undefined || (await dataFileIn(claimFolder(this.dir, claim))) !== undefined) return undefined;
    const folder = join(this.dir, moved);
    return (await isFolder(dirname(folder))) && (await isFolder(folder)) ? folder : undefined;
  }

  /** A folder as people see it who see the drop folder. */
  sharePath(folder: string): string {
    return relative(this.dir, folder).replaceAll(sep, '/');
  }

  contains(folder: string): boolean {
    return join(folder, '/').startsWith(join(this.dir, '/'));
  }

  /** People know the file by the name it was dropped under. */
  withoutPaths({ file, name }: Claim, text: string): string {
    return this.#hidden.reduce((cleaned, root) => cleaned.replaceAll(root, ''), text.replaceAll(file, name));
  }

  /** A name that another run has there gets a number. */
  async #move(claim: Claim, to: string): Promise<string> {
    await makeFolders(join(this.dir, dirname(to)));
    for (let number = 1; ; number++) {
      const numbered = number === 1 ? to : `${to} (${number})`;
      await this.ledger.recordMove(claim, numbered);
      if (await moveFolder(claimFolder(this.dir, claim), join(this.dir, numbered))) return join(this.dir, numbered);
    }
  }
}

/** SHA-256 of its file as it is now. */
export async function contentHash(claim: Claim): Promise<string> {
  try {
    const handle = await openPlain(claim.file);
    try {
      if (!(await handle.stat()).isFile()) throw new Error('it is no plain file');
      const hash = createHash('sha256');
      for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk);
      return hash.digest('hex');
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw runFailure(
      `The file ${displayName(claim.file)} cannot be read: ${diskErrorText(error)}. See to it that the user of the worker can read it.`,
      [],
      { cause: error },
    );
  }
}

type ClaimId = Pick<Claim, 'job' | 'run'>;

/** Which claim has a content, and what became of it. */
const entrySchema = z.object({
  run: z.string(),
  file: z.string(),
  state: z.enum(['running', 'finished', 'withdrawn']),
  /** When it was first about to run, ISO 8601. */
  at: z.string(),
});
type LedgerEntry = z.output<typeof entrySchema>;

type Ledger = ReturnType<typeof openLedger>;

const ENTRY_FILE = 'entry.json';

/**
 * Beside the entries, what is known of each claim: its entry, where it ends, and the data folders (`homeId`) that took it and that
 * began its run; `shared`: whether others share the queue of the latter, or else of the former.
 */
const recordSchema = z.object({
  entry: z.string().optional(),
  folder: z.string().optional(),
  taken: z.string().optional(),
  shared: z.boolean().optional(),
  begun: z.string().optional(),
});
type ClaimHomes = Pick<ClaimRecord, 'taken' | 'shared' | 'begun'>;
type ClaimRecord = z.output<typeof recordSchema>;

/**
 * What the drop folder remembers beyond the folders themselves: which content was run, or is being run, and where claims
 * have ended. All workers on the folder share it.
 *
 *     (none) → running     by the one claim that enters it
 *     running → finished   its claim ended and did its work: the content is not run again
 *     running → withdrawn  its claim ended otherwise: whoever enters the content next has it
 *     running, its claim's folder gone from `processing/`: nobody's, as withdrawn
 *
 * It lies in `<inbox>/.ledger/<job>/`: in the folder `<content>.<number>` an entry, in `<run>.run` the record of a claim. Each
 * entry is made by one claim, which alone changes it; one that is nobody's is followed by the next number.
 */
export function openLedger(inbox: string) {
  const root = join(inbox, '.ledger');
  const recordPath = ({ job, run }: ClaimId): string => join(root, safeSegment(job), `${safeSegment(run)}.run`);
  const entryFolder = (job: string, entry: string): string => join(root, safeSegment(job), safeSegment(entry));

  async function readRecord(claim: ClaimId): Promise<ClaimRecord> {
    return parseAs(recordSchema, await readIfExists(recordPath(claim))) ?? {};
  }

  async function updateRecord(claim: ClaimId, what: ClaimRecord): Promise<void> {
    await makeFolders(join(root, safeSegment(claim.job)));
    await replaceText(recordPath(claim), JSON.stringify({ ...(await readRecord(claim)), ...what }));
  }

  return {
    /** Enters a content as being run by this claim. Returns the entry of another claim that has it; undefined where it is ours. */
    async enter(claim: Claim, content: string): Promise<LedgerEntry | undefined> {
      const { job, run } = claim;
      const own: LedgerEntry = { run, file: claim.name, state: 'running', at: new Date().toISOString() };
      for (let number = 1; ; ) {
        const name = `${content}.${number}`;
        const folder = entryFolder(job, name);
        const path = join(folder, ENTRY_FILE);
        let text = await readIfExists(path);
        if (text === undefined) {
          // First, so that whoever ends this claim finds the entry, wherever a crash falls.
          await updateRecord(claim, { entry: name });
          if (await makeFolderWith(folder, ENTRY_FILE, JSON.stringify(own))) return undefined;
          text = await readIfExists(path);
        }
        const entry = parseAs(entrySchema, text);
        if (entry?.run === run && entry.state !== 'withdrawn') return undefined;
        if (entry?.state === 'finished') return entry;
        if (entry?.state === 'running' && (await isFolder(claimFolder(inbox, { job, run: entry.run })))) return entry;
        // Its claim may have ended between the two looks: it says so here before its folder moves.
        if ((await readIfExists(path)) === text) number++;
      }
    },
    /** The claim has ended; `finished`: its content counts as run. To be said before its folder moves. */
    async settle(claim: ClaimId, finished: boolean): Promise<void> {
      const { entry: name } = await readRecord(claim);
      if (name === undefined) return;
      const path = join(entryFolder(claim.job, name), ENTRY_FILE);
      const entry = parseAs(entrySchema, await readIfExists(path));
      if (entry?.run !== claim.run || entry.state !== 'running') return;
      await replaceText(path, JSON.stringify({ ...entry, state: finished ? 'finished' : 'withdrawn' }));
    },
    /** The claim is about to end in this folder, relative to the drop folder. */
    recordMove: (claim: ClaimId, folder: string): Promise<void> => updateRecord(claim, { folder }),
    /** To be said before its file is taken, and before its run sends anything. */
    recordHome: (claim: ClaimId, homes: ClaimHomes): Promise<void> => updateRecord(claim, homes),
    forget: (claim: ClaimId): Promise<void> => rm(recordPath(claim), { force: true }),
    homesOf: (claim: ClaimId): Promise<ClaimHomes> => readRecord(claim),
    isEntered: async (claim: ClaimId): Promise<boolean> => (await readRecord(claim)).entry !== undefined,
    /** The folder that was last said by `recordMove`; whether the claim got there, the folders tell. */
    movedTo: async (claim: ClaimId): Promise<string | undefined> => (await readRecord(claim)).folder,
    /** Forgets where claims have ended whose folders are gone. */
    async prune(): Promise<void> {
      for (const job of await readdir(root).catch((): string[] => [])) {
        for (const file of await readdir(join(root, job)).catch((): string[] => [])) {
          const run = /^(.+)\.run$/.exec(file)?.[1];
          if (run === undefined || (await isFolder(claimFolder(inbox, { job, run })))) continue;
          const { folder } = await readRecord({ job, run });
          if (folder === undefined || !(await isFolder(join(inbox, folder))))
            await rm(join(root, job, file), { force: true });
        }
      }
    },
  };
}

/** A folder of which something was removed, relative to the drop folder. */
interface PrunedFolder {
  readonly path: string;
  readonly bytes: number;
}

/** Removes what lies of runs that ended long ago, in the data folder and in the drop folder. Contract, section 14. */
export async function prune(inbox: string, options: PruneOptions): Promise<Pruned & { folders: PrunedFolder[] }> {
  const ordered = new Map(tickets(options.home).flatMap(({ run, again }) => (again ? [[again.of, run]] : [])));
  const runs = await pruneRuns({ ...options, ordered });
  const folders = await pruneInbox(inbox, new Set(runs.left.map(({ run }) => run)), options);
  if (!options.dryRun) await new DropFolder(inbox).ledger.prune();
  return { ...runs, folders };
}

/** What was put away in `done/` and `failed/`: a folder a run, with its file, its reports or a note. */
async function pruneInbox(inbox: string, needed: ReadonlySet<string>, options: PruneOptions): Promise<PrunedFolder[]> {
  const removed: PrunedFolder[] = [];
  for (const place of RESERVED_FOLDERS.filter((one) => one !== 'processing')) {
    for (const job of await foldersIn(join(inbox, place))) {
      // What is named otherwise was put there by somebody else.
      for (const name of (await foldersIn(join(inbox, place, job))).filter((one) => ENDED_FOLDER.test(one))) {
        const path = join(place, job, name);
        // What may not be removed, or not yet, keeps no other from going.
        const bytes = await pruneEnded(join(inbox, path), needed, options).catch(() => undefined);
        if (bytes !== undefined) removed.push({ path, bytes });
      }
    }
  }
  return removed;
}

/**
 * Removes a folder in which a claim has ended; where somebody put something into it, only what the run left beside its summary
 * and its note, which tell what is of the run. It is as old as the last thing that was put into it: people correct rejected rows
 * where they lie. Returns bytes; undefined where nothing is to be removed.
 */
async function pruneEnded(
  folder: string,
  needed: ReadonlySet<string>,
  options: PruneOptions,
): Promise<number | undefined> {
  const summary = await readSummary(folder).catch(() => undefined);
  if (isRunId(summary?.run)) {
    const { run, status, dry_run: dryRun } = summary;
    // Of a run in another data folder it is not known here whether it may still be approved or taken up.
    const isOver = (status === 'succeeded' || status === 'partial') && !dryRun;
    if (needed.has(run) || !(isOver || existsSync(runFolder(options.home, run).dir))) return undefined;
  }
  const ended = summary ? Date.parse(summary.finished_at) : (await lstat(folder)).mtimeMs;
  if (!(Math.max(ended, await changedAt(folder)) < pruneCutoff(options))) return undefined;
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const named = summary?.source ? [basename(summary.source.path)] : files.filter((name) => isNamedAfter(folder, name));
  const isOwn = (name: string): boolean =>
    (summary ? summary.reports.includes(name) : isReportName(name)) || UNFINISHED.test(name) || TELLING.has(name);
  // Where several may be the file that was dropped, none is taken for it.
  const own = files.filter((name) => isOwn(name) || (named.length === 1 && named.includes(name)));
  const isWhole = own.length === entries.length;
  const rest = own.filter((name) => !TELLING.has(name));
  const going = isWhole ? [...rest, ...own.filter((name) => TELLING.has(name))] : rest;
  if (going.length === 0 && !isWhole) return undefined;
  let bytes = 0;
  for (const name of going) {
    bytes += await diskUsage(join(folder, name));
    if (!options.dryRun) await rm(join(folder, name), { force: true });
  }
  if (isWhole && !options.dryRun) await rmdir(folder);
  return bytes;
}

/** They tell of the run, and go last. */
const TELLING: ReadonlySet<string> = new Set(['summary.json', 'ERROR.txt', 'NOTE.txt']);

/** What was being written into it when its process was killed. */
const UNFINISHED = /^\..+[.-][0-9a-f]{12}\.tmp$/;

/** Links are no folders. */
async function foldersIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
