import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { fault } from '../../model/issue.js';
import { GOOD_OUTCOMES, noOutcomes } from '../../model/outcome.js';
import type { Orphan, OrphanLine, OrphanOutcome } from '../../model/reconcile.js';
import { eachLimit } from '../../pipeline/apply/apply.js';
import { recordKey } from '../../pipeline/match/match.js';
import { fingerprintSet } from '../../pipeline/plan/fingerprint.js';
import { openAppendLog, readLog } from '../../report/append-log.js';
import { openJournal, readJournal } from '../../report/journal.js';
import type { Json, Readable } from '../../service/port.js';
import { reached } from '../../trace/milestones.js';
import type { JobValues } from '../job-values.js';
import type { RunFolder } from '../layout.js';
import { beginMatching, type Matching } from '../match-rows.js';
import { note } from '../outcomes.js';
import { readPast } from '../past.js';
import { filling, lines, lineWriter, rowWriter } from '../row-files.js';
import type { Run } from '../run.js';
import type { Scope } from '../scope.js';
import type { Resolved } from '../stage-rows.js';
import { writeRows } from '../write-rows.js';
import { heldBy } from './compare-records.js';

/** Orphans are written as rows are, with files of their own: they are no rows of the file. */
export function orphanFolder(folder: RunFolder): RunFolder {
  const work = join(folder.dir, 'work');
  return {
    ...folder,
    journal: join(folder.dir, 'orphans.log'),
    before: join(work, 'orphans-before.ndjson'),
    resolved: join(work, 'orphans-resolved.ndjson'),
    snapshot: join(work, 'orphans-snapshot.ndjson'),
  };
}

const listOf = (folder: RunFolder) => join(folder.dir, 'work', 'orphans.ndjson');

/** Keeps the orphans of a run as they were judged. */
export async function keepOrphans(folder: RunFolder, orphans: readonly OrphanLine[]): Promise<void> {
  const out = await lineWriter(listOf(folder), { durable: true });
  for (const orphan of orphans) out.write(`${JSON.stringify(orphan)}\n`);
  await out.close();
  reached('orphans-kept');
}

/** Those that the run acts on; their places are the row numbers in the files of `orphanFolder`, from 1. */
export async function actedOrphans(folder: RunFolder): Promise<readonly Orphan[]> {
  const acted: Orphan[] = [];
  for await (const line of lines(listOf(folder))) {
    const orphan = JSON.parse(line) as Orphan;
    if (orphan.state === 'act') acted.push(orphan);
  }
  return acted;
}

export interface OrphanWork {
  readonly values: JobValues;
  readonly scope: Scope | undefined;
}

/**
 * Gives the orphans what the job sets in them. Each is read again first: one that is gone, has left the scope, or has a key
 * of the file by now is left alone.
 */
export async function writeOrphans(
  run: Run,
  orphans: readonly Orphan[],
  resolved: Resolved,
  { values, scope }: OrphanWork,
): Promise<void> {
  const folder = orphanFolder(run.folder);
  const past = await readPast(folder);
  const tally = noOutcomes();
  for (const kind of past.outcomes.values()) tally[kind]++;
  const out = await rowWriter(folder.resolved);
  for (const [at, { id }] of orphans.entries()) {
    out.write({ ref: { row: at + 1 }, key: String(id), set: values.fields, issues: [] });
  }
  await out.close();
  const journal = await openJournal(folder.journal, run.openLines);
  const before = await openAppendLog(folder.before, run.openLines).catch(async (error: unknown) => {
    await journal.close().catch(() => undefined);
    throw error;
  });
  const done = past.outcomes;
  const pass: Run = {
    ...run,
    folder,
    journal,
    before,
    tally,
    past,
    planned: undefined,
    rows: orphans.length,
    job: { ...run.job, match: { key: ['id'], existing: 'update', missing: 'skip' } },
    progress: () => undefined,
  };
  try {
    journal.append([{ t: 'run', v: 1, run: run.folder.run, data: { orphans: orphans.length } }]);
    const { stands: _, mapping, ...rest } = resolved;
    const matching = await beginMatching(pass, {
      ...rest,
      mapping: {
        ...mapping,
        key: ['id'],
        columnOf: () => undefined,
        fields: Object.keys(values.fields),
        specOf: (field) => values.specOf(field),
      },
      keys: new Map(orphans.map(({ id }) => [String(id), []])),
      // The rows of the file set other fields.
      fingerprints: fingerprintSet(),
      depth: new Map(),
      waves: 1,
    });
    const open = orphans.filter((_orphan, at) => !done.has(at + 1));
    await readAgain(open, matching);
    const matched = await matching.conclude();
    const moved = whatMoved(resolved, { values, scope });
    for (const [at, orphan] of orphans.entries()) {
      const row = at + 1;
      const found = await matched.snapshot.get(orphan.id);
      if (done.has(row) || past.open.has(row)) continue;
      const why = found ? moved(orphan, found.record) : 'it is there no more';
      if (why === undefined) continue;
      const { id, key } = orphan;
      const issue = fault(
        'changed_meanwhile',
        `Somebody changed the record after it was planned: ${why}. Nothing was sent.`,
      );
      note(pass, { ref: { row }, kind: 'conflict', key, id, attempts: 0, issues: [issue], changed: [] });
      done.set(row, 'conflict');
    }
    reached('orphans-begun');
    await writeRows(pass, matched);
    reached('orphans-ended');
  } finally {
    await journal.close().finally(() => before.close());
  }
}

