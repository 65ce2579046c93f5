import { fault, type Issue } from '../../model/issue.js';
import { sameValue, valueText } from '../../model/value.js';
import { readRecord } from '../../resources/read.js';
import { createBody } from '../../resources/write.js';
import type { Json, WriteAnswer } from '../../service/port.js';
import { changesOf, type Merge, mergeBaseOf, mergeRow, updateRequest, withProbeHint } from '../plan/merge.js';
import { decodeFields, encodeFields } from '../rows.js';
import { effectOf } from './compare.js';
import type { EndTurn, ReadBack, Verified } from './read-back.js';
import {
  type Before,
  type DraftOutcome,
  Interrupted,
  RowWrite,
  type Update,
  type WriteRun,
  type WriterOptions,
} from './write.js';

/** A request that became stale so often while it waited is given up: the service lets nothing through. */
const MAX_READS = 10;
/** Where a part takes its way to others, its records must be fresh for so much longer: else all of it comes back unsent. */
const TRANSIT_SHARE = 1 / 4;
const ALWAYS = Number.NEGATIVE_INFINITY;

/** What an update came to on its way out. */
type SendResult =
  /** `merge` as it was sent. */
  | { readonly kind: 'sent'; readonly merge: Merge; readonly answer: WriteAnswer }
  /** Nothing was sent: somebody else changed what the row sets, in words. */
  | { readonly kind: 'moved'; readonly what: string }
  /** Nothing was sent: there is nothing to change any more. */
  | { readonly kind: 'same' }
  /** Nothing was sent: there is something to lose. */
  | { readonly kind: 'at_risk'; readonly merge: Merge };

type Sent = Extract<SendResult, { kind: 'sent' }>;

/**
 * Updates one record: read → merge → PUT of the whole record in write form (PATCH: of what changes).
 * An open PUT is read: equals the target → updated, equals the base → sent again, neither → conflict.
 */
export class UpdateRow extends RowWrite<Update> {
  /** The record that the request is made from, as it was read last. */
  private base = this.change.base;
  private merged: { readonly base: Update['base']; readonly merge: Merge } | undefined;
  private endTurn: EndTurn | undefined;
  /** The request that decided what became of the row. */
  private lastSent: Sent | undefined;

  constructor(
    change: Update,
    run: WriteRun,
    private readonly readBack: ReadBack,
  ) {
    super(change, run);
  }

  /**
   * The record as it is before its update, with the fields that the update changes in it. What the row sets and the record
   * holds already, and where the service's value stands, is no work of the run: an undo must not take it for that. Undefined where nothing
   * is known of the record, and where it holds all of it already: an earlier line, of a request whose effect was open, then stands.
   */
  before(): Before | undefined {
    const { spec, company, lexicon } = this.run.options.plan;
    const { id, ref } = this.change;
    const current = this.currentRecord();
    const ours = this.lastWrite();
    const record = current ?? (ours && { id, ...createBody(spec, company, decodeFields(ours), lexicon).body });
    if (!record) return undefined;
    const changes = changesOf(this.merge().diff);
    if (changes.length === 0) return undefined;
    const changed = Object.fromEntries(changes.map((one) => [one.field, one.new]));
    return { row: ref.row, id, record, set: encodeFields(changed), ...(ours ? { ours } : {}) };
  }

