import { RunError } from '../../model/error.js';
import { fault, type Issue } from '../../model/issue.js';
import { type Fields, sameValue, valueText } from '../../model/value.js';
import { readRecord } from '../../resources/read.js';
import { createBody } from '../../resources/write.js';
import type { Json, Readable, WriteAnswer } from '../../service/port.js';
import { decodeFields, encodeFields } from '../codec.js';
import { forgetSent, lastWritten, remember, rememberSent, takeBackSent } from '../plan/memory.js';
import { changesOf, type Merge, mergeRow, updateRequest, withProbe } from '../plan/merge.js';
import { type EndTurn, type Verified, verifyUpdate, waitForTurn } from './read-back.js';
import { isStored, isStoredForm, storedAs } from './stored.js';
import {
  type Before,
  type Ended,
  Interrupted,
  rejection,
  stillOpen,
  type Update,
  unsent,
  type WriteContext,
  whileOpen,
} from './writing.js';

/**
 * The record as it is before its update, with the fields that the update changes in it. What the row sets and the record
 * holds already, and where the service's value stands, is no work of the run: an undo must not take it for that. Undefined where nothing
 * is known of the record, and where it holds all of it already: an earlier line, of a request whose effect was open, then stands.
 */
export function beforeOf({ ref, id, set, base }: Update, context: WriteContext): Before | undefined {
  const { spec, company, lexicon } = context;
  const known = (base.record ?? undefined) as Json | undefined;
  const ours = lastWritten(id, set, known, context);
  const record = known ?? (ours && { id, ...createBody(spec, company, decodeFields(ours), lexicon).body });
  if (!record) return undefined;
  const changes = changesOf(mergeRow(set, known, ours, context).diff);
  if (changes.length === 0) return undefined;
  const changed = Object.fromEntries(changes.map((one) => [one.field, one.new]));
  return { row: ref.row, id, record, set: encodeFields(changed), ...(ours ? { ours } : {}) };
}

/** A request that became stale so often while it waited is given up: the service lets nothing through. */
const MOST_READS = 10;

/** What an update came to on its way out. */
type Sent =
  /** `change` and `merge` as they were sent. */
  | { readonly kind: 'sent'; readonly change: Update; readonly merge: Merge; readonly answer: WriteAnswer }
  /** Nothing was sent: somebody else changed what the row sets. */
  | Moved
  /** Nothing was sent: there is nothing to change, or something to lose. */
  | { readonly kind: 'ended'; readonly ended: Ended & { readonly kind: 'unchanged' | 'at_risk' } };

interface Moved {
  readonly kind: 'moved';
  readonly what: string;
}

/**
 * Sends an update on a record that was read not long ago. Contract, section 7.
 *
 *   fresh → merged → sent
 *   stale, before it enters the gate or at its end, or `reread: always` → read again → changed in what the row sets? moved : merged anew
 */
async function sendUpdate(change: Update, context: WriteContext, again = false): Promise<Sent> {
  let current = change;
  for (let reads = 0; ; reads++) {
    const inAnyCase = reads > 0 || context.job.write.reread === 'always';
    const read = await reread(current, context, inAnyCase ? IN_ANY_CASE : context.freshMs);
    if (read.kind === 'moved') return read;
    if (read !== current) await noteBefore(read, context);
    current = read;
    const base = (current.base.record ?? undefined) as Json | undefined;
    const merge = mergeRow(current.set, base, lastWritten(current.id, current.set, base, context), context);
    if (changesOf(merge.diff).length === 0) {
      return { kind: 'ended', ended: { kind: 'unchanged', attempts: 0, issues: current.issues, diff: [] } };
    }
    if (merge.risks.length > 0 && context.job.write.at_risk !== 'warn') {
      const issues = withProbe([...current.issues, ...merge.risks]);
      return { kind: 'ended', ended: { kind: 'at_risk', attempts: 0, issues, diff: merge.diff } };
    }
    await rememberSent(current.id, changedTo(merge), context);
    const answer = await send(current, merge, reads > 0, context, again);
    const stale = answer.kind === 'unsent' && answer.withheld === 'stale' && !context.signal.aborted;
    if (!stale || reads >= MOST_READS) return { kind: 'sent', change: current, merge, answer };
  }
}

