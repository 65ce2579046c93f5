import type { Change, FieldDiff } from '../../model/change.js';
import { RunError } from '../../model/error.js';
import { fault, type Issue } from '../../model/issue.js';
import type { RowsJob } from '../../model/job.js';
import type { Outcome, OutcomeKind } from '../../model/outcome.js';
import { type Fields, isEmpty, valueText } from '../../model/value.js';
import type { ResourceName, ResourceSpec } from '../../resources/spec.js';
import type { Json, KnownIds, ProbedBehaviour, Service, WriteAnswer } from '../../service/port.js';
import type { MergeOptions } from '../plan/merge.js';

/** A writing request, complete. Interface, section 4. */
export type WriteRequest = {
  readonly resource: ResourceName;
  readonly body: Json;
} & (
  | { readonly op: 'create'; readonly query?: Readonly<Record<string, string>> }
  | {
      readonly op: 'update';
      readonly id: number;
      readonly method: 'PUT' | 'PATCH';
      /**
       * When the record that the body was made from has to be read again, in milliseconds since 1970 by the clock of the run's
       * coordinator; absent where it cannot be read. Contract, section 7.
       */
      readonly freshUntil?: number;
      /** The record was read again for it: it goes before what is not stale yet, so that it does not become so itself. */
      readonly ahead?: boolean;
    }
);

/**
 * The one place from which an import's writing requests go out, whoever sends them. `isFresh` is asked directly before
 * each try of an update; where it says no, the answer is `unsent`, withheld as `stale`.
 */
export function sendRequest(
  request: WriteRequest,
  service: Pick<Service, 'create' | 'update'>,
  isFresh: (request: WriteRequest) => boolean,
): Promise<WriteAnswer> {
  if (request.op === 'create') return service.create(request.resource, request.body, request.query);
  const { resource, id, body, method, ahead } = request;
  const options = { isFresh: () => isFresh(request), ...(ahead === undefined ? {} : { ahead }) };
  return service.update(resource, id, body, method, options);
}

/** Whether the record behind a request need not be read again, by the coordinator's clock. */
export function isFreshAt(now: number, request: WriteRequest): boolean {
  return request.op === 'create' || request.freshUntil === undefined || now <= request.freshUntil;
}

/** Rows of all parts of a run that are at work at once. */
interface Places {
  /**
   * Resolves when there is room for so many rows together, in the order of asking; the room is theirs from then on. More
   * rows than there are places wait until nobody is at work.
   */
  room(rows: number): Promise<void>;
  /** The place of one of the rows that there is room for. */
  place(): Place;
}

export interface Place {
  /** The row waits for what became of its request: another one may go meanwhile, unless many wait in this way. */
  stepAside(): void;
  /** The row has ended. */
  giveBack(): void;
}

/** `mostAside`: rows that may stand aside, so that not all of a file is sent to where every request fails. */
export function places(count: () => number, mostAside: () => number): Places {
  const waiting: { readonly rows: number; readonly enter: () => void }[] = [];
  let taken = 0;
  let aside = 0;

  const admit = () => {
    for (let next = waiting[0]; next && (taken === 0 || taken + next.rows <= count()); next = waiting[0]) {
      waiting.shift();
      taken += next.rows;
      next.enter();
    }
  };

  return {
    room: (rows) =>
      new Promise((enter) => {
        waiting.push({ rows, enter });
        admit();
      }),
    place() {
      let state: 'held' | 'aside' | 'over' = 'held';
      return {
        stepAside() {
          if (state !== 'held' || aside >= mostAside()) return;
          state = 'aside';
          aside++;
          taken--;
          admit();
        },
        giveBack() {
          if (state === 'held') taken--;
          else if (state === 'aside') aside--;
          state = 'over';
          admit();
        },
      };
    },
  };
}

interface Match {
  readonly key: readonly string[];
  readonly unique_field?: string | undefined;
}

/**
 * The fields whose values the service itself keeps unique, so that a create that comes late is refused there: those of
 * the resource, and the `unique_field` of the job unless a probe found that the service takes no notice of it.
 */
