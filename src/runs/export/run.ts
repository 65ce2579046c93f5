import { constants } from 'node:fs';
import { access, lstat, open, realpath, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EDITABLE_MARK } from '../../export/editable.js';
import { makeFolder } from '../../files/make-folder.js';
import { removeUnfinished } from '../../files/safe-write.js';
import { tableFormat } from '../../files/table-write.js';
import { EXIT, RunError } from '../../model/error.js';
import { noOutcomes } from '../../model/outcome.js';
import { type ExportableName, IMPORTABLE } from '../../model/resource-names.js';
import type { RunResult } from '../../report/summary.js';
import type { RequestCounts } from '../../service/port.js';
import type { LoadedExportJob } from '../job/shape.js';
import type { Progress, RunContext } from '../run/context.js';
import type { RunFolder } from '../run/layout.js';
import { readRunSummary } from '../run/list.js';
import { LockHeld, takeLock } from '../run/lock.js';
import { beginRun, type Kept, keptRun, openShell, type RunOptions, type Shell, type StoredRun } from '../run/shell.js';

/** A job, or what people call an export without one: by its resource. */
type ExportedBy = Pick<LoadedExportJob, 'name' | 'path' | 'sha256'> | { readonly name: string };
export interface ExportRequest extends RunOptions {
  readonly resource: ExportableName;
  /** Absolute path of the file to write; its name says the format: `.csv`, `.xlsx`, `.ndjson`, each with `.gz`. */
  readonly target: string;
  /** The folder of the file is made where it is missing. */
  readonly makeFolder?: boolean;
  /** Headings or fields, in this order; all where absent. */
  readonly columns?: readonly string[] | undefined;
  /** `field=value`; a record must fit all of them. */
  readonly filter: readonly string[];
  /** A field, with `-` before it for descending; by id where absent. */
  readonly order?: string | undefined;
  /** With a job file beside it that imports the changed file. */
  readonly editable: boolean;
  readonly job: ExportedBy;
}

/** What an export was asked to do, as `run.json` keeps it. */
export interface StoredExport
  extends StoredRun,
    Pick<ExportRequest, 'resource' | 'columns' | 'filter' | 'order' | 'editable' | 'job'> {
  readonly kind: 'export';
  /** The file to write, under the key by which runs are listed. */
  readonly file: string;
}

export interface ExportRun extends Shell<StoredExport> {
  progress(phase: Progress['phase'], done: number, total: number): void;
  /** Requests of earlier processes of this run, as far as they are on record. */
  readonly earlier: Readonly<RequestCounts>;
  /**
   * Whether nothing of it could be used by a later one: no record was read. A worker's run is never in vain, it may be
   * delivered again.
   */
  isVain(): boolean;
}

const NO_REQUESTS: RequestCounts = { total: 0, reads: 0, writes: 0, retries: 0 };

/** Begins an export; what cannot be written to is refused before anything is read. */
export async function openExport(request: ExportRequest, context: RunContext): Promise<ExportRun> {
  // A worker gives a run its id. It was told where it may write; what a link there leads to, it was not.
  const byHand = request.run === undefined && context.worker === undefined;
  const file = await checkTarget(request, { byHand });
  const { resource, columns, filter, order, editable, job } = request;
  return beginRun(
    request,
    context,
    async (common, folder): Promise<StoredExport> => ({
      ...common,
      kind: 'export',
      ...{ resource, file, columns, filter, order, editable, job },
      reportDir: folder.dir,
    }),
    (kept) => begin(kept, context, { requests: NO_REQUESTS, vain: byHand }),
  );
}

/** Takes up an export that ended without finishing; of one that finished, how it ended. */
export async function reopenExport(
  wanted: string,
  context: RunContext,
): Promise<ExportRun | { readonly finished: RunResult }> {
  const kept = await keptRun<StoredExport>(wanted, context);
  const { folder, request } = kept;
  const summary = await readRunSummary(kept.settings.home, folder.run);
  if (summary && (summary.status === 'succeeded' || summary.status === 'partial')) {
    const exitCode = summary.status === 'succeeded' ? EXIT.ok : EXIT.needsPerson;
    await clearAway(folder);
    return { finished: { summary, exitCode, reportDir: request.reportDir } };
  }
  await forgetOld(folder);
  return begin(kept, context, { requests: summary?.requests ?? NO_REQUESTS, vain: false });
}

/** What a process could not remove any more that was killed right after its summary: what was read, and its lock. */
async function clearAway(folder: RunFolder): Promise<void> {
  try {
    const unlock = await takeLock(folder.lock, `The run ${folder.run}`);
    await removeUnfinished(folder.dir);
    await rm(join(folder.dir, 'work'), { recursive: true, force: true }).finally(unlock);
  } catch (error) {
    // That process lives, and clears away itself.
    if (!(error instanceof LockHeld)) throw error;
  }
}

/** What was read longer ago is read anew: people take a file for what the service holds now. */
const READING_HOLDS_MS = 3_600_000;

