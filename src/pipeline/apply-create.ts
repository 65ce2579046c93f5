import { fault, type Issue } from '../model/issue.js';
import { type Fields, normaliseKey, sameValue, type Value } from '../model/value.js';
import { readRecord } from '../resources/read.js';
import { createBody } from '../resources/write.js';
import type { Json, WriteAnswer } from '../service/port.js';
import { forgetUnnamed, remember, rememberUnnamed } from './memory.js';
import { rejection } from './rejection.js';
import { type Create, type Ended, stillOpen, unsent, type WriteContext, whileOpen } from './writing.js';

/** After an answer of its own that tells of a failure, the service has nothing under way: short looks are enough. */
const ANSWERED_WINDOW = [200, 1_000, 3_000];

/**
 * Creates one record. A create is never repeated blindly:
 *
 *   done → created      refused → rejected      never sent → failed
 *   open → looked up by key over the settle window
 *          found, same content → created        found, other content → conflict
 *          several → ambiguous                  cannot be looked up → unknown
 *          not found → sent once more; open again and not found → unknown
 *   open, and the run stops before it is known → no outcome: `runs resume` settles it
 */
export async function applyCreate(change: Create, context: WriteContext): Promise<Ended> {
  const ended = await attempt(change, context);
  if (ended.kind !== 'created' && ended.kind !== 'unknown') forgetUnnamed(change.fields, context);
  return ended;
}

async function attempt(change: Create, context: WriteContext): Promise<Ended> {
  const since = context.created();
  const answer = await send(change, context);
  if (answer.kind !== 'open') return closed(change, answer, 1, context);
  const first = await settle(change, answer, 1, since, context);
  if (first !== 'absent') return first;
  const again = await whileOpen(context, () => send(change, context));
  if (again.kind === 'unsent') throw stillOpen(again.reason, context);
  if (again.kind === 'done') return closed(change, again, 2, context);
  // A refusal now may be the first request's doing: it may have taken effect after the last look.
  const second = await settle(change, again, 2, since, context);
  if (second !== 'absent') return second;
  if (again.kind !== 'open') return closed(change, again, 2, context);
  return unknown(change, `${again.reason}; looked up by key and not found`, 2);
}

function send(change: Create, context: WriteContext): Promise<WriteAnswer> {
  const { body } = createBody(context.spec, context.company, change.fields, context.lexicon);
  const unique = context.job.match.unique_field;
  const query = unique ? { query: { unique_field: unique } } : {};
  return context.send({ op: 'create', resource: context.spec.name, body, ...query });
}

function closed(
  change: Create,
  answer: Exclude<WriteAnswer, { kind: 'open' }>,
  attempts: number,
  context: WriteContext,
): Ended {
  switch (answer.kind) {
    case 'done':
      return created(change, answer.id, attempts, context);
    case 'refused':
      return { kind: 'rejected', attempts, issues: [...change.issues, ...rejection(answer, context)] };
    case 'unsent':
      return unsent(change, answer.reason, attempts, context);
  }
}

function created(
  change: Create,
  id: number | undefined,
  attempts: number,
  context: WriteContext,
  issues: readonly Issue[] = [],
): Ended {
  if (id !== undefined) remember(id, change.fields, context);
  // A customer's id is told by this answer or never: that it exists must not be forgotten.
  else if (!context.spec.readPath) rememberUnnamed(change.fields, context);
  return { kind: 'created', attempts, issues: [...change.issues, ...issues], ...(id === undefined ? {} : { id }) };
}

async function settle(
  change: Create,
  answer: WriteAnswer,
  attempts: number,
  since: number,
  context: WriteContext,
): Promise<Ended | 'absent'> {
  const opened = context.now();
  const window =
    answer.kind === 'open' && !answer.answered
      ? context.settleWindow
      : ANSWERED_WINDOW.map((at) => Math.min(at, context.settleWindow.at(-1) ?? at));
  for (const at of window) {
    const found = await whileOpen(context, async () => {
      await context.wait(Math.max(0, opened + at - context.now()));
      return context.lookUp(change.fields, since);
    });
    if (found === undefined) {
      return unknown(
        change,
        `${answer.kind === 'open' ? answer.reason : 'the service refused the second try'}; it cannot be looked up`,
        attempts,
      );
    }
    const [first, second] = found;
    if (first && second) {
      return {
        kind: 'ambiguous',
        attempts,
        issues: [
          ...change.issues,
          fault(
            'ambiguous_match',
            `The row was sent and its effect was open; now several records have its key: ids ${found.map((one) => one.id).join(', ')}.`,
          ),
        ],
      };
    }
    if (first) return adopt(change, first, attempts, context);
  }
  return 'absent';
}

function adopt(change: Create, found: { id: number; record: Json }, attempts: number, context: WriteContext): Ended {
  const differs = differences(change.fields, found.record, context);
  if (differs.length === 0) return created(change, found.id, attempts, context);
  return {
    kind: 'conflict',
    id: found.id,
    attempts,
    issues: [
      ...change.issues,
      fault(
        'changed_meanwhile',
        `While the row was being sent, a record with its key appeared with other values (${differs.join(', ')}): id ${found.id}. Compare the two and import the row again.`,
      ),
    ],
  };
}

/** Fields in which a record does not hold what a create asked for; the service may have trimmed or folded text. */
export function differences(fields: Fields, record: Json, context: Pick<WriteContext, 'spec' | 'lexicon'>): string[] {
  const read = readRecord(context.spec, record, context.lexicon);
  const lost = new Set(read.losses.map((loss) => loss.field));
  return Object.keys(fields).filter((field) => {
    const spec = context.spec.fields.find((one) => one.name === field);
    const unseen = field.startsWith('form.')
      ? context.spec.form?.read === undefined
      : spec !== undefined && spec.read === undefined;
    if (unseen || lost.has(field)) return false;
    const [wanted, got] = [fields[field], read.fields[field]];
    if (spec?.type.kind === 'enum' && typeof wanted === 'string' && spec.type.read && !spec.type.read.includes(wanted))
      return false;
    return !isStored(wanted, got);
  });
}

/** Whether a record holds what was written; the service may have trimmed or folded text. */
export function isStored(wanted: Value | undefined, got: Value | undefined): boolean {
  if (typeof wanted === 'string' && typeof got === 'string') return normaliseKey(wanted) === normaliseKey(got);
  return sameValue(wanted, got);
}

function unknown(change: Create, reason: string, attempts: number): Ended {
  return {
    kind: 'unknown',
    attempts,
    issues: [
      ...change.issues,
      fault(
        'outcome_unknown',
        `The row was sent and it is not known whether the record was created (${reason}). Look in the service before importing it again.`,
      ),
    ],
  };
}
