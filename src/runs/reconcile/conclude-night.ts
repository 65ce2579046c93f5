import { OUTCOMES } from '../../model/outcome.js';
import type { Night } from '../../model/reconcile.js';
import type { ReconcileInput } from '../../report/reconcile/input.js';
import type { Summary } from '../../report/summary.js';
import { conclude, type RunResult } from '../conclude.js';
import { countAbsences, jobKey, type NightsOf, readNights, rememberNight } from '../nights.js';
import type { Run } from '../run.js';
import { readFacts, type Stored } from './stored.js';
import { orphanLines, orphansBefore, orphansNeedPerson } from './write-orphans.js';

/** Whose nights a run is one of. */
export function nightsOf({ settings, request }: Run): NightsOf {
  return {
    home: settings.home,
    job: jobKey(request.job),
    company: request.company,
    service: request.service,
  };
}

/** Writes the reports of a reconciliation, and keeps what the next night compares itself with. */
export async function concludeNight(run: Run, stopped: Error | undefined): Promise<RunResult> {
  // Faults of a few rows that are sent once more make no night.
  if (run.request.lineage?.retries !== undefined) return conclude(run, stopped);
  const stored = await readFacts(run.folder);
  const nights = await readNights(nightsOf(run));
  const reconcile: ReconcileInput | undefined = stored && {
    facts: stored.facts,
    orphans: () => orphanLines(run.folder),
    history: nights.history.filter((night) => night.run !== run.folder.run),
    columnOf: (field) => stored.columns[field],
    orphansBefore: await orphansBefore(run.folder),
  };
  return conclude(run, stopped, {
    ...(reconcile ? { reconcile } : {}),
    needsPerson: await orphansNeedPerson(run.folder),
    remember: async (summary) => rememberNight(nightsOf(run), await endedNight(run, summary, stored)),
  });
}

async function endedNight(run: Run, summary: Summary, stored: Stored | undefined) {
  const { sha256 } = run.request;
  const finished = summary.status === 'succeeded' || summary.status === 'partial';
  const ended = { night: nightOf(summary, stored), sha256, headings: run.source.meta.headings };
  if (!stored || !finished) return ended;
  const { absent } = await readNights(nightsOf(run));
  const ids: number[] = [];
  for await (const batch of orphanLines(run.folder)) for (const { id } of batch) ids.push(id);
  return {
    ...ended,
    absent: countAbsences(absent, ids, {
      run: run.folder.run,
      sha256,
      date: run.request.startedAt.slice(0, 10),
      certain: stored.certain,
      found: new Set(stored.found),
      forced: run.request.force && !run.request.lineage?.approves,
    }),
  };
}

function nightOf(summary: Summary, stored: Stored | undefined): Night {
  const { run, finished_at: at, status, rows, requests, seconds, dry_run: dryRun } = summary;
  return {
    run,
    at,
    apply: !dryRun,
    status,
    rows: rows.total,
    outcomes: Object.fromEntries(OUTCOMES.flatMap((kind) => (rows[kind] > 0 ? [[kind, rows[kind]]] : []))),
    differences: stored?.facts.differences.rows ?? 0,
    orphans: stored?.facts.orphans.total ?? 0,
    requests: requests.total,
    writes: requests.writes,
    seconds,
  };
}
