import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { JobsOptions } from 'bullmq';
import type { Database, SqlValue } from '../../store/sqlite.js';
import type { Queues } from './assemble.js';
import { isStoreUnavailable, storeFault } from './faults.js';
import { type Job, type Processor, type Queue, UnrecoverableError, type Worker, type WorkerOptions } from './port.js';

/**
 * Jobs by queue and state, there in the order of `rank`: where they wait their turn, else when they are due, were taken, or ended, in
 * milliseconds since 1970. `rest` is what `Job` shows besides, as JSON. Their data lie apart: they may be large, and never change.
 */
export const JOB_SCHEMA = `
  create table job (
    number integer primary key, queue text not null, id text not null, state text not null, rank integer not null, rest text not null,
    unique (queue, id)
  ) strict;
  create index job_turn on job (queue, state, rank, number);
  create table job_data (number integer primary key, data text not null) strict;
  create trigger job_gone after delete on job begin delete from job_data where number = old.number; end;
`;

const STATES = ['waiting', 'delayed', 'active', 'completed', 'failed'] as const;
type State = (typeof STATES)[number];
type Place = readonly [state: State, rank: number];
type Row = Readonly<Record<'queue' | 'id' | 'rest' | 'data', string>> & {
  readonly state: State;
  readonly rank: number;
};
type Keep = JobsOptions['removeOnComplete'];

/** Jobs are looked for so often where nothing tells of any: the clock may have been set. */
const LOOK_MS = 5_000;
/** What could not be read or written is tried again so soon. */
const PAUSE_MS = 2_000;

/** `work` is one step, as nobody else has the file; its faults are told as those of a store. */
export async function step<T>(work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    throw storeFault(error);
  }
}

/** The same, once sockets and timers had their turn: an answer may bring the next question at once. */
async function ask<T>(work: () => T): Promise<T> {
  await turn();
  return step(work);
}

/** The queues of a home over its file. What is active at the beginning had a worker that is gone, and comes before all that wait. */
export function embeddedQueues(database: Database): Queues {
  /** Tells the name of a queue when a job comes to wait on it. */
  const news = new EventEmitter().setMaxListeners(0);
  const open = (name: string, defaults?: JobsOptions) => new EmbeddedQueue(database, news, name, defaults);
  const workers: EmbeddedWorker[] = [];
  for (const { name } of database.prepare('select distinct queue as name from job').all()) open(String(name)).recover();
  return {
    queue: (name, options) => open(name, options?.defaultJobOptions),
    worker(name, processor, options) {
      const worker = new EmbeddedWorker(open(name), news, processor, options);
      workers.push(worker);
      return worker;
    },
    close: () => Promise.all(workers.map((worker) => worker.close())),
  };
}

/** A queue, for all who ask and for its workers; every step is on the disk when it is answered. */
class EmbeddedQueue implements Queue {
  constructor(
    private readonly database: Database,
    private readonly news: EventEmitter,
    readonly name: string,
    private readonly defaults: JobsOptions = {},
  ) {}

