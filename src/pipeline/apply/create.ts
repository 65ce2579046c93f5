import { RunError } from '../../model/error.js';
import { fault, type Issue } from '../../model/issue.js';
import { isEmpty } from '../../model/value.js';
import { readFields } from '../../resources/read.js';
import { createBody } from '../../resources/write.js';
import type { Json, WriteAnswer } from '../../service/port.js';
import { compareWithStored, equalsStored, isNormalisedForm, learnCountries } from './compare.js';
import { type Create, type DraftOutcome, hasUniqueField, RowWrite } from './write.js';

/**
 * After an answer of its own that tells of a failure, the service has nothing under way: where it guards the key itself,
 * short looks are enough.
 */
const ANSWERED_WINDOW = [200, 1_000, 3_000];
/** Where the service guards the key and takes other creates: chance may befall one row several times. */
const MAX_TRIES = 4;
/** Reads of created records that may tell nothing, such as of a service whose reads lag, before it is left at that. */
const MAX_READS = 3;

type Open = Extract<WriteAnswer, { kind: 'open' }>;
type Refused = Extract<WriteAnswer, { kind: 'refused' }>;

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
export class CreateRow extends RowWrite<Create> {
  private undoRemember: (() => void) | undefined;
  /** What the run had created, and the clock said, when the row was sent first. */
  private createdBefore = 0;
  private sentAt = 0;

  /** Before an answer tells an id there is only the key by which a later update can find what reads do not show. */
  remember(): void {
    const { spec, memory } = this.run.options.plan;
    if (spec.readable) this.undoRemember = memory.rememberWithoutId(this.change.fields);
  }

  override skip(): void {
    this.undoRemember?.();
    super.skip();
  }

  override fail(error: unknown): void {
    // A redirect may be the answer to a create that was carried out: `runs resume` looks before it sends.
    if (error instanceof RunError && (error.status === 302 || error.status === 303)) {
      this.run.stop(error);
      this.run.options.journal.leftOpen();
    } else super.fail(error);
  }

  protected override async carryOut(): Promise<DraftOutcome> {
    this.createdBefore = this.run.created;
    this.sentAt = this.run.options.elapsed();
    const answer = await this.send();
    const found = answer.kind === 'open' ? this.settleOpen(answer) : this.conclude(answer);
    const draft = found instanceof Promise ? await found : found;
    if (draft.kind !== 'created' && draft.kind !== 'unknown')
      this.run.options.plan.memory.forgetWithoutId(this.change.fields);
    return draft;
  }

  private send(again = false): Promise<WriteAnswer> {
    const { plan, send } = this.run.options;
    const { spec, company, lexicon, job } = plan;
    const { body } = createBody(spec, company, this.change.fields, lexicon);
    const unique = job.match.unique_field;
    const query = unique ? { query: { unique_field: unique } } : {};
    return send({ op: 'create', resource: spec.name, body, ...query }, again);
  }

  /** After a first request whose effect is open. */
  private async settleOpen(first: Open): Promise<DraftOutcome> {
    let createdBefore = this.createdBefore;
    let answer = first;
    for (;;) {
      const settled = await this.lookUp(answer);
      if (settled) return settled;
      const whyNot = await this.whyNotResend(answer, createdBefore);
      if (whyNot !== undefined) return this.unknown(`${answer.reason}; ${whyNot}`);
      createdBefore = this.run.created;
      const again = await this.whileOpen(() => this.send(true));
      if (again.kind === 'unsent') throw this.stillOpen(again.reason);
      this.attempts++;
      if (again.kind === 'done') return this.conclude(again);
      if (again.kind === 'refused') return this.refusedAgain(again, answer.reason);
      answer = again;
    }
  }

  /** Why a create that is open and not found is not sent once more; undefined where it is. */
  private async whyNotResend(answer: Open, createdBefore: number): Promise<string | undefined> {
    const { attempts, run } = this;
    const notFound = 'looked up by key and not found';
    if (hasUniqueField(this.change.fields, run.options.uniqueFields)) {
      // The second try is always made; further ones where the service took other creates meanwhile: so it is not this record.
      return attempts === 1 || (attempts < MAX_TRIES && run.created > createdBefore) ? undefined : notFound;
    }
    if (answer.pending) return `${notFound}, and it may still be under way`;
    if (attempts > 1) return notFound;
    return (await this.lookUpsLag()) ? 'look-ups do not show yet what the service created meanwhile' : undefined;
  }

  /**
   * A positive control before "not found" is believed: whether look-ups do not show what the service said it created since
   * the row was sent. False also where nothing was created since: then they have to be believed.
   */
  private async lookUpsLag(): Promise<boolean> {
    const { lastCreated: control, options } = this.run;
    if (!control || control.at < this.sentAt) return false;
    const found = await this.whileOpen(() => options.lookUp(control.fields, 0));
    return found?.length === 0;
  }

  /** A refusal of a repetition may be the first request's doing: it may have taken effect after the last look. */
  private async refusedAgain(answer: Refused, reason: string): Promise<DraftOutcome> {
    const settled = await this.lookUp(answer);
    if (settled) return settled;
    if (!this.saysKeyExists(answer)) return this.conclude(answer);
    return this.unknown(`${reason}; the service then said that its key is taken, and look-ups do not show by whom`);
  }

  /** Whether a refusal may be about the key: it names a field that the service guards, or says so in its words. */
  private saysKeyExists({ status, messages }: Refused): boolean {
    const { spec, job } = this.run.options.plan;
    const uniqueFields = [...spec.uniqueFields, job.match.unique_field];
    const keyWords = /exist|duplicat|unique|taken|already/i;
    return (
      status === 409 ||
      messages.some(({ field, text }) => (field !== undefined && uniqueFields.includes(field)) || keyWords.test(text))
    );
  }

