import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { PaceReport, PaceState } from '../../model/pace.js';
import type { Lease, StoredText, TextEdit, TextStore } from './port.js';

/** What a change comes to: the answer, and what is to be kept from then on; without `text` all is left as it is. */
interface Change<T> {
  readonly answer: T;
  readonly text?: string | undefined;
  readonly keepMs?: number;
}

/** In one step, whoever else changes it: where another one was faster, the change is made anew from what that one left. */
async function update<T>(texts: TextStore, name: string, change: (seen: StoredText) => Change<T>): Promise<T> {
  for (;;) {
    const seen = await texts.look(name);
    const { answer, text, keepMs } = change(seen);
    if (text === undefined || (await texts.replace(name, seen, text, keepMs))) return answer;
  }
}

/** What cannot be read counts as none. */
function tryParse<T>(text: string | undefined): T | undefined {
  try {
    return JSON.parse(text ?? '') as T;
  } catch {
    return undefined;
  }
}

/** A text that workers keep, as JSON of a form; what is not there, or cannot be read, is none. */
export function parseAs<T>(form: z.ZodType<T>, text: string | undefined): T | undefined {
  return form.safeParse(tryParse(text)).data;
}

/** Of who is there, and of the pace: told again and again, it may be forgotten in a crash. */
export const isPassing = (name: string): boolean => /^(workers|pace):/.test(name);

const textName = (name: string) => `text:${name}`;

export async function readText(texts: TextStore, name: string): Promise<string | undefined> {
  return (await texts.look(textName(name))).text;
}

export function updateText(texts: TextStore, name: string, edit: TextEdit): Promise<string | undefined> {
  return update(texts, textName(name), ({ text: answer }) => ({ answer, text: edit(answer) }));
}

/** As it is kept; `until` by the store's clock. */
interface LeaseRecord {
  /** Null where it was given back. */
  readonly holder: string | null;
  readonly epoch: number;
  readonly until: number;
}

/** Longer than any holder lives; epochs go on from the clock after it. */
const EPOCH_MEMORY_MS = 7 * 24 * 3_600_000;
const leaseName = (name: string) => `lease:${name}`;
const leaseUpdate = (record: LeaseRecord) => ({ text: JSON.stringify(record), keepMs: EPOCH_MEMORY_MS });

/**
 * Takes a lease and keeps it. Undefined where another one holds it, or may still count on it: a store that has forgotten what it
 * held hands out nothing until every lease from before has either been renewed or has ended for its holder too.
 */
export async function takeLease(
  texts: TextStore,
  name: string,
  ttlMs: number,
  onError: (error: unknown) => void,
): Promise<Lease | undefined> {
  const token = randomUUID();
  const sentAt = performance.now();
  const epoch = await update<number | undefined>(texts, leaseName(name), ({ text, now, ageMs }) => {
    const previous = tryParse<LeaseRecord>(text);
    const isHeld = previous?.holder != null && previous.until > now;
    if (isHeld || ageMs < ttlMs) return { answer: undefined };
    // At least the time, so that it grows also where the store has lost the last one.
    const answer = Math.max((previous?.epoch ?? 0) + 1, Math.floor(now));
    return { answer, ...leaseUpdate({ holder: token, epoch: answer, until: now + ttlMs }) };
  });
  return epoch === undefined ? undefined : renewLease(texts, { name, token, epoch, sentAt }, ttlMs, onError);
}

export async function isLeased(texts: TextStore, name: string): Promise<boolean> {
  const { text, now } = await texts.look(leaseName(name));
  const previous = tryParse<LeaseRecord>(text);
  return previous?.holder != null && previous.until > now;
}

/**
 *   held → (renewed every third of the time) → held
 *        → (somebody else has it, or it was not renewed in time) → lost
 *        → (released) → over
 *
 * Its time is reckoned on the monotonic clock from the moment before the last successful renewal was sent, so it ends
 * here no later than in the store: a process that was paused knows, as soon as it runs, that its right has ended.
 */
function renewLease(
  texts: TextStore,
  taken: { readonly name: string; readonly token: string; readonly epoch: number; readonly sentAt: number },
  ttlMs: number,
  onError: (error: unknown) => void,
): Lease {
  const { name, token, epoch } = taken;
  const lost = new AbortController();
  let until = taken.sentAt + ttlMs;
  let isOver = false;
  let renewal: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;

  const stop = () => {
    isOver = true;
    clearTimeout(renewal);
    clearTimeout(expiry);
  };
  const lose = () => {
    if (isOver) return;
    stop();
    lost.abort(new Error(`The lease ${name} is lost.`));
  };
  const armExpiry = () => {
    clearTimeout(expiry);
    expiry = setTimeout(() => (performance.now() < until ? armExpiry() : lose()), until - performance.now());
    expiry.unref();
  };
  const armRenewal = (delayMs: number) => {
    renewal = setTimeout(renew, delayMs);
    renewal.unref();
  };

  async function renew(): Promise<void> {
    const sentAt = performance.now();
    // One that has ended may have been somebody else's meanwhile.
    if (sentAt >= until) return lose();
    try {
      const isKept = await update(texts, leaseName(name), ({ text, now }) => {
        const previous = tryParse<LeaseRecord>(text);
        // A store that has lost the lease is told of it again, unless somebody took it.
        const isOurs = previous === undefined || (previous.holder === token && previous.epoch === epoch);
        return { answer: isOurs, ...(isOurs && leaseUpdate({ holder: token, epoch, until: now + ttlMs })) };
      });
      if (isOver) return;
      if (!isKept) return lose();
      until = sentAt + ttlMs;
      armExpiry();
      armRenewal(Math.max(0, sentAt + ttlMs / 3 - performance.now()));
    } catch (error) {
      if (isOver) return;
      onError(error);
      armRenewal(Math.min(1_000, ttlMs / 10));
    }
  }

  armExpiry();
  armRenewal(ttlMs / 3);
  return {
    epoch,
    get valid() {
      return !isOver && performance.now() < until;
    },
    lost: lost.signal,
    async release() {
      if (isOver) return;
      stop();
      await update(texts, leaseName(name), ({ text, now }) => {
        const isOurs = tryParse<LeaseRecord>(text)?.holder === token;
        return { answer: undefined, ...(isOurs && leaseUpdate({ holder: null, epoch, until: now })) };
      });
    },
  };
}

