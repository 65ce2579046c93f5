import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Change } from '../../model/change.js';
import type { ReconcileJob } from '../../model/job.js';
import type { ReconcileFacts } from '../../model/reconcile.js';
import { type BrakeFinding, type PlanCounts, trippedByPlan, unknownKeys } from '../../pipeline/plan/brakes.js';
import { nightOf, type ReconcileInput } from '../../report/reconcile/compare.js';
import { fieldName } from '../../report/results.js';
import type { Summary } from '../../report/summary.js';
import type { Mirror } from '../../service/port.js';
import { reached } from '../../trace/milestones.js';
import { headingsOf } from '../rows/outcomes.js';
import type { JobValues, Resolved } from '../rows/stage.js';
import { conclude, type RunResult } from '../run/conclude.js';
import { jobKey, type RunFolder } from '../run/layout.js';
import type { Run } from '../run/run.js';
import type { Compared } from './compare.js';
import { type EndedNight, type Nights, type NightsOf, rememberNight, sameFile } from './nights.js';
import { orphanFolder, orphanLines, orphansNeedPerson } from './orphans.js';
import type { Scope } from './scope.js';

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
  const { folder, store } = run;
  let stored: Stored | undefined;
  let reconcile: ReconcileInput | undefined;
  let needsPerson: boolean;
  try {
    // Undefined where the run did not come so far.
    stored = store.kept('facts') as Stored | undefined;
    reconcile = stored && {
      facts: stored.facts,
      orphans: async function* () {
        yield orphanLines(store);
      },
      columnOf: (field) => stored?.columns[field],
    };
    needsPerson = orphansNeedPerson(store);
  } catch (error) {
    // What the night is told by cannot be read or written: the run ends as one that failed, and lets go of what it holds.
    return conclude(run, stopped ?? (error as Error));
  }
  const result = await conclude(run, stopped, {
    ...(reconcile ? { reconcile } : {}),
    needsPerson,
    remember: async (summary) => rememberNight(nightsOf(run), endedNight(run, summary, stored)),
  });
  const { status } = result.summary;
  if (status === 'succeeded' || status === 'partial') await removeRemade(folder);
  return result;
}

function endedNight({ store, request }: Run, summary: Summary, stored: Stored | undefined): EndedNight {
  const approves = request.lineage?.approves?.run;
  const ended = {
    night: nightOf(summary, stored?.facts),
    sha256: request.sha256,
    overridden: stored?.tripped ?? false,
    ...(approves === undefined ? {} : { approves }),
  };
  if (!stored) return ended;
  const orphans = orphanLines(store).map(({ id }) => id);
  const { certain, found } = stored;
  return { ...ended, seen: { orphans, date: request.startedAt.slice(0, 10), certain, found: new Set(found) } };
}

/** What a finished run can do without. */
async function removeRemade(folder: RunFolder): Promise<void> {
  const { resolved, snapshot } = orphanFolder(folder);
  for (const path of [resolved, snapshot, join(folder.dir, 'work', 'mirror')]) {
    await rm(path, { recursive: true, force: true });
  }
}

/** What a run found out before its first write; a run that is taken up again goes by it. */
export interface Stored {
  readonly facts: ReconcileFacts;
  /** A brake tripped: where the run went on nevertheless, somebody let it pass. */
  readonly tripped: boolean;
  /** Whether the absences of this run count. */
  readonly certain: boolean;
  /** Of the records that were absent before: those that a row of the file means. */
  readonly found: readonly number[];
  /** Headings by field, for the reports. */
  readonly columns: Readonly<Record<string, string>>;
}

export async function keepFacts({ store }: Run, stored: Stored): Promise<void> {
  store.keep('facts', stored);
  await store.flush();
  reached('facts-kept');
}

/** What a night is planned from. */
export interface NightParts {
  readonly job: ReconcileJob;
  readonly nights: Nights;
  readonly scope: Scope | undefined;
  readonly compared: Compared;
  readonly mirror: Mirror;
  readonly values: JobValues | undefined;
}

