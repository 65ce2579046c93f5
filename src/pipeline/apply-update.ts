import { fault, type Issue } from '../model/issue.js';
import { type Fields, sameValue, valueText } from '../model/value.js';
import { readRecord } from '../resources/read.js';
import type { Json, Readable, WriteAnswer } from '../service/port.js';
import { isStored } from './apply-create.js';
import { lastWritten, remember } from './memory.js';
import { changesOf, type Merge, mergeRow } from './merge.js';
import { rejection } from './rejection.js';
import { updateRequest } from './update-request.js';
import { type Verified, verifyUpdate } from './verify-update.js';
import {
  type Ended,
  Halted,
  Interrupted,
  stillOpen,
  type Update,
  unsent,
  type WriteContext,
  whileOpen,
} from './writing.js';

/** A record read longer ago than this is read again before its PUT. Contract, section 7. */
const STALE_MS = 60_000;

/** Reads a stale record again; undefined where the row has thereby ended. */
export async function refresh(change: Update, context: WriteContext): Promise<Update | undefined> {
  const again = await reread(change, context);
  if ('kind' in again && again.kind === 'update') return again;
  const ended = again as Ended;
  context.sink.outcome(
    {
      ref: change.ref,
      key: change.key,
      id: change.id,
      changed: [],
      kind: ended.kind,
      attempts: ended.attempts,
      issues: ended.issues,
    },
    change.diff,
  );
  return undefined;
}