/** Members, and when each was heard of last by the store's clock. */
type Members = Readonly<Record<string, number>>;

function heardWithin(members: Members = {}, sinceMs: number): Members {
  return Object.fromEntries(Object.entries(members).filter(([, at]) => at > sinceMs));
}

/** Three beats may be missed before a member counts as gone. */
const BEAT_MS = 3_000;
const PRESENT_MS = 10_000;

/** Tells the store which queues this process works on, so that all can count who is there. */
export function openPresence(texts: TextStore, member: string, onError: (error: unknown) => void) {
  /** As often as there are workers on it. */
  const working: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();
  const presenceName = (queue: string) => `workers:${queue}`;
  const presentMembers = ({ text, now }: StoredText) => heardWithin(tryParse<Members>(text), now - PRESENT_MS);

  async function announce(queue: string): Promise<void> {
    await update(texts, presenceName(queue), (seen) => {
      const { [member]: _, ...others } = presentMembers(seen);
      const members = working.includes(queue) ? { ...others, [member]: seen.now } : others;
      return { answer: undefined, text: JSON.stringify(members), keepMs: 2 * PRESENT_MS };
    }).catch(onError);
  }
  /** One after the other, so that a late beat never follows a farewell. */
  function announceInTurn(...queues: readonly string[]): Promise<void> {
    beating = beating.then(async () => void (await Promise.all(queues.map(announce))));
    return beating;
  }

  return {
    /** Until the returned function is called, once. */
    enter(queue: string): () => void {
      working.push(queue);
      void announceInTurn(queue);
      timer ??= setInterval(() => void announceInTurn(...new Set(working)), BEAT_MS).unref();
      return () => {
        if (working.includes(queue)) working.splice(working.indexOf(queue), 1);
        void announceInTurn(queue);
      };
    },
    async count(queue: string): Promise<number> {
      await beating;
      const members = Object.keys(presentMembers(await texts.look(presenceName(queue)))).length;
      return Math.max(members, working.includes(queue) ? 1 : 0);
    },
    async close(): Promise<void> {
      clearInterval(timer);
      await announceInTurn(...new Set(working.splice(0)));
    },
  };
}
const PACE_MEMBER_MS = 5_000;
/** What a pace knows is forgotten after so long without a report. */
const PACE_MEMORY_MS = 600_000;
/**
 * Slots granted further ahead than this, at a slower rate than is asked for now, make room: new ones begin where those
 * granted would end at the new rate. Else a rate that has recovered would wait for the slots of the slow one.
 */
const PACE_AHEAD_MS = 2_000;

/** A pace as it is kept, by the store's clock. */
interface PaceRecord extends Pick<PaceState, 'successes' | 'throttled' | 'overloaded'> {
  /** Nobody sends before then. */
  readonly held: number;
  /** The next free slot. */
  readonly next: number;
  /** The mean distance of the slots granted up to there: (next - now) / spacing of them are still to come. */
  readonly spacing: number;
  readonly members: Members;
  readonly forget: number;
}

export function exchangePace(
  texts: TextStore,
  service: string,
  member: string,
  report: PaceReport,
): Promise<PaceState> {
  return update(texts, `pace:${service}`, ({ text, now }) => {
    const last = tryParse<PaceRecord>(text);
    const previous = last && last.forget > now ? last : undefined;
    const held = Math.max(previous?.held ?? 0, now + (report.holdMs ?? 0));
    let { next = 0, spacing = 0 } = previous ?? {};
    let slotInMs: number | undefined;
    if (report.slots && report.slots.count > 0) {
      const { count, intervalMs } = report.slots;
      let ahead = Math.max(next - now, 0);
      const granted = ahead > 0 && spacing > 0 ? ahead / spacing : 0;
      if (ahead > PACE_AHEAD_MS && intervalMs < spacing) ahead = granted * intervalMs;
      slotInMs = ahead;
      next = now + ahead + count * intervalMs;
      spacing = (ahead + count * intervalMs) / (granted + count);
    }
    const sums = {
      successes: (previous?.successes ?? 0) + report.successes,
      throttled: (previous?.throttled ?? 0) + report.throttled,
      overloaded: (previous?.overloaded ?? 0) + report.overloaded,
    };
    const members = { ...heardWithin(previous?.members, now - PACE_MEMBER_MS), [member]: now };
    const keepMs = Math.max(0, held - now, next - now) + PACE_MEMORY_MS;
    const record: PaceRecord = { ...sums, held, next, spacing, members, forget: now + keepMs };
    const state = {
      ...sums,
      heldMs: Math.max(0, held - now),
      members: Object.keys(members).length,
      ...(slotInMs !== undefined && { slotInMs }),
    };
    return { answer: state, text: JSON.stringify(record), keepMs };
  });
}
