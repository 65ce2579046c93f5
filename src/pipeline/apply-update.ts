import { fault, type Issue } from '../model/issue.js';
import { type Fields, sameValue } from '../model/value.js';
import { readRecord } from '../resources/read.js';
import type { Json, Readable, WriteAnswer } from '../service/port.js';
import { isStored } from './created-record.js';
import { type EndTurn, waitForTurn } from './first-updates.js';
import { forgetSent, remember, takeBackSent } from './memory.js';
import { changesOf, type Merge } from './merge.js';
import { stopWithoutPatch } from './patch-gone.js';
import { rejection } from './rejection.js';
import { noteBefore, reread, type Sent, sendUpdate } from './send-update.js';
import { isStoredForm, storedAs } from './stored-form.js';
import { type Verified, verifyUpdate } from './verify-update.js';
import { type Ended, Interrupted, stillOpen, type Update, unsent, type WriteContext, whileOpen } from './writing.js';

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
