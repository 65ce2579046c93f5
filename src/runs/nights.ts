import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../files/make-folder.js';
import { writeSafely } from '../files/safe-write.js';
import type { Night } from '../model/reconcile.js';
import type { BrakeFinding } from '../pipeline/night-brakes.js';
import type { LoadedJob } from './job-file.js';
import { HOME } from './layout.js';
import { type Absences, readAbsent, writeAbsent } from './nights-absent.js';

export { type Absence, type Absences, countAbsences } from './nights-absent.js';

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

/** What earlier nights of a job left. Of every list the newest is last. */
export interface Nights {
  /** Every run that was reported, at most 90. */
  readonly history: readonly Night[];
  /** The last run that finished; report-only runs count, braked and failed ones do not. */
  readonly last?: LastNight;
  /** Runs that were applied and finished, at most 30. */
  readonly applied: readonly Pick<LastNight, 'run' | 'at' | 'sha256' | 'status'>[];
  readonly absent: Absences;
}

/** A run that ended, as `rememberNight` takes it. */
export interface EndedNight {
  readonly night: Night;
  readonly sha256: string;
  readonly headings: readonly string[];
  /** What `countAbsences` gave; left out where this run changes nothing. */
  readonly absent?: Absences;
}

const HISTORY = 90;
const APPLIED = 30;

/** One line of nights.ndjson. `headings` of the last finished run alone. */
interface Line {
  readonly service: string;
  readonly sha256: string;
  readonly headings?: readonly string[];
  readonly night: Night;
}

/** What tells a job from others: its name, and of a job without a file its content. */
export function jobKey({ name, path, sha256 }: Pick<LoadedJob, 'name' | 'path' | 'sha256'>): string {
  return path === '' ? `${name}-${sha256.slice(0, 16)}` : name;
}

/** `<home>/reconcile/<job>-<company>/`. Names that had to be changed to be those of a folder carry a hash, so that none is shared. */
export function nightsDir({ home, job, company }: Pick<NightsOf, 'home' | 'job' | 'company'>): string {
  const plain = job.replace(/[^\p{L}\p{N}._-]+/gu, '_').slice(0, 100);
  const hash = createHash('sha256').update(job).digest('hex').slice(0, 12);
  return join(home, 'reconcile', `${plain === job ? job : `${plain}~${hash}`}-${company}`);
}

/** What earlier nights left; nothing where there was none. A line that cannot be read counts as not written. */
export async function readNights(of: NightsOf): Promise<Nights> {
  const dir = nightsDir(of);
  const lines = (await readLines(dir)).filter(({ service }) => service === of.service);
  const last = lines.findLast(({ night }) => isFinished(night));
  return {
    history: lines.slice(-HISTORY).map(({ night }) => night),
    ...(last && { last: asLast(last) }),
    applied: lines
      .filter(isApplied)
      .slice(-APPLIED)
      .map(({ sha256, night: { run, at, status } }) => ({ run, at, sha256, status })),
    absent: await readAbsent(dir, of.service),
  };
}

/** Keeps how a run ended. A run that ends again (resumed, or its reports written again) takes the place of its first end. */
export async function rememberNight(of: NightsOf, { night, sha256, headings, absent }: EndedNight): Promise<void> {
  const dir = nightsDir(of);
  await makeFolder(dir, HOME);
  // First, because an absence knows its run and is not counted twice.
  if (absent) await writeAbsent(dir, of.service, absent);
  const lines = await readLines(dir);
  const line: Line = { service: of.service, sha256, headings, night };
  const at = lines.findIndex((one) => one.night.run === night.run);
  if (at < 0) lines.push(line);
  else lines[at] = line;
  const kept = keep(lines);
  await writeSafely(join(dir, 'nights.ndjson'), (write) =>
    write(kept.map((one) => `${JSON.stringify(one)}\n`).join('')),
  );
}

/**
 * Whether this very file was applied before, by a run that succeeded: a job that put an older file in the place of today's would
 * undo what people did since. A run that was partial may be repeated.
 */
export function sameFile({ applied }: Pick<Nights, 'applied'>, sha256: string, wouldWrite: boolean): BrakeFinding {
  const at = applied.findLastIndex((one) => one.sha256 === sha256 && one.status === 'succeeded');
  const same = applied[at];
  if (!same) return {};
  const since = new Set(applied.slice(at + 1).map((one) => one.sha256));
  since.delete(sha256);
  const others =
    since.size === 0
      ? ''
      : ` ${since.size === 1 ? 'Another file was' : `${since.size} other files were`} applied since.`;
  const what = `the file has the same content as the one that run ${same.run} applied on ${when(same.at)}.${others}`;
  if (!wouldWrite) return { remark: `T${what.slice(1)} Nothing is to be written.` };
  return {
    tripped: `same_file: ${what} Writing it again would put its older values over what was changed since: has the ERP left a new file?`,
  };
}

/** `2026-11-20, 02:00 UTC` */
const when = (at: string): string => `${at.slice(0, 10)}, ${at.slice(11, 16)} UTC`;

const isFinished = ({ status }: Night): boolean => status === 'succeeded' || status === 'partial';
const isApplied = ({ night }: Line): boolean => night.apply && isFinished(night);

function asLast({ sha256, headings = [], night: { run, at, rows, apply, status } }: Line): LastNight {
  return { run, at, rows, headings, sha256, apply, status };
}

/** What the next night needs, of each service: a run of another one takes nothing away. */
function keep(lines: readonly Line[]): Line[] {
  const needed = new Set<Line>();
  const last = new Set<Line>();
  for (const service of new Set(lines.map((line) => line.service))) {
    const own = lines.filter((line) => line.service === service);
    const finished = own.findLast(({ night }) => isFinished(night));
    if (finished) last.add(finished);
    for (const line of [...own.slice(-HISTORY), ...own.filter(isApplied).slice(-APPLIED), ...last]) needed.add(line);
  }
  return lines
    .filter((line) => needed.has(line))
    .map((line) => {
      const { headings: _, ...rest } = line;
      return last.has(line) ? line : rest;
    });
}

async function readLines(dir: string): Promise<Line[]> {
  const text = await readFile(join(dir, 'nights.ndjson'), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap((line) => {
    try {
      const value = JSON.parse(line) as Partial<Line> | null;
      return typeof value?.night?.run === 'string' && typeof value.service === 'string' ? [value as Line] : [];
    } catch {
      return [];
    }
  });
}
