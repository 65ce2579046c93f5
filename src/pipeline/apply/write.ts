import { createChoiceMap } from '../../compact/dense-map.js';
import type { Change, FieldDiff } from '../../model/change.js';
import { type RunError, runFailure } from '../../model/error.js';
import { fault, type Issue } from '../../model/issue.js';
import type { RowsJob } from '../../model/job.js';
import type { Outcome, OutcomeKind } from '../../model/outcome.js';
import { type Fields, isEmpty, valueText } from '../../model/value.js';
import type { ResourceName, ResourceSpec } from '../../resources/spec.js';
import type { Json, ProbedBehaviour, Readable, Service, WriteAnswer, WriteRequest } from '../../service/port.js';
import type { PlanOptions } from '../plan/plan.js';

export type Create = Extract<Change, { kind: 'create' }>;
export type Update = Extract<Change, { kind: 'update' }>;

/** What is on disk before a writing request goes out. */
export interface Intent {
  readonly row: number;
  readonly op: 'create' | 'update';
  readonly key: string;
  readonly id?: number;
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

/** Where intents and outcomes go, wherever the part runs. */
interface Journal {
  /** Resolves when the intents, and the records as they are before an update, are durable. */
  intend(intents: readonly Intent[], before: readonly Before[]): Promise<void>;
  outcome(outcome: Outcome, diff?: readonly FieldDiff[]): void;
  /** A request was sent, and what became of it is left open. */
  leftOpen(): void;
}

/** How much is at work at once, at this moment. */
export interface Pace {
  /** Whether others send a part: then all of its changes begin at once, as few by themselves are not worth the way. */
  readonly shared: boolean;
  /** Rows at work. */
  readonly atWork: number;
  /** Rows that may wait, besides, for what became of their requests; so that not all of a file is sent to where every request fails. */
  readonly aside: number;
  /** Records read at once. */
  readonly reads: number;
}

/** Where a row is at work. */
export interface Permit {
  /** The row waits for what became of its request: another one may go meanwhile, unless many wait in this way. */
  park(): void;
  /** The row has ended. */
  release(): void;
}

/** What writing the rows of a run needs from outside. */
export interface WriterOptions {
  readonly plan: PlanOptions;
  /** For reading; what writes goes through `send`. */
  readonly service: Pick<Service, 'get'>;
  /**
   * Sends one writing request, from here or through another worker. Never repeats one that may have been sent. `again`: an
   * earlier one was open; it is sent from here, since a worker may have died of it.
   */
  readonly send: (request: WriteRequest, again?: boolean) => Promise<WriteAnswer>;
  /**
   * Reads a record again through another worker, where there are takers; undefined where that came to nothing. `readAt`: when it was
   * asked for, so that its age is never told too low.
   */
  readonly readAgain?: (id: number) => Promise<{ readonly record: Json | null; readonly readAt: number } | undefined>;
  readonly journal: Journal;
  /**
   * Looks up the records that have the key of these values, exactly; undefined where it cannot be looked up. `createdBefore`: what
   * `WriteRun.created` was when the row was sent.
   */
  readonly lookUp: (
    fields: Fields,
    createdBefore: number,
  ) => Promise<readonly { id: number; record: Json }[] | undefined>;
  /** Fields whose values the service keeps unique: `uniqueFieldsOf`. */
  readonly uniqueFields: readonly string[];
  /** The id of the record of another row of this file, written before the rows that refer to it; undefined where it was not. */
  readonly writtenId: (row: number) => number | undefined;
  /** Milliseconds after an open answer at which the service is asked what became of it. */
  readonly settleWindow: readonly number[];
  /** A record read longer ago than so many milliseconds is read again before its PUT. Contract, section 7. */
  readonly freshMs: number;
  /** Stale records are read right before their own PUT, not when their part begins: for plans that somebody looked at. */
  readonly readLate: boolean;
  readonly pace: Pace;
  /** For ages of what was read: milliseconds since 1970, never going back. */
  readonly now: () => number;
  /** For waiting: milliseconds that no change of the system's clock moves. */
  readonly elapsed: () => number;
  /** Resolves after so many milliseconds; false as soon as the run is interrupted. */
  readonly wait: (milliseconds: number) => Promise<boolean>;
  readonly signal: AbortSignal;
  /** Called once, when the first fault of the whole run is noted. */
  readonly onStop: () => void;
}

/** Thrown where a request was sent and its effect is still open when the run is interrupted: `runs resume` settles it. */
export class Interrupted extends Error {}

/** Thrown where a row was not sent because the run stops. */
export class Halted extends Error {}

/** What all rows of a run share while they are written. */
export class WriteRun {
  /** The first fault of the whole run; nothing is sent afterwards. */
  stopped: Error | undefined;
  /** Records that were created so far. */
  created = 0;
  /** Creates that are durable so far. Answers come later than the records: so many may stand behind one that is looked for. */
  durableCreates = 0;
  /** The record that was created last, with a clear answer. */
  lastCreated: { readonly fields: Fields; readonly at: number } | undefined;
  /** Ids that answers to creates told. */
  readonly createdIds = createChoiceMap<true>([true]);
  /** Whether the answers to creates show the records as they are then. Asked once, of the first that lacks something. */
  answersComplete: Promise<boolean | undefined> | undefined;
  answerChecks = 0;
  /** The service was seen to store a key in another form than was sent. */
  changesKeys = false;

