import type { Night } from '../../model/reconcile.js';
import type { BrakeFinding } from '../../pipeline/plan/brakes.js';
import { inHome } from '../../store/home.js';
import type { Database } from '../../store/sqlite.js';
import { reached } from '../../trace/milestones.js';

/** Whose nights: those of one job for one company of one service. */
export interface NightsOf {
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
}

/** What earlier nights of a job left. Of every list the run that began last is last, whichever ended last. */
export interface Nights {
  /** Every run that was reported, at most 90. */
  readonly history: readonly PastNight[];
  /**
   * The run with the newest file that finished; report-only runs count, braked and failed ones do not, nor does a report-only
   * run that brakes would have stopped.
   */
  readonly last?: PastNight;
  /** Runs that were applied, to the end or in part, at most 30. */
  readonly applied: readonly Pick<PastNight, 'run' | 'at' | 'sha256' | 'status'>[];
  readonly absent: Absences;
}

/** A run that ended, as `rememberNight` takes it. */
export interface EndedNight extends Omit<PastNight, keyof Night> {
  readonly night: Night;
  /** What it saw; left out where it did not come so far. */
  readonly seen?: Seen;
}

/** What a run saw of the records that its file does not hold. */
export interface Seen extends Omit<Counting, 'run' | 'sha256'> {
  /** By id. */
  readonly orphans: Iterable<number>;
}

const HISTORY = 90;
const APPLIED = 30;

/** What earlier nights left; nothing where there was none. */
export function readNights(of: NightsOf): Nights {
  return inHome(of.home, (home) => {
    const kept = readKept(home, of);
    const last = baseline(kept);
    return {
      history: kept.slice(-HISTORY),
      ...(last && { last }),
      applied: kept.filter(isApplied).slice(-APPLIED),
      absent: readAbsent(home, of),
    };
  });
}

/**
 * Keeps how a run ended, and what it saw, in one step. One that ends again because it was resumed takes the place of its first
 * end; one whose reports alone are written again stays as it is. What a finished run saw counts once.
 */
export function rememberNight(of: NightsOf, { seen, night, ...more }: EndedNight): void {
  const ended: PastNight = { ...night, ...more };
  inHome(of.home, (home) =>
    home.transaction(() => {
      const earlier = readKept(home, of);
      const before = earlier.find(({ run }) => run === ended.run);
      const again = before !== undefined && isFinished(before);
      if (again && before.status === ended.status && before.writes === ended.writes) return;
      if (seen && !again) rememberAbsent(home, of, ended, seen, earlier);
      home
        .prepare('insert or replace into night (job, company, service, run, ended) values (?, ?, ?, ?, ?)')
        .run(...keyOf(of), ended.run, JSON.stringify(ended));
      const kept = readKept(home, of);
      const needed = new Set([...kept.slice(-HISTORY), ...kept.filter(isApplied).slice(-APPLIED), baseline(kept)]);
      const forget = home.prepare(`delete from night where ${OF} and run = ?`);
      for (const one of kept) if (!needed.has(one)) forget.run(...keyOf(of), one.run);
    }),
  );
  reached('night-kept');
}

