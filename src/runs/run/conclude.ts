import { rm } from 'node:fs/promises';
import { flushFile } from '../../files/atomic-write.js';
import {
  diskErrorText,
  EXIT,
  EXIT_BY_STATUS,
  isDiskFull,
  RunError,
  RunInterrupted,
  runFailure,
  systemCodes,
} from '../../model/error.js';
import { targetsOf } from '../../model/job.js';
import { noOutcomes } from '../../model/outcome.js';
import { NO_REQUESTS, type RequestCounts } from '../../model/progress.js';
import { indexHeadings } from '../../pipeline/map/headings.js';
import { type ReportInput, writeReports, writeSummary } from '../../report/finish.js';
import type { ReconcileInput } from '../../report/reconcile/compare.js';
import { withFieldNames } from '../../report/results.js';
import type { RunResult, RunStatus, Summary } from '../../report/summary.js';
import { findField, resourceSpec } from '../../resources/registry.js';
import type { FieldType } from '../../resources/spec.js';
import { fixedChoices } from '../../resources/value-check.js';
import { reached } from '../../trace/milestones.js';
import { addPlannedValues } from '../rows/outcomes.js';
import { referenceResults } from '../rows/references.js';
import { STOPPED } from './context.js';
import { closeAll, countRequests, type RunCore } from './core.js';
import { HOME, jobKey, makeFolder, runFolder } from './layout.js';
import { type Lineage, readSummary, saveLastRun } from './list.js';
import type { Run } from './run.js';

export type { RunResult } from '../../report/summary.js';

/** What a run adds that is more than its rows. */
interface ConcludeOptions {
  readonly reconcile?: ReconcileInput;
  /** What a field is called in the file. */
  readonly columnOf?: ReportInput['columnOf'];
  /** Something beside the rows needs a person. */
  readonly needsPerson?: boolean;
  /** Of an undo: records that were created for the rows, and stay. */
  readonly stay?: number;
  /** Keeps what the next run of the job compares itself with; called once the reports are written. */
  readonly remember?: (summary: Summary) => Promise<void>;
}

/** What a process that was cut off, or a worker that was lost, had under way when it last told its counts is in no journal. */
const incompleteCounts = (cutOff: string): string =>
  `${cutOff} of this run was cut off: the counts of requests are at least what was sent, without what it had under way.`;

/** Whether an earlier process brought the run to its end: there is nothing left but its reports, and that is said. */
export function isFinished(run: Run): boolean {
  if (!run.past.finished) return false;
  run.info(`The run ${run.folder.run} is finished: its reports are written again, nothing is sent.`);
  run.rows = run.past.outcomes.size;
  return true;
}

