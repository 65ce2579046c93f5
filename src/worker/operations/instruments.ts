import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/**
 * Every metric of the worker, by name, labels and meaning. docs/worker-operations.md lists them; a test compares the two.
 * Gauges that are read at scrape are set by scrape.ts.
 */
export function instruments(registry: Registry) {
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
    requestSeconds: histogram('request_seconds', 'Time a request to the service took.', REQUEST_SECONDS, 'kind'),
    runs: counter('runs_total', 'Runs that ended, by job, what set them off, and status.', 'job', 'trigger', 'status'),
    runSeconds: histogram('run_seconds', 'Time a run took.', RUN_SECONDS, 'job'),
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
    scheduleLateness: gauge(
      'schedule_lateness_seconds',
      'How long after its time the last scheduled run was begun.',
      'job',
    ),
    scheduleRefused: counter(
      'schedule_refused_total',
      'Slots that were refused, as the run before them had not ended.',
      'job',
    ),
    parts: counter('parts_total', 'Parts executed here: done, failed or handed_back.', 'result'),
    partSeconds: histogram('part_seconds', 'Time a part took.', PART_SECONDS),
    refused: counter(
      'queue_refused_total',
      'What came from the queue as a part, message or result of a worker and was not signed by one, or has not the form.',
      'what',
    ),
    notifications: counter('notifications_total', 'Notifications that went out, or could not.', 'channel', 'result'),
    rate: gauge('rate_limit_rps', 'Requests per second in force, learned or stated; absent where there is none.'),
    inFlight: gauge('requests_in_flight', 'Requests under way.'),
    inFlightLimit: gauge('requests_in_flight_limit', 'Requests that may be under way at once, as learned.'),
    held: gauge('held_seconds', 'Time from now within which nothing is sent, as the service asked for a pause.'),
    leases: gauge('leases_held', 'Leases this worker holds.'),
    claims: gauge('inbox_claims', 'Files taken from the drop folder that have not been put away.'),
    active: gauge('runs_active', 'Runs this worker coordinates.'),
    queueJobs: gauge('queue_jobs', 'Jobs on a queue by state.', 'queue', 'state'),
    queueUp: gauge('queue_up', '1 where the queue told its counts in time, 0 where not.', 'queue'),
  };
}

export type Instruments = ReturnType<typeof instruments>;

/** Bounds of the buckets, seconds. */
const REQUEST_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const RUN_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 4 * 3600];
const PART_SECONDS = [0.5, 1, 2.5, 5, 15, 60, 300];
