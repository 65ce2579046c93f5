import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Change } from '../../model/change.js';
import type { ReconcileJob } from '../../model/job.js';
import type { Night, ReconcileFacts } from '../../model/reconcile.js';
import { type BrakeFinding, type PlanCounts, trippedByPlan, unknownKeys } from '../../pipeline/plan/brakes.js';
import { nightOf, type ReconcileInput } from '../../report/reconcile/compare.js';
import { withFieldNames } from '../../report/results.js';
import type { Summary } from '../../report/summary.js';
import type { Mirror } from '../../service/port.js';
import { withHome } from '../../store/home.js';
import type { Database } from '../../store/sqlite.js';
import { reached } from '../../trace/milestones.js';
import { headingsOf } from '../rows/outcomes.js';
import type { JobValues, Resolved } from '../rows/stage.js';
import { conclude, type RunResult } from '../run/conclude.js';
import { jobKey } from '../run/layout.js';
import type { Run } from '../run/run.js';
import type { Compared } from './compare.js';
import {
  type Absences,
  type CountingRun,
  countAbsences,
  endAbsences,
  orphanFolder,
  orphanLines,
  orphansNeedPerson,
} from './orphans.js';
import type { Scope } from './scope.js';

/** Whose nights: those of one job for one company of one service. */
export interface NightsKey {
  readonly home: string;
  /** `jobKey` of the job. */
  readonly job: string;
  readonly company: number;
  /** Address of the service: nothing that was seen in one counts in another. */
  readonly service: string;
}

/** A run that was reported. */
export interface PastNight extends Night {
  readonly sha256: string;
  /** The run whose plan it carried out. */
  readonly approves?: string;
  /** Brakes tripped, and somebody let it pass. */
  readonly overridden?: boolean;
  /** An undo put back what it wrote. */
  readonly undone?: boolean;
}

/** What earlier nights of a job left. */
export interface Nights {
  /** Every run that was reported; the run that began last is last, whichever ended last. */
  readonly history: readonly PastNight[];
  readonly absent: Absences;
}

/** A run that ended, as `saveNight` takes it. */
export interface EndedNight extends PastNight {
  /** What it saw; left out where it did not come so far. */
  readonly seen?: Observed;
}

/** What a run saw of the records that its file does not hold. */
export interface Observed extends Omit<CountingRun, 'run' | 'sha256'> {
  /** By id. */
  readonly orphans: Iterable<number>;
}

/** A year and more of nights. */
const MAX_KEPT = 400;

/** What earlier nights left; nothing where there was none. */
export function readNights(of: NightsKey): Nights {
  return withHome(of.home, (home) => ({ history: readHistory(home, of), absent: readAbsent(home, of) }));
}

/**
 * Keeps how a run ended, and what it saw, in one step. One that ends again because it was resumed takes the place of its first
 * end; one whose reports alone are written again stays as it is. What a finished run saw counts once.
 */
export function saveNight(of: NightsKey, { seen, ...ended }: EndedNight): void {
  withHome(of.home, (home) =>
    home.transaction(() => {
      const earlier = readHistory(home, of);
      const before = earlier.find(({ run }) => run === ended.run);
      const again = before !== undefined && isFinished(before);
      if (again && before.status === ended.status && before.writes === ended.writes) return;
      if (seen && !again) saveAbsences(home, of, ended, seen, earlier);
      home
        .prepare('insert or replace into night (job, company, service, run, ended) values (?, ?, ?, ?, ?)')
        .run(...keyValues(of), ended.run, JSON.stringify(ended));
      const newest = `select run from night where ${KEY_CONDITION} order by run desc limit ${MAX_KEPT}`;
      home
        .prepare(`delete from night where ${KEY_CONDITION} and run not in (${newest})`)
        .run(...keyValues(of), ...keyValues(of));
    }),
  );
  reached('night-kept');
}

function saveAbsences(
  home: Database,
  of: NightsKey,
  night: PastNight,
  seen: Observed,
  history: readonly PastNight[],
): void {
  const { run, sha256, approves, overridden } = night;
  const finished = isFinished(night);
  if (!(finished || night.status === 'braked')) return;
  // What a later run saw of a newer file stands.
  if (laterNight({ history }, { run, approves })) return;
  const absent = readAbsent(home, of);
  const counts = finished && (night.apply || !overridden);
  const next = counts ? countAbsences(absent, seen.orphans, { run, sha256, ...seen }) : endAbsences(absent, seen.found);
  if (next !== absent) writeAbsent(home, of, next);
}

/**
 * Forgets since when these records are missing from the job's file: the next run that does not find one of them counts its
 * absence as the first.
 */
