import { fault, type Issue } from '../../model/issue.js';
import type { Fields } from '../../model/value.js';
import { createBody } from '../../resources/write.js';
import type { Json, Readable, WriteAnswer } from '../../service/port.js';
import { forgetUnnamed, remember, rememberUnnamed } from '../plan/memory.js';
import { type Held, heldOfCreate } from './stored.js';
import {
  type Create,
  type Ended,
  isGuarded,
  rejection,
  stillOpen,
  unsent,
  type WriteContext,
  type WriteState,
  whileOpen,
} from './writing.js';

/**
 * After an answer of its own that tells of a failure, the service has nothing under way: where it guards the key itself,
 * short looks are enough.
 */
const ANSWERED_WINDOW = [200, 1_000, 3_000];
/** Where the service guards the key and takes other creates: chance may befall one row several times. */
const MOST_TRIES = 4;

type Open = Extract<WriteAnswer, { kind: 'open' }>;

/**
 * Creates one record. A create is never repeated blindly:
 *
 *   done → created      refused → rejected      never sent → failed
 *   open → looked up by key over the settle window
 *          found, same content → created        found, other content → conflict
 *          several → ambiguous                  cannot be looked up → unknown
 *          not found → sent once more; open again and not found → unknown, or, where the service guards the key and
 *          takes other creates meanwhile, sent again, up to four times in all
 *          not found, may still be under way, and the service does not guard the key → unknown: it would come twice
 *   open, and the run stops before it is known → no outcome: `runs resume` settles it
 */
export async function applyCreate(change: Create, context: WriteContext): Promise<Ended> {
  const since = context.created();
  const sent = context.elapsed();
  const answer = await send(change, context);
  const ended =
    answer.kind === 'open' ? goOn(change, answer, since, sent, context) : closed(change, answer, 1, context);
  // Nearly always the answer says all, and nothing is waited for.
  const { kind } = ended instanceof Promise ? await ended : ended;
  if (kind !== 'created' && kind !== 'unknown') forgetUnnamed(change.fields, context);
  return ended;
}

/** After a first request whose effect is open. `since` and `sent`: what `created` and the clock said when it was sent. */
async function goOn(change: Create, first: Open, since: number, sent: number, context: WriteContext): Promise<Ended> {
  let createdBefore = since;
  let answer = first;
  for (let attempts = 1; ; attempts++) {
    const { reason } = answer;
    const settled = await settle(change, answer, attempts, since, context);
    if (settled !== 'absent') return settled;
    const doubt = await whyNotAgain(change, answer, { attempts, sent, createdBefore }, context);
    if (doubt !== undefined) return unknown(change, `${reason}; ${doubt}`, attempts);
    createdBefore = context.created();
    const again = await whileOpen(context, () => send(change, context, true));
    if (again.kind === 'unsent') throw stillOpen(again.reason, context);
    if (again.kind === 'done') return closed(change, again, attempts + 1, context);
    if (again.kind === 'refused') return refusedAgain(change, again, reason, attempts + 1, since, context);
    answer = again;
  }
}

/** Why a create that is open and not found is not sent once more; undefined where it is. */
async function whyNotAgain(
  change: Create,
  answer: Open,
  { attempts, sent, createdBefore }: { attempts: number; sent: number; createdBefore: number },
  context: WriteContext,
): Promise<string | undefined> {
  const notFound = 'looked up by key and not found';
  if (isGuarded(change.fields, context.guarding)) {
    // The second try is always made; further ones where the service took other creates meanwhile: so it is not this record.
    if (attempts === 1 || (attempts < MOST_TRIES && context.created() > createdBefore)) return undefined;
    return notFound;
  }
  if (answer.pending) return `${notFound}, and it may still be under way`;
  if (attempts > 1) return notFound;
  return (await lookUpsLag(sent, context)) ? 'look-ups do not show yet what the service created meanwhile' : undefined;
}

/** A refusal of a repetition may be the first request's doing: it may have taken effect after the last look. */
async function refusedAgain(
  change: Create,
  answer: Extract<WriteAnswer, { kind: 'refused' }>,
  reason: string,
  attempts: number,
  since: number,
  context: WriteContext,
): Promise<Ended> {
  const settled = await settle(change, answer, attempts, since, context);
  if (settled !== 'absent') return settled;
  if (!saysTaken(answer, context)) return closed(change, answer, attempts, context);
  const taken = 'the service then said that its key is taken, and look-ups do not show by whom';
  return unknown(change, `${reason}; ${taken}`, attempts);
}

/** The record that a run created last, with a clear answer. */
const lastCreated = new WeakMap<WriteState, { readonly fields: Fields; readonly at: number }>();