function changedTo(merge: Merge): Fields {
  return Object.fromEntries(changesOf(merge.diff).map((one) => [one.field, one.new]));
}

/** The record as it is before its update, durable before the request goes out. */
function noteBefore(change: Update, context: WriteContext): Promise<void> {
  const before = beforeOf(change, context);
  return context.sink.intend([], before ? [before] : []);
}

const IN_ANY_CASE = Number.NEGATIVE_INFINITY;

/** Reads a record again that was read more than `oldest` milliseconds ago; the same change where it was not. */
async function reread(change: Update, context: WriteContext, oldest: number): Promise<Update | Moved> {
  const { base, id, set } = change;
  if (!context.spec.readPath || !base.record) return change;
  const age = context.now() - base.readAt;
  // Less than none: the clock was put back, and does not tell.
  if (age >= 0 && age <= oldest) return change;
  const record = await context.service.get(context.spec.name as Readable, id);
  if (!record) return { kind: 'moved', what: `the record ${id} no longer exists` };
  const before = readRecord(context.spec, base.record as Json, context.lexicon).fields;
  const now = readRecord(context.spec, record, context.lexicon).fields;
  const touched = Object.keys(set).filter(
    (field) =>
      !sameValue(before[field], now[field]) &&
      !sameValue(now[field], set[field]) &&
      (context.stands?.(field, set, before) ?? 'file') === 'file',
  );
  const [field] = touched;
  if (field !== undefined) {
    const was = `is now "${valueText(now[field])}", it was "${valueText(before[field])}"`;
    return { kind: 'moved', what: `${touched.join(', ')} of the record ${id} ${was}` };
  }
  return { ...change, base: { record, readAt: context.now() } };
}

function send(
  { id, base }: Update,
  merge: Merge,
  ahead: boolean,
  context: WriteContext,
  again: boolean,
): Promise<WriteAnswer> {
  const { method } = context.job.write;
  const request = {
    op: 'update',
    resource: context.spec.name,
    id,
    body: updateRequest(method, merge, context),
    method: method === 'put' ? 'PUT' : 'PATCH',
    ...(context.spec.readPath && base.record ? { freshUntil: base.readAt + context.freshMs } : {}),
    ...(ahead ? { ahead } : {}),
  } as const;
  return context.send(request, again);
}

/**
 * Stops the run where a refusal says that the service has no PATCH, whatever a probe found once: 405, or 404 for a record
 * that is there. Nothing is sent as a PUT instead: the body of a PATCH holds a part of the record only, and a PUT would
 * clear the rest (interface, section 4.1).
 */
async function stopWithoutPatch(
  id: number,
  { status }: Extract<WriteAnswer, { kind: 'refused' }>,
  context: WriteContext,
): Promise<void> {
  if (context.job.write.method !== 'patch' || context.state.stopped) return;
  if (status === 404) {
    if (!context.spec.readPath) return;
    const record = await context.service.get(context.spec.name as Readable, id).catch(() => undefined);
    if (!record) return;
  } else if (status !== 405) return;
  context.state.stopped ??= new RunError(
    'failed',
    `The job asks for \`write.method: patch\`, and the service refused PATCH for ${context.spec.name} ${id} with status ${status}, although \`rowferry doctor --probe\` found once that it takes it. The run stops; nothing was sent as a PUT in its place.`,
    ['`rowferry doctor --probe` asks the service again. Or set `write: { method: put }`: it carries the whole record.'],
  );
}

/** Where a part takes its way to others, its records must be fresh for so much longer: else all of it comes back unsent. */
const LEFT_FOR_THE_WAY = 1 / 4;

/** Reads a record again that is stale, or would be once its part is sent; undefined where the row has thereby ended. */
export async function refresh(change: Update, context: WriteContext): Promise<Update | undefined> {
  const oldest = context.freshMs * (context.together() ? 1 - LEFT_FOR_THE_WAY : 1);
  const again = await reread(change, context, oldest);
  if (again.kind === 'update') return again;
  const { ref, key, id, diff } = change;
  const { kind, attempts, issues } = conflict(change, again.what);
  context.sink.outcome({ ref, key, id, changed: [], kind, attempts, issues }, diff);
  return undefined;
}

