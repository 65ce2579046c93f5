import type { FieldDiff } from '../../model/change.js';
import { runFailure } from '../../model/error.js';
import { fault, type Issue, warning } from '../../model/issue.js';
import { isEmpty, sameValue, type Value, valueText } from '../../model/value.js';
import { fieldReaders, readRecord } from '../../resources/read.js';
import type { Json } from '../../service/port.js';
import { changesOf, isTold, type Merge, templateOf } from '../plan/merge.js';
import {
  isNormalisedForm,
  isRounded,
  isTruncated,
  learnCountries,
  normalisedWarning,
  REWRITTEN_NOTE,
} from './compare.js';
import { Halted, type WriteRun } from './write.js';

/**
 * The first updates of a run go alone and are read back, so that a service that drops a field does it once. Which fields
 * it drops is seen only on a record that holds them: the very first update shows its own, and later ones that carry, set
 * or clear what none has shown yet take a turn, too, up to `MAX_TURNS` in all.
 *
 *   nothing shown yet → one has the turn, all others wait
 *   nothing new in it, or all turns used, and no first clear → it goes at once, beside the others
 *   something new in it → it has the turn, and others with something new wait for its end
 */

/** Each costs a request and the time of one update. One more, where need be, for the first that clears a value. */
export const MAX_TURNS = 4;

/** What is emptied is no value that reads show, whatever its field. */
const CLEARED = '(cleared)';

/** What reading a record back after its update came to. */
export interface Verified {
  readonly issues: readonly Issue[];
  /** What was carried over and is gone: plan.csv names it, and an undo puts it back. */
  readonly lost?: readonly FieldDiff[];
  /** The service answered well, and the record still holds old values. */
  readonly unchanged?: boolean;
}

/** Resolves after so many milliseconds; rejects when the run is interrupted. */
type Wait = (milliseconds: number) => Promise<void>;

/** How a record that was read back differs from what was sent. */
interface Differences {
  /** Sent, and gone; carried over, and another one now. */
  readonly dropped: readonly string[];
  /** What the record holds in place of the latter, by field. */
  readonly altered: ReadonlyMap<string, Value>;
  /** Still as before the update, and no other form of what was sent. */
  readonly stale: readonly string[];
  /** Whether something that the update changes is seen to have changed. */
  readonly applied: boolean;
  /** Whether something that the update changes is as before, and also a form of what was sent: either could be true. */
  readonly unclear: boolean;
  /** Stored in another form. */
  readonly issues: readonly Issue[];
}

/** Ends a turn; `verified`: the record was read back. */
export type EndTurn = (verified: boolean) => void;

export class ReadBack {
  /** What updates that were read back held. */
  private readonly covered = new Set<string>();
  /** Whether one was read back at all; whoever comes before that waits. */
  private verified = false;
  private turns = 0;
  private currentTurn: Promise<void> | undefined;
  /** What is being found out about updates that seem to have lost something; nobody goes before that. */
  private readonly pendingChecks = new Set<Promise<void>>();
  /** Something that was to be cleared stayed: updates that clear anything are read back, each. */
  private clearsStay = false;
  /** The service answers a write with something else than the record as it is then. */
  private answersUnreliable = false;

  constructor(private readonly run: WriteRun) {}

  /** Resolves when the update may go: with the means to end its turn, where it is to be read back. */
  async turn(merge: Merge): Promise<EndTurn | undefined> {
    if (!this.run.options.plan.spec.readable) return undefined;
    for (;;) {
      const [check] = this.pendingChecks;
      if (!check) {
        const mayStay = this.clearsStay && merge.diff.some(({ kind }) => kind === 'clear');
        const open = this.uncovered(merge);
        const allCovered = !mayStay && (this.turns < MAX_TURNS ? open.length === 0 : !open.includes(CLEARED));
        if (this.verified && allCovered) return undefined;
        if (!this.currentTurn) return this.takeTurn(merge);
      }
      await (check ?? this.currentTurn);
      if (this.run.halted) throw new Halted();
    }
  }

  private takeTurn(merge: Merge): EndTurn {
    const { promise, resolve } = deferred();
    this.currentTurn = promise;
    return (verified) => {
      if (this.currentTurn !== promise) return;
      // A row that told nothing about how the service treats a PUT is no turn, as long as none did: all wait for one.
      if (verified || this.verified) this.turns++;
      if (verified) for (const part of this.uncovered(merge)) this.covered.add(part);
      this.verified ||= verified;
      this.currentTurn = undefined;
      resolve();
    };
  }

