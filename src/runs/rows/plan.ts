import { existsSync } from 'node:fs';
import { copyPrivately } from '../../files/atomic-write.js';
import type { Change, FieldDiff } from '../../model/change.js';
import { RunError, runFailure } from '../../model/error.js';
import { fault } from '../../model/issue.js';
import { isNewRef } from '../../model/value.js';
import { compareWithStored, effectOf } from '../../pipeline/apply/compare.js';
import { keyText } from '../../pipeline/match/key.js';
import type { PlanCounts } from '../../pipeline/plan/brakes.js';
import { changesOf, mergeBaseOf, mergeRow } from '../../pipeline/plan/merge.js';
import { createFields, planByFingerprint, planRow } from '../../pipeline/plan/plan.js';
import { withoutRepeats } from '../../pipeline/plan/unchanged-cells.js';
import { isNoRecord, parentNotWritten, type ResolvedRow, referenceCycle } from '../../pipeline/rows.js';
import type { Json, Readable } from '../../service/port.js';
import { BRAKED } from '../../store/run-store.js';
import { reached } from '../../trace/milestones.js';
import { runFolder } from '../run/layout.js';
import type { OpenIntent, Run } from '../run/run.js';
import type { Matched } from './match.js';
import { checkRejections, recordBrake, recordSettled, recordUnsent } from './outcomes.js';
import { checkAgainstPlan, type Planned, planWriter, readPlan } from './planned.js';
import { fillRowFile, readRows, readRowsOr } from './row-files.js';

/** A record read longer ago is read again before its PUT. Contract, section 7. */
export const FRESH_MS = 60_000;

/**
 * Plans every row without writing. A dry run notes what would happen; a run with brakes on its plan only counts. The plan is
 * kept in the run's folder, where `runs approve` finds it. `see` is shown every change.
 */
export async function planRows(run: Run, matched: Matched, see?: (change: Change) => void): Promise<PlanCounts> {
  const counts: PlanCounts = { rows: run.rows, invalid: 0, creates: 0, updates: 0, cleared: 0 };
  const plan = planWriter(run.folder.plan, matched.snapshot);
  let done = 0;
  await fillRowFile(plan, async () => {
    for await (const changes of plannedRows(run, matched)) {
      for (const change of changes) {
        countChange(change, counts);
        see?.(change);
        plan.add(change);
        if (run.request.dryRun) recordSettled(run, change);
        run.progress('planning', ++done);
      }
    }
    return !run.signal.aborted;
  });
  reached('planned');
  return counts;
}

/**
 * What would happen to every row that has no outcome yet, in the order of writing: rows that refer to rows of this file
 * come after those, and are not written where those are not. Some hundred at a time.
 */
async function* plannedRows(run: Run, matched: Matched): AsyncGenerator<readonly Change[]> {
  const planned = new Set<number>();
  const isWritten = (row: number) => planned.has(row) || run.rowStore.writtenId(row) !== undefined;
  for (let wave = 0; wave < matched.waves; wave++) {
    for await (const rows of rowsOrChanges(wave, run, matched)) {
      const changes: Change[] = [];
      for (const row of rows) {
        if ('kind' in row) {
          changes.push(row);
          continue;
        }
        if ((matched.depth.get(row.ref.row) ?? 0) !== wave || run.past.outcomes.has(row.ref.row)) continue;
        const decided = decide(row, run, matched);
        const change = checkParent(decided instanceof Promise ? await decided : decided, isWritten);
        if (matched.waves > 1 && (change.kind === 'create' || change.kind === 'update')) planned.add(row.ref.row);
        changes.push(change);
        if (run.signal.aborted) break;
      }
      yield changes;
      if (run.signal.aborted) return;
    }
  }
}

function checkParent(change: Change, isWritten: (row: number) => boolean): Change {
  if ((change.kind !== 'create' && change.kind !== 'update') || !change.after || isWritten(change.after.row)) {
    return change;
  }
  const { ref, key, issues, after } = change;
  return { ref, key, kind: 'settled', outcome: 'invalid', issues: [...issues, parentNotWritten(after)] };
}

function countChange(change: Change, counts: PlanCounts): void {
  if (change.kind === 'create') counts.creates++;
  else if (change.kind === 'update') {
    counts.updates++;
    if (changesOf(change.diff).some((one) => one.kind === 'clear')) counts.cleared++;
  } else if (isNoRecord(change)) counts.noRecords = (counts.noRecords ?? 0) + 1;
  else if (change.kind === 'settled' && change.outcome === 'invalid') counts.invalid++;
}

/** What may keep a planned run from writing. */
interface PlanChecks {
  /** A sentence for each brake that the plan trips. */
  readonly tripped: readonly string[];
  /** What a person is told to do about them. */
  readonly advice?: string;
}