/** One by one: the list was read before the rows were written. */
async function readAgain(orphans: readonly Orphan[], { match, snapshot }: Matching): Promise<void> {
  await eachLimit(orphans, READS, async ({ id }) => {
    const record = await match.service.get(match.spec.name as Readable, id);
    if (!record) return;
    match.onRecord?.(record);
    await snapshot.add(id, record, String(id), match.now());
  });
}

/** Reads handed to the service at once; how many are in flight is its own business. */
const READS = 64;

/** In words why an orphan is not what it was when it was planned; undefined where it is. */
function whatMoved({ keys, lexicon, spec, mapping }: Resolved, { values, scope }: OrphanWork) {
  return ({ held }: Orphan, record: Json): string | undefined => {
    if (scope && !scope.keeps(record)) return 'it has left the scope of the job';
    if (keys.has(recordKey(record, { spec, lexicon, key: mapping.key }))) return 'a row of the file has its key now';
    const now = heldBy(record, values.fields, spec, lexicon);
    if (now.done || !held) return undefined;
    const field = Object.keys(held).find((one) => held[one] !== now.held[one]);
    return field === undefined ? undefined : `${field} is now "${now.held[field]}", it was "${held[field]}"`;
  };
}

/** The orphans of a run with how those ended that it acted on, in batches. */
export async function* orphanLines(folder: RunFolder): AsyncGenerator<readonly OrphanLine[]> {
  const outcomes = await outcomesOf(orphanFolder(folder).journal);
  let row = 0;
  let batch: OrphanLine[] = [];
  for await (const line of lines(listOf(folder))) {
    const orphan = JSON.parse(line) as Orphan;
    const ended = orphan.state === 'act' ? outcomes.get(++row) : undefined;
    batch.push(ended ? { ...orphan, ...ended } : orphan);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const BATCH = 500;

async function outcomesOf(journal: string): Promise<ReadonlyMap<number, OrphanOutcome>> {
  const outcomes = new Map<number, OrphanOutcome>();
  const there = await access(journal).then(
    () => true,
    () => false,
  );
  if (!there) return outcomes;
  for await (const { entry } of readJournal(journal)) {
    if (entry.t !== 'outcome') continue;
    const { kind, issues, ref } = entry.outcome;
    const changes = (entry.diff ?? []).filter((one) => one.kind === 'set' || one.kind === 'clear');
    outcomes.set(ref.row, {
      outcome: kind,
      codes: [...new Set(issues.map(({ code }) => code))],
      message: issues.map(({ message }) => message).join(' '),
      changes: changes.map(({ field, old, new: value }) => ({ field, old, new: value })),
    });
  }
  return outcomes;
}

/** Whether an orphan that the run acted on ended in a way that somebody has to look at. */
export async function orphansNeedPerson(folder: RunFolder): Promise<boolean> {
  const outcomes = await outcomesOf(orphanFolder(folder).journal);
  return [...outcomes.values()].some(({ outcome }) => !GOOD_OUTCOMES.has(outcome));
}

/** The records of orphans before they were written, as before.ndjson has them: no row of the file speaks of them. */
export async function orphansBefore(folder: RunFolder): Promise<string> {
  const path = join(folder.dir, 'work', 'orphans-before-rows.ndjson');
  const out = await lineWriter(path);
  await filling(out, async () => {
    for await (const block of readLog(orphanFolder(folder).before)) {
      for (const { bytes } of block) out.write(`${bytes.toString('utf8').replace(/^\{"row":\d+,/, '{"row":null,')}\n`);
      await out.drained();
    }
  });
  return path;
}