/**
 * A positive control before "not found" is believed: whether look-ups do not show what the service said it created after `sent`.
 * False also where nothing was created since: then they have to be believed.
 */
async function lookUpsLag(sent: number, context: WriteContext): Promise<boolean> {
  const control = lastCreated.get(context.state);
  if (!control || control.at < sent) return false;
  const found = await whileOpen(context, () => context.lookUp(control.fields, 0));
  return found !== undefined && found.length === 0;
}

const TAKEN = /exist|duplicat|unique|taken|already/i;

/** Whether a refusal may be about the key: it names a field that the service guards, or says so in its words. */
function saysTaken(answer: Extract<WriteAnswer, { kind: 'refused' }>, { job, spec }: WriteContext): boolean {
  const guarded = [...spec.guarded, job.match.unique_field];
  return (
    answer.status === 409 ||
    answer.messages.some(({ field, text }) => (field !== undefined && guarded.includes(field)) || TAKEN.test(text))
  );
}

function send(change: Create, context: WriteContext, again = false): Promise<WriteAnswer> {
  const { body } = createBody(context.spec, context.company, change.fields, context.lexicon);
  const unique = context.job.match.unique_field;
  const query = unique ? { query: { unique_field: unique } } : {};
  return context.send({ op: 'create', resource: context.spec.name, body, ...query }, again);
}

function closed(
  change: Create,
  answer: Exclude<WriteAnswer, { kind: 'open' }>,
  attempts: number,
  context: WriteContext,
): Ended | Promise<Ended> {
  switch (answer.kind) {
    case 'done': {
      lastCreated.set(context.state, { fields: change.fields, at: context.elapsed() });
      const kept = answer.record && keptOfCreate(change.fields, answer.id, answer.record, context);
      if (kept instanceof Promise) return kept.then((found) => created(change, answer.id, attempts, context, found));
      return created(change, answer.id, attempts, context, kept);
    }
    case 'refused':
      return { kind: 'rejected', attempts, issues: [...change.issues, ...rejection(answer, change.fields, context)] };
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
  const opened = context.elapsed();
  const window =
    !isGuarded(change.fields, context.guarding) || (answer.kind === 'open' && !answer.answered)
      ? context.settleWindow
      : ANSWERED_WINDOW.map((at) => Math.min(at, context.settleWindow.at(-1) ?? at));
  for (const at of window) {
    const found = await whileOpen(context, async () => {
      await context.wait(Math.max(0, opened + at - context.elapsed()));
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
  const { differing: differs, tidied } = heldOfCreate(change.fields, found.record, context);
  if (differs.length === 0) {
    return created(change, found.id, attempts, context, tidied);
  }
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

/** Reads of created records that may tell nothing, such as of a service whose reads lag, before it is left at that. */
const MOST_READS = 3;

interface Told {
  /** Whether the answers to creates show the records as they are then. */
  answers?: Promise<boolean | undefined>;
  reads: number;
}

const toldBy = new WeakMap<WriteState, Told>();

/**
 * Warnings of what a new record does not hold of what was sent, as far as the answer to its create shows it. An answer
 * that lacks values may be a record in brief: the first of a run that does is held against the record itself.
 */
function keptOfCreate(
  fields: Fields,
  id: number | undefined,
  answered: Json,
  context: WriteContext,
): readonly Issue[] | Promise<readonly Issue[]> {
  const held = heldOfCreate(fields, answered, context);
  if (id === undefined || held.differing.length === 0 || !context.spec.readPath || typeof answered['id'] !== 'number')
    return held.tidied;
  return againstRecord(fields, id, held, context);
}

async function againstRecord(
  fields: Fields,
  id: number,
  { differing: lacking, tidied, unkept }: Held,
  context: WriteContext,
): Promise<readonly Issue[]> {
  const told = toldIn(context.state);
  while (!told.answers && told.reads < MOST_READS) {
    told.reads++;
    told.answers = tells(fields, id, lacking, context);
    if ((await told.answers) === undefined) delete told.answers;
  }
  return (await told.answers) === true ? unkept : tidied;
}

function toldIn(state: WriteState): Told {
  const told = toldBy.get(state) ?? { reads: 0 };
  toldBy.set(state, told);
  return told;
}

/** Undefined where the record cannot be read now: it is created, whatever keeps us from looking at it. */
async function tells(
  fields: Fields,
  id: number,
  lacking: readonly string[],
  context: WriteContext,
): Promise<boolean | undefined> {
  const record = await context.service.get(context.spec.name as Readable, id).catch(() => undefined);
  if (!record) return undefined;
  const { differing } = heldOfCreate(fields, record, context);
  return lacking.every((field) => differing.includes(field));
}