export function guardingFields(match: Match, spec: ResourceSpec, probed: ProbedBehaviour | undefined): string[] {
  const asked = probed?.uniqueField === 'ignored' ? undefined : match.unique_field;
  return asked === undefined ? [...spec.guarded] : [...spec.guarded, asked];
}

/** Whether the service refuses a second record with these values. */
export function isGuarded(fields: Fields, guarding: readonly string[]): boolean {
  return guarding.some((field) => !isEmpty(fields[field]));
}

/** Whether it does so for every row: no row is created without its key and the fields the resource requires. */
export function guardsEveryRow(match: Match, spec: ResourceSpec, probed: ProbedBehaviour | undefined): boolean {
  const filled = (field: string) =>
    match.key.includes(field) || spec.fields.some(({ name, required }) => name === field && required === true);
  return guardingFields(match, spec, probed).some(filled);
}

export type Create = Extract<Change, { kind: 'create' }>;
export type Update = Extract<Change, { kind: 'update' }>;

/** What is on disk before a writing request goes out. */
export interface Intent {
  readonly row: number;
  readonly op: 'create' | 'update';
  readonly key: string;
  readonly id?: number;
  readonly hash: string;
}

/** A record as it was before its update, and what the update is about: what `runs undo` needs. One line of before.ndjson. */
export interface Before {
  readonly row: number;
  readonly id: number;
  /** As the service showed it. A customer cannot be read: our own last write, in write form. */
  readonly record: Json;
  /** The fields that the update changes; null clears. Values as `encodeFields` writes them. */
  readonly set: Json;
  /** What our own last write left there, of a customer all, of others what reads do not show; absent where none is known. */
  readonly ours?: Json;
}

/** Where intents and outcomes go: the journal of the run, wherever the part runs. */
interface Sink {
  /** Resolves when the intents, and the records as they are before an update, are durable. */
  intend(intents: readonly Intent[], before: readonly Before[]): Promise<void>;
  outcome(outcome: Outcome, diff?: readonly FieldDiff[]): void;
}

/** Changes of a part: the unit of checkpoint, of retry and of distribution. */
export interface Part {
  readonly number: number;
  readonly changes: readonly (Create | Update)[];
}

/** Carries out parts. Resolves when every change of the part has its outcome; `begun` is called when each is at work. */
export interface PartRunner {
  run(part: Part, begun?: () => void): Promise<void>;
}

/** Ids of records by row. */
export interface WrittenIds {
  get(row: number): number | undefined;
  set(row: number, id: number): void;
}

/** Everything that writing needs and that does not change from row to row. */
export interface WriteContext extends MergeOptions {
  readonly job: RowsJob;
  /** For reading; what writes goes through `send`. */
  readonly service: Pick<Service, 'get'>;
  /**
   * Sends one writing request, from here or through another worker. Never repeats one that may have been sent. `again`: an
   * earlier one was open; it is sent from here, since a worker may have died of it.
   */
  readonly send: (request: WriteRequest, again?: boolean) => Promise<WriteAnswer>;
  readonly known: KnownIds;
  /** Fields whose values the service keeps unique: `guardingFields`. */
  readonly guarding: readonly string[];
  readonly sink: Sink;
  /** Records that the run has created so far, over all parts. */
  readonly created: () => number;
  /**
   * Looks up the records that have the key of these values, exactly; undefined where it cannot be looked up. `since`: what
   * `created` said when the row was sent.
   */
  readonly lookUp: (fields: Fields, since: number) => Promise<readonly { id: number; record: Json }[] | undefined>;
  /** Ids of rows of this file that others refer to, put in as they are written. */
  readonly written: WrittenIds;
  /** Milliseconds after an open answer at which the service is asked what became of it. */
  readonly settleWindow: readonly number[];
  /** A record read longer ago than so many milliseconds is read again before its PUT. Contract, section 7. */
  readonly freshMs: number;
  /** Stale records are read right before their own PUT, not when their part begins: for plans that somebody looked at. */
  readonly readLate: boolean;
  /** Records read at once: as many as requests may be in flight, or all where others send them. */
  readonly width: () => number;
  /** For changes that are at work, of all parts together. */
  readonly places: Places;
  /** Whether all changes of a part begin at once: where others send them, few by themselves are not worth the way. */
  readonly together: () => boolean;
  /** For ages of what was read: milliseconds since 1970, never going back. */
  readonly now: () => number;
  /** For waiting: milliseconds that no change of the system's clock moves. */
  readonly elapsed: () => number;
  /** Resolves after so many milliseconds; rejects when the run is interrupted. */
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Called where a request was sent, and what became of it is left open. */
  readonly left: () => void;
  readonly signal: AbortSignal;
  readonly state: WriteState;
}

