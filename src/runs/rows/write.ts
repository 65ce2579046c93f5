import type { Change } from '../../model/change.js';
import { countText } from '../../model/count-text.js';
import { RunError } from '../../model/error.js';
import type { Issue } from '../../model/issue.js';
import { stringifyBody } from '../../model/json.js';
import { OUTCOMES } from '../../model/outcome.js';
import { isRef } from '../../model/value.js';
import { Writer } from '../../pipeline/apply/apply.js';
import { compareWithStored, learnCountries } from '../../pipeline/apply/compare.js';
import { type Create, type Update, uniqueFieldsOf, type WriteRun } from '../../pipeline/apply/write.js';
import { keyOf, keySpelling } from '../../pipeline/match/key.js';
import { batchLookUps, learnIds } from '../../pipeline/match/look-up.js';
import { refusalsLeft } from '../../pipeline/plan/brakes.js';
import { isWriteOnly } from '../../pipeline/plan/merge.js';
import { createFields } from '../../pipeline/plan/plan.js';
import type { ResolvedRow, RowHead } from '../../pipeline/rows.js';
import { wait } from '../../service/clock.js';
import type { Json } from '../../service/port.js';
import { reached } from '../../trace/milestones.js';
import type { Carrier } from '../run/context.js';
import type { Run } from '../run/run.js';
import { dispatcher, PART_SIZE, type PartSizes, partSizes } from './dispatch.js';
import { rememberUnseen } from './just-created.js';
import type { Matched } from './match.js';
import { checkRejections, recordOutcome, recordSettled } from './outcomes.js';
import { decide, FRESH_MS, rowsOrChanges } from './plan.js';
import { readRows, readRowsOr } from './row-files.js';

/** Records with learned ids that are held against their rows; each is kept until then, about 3 kB. */
const MAX_COMPARED = 5_000;
/** The same where the job says `reread: always`: a request that waits longer reads once more. */
const FRESH_ALWAYS_MS = 5_000;

/**
 * matched & planned → applied: plans a part, makes its intents durable, sends it. Rows that refer to rows of this file
 * come in later waves.
 */
export async function writeRows(run: Run, matched: Matched): Promise<void> {
  /** Rows by key whose records were created by requests with empty answers. */
  const withoutId = new Map<string, number>();
  for (const batch of run.rowStore.rows(`kind = 'created' and id is null`))
    for (const { row, key } of batch) withoutId.set(key, row);
  const carrier = sharesWork(run, matched) ? run.carrier : undefined;
  const sizes = partSizes(carrier, run.request.concurrency, run.clock.now);
  const writer = openWriter(run, matched, withoutId, carrier, sizes);
  const state = writer.run;
  for (let wave = 0; wave < matched.waves && !state.stopped; wave++) {
    // Look-ups may lag behind writes: rows that need the id of another row are worth waiting for.
    if (wave > 0) {
      await fillMissingIds(run, matched, withoutId, run.settings.settleWindowMs);
      run.store.write();
    }
    await writeWave(wave, run, matched, writer, sizes);
  }
  // A brake stops the writing, not the service: what was written gets its ids.
  const braked = state.stopped instanceof RunError && state.stopped.kind === 'braked';
  if (!run.signal.aborted && (state.stopped === undefined || braked)) {
    await fillMissingIds(run, matched, withoutId, run.settings.settleWindowMs.slice(0, 3));
  } else for (const key of withoutId.keys()) rememberUnseen(matched, key, {});
  if (!run.signal.aborted && state.stopped === undefined) await learnModels(run, matched);
  await matched.known.flush();
  // What was under way has come in since: the brake says what it comes to.
  if (state.stopped) throw (braked && checkRejections(run)) || state.stopped;
}

/**
 * A file of one part is written sooner than it is carried. Customers are written from here alone: see `writeWave`; and so are
 * records that are read right before their update, as the way to others takes time.
 */
function sharesWork(run: Run, { spec }: Matched): boolean {
  return spec.readable && run.rows > PART_SIZE && !rereadsAlways(run);
}

function rereadsAlways({ job }: Run): boolean {
  return job.write.reread === 'always';
}

