import { createHash } from 'node:crypto';
import type { FieldDiff } from '../model/change.js';
import { parentNotWritten } from './after.js';
import { applyCreate } from './apply-create.js';
import { applyUpdate, refresh } from './apply-update.js';
import { beforeOf } from './before.js';
import { rememberUnnamed } from './memory.js';
import {
  type Create,
  type Ended,
  Halted,
  type Intent,
  Interrupted,
  type Part,
  type PartRunner,
  type Update,
  type WriteContext,
} from './writing.js';

/**
 * Writes. A part goes through
 *
 *   read again what is stale → intents durable → requests → outcomes
 *
 * so that whatever was sent is known to the journal before it was sent. Interface, section 4.
 */
export function partRunner(context: WriteContext): PartRunner {
  return { run: (part) => runPart(part, context) };
}

async function runPart(part: Part, context: WriteContext): Promise<void> {
  const ready: (Create | Update)[] = [];
  for (const change of part.changes) {
    const parent = change.after && context.written.get(change.after.row);
    if (change.after && parent === undefined) {
      end(change, context, {
        kind: 'invalid',
        attempts: 0,
        issues: [...change.issues, parentNotWritten(change.after)],
      });
    } else ready.push(parent === undefined ? change : withParent(change, parent));
  }
  const fresh: (Create | Update)[] = [];
  await eachLimit(ready, context.width(), async (change) => {
    if (halted(context)) return skip(change, context);
    const readNow = change.kind === 'update' && !context.readLate;
    const current = readNow ? await guarded(change, context, () => refresh(change, context)) : change;
    if (current) fresh.push(current);
  });
  if (fresh.length === 0) return;
  // Before an answer tells an id there is only the key by which a later update can find what reads do not show.
  for (const change of fresh)
    if (change.kind === 'create' && context.spec.readPath) rememberUnnamed(change.fields, context);
  await context.sink.intend(
    fresh.map(intentOf),
    fresh.flatMap((change) => (change.kind === 'update' ? (beforeOf(change, context) ?? []) : [])),
  );
  await eachLimit(fresh, context.width(), async (change) => {
    if (halted(context)) return skip(change, context);
    await guarded(change, context, async () => {
      const ended = change.kind === 'create' ? await applyCreate(change, context) : await applyUpdate(change, context);
      end(change, context, ended);
    });
  });
}

/** A fault of the whole run stops everything that is not in flight; the row itself counts as not attempted. */
async function guarded<T>(
  change: Create | Update,
  context: WriteContext,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    // Interrupted: what was sent stays open, and `runs resume` settles it.
    if (error instanceof Interrupted) return undefined;
    if (!(error instanceof Halted)) context.state.stopped ??= error as Error;
    skip(change, context);
    return undefined;
  }
}

function halted(context: WriteContext): boolean {
  return context.state.stopped !== undefined || context.signal.aborted;
}

function skip(change: Create | Update, context: WriteContext): void {
  end(change, context, { kind: 'not_attempted', attempts: 0, issues: change.issues });
}

export function end(change: Create | Update, context: WriteContext, ended: Ended): void {
  const id = ended.id ?? (change.kind === 'update' ? change.id : undefined);
  if (id !== undefined && (ended.kind === 'created' || ended.kind === 'updated'))
    context.written.set(change.ref.row, id);
  const diff: readonly FieldDiff[] | undefined = ended.diff ?? (change.kind === 'update' ? change.diff : undefined);
  context.sink.outcome(
    {
      ref: change.ref,
      kind: ended.kind,
      key: change.key,
      attempts: ended.attempts,
      issues: ended.issues,
      changed: ended.kind === 'updated' ? changedFields(diff) : [],
      ...(id === undefined ? {} : { id }),
    },
    diff,
  );
}

/** Fields that an update writes or destroys; a created record has no changed field. */
export function changedFields(diff: readonly FieldDiff[] = []): string[] {
  return diff.filter(({ kind }) => kind !== 'preserved' && kind !== 'kept').map((one) => one.field);
}

function withParent(change: Create | Update, id: number): Create | Update {
  const field = change.after?.field ?? '';
  const { after: _, ...rest } = change;
  return rest.kind === 'create'
    ? { ...rest, fields: { ...rest.fields, [field]: { id } } }
    : { ...rest, set: { ...rest.set, [field]: { id } } };
}

function intentOf(change: Create | Update): Intent {
  const hash = createHash('sha256')
    .update(JSON.stringify(change.kind === 'create' ? change.fields : change.set))
    .digest('hex')
    .slice(0, 16);
  return {
    row: change.ref.row,
    op: change.kind,
    key: change.key,
    hash,
    ...(change.kind === 'update' ? { id: change.id } : {}),
  };
}

/** Works on the items in order, so many at a time. */
export async function eachLimit<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void> | void,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++];
      if (item !== undefined) await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
