import { countText } from '../model/count-text.js';
import { runFailure, usageError } from '../model/error.js';
import type { ReconcileJob } from '../model/job.js';
import type { OrphanLine, ReconcileFacts } from '../model/reconcile.js';
import { valueText } from '../model/value.js';
import type { ReadAll } from '../pipeline/match/match.js';
import { AFTER_BRAKE } from '../pipeline/plan/brakes.js';
import type { Mirror, Readable } from '../service/port.js';
import { RunStore } from '../store/run-store.js';
import { reached } from '../trace/milestones.js';
import { compareRecords, currentValues, openJobMirror, recheck, withMirror } from './reconcile/compare.js';
import {
  concludeNight,
  createDifferenceCounter,
  lastNight,
  laterNight,
  type NightParts,
  type Nights,
  newerApplied,
  nightsBefore,
  nightsKey,
  readNights,
  type StoredFacts,
  trippedBrakes,
} from './reconcile/nights.js';
import {
  actedOrphans,
  countAbsences,
  countOrphans,
  decideOrphans,
  saveOrphans,
  writeOrphans,
} from './reconcile/orphans.js';
import { openScope } from './reconcile/scope.js';
import { takeWriteLock } from './rows/connection.js';
import { matchRows } from './rows/match.js';
import { headingsOf } from './rows/outcomes.js';
import { assertNotRejected, loadGivenPlan, passBrakes, planRows } from './rows/plan.js';
import { readPlan } from './rows/planned.js';
import { type JobValues, type Resolved, resolveJobValues, resolveRows, stageRows } from './rows/stage.js';
import { writeRows } from './rows/write.js';
import { isFinished, type RunResult } from './run/conclude.js';
import type { RunContext } from './run/context.js';
import { runFolder, startTimeOf } from './run/layout.js';
import { type ImportRequest, openRun, type Run } from './run/run.js';
import { contentHash } from './run/table.js';

/**
 * Compares a file with the service, and makes the service agree where `dryRun` is false. Contract, sections 4 to 8. Faults of
 * rows are in the reports; faults of the run are thrown or in the summary.
 */
export async function reconcileFile(request: ImportRequest, context: RunContext): Promise<RunResult> {
  return executeReconcile(await openRun({ ...request, kind: 'reconcile' }, context));
}

/**
 * The reconciliation from top to bottom:
 *
 *   rows of the file → records of the service, read once → plan of every row, orphans → brakes → what has changed since?
 *   → written as planned, or `conflict` → orphans → report
 *
 * A run that was killed goes by the plan that it had made: rows that have an outcome are left alone, open ones looked up.
 */
export async function executeReconcile(run: Run): Promise<RunResult> {
  if (isFinished(run)) return concludeNight(run, undefined);
  let stopped: Error | undefined;
  try {
    const job = reconcileJobOf(run);
    const staged = await stageRows(run);
    await takeWriteLock(run, staged);
    assertNewest(run, readNights(nightsKey(run)));
    run.planned = await loadGivenPlan(run);
    if (run.request.lineage?.retries !== undefined) {
      await writeRows(run, await matchRows(run, await resolveRows(run, staged)));
    } else {
      const mirror = await openJobMirror(run, job, staged);
      const readAll = withMirror(staged.readAll, staged.spec.name as Readable, mirror);
      const resolved = await resolveRows(run, { ...staged, readAll });
      await reconcile(run, job, resolved, mirror, staged.readAll);
    }
  } catch (error) {
    stopped = error as Error;
  }
  return concludeNight(run, stopped);
}

/** What an older file says of a record is not written over what a newer one has put right. Somebody may have approved it. */
function assertNewest({ folder, clock, request: { dryRun, lineage } }: Run, nights: Nights): void {
  const newer = dryRun || lineage?.approves ? undefined : newerApplied(nights, lineage?.retries ?? folder.run);
  if (newer === undefined) return;
  const advice =
    Date.parse(startTimeOf(newer)) > clock.wall()
      ? 'The time of that run is still to come: check the clock of this machine. Where it is right now, give the job file another name: its nights begin anew.'
      : 'Where this older file is the right one, run it again.';
  throw runFailure(
    `The run ${newer} of this job has taken up a newer file: the rest of this one is not written over it. ${advice}`,
  );
}

