import { countText } from '../model/count-text.js';
import { RunError, usageError } from '../model/error.js';
import type { IssueCode } from '../model/issue.js';
import { importJob, type RowsJob } from '../model/job.js';
import { isUnverifiable } from '../model/outcome.js';
import { loadDirectory } from '../pipeline/resolve/directory.js';
import { NameCollector } from '../pipeline/resolve/resolve.js';
import { RunStore } from '../store/run-store.js';
import type { LoadedJob } from './job-file.js';
import { forgetAbsences, nightsKey, saveUndone } from './reconcile/nights.js';
import { actedOrphans } from './reconcile/orphans.js';
import { type Connection, connect, takeWriteLock } from './rows/connection.js';
import { matchRows } from './rows/match.js';
import { planRows } from './rows/plan.js';
import { executePart, innerRuns } from './rows/references.js';
import { matchById, type Resolved, resolveJobValues } from './rows/stage.js';
import { writeRows } from './rows/write.js';
import { conclude, isFinished, type RunResult } from './run/conclude.js';
import type { RunContext } from './run/context.js';
import { type EarlierRun, type FollowUpOptions, findWrittenRun, readRequest } from './run/earlier-run.js';
import { innerRunId, runFolder } from './run/layout.js';
import { freshRunId } from './run/list.js';
import { loadCustomFields } from './run/open-service.js';
import { openRun, type Run } from './run/run.js';
import { decideRecords, type Retirement } from './undo/decide.js';
import {
  readCreated,
  type Survey,
  survey,
  type WrittenRecord,
  writeUndoRows,
  writtenRecords,
} from './undo/written-records.js';

export interface UndoOptions extends FollowUpOptions {
  readonly dryRun: boolean;
  /** What records that the run created are to be given, in place of the job's `retire`. */
  readonly retire?: RetireValues;
}

/**
 * Puts back what a run wrote: a new run of kind `undo`, with one row for each record that the run updated or created, under
 * the number that the row had there. Fields that somebody changed since are left (`changed_meanwhile`); created records get the values
 * that retire them. `runRef`: the run's id, the beginning of it, or `last`. The run may be an import, a reconciliation (its orphans among
 * them) or an undo, and may have ended in any way but one: a killed run is resumed first. Contract, sections 3 and 6.
 *
 * What cannot be put back: a template or form that the run assigned stays assigned, without values; customers are put back to our
 * own last write before the run, because they cannot be read.
 *
 * Throws a `RunError` of kind `usage` for a run that cannot be undone or wrote nothing.
 */
export async function undoRun(runRef: string, options: UndoOptions, context: RunContext): Promise<RunResult> {
  return executeUndo(await openUndo(runRef, options, context));
}

async function openUndo(runRef: string, options: UndoOptions, context: RunContext): Promise<Run> {
  const earlier = await findWrittenRun(runRef, 'undo', context.settings);
  const { reportDir, concurrency, dryRun, force = false } = options;
  const run = options.run ?? (await freshRunId(context.settings.home));
  const notes: string[] = [];
  const request = {
    run,
    kind: 'undo' as const,
    lineage: { undoes: earlier.folder.run },
    // The undo's own list of records: it lies in its folder.
    file: runFolder(context.settings.home, run).source('.ndjson'),
    job: undoJob(earlier.request.job, options.retire ?? earlier.request.job.job.retire),
    company: earlier.request.company,
    dryRun,
    force,
    notes,
    makeSource: async (path: string, folder: Run['folder']) => {
      const { rows, sha256 } = await writeUndoRows(path, folder, undoable(earlier, notes));
      if (rows > 0) return { sha256 };
      const parts = innerRuns(context.settings.home, earlier.folder.run).map(
        ([resource, id]) =>
          `what it created as ${resource}s for its rows is undone by itself: rowferry runs undo ${id}`,
      );
      const message = `The run ${earlier.folder.run} wrote nothing: there is nothing to undo.`;
      throw usageError(message, [...notes, ...parts]);
    },
    reportDir,
    concurrency,
  };
  return openRun(request, context);
}

