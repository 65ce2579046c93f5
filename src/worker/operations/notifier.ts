import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { request } from 'undici';
import { z } from 'zod';
import { shareLikeFolder } from '../../runs/layout.js';
import { pause } from '../../runs/pause.js';
import type { Store } from '../store/port.js';
import { within } from '../within.js';
import type { EndedRun } from './ended.js';

/**
 * Body of the webhook and line of the file. Scripts read it: names are never changed, only added to. Times are ISO 8601
 * in UTC. Holds counts, never rows or values. docs/operate/worker.md lists the fields; a test compares the two.
 */
export interface Notification {
  /** The same over all tries of one notification. */
  readonly id: string;
  readonly event: 'failing' | 'recovered';
  readonly job: string;
  readonly at: string;
  /** The whole in one sentence or two; chat tools show it as it is. */
  readonly text: string;
  readonly run?: string;
  readonly status: EndedRun['status'];
  readonly trigger: EndedRun['trigger'];
  readonly company?: number;
  /** When the first of the failing runs ended. */
  readonly since: string;
  /** Runs that failed one after another. */
  readonly failures: number;
  /** Why the run failed. */
  readonly reason?: string;
  /** Rows per outcome, without the outcomes no row has. */
  readonly rows?: Readonly<Record<string, number>>;
  /** Folder of the reports. */
  readonly reports?: string;
}

export type NotifierState = Pick<Store, 'read' | 'swap'>;

export interface NotifierOptions {
  /** `Settings.worker.notifyUrl`: http or https; a user name and password in it go as basic authorisation. */
  readonly url?: string | undefined;
  /** `Settings.worker.notifyFile`. */
  readonly file?: string | undefined;
  /** All workers on it agree on what has been told. */
  readonly state: NotifierState;
  readonly log: Logger;
  /** Whether there is a job file of the name: of others, whose names are anybody's, one failure a day is told, as `unknown`. */
  readonly known?: (job: string) => boolean;
  /** Takes secrets out of a text: reasons leave this process. */
  readonly clean?: (text: string) => string;
  /** Told of every notification that went out or was given up. */
  readonly notified?: (channel: 'webhook' | 'file', ok: boolean) => void;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
  /** Of the webhook: a try that takes longer has failed; waits before the second and the third try. */
  readonly timing?: { readonly timeoutMs: number; readonly waitsMs: readonly number[] };
}

const TIMING = { timeoutMs: 10_000, waitsMs: [1000, 5000] };
/** What waits to go out; beyond it a webhook that is down for long would fill the memory. */
const MOST_WAITING = 1000;
/** So many go out at once, and then one a minute. */
const MOST_AT_ONCE = 50;

export type Notifier = ReturnType<typeof openNotifier>;

/**
 * Tells people when a job begins to fail and when it works again. Nothing here blocks or fails a run. Without an address and
 * a file nothing is told and nothing is kept.
 */