  constructor(readonly options: WriterOptions) {}

  get halted(): boolean {
    return this.stopped !== undefined || this.options.signal.aborted;
  }

  /** A record as it is now; undefined where there is none. */
  read(id: number): Promise<Json | undefined> {
    return this.options.service.get(this.options.plan.spec.name as Readable, id);
  }

  stop(error: Error): void {
    if (this.stopped) return;
    this.stopped = error;
    this.options.onStop();
  }
}

/** An outcome in the making. */
export interface DraftOutcome {
  readonly kind: OutcomeKind;
  readonly id?: number;
  readonly attempts: number;
  readonly issues: Outcome['issues'];
  readonly diff?: readonly FieldDiff[];
}

/** One row that is being written: what creating and updating have in common. */
export abstract class RowWrite<C extends Create | Update = Create | Update> {
  /** Requests that were made for it. */
  protected attempts = 1;
  /** Where the row is at work. */
  permit: Permit | undefined;

  constructor(
    readonly change: C,
    readonly run: WriteRun,
  ) {}

  /** Sends what the row asks for and finds out what became of it. */
  protected abstract carryOut(): Promise<DraftOutcome>;

  /** Carries the row out and notes its outcome, unless that stays open. Whoever waits for what became of a request holds nobody else up. */
  async write(): Promise<void> {
    try {
      if (this.run.halted) this.skip();
      else await this.attempt();
    } catch (error) {
      this.fail(error);
    } finally {
      this.permit?.release();
    }
  }

  protected attempt(): Promise<void> {
    return this.carryOut().then((draft) => this.end(draft));
  }

  /** The run stops before the row was sent. */
  skip(): void {
    this.end({ kind: 'not_attempted', attempts: 0, issues: this.change.issues });
  }

  /** A fault of the whole run stops everything that is not in flight; the row itself counts as not attempted. */
  fail(error: unknown): void {
    // Interrupted: what was sent stays open, and `runs resume` settles it.
    if (error instanceof Interrupted) {
      this.run.options.journal.leftOpen();
      return;
    }
    if (!(error instanceof Halted)) this.run.stop(error as Error);
    this.skip();
  }

  end(draft: DraftOutcome): void {
    const { options } = this.run;
    const change: Create | Update = this.change;
    const { ref, key } = change;
    const { kind, attempts, issues } = draft;
    const id = draft.id ?? (change.kind === 'update' ? change.id : undefined);
    const diff = draft.diff ?? (change.kind === 'update' ? change.diff : undefined);
    if (kind === 'created') this.run.created++;
    const changed = kind === 'updated' ? changedFields(diff) : [];
    const outcome: Outcome = { ref, kind, key, attempts, issues, changed };
    options.journal.outcome(id === undefined ? outcome : { ...outcome, id }, diff);
  }

  protected draft(kind: OutcomeKind, ...issues: readonly Issue[]): DraftOutcome {
    const all = issues.length === 0 ? this.change.issues : [...this.change.issues, ...issues];
    return { kind, attempts: this.attempts, issues: all };
  }

  protected async wait(milliseconds: number): Promise<void> {
    if (milliseconds > 0) this.permit?.park();
    if (!(await this.run.options.wait(milliseconds))) throw new Interrupted();
  }

