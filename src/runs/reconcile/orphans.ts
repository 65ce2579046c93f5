import { join } from 'node:path';
import { fault } from '../../model/issue.js';
import type { ReconcileJob } from '../../model/job.js';
import { GOOD_OUTCOMES } from '../../model/outcome.js';
import type { Orphan, OrphanCounts, OrphanLine, OrphanOutcome } from '../../model/reconcile.js';
import { type Fields, valueText } from '../../model/value.js';
import { eachLimit } from '../../pipeline/apply/apply.js';
import { recordKey } from '../../pipeline/match/match.js';
import type { Json, Readable } from '../../service/port.js';
import type { RowStore, RunStore } from '../../store/run-store.js';
import { reached } from '../../trace/milestones.js';
import { beginMatching, type Matching } from '../rows/match.js';
import { recordOutcome } from '../rows/outcomes.js';
import { rowWriter } from '../rows/row-files.js';
import { type JobValues, matchById, type Resolved } from '../rows/stage.js';
import { writeRows } from '../rows/write.js';
import type { RunFolder } from '../run/layout.js';
import { type Run, readPast } from '../run/run.js';
import { currentValues, type UnmatchedRecord } from './compare.js';
import type { Scope } from './scope.js';

/** Orphans are written as rows are, with files of their own: they are no rows of the file. */
export function orphanFolder(folder: RunFolder): RunFolder {
  const work = join(folder.dir, 'work');
  return {
    ...folder,
    resolved: join(work, 'orphans-resolved.ndjson'),
    snapshot: join(work, 'orphans-snapshot.ndjson'),
  };
}

/** Under this name stand in the run's store its orphans as they were judged. */
const ORPHANS_KEY = 'orphans';

export const saveOrphans = (store: RunStore, orphans: readonly OrphanLine[]): void =>
  store.setValue(ORPHANS_KEY, orphans);

const readOrphans = (store: RunStore) => (store.getValue(ORPHANS_KEY) ?? []) as readonly OrphanLine[];

/** Those that the run acts on; their places, from 1, are their row numbers in the files of `orphanFolder` and in the store. */
export const actedOrphans = (store: RunStore): readonly OrphanLine[] =>
  readOrphans(store).filter(({ state }) => state === 'act');

interface OrphanWork {
  readonly values: JobValues;
  readonly scope: Scope | undefined;
}

/**
 * Gives the orphans what the job sets in them. Each is read again first: one that is gone, has left the scope, or has a key
 * of the file by now is left alone.
 */
export async function writeOrphans(
  run: Run,
  orphans: readonly Orphan[],
  resolved: Resolved,
  { values, scope }: OrphanWork,
): Promise<void> {
  const folder = orphanFolder(run.folder);
  const past = readPast(run.store, run.store.orphans);
  const out = rowWriter(folder.resolved);
  for (const [at, { id }] of orphans.entries()) {
    out.write({ ref: { row: at + 1 }, key: String(id), set: values.fields, issues: [] });
  }
  out.close();
  const done = past.outcomes;
  const orphanRun: Run = {
    ...run,
    folder,
    rowStore: run.store.orphans,
    tally: { ...past.tally },
    past,
    planned: undefined,
    rows: orphans.length,
    job: { ...run.job, match: { key: ['id'], duplicates: 'reject', existing: 'update', missing: 'skip' } },
    progress: () => undefined,
  };
  const ids = orphans.map(({ id }) => id);
  const matching = await beginMatching(orphanRun, matchById(resolved, resolved.directory, ids, values));
  const open = orphans.filter((_orphan, at) => !done.has(at + 1));
  await rereadOrphans(open, matching);
  const matched = await matching.conclude();
  const describeChange = changeDescriber(resolved, { values, scope });
  for (const [at, orphan] of orphans.entries()) {
    const row = at + 1;
    const found = await matched.snapshot.get(orphan.id);
    if (done.has(row) || past.open.has(row)) continue;
    const why = found ? describeChange(orphan, found.record) : 'it is there no more';
    if (why === undefined) continue;
    const { id, key } = orphan;
    const issue = fault(
      'changed_meanwhile',
      `Somebody changed the record after it was planned: ${why}. Nothing was sent.`,
    );
    recordOutcome(orphanRun, { ref: { row }, kind: 'conflict', key, id, attempts: 0, issues: [issue], changed: [] });
    done.set(row, 'conflict');
  }
  reached('orphans-begun');
  await writeRows(orphanRun, matched);
  reached('orphans-ended');
}