export function openNotifier(options: NotifierOptions) {
  const { url, file, state, log } = options;
  const { clean = (text: string) => text, now = Date.now, timing = TIMING } = options;
  const ending = new AbortController();
  const silent = url === undefined && file === undefined;
  // One after another: what happened first is told first.
  let chain = Promise.resolve();
  let waiting = 0;
  let allowance = MOST_AT_ONCE;
  let allowedAt = now();

  /** What is held back here is told by the next run of the job that ends the same way. */
  function mayGoOut(): boolean {
    const at = now();
    allowance = Math.min(MOST_AT_ONCE, allowance + Math.max(0, at - allowedAt) / 60_000);
    allowedAt = at;
    if (allowance < 1) return false;
    allowance--;
    return true;
  }

  /** True where every way took it. */
  async function send(notification: Notification): Promise<boolean> {
    const { job, event } = notification;
    if (!mayGoOut()) {
      log.warn({ job, event }, 'A notification was dropped: too many went out of late.');
      return false;
    }
    const attempt = async (channel: 'webhook' | 'file', fault: Promise<string | undefined>) => {
      const why = await fault;
      options.notified?.(channel, why === undefined);
      if (why !== undefined) log.warn({ job, event, channel }, `The notification could not be delivered: ${why}.`);
      return why === undefined;
    };
    const ways = [
      ...(file === undefined ? [] : [attempt('file', append(file, notification))]),
      ...(url === undefined ? [] : [attempt('webhook', post(url, notification, timing, ending.signal))]),
    ];
    return (await Promise.all(ways)).every(Boolean);
  }

  async function tell(run: EndedRun, at: number): Promise<void> {
    const change = await noteRun(state, run, at);
    if (change && (await send(notificationOf(run, at, change)))) await change.told();
  }

  async function tellUnknown(run: EndedRun, at: number): Promise<void> {
    const day = new Date(at).toISOString().slice(0, 10);
    if (!isFailure(run) || (await state.swap('notify.unknown', day)) === day) return;
    await send(notificationOf({ ...run, job: 'unknown' }, at, { failing: true, since: at, failures: 1 }));
  }

  return {
    /** After every run of a job, and when a job was refused. Returns at once; what goes wrong is logged. */
    ended(run: EndedRun): void {
      // Whoever put a job with its own data on the queue gets its result there; its name is no job's.
      if (silent || run.inline || run.dryRun) return;
      const known = options.known?.(run.job) !== false;
      const job = known ? run.job : 'unknown';
      if (ending.signal.aborted || waiting >= MOST_WAITING) {
        log.warn({ job }, 'A notification was dropped: too many are waiting, or the worker is ending.');
        return;
      }
      const told = run.reason === undefined ? run : { ...run, reason: clean(run.reason) };
      const at = run.endedAt ?? now();
      waiting++;
      chain = chain
        .then(() => (known ? tell : tellUnknown)(told, at))
        .catch((error: unknown) => {
          const why = error instanceof Error ? error.message : 'unknown';
          log.warn({ job }, `A notification could not be made: ${clean(why)}`);
        })
        .finally(() => waiting--);
    },
    /** Waits until what was told has gone out, at most so long. */
    async close(patienceMs = 10_000): Promise<void> {
      if (!ending.signal.aborted) await within(patienceMs, chain);
      ending.abort();
    },
  };
}

/**
 * Whether a job works, kept in the store, so that several workers tell a change once.
 *
 *     working ── failed, braked, refused ──> failing      tell `failing`
 *     failing ── failed, braked, refused ──> failing      one failure more; told only where `failing` never went out
 *     failing ── succeeded, partial ───────> working      tell `recovered`; the past failures are kept
 *     working ── succeeded, partial ───────> working      told only where `recovered` never went out
 *
 * An export that cannot be shown to be whole counts as failed. An interrupted run changes nothing. Of two workers, the one
 * whose `swap` made the change tells it. What was told is kept beside it: where nobody did within a minute (the worker
 * died, the webhook was down), the next run tells.
 */
const jobState = z.object({
  failing: z.boolean(),
  /** When it came to be so, milliseconds since 1970. */
  at: z.number(),
  /** When the first of the runs ended that failed one after another, now or the last time; and how many they were. */
  since: z.number(),
  failures: z.number(),
});
type JobState = z.output<typeof jobState>;

type Change = Pick<JobState, 'failing' | 'since' | 'failures'>;

/** Longer than all tries of a notification take. */
const TELLING_MS = 60_000;

async function noteRun(
  store: NotifierState,
  run: EndedRun,
  now: number,
): Promise<(Change & { told(): Promise<unknown> }) | undefined> {
  if (run.status === 'interrupted') return undefined;
  const failing = isFailure(run);
  const name = `notify.state.${run.job}`;
  const made = next(parse(await store.read(name)), failing, now);
  // Where another worker wrote in between, what it found counts for the change; at most one failure is not counted.
  const before = parse(await store.swap(name, JSON.stringify(made)));
  const state = next(before, failing, now);
  if (state.failures === 0) return undefined;

  const toldName = `notify.told.${run.job}`;
  const mark = `${failing ? 'failing' : 'recovered'} ${state.since}`;
  const changed = (before?.failing ?? false) !== failing;
  if (!changed && ((await store.read(toldName)) === mark || now - state.at < TELLING_MS)) return undefined;
  return { ...state, told: () => store.swap(toldName, mark) };
}

function isFailure({ status, doubtful }: EndedRun): boolean {
  return doubtful === true || status === 'failed' || status === 'braked' || status === 'refused';
}

function next(before: JobState | undefined, failing: boolean, now: number): JobState {
  const { since = 0, failures = 0 } = before ?? {};
  const at = before?.failing === failing ? before.at : now;
  if (!failing) return { failing, at, since, failures };
  return before?.failing ? { failing, at, since, failures: failures + 1 } : { failing, at, since: now, failures: 1 };
}