/** Writes the reports and ends the run. A fault that stopped it is in the summary; the rows it did not get to are `not_attempted`. */
export async function conclude(
  run: Run,
  stopped: Error | undefined,
  { reconcile, columnOf = reconcile?.columnOf, needsPerson = false, stay = 0, remember }: ConcludeOptions = {},
): Promise<RunResult> {
  let finished = false;
  try {
    if (stopped) stopped.message = withFieldNames(stopped.message, run.store.names);
    const status = statusOf(run, stopped);
    if (run.past.killed && !run.past.finished) run.warn(incompleteCounts('An earlier process'));
    if (run.carrier?.lost) run.warn(incompleteCounts('Another worker that sent requests'));
    // Of a rehearsal the reports show what the rows hold: whoever writes them once more after a power cut needs it.
    if (status === undefined && run.request.dryRun && !run.past.finished) await flushFile(run.folder.resolved);
    if (status === undefined) run.store.setValue('finished', { warnings: run.warnings, detected: run.evidence });
    run.store.end();
    await run.store.flush();
    if (status === undefined) reached('finished-noted');
    if (stopped instanceof RunError && stopped.kind === 'usage' && countRequests(run).writes === 0) {
      // A job that does not fit its file was refused before anything was done: it leaves no run behind, nor one that was cut off before.
      const isCutOff = run.ended.length === 0 && !run.past.passed && !run.store.hasSent;
      if (!run.past.begun || isCutOff) await rm(run.folder.dir, { recursive: true, force: true });
      // One that was taken up is as it was before.
      else for (const [dir, summary] of run.ended) await writeSummary(dir, summary);
      throw stopped;
    }
    // In a worker it is taken up again at once, here or elsewhere: nobody reads the reports of half a run.
    if (status === 'interrupted' && run.worker && run.signal.reason !== STOPPED) throw new RunInterrupted();
    // Likewise: it goes on once there is space.
    if (status === 'failed' && run.worker && isDiskFull(stopped)) throw stopped;
    const { source, request } = run;
    const { format, encoding, delimiter, sheet, header_row } = source.meta;
    run.progress('reporting', run.rows);
    const reason = stopped && !run.signal.aborted ? reasonOf(stopped) : undefined;
    const summary = await writeReports({
      dir: request.reportDir,
      store: run.store,
      addPlannedValues: (results) => addPlannedValues(results, run),
      source,
      rejected: rejectedForm(run),
      ...(status === undefined ? {} : { stopReason: reason ?? interruptionText(run) }),
      ...(request.corrections && request.lineage?.retries === undefined ? { corrected: true } : {}),
      ...(reconcile ? { reconcile } : {}),
      references: referenceResults(run),
      ...(columnOf ? { columnOf } : {}),
      timing: () => ended(run),
      summary: {
        ...summaryHead(run, run.past.requests),
        job: request.job.name,
        resource: run.job.resource,
        dry_run: request.dryRun,
        source: {
          path: request.file,
          sha256: request.sha256,
          rows: run.rows,
          format,
          encoding,
          delimiter,
          sheet,
          header_row,
        },
        detected: run.evidence,
        ...(request.kind === 'import' && run.job.match.key.length === 0 && { append: true as const }),
        ...earlierRunOf(request.lineage),
        ...(stay > 0 ? { stay } : {}),
        ...(status === undefined ? (needsPerson ? { status: 'partial' as const } : {}) : { status }),
        ...(reason === undefined ? {} : { reason }),
      },
    }).catch((error: unknown) => {
      throw unreported(run, error);
    });
    await keepSummary(run, summary);
    if (status !== 'interrupted') await remember?.(summary);
    if (status === undefined && isBaseline(run)) saveAsLastRun(run, request.job, run.rows);
    finished = status === undefined;
    const error = stopped instanceof RunError && !run.signal.aborted ? { error: stopped } : {};
    return { summary, exitCode: exitCode(summary.status, run), reportDir: request.reportDir, ...error };
  } finally {
    try {
      run.store.close();
    } catch {
      // The disk failed: that was said.
    }
    // A fault of closing must not hide why the run stopped.
    await closeAll(run).catch((error: unknown) => {
      if (!stopped) throw error;
    });
    // What can be made again from the private copy; of a run that stopped it stays, to be looked at. The rows of a rehearsal stay,
    // and what records were created from: an undo asks for it.
    const { staged, resolved, keys, snapshot } = run.folder;
    const temporary = [staged, keys, snapshot, ...(run.request.dryRun || run.tally.created > 0 ? [] : [resolved])];
    if (finished) for (const path of temporary) await rm(path, { force: true });
  }
}

/** Why there are no reports. Importing the file again is not the way on: its rows may be in the service. */
function unreported({ folder, request }: Run, error: unknown): unknown {
  const cause = error instanceof RunError ? error.cause : undefined;
  if (request.dryRun || systemCodes(cause).length === 0) return error;
  const text = `The reports could not be written to ${request.reportDir}: ${diskErrorText(cause)}. What it wrote to the service stays. Put that right, then have them written with: rowferry runs resume ${folder.run}`;
  return runFailure(text, [], { cause });
}

/** Whether the rows of a run are what the next run of the job is to be compared with. */
function isBaseline({ corrected, request: { kind, dryRun, lineage } }: Run): boolean {
  if (corrected || lineage?.retries !== undefined || lineage?.createsFor !== undefined || kind === 'undo') return false;
  return kind === 'reconcile' || !dryRun;
}

/** The earlier run that a run is about. */
function earlierRunOf(lineage: Lineage = {}): { of_run?: string } {
  const run = lineage.retries ?? lineage.undoes ?? lineage.createsFor ?? lineage.approves?.run;
  return run === undefined ? {} : { of_run: run };
}

function interruptionText({ signal }: Run): string {
  const how = signal.reason === STOPPED ? 'stopped' : 'interrupted';
  return `The run was ${how}; \`rowferry runs resume\` continues it.`;
}

/** A longer list is no help to choose from. */
const MOST_NAMES = 2_000;