/** Its records, without those of which not even the id is known; a note says how many these are. */
async function* undoable({ folder, request }: EarlierRun, notes: string[]): AsyncGenerator<readonly WrittenRecord[]> {
  let open = 0;
  for (const batch of writtenRecords(folder.store)) {
    const known = batch.filter(({ outcome, id }) => outcome !== 'unknown' || id !== undefined);
    open += batch.length - known.length;
    if (known.length > 0) yield known;
  }
  const { match, resource } = request.job.job;
  const retry = isUnverifiable({ append: match.key.length === 0, resource })
    ? ''
    : `, or find out with \`rowferry runs retry ${folder.run}\` and undo that run, too`;
  if (open > 0)
    notes.push(
      `Rows of which it is not known whether they created a record (unknown in the run's results.csv): ${open}. Look in the service${retry}.`,
    );
}

/** The undo from top to bottom; resumed, it goes through the same steps again. */
export async function executeUndo(run: Run): Promise<RunResult> {
  if (isFinished(run))
    return concludeUndo(run, undefined, (run.store.getValue(PARTS_LEFT) as Parts | undefined) ?? NO_PARTS);
  let parts = NO_PARTS;
  let stopped: Error | undefined;
  try {
    const connection = await connect(run);
    const found = await survey(run.folder, connection.spec);
    run.rows = found.rows;
    const retirement = await retire(run, connection, found);
    await takeWriteLock(run, connection);
    const matched = await matchRows(run, await resolveRecords(connection, found, retirement));
    if (!connection.spec.readable)
      run.warn(
        'Customers cannot be read: they are put back to our own last write before the run, and what somebody else changed in them since is not seen.',
      );
    const decided = await decideRecords(run, matched, found, retirement);
    if (run.request.dryRun) await planRows(run, decided);
    else await writeRows(run, decided);
    if (!run.signal.aborted) warnUnrestored(run);
    if (!run.signal.aborted) parts = await undoParts(run);
    run.store.setValue(PARTS_LEFT, parts);
  } catch (error) {
    stopped = error as Error;
  }
  // Also where it did not come to its end: some of the records are back.
  await resetNight(run).catch((error: unknown) => {
    stopped ??= error as Error;
  });
  return concludeUndo(run, stopped, parts);
}

/** Under this name stands in the run's store what its parts left. */
const PARTS_LEFT = 'parts-left';

/** Of what the run created for its rows: how many stay, and whether anything needs a person. */
interface Parts {
  readonly stay: number;
  readonly needPerson: boolean;
}

const NO_PARTS: Parts = { stay: 0, needPerson: false };

/**
 * What the run created because its rows referred to it is undone after the rows, by runs inside this one.
 */
async function undoParts(run: Run): Promise<Parts> {
  const { settings, request, folder } = run;
  const { home } = settings;
  await run.store.flush();
  let stay = 0;
  let needPerson = false;
  for (const [resource, of] of innerRuns(home, request.lineage?.undoes ?? '')) {
    const id = innerRunId(folder.run, resource);
    const { dryRun, force, concurrency } = request;
    try {
      const summary = await executePart(run, id, executeUndo, (context) =>
        openUndo(of, { run: id, dryRun, force, concurrency }, context),
      );
      const { updated, unchanged, total } = summary.rows;
      const done = updated + unchanged;
      stay += total - done;
      const rest = done < total ? `, ${total - done} left: \`rowferry runs show ${summary.run}\` says why.` : '.';
      // Of an undo it is put back what that retired.
      const verb = readRequest(runFolder(home, of))?.kind === 'undo' ? 'put back' : 'retired';
      const about = verb === 'retired' ? 'created for its rows' : 'retired';
      run.warn(`${countText(total, resource)} that the run ${about}: ${done} ${dryRun ? 'to be ' : ''}${verb}${rest}`);
    } catch (error) {
      // It created nothing that is known.
      if (!(error instanceof RunError) || error.kind !== 'usage') throw error;
      for (const note of error.details) run.warn(note);
      needPerson ||= error.details.length > 0;
    }
  }
  return { stay, needPerson: needPerson || stay > 0 };
}

/** A record of which a part was put back needs a person. */
async function concludeUndo(run: Run, stopped: Error | undefined, { stay, needPerson }: Parts): Promise<RunResult> {
  return conclude(run, stopped, { stay, needsPerson: needPerson || countUnrestored(run).fields > 0 });
}

/** Undefined where the run created nothing, or the job says nothing about created records. */
async function retire(run: Run, connection: Connection, { created }: Survey): Promise<Retirement | undefined> {
  const values = run.job.retire;
  if (created.size === 0 || values === undefined) return undefined;
  const { fields } = await resolveJobValues(values, 'retire', run.job, connection);
  return { fields, records: await readCreated(run, connection, created, Object.keys(fields)) };
}