/** What all parts of a run share. */
export interface WriteState {
  /** Set once; nothing is sent afterwards. */
  stopped: Error | undefined;
}

/** Thrown where a request was sent and its effect is still open when the run is interrupted: `runs resume` settles it. */
export class Interrupted extends Error {}

/** Thrown where a row was not sent because the run stops. */
export class Halted extends Error {}

/** An outcome in the making. */
export interface Ended {
  readonly kind: OutcomeKind;
  readonly id?: number;
  readonly attempts: number;
  readonly issues: Outcome['issues'];
  readonly diff?: readonly FieldDiff[];
  /** To be called when the outcome is noted: others wait to see whether the run goes on. */
  readonly noted?: () => void;
}

/** What an open effect came to is asked within this; whatever goes wrong meanwhile leaves it open, for `runs resume`. */
export async function whileOpen<T>(context: Pick<WriteContext, 'state'>, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Interrupted)) context.state.stopped ??= error as Error;
    throw new Interrupted();
  }
}

/** What a row comes to whose repetition never left: its first request is as open as before, for `runs resume`. */
export function stillOpen(reason: string, context: Pick<WriteContext, 'state' | 'signal'>): Interrupted {
  if (!context.signal.aborted) context.state.stopped ??= unreachable(reason);
  return new Interrupted();
}

/**
 * The outcome of a request that never left; when the service stays away, the rest of the run need not try. A run that lost
 * its right to write is aborted by then, and its row left for the resumption.
 */
export function unsent(change: Create | Update, reason: string, attempts: number, context: WriteContext): Ended {
  if (context.signal.aborted) throw new Halted();
  context.state.stopped ??= unreachable(reason);
  const issue = fault(
    'service_unreachable',
    `The row was not sent: ${reason}. \`rowferry runs resume\` sends it when the service can be reached.`,
  );
  return { kind: 'failed', attempts, issues: [...change.issues, issue] };
}

function unreachable(reason: string): RunError {
  return new RunError(
    'failed',
    `The service cannot be reached: ${reason}. \`rowferry runs resume\` continues the run when it can.`,
  );
}

/** The service's refusal in its own words, put to the fields they name, their columns and what was `sent` in them. */
export function rejection(
  answer: Extract<WriteAnswer, { kind: 'refused' }>,
  sent: Fields,
  context: Pick<WriteContext, 'spec' | 'columnOf'>,
): Issue[] {
  const issues = answer.messages.map((message) => {
    const field = message.field === undefined ? undefined : jobField(message.field, context);
    const text = `The service refused the record${message.field ? ` because of ${message.field}` : ''}: ${message.text}`;
    return fault('service_rejected', text, {
      origin: 'service',
      ...(field === undefined ? {} : placed(field, sent, context)),
    });
  });
  return issues.length > 0
    ? issues
    : [
        fault('service_rejected', `The service refused the record with status ${answer.status} and gave no reason.`, {
          origin: 'service',
        }),
      ];
}

function placed(field: string, sent: Fields, { columnOf }: Pick<WriteContext, 'columnOf'>): Partial<Issue> {
  const [column, value] = [columnOf(field), sent[field]];
  return {
    field,
    ...(column === undefined ? {} : { column }),
    ...(isEmpty(value) ? {} : { value: valueText(value) }),
  };
}

/** The field as job files write it, from the spelling of a body. */
function jobField(spelling: string, context: Pick<WriteContext, 'spec'>): string {
  const spec = context.spec.fields.find(
    (field) =>
      field.name === spelling ||
      field.create === spelling ||
      field.update === spelling ||
      field.aliases?.includes(spelling),
  );
  return spec?.name ?? spelling;
}