  /** A promise only where the answer is to be looked into. */
  private conclude(answer: Exclude<WriteAnswer, { kind: 'open' }>): DraftOutcome | Promise<DraftOutcome> {
    switch (answer.kind) {
      case 'done': {
        const { fields } = this.change;
        this.run.lastCreated = { fields, at: this.run.options.elapsed() };
        const { id, record } = this.isOwn(answer) ? answer : {};
        if (!record) return this.created(id, []);
        return this.unstoredWarnings(id, record).then((issues) => this.created(id, issues));
      }
      case 'refused':
        return this.draft('rejected', ...this.rejection(answer, this.change.fields));
      case 'unsent':
        return this.unsent(answer.reason);
    }
  }

  /** Whether an answer tells of the record that was created: not of another row's, of one that was there, or of another key. */
  private isOwn({ id, record }: Extract<WriteAnswer, { kind: 'done' }>): boolean {
    if (id === undefined) return true;
    const { createdIds, options } = this.run;
    const { spec, job, lexicon, snapshot, specOf } = options.plan;
    if (createdIds.has(id) || snapshot.hasId(id)) return false;
    const { fields } = this.change;
    const shown = record ? readFields(spec, job.match.key, record, lexicon).fields : {};
    const isOther = job.match.key.some((field) => {
      const [wanted, got] = [fields[field], shown[field]];
      return !isEmpty(got) && !equalsStored(wanted, got) && !isNormalisedForm(wanted, got, specOf(field)?.type);
    });
    const { length: others } = Object.keys(fields).filter((field) => !job.match.key.includes(field));
    // A service that gives keys a form of its own keeps everything else as it was sent.
    if (isOther && (!record || others === 0 || compareWithStored(fields, record, options.plan).differing.length > 0))
      return false;
    createdIds.set(id, true);
    return true;
  }

  private created(id: number | undefined, issues: readonly Issue[]): DraftOutcome {
    const { memory, spec } = this.run.options.plan;
    this.run.changesKeys ||= issues.some(({ code }) => code === 'key_normalised');
    if (id !== undefined && this.run.changesKeys) memory.rememberKey(id, this.change.fields);
    if (id !== undefined) memory.remember(id, this.change.fields);
    // A customer's id is told by this answer or never: that it exists must not be forgotten.
    else if (!spec.readable) memory.rememberWithoutId(this.change.fields);
    const draft = this.draft('created', ...issues);
    return id === undefined ? draft : { ...draft, id };
  }

  /** Looks the record up over the settle window; undefined where it is not there. */
  private lookUp(answer: Open | Refused): Promise<DraftOutcome | undefined> {
    const { settleWindow, uniqueFields, lookUp } = this.run.options;
    const answered = answer.kind === 'refused' || answer.answered;
    const window =
      answered && hasUniqueField(this.change.fields, uniqueFields)
        ? ANSWERED_WINDOW.map((at) => Math.min(at, settleWindow.at(-1) ?? at))
        : settleWindow;
    return this.settle(
      () => lookUp(this.change.fields, this.createdBefore),
      (found) => {
        if (found === undefined) {
          const why = answer.kind === 'open' ? answer.reason : 'the service refused the second try';
          return this.unknown(`${why}; it cannot be looked up`);
        }
        const [first, second] = found;
        if (!first || !second) return first && this.adopt(first);
        const ids = found.map((one) => one.id).join(', ');
        const text = `The row was sent and its effect was open; now several records have its key: ids ${ids}.`;
        return this.draft('ambiguous', fault('ambiguous_match', text));
      },
      window,
    );
  }

  private adopt({ id, record }: { id: number; record: Json }): DraftOutcome {
    const { differing, normalised } = compareWithStored(this.change.fields, record, this.run.options.plan);
    if (differing.length === 0) return this.created(id, normalised);
    const text = `While the row was being sent, a record with its key appeared with other values (${differing.join(', ')}): id ${id}. Compare the two and import the row again.`;
    return { ...this.draft('conflict', fault('changed_meanwhile', text)), id };
  }

  private unknown(reason: string): DraftOutcome {
    const text = `The row was sent and it is not known whether the record was created (${reason}). Look in the service before importing it again.`;
    return this.draft('unknown', fault('outcome_unknown', text));
  }

  /**
   * Warnings of what a new record does not hold of what was sent, as far as the answer to its create shows it. An answer
   * that lacks values may be a record in brief: the first of a run that does is held against the record itself.
   */
  private async unstoredWarnings(id: number | undefined, answered: Json): Promise<readonly Issue[]> {
    const { run } = this;
    const { plan } = run.options;
    learnCountries(this.change.fields, answered, plan);
    const { differing, normalised, unstored } = compareWithStored(this.change.fields, answered, plan);
    if (id === undefined || differing.length === 0 || !plan.spec.readable || typeof answered['id'] !== 'number')
      return normalised;
    while (!run.answersComplete && run.answerChecks < MAX_READS) {
      run.answerChecks++;
      // Where it cannot be read now it is created all the same, whatever keeps us from looking at it.
      const reading = run.read(id).then(
        (record) => {
          if (record) learnCountries(this.change.fields, record, plan);
          return record && compareWithStored(this.change.fields, record, plan);
        },
        () => undefined,
      );
      run.answersComplete = reading.then((held) => held && differing.every((field) => held.differing.includes(field)));
      const held = await reading;
      if (held) return held.unstored;
      run.answersComplete = undefined;
    }
    return (await run.answersComplete) === true ? unstored : normalised;
  }
}
