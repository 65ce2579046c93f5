import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Correction } from '../../model/correction.js';
import { errorText, runFailure, usageError } from '../../model/error.js';
import type { Issue } from '../../model/issue.js';
import type { Job } from '../../model/job.js';
import type { OutcomeCounts } from '../../model/outcome.js';
import { faultsOf } from '../../report/report-lines.js';
import { outcomesForPerson } from '../../report/results.js';
import { failedToBegin, type RunKind, type RunStatus, rowsForPerson, type Summary } from '../../report/summary.js';
import { withHome } from '../../store/home.js';
import { RunStore } from '../../store/run-store.js';
import { innerRunId, nameOfKey, nextRunId, outerRun, type RunFolder, runFolder, startTimeOf } from './layout.js';
import { isLocked } from './lock.js';

/** One run of the home folder, as `runs list` shows it. Names are those of summaries. */
export interface RunEntry {
  readonly run: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  readonly kind: RunKind;
  /** A run that takes up another one, whose plan or rows it carries out. */
  readonly manner?: 'retry' | 'approved';
  /** The run that it retries, undoes or carries out. */
  readonly of_run?: string;
  readonly job: string;
  readonly file: string;
  readonly dry_run: boolean;
  /** `running`: a process works on it. `unfinished`: it ended without reports, `runs resume` continues it. */
  readonly status: RunStatus | 'running' | 'unfinished';
  /** Rows of the file, or records of an export. */
  readonly rows?: number;
  /** Rows whose outcome is not a good one. */
  readonly needs_person?: number;
  /** Not of an export: records that are read have no outcome. */
  readonly outcomes?: OutcomeCounts;
  /** Why one that succeeded is not all well. */
  readonly verdict?: string;
  /** Somebody said that nothing more is to be done with it. */
  readonly aside?: true;
  /** The same was found out without anybody: why, in a sentence. */
  readonly aside_reason?: string;
  /** Where its reports are, or will be. */
  readonly report_dir: string;
  /** The run whose reports lie there instead: it was told to put them into the same folder. */
  readonly reports_of?: string;
}

/** Whether `runs resume` goes on with it. */
export const isResumable = ({ status }: Pick<RunEntry, 'status'>): boolean =>
  ['unfinished', 'interrupted', 'failed'].includes(status);

const RUN_ID = /^\d{8}T\d{9}Z-[0-9a-f]+$/;

/** Whether a text from elsewhere has the form of a run's id: it may be put into a path. */
export const isRunId = (name: unknown): name is string => typeof name === 'string' && RUN_ID.test(name);

/** Run ids of a home folder, newest first. A home that does not exist yet has none. */
export async function runIds(home: string): Promise<string[]> {
  const names = await readdir(join(home, 'runs')).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw runFailure(`The data folder ${home} cannot be read (${error.code}). Name another with --home.`);
  });
  return names.filter(isRunId).sort().reverse();
}

/** The id of a new run of a home folder: it sorts after all that are there. */
export async function freshRunId(home: string, now = new Date()): Promise<string> {
  // What is wrong with the folder, its first file says better.
  return nextRunId(now, (await runIds(home).catch((): string[] => []))[0]);
}

/** A run whose own files cannot be read. */
export interface DamagedRun {
  readonly run: string;
  readonly reason: string;
}

/** All runs of a home folder, newest first; those that cannot be read are told instead. */
export async function listRuns(home: string, onDamaged?: (run: DamagedRun) => void): Promise<RunEntry[]> {
  const entries: RunEntry[] = [];
  for (const run of await runIds(home)) {
    try {
      entries.push(await readRun(home, run));
    } catch (error) {
      onDamaged?.({ run, reason: errorText(error) });
    }
  }
  return entries;
}

/**
 * The run that is meant: its id, the beginning of exactly one id, or `last`: the latest that `matches` what is to be done with it,
 * and where none does the latest of all. One whose own files cannot be read is the last only where it is the only one.
 * @throws RunError `usage` where none or several are.
 */