function conflict(change: Update, what: string): Ended {
  return {
    kind: 'conflict',
    attempts: 0,
    issues: [
      ...change.issues,
      fault(
        'changed_meanwhile',
        `Somebody changed the record after this row was planned: ${what}. Nothing was sent. Import the row again to plan it anew.`,
      ),
    ],
  };
}

/** A request that went out, and what it was made from. */
type Out = Extract<Sent, { kind: 'sent' }>;

/**
 * Updates one record: read → merge → PUT of the whole record in write form (PATCH: of what changes).
 * An open PUT is read: equals the target → updated, equals the base → sent again, neither → conflict.
 */
export async function applyUpdate(change: Update, context: WriteContext): Promise<Ended> {
  const endTurn = await waitForTurn(change, context);
  if (!endTurn) return update(change, undefined, context);
  // Whoever waits takes the turn where this row told nothing about how the service treats a PUT.
  const noted = () => endTurn(false);
  try {
    return { ...(await update(change, endTurn, context)), noted };
  } catch (error) {
    noted();
    throw error;
  }
}

async function update(change: Update, endTurn: EndTurn | undefined, context: WriteContext): Promise<Ended> {
  const first = await sendUpdate(change, context).catch((error: unknown) => {
    // Thrown is only what was not carried out.
    takeBackSent(change.id, context);
    throw error;
  });
  if (first.kind !== 'sent') {
    takeBackSent(change.id, context);
    return first.kind === 'moved' ? conflict(change, first.what) : first.ended;
  }
  const { ended, last } = await finish(first, 1, context);
  // Of several tries the first may have taken effect where reads do not show it.
  if (ended.attempts === 1 && (ended.kind === 'rejected' || ended.kind === 'failed')) takeBackSent(change.id, context);
  if (ended.kind !== 'updated') return ended;
  const { change: current, merge, answer } = last;
  const record = answer.kind === 'done' ? answer.record : undefined;
  const verified: Verified = await verifyUpdate(current.id, merge, record, endTurn !== undefined, context).catch(
    (error: unknown) => {
      // The record is written, whatever keeps us from reading it back.
      if (!(error instanceof Interrupted)) context.state.stopped ??= error as Error;
      return { issues: [] };
    },
  );
  if (!verified.unchanged) {
    remember(current.id, carried(merge), context);
    forgetSent(current.id, context);
  }
  endTurn?.(true);
  const issues = [...ended.issues, ...lateRisks(current, merge), ...verified.issues];
  const diff = verified.lost?.length ? { diff: [...(ended.diff ?? []), ...verified.lost] } : {};
  return { ...ended, ...diff, ...(verified.unchanged ? { kind: 'unknown' as const } : {}), issues };
}

/** What the record holds after the update: what could not be carried over is gone. */
function carried(merge: Merge): Fields {
  const lost = new Set(merge.diff.filter((one) => one.kind === 'at_risk').map((one) => one.field));
  return Object.fromEntries(Object.entries(merge.target).filter(([field]) => !lost.has(field)));
}

/** Losses that the record as it was planned did not show yet. */
function lateRisks(change: Update, merge: Merge): Issue[] {
  return merge.risks
    .filter((risk) => !change.issues.some((issue) => issue.code === risk.code && issue.field === risk.field))
    .map((risk) => ({ ...risk, severity: 'warning' }));
}

/** What a request came to. `last`: the one that decided it. */
interface Finished {
  readonly ended: Ended;
  readonly last: Out;
}

async function finish(sent: Out, attempts: number, context: WriteContext): Promise<Finished> {
  const { change, merge, answer } = sent;
  const { issues } = change;
  switch (answer.kind) {
    case 'done':
      return { ended: { kind: 'updated', attempts, issues, diff: merge.diff }, last: sent };
    case 'refused': {
      await stopWithoutPatch(change.id, answer, context);
      const refused = [
        ...issues,
        ...((await deleted(change.id, answer, context)) ?? rejection(answer, merge.target, context)),
      ];
      return { ended: { kind: 'rejected', attempts, issues: refused, diff: merge.diff }, last: sent };
    }
    case 'unsent':
      return { ended: unsent(change, answer.reason, attempts, context), last: sent };
    case 'open':
      return settle(sent, answer, attempts, context);
  }
}

