import { hash } from 'node:crypto';
import type { FieldDiff } from '../../model/change.js';
import { RunError } from '../../model/error.js';
import { rememberUnnamed } from '../plan/memory.js';
import { parentNotWritten } from '../rows.js';
import { applyCreate } from './create.js';
import { applyUpdate, beforeOf, refresh } from './update.js';
import {
  type Create,
  type Ended,
  Halted,
  type Intent,
  Interrupted,
  type Part,
  type PartRunner,
  type Place,
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
  return { run: (part, begun = () => undefined) => runPart(part, context, begun) };
}

const NOTHING = (): void => undefined;

async function runPart(part: Part, context: WriteContext, begun: () => void): Promise<void> {
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
  await eachLimit(ready, context.width(), (change) => {
    if (halted(context)) skip(change, context);
    else if (change.kind === 'update' && !context.readLate) return readAgain(change, context, fresh);
    else fresh.push(change);
    return undefined;
  });
  if (fresh.length === 0) return;
  // Before an answer tells an id there is only the key by which a later update can find what reads do not show.
  const takeBack = new Map<Create | Update, () => void>();
  for (const change of fresh)
    if (change.kind === 'create' && context.spec.readPath)
      takeBack.set(change, rememberUnnamed(change.fields, context));
  await context.sink.intend(
    fresh.map(intentOf),
    fresh.flatMap((change) => (change.kind === 'update' ? (beforeOf(change, context) ?? []) : [])),
  );
  const atWork: Promise<void>[] = [];
  const together = context.together() ? fresh.length : 1;
  for (const [at, change] of fresh.entries()) {
    if (at % together === 0) await context.places.room(together);
    atWork.push(send(change, context, context.places.place(), takeBack.get(change)));
  }
  begun();
  await Promise.all(atWork);
}

async function readAgain(change: Update, context: WriteContext, fresh: (Create | Update)[]): Promise<void> {
  try {
    const current = await refresh(change, context);
    if (current) fresh.push(current);
  } catch (error) {
    broken(error, change, context, NOTHING);
  }
}

/** Whoever waits for what became of a request holds nobody else up. */
async function send(
  change: Create | Update,
  context: WriteContext,
  place: Place,
  unsent: () => void = NOTHING,
): Promise<void> {
  try {
    if (halted(context)) return skip(change, context, unsent);
    const own = steppingAside(context, place);
    const ended = change.kind === 'create' ? await applyCreate(change, own) : await applyUpdate(change, own);
    try {
      end(change, own, ended);
    } finally {
      ended.noted?.();
    }
  } catch (error) {
    broken(error, change, context, unsent);
  } finally {
    place.giveBack();
  }
}

/** The context of one row. It inherits from that of all: a copy for every row would be most of what a row allocates here. */
function steppingAside(context: WriteContext, place: Place): WriteContext {
  const own = Object.create(context) as { -readonly [K in keyof WriteContext]: WriteContext[K] };
  own.wait = (milliseconds) => {
    if (milliseconds > 0) place.stepAside();
    return context.wait(milliseconds);
  };
  return own;
}

/** A fault of the whole run stops everything that is not in flight; the row itself counts as not attempted. */
function broken(error: unknown, change: Create | Update, context: WriteContext, unsent: () => void): void {
  // Interrupted: what was sent stays open, and `runs resume` settles it.
  if (error instanceof Interrupted) {
    context.left();
    return;
  }
  if (!(error instanceof Halted)) context.state.stopped ??= error as Error;
  if (change.kind === 'create' && isSeeOther(error)) context.left();
  else skip(change, context, unsent);
}

/** A redirect that may be the answer to a create that was carried out: `runs resume` looks before it sends. */
function isSeeOther(error: unknown): boolean {
  return error instanceof RunError && (error.status === 302 || error.status === 303);
}

function halted(context: WriteContext): boolean {
  return context.state.stopped !== undefined || context.signal.aborted;
}

/** `unsent` takes back what was to be remembered of the row. */
function skip(change: Create | Update, context: WriteContext, unsent: () => void = NOTHING): void {
  unsent();
  end(change, context, { kind: 'not_attempted', attempts: 0, issues: change.issues });
}

function end(change: Create | Update, context: WriteContext, ended: Ended): void {
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
  const sent = JSON.stringify(change.kind === 'create' ? change.fields : change.set);
  return {
    row: change.ref.row,
    op: change.kind,
    key: change.key,
    hash: hash('sha256', sent).slice(0, 16),
    ...(change.kind === 'update' ? { id: change.id } : {}),
  };
}

/** Works on the items in order, so many at a time. */
export async function eachLimit<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void> | undefined,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const item = items[next++];
      const done = item === undefined ? undefined : work(item);
      if (done) await done;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
}
