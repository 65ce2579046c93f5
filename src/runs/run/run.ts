import { realpath, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { createChoiceMap, type DenseMap } from '../../compact/dense-map.js';
import { copyPrivately } from '../../files/atomic-write.js';
import { probeFolder } from '../../files/make-folder.js';
import { openSource } from '../../files/open.js';
import type { Correction } from '../../model/correction.js';
import { RunError, usageError } from '../../model/error.js';
import type { RowsJob } from '../../model/job.js';
import { parseJson } from '../../model/json.js';
import { noOutcomes, OUTCOMES, type OutcomeCounts, type OutcomeKind } from '../../model/outcome.js';
import type { OpenSource } from '../../model/source.js';
import { holdsCorrections } from '../../pipeline/map/headings.js';
import { REPORT_FOLDER } from '../../report/finish.js';
import { isReportName, type Summary } from '../../report/summary.js';
import type { ReferenceTarget } from '../../resources/spec.js';
import { readingClock } from '../../service/clock.js';
import type { Json } from '../../service/port.js';
import { type Processes, REFERENCES_BEGUN, type RowStore, RunStore } from '../../store/run-store.js';
import { reached } from '../../trace/milestones.js';
import type { LoadedJob } from '../job-file.js';
import type { Planned } from '../rows/planned.js';
import type { Carrier, Progress, Right, RunContext } from './context.js';
import {
  beginRun,
  closeAll,
  countRequests,
  loadRun,
  openRunCore,
  type RunCore,
  type RunOptions,
  type SavedRun,
  type StoredRun,
} from './core.js';
import type { RunFolder } from './layout.js';
import { type Lineage, readSummary } from './list.js';
import { readAsEarlier, readAsOf, sourceOptions, withCorrections, withHandedBackTexts } from './table.js';

/** What a run of rows is: an import, a reconciliation, or the undoing of another run. */
export type RowsKind = 'import' | 'reconcile' | 'undo';

export interface ImportRequest extends RunOptions {
  readonly file: string;
  readonly job: LoadedJob;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly reportDir?: string | undefined;
  /** Default: `import`. */
  readonly kind?: RowsKind;
  readonly lineage?: Lineage | undefined;
  /** The file holds rows that were handed over as JSON: a key that a row, or each of them, lacks was not given. */
  readonly jsonRows?: boolean | undefined;
  readonly corrections?: readonly Correction[] | undefined;
  /** Makes the private copy of the file at a path, where there is no file to take it from. Returns its SHA-256 in hex. */
  readonly makeSource?: (path: string, folder: RunFolder) => Promise<{ readonly sha256: string }>;
}

export interface StoredRequest
  extends StoredRun,
    Pick<ImportRequest, 'lineage' | 'file' | 'job' | 'dryRun' | 'force' | 'jsonRows' | 'corrections'> {
  readonly kind: RowsKind;
  /** Name of the private copy of the file. */
  readonly source: string;
  readonly sha256: string;
}

/** A run of rows at work. */
export interface Run extends RunCore<StoredRequest> {
  readonly job: RowsJob;
  readonly source: OpenSource;
  readonly store: RunStore;
  /** Where it is noted what becomes of the rows at work: those of the file, or orphans. */
  readonly rowStore: RowStore;
  /** When something was read, and how old it is: milliseconds since 1970 that never go back (`readingClock`). */
  readonly now: () => number;
  /** What an earlier process of this run has done. */
  readonly past: Past;
  /** Outcomes so far, those of earlier processes among them. */
  readonly tally: OutcomeCounts;
  /** Data rows; known after staging. */
  rows: number;
  progress(phase: Progress['phase'], done: number): void;
  /** An import of rows that an earlier run handed back: neither braked as a whole file is, nor a measure for the next one. */
  readonly corrected: boolean;
  /** Set in a worker when the service is opened. */
  carrier: Carrier | undefined;
  /** Rights over all machines that this run must hold while it sends. */
  readonly rights: Right[];
  /** `abandoned`: requests were sent of which nobody knows what became of them, and they are not waited for any more. */
  readonly open: { abandoned: boolean };
  /** Runs before it that created records which look-ups may not show yet. */
  creators: readonly string[];
  /** Set once the rows are planned, where they may be written only as planned. */
  planned: Planned | undefined;
  /** What cells that refer to other records may hold, as far as it was read. */
  namesOf: (target: ReferenceTarget) => readonly string[];
  /** How an earlier process of it ended, by the folder where that stood. */
  readonly ended: (readonly [dir: string, Summary])[];
  /** What was found out on the way, for the summary. */
  readonly evidence: string[];
}

/** Takes a private copy of the file, so that nothing that happens to the original matters, and begins the run. */
export async function openRun(request: ImportRequest, context: RunContext): Promise<Run> {
  const { file, kind = 'import', lineage, job, dryRun, force, reportDir, jsonRows, corrections } = request;
  // Reports are written when the rows are in the service already: too late to learn that they have no place.
  if (reportDir !== undefined) {
    await probeFolder(reportDir, REPORT_FOLDER);
    await assertKept(file, reportDir);
  }
  return beginRun(
    { ...request, company: request.company ?? job.job.company },
    context,
    async (common, folder): Promise<StoredRequest> => {
      const source = folder.source(extensionOf(file));
      const { sha256 } = await (request.makeSource?.(source, folder) ?? copyPrivately(resolve(file), source));
      reached('hashed');
      return {
        ...common,
        ...{ kind, lineage, file, sha256, job, dryRun, force },
        source: basename(source),
        reportDir: reportDir ? resolve(reportDir) : folder.dir,
        jsonRows: jsonRows || undefined,
        corrections: corrections?.length ? corrections : undefined,
      };
    },
    (saved) => begin(saved, context),
  );
}

/** @throws RunError `usage` where the reports of the run would take the place of its file, in which somebody has corrected rows. */
async function assertKept(file: string, reportDir: string): Promise<void> {
  if (!isReportName(basename(file))) return;
  const folders = [dirname(resolve(file)), reportDir].map((folder) => realpath(folder).catch(() => undefined));
  const [own, reports] = await Promise.all(folders);
  if (own === undefined || own !== reports) return;
  throw usageError(
    `The file ${file} lies in the folder for the reports, and the report of that name would replace it. Nothing was read and nothing was sent. Name another folder with --report.`,
  );
}

/** Takes up a run that ended without finishing. */
export async function reopenRun(runRef: string, context: RunContext): Promise<Run> {
  return begin(await loadRun<StoredRequest>(runRef, context), context);
}

async function begin(saved: SavedRun<StoredRequest>, context: RunContext): Promise<Run> {
  const core = await openRunCore(saved, context);
  const { folder, request, settings, clock, warnings } = core;
  const { job } = request.job;
  let store: RunStore | undefined;
  try {
    const copy = join(folder.dir, 'work', request.source);
    const whole = await openSource(copy, sourceOptions(job)).catch((error: unknown) => {
      throw withOriginalName(error, copy, request.file);
    });
    const opened = new RunStore(folder.store, { durable: !request.dryRun });
    store = opened;
    const asRead = await readAsEarlier(settings.home, request, whole, opened);
    const warn = (text: string) => run.warn(text);
    const corrected = withCorrections(asRead, request.corrections, warn);
    const { handedBackBy } = readAsOf(opened);
    const restored = await withHandedBackTexts(settings.home, corrected, handedBackBy, warn);
    const source = request.lineage?.retries === undefined ? restored : onlyRows(restored, opened.rows.rowNumbers());
    const past = pastOf(opened);
    reached('past-read');
    const known = [...warnings, ...source.meta.warnings, ...request.job.warnings, ...past.warnings];
    warnings.splice(0, warnings.length, ...(past.finished?.warnings ?? new Set(known)));
    const tally = { ...past.tally };
    let lastPhase: Progress['phase'] | undefined;
    const run: Run = {
      ...core,
      job,
      source,
      store: opened,
      rowStore: opened.rows,
      now: readingClock(clock),
      past,
      tally,
      rows: 0,
      evidence: [...(past.finished?.detected ?? source.meta.evidence)],
      warn(text) {
        // A killed process must not take its warnings along. The reports tell of a store that fails.
        if (!request.dryRun && !warnings.includes(text)) noteWarning(opened, text);
        core.warn(text);
      },
      progress(phase, done) {
        // While rows are read, those so far are not all.
        const counted = phase !== 'reading' && phase !== 'waiting for its turn' && run.rows > 0;
        const begins = phase !== lastPhase;
        lastPhase = phase;
        core.reportProgress(begins || (counted && done === run.rows), () => ({
          phase,
          done,
          outcomes: { ...tally },
          ...(counted ? { total: run.rows } : {}),
        }));
      },
      corrected: request.kind === 'import' && holdsCorrections(source.meta.headings),
      carrier: undefined,
      rights: [],
      open: { abandoned: false },
      creators: [],
      planned: undefined,
      namesOf: () => [],
      ended: [],
    };
    opened.begin(() => countRequests(core));
    // How an earlier process of it ended does not hold any more, should this one be killed.
    for (const dir of new Set([request.reportDir, folder.dir])) {
      const summary = await readSummary(dir);
      if (summary?.run !== folder.run) continue;
      run.ended.push([dir, summary]);
      await rm(join(dir, 'summary.json'), { force: true });
    }
    return run;
  } catch (error) {
    store?.close();
    await closeAll(core);
    throw error;
  }
}

/** An intent without an outcome: the request may have taken effect. */
export interface OpenIntent {
  readonly op: 'create' | 'update';
  readonly at: number;
  /** Updates: the record's id. */
  readonly id?: number;
  /** Updates: the record as it was before. */
  readonly before?: Json;
}

/**
 * What the store tells of earlier processes of a run. `not_attempted` and `failed` finish nothing: both are known not
 * to be written.
 */
export interface Past extends Pick<Processes, 'begun' | 'killed' | 'requests'> {
  /** The brakes on the plan let the run pass: what is left of it is not held against them again. */
  readonly passed: boolean;
  /** Rows that are finished. */
  readonly outcomes: DenseMap<OutcomeKind>;
  /** How many of them ended so. */
  readonly tally: OutcomeCounts;
  readonly open: ReadonlyMap<number, OpenIntent>;
  /** What the earlier processes warned of; rows that have their outcome are not looked at again. */
  readonly warnings: readonly string[];
  /** Set where every row has its outcome and only the reports may be missing. */
  readonly finished?: Finished;
}

/** What a run that got through its file had found out, for reports that are written again. */
interface Finished {
  readonly warnings: readonly string[];
  readonly detected: readonly string[];
}

/**
 * Reads what the store tells of some rows of a run. Of a retry its first process finds open what the run before had left so.
 */
export function readPast(store: RunStore, rows: RowStore): Past {
  const outcomes = createChoiceMap(OUTCOMES);
  const tally = noOutcomes();
  for (const batch of rows.rows(`kind not in ('failed', 'not_attempted')`)) {
    for (const { row, kind } of batch) {
      if (kind === undefined) continue;
      outcomes.set(row, kind);
      tally[kind]++;
    }
  }
  const open = new Map<number, OpenIntent>();
  for (const batch of rows.rows('op is not null and kind is null', { before: true })) {
    for (const { row, op, at = 0, record, before } of batch) {
      if (op === undefined) continue;
      const id = record === undefined ? {} : { id: record };
      open.set(row, { op, at, ...id, ...(before && { before: (parseJson(before) as { record: Json }).record }) });
    }
  }
  const finished =
    rows.count(`kind = 'failed'`) === 0 ? (store.getValue('finished') as Finished | undefined) : undefined;
  return {
    ...store.processes,
    passed: store.getValue('passed') === true,
    outcomes,
    tally,
    open,
    warnings: store.warnings,
    ...(finished && { finished }),
  };
}

/**
 * What was done so far. Of a run that sent nothing and did not finish, nothing is kept: it is planned anew from its first row,
 * so that its brakes look at all of them.
 */
function pastOf(store: RunStore): Past {
  const past = readPast(store, store.rows);
  const begun = store.hasSent || store.getValue(REFERENCES_BEGUN) !== undefined;
  if (!past.begun || begun || past.finished) return past;
  store.forget();
  return { ...readPast(store, store.rows), requests: past.requests };
}

function noteWarning(store: RunStore, text: string): void {
  try {
    store.addWarning(text);
  } catch {
    // Whoever sends next meets the same failure.
  }
}

/** A private copy has a name of its own; people know the file by theirs. */
function withOriginalName(error: unknown, copy: string, file: string): unknown {
  if (!(error instanceof RunError)) return error;
  return new RunError(
    error.kind,
    error.message.replaceAll(copy, file),
    error.details.map((line) => line.replaceAll(copy, file)),
    { cause: error },
  );
}

function extensionOf(file: string): string {
  const ending = /\.[a-z0-9]{1,8}(\.gz)?$/i.exec(basename(file))?.[0] ?? '';
  return ending.toLowerCase();
}

/** The source with the rows of a retry alone, which are all that its store knows; they keep their numbers. */
function onlyRows(source: OpenSource, rows: ReadonlySet<number>): OpenSource {
  async function* chosen() {
    let remaining = rows.size;
    for await (const batch of source.rows()) {
      const matching = batch.filter(({ row }) => rows.has(row));
      if (matching.length > 0) yield matching;
      remaining -= matching.length;
      if (remaining === 0) return;
    }
  }
  return { meta: source.meta, rows: chosen };
}

/**
 * Takes the private copy of a file that was found to lie where it may, its path leading through no link: refused where a
 * link has appeared on it since. For `ImportRequest.makeSource`, of whoever reads files on behalf of others.
 */
export function noFollowCopy(file: string): NonNullable<ImportRequest['makeSource']> {
  return (copy) => copyPrivately(file, copy, { noFollow: true });
}
