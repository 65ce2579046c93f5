import { RunError } from '../model/error.js';
import { fingerprintSet } from '../pipeline/plan/fingerprint.js';
import { loadDirectory } from '../pipeline/resolve/directory.js';
import { NameCollector } from '../pipeline/resolve/resolve.js';
import { conclude, isFinished, type RunResult } from './conclude.js';
import { type Connection, connect } from './connect.js';
import type { RunContext } from './context.js';
import { type EarlierRun, earlierRun } from './earlier-run.js';
import { resolveJobValues } from './job-values.js';
import { runFolder } from './layout.js';
import { freshRunId } from './list.js';
import { matchRows } from './match-rows.js';
import { oneWriter } from './one-writer.js';
import { planRows } from './plan-rows.js';
import { openRun, type Run, reopenRun } from './run.js';
import type { Resolved } from './stage-rows.js';
import { beginAbsencesAnew } from './undo/absences.js';
import { readCreated } from './undo/created.js';
import { decideRecords, type Retirement } from './undo/decide-records.js';
import { type RetireValues, undoJob } from './undo/job.js';
import { writeUndoRows } from './undo/rows.js';
import { type Survey, survey } from './undo/survey.js';
import { countLeft, warnBlind, warnLeft } from './undo/warnings.js';
import { type WrittenRecord, whatWasWritten } from './undo/what-was-written.js';
import { writeRows } from './write-rows.js';

export interface UndoOptions {
  readonly dryRun: boolean;
  readonly reportDir?: string;
  readonly concurrency?: number;
  /** Writes also to a company that is archived. */
  readonly force?: boolean;
  /** What records that the run created are to be given, in place of the job's `retire`. */
  readonly retire?: RetireValues;
}

/**
 * Puts back what a run wrote: a new run of kind `undo`, with one row for each record that the run updated or created, under
 * the number that the row had there. Fields that somebody changed since are left (`changed_meanwhile`); created records get the values
 * that retire them. `wanted`: the run's id, the beginning of it, or `last`. The run may be an import, a reconciliation (its orphans among
 * them) or an undo, and may have ended in any way but one: a killed run is resumed first. Contract, sections 3 and 6.
 *
 * What cannot be put back: a template or form that the run assigned stays assigned, without values; customers are put back to our
 * own last write before the run, because they cannot be read.
 *
 * Throws a `RunError` of kind `usage` for a run that cannot be undone or wrote nothing.
 */
export async function undoRun(wanted: string, options: UndoOptions, context: RunContext): Promise<RunResult> {
  const earlier = await earlierRun(wanted, { done: 'undone', command: 'undo' }, context.settings);
  const { reportDir, concurrency, dryRun, force = false } = options;
  const run = await freshRunId(context.settings.home);
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
      throw new RunError('usage', `The run ${earlier.folder.run} wrote nothing: there is nothing to undo.`, notes);
    },
    ...(reportDir === undefined ? {} : { reportDir }),
    ...(concurrency === undefined ? {} : { concurrency }),
  };
  return carryOut(await openRun(request, context));
}

/** Continues an undo that was interrupted or killed: `run` is its id. */
export async function resumeUndo(run: string, context: RunContext): Promise<RunResult> {
  return carryOut(await reopenRun(run, context));
}

/** Its records, without those of which not even the id is known; a note says how many these are. */
async function* undoable({ folder }: EarlierRun, notes: string[]): AsyncGenerator<readonly WrittenRecord[]> {
  let open = 0;
  for (const batch of whatWasWritten(folder.store)) {
    const known = batch.filter(({ outcome, id }) => outcome !== 'unknown' || id !== undefined);
    open += batch.length - known.length;
    if (known.length > 0) yield known;
  }
  if (open > 0) {
    const [rows, they] = open === 1 ? ['one row', 'it'] : [`${open} rows`, 'they'];
    notes.push(
      `Of ${rows} of the run it is not known whether ${they} created a record (unknown in its results.csv): look in the service, or find out with \`rowferry runs retry ${folder.run}\` and undo that run, too.`,
    );
  }
}

/** The undo from top to bottom; resumed, it goes through the same steps again. */
async function carryOut(run: Run): Promise<RunResult> {
  if (isFinished(run)) return end(run, undefined);
  let stopped: Error | undefined;
  try {
    const connection = await connect(run);
    const found = await survey(run.folder, connection.spec);
    run.rows = found.rows;
    const retirement = await retire(run, connection, found);
    await oneWriter(run, connection);
    const matched = await matchRows(run, await resolved(connection, found, retirement));
    warnBlind(run, matched);
    const decided = await decideRecords(run, matched, found, retirement);
    if (run.request.dryRun) await planRows(run, decided);
    else await writeRows(run, decided);
    if (!run.signal.aborted) warnLeft(run, countLeft(run));
  } catch (error) {
    stopped = error as Error;
  }
  // Also where it did not come to its end: some of the records are back.
  await beginAbsencesAnew(run).catch((error: unknown) => {
    stopped ??= error as Error;
  });
  return end(run, stopped);
}

/** A record of which a part was put back needs a person. */
async function end(run: Run, stopped: Error | undefined): Promise<RunResult> {
  return conclude(run, stopped, { needsPerson: countLeft(run).fields > 0 });
}

/** Undefined where the run created nothing, or the job says nothing about created records. */
async function retire(run: Run, connection: Connection, { created }: Survey): Promise<Retirement | undefined> {
  const values = run.job.retire;
  if (created.size === 0 || values === undefined) return undefined;
  const { fields, specOf } = await resolveJobValues(values, 'retire', run.job, connection);
  const fixed = Object.keys(fields).filter((field) => specOf(field)?.update === undefined && !isCustom(field));
  if (fixed.length > 0) {
    const problems = fixed.map((field) => `retire.${field}: it can be set when a record is created, not afterwards`);
    throw new RunError('usage', 'The values that retire a record do not fit. Nothing was sent.', problems);
  }
  return { fields, records: await readCreated(run, connection, created, Object.keys(fields)) };
}

function isCustom(field: string): boolean {
  return field.startsWith('template.') || field.startsWith('form.');
}

/** The records as rows that meet the service by their ids. */
async function resolved(
  connection: Connection,
  { rows, ids, templates, forms }: Survey,
  retirement: Retirement | undefined,
): Promise<Resolved> {
  const { lexicon, service, known, readAll } = connection;
  await Promise.all([templates && lexicon.loadTemplates(), forms && lexicon.loadForms()]);
  const names = new NameCollector();
  if (retirement) names.add({ ref: { row: 1 }, set: retirement.fields, issues: [] });
  const directory = await loadDirectory(names.names, { service, known, readAll });
  lexicon.useDirectory(directory);
  const lookedUp = [...(retirement?.records.values() ?? [])].flatMap((record) => record.ids ?? []);
  return {
    ...connection,
    mapping: {
      mapRow: ({ row }) => ({ ref: { row }, set: {}, issues: [] }),
      columnOf: () => undefined,
      columns: [],
      fields: [],
      key: ['id'],
      specOf: () => undefined,
      warnings: [],
      remarks: () => [],
      evidence: [],
    },
    names,
    rowOfNumber: new Map(),
    keys: new Map([...ids, ...lookedUp].map((id) => [String(id), []])),
    keyless: 0,
    fingerprints: fingerprintSet(),
    depth: new Map(),
    waves: 1,
    directory,
    counts: { rows, invalid: 0, creates: 0, updates: rows, cleared: 0 },
  };
}