async function forgetOld({ records }: RunFolder): Promise<void> {
  const log = await stat(records).catch(() => undefined);
  if (log && Date.now() - log.mtimeMs > READING_HOLDS_MS) await rm(records, { force: true });
}

async function begin(
  kept: Kept<StoredExport>,
  context: RunContext,
  { requests, vain }: { readonly requests: Readonly<RequestCounts>; readonly vain: boolean },
): Promise<ExportRun> {
  const shell = await openShell(kept, context);
  let isVain = vain;
  return {
    ...shell,
    progress(phase, done, total) {
      isVain = false;
      shell.tell(done === total, () => ({ phase, done, total, outcomes: noOutcomes() }));
    },
    earlier: requests,
    isVain: () => isVain,
  };
}

/** The folder of the target as messages speak of it. */
const OUTPUT = { what: 'folder of the export', namedBy: '`output` in the job, or -o' } as const;

/** `assets.xlsx`, `assets.csv.gz` → `assets.yaml` in the same folder. */
export function jobFileBeside(target: string): string {
  return join(dirname(target), `${basename(target).replace(/\.(csv|xlsx|ndjson)(\.gz)?$/i, '')}.yaml`);
}

/**
 * The file to write, once it is known that it can be written and before the service is asked for anything. `byHand`: a link to a
 * file is followed, where a worker replaces it. Throws `RunError('usage')` for a name that is no format, and `RunError('failed')`
 * for a place that cannot be written.
 */
export async function checkTarget(request: ExportRequest, { byHand }: { byHand: boolean }): Promise<string> {
  const { editable, resource } = request;
  if (request.makeFolder) await makeFolder(dirname(request.target), OUTPUT);
  const real = byHand ? await realpath(request.target).catch(() => undefined) : undefined;
  if (byHand && !real && (await lstat(request.target).catch(() => undefined))?.isSymbolicLink()) {
    throw new RunError(
      'usage',
      `${request.target}: this is a link to a file that is not there. Remove the link, or make the file it leads to.`,
    );
  }
  const target = real ?? request.target;
  tableFormat(target);
  await checkFolder(target);
  const there = await stat(target).catch(() => undefined);
  if (there?.isDirectory()) throw new RunError('usage', `${target}: this is a folder. Name a file with -o.`);
  if (there && !there.isFile()) {
    throw new RunError('usage', `${target}: this is a pipe or device, not a file. Name a file with -o.`);
  }
  if (there && !(await isWritable(target, there.mode))) {
    throw new RunError(
      'failed',
      `${target}: this file is there and is write-protected. Nothing was read. Make it writable, or name another file.`,
    );
  }
  if (editable) await checkEditable(target, resource);
  return target;
}

/** The administrator may write to every file; what nobody may write is meant to stay. */
async function isWritable(path: string, mode: number): Promise<boolean> {
  return (mode & 0o222) !== 0 && (await mayWrite(path));
}

const mayWrite = (path: string): Promise<boolean> =>
  access(path, constants.W_OK).then(
    () => true,
    () => false,
  );

async function checkFolder(target: string): Promise<void> {
  const folder = dirname(target);
  const info = await stat(folder).catch(() => undefined);
  if (!info) throw new RunError('usage', `${target}: the folder ${folder} does not exist. Create it first.`);
  if (!info.isDirectory()) throw new RunError('usage', `${target}: ${folder} is a file, not a folder.`);
  if (!(await mayWrite(folder)))
    throw new RunError('failed', `${target}: this user may not write to ${folder}. Name another folder.`);
}

async function checkEditable(target: string, resource: string): Promise<void> {
  if (!IMPORTABLE.some((one) => one === resource)) {
    throw new RunError(
      'usage',
      `A ${resource} cannot be changed through the service, so --editable has no meaning for it. It is for ${IMPORTABLE.join(', ')}. Leave --editable out.`,
    );
  }
  const job = jobFileBeside(target);
  if (!(await lstat(job).catch(() => undefined))) return;
  const head = await headOf(job);
  if (head.startsWith(EDITABLE_MARK)) {
    const other = fileOf(head);
    if (other === undefined || other === oneLine(basename(target))) return;
    throw new RunError(
      'usage',
      `${job} is the job of ${other}, and would become the job of ${basename(target)}. Nothing was read or written. ` +
        `Name another file with -o; or, if ${other} is not to be imported any more, delete ${job}.`,
    );
  }
  throw new RunError(
    'usage',
    `${job} is there and was not written by \`rowferry export --editable\`: it is left alone. Nothing was read or written. ` +
      'Name another file with -o, or move that one away: the job that imports the changed file is written there.',
  );
}

/** Bytes in which the comment at the top of a job file names its file. */
const HEAD = 4096;

/** The file that a job belongs to, as the first command in its comment names it. */
function fileOf(head: string): string | undefined {
  return /^# +rowferry import (.+) --job .+ --dry-run$/m.exec(head)?.[1];
}

/** As comments have it. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

async function headOf(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