/** One by one: the list was read before the rows were written. */
async function rereadOrphans(orphans: readonly Orphan[], { match, snapshot }: Matching): Promise<void> {
  await eachLimit(orphans, MAX_READS, async ({ id }) => {
    const record = await match.service.get(match.spec.name as Readable, id);
    if (!record) return;
    match.onRecord?.(record);
    snapshot.add(id, record, String(id), match.now());
  });
}

/** Reads handed to the service at once; how many are in flight is its own business. */
const MAX_READS = 64;

/** In words why an orphan is not what it was when it was planned; undefined where it is. */
function changeDescriber({ keys, lexicon, spec, mapping }: Resolved, { values, scope }: OrphanWork) {
  return ({ held }: Orphan, record: Json): string | undefined => {
    if (scope && !scope.keeps(record)) return 'it has left the scope of the job';
    if (keys.has(recordKey(record, { spec, lexicon, key: mapping.key }))) return 'a row of the file has its key now';
    const now = currentValues(record, values.fields, spec, lexicon);
    if (now.done || !held) return undefined;
    const field = Object.keys(held).find((one) => held[one] !== now.held[one]);
    return field === undefined ? undefined : `${field} is now "${now.held[field]}", it was "${held[field]}"`;
  };
}

/** The orphans of a run with how those ended that it acted on. */
export function orphanLines(store: RunStore): readonly OrphanLine[] {
  const outcomes = outcomesOf(store.orphans);
  let row = 0;
  return readOrphans(store).map((orphan) => {
    const ended = orphan.state === 'act' ? outcomes.get(++row) : undefined;
    return ended ? { ...orphan, ...ended } : orphan;
  });
}

function outcomesOf(rows: RowStore): ReadonlyMap<number, OrphanOutcome> {
  const outcomes = new Map<number, OrphanOutcome>();
  for (const batch of rows.rows('kind is not null')) {
    for (const { row, result } of batch) {
      if (!result) continue;
      const { kind, issues } = result.outcome;
      const changes = result.diff.filter((one) => one.kind === 'set' || one.kind === 'clear');
      outcomes.set(row, {
        outcome: kind,
        codes: [...new Set(issues.map(({ code }) => code))],
        message: issues.map(({ message }) => message).join(' '),
        changes: changes.map(({ field, old, new: value }) => ({ field, old, new: value })),
      });
    }
  }
  return outcomes;
}

/** Whether an orphan that the run acted on ended in a way that somebody has to look at. */
export function orphansNeedPerson({ orphans }: RunStore): boolean {
  return [...outcomesOf(orphans).values()].some(({ outcome }) => !GOOD_OUTCOMES.has(outcome));
}

/** How the orphans of a run are judged. */
interface OrphanOptions {
  readonly rules: ReconcileJob['orphans'];
  /** What the job sets in orphans; undefined where it only reports them. */
  readonly set: Fields | undefined;
  /** After this run. */
  readonly absences: Absences;
  /** Why this run may not touch any, one sentence. */
  readonly holdReason: string | undefined;
  /** The run carries out a plan that somebody approved: what that changes, by id, and from which values. */
  readonly approved?: ReadonlyMap<number, OrphanLine> | undefined;
  /** Calendar date of the run, `yyyy-MM-dd`, UTC. */
  readonly date: string;
}