export async function findRun(
  home: string,
  runRef: string,
  matches?: (run: RunEntry) => boolean | Promise<boolean>,
): Promise<string> {
  const ids = await runIds(home);
  const [latest] = ids;
  if (latest === undefined) {
    throw usageError(`There are no runs in ${home}. ROWFERRY_HOME or --home names another data folder.`);
  }
  if (runRef === 'last') {
    let latestReadable: string | undefined;
    for (const id of ids) {
      const run = await readRun(home, id).catch(() => undefined);
      if (!run) continue;
      latestReadable ??= id;
      if (!matches || (await matches(run))) return id;
    }
    return latestReadable ?? latest;
  }
  const [outer, part] = outerRun(runRef);
  if (part !== undefined) {
    const id = innerRunId(await findRun(home, outer), part);
    if (existsSync(runFolder(home, id).request)) return id;
    throw usageError(`There is no run \`${runRef}\` in ${home}.`);
  }
  // An empty word, as of a variable that a script did not set, is the beginning of no run.
  const found = runRef === '' ? [] : ids.filter((id) => id.startsWith(runRef));
  const [only] = found;
  if (only !== undefined && (found.length === 1 || only === runRef)) return only;
  if (found.length > 1)
    throw usageError(`\`${runRef}\` is the beginning of ${found.length} runs; give more of it.`, found);
  throw usageError(`There is no run \`${runRef}\` in ${home}. \`rowferry runs list\` shows the runs.`, [
    `the latest is ${latest}`,
  ]);
}

/** What a run has to do with an earlier one; ids of runs of the same data folder. */
export interface Lineage {
  /** Only the rows of that run's file which failed or were left unknown. They are in the run's store before it begins. */
  readonly retries?: string;
  /** Puts back what that run wrote. */
  readonly undoes?: string;
  /** Creates what rows of that run refer to: `rows/references.ts`. */
  readonly createsFor?: string;
  /** Writes no row otherwise than that dry run has planned it. */
  readonly plannedBy?: string;
  /** Carries out exactly the plan of that run. */
  readonly approves?: { readonly run: string; readonly by: string; readonly at: string };
}

/** What `run.json` tells of a run of any kind. */
export interface RunInfo {
  readonly kind?: RunKind;
  readonly job?: { readonly name: string; readonly job: Job };
  readonly file?: string;
  /** Name of the private copy of the file. */
  readonly source?: string;
  readonly jsonRows?: boolean | undefined;
  readonly corrections?: readonly Correction[] | undefined;
  readonly dryRun?: boolean;
  readonly reportDir?: string;
  readonly lineage?: Lineage;
}

/** What a run was asked to do, as `run.json` keeps it; undefined where it ended before it noted that. */
export function readStored<R>({ request, dir }: RunFolder): R | undefined {
  const stored = readJson(request) as (R & { readonly reportDir?: string }) | undefined;
  // Reports that lie in the run's own folder are moved, and copied, with the data folder.
  const own = dir.slice(dir.lastIndexOf(`${sep}runs${sep}`));
  return stored?.reportDir?.endsWith(own) ? { ...stored, reportDir: dir } : stored;
}

/** What is known of one run, also of one that was killed. */
export async function readRun(home: string, run: string): Promise<RunEntry> {
  const folder = runFolder(home, run);
  const info = readRunInfo(folder);
  const { kind = 'import', lineage, reportDir = folder.dir } = info;
  const { summary, ...reports } = await ownSummary(folder, reportDir);
  const running = isLocked(folder.lock);
  // An undo reads a list of its own; people know it by the file of the run that it undoes.
  const { file = info.file ?? '' } = lineage?.undoes === undefined ? {} : readIfWhole(runFolder(home, lineage.undoes));
  const ofRun = lineage?.retries ?? lineage?.undoes ?? lineage?.approves?.run;
  const manner = lineage?.retries !== undefined ? 'retry' : lineage?.approves ? 'approved' : undefined;
  return {
    run,
    started_at: summary?.started_at ?? startTimeOf(run),
    kind: summary?.kind ?? kind,
    ...(manner ? { manner } : {}),
    ...(ofRun === undefined ? {} : { of_run: ofRun }),
    job: summary?.job ?? info.job?.name ?? '',
    file: (lineage?.undoes === undefined && (summary?.source?.path ?? summary?.target?.path ?? summary?.file)) || file,
    dry_run: summary?.dry_run ?? info.dryRun === true,
    status: running ? 'running' : (summary?.status ?? 'unfinished'),
    ...(summary && !running ? rowCounts(summary) : {}),
    ...asideOf(folder),
    report_dir: reportDir,
    ...reports,
  };
}

function asideOf({ aside }: RunFolder): Pick<RunEntry, 'aside' | 'aside_reason'> {
  if (!existsSync(aside)) return {};
  const reason = readFileSync(aside, 'utf8');
  return { aside: true, ...(reason && { aside_reason: reason }) };
}

export const readRunInfo = (folder: RunFolder): RunInfo => readStored<RunInfo>(folder) ?? {};

function readIfWhole(folder: RunFolder): RunInfo {
  try {
    return readRunInfo(folder);
  } catch {
    return {};
  }
}