function rememberAbsent(
  home: Database,
  of: NightsOf,
  night: PastNight,
  seen: Seen,
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
export function forgetAbsences(of: NightsOf, ids: ReadonlySet<number>): void {
  inHome(of.home, (home) =>
    home
      .prepare(`delete from absence where ${OF} and id in (select value from json_each(?))`)
      .run(...keyOf(of), JSON.stringify([...ids])),
  );
}

const OF = 'job = ? and company = ? and service = ?';
const keyOf = ({ job, company, service }: NightsOf) => [job, company, service] as const;

/** In the order in which the runs began: one may have been interrupted, and end after a later one. */
function readKept(home: Database, of: NightsOf): PastNight[] {
  const found = home.prepare(`select ended from night where ${OF} order by run`).all(...keyOf(of));
  return found.map(({ ended }) => JSON.parse(String(ended)) as PastNight);
}

function readAbsent(home: Database, of: NightsOf): Absences {
  const found = home
    .prepare(`select id, since, absences, sha256, run, earlier from absence where ${OF}`)
    .all(...keyOf(of));
  return new Map(
    found.map(({ id, absences, earlier, ...texts }) => [
      Number(id),
      {
        ...(texts as { since: string; sha256: string; run: string }),
        absences: Number(absences),
        ...(earlier === null ? {} : { earlier: JSON.parse(String(earlier)) as string[] }),
      },
    ]),
  );
}

function writeAbsent(home: Database, of: NightsOf, absent: Absences): void {
  home.prepare(`delete from absence where ${OF}`).run(...keyOf(of));
  const insert = home.prepare(
    'insert into absence (job, company, service, id, since, absences, sha256, run, earlier) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  for (const [id, { since, absences, sha256, run, earlier }] of absent) {
    insert.run(...keyOf(of), id, since, absences, sha256, run, earlier ? JSON.stringify(earlier) : null);
  }
}

/** It came to its end, whatever became of single rows. */
const isFinished = ({ status }: Pick<Night, 'status'>): boolean => status === 'succeeded' || status === 'partial';

/** Whether a run wrote, or found nothing to write; one that was stopped at it counts as well. */
const isApplied = (night: PastNight): boolean => night.apply && (isFinished(night) || night.writes > 0);

/**
 * Whose file a run took, as a place in the order of runs. An approved run took the file of the run that was approved, however
 * long that was ago.
 */
const fileOf = ({ run, approves }: { readonly run: string; readonly approves?: string | undefined }): string =>
  approves ?? run;

/**
 * The run that the next one is compared with: of those that finished, the one with the newest file. A look with `--force` at
 * a file that brakes would stop is no measure.
 */
function baseline(kept: readonly PastNight[]): PastNight | undefined {
  const fit = kept.filter((night) => isFinished(night) && (night.apply || !night.overridden));
  return fit.reduce<PastNight | undefined>((best, one) => (best && fileOf(best) > fileOf(one) ? best : one), undefined);
}

/**
 * The latest run of the job whose file is newer than that of a run, and that saw what is there: what the older file says of
 * missing records means nothing any more. `approves`: the run whose plan it carries out.
 */
export function laterNight(
  { history }: Pick<Nights, 'history'>,
  of: { readonly run: string; readonly approves?: string | undefined },
): PastNight | undefined {
  return history.findLast((night) => night.run !== of.run && night.status !== 'failed' && fileOf(night) > fileOf(of));
}

/**
 * Whether this very file was applied before: a job that put an older file in the place of today's would undo what people did
 * since. A run that did not succeed may be repeated until another file is applied.
 */
export function sameFile({ applied }: Pick<Nights, 'applied'>, sha256: string, wouldWrite: boolean): BrakeFinding {
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
  const what = `the file has the same content as the one that run ${same.run} ${how} on ${when(same.at)}.${others}`;
  if (!wouldWrite) return { remark: `T${what.slice(1)} Nothing is to be written.` };
  return {
    tripped: `same_file: ${what} Writing it again would put its older values over what was changed since: has the ERP left a new file?`,
  };
}

/** `2026-11-20, 02:00 UTC` */
const when = (at: string): string => `${at.slice(0, 10)}, ${at.slice(11, 16)} UTC`;

/** Since when, and in how many runs in a row, a record is missing from a job's file. */
interface Absence {
  /** Calendar date (UTC, `yyyy-MM-dd`) of the first of these runs. */
  readonly since: string;
  /** 0: no run has counted yet, only such that were not certain. */
  readonly absences: number;
  /** Of the file, and the run, that was counted last. */
  readonly sha256: string;
  readonly run: string;
  /** Beginnings of the SHA-256 of files that were counted before that one, newest last. */
  readonly earlier?: readonly string[];
}

/** By id of the record. */
export type Absences = ReadonlyMap<number, Absence>;

/** The run that counts. */
export interface Counting {
  readonly run: string;
  readonly sha256: string;
  /** Calendar date (UTC) of the run. */
  readonly date: string;
  /** Whether the list was read without doubt and every row's key could be read. Else nothing is counted. */
  readonly certain: boolean;
  /** Records that a row of the file means. They are there, however doubtful the rest of the reading. */
  readonly found?: ReadonlySet<number>;
}

/** Files that an absence knows it was counted for, beside the last; and how much of their SHA-256. */
const EARLIER = 8;
const MARK = 16;

/**
 * The absences after a run. An orphan is absent once more where its file was not counted before; a record that is no orphan any
 * more is forgotten. A run that is resumed counts once. A run that is not certain counts nothing: it ends the absences of
 * what it has `found`, and notes orphans that nobody knew of, so that they are no news to the next run.
 */
export function countAbsences(absent: Absences, orphanIds: Iterable<number>, by: Counting): Absences {
  const { run, sha256, date, certain, found } = by;
  const next = new Map(certain ? [] : endAbsences(absent, found));
  for (const id of orphanIds) {
    const known = absent.get(id);
    if (!known) next.set(id, { since: date, absences: certain ? 1 : 0, sha256, run });
    else if (!certain || known.run === run || isCounted(known, sha256)) next.set(id, known);
    else next.set(id, { ...known, absences: known.absences + 1, sha256, run, ...earlierOf(known) });
  }
  return next;
}

/** The absences after a run that counts none: those of records that its file holds end. */
export function endAbsences(absent: Absences, found: ReadonlySet<number> | undefined): Absences {
  return found ? new Map([...absent].filter(([id]) => !found.has(id))) : absent;
}

function isCounted(known: Absence, sha256: string): boolean {
  if (known.absences === 0) return false;
  return known.sha256 === sha256 || (known.earlier?.includes(sha256.slice(0, MARK)) ?? false);
}

function earlierOf({ absences, sha256, earlier = [] }: Absence): { earlier?: readonly string[] } {
  return absences === 0 ? {} : { earlier: [...earlier, sha256.slice(0, MARK)].slice(-EARLIER) };
}