async function writeWave(wave: number, run: Run, matched: Matched, writer: Writer, sizes: PartSizes): Promise<void> {
  const state = writer.run;
  // Customers cannot be looked up: each is its own part, so that after a kill only those are open that were really sent.
  // What was intended, and cannot be looked up after a kill, is unknown: of such rows few are intended at a time.
  const findable = matched.spec.readable && matched.match.key.length > 0;
  const size = () => (findable ? sizes.next(run.rows - seen) : 1);
  let seen = 0;
  const maxParts = () => (findable ? sizes.parts : run.request.concurrency);
  const underWay = new Set<Promise<void>>();
  const beginning = new Set<Promise<void>>();
  let changes: (Create | Update)[] = [];
  const settle = (change: Change) => {
    recordSettled(run, change);
    run.progress('writing', doneRows(run));
  };
  const dispatch = async () => {
    if (changes.length === 0) return;
    const part = changes;
    changes = [];
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = () => {
        beginning.delete(begun);
        resolve();
      };
    });
    beginning.add(begun);
    const sent = writer
      .write(part, begin)
      .then(() => reached('part-ended'))
      .catch((error: unknown) => state.stop(error as Error))
      .finally(() => {
        begin();
        underWay.delete(sent);
      });
    underWay.add(sent);
    while (beginning.size >= sizes.beginning) await Promise.race(beginning);
    while (underWay.size >= maxParts()) await Promise.race(underWay);
  };
  run.progress('writing', doneRows(run));
  try {
    for await (const rows of rowsOrChanges(wave, run, matched)) {
      for (const row of rows) {
        if (run.signal.aborted || state.stopped) break;
        seen++;
        if ('kind' in row) {
          settle(row);
          continue;
        }
        if ((matched.depth.get(row.ref.row) ?? 0) !== wave) continue;
        if (run.past.outcomes.has(row.ref.row)) {
          rememberCreated(row, run, matched);
          continue;
        }
        const decided = decide(row, run, matched);
        const change = decided instanceof Promise ? await decided : decided;
        if (row.edited && isWrittenOrConflict(change)) matched.edited?.saveEdits(row, change);
        if (change.kind !== 'create' && change.kind !== 'update') {
          settle(change);
          continue;
        }
        changes.push(change);
        if (changes.length >= size()) await dispatch();
      }
      if (run.signal.aborted || state.stopped) break;
    }
    if (!run.signal.aborted && !state.stopped) await dispatch();
  } finally {
    await Promise.all(underWay);
  }
}

function openWriter(
  run: Run,
  matched: Matched,
  withoutId: Map<string, number>,
  carrier: Carrier | undefined,
  sizes: PartSizes,
): Writer {
  const lookUp = batchLookUps(matched.match, () => state().durableCreates, run.clock.after);
  const writer: Writer = new Writer({
    plan: matched.options,
    service: matched.service,
    uniqueFields: uniqueFieldsOf(run.job.match, matched.spec, matched.behaviour),
    ...dispatcher(matched.service, {
      resource: matched.spec.name,
      carrier,
      size: () => sizes.next(run.rows),
      stopped: () => state().stopped !== undefined,
      refusalsLeft: () =>
        run.request.force ? undefined : refusalsLeft(run.job.brakes, run.tally.rejected, run.rows, run.corrected),
      now: run.now,
    }),
    journal: {
      async intend(intents, before) {
        // What outcomes stand for is on the disk before they are: a customer that is not known is not found again.
        await matched.known.flush();
        const at = run.clock.wall();
        run.rowStore.addIntents(
          intents.map((intent) => ({ ...intent, at })),
          before.map((one) => ({ row: one.row, line: stringifyBody(one) })),
        );
        await run.store.flush();
        reached('intent-durable');
      },
      outcome(outcome, diff) {
        if (outcome.kind === 'created' && outcome.id === undefined && outcome.key !== '')
          withoutId.set(outcome.key, outcome.ref.row);
        recordOutcome(run, outcome, diff);
        sizes.ended();
        reached('outcome-noted');
        const braked = outcome.kind === 'rejected' ? checkRejections(run) : undefined;
        if (braked) state().stop(braked);
        run.progress('writing', doneRows(run));
      },
      leftOpen() {
        run.open.abandoned = true;
      },
    },
    lookUp: (fields, since) => lookUp(keyOf(fields, matched.match.key), keySpelling(fields, matched.match.key), since),
    writtenId: (row) => run.rowStore.writtenId(row),
    settleWindow: run.settings.settleWindowMs,
    freshMs: rereadsAlways(run) ? FRESH_ALWAYS_MS : FRESH_MS,
    readLate: matched.readLate === true || rereadsAlways(run),
    pace: sizes,
    now: run.now,
    elapsed: run.clock.now,
    wait: (milliseconds) => wait(run.clock, milliseconds, run.signal),
    signal: run.signal,
    onStop: () => carrier?.cancel(),
  });
  const state = (): WriteRun => writer.run;
  return writer;
}

/**
 * Ids of records created by requests with empty answers are read from the end of the list, 25 in one request, and what the
 * records there hold is held against their rows.
 */
