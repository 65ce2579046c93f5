import { createHash, randomBytes } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { z } from 'zod';
import { usageError } from '../../model/error.js';
import { runFolder, startTimeOf } from '../../runs/run/layout.js';
import { isLocked } from '../../runs/run/lock.js';
import type { RetireValues } from '../../runs/undo.js';
import { homeExists, withHome } from '../../store/home.js';
import { reached } from '../../trace/milestones.js';
import type { Job, Queue, Store } from '../store/port.js';
import { parseAs } from '../store/shared.js';
import { againJobId, freshState, stateOf } from './job.js';

/**
 * What the workers on a queue know of each other's data folders, oldest first, in one text of the store. A worker lives on
 * one while the lease `home.<id>` is held.
 */
const homesSchema = z.array(
  z.object({
    id: z.string().regex(/^[0-9a-f]{16}$/),
    /** Folders that its worker may read: its working folder may be another than that of whoever enqueues. */
    roots: z.array(z.string().min(1)).max(1_000),
    service: z.string(),
  }),
);
type Home = z.output<typeof homesSchema>[number];

/** Data folders that are remembered; the oldest go. */
const MOST_HOMES = 200;
const HOMES_KEY = 'homes';

const parseHomes = (text: string | undefined): Home[] => parseAs(homesSchema, text) ?? [];

/**
 * The worker tells at its start what is to be known of its data folder. Workers on one queue take turns, and share one ceiling,
 * by the address of their service: two spellings of it would be two services.
 * @throws RunError `usage` where a worker lives that names another service.
 */
export async function registerHome(store: Pick<Store, 'update' | 'read' | 'leased'>, home: Home): Promise<void> {
  const { service } = home;
  for (const other of parseHomes(await store.read(HOMES_KEY))) {
    if (other.service === service || !(await store.leased(`home.${other.id}`))) continue;
    throw usageError(
      `Another worker on this queue serves ${other.service}, and ROWFERRY_API_URL of this one is ${service}. Workers on one queue must name the service by the very same address: they take turns by it. ` +
        `Correct it, or give this service a queue of its own. A worker that has just ended counts for the seconds of ROWFERRY_LEASE.`,
    );
  }
  await store.update(HOMES_KEY, (text) => {
    const others = parseHomes(text).filter(({ id }) => id !== home.id);
    return JSON.stringify([...others, home].slice(-MOST_HOMES));
  });
}

/** Folders that the last worker on a data folder could read; undefined where there was none. */
export async function registeredRoots(
  store: Pick<Store, 'read'>,
  homeId: string,
): Promise<readonly string[] | undefined> {
  return parseHomes(await store.read(HOMES_KEY)).find(({ id }) => id === homeId)?.roots;
}

/** A run that was begun in a data folder whose worker went away, and by what it was replaced where. */
const takenSchema = z.object({ run: z.string(), home: z.string(), by: z.string(), host: z.string() });
type Taken = z.output<typeof takenSchema>;
/** Of so many it is remembered: the queue may have forgotten their jobs when the data folder comes back. */
const MOST_TAKEN = 500;
const TAKEN_KEY = 'taken';

const parseTaken = (text: string | undefined): Taken[] => parseAs(z.array(takenSchema), text) ?? [];

export async function noteTaken(store: Pick<Store, 'update'>, taken: Taken): Promise<void> {
  await store.update(TAKEN_KEY, (text) => JSON.stringify([...parseTaken(text), taken].slice(-MOST_TAKEN)));
}

/** What tells this data folder from those of other machines: a random number, kept in it. The folder exists. */
export function homeId(home: string): string {
  return withHome(home, (db) => {
    db.prepare('insert into identity select ? where not exists (select 1 from identity)').run(
      randomBytes(8).toString('hex'),
    );
    return String(db.prepare('select id from identity').get()?.['id']);
  });
}