/** Several runs may have been told to put their reports into one folder: there lie those of the last. */
async function ownSummary(
  folder: RunFolder,
  reportDir: string,
): Promise<{ readonly summary?: Summary; readonly reports_of?: string }> {
  const found = await readSummary(reportDir);
  if (found?.run === folder.run) return { summary: found };
  const kept = reportDir === folder.dir ? undefined : await readSummary(folder.dir);
  return {
    ...(kept?.run === folder.run && { summary: kept }),
    ...(found && { reports_of: found.run }),
  };
}

/** The run that put back what a run wrote; undefined where none did. */
export async function undoneBy(home: string, run: string): Promise<string | undefined> {
  const later = (await runIds(home)).filter((id) => id > run);
  return later.find((id) => {
    const folder = runFolder(home, id);
    // Of a damaged one only that which has a list of records may be an undo, and whether it is must not be guessed.
    const read = existsSync(folder.source('.ndjson')) ? readRunInfo : readIfWhole;
    const { kind, dryRun, lineage } = read(folder);
    return kind === 'undo' && dryRun !== true && lineage?.undoes === run;
  });
}

/** The summary of one run; undefined where its reports are not complete, and where those of another run took their place. */
export async function readRunSummary(home: string, run: string): Promise<Summary | undefined> {
  const folder = runFolder(home, run);
  const { reportDir = folder.dir } = readRunInfo(folder);
  return (await ownSummary(folder, reportDir)).summary;
}

function rowCounts(summary: Summary): Pick<RunEntry, 'rows' | 'needs_person' | 'outcomes' | 'verdict'> {
  if (failedToBegin(summary)) return {};
  if (summary.kind === 'export') return summary.records === undefined ? {} : { rows: summary.records };
  const { rows, verdict } = summary;
  const { total, ...outcomes } = rows;
  return { rows: total, needs_person: rowsForPerson(outcomes), outcomes, ...(verdict && { verdict }) };
}

/** The summary in a folder of reports; undefined where they are not complete. Of which run they are, it says itself. */
export async function readSummary(reportDir: string): Promise<Summary | undefined> {
  // Our own file: it appears complete or not at all.
  return readJson(join(reportDir, 'summary.json')) as Summary | undefined;
}

/** A fault of a row that needs a person. */
export interface RowFault {
  readonly row: number;
  readonly issue: Issue;
}

/** The first faults of a run in row order. */
export function firstFaults(home: string, run: string, limit: number): RowFault[] {
  const faults: RowFault[] = [];
  const gather = ({ rows }: RunStore) => {
    for (const outcome of outcomesForPerson(rows)) {
      // Why a run stopped is said once, by its summary.
      for (const issue of faultsOf(outcome))
        if (issue.message !== '' && faults.length < limit) faults.push({ row: outcome.ref.row, issue });
      if (faults.length >= limit) break;
    }
  };
  RunStore.query(runFolder(home, run).store, gather, RunStore.openReadOnly);
  return faults;
}

/** At once: of thousands of small files most of the time would go by in turns of the event loop. */
function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!existsSync(path)) return undefined;
    throw runFailure(
      `${path} cannot be read: it is not the JSON that rowferry wrote. Restore it, or move its folder away.`,
      [],
      { cause: error },
    );
  }
}

/** Notes how many rows a finished run of a job (`jobKey`) had. What a later run noted stays: an older one may be taken up after it. */
export function saveLastRun(home: string, run: string, job: string, company: number, rows: number): void {
  withHome(home, (db) =>
    db
      .prepare(
        `insert into last_run (job, company, run, rows, at) values (?, ?, ?, ?, ?)
         on conflict (job, company) do update set run = excluded.run, rows = excluded.rows, at = excluded.at where excluded.run >= run`,
      )
      .run(job, company, run, rows, Date.now()),
  );
}

/** How many rows the last finished run of a job had; undefined where there was none. */
export function lastRows(home: string, job: string, company: number): number | undefined {
  const last = withHome(home, (db) =>
    db.prepare('select rows from last_run where job = ? and company = ?').get(job, company),
  );
  return last && Number(last['rows']);
}

/** When the jobs of a data folder last finished a run, milliseconds since 1970; of several companies the latest. */
export function lastFinished(home: string): { readonly job: string; readonly at: number }[] {
  const last = withHome(home, (db) => db.prepare('select job, at from last_run order by at').all());
  return [...new Map(last.map(({ job, at }) => [nameOfKey(String(job)), Number(at)]))].map(([job, at]) => ({
    job,
    at,
  }));
}