function reconcileJobOf({ job }: Run): ReconcileJob {
  if (job.kind !== 'reconcile') throw usageError(`The job is of kind ${job.kind}, not reconcile.`);
  return job;
}

async function reconcile(
  run: Run,
  job: ReconcileJob,
  resolved: Resolved,
  mirror: Mirror,
  readAnew: ReadAll,
): Promise<void> {
  const nights = await nightsBefore(run);
  const scope = await openScope(job.scope, { resource: resolved.spec.name, lexicon: resolved.lexicon });
  const values = await orphanValues(job, resolved);
  const compared = await compareRecords(run, resolved, mirror, { scope, set: values?.fields });
  const night: NightParts = { run, resolved, job, nights, scope, compared, mirror, values };
  if (!run.past.passed) await planNight(night);
  if (run.request.dryRun || run.signal.aborted) return;
  run.planned ??= await readPlan(run.folder.plan);
  assertNotRejected(run);
  const later = laterRun(run, nights);
  await apply(later ? { ...night, values: undefined } : night, readAnew);
  if (later && values) {
    run.warn(
      `The run ${later} of this job came after this one: what it knows of missing records is newer, and none is touched here.`,
    );
  }
}

/** What the job gives to orphans; undefined where it only reports them. */
function orphanValues(job: ReconcileJob, resolved: Resolved): Promise<JobValues | undefined> {
  const { action, set = {} } = job.orphans;
  if (action === 'report') return Promise.resolve(undefined);
  const given = action === 'archive' ? { status: 'archived' } : set;
  return resolveJobValues(given, 'orphans.set', job, resolved);
}

/** Plans every row and every orphan, and asks the brakes. Throws a `RunError` of kind `braked` where one of them stops the run. */
async function planNight(night: NightParts): Promise<void> {
  const { run, resolved, job, nights, scope, compared, mirror, values } = night;
  const last = lastNight(nights);
  const differences = createDifferenceCounter(run);
  const counts = await planRows(run, compared.matched, differences.see);
  if (run.signal.aborted) return;
  const sha256 = await contentHash(run);
  const holdReason = orphanHoldReason(night);
  const found = [...nights.absent.keys()].filter((id) => compared.matched.snapshot.hasId(id));
  await warnReturned(night, found);
  const absences = countAbsences(
    nights.absent,
    compared.unmatched.map(({ id }) => id),
    {
      run: run.folder.run,
      sha256,
      date: startDate(run),
      certain: holdReason === undefined,
      found: new Set(found),
    },
  );
  const orphans = decideOrphans(compared.unmatched, {
    rules: job.orphans,
    set: values?.fields,
    absences,
    holdReason,
    approved: approvedOrphans(run),
    date: startDate(run),
  });
  const facts: ReconcileFacts = {
    apply: !run.request.dryRun,
    read: { how: mirror.how, certified: mirror.certified, records: mirror.count, described: mirror.described },
    scope: {
      records: compared.records,
      without_key: compared.withoutKey,
      outside: compared.outside,
      ...(scope ? { described: scope.described } : {}),
    },
    differences: differences.counts(),
    orphans: {
      ...countOrphans(orphans, nights.absent),
      action: job.orphans.action,
      after: job.orphans.after,
      ...(holdReason === undefined ? {} : { held_reason: holdReason }),
    },
    ...(last ? { previous: { run: last.run, rows: last.rows, at: last.at } } : {}),
    ...(run.request.lineage?.approves ? { approved: run.request.lineage.approves } : {}),
  };
  const { invalidBy } = differences;
  const tripped = trippedBrakes(night, { ...counts, invalidBy }, facts, sha256);
  saveOrphans(run.store, orphans);
  const stored: StoredFacts = {
    facts,
    sha256,
    tripped: tripped.length > 0,
    certain: holdReason === undefined,
    found,
    columns: headingsOf(run, resolved.mapping),
  };
  run.store.setValue('facts', stored);
  await run.store.flush();
  reached('facts-kept');
  await passBrakes(run, compared.matched, { tripped, advice: AFTER_BRAKE });
}