  add(name: string, data: unknown, { jobId: id = randomUUID(), ...options }: JobsOptions = {}): Promise<Job> {
    return ask(() => {
      const [opts, timestamp] = [{ ...this.defaults, ...options }, Date.now()];
      const { delay = 0 } = opts;
      const place: Place = delay > 0 ? ['delayed', timestamp + delay] : this.#place('last');
      const rest = { name, opts, timestamp, progress: 0, attemptsMade: 0, stalledCounter: 0, returnvalue: null };
      this.database.transaction(() => {
        if (this.#row(id)) return;
        const sql = 'insert into job (queue, id, state, rank, rest) values (?, ?, ?, ?, ?)';
        this.#run(sql, id, ...place, JSON.stringify(rest));
        this.database.prepare('insert into job_data values (last_insert_rowid(), ?)').run(JSON.stringify(data ?? {}));
      });
      this.news.emit(this.name);
      return this.#jobOf(this.#rows('id = ?', id)[0] as Row);
    });
  }

  getJob(id: string): Promise<Job | undefined> {
    return ask(() => this.#rows('id = ?', id).map((row) => this.#jobOf(row))[0]);
  }

  getJobs(states: readonly string[] = STATES, start = 0, end = -1, asc = false): Promise<Job[]> {
    const order = asc ? 'rank, number' : 'rank desc, number desc';
    const length = end < 0 ? -1 : end - start + 1;
    const inState = (state: string) => this.#rows(`state = ? order by ${order} limit ? offset ?`, state, length, start);
    return ask(() => states.flatMap(inState).map((row) => this.#jobOf(row)));
  }

  getJobState(id: string): Promise<State | 'unknown'> {
    return ask(() => this.#row(id)?.state ?? 'unknown');
  }

  getJobCounts(...states: readonly string[]): Promise<Record<string, number>> {
    const counted = this.database.prepare('select count(*) as jobs from job where queue = ? and state = ?');
    const count = (state: string) => [state, Number(counted.get(this.name, state)?.['jobs'])];
    return ask(() => Object.fromEntries((states.length > 0 ? states : STATES).map(count)));
  }

  remove(id: string): Promise<number> {
    return ask(() => this.#run(`delete from job where queue = ? and id = ? and state <> 'active'`, id));
  }

  async close(): Promise<void> {}

  recover(): void {
    for (const { id, rest } of this.#rows(`state = 'active' order by rank desc, number desc`)) {
      const { stalledCounter } = JSON.parse(rest) as Job;
      this.#change(id, 'active', this.#place('first'), { stalledCounter: stalledCounter + 1 });
    }
  }

  /** Makes the next job active. Those that were delayed and are due come after all that wait. */
  take(): Job | undefined {
    return this.database.transaction(() => {
      const due = this.#rows(`state = 'delayed' and rank <= ? order by rank, number`, Date.now());
      for (const { id } of due) this.#change(id, 'delayed', this.#place('last'));
      const [next] = this.#rows(`state = 'waiting' order by rank, number limit 1`);
      if (next) this.#change(next.id, 'waiting', ['active', Date.now()]);
      return next && this.#jobOf(next);
    });
  }

  /** Milliseconds until the next delayed job is due. */
  dueInMs(): number {
    const [next] = this.#rows(`state = 'delayed' order by rank limit 1`);
    return Math.max(0, (next?.rank ?? Number.POSITIVE_INFINITY) - Date.now());
  }

  complete({ id = '', opts }: Job, returnvalue: unknown, keep: Keep): Promise<void> {
    return ask(() => this.#end(id, 'completed', { returnvalue }, opts.removeOnComplete ?? keep));
  }

  /** An attempt has failed: with the last one the job has. */
  fail({ id = '', opts, attemptsMade: before }: Job, error: Error, keep: Keep): Promise<void> {
    const { attempts = 1, backoff } = opts;
    const change = { failedReason: error.message, attemptsMade: before + 1 };
    if (error.name === 'UnrecoverableError' || before + 1 >= attempts)
      return ask(() => this.#end(id, 'failed', change, opts.removeOnFail ?? keep));
    const { type, delay = 0 } = typeof backoff === 'object' ? backoff : { type: 'fixed', delay: backoff };
    const delayMs = type === 'exponential' ? delay * 2 ** before : delay;
    return ask(() => void this.#change(id, 'active', ['delayed', Date.now() + delayMs], change));
  }

  /** Of the jobs that ended so, only the last are kept. */
  #end(id: string, state: 'completed' | 'failed', change: Partial<Job>, keep: Keep): void {
    const finishedOn = Date.now();
    this.database.transaction(() => {
      this.#change(id, 'active', [state, finishedOn], { ...change, finishedOn });
      if (typeof keep !== 'object') return;
      const ended = 'from job where queue = ?1 and state = ?2';
      if ('age' in keep) this.#run(`delete ${ended} and rank < ?3`, state, finishedOn - keep.age * 1_000);
      const rest = `select number ${ended} order by rank desc, number desc limit -1 offset ?3`;
      if (keep.count !== undefined) this.#run(`delete ${ended} and number in (${rest})`, state, keep.count);
    });
  }

  #jobOf({ id, rest, data }: Row): Job {
    const change = (from: State | undefined, place?: () => Place, changed?: Partial<Job>) =>
      ask(() => {
        // In words of BullMQ: callers know by them that the job is lost.
        if (!this.#change(id, from, place?.(), changed)) throw new Error(`Missing key for job ${id}.`);
      });
    const job: Job = {
      ...(JSON.parse(rest) as Job),
      ...{ id, data: JSON.parse(data) },
      async updateProgress(progress) {
        await change(undefined, undefined, { progress });
        job.progress = progress;
      },
      moveToDelayed: (at) => change('active', () => ['delayed', at]),
      moveToWait: () => change('active', () => this.#place('first')).then(() => 0),
      // Nobody else can take it.
      extendLock: async () => 1,
      promote: () => change('delayed', () => this.#place('last')),
      remove: async () => {
        await this.remove(id);
        if ((await this.getJobState(id)) !== 'unknown')
          throw new Error(`Job ${id} could not be removed: a worker has it.`);
      },
    };
    return job;
  }

  /** False where the job is not in the state that it was thought to be in, or gone. */
  #change(id: string, from: State | undefined, place?: Place, changed?: Partial<Job>): boolean {
    const row = this.#row(id);
    if (!row || (from ?? row.state) !== row.state) return false;
    const [state, rank] = place ?? [row.state, row.rank];
    const rest = JSON.stringify({ ...JSON.parse(row.rest), ...changed });
    this.#run('update job set state = ?3, rank = ?4, rest = ?5 where queue = ?1 and id = ?2', id, state, rank, rest);
    if (place) this.news.emit(this.name);
    return true;
  }

  /** After all that wait, or before them. */
  #place(at: 'first' | 'last'): Place {
    const rank = at === 'last' ? 'max(rank) + 1' : 'min(rank) - 1';
    const sql = `select ${rank} as rank from job where queue = ? and state = 'waiting'`;
    return ['waiting', Number(this.database.prepare(sql).get(this.name)?.['rank'] ?? 0)];
  }

  /** Without its data. */
  #row(id: string): Omit<Row, 'data'> | undefined {
    return this.database.prepare('select * from job where queue = ? and id = ?').get(this.name, id) as unknown as Row;
  }

  #rows(where: string, ...values: SqlValue[]): Row[] {
    const sql = `select * from job join job_data using (number) where queue = ? and ${where}`;
    return this.database.prepare(sql).all(this.name, ...values) as unknown as Row[];
  }

  /** The first value is the name of the queue. Returns how many rows it changed. */
  #run(sql: string, ...values: SqlValue[]): number {
    return Number(this.database.prepare(sql).run(this.name, ...values).changes);
  }
}

/** Works on a queue, as BullMQ's `Worker` does. */
class EmbeddedWorker extends EventEmitter implements Worker {
  readonly #atWork = new Set<Promise<void>>();
  #paused = false;
  #closed: Promise<void> | undefined;
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;

  constructor(
    private readonly queue: EmbeddedQueue,
    private readonly news: EventEmitter,
    private readonly processor: Processor,
    private readonly options: WorkerOptions,
  ) {
    super();
    news.on(queue.name, this.#lookSoon);
    this.#lookSoon();
  }

  isRunning(): boolean {
    return this.#closed === undefined;
  }

  async pause(doNotWaitActive = false): Promise<void> {
    this.#paused = true;
    if (!doNotWaitActive) await Promise.all(this.#atWork);
  }

  close(force = false): Promise<void> {
    this.#closed ??= (async () => {
      this.emit('closing');
      this.news.off(this.queue.name, this.#lookSoon);
      clearTimeout(this.#later);
      await this.pause(force);
    })();
    return this.#closed;
  }

  readonly #lookSoon = (): void => {
    this.#soon ??= setImmediate(() => {
      this.#soon = undefined;
      if (this.isRunning()) this.#look();
    });
  };

  /** Takes as many jobs as it may work on, and looks again when there may be more. */
  #look(): void {
    clearTimeout(this.#later);
    let waitMs = PAUSE_MS;
    try {
      while (!this.#paused && this.#atWork.size < (this.options.concurrency ?? 1)) {
        const job = this.queue.take();
        if (!job) break;
        const work = this.#process(job).finally(() => {
          this.#atWork.delete(work);
          this.#lookSoon();
        });
        this.#atWork.add(work);
      }
      waitMs = Math.min(LOOK_MS, this.queue.dueInMs());
    } catch (error) {
      this.emit('error', storeFault(error));
    }
    this.#later = setTimeout(this.#lookSoon, waitMs);
  }

  async #process(job: Job): Promise<void> {
    const writeEnd = await this.#work(job);
    // What is still active when the worker has closed comes first when the queue is opened next.
    for (;;) {
      try {
        return await writeEnd();
      } catch (error) {
        this.emit('error', error);
        if (!this.isRunning() || !isStoreUnavailable(error)) return;
        await pause(PAUSE_MS, undefined, { ref: false });
      }
    }
  }

  /** Returns what writes how it ended. */
  async #work(job: Job): Promise<() => Promise<void>> {
    const { maxStalledCount = 1, removeOnComplete, removeOnFail } = this.options;
    try {
      if (job.stalledCounter > maxStalledCount) throw new UnrecoverableError('job stalled more than allowable limit');
      const result = await this.processor(job, undefined, undefined);
      return () => this.queue.complete(job, result, removeOnComplete).then(() => void this.emit('completed'));
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      // It has put the job back itself.
      if (error.name === 'DelayedError' || error.name === 'WaitingError') return async () => undefined;
      // That the queue could not be written is no failure of the job.
      if (isStoreUnavailable(error)) return () => job.moveToDelayed(Date.now() + PAUSE_MS);
      return () => this.queue.fail(job, error, removeOnFail);
    }
  }
}