/** What to say of a refusal where there is no such record any more; undefined of any other. */
async function deleted(
  id: number,
  { status, messages }: Extract<WriteAnswer, { kind: 'refused' }>,
  { spec, service }: WriteContext,
): Promise<Issue[] | undefined> {
  if (status !== 404 && status !== 410) return undefined;
  if (spec.readPath && (await service.get(spec.name as Readable, id).catch(() => true))) return undefined;
  const words = messages.map((one) => one.text).join(' ');
  const text = `The ${spec.name} ${id} no longer exists: somebody deleted it. The service said: ${words} Nothing was written; import the row again to plan it anew.`;
  return [fault('service_rejected', text, { origin: 'service' })];
}

async function settle(
  sent: Out,
  answer: Extract<WriteAnswer, { kind: 'open' }>,
  attempts: number,
  context: WriteContext,
): Promise<Finished> {
  const { change, merge } = sent;
  const as = (ended: Ended): Finished => ({ ended, last: sent });
  const updated = (tidy: readonly Issue[] = []): Finished =>
    as({ kind: 'updated', attempts, issues: [...change.issues, ...tidy], diff: merge.diff });
  if (!context.spec.readPath) return as(unknown(sent, `${answer.reason}; the record cannot be read`, attempts));
  const opened = context.elapsed();
  const before = change.base.record ? readRecord(context.spec, change.base.record as Json, context.lexicon).fields : {};
  let seen: Update['base'] = change.base;
  for (const at of context.settleWindow) {
    const record = await whileOpen(context, async () => {
      await context.wait(Math.max(0, opened + at - context.elapsed()));
      return context.service.get(context.spec.name as Readable, change.id);
    });
    if (!record) return as(overtaken(change, `the record ${change.id} no longer exists`, attempts));
    seen = { record, readAt: context.now() };
    const now = readRecord(context.spec, record, context.lexicon).fields;
    const visible = changesOf(merge.diff).filter(
      (one) => context.specOf(one.field)?.read !== undefined || one.field.startsWith('template.'),
    );
    const others = visible.filter((one) => !isStored(merge.target[one.field], now[one.field]));
    // An old value that is also a form of the new one tells nothing.
    const moved = others.filter((one) => !sameValue(now[one.field], before[one.field]));
    const tidy = moved.filter((one) =>
      isStoredForm(merge.target[one.field], now[one.field], context.specOf(one.field)?.type),
    );
    if (visible.length > 0 && tidy.length === others.length) {
      return updated(tidy.map((one) => storedAs(one.field, merge.target[one.field], now[one.field])));
    }
    if (moved.length > tidy.length) {
      const fields = moved
        .filter((one) => !tidy.includes(one))
        .map((one) => one.field)
        .join(', ');
      const what = `${fields} of the record ${change.id} holds neither the old value nor the new one`;
      return as(overtaken(change, what, attempts));
    }
  }
  if (attempts >= 2) return as(unknown(sent, `${answer.reason}; the record still holds the old values`, attempts));
  // What the row does not set may have changed since: it is carried over as it was seen last.
  const again = await whileOpen(context, async () => {
    const current = { ...change, base: seen };
    await noteBefore(current, context);
    return sendUpdate(current, context, true);
  });
  if (again.kind === 'moved') return as(overtaken(change, again.what, attempts));
  if (again.kind === 'ended') {
    if (again.ended.kind === 'unchanged') return updated();
    const why = `${answer.reason}; the record still held the old values, and now holds some that sending again would lose`;
    return as(unknown(sent, why, attempts));
  }
  if (again.answer.kind === 'unsent') throw stillOpen(again.answer.reason, context);
  return finish(again, attempts + 1, context);
}

function unknown({ change, merge }: Out, why: string, attempts: number): Ended {
  return {
    kind: 'unknown',
    attempts,
    issues: [
      ...change.issues,
      fault(
        'outcome_unknown',
        `The update was sent and it is not known whether it took effect (${why}). Look at record ${change.id} in the service before importing the row again.`,
      ),
    ],
    diff: merge.diff,
  };
}

function overtaken(change: Update, what: string, attempts: number): Ended {
  return {
    kind: 'conflict',
    attempts,
    issues: [
      ...change.issues,
      fault(
        'changed_meanwhile',
        `The update was sent and its effect was open; now ${what}: somebody else changed the record at the same time. Look at it in the service and import the row again.`,
      ),
    ],
  };
}