/**
 * Lets a planned run write, or throws a `RunError` of kind `braked` where a brake trips that neither `--force` nor an approval
 * overrides. Contract, section 8.
 */
export async function passBrakes(run: Run, matched: Matched, { tripped, advice }: PlanChecks): Promise<void> {
  const { dryRun, force, lineage } = run.request;
  for (const sentence of tripped) recordBrake(run, sentence);
  const found = [...tripped, ...(advice === undefined ? [] : [advice])].join(' ');
  // What stopped it holds, whatever the plan would be by now: only `force` and an approval let a plan pass that was stopped.
  const reason = tripped.length > 0 ? found : run.store.getValue(BRAKED);
  if (reason !== undefined && !force && !lineage?.approves) {
    // Rows of a braked run that would have been written are not attempted, and the reports show the plan.
    if (!dryRun) for await (const rows of plannedRows(run, matched)) for (const one of rows) recordUnsent(run, one);
    run.store.setValue(BRAKED, reason);
    throw new RunError('braked', String(reason));
  }
  const by = lineage?.approves ? `, approved by ${lineage.approves.by}` : ' by --force';
  for (const sentence of tripped) run.warn(`Brake overridden${by}: ${sentence}`);
  if (!dryRun) run.store.setValue('passed', true);
  reached('passed');
}

/**
 * Of a run that carries out what another one has planned: its rows are written as that plan says or not at all, and they are
 * planned in its light, too. Undefined for any other run. The plan comes into the run's own folder, where a retry finds it.
 */
export async function loadGivenPlan({ request, settings, folder }: Run): Promise<Planned | undefined> {
  const { retries, plannedBy, approves } = request.lineage ?? {};
  const of = retries ?? plannedBy ?? approves?.run;
  if (of === undefined) return undefined;
  const { plan } = runFolder(settings.home, of);
  if (!existsSync(folder.plan)) {
    if (existsSync(plan)) await copyPrivately(plan, folder.plan);
    // A run without brakes on its plan keeps none.
    else if (retries === undefined)
      throw runFailure(`The plan of the run ${of} is not in its folder: nothing was sent.`);
  }
  return readPlan(folder.plan);
}

/** A run that the service's refusals have stopped goes on where somebody forces it, not by being taken up again. */
export function assertNotRejected(run: Run): void {
  const stop = checkRejections(run);
  if (stop) throw stop;
}

/** Rows of one wave that are met, each as what its head alone decides, else the row; some hundred at a time. */
export function rowsOrChanges(
  wave: number,
  run: Run,
  { snapshot, options, newRecords }: Matched,
): AsyncGenerator<readonly (Change | ResolvedRow)[]> {
  const { past, folder } = run;
  // Rows of later waves refer to others, and where there are no records none is like its row.
  if (wave > 0 || snapshot.size === 0) return readRows(folder.resolved);
  return readRowsOr(folder.resolved, (head) => {
    const { row } = head.ref;
    const change = past.open.has(row) || past.outcomes.has(row) ? undefined : planByFingerprint(head, options);
    return change && (newRecords?.withhold(change) ?? change);
  });
}

/**
 * Decides about one row, in the light of what an earlier process of the run may have sent for it. At once where no record
 * has to be read: a promise a row costs as much as most rows do.
 */
export function decide(row: ResolvedRow, run: Run, matched: Matched): Change | Promise<Change> {
  if (row.after && !matched.depth.has(row.ref.row)) {
    const { ref, key, after } = row;
    return { ref, key, kind: 'settled', outcome: 'invalid', issues: [...row.issues, referenceCycle(ref.row, after)] };
  }
  const intent = run.past.open.get(row.ref.row);
  const change = intent ? resolveOpen(row, intent, matched) : planRow(row, matched.options);
  const { planned } = run;
  const { newRecords, snapshot } = matched;
  if (!planned && !newRecords) return change;
  const checkPlan = (one: Change) => {
    const now = newRecords?.withhold(one) ?? one;
    return planned ? checkAgainstPlan(now, planned, snapshot) : now;
  };
  return change instanceof Promise ? change.then(checkPlan) : checkPlan(change);
}

/**
 * Decides about a row that an earlier process of the run was writing when it was cut off: the record, as it is now,
 * tells whether the request took effect.
 *
 *   create: a record with our content → created      with other content → conflict      none → planned again
 *           a customer that is not known, a row without a key → unknown: it cannot be looked up
 *   update: the new values are there → updated       neither old nor new → conflict     the old ones → planned again
 *           a customer → unknown: it cannot be read
 */