/** What becomes of the records that the file does not hold. Nothing is done to one that may be there after all. */
export function decideOrphans(
  unmatched: readonly UnmatchedRecord[],
  { rules, absences, holdReason, approved, date, set }: OrphanOptions,
): readonly OrphanLine[] {
  return unmatched.map(({ id, key, name, done, held: values }) => {
    const absent = absences.get(id);
    const known = { id, key, name, since: absent?.since ?? date, absences: absent?.absences ?? 0 };
    if (rules.action === 'report') return { ...known, state: 'report' };
    if (done) return { ...known, state: 'done' };
    // A run that may touch none does not count itself either.
    if (holdReason !== undefined && known.absences + 1 >= rules.after)
      return { ...known, state: 'held', why: holdReason };
    if (known.absences < rules.after) return { ...known, state: 'wait' };
    if (!approved) return { ...known, state: 'act', held: values, changes: changesOf(values, set) };
    // Whether it is still what was shown is found out when it is read again.
    return approved.get(id) ?? { ...known, state: 'held', why: 'the plan that was approved does not change it' };
  });
}

function changesOf(held: Readonly<Record<string, string>>, set: Fields = {}): NonNullable<OrphanLine['changes']> {
  return Object.keys(set).flatMap((field) => {
    const change = { field, old: held[field] ?? '', new: valueText(set[field]) };
    return change.old === change.new ? [] : [change];
  });
}

/** `before`: absences before this run. */
export function countOrphans(orphans: readonly Orphan[], before: Absences): OrphanCounts {
  const counts = { total: orphans.length, fresh: 0, waiting: 0, acted: 0, settled: 0, held: 0 };
  for (const { id, state } of orphans) {
    if (!before.has(id) && state !== 'done') counts.fresh++;
    if (state === 'wait') counts.waiting++;
    else if (state === 'act') counts.acted++;
    else if (state === 'done') counts.settled++;
    else if (state === 'held') counts.held++;
  }
  return counts;
}

/** Since when, and in how many runs in a row, a record is missing from a job's file. */
interface Absence {
  /** Calendar date (UTC, `yyyy-MM-dd`) of the first of these runs. */
  readonly since: string;
  /** 0: no run has counted yet, only such that were not certain. */
  readonly absences: number;
  /** Of the file, and the run, that was counted last. */
  readonly sha256: string;
  readonly run: string;
}

/** By id of the record. */
export type Absences = ReadonlyMap<number, Absence>;

/** The run that counts. */
export interface CountingRun {
  readonly run: string;
  readonly sha256: string;
  /** Calendar date (UTC) of the run. */
  readonly date: string;
  /** Whether the list was read without doubt and every row's key could be read. Else nothing is counted. */
  readonly certain: boolean;
  /** Records that a row of the file means. They are there, however doubtful the rest of the reading. */
  readonly found?: ReadonlySet<number>;
}

/**
 * The absences after a run. An orphan is absent once more where its file is not the one that was counted last; a record that
 * is no orphan any more is forgotten. A run that is resumed counts once. A run that is not certain counts nothing: it ends the absences of
 * what it has `found`, and notes orphans that nobody knew of, so that they are no news to the next run.
 */
export function countAbsences(absent: Absences, orphanIds: Iterable<number>, by: CountingRun): Absences {
  const { run, sha256, date, certain, found } = by;
  const next = new Map(certain ? [] : endAbsences(absent, found));
  for (const id of orphanIds) {
    const known = absent.get(id);
    if (!known) next.set(id, { since: date, absences: certain ? 1 : 0, sha256, run });
    else if (!certain || known.run === run || (known.sha256 === sha256 && known.absences > 0)) next.set(id, known);
    else next.set(id, { ...known, absences: known.absences + 1, sha256, run });
  }
  return next;
}

/** The absences after a run that counts none: those of records that its file holds end. */
export function endAbsences(absent: Absences, found: ReadonlySet<number> | undefined): Absences {
  return found ? new Map([...absent].filter(([id]) => !found.has(id))) : absent;
}
