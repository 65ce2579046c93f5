import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { request } from 'undici';
import { z } from 'zod';
import { pause } from '../../runs/run/context.js';
import { proxyAgent, proxyRefusal } from '../../runs/settings-address.js';
import { parsed } from '../parsed.js';
import type { Store } from '../store/port.js';
import { within } from '../within.js';
import type { EndedRun } from './ended.js';

/**
 * Body of the webhook. Scripts read it: names are never changed, only added to. Times are ISO 8601 in UTC. Holds counts,
 * never rows or values. docs/operate/worker.md lists the fields; a test compares the two.
 */
export interface Notification {
  /** The same over all tries of one notification. */
  readonly id: string;
  readonly event: 'failing' | 'recovered';
  readonly job: string;
  readonly at: string;
  /** The whole in one sentence or two; chat tools show it as it is. */
  readonly text: string;
  readonly run?: string | undefined;
  readonly status: EndedRun['status'];
  readonly trigger: EndedRun['trigger'];
  readonly company?: number | undefined;
  /** When the first of the failing runs ended. */
  readonly since: string;
  /** Runs that failed one after another. */
  readonly failures: number;
  /** Why the run failed. */
  readonly reason?: string | undefined;
  /** Rows per outcome, without the outcomes no row has. */
  readonly rows?: Readonly<Record<string, number>> | undefined;
  /** Folder of the reports. */
  readonly reports?: string | undefined;
}

export type NotifierState = Pick<Store, 'read' | 'swap'>;

export interface NotifierOptions {
  /** `Settings.worker.notifyUrl`: http or https; a user name and password in it go as basic authorisation. */
  readonly url?: string | undefined;
  /** All workers on it agree on what has been told. */
  readonly state: NotifierState;
  readonly log: Logger;
  /** Whether there is a job file of the name: other names are anybody's, and not told of. */
  readonly known?: (job: string) => boolean;
  /** Takes secrets out of a text: reasons leave this process. */
  readonly clean?: (text: string) => string;
  /** Told of every notification that went out or was given up. */
  readonly notified?: (channel: 'webhook', ok: boolean) => void;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
  /** A try that takes longer has failed; waits before the second and the third try. */
  readonly timing?: { readonly timeoutMs: number; readonly waitsMs: readonly number[] };
}

const TIMING = { timeoutMs: 10_000, waitsMs: [1000, 5000] };
/** What goes out; also where a webhook is down for long, no more than these wait for it. */
const MOST_AN_HOUR = 50;
const HOUR_MS = 3_600_000;

export type Notifier = ReturnType<typeof openNotifier>;

/** Whether a job works, and since when; kept in the store, under one name a job. */
const jobState = z.object({
  failing: z.boolean(),
  /** When the first of the runs ended that failed one after another, now or the last time; and how many they were. */
  since: z.number(),
  failures: z.number(),
  told: z.boolean(),
});
type JobState = z.output<typeof jobState>;

/**
 * Tells people when a job begins to fail and when it works again. Nothing here blocks or fails a run. Without an address
 * nothing is told and nothing is kept.
 *
 *     working ── failed, braked, refused ──> failing      tell `failing`
 *     failing ── failed, braked, refused ──> failing      one failure more
 *     failing ── succeeded, partial ───────> working      tell `recovered`; the past failures are kept
 *
 * An export that cannot be shown to be whole counts as failed. An interrupted run changes nothing. Of several workers, the one
 * whose `swap` made the change tells it. What could not be told is told by the next run that ends the same way.
 */
