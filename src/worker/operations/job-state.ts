import type { EndedRun } from './ended.js';
import type { Failing } from './notification.js';
import type { NotifierState } from './notifier-port.js';

/**
 * Whether a job works, kept in the store, so that several workers tell a change once.
 *
 *     working ── failed, braked, refused ──> failing      tell `failing`
 *     failing ── failed, braked, refused ──> failing      one failure more; told only where `failing` never went out
 *     failing ── succeeded, partial ───────> working      tell `recovered`; the past failures are kept
 *     working ── succeeded, partial ───────> working      told only where `recovered` never went out
 *
 * An export that cannot be shown to be whole counts as failed. An interrupted run and a rehearsal change nothing. Of two
 * workers, the one whose `swap` made the change tells it. What was told is kept beside it: where nobody did within a minute
 * (the worker died, the webhook was down), the next run tells.
 */
export interface Change {
  readonly event: 'failing' | 'recovered';
  readonly failing: Failing;
  /** To be called when it has gone out. */
  told(): Promise<void>;
}

interface State {
  readonly failing: boolean;
  /** When it came to be so, milliseconds since 1970. */
  readonly at: number;
  /** Of now, or of the last time. */
  readonly last?: Failing;
}

/** Longer than all tries of a notification take. */
export const TELLING_MS = 60_000;

export async function noteRun(store: NotifierState, run: EndedRun, now: number): Promise<Change | undefined> {
  const failing = run.doubtful ? true : FAILING[run.status];
  if (failing === undefined) return undefined;
  const name = `notify.state.${run.job}`;
  const seen = parse(await store.read(name));
  const made = next(seen, failing, now);
  const before = parse(await store.swap(name, JSON.stringify(made)));
  const changed = (before?.failing ?? false) !== failing;
  // What another worker wrote in between counts for the event, not for what is kept: at most one failure is not counted.
  const state = changed ? next(before, failing, now) : made;
  if (!state.last) return undefined;

  const toldName = `notify.told.${run.job}`;
  const mark = `${failing ? 'failing' : 'recovered'} ${state.last.since}`;
  if (!changed && ((await store.read(toldName)) === mark || now - state.at < TELLING_MS)) return undefined;
  return {
    event: failing ? 'failing' : 'recovered',
    failing: state.last,
    told: async () => {
      await store.swap(toldName, mark);
    },
  };
}

/** Undefined: neither a failure nor a success. */
export const FAILING: Record<EndedRun['status'], boolean | undefined> = {
  failed: true,
  braked: true,
  refused: true,
  succeeded: false,
  partial: false,
  interrupted: undefined,
};

function next(before: State | undefined, failing: boolean, now: number): State {
  const last = before?.last;
  if (!failing) return { failing, at: before?.failing === false ? before.at : now, ...(last && { last }) };
  if (!before?.failing || !last) return { failing, at: now, last: { since: now, failures: 1 } };
  return { failing, at: before.at, last: { since: last.since, failures: last.failures + 1 } };
}

/** A text of another version counts as none. */
function parse(text: string | undefined): State | undefined {
  if (text === undefined) return undefined;
  try {
    const { failing, at, last } = JSON.parse(text) as Partial<State>;
    if (typeof failing !== 'boolean' || typeof at !== 'number') return undefined;
    const whole = typeof last?.since === 'number' && typeof last.failures === 'number';
    return { failing, at, ...(whole && { last }) };
  } catch {
    return undefined;
  }
}
