import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Job, Queue } from 'bullmq';
import { reached } from '../../trace/milestones.js';
import { placeText, textOf } from '../inbox/disk.js';
import { againJobId } from './ids.js';

/**
 * What this data folder knows of the jobs whose runs it began: `<home>/tickets/<hash>.json`. A queue that lost its last
 * moments (a restart without its log, a failover) has forgotten which run a job led to, or the job itself; the folder has not.
 *
 *   begun --run ended, job not acknowledged yet--> ended: the run is known, the data are gone
 */
interface Ticket {
  readonly run: string;
  readonly id: string;
  readonly name: string;
  readonly ended: boolean;
  readonly data?: unknown;
  readonly attempts?: number | undefined;
}

type Ticketed = Pick<Job, 'id' | 'name' | 'timestamp' | 'data' | 'opts'>;

/** Ended tickets are needed for as long as a queue may deliver the job again. */
const KEEP_MS = 7 * 24 * 3_600_000;

export async function readTicket(home: string, job: Ticketed): Promise<Ticket | undefined> {
  return readFrom(ticketFile(home, job));
}

/** Whether a run of this data folder was begun by the job, or by one that it stands for after the queue had lost it. */
export async function wasBegunBy(home: string, job: Pick<Job, 'id' | 'timestamp'>, run: string): Promise<boolean> {
  if ((await readFrom(ticketFile(home, job)))?.run === run) return true;
  const again = job.id === againJobId(run);
  if (!again && !job.id?.startsWith('drop.')) return false;
  for (const entry of await readdir(ticketsDir(home)).catch((): string[] => [])) {
    const ticket = await readFrom(path.join(ticketsDir(home), entry));
    if (ticket?.run === run && (again || ticket.id === job.id)) return true;
  }
  return false;
}

export async function beginTicket(home: string, job: Ticketed, run: string): Promise<void> {
  const { id = '', name, data, opts } = job;
  await write(ticketFile(home, job), { run, id, name, ended: false, data, attempts: opts.attempts });
}

export async function endTicket(home: string, job: Ticketed, run: string): Promise<void> {
  const { id = '', name } = job;
  await write(ticketFile(home, job), { run, id, name, ended: true });
  reached('ticket-ended');
}

/**
 * Puts jobs back on the queue whose runs were begun here, have not ended, and which the queue does not know any more.
 * The worker calls it at its start and after the queue was away; several may do so at once. Jobs of the drop folder are
 * offered again by the drop folder. Returns the runs.
 */
export async function restoreJobs(home: string, queue: Pick<Queue, 'getJob' | 'add'>): Promise<string[]> {
  const restored: string[] = [];
  const dir = ticketsDir(home);
  for (const entry of await readdir(dir).catch((): string[] => [])) {
    if (!entry.endsWith('.json')) continue;
    const file = path.join(dir, entry);
    const ticket = await readFrom(file);
    if (!ticket) continue;
    if (ticket.ended) {
      if (ageOf(ticket.run) > KEEP_MS) await rm(file, { force: true });
      continue;
    }
    if (ticket.id.startsWith('drop.')) continue;
    const known = await queue.getJob(ticket.id);
    // Numbers begin anew in a queue that lost everything: the same id may be another job.
    if (known && path.basename(ticketFile(home, known)) === entry) continue;
    const id = ticket.id.startsWith('night.') ? ticket.id : againJobId(ticket.run);
    if (id !== ticket.id) {
      // The job put back has a ticket of its own as soon as it is taken. Until then the queue may lose it as well.
      const taken = (await readFrom(ticketFile(home, { id, timestamp: 0 }))) !== undefined;
      if (taken) await rm(file, { force: true });
      if (taken || (await queue.getJob(id))) continue;
    }
    await queue.add(ticket.name, ticket.data, {
      jobId: id,
      ...(ticket.attempts !== undefined && { attempts: ticket.attempts }),
    });
    restored.push(ticket.run);
  }
  return restored;
}

function ticketsDir(home: string): string {
  return path.join(home, 'tickets');
}

function ticketFile(home: string, job: Pick<Job, 'id' | 'timestamp'>): string {
  // A slot's job is the same job also after it was put back; elsewhere an id may be given twice over time.
  const own = job.id?.startsWith('night.') || job.id?.startsWith('again.');
  const hash = createHash('sha256')
    .update(`${job.id}\0${own ? '' : job.timestamp}`)
    .digest('hex');
  return path.join(ticketsDir(home), `${hash.slice(0, 32)}.json`);
}

async function readFrom(file: string): Promise<Ticket | undefined> {
  try {
    // Our own file: it appears complete or not at all, unless the disk failed.
    return JSON.parse((await textOf(file)) ?? '') as Ticket;
  } catch {
    return undefined;
  }
}

async function write(file: string, ticket: Ticket): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await placeText(file, JSON.stringify(ticket), { flush: true });
}

/** Milliseconds since a run was begun, from its id. */
function ageOf(run: string): number {
  const at = Date.parse(run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-.*$/, '$1-$2-$3T$4:$5:$6.$7Z'));
  return Number.isNaN(at) ? 0 : Date.now() - at;
}