export function openNotifier(options: NotifierOptions) {
  const { url, state, log, clean = (text: string) => text, now = Date.now, timing = TIMING } = options;
  const ending = new AbortController();
  // One after another: what happened first is told first.
  let chain = Promise.resolve();
  let [sent, countedFrom] = [0, now()];

  async function tell(to: string, run: EndedRun, at: number): Promise<void> {
    const failing = run.doubtful === true || ['failed', 'braked', 'refused'].includes(run.status);
    const name = `notify.state.${run.job}`;
    const { since = 0, failures = 0, failing: failed = false } = parsed(jobState, await state.read(name)) ?? {};
    const made = {
      failing,
      since: failing && !failed ? at : since,
      failures: failing ? (failed ? failures : 0) + 1 : failures,
      told: true,
    };
    const before = parsed(jobState, await state.swap(name, JSON.stringify(made)));
    if (made.failures === 0 || (before?.failing === failing && before.told)) return;
    if (now() - countedFrom >= HOUR_MS) [sent, countedFrom] = [0, now()];
    const fault =
      ++sent > MOST_AN_HOUR
        ? `${MOST_AN_HOUR} went out within an hour`
        : await post(to, notificationOf(run, at, made), timing, ending.signal);
    if (sent <= MOST_AN_HOUR) options.notified?.('webhook', fault === undefined);
    if (fault === undefined) return;
    const about = { job: run.job, event: failing ? 'failing' : 'recovered' };
    log.warn(about, `The notification could not be delivered: ${fault}.`);
    await state.swap(name, JSON.stringify({ ...made, told: false }));
  }

  return {
    /** After every run of a job, and when a job was refused. Returns at once; what goes wrong is logged. */
    ended(run: EndedRun): void {
      // Whoever put a job with its own data on the queue gets its result there; its name is no job's.
      const { job } = run;
      const silent = run.inline || run.dryRun || run.status === 'interrupted' || options.known?.(job) === false;
      if (url === undefined || silent) return;
      const told = run.reason === undefined ? run : { ...run, reason: clean(run.reason) };
      const at = run.endedAt ?? now();
      chain = chain
        .then(() => tell(url, told, at))
        .catch((error: unknown) => {
          const why = error instanceof Error ? error.message : 'unknown';
          log.warn({ job }, `A notification could not be made: ${clean(why)}`);
        });
    },
    /** Waits until what was told has gone out, at most so long. */
    async close(patienceMs = 10_000): Promise<void> {
      if (!ending.signal.aborted) await within(patienceMs, chain);
      ending.abort();
    },
  };
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
function notificationOf(run: EndedRun, at: number, { failing, since, failures }: JobState): Notification {
  const reason = failing && run.reason ? oneLine(run.reason) : undefined;
  const how = run.doubtful ? 'wrote a file that may not be complete' : WAYS[run.status];
  const again = failures > 1 ? ` This is failure ${failures} since ${minute(since)}.` : '';
  const times = failures === 1 ? 'once' : `${failures} times`;
  const said = failing
    ? `${run.job} ${how}${reason ? `: ${reason}` : '.'}${again}`
    : `${run.job} works again, after it failed ${times} since ${minute(since)}.`;
  const where = `${run.run === undefined ? '' : ` Run ${run.run}.`}${run.reports === undefined ? '' : ` Reports: ${run.reports}`}`;
  return {
    id: randomUUID(),
    event: failing ? 'failing' : 'recovered',
    job: run.job,
    at: iso(at),
    text: said + where,
    run: run.run,
    status: run.status,
    trigger: run.trigger,
    company: run.company,
    since: iso(since),
    failures,
    reason,
    rows: run.counts && Object.fromEntries(Object.entries(run.counts).filter(([, count]) => count > 0)),
    reports: run.reports,
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** `2026-11-21 02:00 UTC` */
const minute = (ms: number): string => `${iso(ms).slice(0, 16).replace('T', ' ')} UTC`;

/** Without control characters: the text reaches chat tools and terminals. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return line.length > LONGEST_REASON ? `${line.slice(0, LONGEST_REASON - 1)}…` : line;
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
    const dispatcher = proxyAgent(target.origin, { connect: { timeout: timeoutMs } });
    try {
      const answer = await request(target, {
        ...(dispatcher && { dispatcher }),
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
      const refusal = error instanceof Error ? proxyRefusal(error) : undefined;
      fault = refusal ? `${host} was not reached: ${refusal.words}` : `${host} did not answer (${codeOf(error)})`;
    } finally {
      await dispatcher?.destroy();
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