/** Whether a run was begun in this data folder, so that it can be continued here. */
export async function isBegunHere(home: string, run: string): Promise<boolean> {
  return stat(runFolder(home, run).request).then(
    (info) => info.isFile(),
    () => false,
  );
}

/**
 * What this data folder knows of the jobs whose runs it began. A queue that lost its last moments (a restart without its log, a
 * failover) has forgotten which run a job led to, or the job itself; the folder has not.
 *
 *   begun --run ended, job not acknowledged yet--> ended: the run is known, the data are gone
 *         --taken off the queue before it began--> stopped: not put back by itself, but on request
 */
export interface Ticket {
  readonly run: string;
  /** Of its job: `jobKey`. */
  readonly key: string;
  /** Taken off the queue before it began. */
  readonly stopped: boolean;
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
  readonly opts: Pick<Job['opts'], 'attempts' | 'backoff'>;
  readonly again?: FollowUp | undefined;
}

/** What a run is to do with an earlier one of this data folder. Kept here alone: nothing that lies on the queue can ask for it. */
export type FollowUp = { readonly of: string } & (
  | { readonly verb: 'retry'; readonly force: boolean }
  | { readonly verb: 'undo'; readonly dryRun: boolean; readonly force: boolean; readonly retire?: RetireValues }
  | { readonly verb: 'approve'; readonly by: string }
);

type TicketJob = Pick<Job, 'id' | 'name' | 'timestamp' | 'data' | 'opts'>;

/** What `ended` says of a ticket; 0 while its job waits, or is at work. */
const [ENDED, STOPPED] = [1, 2];
/** Ended tickets are needed for as long as a queue may deliver the job again. */
const KEEP_MS = 7 * 24 * 3_600_000;

/** The run that the job began. */
export function readTicket(home: string, job: TicketJob): string | undefined {
  const row = withHome(home, (db) => db.prepare('select run from ticket where job = ?').get(ticketKey(job)));
  return row && String(row['run']);
}

/** Those of runs that have not ended as far as this folder knows. */
export function tickets(home: string, where = 'true', ...values: readonly string[]): Ticket[] {
  if (!homeExists(home)) return [];
  const sql = `select run, job, ended, content from ticket where ended <> ${ENDED} and ${where}`;
  return withHome(home, (db) => db.prepare(sql).all(...values)).map(({ run, job, ended, content }) => ({
    ...(JSON.parse(String(content)) as Ticket),
    run: String(run),
    key: String(job),
    stopped: ended === STOPPED,
  }));
}

/** Of a run that has not ended. */
export const ticketOf = (home: string, run: string): Ticket | undefined => tickets(home, 'run = ?', run)[0];

/** What a run was to do with an earlier one, also where it ended before it began. */
export function followUpOf(home: string, run: string): FollowUp | undefined {
  const row = withHome(home, (db) =>
    db.prepare(`select nullif(content, '') ->> 'again' as again from ticket where run = ?`).get(run),
  );
  return typeof row?.['again'] === 'string' ? (JSON.parse(row['again']) as FollowUp) : undefined;
}

/** Whether a run of this data folder was begun by the job, or by one that it stands for after the queue had lost it. */
export function wasBegunBy(home: string, job: Pick<Job, 'id' | 'timestamp'>, run: string): boolean {
  const row = withHome(home, (db) => db.prepare('select job from ticket where run = ?').get(run));
  return row !== undefined && (row['job'] === ticketKey(job) || job.id === againJobId(run));
}

export function beginTicket(home: string, job: TicketJob, run: string, again = ticketOf(home, run)?.again): void {
  const { id = '', name, data } = job;
  const { attempts, backoff } = job.opts;
  const opts = { ...(attempts && { attempts }), ...(backoff && { backoff }) };
  withHome(home, (db) =>
    db
      .prepare('insert or replace into ticket (run, job, ended, content) values (?, ?, 0, ?)')
      .run(run, ticketKey(job), JSON.stringify({ id, name, data, opts, again })),
  );
}