/** Sentences for the brakes that stop the run; what only warns is said. Contract, section 8. */
export function trippedBrakes(
  run: Run,
  resolved: Resolved,
  { job, nights, compared }: NightParts,
  counts: PlanCounts,
  { orphans, scope, differences }: ReconcileFacts,
): readonly string[] {
  const headings = headingsOf(run, resolved.mapping);
  const byHeading = (of: 'file' | 'cleared') =>
    new Map(differences.by_field.map((one) => [headings[one.field] ?? one.field, one[of]]));
  const plan: PlanCounts = {
    ...counts,
    clearedBy: byHeading('cleared'),
    updatedBy: byHeading('file'),
    orphans: { fresh: orphans.fresh, acting: orphans.acted, scope: scope.records },
  };
  const tripped = trippedByPlan(job.brakes, plan, nights.last?.rows, { defaults: true });
  const note = (brake: 'same_file' | 'unknown_keys', { tripped: sentence, remark }: BrakeFinding) => {
    if (remark !== undefined) run.warn(remark);
    if (sentence === undefined) return;
    if (job.brakes[brake] === 'stop') tripped.push(sentence);
    else run.warn(sentence);
  };
  const writes = counts.creates + counts.updates + orphans.acted;
  note('same_file', sameFile(nights, run.request.sha256, writes > 0));
  const unknown = unknownKeys(
    {
      keyed: resolved.keys.size,
      matched: compared.keysFound,
      records: compared.records - compared.withoutKey,
    },
    {
      company: run.request.company,
      resource: resolved.spec.name,
      ...(resolved.companyName === undefined ? {} : { companyName: resolved.companyName }),
    },
  );
  if (unknown !== undefined) note('unknown_keys', { tripped: unknown });
  return tripped;
}

type Differences = ReconcileFacts['differences'];

/** Counts in how many fields rows and records differ, and whose value stands. */
export function differenceCounter({ store }: Pick<Run, 'store'>): {
  see(change: Change): void;
  counts(): Differences;
  /** Rows that cannot be taken, by heading or field at fault. */
  readonly invalidBy: Map<string, number>;
} {
  const byField = new Map<string, { file: number; service: number; cleared: number }>();
  const invalidBy = new Map<string, number>();
  let rows = 0;
  return {
    invalidBy,
    see(change) {
      // What a row that cannot be written would have changed is no difference that anybody settled.
      if (change.kind === 'settled' && change.outcome === 'invalid') {
        const faulty = change.issues.flatMap(({ severity, column, field }) =>
          severity === 'error' ? [column ?? field ?? ''] : [],
        );
        for (const name of new Set(faulty)) if (name !== '') invalidBy.set(name, (invalidBy.get(name) ?? 0) + 1);
        return;
      }
      const differing = ('diff' in change ? (change.diff ?? []) : []).filter(
        ({ kind }) => kind === 'set' || kind === 'clear' || kind === 'kept',
      );
      if (differing.length > 0) rows++;
      for (const { field, kind } of differing) {
        const counts = byField.get(field) ?? { file: 0, service: 0, cleared: 0 };
        if (kind === 'kept') counts.service++;
        else counts.file++;
        if (kind === 'clear') counts.cleared++;
        byField.set(field, counts);
      }
    },
    counts() {
      const { names } = store;
      const fields = [...byField].map(([field, counts]) => ({ field: fieldName(field, names), ...counts }));
      const sum = (of: (one: (typeof fields)[number]) => number) => fields.reduce((total, one) => total + of(one), 0);
      return {
        rows,
        fields: sum(({ file, service }) => file + service),
        file_stands: sum(({ file }) => file),
        service_stands: sum(({ service }) => service),
        cleared: sum(({ cleared }) => cleared),
        by_field: fields.sort((a, b) => b.file + b.service - (a.file + a.service) || (a.field < b.field ? -1 : 1)),
      };
    },
  };
}
