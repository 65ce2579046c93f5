import { type Fields, sameValue, valueText } from '../model/value.js';
import { readRecord } from '../resources/read.js';
import type { Json, Readable, WriteAnswer } from '../service/port.js';
import { beforeOf } from './before.js';
import { lastWritten, rememberSent } from './memory.js';
import { changesOf, type Merge, mergeRow, withProbe } from './merge.js';
import { updateRequest } from './update-request.js';
import type { Ended, Update, WriteContext } from './writing.js';

/** A request that became stale so often while it waited is given up: the service lets nothing through. */
const MOST_READS = 10;

/** What an update came to on its way out. */
export type Sent =
  /** `change` and `merge` as they were sent. */
  | { readonly kind: 'sent'; readonly change: Update; readonly merge: Merge; readonly answer: WriteAnswer }
  /** Nothing was sent: somebody else changed what the row sets. */
  | Moved
  /** Nothing was sent: there is nothing to change, or something to lose. */
  | { readonly kind: 'ended'; readonly ended: Ended & { readonly kind: 'unchanged' | 'at_risk' } };

export interface Moved {
  readonly kind: 'moved';
  readonly what: string;
}

/**
 * Sends an update on a record that was read not long ago. Contract, section 7.
 *
 *   fresh → merged → sent
 *   stale, before it enters the gate or at its end, or `reread: always` → read again → changed in what the row sets? moved : merged anew
 */
export async function sendUpdate(change: Update, context: WriteContext, again = false): Promise<Sent> {
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
export function noteBefore(change: Update, context: WriteContext): Promise<void> {
  const before = beforeOf(change, context);
  return context.sink.intend([], before ? [before] : []);
}

const IN_ANY_CASE = Number.NEGATIVE_INFINITY;

/** Reads a record again that was read more than `oldest` milliseconds ago; the same change where it was not. */
export async function reread(change: Update, context: WriteContext, oldest: number): Promise<Update | Moved> {
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