export function endTicket(home: string, run: string): void {
  const left = `json_object('again', nullif(content, '') -> 'again')`;
  withHome(home, (db) => db.prepare(`update ticket set ended = ?, content = ${left} where run = ?`).run(ENDED, run));
  reached('ticket-ended');
}

/** The job was taken off the queue, and somebody may want it back. */
export function stopTicket(home: string, run: string): void {
  withHome(home, (db) => db.prepare('update ticket set ended = ? where run = ? and ended = 0').run(STOPPED, run));
}

/** Within so many milliseconds a job that was put on the queue says whose it is. */
const ANNOUNCE_MS = 1_000;

/** Puts a job on the queue that workers with another data folder leave to those of this one: nobody has it before it says so. */
export async function enqueueForHome(
  home: string,
  run: string,
  queue: Pick<Queue, 'add'>,
  ...[name, data, opts]: Parameters<Queue['add']>
): Promise<void> {
  const added = await queue.add(name, data, { ...opts, delay: ANNOUNCE_MS });
  await added.updateProgress({ ...freshState(run), home: homeId(home), host: hostname() });
  // It would be let go on by itself, a moment later.
  await added.promote().catch(() => undefined);
}

/**
 * Puts jobs back on the queue whose runs were begun here, have not ended, and which the queue does not know any more; a run
 * whose job another data folder has begun anew is put aside.
 * The worker calls it at its start and after the queue was away; several may do so at once. Jobs of the drop folder are
 * offered again by the drop folder. Returns the runs.
 */
export async function restoreJobs(
  home: string,
  queue: Pick<Queue, 'getJob' | 'add'>,
  store: Pick<Store, 'read'>,
): Promise<string[]> {
  const restored: string[] = [];
  const own = homeId(home);
  withHome(home, (db) => {
    for (const { run } of db.prepare('select run from ticket where ended > 0').all())
      if (Date.now() - Date.parse(startTimeOf(String(run))) > KEEP_MS)
        db.prepare('delete from ticket where run = ?').run(String(run));
  });
  for (const { run, key, id, name, data, opts, again } of tickets(home, 'ended = 0')) {
    const { lock, aside } = runFolder(home, run);
    // A process is at work on it, with a job or on request.
    if (await isLocked(lock)) continue;
    const queued = await queue.getJob(id);
    // Numbers begin anew in a queue that lost everything: the same id may be another job.
    const isQueued = queued && ticketKey(queued) === key;
    const state = isQueued ? stateOf(queued) : undefined;
    const taken = isQueued
      ? state?.home !== undefined && state.home !== own && { by: state.run, host: state.host }
      : parseTaken(await store.read(TAKEN_KEY)).findLast((one) => one.run === run && one.home === own);
    if (taken) {
      const text = `While its worker was away the job was begun anew on ${taken.host}, as run ${taken.by}: look there before this one is gone on with.`;
      if (await isBegunHere(home, run)) await writeFile(aside, text);
      endTicket(home, run);
    }
    if (taken || isQueued || id.startsWith('drop.')) continue;
    const jobId = /^(night|run)\./.test(id) ? id : againJobId(run);
    if (jobId !== id && (await queue.getJob(jobId))) continue;
    const isBoundHere = again !== undefined || (await isBegunHere(home, run));
    if (isBoundHere) await enqueueForHome(home, run, queue, name, data, { ...opts, jobId });
    else await queue.add(name, data, { ...opts, jobId });
    restored.push(run);
  }
  return restored;
}

/** An id may be given twice over time, except those that are ours (`job.ts`). */
function ticketKey({ id = '', timestamp }: Pick<Job, 'id' | 'timestamp'>): string {
  const text = /^(night|again|drop|run)\./.test(id) ? id : `${id}\0${timestamp}`;
  return createHash('sha256').update(text).digest('hex');
}
