import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { nightOf, type ReconcileInput } from '../../report/reconcile/compare.js';
import type { Summary } from '../../report/summary.js';
import { conclude, type RunResult } from '../conclude.js';
import { jobKey, type RunFolder } from '../layout.js';
import { type EndedNight, type NightsOf, readNights, rememberNight } from '../nights.js';
import type { Run } from '../run.js';
import { readFacts, type Stored } from './stored.js';
import { orphanFolder, orphanLines, orphansNeedPerson } from './write-orphans.js';

/** Whose nights a run is one of. */
export function nightsOf({ settings, request }: Run): NightsOf {
  return {
    home: settings.home,
    job: jobKey(request.job, settings.home),
    company: request.company,
    service: request.service,
  };
}

/** Writes the reports of a reconciliation, and keeps what the next night compares itself with. */
export async function concludeNight(run: Run, stopped: Error | undefined): Promise<RunResult> {
  // Faults of a few rows that are sent once more make no night.
  if (run.request.lineage?.retries !== undefined) return conclude(run, stopped);
  const { folder } = run;
  let told: Told;
  try {
    told = await tell(run);
  } catch (error) {
    // What the night is told by cannot be read or written: the run ends as one that failed, and lets go of what it holds.
    return conclude(run, stopped ?? (error as Error));
  }
  const { stored, reconcile, needsPerson } = told;
  const result = await conclude(run, stopped, {
    ...(reconcile ? { reconcile } : {}),
    needsPerson,
    remember: async (summary) => rememberNight(nightsOf(run), await endedNight(run, summary, stored)),
  });
  const { status } = result.summary;
  if (status === 'succeeded' || status === 'partial') await removeRemade(folder);
  return result;
}

interface Told {
  readonly stored: Stored | undefined;
  readonly reconcile: ReconcileInput | undefined;
  readonly needsPerson: boolean;
}

async function tell(run: Run): Promise<Told> {
  const { folder } = run;
  const stored = await readFacts(folder);
  const nights = await readNights(nightsOf(run));
  const reconcile: ReconcileInput | undefined = stored && {
    facts: stored.facts,
    orphans: () => orphanLines(folder, run.store),
    history: nights.history.filter((night) => night.run < folder.run),
    columnOf: (field) => stored.columns[field],
  };
  return { stored, reconcile, needsPerson: orphansNeedPerson(run.store) };
}

async function endedNight({ folder, store, request, source }: Run, summary: Summary, stored: Stored | undefined) {
  const approves = request.lineage?.approves?.run;
  const ended: EndedNight = {
    night: nightOf(summary, stored?.facts),
    sha256: request.sha256,
    headings: source.meta.headings,
    overridden: stored?.tripped ?? false,
    ...(approves === undefined ? {} : { approves }),
  };
  if (!stored) return ended;
  const orphans: number[] = [];
  for await (const batch of orphanLines(folder, store)) for (const { id } of batch) orphans.push(id);
  const { certain, found } = stored;
  return { ...ended, seen: { orphans, date: request.startedAt.slice(0, 10), certain, found: new Set(found) } };
}

/** What a finished run can do without. What `runs undo` reads stays: the orphans, what became of them and what they were. */
async function removeRemade(folder: RunFolder): Promise<void> {
  const { resolved, snapshot } = orphanFolder(folder);
  for (const path of [resolved, snapshot, join(folder.dir, 'work', 'mirror')]) {
    await rm(path, { recursive: true, force: true });
  }
}