/** The records as rows that meet the service by their ids. */
async function resolveRecords(
  connection: Connection,
  { ids, templates, forms }: Survey,
  retirement: Retirement | undefined,
): Promise<Resolved> {
  const { lexicon } = connection;
  await loadCustomFields({ templates, forms }, lexicon);
  const names = new NameCollector();
  if (retirement) names.add({ ref: { row: 1 }, set: retirement.fields, issues: [] });
  const directory = await loadDirectory(names.names, connection);
  lexicon.useDirectory(directory);
  const lookedUp = [...(retirement?.records.values() ?? [])].flatMap((record) => record.ids ?? []);
  return matchById(connection, directory, [...ids, ...lookedUp]);
}

/** What was left as it is in records that were put back otherwise, over all processes of the undo. */
function countUnrestored({ rowStore }: Run) {
  let [records, fields] = [0, 0];
  for (const batch of rowStore.rows(`kind = 'updated'`)) {
    for (const { result } of batch) {
      const unrestored = result?.outcome.issues.filter(({ code }) => UNRESTORED_CODES.has(code)).length ?? 0;
      if (unrestored > 0) records++;
      fields += unrestored;
    }
  }
  return { fields, records };
}

/** Why a field is left. */
const UNRESTORED_CODES: ReadonlySet<IssueCode> = new Set<IssueCode>([
  'changed_meanwhile',
  'old_value_unknown',
  'field_not_updatable',
  'status_not_writable',
  'required',
]);

/** Records of which a part was put back need a person, and their rows do not show it. */
function warnUnrestored(run: Run): void {
  const { fields, records } = countUnrestored(run);
  if (fields === 0) return;
  run.warn(
    `Fields that are left as they are in records that are otherwise put back: ${fields}, of ${countText(records, 'record')}. results.csv says which, and why.`,
  );
}

/**
 * A night that was put back is no measure for the next one. Its orphans are still missing from the job's file: that this was
 * counted before ends here, or the very next run of the job would act on them again. Can be repeated.
 */
async function resetNight(run: Run): Promise<void> {
  const { settings, request } = run;
  const all = restoredRecords(run);
  if (request.dryRun || all.size === 0) return;
  const folder = runFolder(settings.home, request.lineage?.undoes ?? '');
  const undone = readRequest(folder);
  const job = undone?.job.job;
  if (!undone || job?.kind !== 'reconcile') return;
  const nights = nightsKey({ settings, request: undone });
  saveUndone(nights, folder.run);
  const acted = RunStore.query(folder.store, actedOrphans) ?? [];
  const restored = new Set(acted.flatMap(({ id }) => (all.has(id) ? [id] : [])));
  if (restored.size === 0) return;
  forgetAbsences(nights, restored);
  const after = countText(job.orphans.after, 'more run');
  run.warn(
    `Orphans that are as before the run again: ${restored.size}. That they are missing from the file is counted anew: the job acts on them again after ${after}, unless they are in the file by then.`,
  );
}

/** Records that are as they were before the run again. */
function restoredRecords({ rowStore }: Run): ReadonlySet<number | undefined> {
  return new Set([...rowStore.rows(`kind in ('updated', 'unchanged')`)].flatMap((batch) => batch.map(({ id }) => id)));
}

/** What records that a run created are to be given, by field as job files name it. */
export type RetireValues = NonNullable<RowsJob['retire']>;

/**
 * The job of an undo: it meets records by their ids, changes what is there, and writes as the run did that is undone. It has
 * no brakes: what is written is what that run wrote.
 */
function undoJob(loaded: LoadedJob, retire: RetireValues | undefined): LoadedJob {
  const { resource, company, write, source } = loaded.job;
  const job = importJob.parse({
    kind: 'import',
    resource,
    ...(company === undefined ? {} : { company }),
    source: { format: 'ndjson', encoding: 'utf-8', ...(source.dates ? { dates: source.dates } : {}) },
    match: { key: 'id', existing: 'update', missing: 'fail' },
    columns: { id: 'id', row: null, key: null, run_outcome: null, fields: null },
    write,
    brakes: { min_rows: 0 },
    ...(retire === undefined ? {} : { retire }),
  });
  return { ...loaded, job, warnings: [] };
}