/** The rows to correct come back as the job reads its file, and offer what a field takes. */
function rejectedForm({ job, source: { meta }, namesOf }: Run): NonNullable<ReportInput['rejected']> {
  const { sheet, header_row } = job.source;
  const spec = resourceSpec(job.resource);
  const headings = indexHeadings(meta.headings);
  const choicesIn = (type: FieldType) => {
    const names = type.kind === 'reference' ? namesOf(type.to) : fixedChoices(type);
    return names.length > MOST_NAMES ? [] : names;
  };
  const columns = Object.entries(job.columns).flatMap(([heading, target]) =>
    targetsOf(target).flatMap(({ field, values = {} }) => {
      const found = findField(spec, field);
      // The form of a workbook alone asks for them.
      const choices = () => [...Object.keys(values), ...(found ? choicesIn(found.type) : [])];
      return headings.positions(heading).map((at) => ({ at, field: found?.name ?? field, choices }));
    }),
  );
  const columnsOf = (field: string) => columns.flatMap((one) => (one.field === field ? [one.at] : []));
  // The job names the sheet by its number: also as text, where no sheet has it as its name.
  const numbered = sheet !== undefined && String(sheet) !== meta.sheet && /^\d{1,4}$/.test(String(sheet));
  return {
    keepHeaderRow: typeof header_row === 'number',
    ...(numbered ? { sheetNumber: Number(sheet) } : {}),
    columnsOf,
    choicesOf: (at) => columns.find((one) => one.at === at)?.choices() ?? [],
    keyColumns: job.match.key.flatMap((key) => columnsOf(findField(spec, key)?.name ?? key)),
  };
}

/** How a run ended that did not finish. */
function statusOf(run: Run, stopped: Error | undefined): 'interrupted' | 'braked' | 'failed' | undefined {
  if (run.signal.aborted) return 'interrupted';
  if (!stopped) return undefined;
  return stopped instanceof RunError && stopped.kind === 'braked' ? 'braked' : 'failed';
}

/** Why a run stopped, in sentences; what is no fault of a run is thrown on. */
export function reasonOf(stopped: Error): string {
  if (!(stopped instanceof RunError)) throw stopped;
  return [stopped.message, ...stopped.details].join(' ');
}

/** What the command ends with. */
export function exitCode(status: RunStatus, { signal }: Pick<Run, 'signal'>): number {
  if (status === 'interrupted') return signal.reason === 'SIGTERM' ? EXIT.sigterm : EXIT.sigint;
  return EXIT_BY_STATUS[status];
}

/** What the summary of every run says. `earlier`: requests of its earlier processes. */
export function summaryHead(run: RunCore, earlier: Readonly<RequestCounts>) {
  const { request, folder, warnings } = run;
  return {
    run: folder.run,
    kind: request.kind,
    company: request.company,
    service: request.service,
    requests: countRequests(run, earlier),
    warnings,
    started_at: request.startedAt,
    ...ended(run),
  };
}

/** As if the run ended now; not before it began, where the clock was put back. */
function ended({ request, clock }: RunCore) {
  const began = Date.parse(request.startedAt);
  const now = Math.max(clock.wall(), began);
  return { finished_at: new Date(now).toISOString(), seconds: (now - began) / 1000 };
}

/** Where runs put their reports into one folder, they take the place of those before: how each ended is kept with the run. */
export async function keepSummary({ folder, request }: RunCore, summary: Summary): Promise<void> {
  if (request.reportDir !== folder.dir) await writeSummary(folder.dir, summary);
  reached('summary-kept');
}

/** A run that was ordered and ended before it began: how it ended is all there is of it. */
export async function saveUnbegun(
  home: string,
  told: Required<Pick<Summary, 'run' | 'kind' | 'job' | 'file' | 'dry_run' | 'status' | 'started_at' | 'reason'>>,
): Promise<void> {
  const { run, kind, job, file, dry_run, status, started_at, reason } = told;
  const { dir } = runFolder(home, run);
  await makeFolder(dir, HOME);
  await writeSummary(dir, {
    ...{ run, kind, job, file, dry_run, status, started_at, reason },
    resource: '',
    company: 0,
    source: null,
    rows: { ...noOutcomes(), total: 0 },
    requests: NO_REQUESTS,
    warnings: [],
    top_faults: [],
    finished_at: new Date().toISOString(),
    seconds: 0,
    reports: ['summary.json'],
  });
}

/** The same of one that was to go on and could not begin: why. */
export async function failUnbegun(home: string, run: string, reason: string): Promise<void> {
  const { dir } = runFolder(home, run);
  const summary = await readSummary(dir);
  if (summary) await writeSummary(dir, { ...summary, status: 'failed', reason, finished_at: new Date().toISOString() });
}

/** The next run of the job is compared with this one. */
export function saveAsLastRun({ settings, folder, request }: RunCore, job: Parameters<typeof jobKey>[0], rows: number) {
  saveLastRun(settings.home, folder.run, jobKey(job, settings.home), request.company, rows);
  reached('run-remembered');
}
