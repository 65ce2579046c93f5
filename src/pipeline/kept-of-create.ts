import type { Issue } from '../model/issue.js';
import type { Fields } from '../model/value.js';
import type { Json, Readable } from '../service/port.js';
import { type Held, heldOfCreate } from './created-record.js';
import type { WriteContext, WriteState } from './writing.js';

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
export function keptOfCreate(
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