export function forgetAbsences(of: NightsKey, ids: ReadonlySet<number>): void {
  withHome(of.home, (home) =>
    home
      .prepare(`delete from absence where ${KEY_CONDITION} and id in (select value from json_each(?))`)
      .run(...keyValues(of), JSON.stringify([...ids])),
  );
}

/** What a run wrote was put back: nothing is compared with a run that is `undone`. */
export function saveUndone(of: NightsKey, run: string): void {
  withHome(of.home, (home) =>
    home
      .prepare(`update night set ended = json_set(ended, '$.undone', json('true')) where ${KEY_CONDITION} and run = ?`)
      .run(...keyValues(of), run),
  );
}

/**
 * What earlier nights of the run's job left. Absences in a row are counted anew where the last of them was run in another
 * data folder, as far as the workers of the queue know: what it saw of missing records is not known here.
 */
export async function nightsBefore(run: Run): Promise<Nights> {
  const key = nightsKey(run);
  const nights = readNights(key);
  const last = await run.worker?.shared?.read(sharedName(run));
  if (!last || nights.absent.size === 0 || nights.history.some((night) => night.run === last)) return nights;
  run.warn(
    `The last run of this job, ${last}, lies in the data folder of another worker: absences of records are counted anew. Let all nights of a job run in one data folder.`,
  );
  withHome(key.home, (home) =>
    home.prepare(`update absence set absences = 0 where ${KEY_CONDITION}`).run(...keyValues(key)),
  );
  return readNights(key);
}

/** Workers of other data folders keep their job files elsewhere: by name it is the same job. */
const sharedName = ({ request: { job, company, service } }: Run): string => `night.${company}.${service}.${job.name}`;

const KEY_CONDITION = 'job = ? and company = ? and service = ?';
const keyValues = ({ job, company, service }: NightsKey) => [job, company, service] as const;

/** In the order in which the runs began: one may have been interrupted, and end after a later one. */
function readHistory(home: Database, of: NightsKey): PastNight[] {
  const found = home.prepare(`select ended from night where ${KEY_CONDITION} order by run`).all(...keyValues(of));
  return found.map(({ ended }) => JSON.parse(String(ended)) as PastNight);
}

function readAbsent(home: Database, of: NightsKey): Absences {
  const found = home
    .prepare(`select id, since, absences, sha256, run from absence where ${KEY_CONDITION}`)
    .all(...keyValues(of));
  return new Map(
    found.map(({ id, absences, ...texts }) => [
      Number(id),
      { ...(texts as { since: string; sha256: string; run: string }), absences: Number(absences) },
    ]),
  );
}

