import type { RowsJob } from '../../model/job.js';
import { isEmpty, normaliseKey } from '../../model/value.js';
import { isEveryRowUnique } from '../../pipeline/apply/write.js';
import {
  isLookalike,
  type Lookalikes,
  type MatchOptions,
  matchKeys,
  noteLookalike,
} from '../../pipeline/match/match.js';
import { Memory } from '../../pipeline/plan/last-writes.js';
import { fingerprints, type PlanOptions } from '../../pipeline/plan/plan.js';
import { ConventionSurvey } from '../../resources/read-conventions.js';
import { wait } from '../../service/clock.js';
import { beginSnapshot } from '../../service/lists/snapshot.js';
import type { Readable, Snapshot } from '../../service/port.js';
import { reached } from '../../trace/milestones.js';
import { learnNames, loadCustomFields } from '../run/open-service.js';
import type { Run } from '../run/run.js';
import { remainingWindow } from './connection.js';
import { findOwnRecords } from './just-created.js';
import type { Resolved } from './stage.js';

export interface Matched extends Resolved {
  readonly snapshot: Snapshot;
  readonly match: MatchOptions;
  readonly options: PlanOptions;
  /** Records that are stale are read right before they are written. */
  readonly readLate?: boolean;
}

/** Looks up what exists, the cheapest way, and prepares the plan. */
export async function matchRows(run: Run, resolved: Resolved): Promise<Matched> {
  const matching = await beginMatching(run, resolved);
  const appendText = run.job.match.key.length === 0 ? 'nothing: every row is a new record' : undefined;
  const how = `looking up: ${appendText ?? (await matchKeys(resolved.keys, matching.match))}`;
  if (!run.evidence.includes(how)) run.evidence.push(how);
  return matching.conclude();
}

export type Matching = Awaited<ReturnType<typeof beginMatching>>;

/** A look-up under way: whatever is found goes through `match` into the snapshot. */
export async function beginMatching(run: Run, resolved: Resolved) {
  const { service, spec, known, lexicon, readAll, mapping } = resolved;
  await waitForOpenRequests(run, resolved);
  // All is looked up anew: what an earlier process of the run has read may have another key by now.
  const snapshot = await beginSnapshot(run.folder.snapshot, async (id) => {
    const readAt = run.now();
    const record = await service.get(spec.name as Readable, id);
    return record && { record, readAt };
  });
  run.closers.push(() => snapshot.close());
  let templates = false;
  let forms = false;
  const survey = new ConventionSurvey(spec);
  const fingerprinter = fingerprints(spec, mapping.fields);
  const lookalikes: Lookalikes = new Map();
  let unshown = 0;
  const match: MatchOptions = {
    spec,
    lookalikes,
    ...(resolved.behaviour?.filters ? { filters: resolved.behaviour.filters } : {}),
    key: mapping.key,
    service,
    lexicon,
    snapshot,
    readAll,
    onUnshown(records) {
      // Where the service guards the key, it refuses what is there.
      if (!isEveryRowUnique(run.job.match, spec, resolved.behaviour)) unshown = records;
    },
    onRecord(record) {
      survey.observe(record);
      templates ||= !isEmpty(record[spec.template.read] as never);
      forms ||= spec.form?.read !== undefined && !isEmpty(record[spec.form.read] as never);
      learnNames(spec.name, record, known);
    },
    ...(fingerprinter ? { fingerprint: fingerprinter.ofRecord, rowFingerprints: resolved.fingerprints } : {}),
    now: run.now,
  };
  run.progress('looking up', run.rows);
  /** Once all is found. */
  const conclude = async (): Promise<Matched> => {
    const created = await findOwnRecords(run, resolved.keys, match, known);
    // Records that hold custom fields can be written whole only where the ids of these fields are known.
    await loadCustomFields({ templates, forms }, lexicon);
    const habits = survey.conclude();
    lexicon.useHabits(habits);
    if (habits.unclearDate)
      run.warn(
        `The service shows dates such as "${habits.unclearDate.text}" (${habits.unclearDate.field}), and the records of this file do not tell whether the day or the month comes first. Rows that set such a value are written again at every import; rows that leave one alone are held back.`,
      );
    reached('looked-up');
    if (spec.name === 'customer') {
      for (const name of known.names('customer'))
        if (isLookalike(normaliseKey(name), resolved.keys))
          for (const id of known.ids('customer', name)) noteLookalike(lookalikes, normaliseKey(name), id);
    }
    return {
      ...resolved,
      snapshot,
      match,
      options: { ...planOptions(run, resolved, snapshot), lookalikes, unshown, ...created },
    };
  };
  return { match, snapshot, conclude };
}

function planOptions(run: Run, resolved: Resolved, snapshot: Snapshot): PlanOptions {
  const { spec, known, lexicon, mapping, behaviour } = resolved;
  // A job may write the fields of its key as people do.
  const job: RowsJob = { ...run.job, match: { ...run.job.match, key: [...mapping.key] } };
  const specOf = (field: string) => mapping.specOf(field) ?? spec.fields.find((one) => one.name === field);
  return {
    job,
    spec,
    company: run.request.company,
    lexicon,
    snapshot,
    known,
    memory: new Memory({ spec, specOf, known, job }),
    specOf,
    columnOf: mapping.columnOf,
    accepted: new Set(behaviour?.putAccepts ?? []),
    patchWorks: behaviour?.patch === true,
    omittedIsKept: job.write.method === 'patch' || behaviour?.omitted === 'kept',
    warn: run.warn,
    subcategories: resolved.directory.subcategories,
    ...(resolved.authority ? { authorityOf: resolved.authority } : {}),
  };
}

/** A request that a killed process had sent may still be under way: nothing is looked up before it must have ended. */
async function waitForOpenRequests(run: Run, resolved: Resolved): Promise<void> {
  if (run.carrier && !run.request.dryRun) await run.carrier.quiesce();
  if (![...run.past.open.values()].some((intent) => intent.op === 'create')) return;
  // What was intended long before may have been sent in the last moment: it waited for its turn.
  const rest = remainingWindow(run, resolved, run.carrier ? undefined : run.abandonedAt);
  if (rest <= 0) return;
  run.info(`Waiting ${Math.ceil(rest / 1000)} s for requests of the earlier process that may still be under way.`);
  await wait(run.clock, rest, run.signal);
}
