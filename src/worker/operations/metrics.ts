import { collectDefaultMetrics, Registry } from 'prom-client';
import { OUTCOMES, type OutcomeCounts } from '../../model/outcome.js';
import type { EndedRun, Trigger } from './ended.js';
import { instruments } from './instruments.js';
import type { Metrics, RequestDone } from './metrics-port.js';
import { type Sources, scraper } from './scrape.js';

/** Labels of jobs are kept for good: names beyond so many are counted under `other`. */
const MOST_JOBS = 500;

/**
 * Metrics of this process in a registry of their own, its CPU, memory and event loop among them. `known`: whether there is
 * a job file of the name. The data of a job may name anything: what is not known is counted under `unknown`.
 */
export function openMetrics(known: (job: string) => boolean = () => true): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'rowferry_' });
  const meters = instruments(registry);
  const sources: Sources = { queues: () => [] };
  const refresh = scraper(meters, sources);
  const jobs = new Set<string>();
  let scrape: Promise<string> | undefined;

  function label(job: string): string {
    if (job === 'inline' || jobs.has(job)) return job;
    if (!known(job)) return 'unknown';
    if (jobs.size >= MOST_JOBS) return 'other';
    jobs.add(job);
    return job;
  }

  function outcomes(job: string, delta: Partial<OutcomeCounts>): void {
    for (const outcome of OUTCOMES) {
      const rows = delta[outcome] ?? 0;
      if (rows > 0) meters.rows.inc({ job: label(job), outcome }, rows);
    }
  }

  function lastSuccess(job: string, at: number, trigger?: Trigger): void {
    if (label(job) === 'unknown') return;
    meters.lastSuccess.set({ job: label(job) }, at / 1000);
    if (trigger === 'schedule') meters.scheduleLastSuccess.set({ job: label(job) }, at / 1000);
  }

  return {
    contentType: registry.contentType,
    outcomes,
    lastSuccess,
    tally(job, already = {}) {
      // A row that changes its outcome counts once under each: counters never fall.
      const counted = { ...already };
      return (totals) => {
        const delta: Partial<OutcomeCounts> = {};
        for (const kind of OUTCOMES) {
          const before = counted[kind] ?? 0;
          delta[kind] = Math.max(0, (totals[kind] ?? 0) - before);
          counted[kind] = before + delta[kind];
        }
        outcomes(job, delta);
      };
    },
    requestDone(event) {
      const { kind } = event;
      meters.requests.inc({ kind, status: statusClass(event), repetition: String(event.repetition) });
      meters.requestSeconds.observe({ kind }, event.ms / 1000);
    },
    runEnded(run) {
      const job = run.inline ? 'inline' : label(run.job);
      meters.runs.inc({ job, trigger: run.trigger, status: run.status });
      if (run.seconds !== undefined) meters.runSeconds.observe({ job }, run.seconds);
      if (!run.inline && didItsWork(run)) lastSuccess(job, run.endedAt ?? Date.now(), run.trigger);
    },
    partDone(result, seconds) {
      meters.parts.inc({ result });
      meters.partSeconds.observe(seconds);
    },
    refused: (what) => meters.refused.inc({ what }),
    slotBegun: (job, lateMs) => meters.scheduleLateness.set({ job: label(job) }, Math.max(0, lateMs) / 1000),
    slotRefused: (job) => meters.scheduleRefused.inc({ job: label(job) }),
    notified: (channel, ok) => meters.notifications.inc({ channel, result: ok ? 'sent' : 'failed' }),
    watchPace(read) {
      sources.pace = read;
    },
    watchHoldings(read) {
      sources.holdings = read;
    },
    watchQueues(queues) {
      sources.queues = typeof queues === 'function' ? queues : () => queues;
    },
    text() {
      // Scrapes at the same time share one look.
      scrape ??= refresh()
        .then(() => registry.metrics())
        .finally(() => {
          scrape = undefined;
        });
      return scrape;
    },
  };
}

function statusClass({ status }: RequestDone): string {
  if (status === undefined) return 'none';
  return status === 429 ? '429' : `${Math.floor(status / 100)}xx`;
}

function didItsWork(run: EndedRun): boolean {
  return !run.dryRun && !run.doubtful && (run.status === 'succeeded' || run.status === 'partial');
}
