import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { OUTCOMES, type OutcomeCounts } from '../../model/outcome.js';
import type { WorkerContext } from '../../runs/run/context.js';
import type { EndedRun, Trigger } from '../jobs/job.js';
import { withTimeout } from '../rights.js';
import type { Queue } from '../store/port.js';
import type { Channel } from './notifier.js';

type RequestDone = Parameters<NonNullable<WorkerContext['observe']>>[0];

export type WatchedQueue = Pick<Queue, 'name' | 'getJobCounts'>;

/** The state of the worker at this moment, as far as it is open. */
interface Snapshot {
  readonly pace?: Pick<NonNullable<WorkerContext['channel']>['gauges'], 'learnedRate' | 'inFlight' | 'heldMs'>;
  readonly queues?: readonly WatchedQueue[];
}

export type Metrics = ReturnType<typeof openMetrics>;

/** A store that is away keeps its questions waiting: the scrape does without. */
const PATIENCE_MS = 2000;

/**
 * Metrics of this process in a registry of their own, its CPU, memory and event loop among them. Called from everywhere in the
 * worker, never throws, costs next to nothing. Labels hold job names and fixed words only: never a file name, a key or a
 * value. `isKnownJob`: whether there is a job file of the name. The data of a job may name anything: what is not known is counted
 * under `unknown`.
 */
export function openMetrics(isKnownJob: (job: string) => boolean = () => true, version = '') {
  const registry = new Registry();
  // Under their usual names, which stock dashboards expect.
  collectDefaultMetrics({ register: registry });
  const meters = instruments(registry);
  meters.build.set({ version, node: process.version }, 1);
  let readSnapshot = (): Snapshot => ({});

  const label = (job: string): string => (job === 'inline' || isKnownJob(job) ? job : 'unknown');

  /** When a job last succeeded; also before this process began, from its past runs: alerts then hold across a restart. */
  function lastSuccess(job: string, at: number, trigger?: Trigger): void {
    if (!isKnownJob(job)) return;
    meters.lastSuccess.set({ job }, at / 1000);
    if (trigger === 'schedule') meters.scheduleLastSuccess.set({ job }, at / 1000);
  }

  async function refresh(): Promise<void> {
    const { pace: now, queues = [] } = readSnapshot();
    setOrRemove(meters.rate, now?.learnedRate);
    setOrRemove(meters.inFlight, now?.inFlight);
    setOrRemove(meters.heldSeconds, now && now.heldMs / 1000);
    // What cannot be had in time is left out, not shown as of old.
    const counts = await Promise.all(
      queues.map((queue) => withTimeout(PATIENCE_MS, queue.getJobCounts()).catch(() => undefined)),
    );
    meters.queueJobs.reset();
    meters.queueUp.reset();
    for (const [i, { name }] of queues.entries()) {
      meters.queueUp.set({ queue: name }, counts[i] ? 1 : 0);
      for (const [state, jobs] of Object.entries(counts[i] ?? {})) meters.queueJobs.set({ queue: name, state }, jobs);
    }
  }

  return {
    contentType: registry.contentType,
    lastSuccess,
    /**
     * Counts rows that came to an end, from running totals, as a run's progress hands them out. A resumed run gives what it
     * found, `already`, so that nothing counts twice. A row that changes its outcome counts once under each.
     */
    tally(job: string, already: Partial<OutcomeCounts> = {}) {
      const counted = { ...already };
      const name = label(job);
      return (totals: Partial<OutcomeCounts>): void => {
        for (const outcome of OUTCOMES) {
          const added = (totals[outcome] ?? 0) - (counted[outcome] ?? 0);
          if (added <= 0) continue;
          meters.rows.inc({ job: name, outcome }, added);
          counted[outcome] = totals[outcome] ?? 0;
        }
      };
    },
    requestDone({ kind, status, ms, repetition }: RequestDone): void {
      const group = status === undefined ? 'none' : status === 429 ? '429' : `${Math.floor(status / 100)}xx`;
      meters.requests.inc({ kind, status: group, repetition: String(repetition) });
      meters.requestSeconds.observe({ kind }, ms / 1000);
    },
    runEnded(run: EndedRun): void {
      const job = run.inline ? 'inline' : label(run.job);
      meters.runs.inc({ job, trigger: run.trigger, status: run.status });
      const didItsWork = !run.dryRun && !run.unverified && (run.status === 'succeeded' || run.status === 'partial');
      if (!run.inline && didItsWork) lastSuccess(run.job, run.endedAt ?? Date.now(), run.trigger);
    },
    /** What workers tell each other came without a valid signature, or in another form, and was ignored. */
    refused: (what: 'part' | 'message' | 'result'): void => meters.refused.inc({ what }),
    notified: (channel: Channel, ok: boolean): void =>
      meters.notifications.inc({ channel, result: ok ? 'sent' : 'failed' }),
    /** Where a scrape reads the state of the moment. */
    setSource(source: () => Snapshot): void {
      readSnapshot = source;
    },
    /** Answers a scrape; bounded in time also where the store is away. */
    async text(): Promise<string> {
      await refresh();
      return registry.metrics();
    },
  };
}

function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

/** Bounds of the buckets, seconds. */
const REQUEST_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Every metric of the worker, by name, labels and meaning. docs/operate/worker.md lists them; a test compares the two. */
function instruments(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter<L>({ name: `rowferry_${name}`, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge<L>({ name: `rowferry_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
    new Histogram<L>({ name: `rowferry_${name}`, help, buckets, labelNames, registers });

  return {
    rows: counter('rows_total', 'Rows that came to an end, by job and outcome.', 'job', 'outcome'),
    requests: counter(
      'requests_total',
      'Requests to the service: read or write, status class (429 apart; none = no answer), sent before for the same purpose.',
      'kind',
      'status',
      'repetition',
    ),
    requestSeconds: histogram(
      'request_duration_seconds',
      'Time a request to the service took.',
      REQUEST_SECONDS,
      'kind',
    ),
    runs: counter('runs_total', 'Runs that ended, by job, what set them off, and status.', 'job', 'trigger', 'status'),
    lastSuccess: gauge(
      'last_success_timestamp_seconds',
      'When a job last did its work: status succeeded or partial. Seconds since 1970.',
      'job',
    ),
    scheduleLastSuccess: gauge(
      'schedule_last_success_timestamp_seconds',
      'The same for runs that a schedule set off.',
      'job',
    ),
    refused: counter(
      'queue_refused_total',
      'What came from the queue as a part, message or result of a worker and was not signed by one, or has not the form.',
      'what',
    ),
    notifications: counter('notifications_total', 'Notifications that went out, or could not.', 'channel', 'result'),
    rate: gauge('rate_limit_rps', 'Requests per second in force, learned or stated; absent where there is none.'),
    inFlight: gauge('requests_in_flight', 'Requests under way.'),
    heldSeconds: gauge('held_seconds', 'Time from now within which nothing is sent, as the service asked for a pause.'),
    queueJobs: gauge('queue_jobs', 'Jobs on a queue by state.', 'queue', 'state'),
    build: gauge('build_info', '1; the version of rowferry and of Node.js are its labels.', 'version', 'node'),
    queueUp: gauge('queue_up', '1 where the queue told its counts in time, 0 where not.', 'queue'),
  };
}