  /** What an open effect came to is asked within this; whatever goes wrong meanwhile leaves it open, for `runs resume`. */
  protected async whileOpen<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Interrupted)) this.run.stop(error as Error);
      throw new Interrupted();
    }
  }

  /** Asks over the settle window what became of a request, until there is an answer. */
  protected async settle<T>(
    ask: () => Promise<T>,
    decide: (seen: T) => DraftOutcome | undefined,
    window = this.run.options.settleWindow,
  ): Promise<DraftOutcome | undefined> {
    const opened = this.run.options.elapsed();
    for (const at of window) {
      const seen = await this.whileOpen(async () => {
        await this.wait(Math.max(0, opened + at - this.run.options.elapsed()));
        return ask();
      });
      const draft = decide(seen);
      if (draft) return draft;
    }
    return undefined;
  }

  /** What a row comes to whose repetition never left: its first request is as open as before, for `runs resume`. */
  protected stillOpen(reason: string): Interrupted {
    if (!this.run.options.signal.aborted) this.run.stop(unreachable(reason));
    return new Interrupted();
  }

  /**
   * The outcome of a request that never left; when the service stays away, the rest of the run need not try. A run that lost
   * its right to write is aborted by then, and its row left for the resumption.
   */
  protected unsent(reason: string): DraftOutcome {
    if (this.run.options.signal.aborted) throw new Halted();
    this.run.stop(unreachable(reason));
    const text = `The row was not sent: ${reason}. \`rowferry runs resume\` sends it when the service can be reached.`;
    return this.draft('failed', fault('service_unreachable', text));
  }

  /** The service's refusal in its own words, put to the fields they name, their columns and what was `sent` in them. */
  protected rejection({ status, messages }: Extract<WriteAnswer, { kind: 'refused' }>, sent: Fields): Issue[] {
    const { spec, columnOf } = this.run.options.plan;
    const refusal = (text: string, at: Partial<Issue> = {}) =>
      fault('service_rejected', text, { origin: 'service', ...at });
    if (messages.length === 0)
      return [refusal(`The service refused the record with status ${status} and gave no reason.`)];
    return messages.map(({ field: spelling, text }) => {
      const why = `The service refused the record${spelling ? ` because of ${spelling}` : ''}: ${text}`;
      if (spelling === undefined) return refusal(why);
      const own = spec.fields.find(({ name, create, update, aliases }) =>
        [name, create, update, ...(aliases ?? [])].includes(spelling),
      );
      const field = own?.name ?? spelling;
      const value = sent[field];
      return refusal(why, { field, column: columnOf(field), ...(isEmpty(value) ? {} : { value: valueText(value) }) });
    });
  }
}

/** Fields that an update writes or destroys; a created record has no changed field. */
export function changedFields(diff: readonly FieldDiff[] = []): string[] {
  return diff.filter(({ kind }) => kind !== 'preserved' && kind !== 'kept').map((one) => one.field);
}

function unreachable(reason: string): RunError {
  return runFailure(
    `The service cannot be reached: ${reason}. \`rowferry runs resume\` continues the run when it can.`,
  );
}

/** A record to be read again before its update. */
export interface ReadRequest {
  readonly op: 'read';
  readonly resource: ResourceName;
  readonly id: number;
}

/** What it came to; null: there is no such record any more. */
export interface ReadAnswer {
  readonly kind: 'read';
  readonly record: Json | null;
}

/** Whether the record behind a request need not be read again, by the coordinator's clock. */
export function isFreshAt(now: number, request: WriteRequest): boolean {
  return request.op === 'create' || request.freshUntil === undefined || now <= request.freshUntil;
}

type Match = Pick<RowsJob['match'], 'key' | 'unique_field'>;

/**
 * The fields whose values the service itself keeps unique, so that a create that comes late is refused there: those of
 * the resource, and the `unique_field` of the job unless a probe found that the service takes no notice of it.
 */
export function uniqueFieldsOf(match: Match, spec: ResourceSpec, probed: ProbedBehaviour | undefined): string[] {
  const asked = probed?.uniqueField === 'ignored' ? undefined : match.unique_field;
  return asked === undefined ? [...spec.uniqueFields] : [...spec.uniqueFields, asked];
}

/** Whether the service refuses a second record with these values. */
export function hasUniqueField(fields: Fields, uniqueFields: readonly string[]): boolean {
  return uniqueFields.some((field) => !isEmpty(fields[field]));
}

/** Whether it does so for every row: no row is created without its key and the fields the resource requires. */
export function isEveryRowUnique(match: Match, spec: ResourceSpec, probed: ProbedBehaviour | undefined): boolean {
  const filled = (field: string) =>
    match.key.includes(field) || spec.fields.some(({ name, required }) => name === field && required === true);
  return uniqueFieldsOf(match, spec, probed).some(filled);
}
