import { constants, existsSync } from 'node:fs';
import { access, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EDITABLE_MARK } from '../../export/editable.js';
import type { Filter } from '../../export/filter.js';
import { removeUnfinished } from '../../files/atomic-write.js';
import { makeFolder } from '../../files/make-folder.js';
import { tableFormat } from '../../files/table-write.js';
import { EXIT, runFailure, usageError } from '../../model/error.js';
import { noOutcomes } from '../../model/outcome.js';
import { NO_REQUESTS, type RequestCounts } from '../../model/progress.js';
import { type ExportableName, IMPORTABLE } from '../../model/resource-names.js';
import { shellWord } from '../../model/yaml-text.js';
import type { RunResult } from '../../report/summary.js';
import type { LoadedExportJob } from '../job/shape.js';
import type { Progress, RunContext } from '../run/context.js';
import {
  beginRun,
  loadRun,
  openRunCore,
  type RunCore,
  type RunOptions,
  type SavedRun,
  type StoredRun,
} from '../run/core.js';
import type { RunFolder } from '../run/layout.js';
import { readRunSummary } from '../run/list.js';
import { LockedError, takeLock } from '../run/lock.js';

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
  readonly filter: Filter;
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

export interface ExportRun extends RunCore<StoredExport> {
  progress(phase: Progress['phase'], done: number, total: number): void;
  /** Requests of earlier processes of this run, as far as they are on record. */
  readonly earlier: Readonly<RequestCounts>;
}

/** Begins an export; what cannot be written to is refused before anything is read. */
export async function openExport(request: ExportRequest, context: RunContext): Promise<ExportRun> {
  await checkTarget(request);
  const { resource, target: file, columns, filter, order, editable, job } = request;
  return beginRun(
    request,
    context,
    async (common, folder): Promise<StoredExport> => ({
      ...common,
      kind: 'export',
      ...{ resource, file, columns, filter, order, editable, job },
      reportDir: folder.dir,
    }),
    (saved) => begin(saved, context, NO_REQUESTS),
  );
}

/** Takes up an export that ended without finishing; of one that finished, how it ended. */
export async function reopenExport(
  runRef: string,
  context: RunContext,
): Promise<ExportRun | { readonly finished: RunResult }> {
  const saved = await loadRun<StoredExport>(runRef, context);
  const { folder, request } = saved;
  const summary = await readRunSummary(saved.settings.home, folder.run);
  if (summary && (summary.status === 'succeeded' || summary.status === 'partial')) {
    const exitCode = summary.status === 'succeeded' ? EXIT.ok : EXIT.needsPerson;
    await removeLeftovers(folder);
    return { finished: { summary, exitCode, reportDir: request.reportDir } };
  }
  return begin(saved, context, summary?.requests ?? NO_REQUESTS);
}

/** What a process could not remove any more that was killed right after its summary: what was read, and its lock. */
async function removeLeftovers(folder: RunFolder): Promise<void> {
  try {
    const unlock = await takeLock(folder.lock, `The run ${folder.run}`);
    await removeUnfinished(folder.dir);
    await rm(join(folder.dir, 'work'), { recursive: true, force: true }).finally(unlock);
  } catch (error) {
    // That process lives, and clears away itself.
    if (!(error instanceof LockedError)) throw error;
  }
}

async function begin(
  saved: SavedRun<StoredExport>,
  context: RunContext,
  earlier: Readonly<RequestCounts>,
): Promise<ExportRun> {
  const core = await openRunCore(saved, context);
  return {
    ...core,
    progress(phase, done, total) {
      core.reportProgress(done === total, () => ({ phase, done, total, outcomes: noOutcomes() }));
    },
    earlier,
  };
}

/** The folder of the target as messages speak of it. */
const OUTPUT = { what: 'folder of the export', namedBy: '`output` in the job, or -o' } as const;

/** `assets.xlsx`, `assets.csv.gz` → `assets.yaml` in the same folder. */
export function jobFileBeside(target: string): string {
  return join(dirname(target), `${basename(target).replace(/\.(csv|xlsx|ndjson)(\.gz)?$/i, '')}.yaml`);
}

/**
 * Whether the file can be written, looked at before the service is asked for anything. Throws `RunError('usage')` for a name that is
 * no format or no file, and `RunError('failed')` for a place that cannot be written.
 */
export async function checkTarget(request: ExportRequest): Promise<void> {
  const { editable, resource, target } = request;
  if (request.makeFolder) await makeFolder(dirname(target), OUTPUT);
  tableFormat(target);
  const folder = dirname(target);
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw usageError(`${target}: the folder ${folder} does not exist. Create it first.`);
  const existing = await stat(target).catch(() => undefined);
  if (existing && !existing.isFile()) {
    throw usageError(`${target}: this is a folder, pipe or device. Name a file with -o.`);
  }
  for (const path of existing ? [folder, target] : [folder]) {
    await access(path, constants.W_OK).catch((cause: unknown) => {
      throw runFailure(`${path}: this user may not write to it. Nothing was read. Name another file.`, [], {
        cause,
      });
    });
  }
  if (editable) await checkEditable(target, resource);
}

async function checkEditable(target: string, resource: string): Promise<void> {
  if (!IMPORTABLE.some((one) => one === resource)) {
    throw usageError(
      `A ${resource} cannot be changed through the service, so --editable has no meaning for it. It is for ${IMPORTABLE.join(', ')}. Leave --editable out.`,
    );
  }
  const job = jobFileBeside(target);
  if (!existsSync(job)) return;
  const text = await readFile(job, 'utf8');
  if (text.startsWith(EDITABLE_MARK) && text.includes(`rowferry import ${shellWord(basename(target))} --job`)) return;
  throw usageError(
    `${job} is there and is not the job of ${basename(target)}: it is left alone. Nothing was read or written. ` +
      'Name another file with -o, or move that one away: the job that imports the changed file is written there.',
  );
}