  /** What the update carries, sets or clears, reads show, and none has shown yet: fields, those of all rows of a form as one. */
  private uncovered({ target, diff }: Merge): string[] {
    const own = fieldReaders(this.run.options.plan.spec);
    const isShown = (name: string) => {
      const reader = own.get(name);
      return reader ? reader.paths.length > 0 && !reader.field.derived : name !== 'id';
    };
    const filled = Object.keys(target).filter((name) => !isEmpty(target[name]) && isShown(name));
    const clears = diff.some(({ field, kind }) => kind === 'clear' && isShown(field));
    const parts = [...filled.map((name) => name.replace(/^(form\.\d+)#\d+/, '$1')), ...(clears ? [CLEARED] : [])];
    return parts.filter((part) => !this.covered.has(part));
  }

  /**
   * Compares the record with what was sent: the first updates of a run by reading them back, since an answer may be no more
   * than an echo; others where the answer holds the record, which is read where the answer lacks something, unless a reading
   * showed that answers do not tell. A value that was sent and is gone stops the run, and so does one that was carried over and
   * is another now, and an update of which nothing took effect throughout the settle window; a value of the row that is stored in
   * another form is a warning with both.
   */
  async verify(id: number, merge: Merge, answered: Json | undefined, first: boolean, wait: Wait): Promise<Verified> {
    let seen: Differences = { dropped: [], altered: new Map(), stale: [], applied: false, unclear: false, issues: [] };
    if (answered && typeof answered['id'] === 'number') {
      seen = this.compare(answered, merge);
      if (!first && isIntact(seen) && (seen.applied || !seen.unclear)) return { issues: seen.issues };
      if (!first && this.isAccepted(seen)) return lostOf(seen, merge);
    }
    const inDoubt = seen.dropped.length > 0 && !this.answersUnreliable && this.run.options.plan.spec.readable;
    if (first) return this.reread(id, merge, seen, wait);
    if (!inDoubt) return { issues: isIntact(seen) ? seen.issues : [] };
    // All updates that have not gone yet are held back: one seems to have lost something.
    const { promise, resolve } = deferred();
    this.pendingChecks.add(promise);
    try {
      return await this.reread(id, merge, seen, wait);
    } finally {
      this.pendingChecks.delete(promise);
      resolve();
    }
  }

  /** Reads the record back; `inAnswer`: what the answer to the update seemed to hold. */
  private async reread(id: number, merge: Merge, inAnswer: Differences, wait: Wait): Promise<Verified> {
    const { plan, settleWindow, elapsed } = this.run.options;
    let seen = inAnswer;
    const sent = elapsed();
    for (const [round, at] of [0, ...settleWindow].entries()) {
      const remaining = sent + at - elapsed();
      if (remaining > 0) await wait(remaining);
      const record = await this.run.read(id);
      if (!record) return { issues: isIntact(seen) ? seen.issues : [] };
      seen = this.compare(record, merge);
      // An old value that is also a form of what was sent may be an update not to be seen yet: a second look is enough.
      if (isIntact(seen) && (seen.applied || !seen.unclear || round > 0)) {
        if (inAnswer.dropped.length > 0) this.answersUnreliable = true;
        return { issues: seen.issues };
      }
      if (this.isAccepted(seen)) return lostOf(seen, merge);
    }
    if (isIntact(seen)) return { issues: seen.issues };
    const lost = [...seen.dropped, ...(isWithoutEffect(seen) ? seen.stale : [])];
    const isUncleared = lost.every((field) => isEmpty(merge.target[field]));
    this.run.stop(
      runFailure(
        `The update of ${plan.spec.name} ${id} was read back, and ${isUncleared ? 'it still holds the old value of' : 'the service did not keep'} ${lost.map((field) => storedPart(field, seen)).join(', ')}${isUncleared ? ', which was to be cleared' : ''}. The run stops here: nothing more is sent, and the rows that were not reached are as they were.`,
        [
          `before.ndjson among the reports holds the record as it was. ${seen.altered.size > 0 ? 'Where the service works such a value out itself, or another program does, state `write: { at_risk: warn }` in the job: then the run goes on, and tells it of the rows where it sees it.' : '`rowferry doctor --probe` finds out what the service keeps.'}`,
        ],
      ),
    );
    return seen.dropped.length > 0
      ? lostOf(seen, merge)
      : { issues: [...seen.issues, ...this.staleFaults(id, merge, seen.stale)], unchanged: true };
  }

  /** The update took effect, and the job allows what the service made of values that the row leaves alone; none is gone altogether. */
  private isAccepted({ dropped, altered, applied }: Differences): boolean {
    const allows = this.run.options.plan.job.write.at_risk === 'warn';
    return allows && applied && dropped.length > 0 && dropped.every((field) => altered.has(field));
  }

  private compare(record: Json, merge: Merge): Differences {
    const { plan } = this.run.options;
    const old = new Map(changesOf(merge.diff).map((one) => [one.field, one.old]));
    const set = Object.fromEntries([...old.keys()].map((field) => [field, merge.target[field] ?? null]));
    learnCountries(set, record, plan, old);
    const read = readRecord(plan.spec, record, plan.lexicon);
    const opaque = new Set([
      ...read.losses.map((loss) => loss.field),
      ...merge.diff.filter((one) => one.kind === 'at_risk').map((one) => one.field),
    ]);
    // Of a template that shows keys nobody knows, a value may stand under one of them: its field was renamed meanwhile.
    const renamed = new Set(
      read.losses.flatMap(({ field, value }) => (value === undefined ? (templateOf(field) ?? []) : [])),
    );
    const dropped: string[] = [];
    const altered = new Map<string, Value>();
    const stale: string[] = [];
    const issues: Issue[] = [];
    let applied = false;
    let unclear = false;
    for (const field of Object.keys(merge.target)) {
      const [wanted, got] = [merge.target[field], read.fields[field]];
      if (!isTold(field, wanted, got, plan) || plan.specOf(field)?.derived || opaque.has(field)) continue;
      if (isEmpty(got) && renamed.has(templateOf(field) ?? '')) continue;
      const changed = old.has(field);
      // A cleared yes-or-no takes its default, which is no.
      if (sameValue(wanted, got) || (isEmpty(wanted) && got === false)) {
        applied ||= changed;
        continue;
      }
      const asBefore = changed && sameValue(old.get(field), got);
      const normalised = isNormalisedForm(wanted, got, plan.specOf(field)?.type) || (changed && isRounded(wanted, got));
      const isDamaged = !changed && !isEmpty(wanted) && got !== undefined && !isEmpty(got);
      if (isDamaged && (!normalised || isTruncated(wanted, got))) {
        dropped.push(field);
        altered.set(field, got);
      } else if (asBefore && !normalised) stale.push(field);
      else if (isEmpty(got) && !normalised) dropped.push(field);
      else {
        if (asBefore) unclear = true;
        else applied ||= changed;
        issues.push(normalisedWarning(field, wanted, got, changed));
      }
    }
    if (applied || unclear) {
      // The update was carried out, as far as can be seen: what is as before was left out of it.
      for (const field of stale) {
        const [wanted, got] = [merge.target[field], read.fields[field]];
        if (isEmpty(got)) dropped.push(field);
        else issues.push(isEmpty(wanted) ? this.unclearedFault(field, got) : keptOldWarning(field, wanted, got));
      }
    }
    return { dropped, altered, stale, applied, unclear, issues };
  }

  private staleFaults(id: number, { target, diff }: Merge, stale: readonly string[]): Issue[] {
    const old = new Map(diff.map((one) => [one.field, one.old]));
    const isCleared = (field: string) => isEmpty(target[field]);
    const kept = stale.filter((field) => !isCleared(field));
    const cleared = stale.filter(isCleared).map((field) => this.unclearedFault(field, old.get(field)));
    return kept.length > 0 ? [staleFault(id, kept), ...cleared] : cleared;
  }

  private unclearedFault(field: string, old: Value | undefined): Issue {
    this.clearsStay = true;
    const probe = this.run.options.plan.omittedIsKept
      ? ''
      : ' Or `rowferry doctor --probe` finds out whether the service keeps what an update leaves out: then the next run says that it is to be empty.';
    const text = `The record still holds the old value "${valueText(old)}" of ${field}: it could not be cleared. Clear it in the service, or leave it with \`blank: keep\`.${probe}`;
    return fault('not_cleared', text, { field, value: valueText(old) });
  }
}

function isIntact(seen: Differences): boolean {
  return seen.dropped.length === 0 && !isWithoutEffect(seen);
}

function isWithoutEffect({ stale, applied, unclear }: Differences): boolean {
  return stale.length > 0 && !applied && !unclear;
}

/** What is gone, told; and as fields, what was sent and what is left: an undo goes by it. */
function lostOf(seen: Differences, merge: Merge): Verified {
  const lost = seen.dropped.map((field): FieldDiff => {
    return { field, old: merge.target[field] ?? null, new: seen.altered.get(field) ?? null, kind: 'at_risk' };
  });
  return { issues: [...seen.issues, ...lossWarnings(seen, merge)], lost };
}

/** The field, and what the service made of it. */
function storedPart(field: string, { altered }: Differences): string {
  const kept = altered.get(field);
  return kept === undefined ? field : `${field} (it holds "${valueText(kept)}" now)`;
}

/** One warning for what is gone altogether, and one for each value that is another now. */
function lossWarnings({ dropped, altered }: Differences, merge: Merge): Issue[] {
  const whole = dropped.filter((field) => !altered.has(field));
  const text = `Read back after the update, the record no longer holds ${whole.join(', ')}.`;
  return [
    ...(whole.length > 0 ? [warning('would_lose_value', text, { field: whole[0] ?? '' })] : []),
    ...[...altered].map(([field, kept]) => {
      const was = valueText(merge.target[field]);
      const message = `Read back after the update, the record no longer holds ${field} as it was: "${was}" was carried over, and the service kept "${valueText(kept)}".`;
      return warning('would_lose_value', message, { field, value: was });
    }),
  ];
}

function staleFault(id: number, fields: readonly string[]): Issue {
  const text = `The service answered that it took the update, and the record still holds the old value of ${fields.join(', ')}. Look at record ${id} in the service before it is written again.`;
  return fault('outcome_unknown', text, { field: fields[0] ?? '' });
}

function keptOldWarning(field: string, wanted: Value | undefined, got: Value | undefined): Issue {
  const text = `The service kept "${valueText(got)}" in ${field} where "${valueText(wanted)}" was sent.${REWRITTEN_NOTE}`;
  return warning('value_normalised', text, { field, value: valueText(wanted) });
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