async function fillMissingIds(
  run: Run,
  matched: Matched,
  withoutId: Map<string, number>,
  again: readonly number[] = [],
): Promise<void> {
  if (withoutId.size === 0) return;
  const since = run.clock.now();
  const ids = new Map<number, number>();
  const records = new Map<number, Json>();
  for (const at of [0, ...again]) {
    if (withoutId.size === 0 || run.signal.aborted) break;
    await wait(run.clock, since + at - run.clock.now(), run.signal);
    await learnIds(
      withoutId,
      run.tally.created,
      matched.match,
      (row, id) => ids.set(row, id),
      (row, record) => {
        if (records.size < MAX_COMPARED) records.set(row, record);
      },
    );
    for (const [key, row] of withoutId) {
      if (!ids.has(row)) continue;
      withoutId.delete(key);
      rememberUnseen(matched, key, undefined);
    }
  }
  const lost = [...withoutId.values()].sort((a, b) => a - b);
  if (lost.length > 0 && matched.spec.readable && !run.signal.aborted) {
    const named = lost.slice(0, 10).join(', ') + (lost.length > 10 ? ` and ${lost.length - 10} more` : '');
    run.warn(
      `${countText(lost.length, 'record')} that this run created cannot be found by the key of the row: ${lost.length === 1 ? 'row' : 'rows'} ${named}. The service shows them late, or keeps their keys in another form. Look in the service: rows with these keys are held back from now on, until they have the form that the service keeps.`,
    );
  }
  for (const key of withoutId.keys()) rememberUnseen(matched, key, {});
  withoutId.clear();
  if (ids.size === 0) return;
  const unseen = matched.mapping.fields.some((field) => isWriteOnly(field, matched.options));
  const issues: [number, readonly Issue[]][] = [];
  // Most rows of a long file are not looked into.
  const needed = ({ ref }: RowHead) => (ids.has(ref.row) && (unseen || records.has(ref.row)) ? undefined : true);
  for await (const rows of readRowsOr(run.folder.resolved, needed)) {
    for (const row of rows) {
      if (row === true) continue;
      const id = ids.get(row.ref.row) as number;
      const fields = createFields(row);
      if (unseen) matched.options.memory.remember(id, fields);
      const record = records.get(row.ref.row);
      if (record?.['id'] === id) learnCountries(fields, record, matched.options);
      const found = record?.['id'] === id ? compareWithStored(fields, record, matched.options).unstored : [];
      if (found.length > 0) issues.push([row.ref.row, found]);
    }
  }
  if (unseen) await matched.known.flush();
  run.rowStore.addIds(ids, issues);
  reached('ids-noted');
}

/** An outcome may have become durable, and what was to be remembered of its record not: the power failed in between. */
function rememberCreated(row: ResolvedRow, run: Run, { options }: Matched): void {
  if (run.past.outcomes.get(row.ref.row) !== 'created') return;
  const id = run.rowStore.writtenId(row.ref.row);
  if (id === undefined) return;
  if (!options.known.lastWritten(options.spec.name, id)) options.memory.remember(id, createFields(row));
}

/** Whether a cell that a person changed is about to be written, or told to be in conflict. */
function isWrittenOrConflict(change: Change): boolean {
  return change.kind === 'update' || (change.kind === 'settled' && change.outcome === 'conflict');
}

function doneRows(run: Run): number {
  let done = 0;
  for (const kind of OUTCOMES) if (kind !== 'not_attempted') done += run.tally[kind];
  return done;
}

const MODEL = 'asset_hardware_model';

/**
 * Learns the names of hardware models that this run wrote by id: they cannot be listed, and reads show the name alone,
 * so an asset could not be compared or written again without it. One read for each model that is not known yet.
 */
async function learnModels(run: Run, matched: Matched): Promise<void> {
  const { known, service } = matched;
  if (!matched.mapping.fields.includes(MODEL)) return;
  run.store.write();
  const recordOf = new Map<number, number>();
  for await (const rows of readRows(run.folder.resolved)) {
    for (const { ref, set } of rows) {
      const model = set[MODEL];
      if (!isRef(model) || recordOf.has(model.id) || known.nameOf('hardware-model', model.id) !== undefined) continue;
      const id = run.rowStore.writtenId(ref.row);
      if (id !== undefined) recordOf.set(model.id, id);
    }
  }
  for (const [model, id] of recordOf) {
    const name = (await service.get('asset', id))?.[MODEL];
    if (typeof name === 'string' && name !== '' && known.ids('hardware-model', name).length === 0) {
      known.learn('hardware-model', model, name);
    }
  }
}