  /** Reads a record again that is stale, or would be once its part is sent; false where the row has thereby ended. */
  async refresh(): Promise<boolean> {
    const { freshMs, pace } = this.run.options;
    try {
      const moved = await this.reread(freshMs * (pace.shared ? 1 - TRANSIT_SHARE : 1), this.run.options.readAgain);
      if (moved !== undefined) this.end(this.conflict(moved));
      return moved === undefined;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  protected override async attempt(): Promise<void> {
    this.endTurn = await this.readBack.turn(this.merge());
    try {
      await super.attempt();
    } finally {
      // Whoever waits takes the turn where this row told nothing about how the service treats a PUT.
      this.endTurn?.(false);
    }
  }

  protected override async carryOut(): Promise<DraftOutcome> {
    const { memory } = this.run.options.plan;
    const { id, issues } = this.change;
    const first = await this.send().catch((error: unknown) => {
      // Thrown is only what was not carried out.
      memory.revertSent(id);
      throw error;
    });
    if (first.kind !== 'sent') {
      memory.revertSent(id);
      if (first.kind === 'moved') return this.conflict(first.what);
      if (first.kind === 'same') return { kind: 'unchanged', attempts: 0, issues, diff: [] };
      return {
        kind: 'at_risk',
        attempts: 0,
        issues: withProbeHint([...issues, ...first.merge.risks]),
        diff: first.merge.diff,
      };
    }
    const draft = await this.finish(first);
    // Of several tries the first may have taken effect where reads do not show it.
    if (this.attempts === 1 && (draft.kind === 'rejected' || draft.kind === 'failed')) memory.revertSent(id);
    return draft.kind === 'updated' && this.lastSent ? this.verified(draft, this.lastSent) : draft;
  }

  /** An update that took effect, held against what the service kept of it. */
  private async verified(draft: DraftOutcome, { merge, answer }: Sent): Promise<DraftOutcome> {
    const { memory } = this.run.options.plan;
    const { id } = this.change;
    const record = answer.kind === 'done' ? answer.record : undefined;
    const sleep = (milliseconds: number) => this.wait(milliseconds);
    const found: Verified = await this.readBack
      .verify(id, merge, record, this.endTurn !== undefined, sleep)
      .catch((error: unknown) => {
        // The record is written, whatever keeps us from reading it back.
        if (!(error instanceof Interrupted)) this.run.stop(error as Error);
        return { issues: [] };
      });
    if (!found.unchanged) {
      // What could not be carried over is gone.
      const lost = new Set(merge.diff.filter((one) => one.kind === 'at_risk').map((one) => one.field));
      const carried = Object.entries(merge.target).filter(([field]) => !lost.has(field));
      memory.remember(id, Object.fromEntries(carried));
      memory.forgetSent(id);
    }
    this.endTurn?.(true);
    const issues = [...draft.issues, ...this.lateRisks(merge), ...found.issues];
    const uncleared = new Set(found.issues.flatMap(({ code, field }) => (code === 'not_cleared' ? field : [])));
    const diff = [...(draft.diff ?? this.change.diff), ...(found.lost ?? [])].filter(
      (one) => !uncleared.has(one.field),
    );
    return { ...draft, diff, ...(found.unchanged ? { kind: 'unknown' as const } : {}), issues };
  }

  /** Losses that the record as it was planned did not show yet. */
  private lateRisks(merge: Merge): Issue[] {
    return merge.risks
      .filter((risk) => !this.change.issues.some((issue) => issue.code === risk.code && issue.field === risk.field))
      .map((risk) => ({ ...risk, severity: 'warning' }));
  }

  private currentRecord(): Json | undefined {
    return (this.base.record ?? undefined) as Json | undefined;
  }

  private lastWrite(): Json | undefined {
    return this.run.options.plan.memory.lastWritten(this.change.id, this.change.set, this.currentRecord());
  }

  /** The row put onto the record: once, unless it was read again, or holds what may be understood once more is learned. */
  private merge(): Merge {
    const { base } = this;
    if (this.merged?.base === base) return this.merged.merge;
    const { plan } = this.run.options;
    const current = mergeBaseOf(this.currentRecord(), this.lastWrite(), plan);
    const merge = mergeRow(this.change.set, current, plan);
    if (current.read.losses.length === 0) this.merged = { base, merge };
    return merge;
  }

  /**
   * Sends the update on a record that was read not long ago. Contract, section 7.
   *
   *   fresh → merged → sent
   *   stale, before it enters the gate or at its end, or `reread: always` → read again → changed in what the row sets? moved : merged anew
   */
  private async send(again = false): Promise<SendResult> {
    const { plan, freshMs, signal } = this.run.options;
    for (let reads = 0; ; reads++) {
      const { base } = this;
      const forced = reads > 0 || plan.job.write.reread === 'always';
      const moved = await this.reread(forced ? ALWAYS : freshMs);
      if (moved !== undefined) return { kind: 'moved', what: moved };
      if (this.base !== base) await this.journalBefore();
      const merge = this.merge();
      const changes = changesOf(merge.diff);
      if (changes.length === 0) return { kind: 'same' };
      if (merge.risks.length > 0 && plan.job.write.at_risk !== 'warn') return { kind: 'at_risk', merge };
      await plan.memory.rememberSent(this.change.id, Object.fromEntries(changes.map((one) => [one.field, one.new])));
      const answer = await this.request(merge, reads > 0, again);
      const stale = answer.kind === 'unsent' && answer.withheld === 'stale' && !signal.aborted;
      if (!stale || reads >= MAX_READS) return { kind: 'sent', merge, answer };
    }
  }

  private request(merge: Merge, ahead: boolean, again: boolean): Promise<WriteAnswer> {
    const { plan, freshMs, send } = this.run.options;
    const { method } = plan.job.write;
    const request = {
      op: 'update',
      resource: plan.spec.name,
      id: this.change.id,
      body: updateRequest(method, merge, plan),
      method: method === 'put' ? 'PUT' : 'PATCH',
      ...(plan.spec.readable && this.base.record ? { freshUntil: Math.floor(this.base.readAt + freshMs) } : {}),
      ...(ahead ? { ahead } : {}),
    } as const;
    return send(request, again);
  }

  /** The record as it is before its update, durable before the request goes out. */
  private journalBefore(): Promise<void> {
    const before = this.before();
    return this.run.options.journal.intend([], before ? [before] : []);
  }

  /** Reads a record again that was read more than `oldest` milliseconds ago. What somebody else changed of what the row sets, in words. */
  private async reread(oldest: number, reader?: WriterOptions['readAgain']): Promise<string | undefined> {
    const { plan, now: clock } = this.run.options;
    const { spec, lexicon } = plan;
    const { id, set } = this.change;
    if (!spec.readable || !this.base.record) return undefined;
    const age = clock() - this.base.readAt;
    // Less than none: the clock was put back, and does not tell.
    if (age >= 0 && age <= oldest) return undefined;
    const relayed = await reader?.(id);
    const record = relayed ? relayed.record : await this.run.read(id);
    if (!record) return `the record ${id} no longer exists`;
    const before = readRecord(spec, this.base.record as Json, lexicon).fields;
    const now = readRecord(spec, record, lexicon).fields;
    const touched = Object.keys(set).filter(
      (field) =>
        !sameValue(before[field], now[field]) &&
        !sameValue(now[field], set[field]) &&
        (plan.authorityOf?.(field, set, before) ?? 'file') === 'file',
    );
    const [field] = touched;
    if (field !== undefined)
      return `${touched.join(', ')} of the record ${id} is now "${valueText(now[field])}", it was "${valueText(before[field])}"`;
    this.base = { record, readAt: relayed?.readAt ?? clock() };
    return undefined;
  }

  /** What a request came to. */
  private async finish(sent: Sent): Promise<DraftOutcome> {
    this.lastSent = sent;
    const { merge, answer } = sent;
    const { diff } = merge;
    switch (answer.kind) {
      case 'done':
        return { ...this.draft('updated'), diff };
      case 'refused':
        return { ...this.draft('rejected', ...this.rejection(answer, merge.target)), diff };
      case 'unsent':
        return this.unsent(answer.reason);
      case 'open':
        return this.settleOpen(merge, answer.reason);
    }
  }

  /** After a request whose effect is open. */
  private async settleOpen(merge: Merge, reason: string): Promise<DraftOutcome> {
    const { plan, now } = this.run.options;
    const { id } = this.change;
    const updated = (...normalised: readonly Issue[]): DraftOutcome => ({
      ...this.draft('updated', ...normalised),
      diff: merge.diff,
    });
    if (!plan.spec.readable) return this.unknown(merge, `${reason}; the record cannot be read`);
    const before = (this.base.record ?? undefined) as Json | undefined;
    const settled = await this.settle(
      () => this.run.read(id),
      (record) => {
        if (!record) return this.conflictAfterSend(`the record ${id} no longer exists`);
        // What the row does not set may have changed since: it is carried over as it was seen last.
        this.base = { record, readAt: now() };
        const effect = effectOf(merge, before, record, plan);
        if (effect.kind === 'taken') return updated(...effect.normalised);
        if (effect.kind === 'none') return undefined;
        const fields = effect.fields.join(', ');
        return this.conflictAfterSend(`${fields} of the record ${id} holds neither the old value nor the new one`);
      },
    );
    if (settled) return settled;
    if (this.attempts >= 2) return this.unknown(merge, `${reason}; the record still holds the old values`);
    const again = await this.whileOpen(async () => {
      await this.journalBefore();
      return this.send(true);
    });
    if (again.kind === 'moved') return this.conflictAfterSend(again.what);
    if (again.kind === 'same') return updated();
    if (again.kind === 'at_risk') {
      const why = `${reason}; the record still held the old values, and now holds some that sending again would lose`;
      return this.unknown(merge, why);
    }
    if (again.answer.kind === 'unsent') throw this.stillOpen(again.answer.reason);
    this.attempts++;
    return this.finish(again);
  }

  private conflict(what: string): DraftOutcome {
    const text = `Somebody changed the record after it was planned: ${what}. Nothing was sent. A new run plans it anew.`;
    return { ...this.draft('conflict', fault('changed_meanwhile', text)), attempts: 0 };
  }

  private conflictAfterSend(what: string): DraftOutcome {
    const text = `The update was sent and its effect was open; now ${what}: somebody else changed the record at the same time. Look at it in the service; a new run plans it anew.`;
    return this.draft('conflict', fault('changed_meanwhile', text));
  }

  private unknown({ diff }: Merge, why: string): DraftOutcome {
    const text = `The update was sent and it is not known whether it took effect (${why}). Look at record ${this.change.id} in the service before it is written again.`;
    return { ...this.draft('unknown', fault('outcome_unknown', text)), diff };
  }
}