async function reread(change: Update, context: WriteContext): Promise<Update | Ended> {
  if (!context.spec.readPath || !change.base.record || context.now() - change.base.readAt <= STALE_MS) return change;
  const record = await context.service.get(context.spec.name as Readable, change.id);
  if (!record) return conflict(change, `the record ${change.id} no longer exists`);
  const before = readRecord(context.spec, change.base.record as Json, context.lexicon).fields;
  const now = readRecord(context.spec, record, context.lexicon).fields;
  const touched = Object.keys(change.set).filter(
    (field) => !sameValue(before[field], now[field]) && !sameValue(now[field], change.set[field]),
  );
  if (touched.length > 0) {
    const [field = ''] = touched;
    return conflict(
      change,
      `${touched.join(', ')} of the record ${change.id} is now "${valueText(now[field])}", it was "${valueText(before[field])}"`,
    );
  }
  return { ...change, base: { record, readAt: context.now() } };
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

/**
 * Updates one record: read → merge → PUT of the whole record in write form (PATCH: of what changes).
 * An open PUT is read: equals the target → updated, equals the base → sent again, neither → conflict.
 */
export async function applyUpdate(change: Update, context: WriteContext): Promise<Ended> {
  const verdict = await firstGoesAlone(context);
  try {
    const current = await reread(change, context);
    if (!('kind' in current) || current.kind !== 'update') return current as Ended;
    if (current !== change) {
      await context.sink.intend([], [{ row: change.ref.row, id: change.id, record: current.base.record as Json }]);
    }
    const base = (current.base.record ?? undefined) as Json | undefined;
    const merge = mergeRow(current.set, base, lastWritten(change.id, current.set, base, context), context);
    const changes = changesOf(merge.diff);
    if (changes.length === 0) return { kind: 'unchanged', attempts: 0, issues: current.issues, diff: [] };
    if (merge.risks.length > 0 && context.job.write.at_risk !== 'warn') {
      return { kind: 'at_risk', attempts: 0, issues: [...current.issues, ...merge.risks], diff: merge.diff };
    }
    const answer = await send(current.id, merge, context);
    const ended = await finish(current, answer, merge, context);
    if (ended.kind !== 'updated') return ended;
    const record = answer.kind === 'done' ? answer.record : undefined;
    const verified: Verified = await verifyUpdate(current.id, merge, record, verdict !== undefined, context).catch(
      (error: unknown) => {
        // The record is written, whatever keeps us from reading it back.
        if (!(error instanceof Interrupted)) context.state.stopped ??= error as Error;
        return { issues: [] };
      },
    );
    if (!verified.unchanged) remember(current.id, carried(merge), context);
    verdict?.(true);
    const issues = [...ended.issues, ...lateRisks(current, merge), ...verified.issues];
    return { ...ended, ...(verified.unchanged ? { kind: 'unknown' as const } : {}), issues };
  } finally {
    // Whoever waits takes the turn where this row told nothing about how the service treats a PUT.
    verdict?.(false);
  }
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

/** Resolves at once for all but the first update of a run; the first gets the means to release the others. */
async function firstGoesAlone(context: WriteContext): Promise<((verified: boolean) => void) | undefined> {
  const { state } = context;
  if (!context.spec.readPath) return undefined;
  for (;;) {
    const running = state.verified;
    if (running === undefined) {
      let release: (verified: boolean) => void = () => undefined;
      state.verified = new Promise<boolean>((resolve) => {
        release = resolve;
      }).then((verified) => {
        if (!verified) state.verified = undefined;
        return verified;
      });
      return release;
    }
    const verified = await running;
    if (state.stopped || context.signal.aborted) throw new Halted();
    if (verified) return undefined;
  }
}

function send(id: number, merge: Merge, context: WriteContext): Promise<WriteAnswer> {
  const { method } = context.job.write;
  const body = updateRequest(method, merge, context);
  return context.send({
    op: 'update',
    resource: context.spec.name,
    id,
    body,
    method: method === 'put' ? 'PUT' : 'PATCH',
  });
}

async function finish(
  change: Update,
  answer: WriteAnswer,
  merge: Merge,
  context: WriteContext,
  attempts = 1,
): Promise<Ended> {
  const { issues } = change;
  switch (answer.kind) {
    case 'done':
      return { kind: 'updated', attempts, issues, diff: merge.diff };
    case 'refused':
      return { kind: 'rejected', attempts, issues: [...issues, ...rejection(answer, context)], diff: merge.diff };
    case 'unsent':
      return unsent(change, answer.reason, attempts, context);
    case 'open':
      return settle(change, answer, merge, context, attempts);
  }
}

async function settle(
  change: Update,
  answer: Extract<WriteAnswer, { kind: 'open' }>,
  merge: Merge,
  context: WriteContext,
  attempts: number,
): Promise<Ended> {
  const { issues } = change;
  const unknown = (why: string): Ended => ({
    kind: 'unknown',
    attempts,
    issues: [
      ...issues,
      fault(
        'outcome_unknown',
        `The update was sent and it is not known whether it took effect (${why}). Look at record ${change.id} in the service before importing the row again.`,
      ),
    ],
    diff: merge.diff,
  });
  if (!context.spec.readPath) return unknown(`${answer.reason}; the record cannot be read`);
  const opened = context.now();
  const before = change.base.record ? readRecord(context.spec, change.base.record as Json, context.lexicon).fields : {};
  for (const at of context.settleWindow) {
    const record = await whileOpen(context, async () => {
      await context.wait(Math.max(0, opened + at - context.now()));
      return context.service.get(context.spec.name as Readable, change.id);
    });
    if (!record) return overtaken(change, `the record ${change.id} no longer exists`, attempts);
    const now = readRecord(context.spec, record, context.lexicon).fields;
    const visible = changesOf(merge.diff).filter(
      (one) => context.specOf(one.field)?.read !== undefined || one.field.startsWith('template.'),
    );
    if (visible.length > 0 && visible.every((one) => isStored(merge.target[one.field], now[one.field]))) {
      return { kind: 'updated', attempts, issues, diff: merge.diff };
    }
    const moved = visible.filter((one) => !sameValue(now[one.field], before[one.field]));
    if (moved.length > 0) {
      const fields = moved.map((one) => one.field).join(', ');
      return overtaken(
        change,
        `${fields} of the record ${change.id} holds neither the old value nor the new one`,
        attempts,
      );
    }
  }
  if (attempts >= 2) return unknown(`${answer.reason}; the record still holds the old values`);
  const again = await whileOpen(context, () => send(change.id, merge, context));
  if (again.kind === 'unsent') throw stillOpen(again.reason, context);
  return finish(change, again, merge, context, attempts + 1);
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
