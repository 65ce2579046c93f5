import { makeFolder } from '../files/make-folder.js';
import type { Night } from '../model/reconcile.js';
import type { BrakeFinding } from '../pipeline/plan/brakes.js';
import { reached } from '../trace/milestones.js';
import { HOME } from './layout.js';
import { type Absences, countAbsences, endAbsences, type Found, readAbsent, writeAbsent } from './nights-absent.js';
import {
  APPLIED,
  alone,
  baseline,
  fileOf,
  HISTORY,
  isApplied,
  isFinished,
  type Line,
  nightsDir,
  readLines,
  writeLines,
} from './nights-file.js';

export { type Absence, type Absences, countAbsences } from './nights-absent.js';
export { nightsDir } from './nights-file.js';

/** Whose nights: those of one job for one company of one service. */
export interface NightsOf {
  readonly home: string;
  /** `jobKey` of the job. */
  readonly job: string;
  readonly company: number;
  /** Address of the service: nothing that was seen in one counts in another. */
  readonly service: string;
}

/** The file of a run, as the next night compares it with its own. */
export interface LastNight {
  readonly run: string;
  readonly at: string;
  readonly rows: number;
  readonly headings: readonly string[];
  readonly sha256: string;
  readonly apply: boolean;
  readonly status: string;
}

/** A run that was reported. */
export interface PastNight extends Night {
  /** The run whose plan it carried out. */
  readonly approves?: string;
}

/** What earlier nights of a job left. Of every list the run that began last is last, whichever ended last. */
export interface Nights {
  /** Every run that was reported, at most 90. */
  readonly history: readonly PastNight[];
  /**
   * The run with the newest file that finished; report-only runs count, braked and failed ones do not, nor does a report-only
   * run that brakes would have stopped.
   */
  readonly last?: LastNight;
  /** Runs that were applied, to the end or in part, at most 30. */
  readonly applied: readonly Pick<LastNight, 'run' | 'at' | 'sha256' | 'status'>[];
  readonly absent: Absences;
}

/** A run that ended, as `rememberNight` takes it. */
export interface EndedNight {
  readonly night: Night;
  readonly sha256: string;
  readonly headings: readonly string[];
  /** The run whose plan it carried out. */
  readonly approves?: string;
  /** Brakes tripped, and somebody let it pass. */
  readonly overridden?: boolean;
  /** What it saw; left out where it did not come so far. */
  readonly seen?: Seen;
}

/** What a run saw of the records that its file does not hold. */
export interface Seen {
  /** By id. */
  readonly orphans: Iterable<number>;
  /** Calendar date (UTC) of the run. */
  readonly date: string;
  /** Whether the list was read without doubt and every row's key could be read. */
  readonly certain: boolean;
  /** Records that a row of the file means. */
  readonly found: Found;
}

/** What earlier nights left; nothing where there was none. A line that cannot be read counts as not written. */
export async function readNights(of: NightsOf): Promise<Nights> {
  const dir = nightsDir(of);
  const lines = (await readLines(dir)).filter(({ service }) => service === of.service);
  const last = baseline(lines);
  return {
    history: lines.slice(-HISTORY).map(pastNight),
    ...(last && { last: asLast(last) }),
    applied: lines
      .filter(isApplied)
      .slice(-APPLIED)
      .map(({ sha256, night: { run, at, status } }) => ({ run, at, sha256, status })),
    absent: await readAbsent(dir, of.service),
  };
}

/**
 * Keeps how a run ended. One that ends again because it was resumed takes the place of its first end; one whose reports alone
 * are written again stays as it is. What a finished run saw counts once.
 */
export async function rememberNight(of: NightsOf, ended: EndedNight): Promise<void> {
  const dir = nightsDir(of);
  await makeFolder(dir, HOME);
  await alone(dir, async () => {
    const lines = await readLines(dir);
    const at = lines.findIndex(({ night: { run }, service }) => run === ended.night.run && service === of.service);
    const before = lines[at];
    const again = before !== undefined && isFinished(before.night);
    if (again && before.night.status === ended.night.status && before.night.writes === ended.night.writes) return;
    const history = lines.filter(({ service }) => service === of.service).map(pastNight);
    // First, because an absence knows its run and is not counted twice.
    if (!again) await rememberAbsent(dir, of.service, ended, history);
    reached('absences-kept');
    const { night, sha256, headings, approves, overridden = false } = ended;
    const line: Line = {
      service: of.service,
      sha256,
      headings,
      night,
      ...(approves === undefined ? {} : { approves }),
      ...(overridden ? { overridden } : {}),
    };
    await writeLines(dir, before ? lines.with(at, line) : [...lines, line]);
    reached('night-kept');
  });
}

async function rememberAbsent(
  dir: string,
  service: string,
  { night, sha256, approves, overridden, seen }: EndedNight,
  history: readonly PastNight[],
): Promise<void> {
  const finished = isFinished(night);
  if (!seen || !(finished || night.status === 'braked')) return;
  // What a later run saw of a newer file stands.
  if (laterNight({ history }, { run: night.run, approves })) return;
  const absent = await readAbsent(dir, service);
  const counts = finished && (night.apply || !overridden);
  const next = counts
    ? countAbsences(absent, seen.orphans, { run: night.run, sha256, ...seen })
    : endAbsences(absent, seen.found);
  if (next !== absent) await writeAbsent(dir, service, next);
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

function pastNight({ night, approves }: Line): PastNight {
  return approves === undefined ? night : { ...night, approves };
}

function asLast({ sha256, headings = [], night: { run, at, rows, apply, status } }: Line): LastNight {
  return { run, at, rows, headings, sha256, apply, status };
}
