import { z } from 'zod';
import { noOutcomes, OUTCOMES, type OutcomeCounts } from '../model/outcome.js';
import { checkTimeZone } from '../runs/schedule/slots.js';
import { scheduledJobs } from '../worker/job-files.js';
import type { ApiParts } from './app.js';
import { nextRun } from './jobs.js';
import { Fault, type Operation, operation, response } from './operation.js';
import { allRuns } from './runs/list.js';
import { type FoundRun, isAtWork } from './runs/queued.js';
import { health, overview, type Run } from './schema.js';

const DAYS = 30;
const DAY_MS = 86_400_000;
/** What waits for a person, what runs and what comes: the first of each. */
const MOST_LISTED = 20;

export function overviewOperations(parts: ApiParts): Operation[] {
  const { readJobs, channel, ready } = parts;
  return [
    operation(
      'GET /overview',
      {
        summary: 'What waits for a person, what runs and what comes, and how the last 30 days were.',
        query: z.object({ timezone: z.string().max(100).default('UTC') }),
        answer: overview,
      },
      async ({ query: { timezone } }) => {
        const wrong = checkTimeZone(timezone);
        if (wrong !== undefined) throw new Fault(400, `timezone: ${wrong}.`);
        const days = lastDays(Date.now(), timezone);
        const [oldest = ''] = days.keys();
        // A day more than any zone is ahead of UTC.
        const since = new Date(Date.parse(oldest) - DAY_MS).toISOString();
        const all = await allRuns(parts);
        const recent = all.filter(({ run }) => run.started_at >= since);
        const dateOf = calendarDate(timezone);
        for (const { entry, run } of recent) {
          const { dry_run, outcomes, started_at } = run;
          const day = days.get(dateOf(Date.parse(started_at)));
          if (!day || !entry || dry_run || !outcomes) continue;
          // What a run stopped before is taken up by another one.
          for (const kind of OUTCOMES) if (kind !== 'not_attempted') day[kind] += outcomes[kind];
        }
        const { heldMs, awayMs, learnedRate, waiting, answered } = channel.gauges;
        const next = scheduledJobs(await readJobs().catch(() => new Map()))
          .flatMap(({ name: job, schedule }) => {
            const at = nextRun(schedule);
            return at === null ? [] : [{ job, at }];
          })
          .sort((one, other) => (one.at < other.at ? -1 : 1));
        return {
          needs_person: waitingForPerson(recent).slice(0, MOST_LISTED),
          running: all.flatMap(({ run }) => (run.status === 'running' ? [run] : [])).slice(0, MOST_LISTED),
          next: next.slice(0, MOST_LISTED),
          days: [...days].map(([date, outcomes]) => ({ date, outcomes })),
          service: {
            ok: awayMs !== undefined ? false : answered ? true : null,
            rate: learnedRate ?? null,
            waiting,
            paused_until: heldMs > 0 ? new Date(Date.now() + heldMs).toISOString() : null,
          },
        };
      },
    ),
    operation(
      'GET /health',
      {
        summary: 'Whether queue and drop folder can be used.',
        answer: health,
        responses: { 503: response(503, 'application/json', health) },
      },
      async (_, c) => {
        const found = await ready();
        return c.json(found, found.ok ? 200 : 503);
      },
    ),
  ];
}

/** `2026-11-21`, as the calendar of a zone has it. */
function calendarDate(timeZone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });
  return (at) => format.format(at);
}

/** The days up to today, oldest first, without rows. */
function lastDays(now: number, timeZone: string): Map<string, OutcomeCounts> {
  // Calendar dates, whatever the clock of the zone does on them.
  const today = Date.parse(calendarDate(timeZone)(now));
  const dates = Array.from({ length: DAYS }, (_, at) => new Date(today - (DAYS - 1 - at) * DAY_MS));
  return new Map(dates.map((date) => [date.toISOString().slice(0, 10), noOutcomes()]));
}

/**
 * Runs that somebody has to look at, newest first: they stopped, failed, or left rows to correct, and nobody has taken them up
 * since, or put them aside. A night is done with once its job ran again; any other run, once one took it up, its file came
 * again, or the rows that it left were imported.
 */
function waitingForPerson(runs: readonly FoundRun[]): Run[] {
  const takenUp = new Set<string>();
  const nights = new Set<string>();
  const files = new Set<string>();
  const folders = new Set<string>();
  const found: Run[] = [];
  for (const { run, entry } of runs) {
    const { id, kind, manner, job, file, of_run, status, dry_run, needs_person, aside } = run;
    // The list of what an undo puts back has the same name in every one.
    const place = `${job}\n${kind === 'undo' ? of_run : file}`;
    const corrected = entry !== undefined && folders.has(entry.report_dir);
    const done = aside || takenUp.has(id) || corrected || (kind === 'reconcile' ? nights.has(job) : files.has(place));
    const needsLook = status === 'partial' ? (needs_person ?? 0) > 0 : status !== 'succeeded' && !isAtWork(run);
    // A night that only reports waits where it was stopped; a dry run was looked at by whoever made it.
    const isStopped = kind === 'reconcile' && status !== 'partial';
    if (needsLook && !done && (!dry_run || isStopped)) found.push(run);
    // One that was let through is no newer one.
    if (kind === 'reconcile' && manner !== 'approved') nights.add(job);
    // What a dry run found out takes nothing up.
    if (dry_run) continue;
    if (of_run !== undefined) takenUp.add(of_run);
    files.add(place);
    if (entry) folders.add(entry.file.slice(0, -file.length - 1));
  }
  return found;
}