function writeAbsent(home: Database, of: NightsKey, absent: Absences): void {
  home.prepare(`delete from absence where ${KEY_CONDITION}`).run(...keyValues(of));
  const insert = home.prepare(
    'insert into absence (job, company, service, id, since, absences, sha256, run) values (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  for (const [id, { since, absences, sha256, run }] of absent)
    insert.run(...keyValues(of), id, since, absences, sha256, run);
}

/** It came to its end, whatever became of single rows. */
const isFinished = ({ status }: Pick<Night, 'status'>): boolean => status === 'succeeded' || status === 'partial';

/** Whether a run wrote, or found nothing to write; one that was stopped at it counts as well. */
const isApplied = (night: PastNight): boolean =>
  night.apply && !night.undone && (isFinished(night) || night.writes > 0);

/**
 * Whose file a run took, as a place in the order of runs. An approved run took the file of the run that was approved, however
 * long that was ago.
 */
const fileOrder = ({ run, approves }: { readonly run: string; readonly approves?: string | undefined }): string =>
  approves ?? run;

/**
 * The run that the next one is compared with: of those that finished, the one with the newest file. A look with `--force` at
 * a file that brakes would stop is no measure.
 */
export function lastNight({ history }: Pick<Nights, 'history'>): PastNight | undefined {
  const fit = history.filter((night) => isFinished(night) && !night.undone && (night.apply || !night.overridden));
  return fit.reduce<PastNight | undefined>(
    (best, one) => (best && fileOrder(best) > fileOrder(one) ? best : one),
    undefined,
  );
}

/**
 * The latest run of the job whose file is newer than that of a run, and that saw what is there: what the older file says of
 * missing records means nothing any more. `approves`: the run whose plan it carries out.
 */
export function laterNight(
  { history }: Pick<Nights, 'history'>,
  of: { readonly run: string; readonly approves?: string | undefined },
): PastNight | undefined {
  return history.findLast(
    (night) => night.run !== of.run && night.status !== 'failed' && fileOrder(night) > fileOrder(of),
  );
}

/** The latest run of the job whose file is newer than that of a run, and that was applied. */
export const newerApplied = ({ history }: Pick<Nights, 'history'>, run: string): string | undefined =>
  history.findLast((night) => isApplied(night) && fileOrder(night) > run)?.run;

/**
 * Whether this very file was applied before: a job that put an older file in the place of today's would undo what people did
 * since. A run that did not succeed may be repeated until another file is applied.
 */
export function sameFileBrake({ history }: Pick<Nights, 'history'>, sha256: string, wouldWrite: boolean): BrakeFinding {
  const applied = history.filter(isApplied);
  const succeeded = applied.findLastIndex((one) => one.sha256 === sha256 && one.status === 'succeeded');
  const at = succeeded >= 0 ? succeeded : applied.findLastIndex((one) => one.sha256 === sha256);
  const same = applied[at];
  if (!same) return {};
  const since = new Set(applied.slice(at + 1).map((one) => one.sha256));
  since.delete(sha256);
  if (succeeded < 0 && since.size === 0) return {};
  const others =
    since.size === 0
      ? ''
      : ` ${since.size === 1 ? 'Another file was' : `${since.size} other files were`} applied since.`;
  const how = succeeded < 0 ? 'applied in part' : 'applied';
  const what = `the file has the same content as the one that run ${same.run} ${how} on ${dateTimeText(same.at)}.${others}`;
  if (!wouldWrite) return { remark: `T${what.slice(1)} Nothing is to be written.` };
  return {
    tripped: `same_file: ${what} Writing it again would put its older values over what was changed since: has the ERP left a new file?`,
  };
}

/** `2026-11-20, 02:00 UTC` */
const dateTimeText = (at: string): string => `${at.slice(0, 10)}, ${at.slice(11, 16)} UTC`;

/** Whose nights a run is one of. */
export function nightsKey({ settings, request }: Pick<Run, 'settings' | 'request'>): NightsKey {
  return {
    home: settings.home,
    job: jobKey(request.job, settings.home),
    company: request.company,
    service: request.service,
  };
}

/** Writes the reports of a reconciliation, and keeps what the next night compares itself with. */
export async function concludeNight(run: Run, stopped: Error | undefined): Promise<RunResult> {
  // Faults of a few rows that are sent once more make no night.
  if (run.request.lineage?.retries !== undefined) return conclude(run, stopped);
  const { folder, store } = run;
  let stored: StoredFacts | undefined;
  let reconcile: ReconcileInput | undefined;
  let needsPerson: boolean;
  try {
    // Undefined where the run did not come so far.
    stored = store.getValue('facts') as StoredFacts | undefined;
    reconcile = stored && {
      facts: stored.facts,
      orphans: async function* () {
        yield orphanLines(store);
      },
      columnOf: (field) => stored?.columns[field],
    };
    needsPerson = orphansNeedPerson(store);
  } catch (error) {
    // What the night is told by cannot be read or written: the run ends as one that failed, and lets go of what it holds.
    return conclude(run, stopped ?? (error as Error));
  }
  const result = await conclude(run, stopped, {
    ...(reconcile ? { reconcile } : {}),
    needsPerson,
    async remember(summary) {
      saveNight(nightsKey(run), endedNight(run, summary, stored));
      if (stored)
        await run.worker?.shared?.update(sharedName(run), (last = '') => (last < folder.run ? folder.run : last));
    },
  });
  const { status } = result.summary;
  if (status !== 'succeeded' && status !== 'partial') return result;
  // What a finished run can do without.
  const { resolved, snapshot } = orphanFolder(folder);
  for (const path of [resolved, snapshot, join(folder.dir, 'work', 'mirror')])
    await rm(path, { recursive: true, force: true });
  return result;
}

function endedNight({ store, request }: Run, summary: Summary, stored: StoredFacts | undefined): EndedNight {
  const approves = request.lineage?.approves?.run;
  return {
    ...nightOf(summary, stored?.facts),
    sha256: stored?.sha256 ?? request.sha256,
    overridden: stored?.tripped ?? false,
    ...(approves === undefined ? {} : { approves }),
    ...(stored && {
      seen: {
        orphans: orphanLines(store).map(({ id }) => id),
        date: request.startedAt.slice(0, 10),
        certain: stored.certain,
        found: new Set(stored.found),
      },
    }),
  };
}

/** What a run found out before its first write; a run that is taken up again goes by it. */
export interface StoredFacts {
  readonly facts: ReconcileFacts;
  /** `contentHash` of its file. */
  readonly sha256: string;
  /** A brake tripped: where the run went on nevertheless, somebody let it pass. */
  readonly tripped: boolean;
  /** Whether the absences of this run count. */
  readonly certain: boolean;
  /** Of the records that were absent before: those that a row of the file means. */
  readonly found: readonly number[];
  /** Headings by field, for the reports. */
  readonly columns: Readonly<Record<string, string>>;
}

/** What a night is planned and carried out from. */
export interface NightParts {
  readonly run: Run;
  readonly resolved: Resolved;
  readonly job: ReconcileJob;
  readonly nights: Nights;
  readonly scope: Scope | undefined;
  readonly compared: Compared;
  readonly mirror: Mirror;
  readonly values: JobValues | undefined;
}

/** Sentences for the brakes that stop the run; what only warns is said. Contract, section 8. */
export function trippedBrakes(
  { run, resolved, job, nights, compared }: NightParts,
  counts: PlanCounts,
  { orphans, scope, differences }: ReconcileFacts,
  sha256: string,
): readonly string[] {
  const headings = headingsOf(run, resolved.mapping);
  const byHeading = (of: 'file' | 'cleared') =>
    new Map(differences.by_field.map((one) => [headings[one.field] ?? one.field, one[of]]));
  const plan: PlanCounts = {
    ...counts,
    clearedBy: byHeading('cleared'),
    updatedBy: byHeading('file'),
    orphans: { fresh: orphans.fresh, acting: orphans.acted, scope: scope.records },
  };
  const tripped = trippedByPlan(job.brakes, plan, lastNight(nights)?.rows, { defaults: true });
  const note = (brake: 'same_file' | 'unknown_keys', { tripped: sentence, remark }: BrakeFinding) => {
    if (remark !== undefined) run.warn(remark);
    if (sentence === undefined) return;
    if (job.brakes[brake] === 'stop') tripped.push(sentence);
    else run.warn(sentence);
  };
  const writes = counts.creates + counts.updates + orphans.acted;
  note('same_file', sameFileBrake(nights, sha256, writes > 0));
  const unknown = unknownKeys(
    {
      keyed: resolved.keys.size,
      matched: compared.keysFound,
      records: compared.records - compared.withoutKey,
    },
    {
      company: run.request.company,
      resource: resolved.spec.name,
      ...(resolved.companyName === undefined ? {} : { companyName: resolved.companyName }),
    },
  );
  if (unknown !== undefined) note('unknown_keys', { tripped: unknown });
  return tripped;
}

/** Counts in how many fields rows and records differ, and whose value stands. */
export function createDifferenceCounter({ store }: Pick<Run, 'store'>) {
  const byField = new Map<string, { file: number; service: number; cleared: number }>();
  /** Rows that cannot be taken, by heading or field at fault. */
  const invalidBy = new Map<string, number>();
  let rows = 0;
  return {
    invalidBy,
    see(change: Change): void {
      // What a row that cannot be written would have changed is no difference that anybody settled.
      if (change.kind === 'settled' && change.outcome === 'invalid') {
        const faulty = change.issues.flatMap(({ severity, column, field }) =>
          severity === 'error' ? [column ?? field ?? ''] : [],
        );
        for (const name of new Set(faulty)) if (name !== '') invalidBy.set(name, (invalidBy.get(name) ?? 0) + 1);
        return;
      }
      const differing = ('diff' in change ? (change.diff ?? []) : []).filter(
        ({ kind }) => kind === 'set' || kind === 'clear' || kind === 'kept',
      );
      if (differing.length > 0) rows++;
      for (const { field, kind } of differing) {
        const counts = byField.get(field) ?? { file: 0, service: 0, cleared: 0 };
        if (kind === 'kept') counts.service++;
        else counts.file++;
        if (kind === 'clear') counts.cleared++;
        byField.set(field, counts);
      }
    },
    counts(): ReconcileFacts['differences'] {
      const { names } = store;
      const fields = [...byField].map(([field, counts]) => ({ field: withFieldNames(field, names), ...counts }));
      const sum = (of: (one: (typeof fields)[number]) => number) => fields.reduce((total, one) => total + of(one), 0);
      return {
        rows,
        fields: sum(({ file, service }) => file + service),
        file_stands: sum(({ file }) => file),
        service_stands: sum(({ service }) => service),
        cleared: sum(({ cleared }) => cleared),
        by_field: fields.sort((a, b) => b.file + b.service - (a.file + a.service) || (a.field < b.field ? -1 : 1)),
      };
    },
  };
}