/** What cannot be read counts as none. */
function parse(text: string | undefined): JobState | undefined {
  try {
    return jobState.parse(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}

/** Longer ones are cut: chat tools refuse or hide long messages. */
const LONGEST_REASON = 500;

const WAYS: Record<EndedRun['status'], string> = {
  failed: 'failed',
  braked: 'was stopped by a brake',
  refused: 'was refused',
  interrupted: 'was interrupted',
  succeeded: 'succeeded',
  partial: 'finished; some rows need a person',
};

/** `at` and `since`: milliseconds since 1970. */
function notificationOf(run: EndedRun, at: number, { failing, since, failures }: Change): Notification {
  const reason = failing && run.reason ? oneLine(run.reason) : undefined;
  const how = run.doubtful ? 'wrote a file that may not be complete' : WAYS[run.status];
  const again = failures > 1 ? ` This is failure ${failures} since ${minute(since)}.` : '';
  const times = failures === 1 ? 'once' : `${failures} times`;
  const said = failing
    ? `${run.job} ${how}${reason ? `: ${reason}` : '.'}${again}`
    : `${run.job} works again, after it failed ${times} over ${span(at - since)}.`;
  const where = `${run.run === undefined ? '' : ` Run ${run.run}.`}${run.reports === undefined ? '' : ` Reports: ${run.reports}`}`;
  const rows = Object.fromEntries(Object.entries(run.counts ?? {}).filter(([, count]) => count > 0));
  return {
    id: randomUUID(),
    event: failing ? 'failing' : 'recovered',
    job: run.job,
    at: iso(at),
    text: said + where,
    ...(run.run !== undefined && { run: run.run }),
    status: run.status,
    trigger: run.trigger,
    ...(run.company !== undefined && { company: run.company }),
    since: iso(since),
    failures,
    ...(reason && { reason }),
    ...(run.counts && { rows }),
    ...(run.reports !== undefined && { reports: run.reports }),
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** `2026-11-21 02:00 UTC` */
const minute = (ms: number): string => `${iso(ms).slice(0, 16).replace('T', ' ')} UTC`;

function span(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 1) return 'less than a minute';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** Without control characters: the text reaches chat tools and terminals. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return line.length > LONGEST_REASON ? `${line.slice(0, LONGEST_REASON - 1)}…` : line;
}

/** Returns why the line could not be written. */
async function append(file: string, notification: Notification): Promise<string | undefined> {
  try {
    await mkdir(dirname(file), { recursive: true });
    const isNew = !(await stat(file).catch(() => undefined));
    // One call, opened to append: lines of several workers do not mix.
    await appendFile(file, `${JSON.stringify(notification)}\n`, { mode: 0o640 });
    if (isNew) await shareLikeFolder(file, 0o640);
    return undefined;
  } catch (error) {
    return `${file} (${codeOf(error)})`;
  }
}

/** Answers that may be other ones a moment later, beside those of 500 and above. */
const PASSING = new Set([408, 425, 429]);

/**
 * Sends the notification by POST, three times at most. Any 2xx is success; a redirect is not followed. Returns why it could
 * not be delivered: the host at most, as the rest of an address is often a secret.
 */
async function post(
  url: string,
  notification: Notification,
  { timeoutMs, waitsMs }: NonNullable<NotifierOptions['timing']>,
  ending: AbortSignal,
): Promise<string | undefined> {
  const target = new URL(url);
  const { host, username, password } = target;
  target.username = '';
  target.password = '';
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');

  for (let tries = 1; ; tries++) {
    let fault: string;
    try {
      const answer = await request(target, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'rowferry',
          ...(username && { authorization: `Basic ${basic}` }),
        },
        body: JSON.stringify(notification),
        // Notifications are rare: no connection is kept for the next one.
        reset: true,
        signal: AbortSignal.any([ending, AbortSignal.timeout(timeoutMs)]),
      });
      // Its content is nobody's concern, but the connection is free only once it is read; a long one is cut.
      await answer.body.dump({ limit: 64 * 1024 }).catch(() => undefined);
      const { statusCode: status } = answer;
      if (status >= 200 && status < 300) return undefined;
      fault = `${host} answered ${status}${status >= 300 && status < 400 ? ', which is not followed' : ''}`;
      if (status < 500 && !PASSING.has(status)) return fault;
    } catch (error) {
      fault = `${host} did not answer (${codeOf(error)})`;
    }
    const wait = waitsMs[tries - 1];
    if (wait === undefined) return `${fault} (${tries} tries)`;
    await pause(wait, ending);
    if (ending.aborted) return `${fault}; the worker is ending`;
  }
}

/** A code or a kind of error; messages may repeat the address. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return 'time-out';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