async function resolveOpen(row: ResolvedRow, intent: OpenIntent, matched: Matched): Promise<Change> {
  const sent = withoutNewNames(row);
  const settled =
    intent.op === 'create' ? await resolveOpenCreate(sent, matched) : await resolveOpenUpdate(sent, intent, matched);
  return settled ?? planRow(row, matched.options);
}

/** What was sent referred to records that were there: a name that is new by now tells nothing of it. */
function withoutNewNames(row: ResolvedRow): ResolvedRow {
  const set = Object.fromEntries(Object.entries(row.set).filter(([, value]) => !isNewRef(value)));
  const issues = row.issues.filter(({ field }) => field === undefined || !isNewRef(row.set[field]));
  return { ...row, set, issues };
}

async function resolveOpenCreate(row: ResolvedRow, matched: Matched): Promise<Change | undefined> {
  const { spec, known, options, snapshot } = matched;
  const fields = createFields(row);
  if (matched.match.key.length === 0) return unknownOpen(row, 'created', 'without a key it');
  if (!spec.readable) {
    const [id, ...others] = known.ids('customer', row.key);
    if (others.length > 0) return undefined;
    if (id !== undefined) return created(row, id);
    if (options.memory.lastWritten(undefined, fields, undefined)) return settled(row, 'created');
    return unknownOpen(row, 'created', 'a customer');
  }
  const ids = snapshot.ids(row.key);
  const found = ids.length === 1 && ids[0] !== undefined ? await snapshot.get(ids[0]) : undefined;
  const id = ids[0];
  if (id === undefined && (options.unshown || options.unread?.has(row.key)))
    return unknownOpen(row, 'created', 'what the service does not show');
  if (found === undefined || id === undefined) return undefined;
  const { differing: differs, normalised } = compareWithStored(fields, found.record, options);
  if (differs.length > 0) {
    return conflict(
      row,
      id,
      `The row was to be created, or was being created, when the run was cut off; a record with its key now exists with other values (${differs.join(', ')}). Compare record ${id} and import the row again.`,
    );
  }
  options.memory.remember(id, fields);
  return { ...created(row, id), issues: [...row.issues, ...normalised] };
}

function unknownOpen(row: ResolvedRow, done: 'created' | 'updated', what: string) {
  const issue = fault(
    'outcome_unknown',
    `The row was being ${done} when the run was cut off, and ${what} cannot be looked up. Look in the service before importing it again.`,
  );
  return { ...settled(row, 'unknown'), issues: [...row.issues, issue] };
}

async function resolveOpenUpdate(row: ResolvedRow, intent: OpenIntent, matched: Matched): Promise<Change | undefined> {
  const { options } = matched;
  const { id, before } = intent;
  if (!matched.spec.readable)
    return { ...unknownOpen(row, 'updated', 'a customer'), ...(id === undefined ? {} : { id }) };
  const current = id === undefined || before === undefined ? undefined : await currentRecord(id, matched);
  if (id === undefined || before === undefined || !current) return undefined;
  const ours = options.memory.lastWritten(id, row.set, before);
  const held = mergeBaseOf(before, ours, options);
  const merge = mergeRow(withoutRepeats(row, held, options).row.set, held, options);
  const effect = effectOf(merge, before, current, options);
  if (effect.kind === 'none') return undefined;
  if (effect.kind === 'taken') {
    options.memory.remember(id, merge.target);
    return { ...settled(row, 'updated'), id, diff: merge.diff, issues: [...row.issues, ...effect.normalised] };
  }
  const fields = effect.fields.join(', ');
  return conflict(
    row,
    id,
    `The row was to be updated, or was being updated, when the run was cut off; ${fields} of record ${id} now holds neither the old value nor the new one.`,
    merge.diff,
  );
}

/** The record also where it has another key by now, so that no row means it. */
async function currentRecord(id: number, { spec, service, snapshot }: Matched): Promise<Json | undefined> {
  const read = await snapshot.get(id);
  if (read || !spec.readable) return read?.record;
  return service.get(spec.name as Readable, id);
}

function settled<K extends 'created' | 'updated' | 'conflict' | 'unknown'>(row: ResolvedRow, outcome: K) {
  return { ref: row.ref, key: keyText(row.key), kind: 'settled' as const, outcome, issues: row.issues };
}

function created(row: ResolvedRow, id: number): Change {
  return { ...settled(row, 'created'), id };
}

function conflict(row: ResolvedRow, id: number, text: string, diff?: readonly FieldDiff[]): Change {
  return {
    ...settled(row, 'conflict'),
    id,
    ...(diff ? { diff } : {}),
    issues: [...row.issues, fault('changed_meanwhile', text)],
  };
}