/** Records that the file holds again keep what an earlier night gave them as orphans, where no column sets that. */
async function warnReturned({ run, resolved, compared, values }: NightParts, found: readonly number[]): Promise<void> {
  const { mapping, spec, lexicon } = resolved;
  if (!values || mapping.fields.some((field) => field in values.fields)) return;
  const kept: number[] = [];
  for (const id of found) {
    const { record } = (await compared.matched.snapshot.get(id)) ?? {};
    if (record && currentValues(record, values.fields, spec, lexicon).done) kept.push(id);
  }
  if (kept.length === 0) return;
  const given = Object.entries(values.fields).map(([field, value]) => `${field} "${valueText(value)}"`);
  const ids = kept.length > 10 ? `${kept.slice(0, 10).join(', ')} and ${kept.length - 10} more` : kept.join(', ');
  run.warn(
    `Records that were missing are in the file again and still have what the job gives to orphans (${given.join(', ')}): ids ${ids}. No column sets that. Put it right in the service, or map a column to it.`,
  );
}

/** Why this run may not conclude that a record is missing from the file. */
function orphanHoldReason({ run, nights, resolved: { keyless }, compared, mirror }: NightParts): string | undefined {
  const later = laterRun(run, nights);
  if (later !== undefined) return `the run ${later} of this job came after this one, and knows better`;
  if (!mirror.certified) {
    return `the list of the service changed while it was read (${mirror.problems[0] ?? 'it did not fit together'}), so it is not certain which records there are`;
  }
  if (keyless > 0) {
    const rows = keyless === 1 ? 'one row of the file has' : `${keyless} rows of the file have`;
    return `${rows} no key that can be read for certain, and may be any of these records`;
  }
  const { unseen, unread } = compared.matched.options;
  const hidden = (unseen?.size ?? 0) + (unread?.size ?? 0);
  if (hidden > 0) {
    return `${countText(hidden, 'record')} that earlier runs created from keys of the file cannot be found by them, and may be any of these`;
  }
  return undefined;
}

/** Those that the plan changes which somebody approved, by id, as it showed them; undefined where it is no approved plan. */
function approvedOrphans({ settings, request }: Run): ReadonlyMap<number, OrphanLine> | undefined {
  const approves = request.lineage?.approves;
  const acted = approves && RunStore.query(runFolder(settings.home, approves.run).store, actedOrphans);
  return approves && new Map((acted ?? []).map((orphan) => [orphan.id, orphan]));
}

/** The latest run of the job with a newer file. */
function laterRun({ folder, request: { lineage } }: Run, nights: Nights): string | undefined {
  const approves = lineage?.approves?.run;
  return laterNight(nights, { run: folder.run, ...(approves === undefined ? {} : { approves }) })?.run;
}

/** The calendar date on which the run began, UTC. */
const startDate = ({ request }: Run): string => request.startedAt.slice(0, 10);

/** Writes what was planned: rows first, orphans then. */
async function apply({ run, compared, mirror, values, scope }: NightParts, readAnew: ReadAll): Promise<void> {
  const { matched } = compared;
  const orphans = values ? actedOrphans(run.store) : [];
  const updated = [...(run.planned?.values() ?? [])].flatMap(({ id }) => (id === undefined ? [] : [id]));
  const writes = (run.planned?.size ?? 0) + orphans.length;
  if (writes === 0) return writeRows(run, matched);
  mirror.noteWritten([...updated, ...orphans.map(({ id }) => id)]);
  await writeRows(run, await recheck(compared, mirror, readAnew, run.planned ?? new Map()));
  if (orphans.length > 0 && values && !run.signal.aborted) {
    await writeOrphans(run, orphans, matched, { values, scope });
  }
}
