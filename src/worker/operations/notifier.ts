import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import path from 'node:path';
import type { Logger } from 'pino';
import { endSentence } from '../../model/issue.js';
import type { Notify } from '../../model/job.js';
import { pause } from '../../runs/run/context.js';
import { decodeOrKeep, isLoopback, proxyAgent, proxyRefusal } from '../../runs/settings-address.js';
import type { EndedRun } from '../jobs/job.js';
import { openTurns, withTimeout } from '../rights.js';
import type { Store } from '../store/port.js';

export type NotifierState = Pick<Store, 'update'>;

export interface NotifierOptions {
  /** `Settings.notifyUrl`: http or https; a user name and password in it go as basic authorisation. */
  readonly url?: string | undefined;
  /** `Settings.publicUrl`: notifications lead to the page of their run. */
  readonly publicUrl?: string | undefined;
  /** Whom the job file of this name wants to be told of every end. */
  readonly people?: (job: string) => Promise<Notify | undefined>;
  /** `Settings.smtpUrl` and `mailFrom`. */
  readonly mail?: { readonly url: string; readonly from?: string | undefined };
  /** All workers on it agree on what has been told. */
  readonly state: NotifierState;
  readonly log: Logger;
  /** Whether there is a job file of the name: other names are anybody's, and not told of. */
  readonly isKnownJob?: (job: string) => boolean;
  /** Takes secrets out of a text: reasons leave this process. */
  readonly clean?: (text: string) => string;
  /** Told of every notification that went out or was given up. */
  readonly onNotified?: (channel: Channel, ok: boolean) => void;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
  /** A try that takes longer has failed; waits before the second and the third try. */
  readonly timing?: { readonly timeoutMs: number; readonly waitsMs: readonly number[] };
}

const TIMING = { timeoutMs: 10_000, waitsMs: [1000, 5000] };
/** What goes out; also where a webhook is down for long, no more than these wait for it. */
const MOST_AN_HOUR = 50;
const HOUR_MS = 3_600_000;
/** What could not be told when the worker ends is logged within so long. */
const LOG_MS = 1_000;

export type Notifier = ReturnType<typeof openNotifier>;

/**
 * Tells `url` when a job begins to fail and when it works again, and the people whom its job file names how each run ended.
 * Nothing here blocks or fails a run. Without `url` nothing is kept.
 *
 *     working ── failed, braked, refused ──> failing      tell `failing`
 *     failing ── succeeded, partial ───────> working      tell `recovered`
 *
 * An export that cannot be shown to be whole counts as failed. An interrupted run changes nothing. Of several workers, the one
 * whose update made the change tells it. What could not be told is told by the next run that ends the same way.
 */
export function openNotifier(options: NotifierOptions) {
  const { url, state, log, clean = (text: string) => text, now = Date.now, timing = TIMING } = options;
  const ending = new AbortController();
  // Those of a job to the same end one after another: what happened first is told first. A webhook that hangs holds up these alone.
  const turns = openTurns();
  let [sent, countedFrom] = [0, now()];

  const withLink = (about: Notification, { run, page = run }: EndedRun): Notification => {
    const { publicUrl } = options;
    if (publicUrl === undefined || page === undefined) return about;
    const link = `${publicUrl}/runs/${encodeURIComponent(page)}`;
    return { ...about, text: `${about.text} ${link}`, link };
  };

  async function notifyChange(to: string, run: EndedRun, at: number): Promise<void> {
    const failing = run.unverified === true || ['failed', 'braked', 'refused'].includes(run.status);
    const name = `notify.state.${run.job}`;
    const after = failing ? 'failing' : 'working';
    const before = (await state.update(name, () => after)) ?? 'working';
    if (before === after) return;
    const end = endNotification(run, at);
    const text = failing ? end.text : `${run.job} works again. ${end.text}`;
    const change = withLink({ ...end, event: failing ? 'failing' : 'recovered', text }, run);
    if (await send('webhook', change, () => post(to, change, timing.timeoutMs, ending.signal))) return;
    await state.update(name, (now) => (now === after ? before : undefined));
  }

  async function notifyPeople(run: EndedRun, at: number): Promise<void> {
    const { email, webhook } = (await options.people?.(run.job)) ?? {};
    const end = withLink(endNotification(run, at), run);
    if (webhook !== undefined) {
      await send('webhook', end, () => post(webhook, end, timing.timeoutMs, ending.signal));
    }
    if (email === undefined) return;
    const { mail } = options;
    if (mail) await send('mail', end, () => postMail(mail, email, headline(run), end, timing.timeoutMs));
    else log.warn({ job: run.job }, 'The job names e-mail addresses to be told, but ROWFERRY_SMTP_URL is not set.');
  }

  /** Three tries. Whether it went out; what went wrong is logged. */
  async function send(
    channel: Channel,
    about: Notification,
    attempt: () => Promise<SendFailure | undefined>,
  ): Promise<boolean> {
    if (now() - countedFrom >= HOUR_MS) [sent, countedFrom] = [0, now()];
    const isOverLimit = ++sent > MOST_AN_HOUR;
    const fault = isOverLimit ? `${MOST_AN_HOUR} went out within an hour` : await sendWithRetries(attempt);
    if (!isOverLimit) options.onNotified?.(channel, fault === undefined);
    if (fault === undefined) return true;
    log.warn({ job: about.job, event: about.event }, `The notification could not be delivered: ${fault}.`);
    return false;
  }

  /** As often as there are waits, and once more. Why it failed. */
  async function sendWithRetries(attempt: () => Promise<SendFailure | undefined>): Promise<string | undefined> {
    for (const wait of timing.waitsMs) {
      const failure = await attempt();
      if (!failure?.again) return failure?.fault;
      await pause(wait, ending.signal);
      if (ending.signal.aborted) return `${failure.fault}; the worker is ending`;
    }
    const failure = await attempt();
    return failure?.again ? `${failure.fault} (${timing.waitsMs.length + 1} tries)` : failure?.fault;
  }

  function enqueueStep(to: 'url' | 'people', job: string, step: () => Promise<void>): void {
    turns.take(`${to} ${job}`, step).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : 'unknown';
      log.warn({ job }, `A notification could not be made: ${clean(why)}`);
    });
  }

  return {
    /** After every run of a job, and when a job was refused. Returns at once; what goes wrong is logged. */
    ended(run: EndedRun): void {
      // Whoever put a job with its own data on the queue gets its result there; its name is no job's.
      const { job } = run;
      const silent = run.inline || run.dryRun || run.status === 'interrupted' || options.isKnownJob?.(job) === false;
      if (silent) return;
      const redacted = run.reason === undefined ? run : { ...run, reason: clean(run.reason) };
      const at = run.endedAt ?? now();
      if (url !== undefined) enqueueStep('url', job, () => notifyChange(url, redacted, at));
      enqueueStep('people', job, () => notifyPeople(redacted, at));
    },
    /** Waits until what was told has gone out, at most so long. */
    async close(patienceMs = 10_000): Promise<void> {
      if (!ending.signal.aborted) await withTimeout(patienceMs, turns.ended());
      ending.abort();
      // Each that has not gone out is logged.
      await withTimeout(LOG_MS, turns.ended());
    },
  };
}

/** Longer ones are cut: chat tools refuse or hide long messages. */
const LONGEST_REASON = 500;

const STATUS_TEXTS: Record<EndedRun['status'], string> = {
  failed: 'failed',
  braked: 'was stopped by a brake',
  refused: 'was refused',
  interrupted: 'was interrupted',
  succeeded: 'succeeded',
  partial: 'finished; some rows need a person',
};

/** `assets.csv was refused` */
function headline({ file, job, unverified, status }: EndedRun): string {
  return `${oneLine(file ?? job)} ${unverified ? 'wrote a file that may not be complete' : STATUS_TEXTS[status]}`;
}

/** `at`: milliseconds since 1970. */
function endNotification(run: EndedRun, at: number): Notification {
  const reason = run.reason ? oneLine(run.reason) : undefined;
  const rows = run.counts && Object.fromEntries(Object.entries(run.counts).filter(([, count]) => count > 0));
  const counted = Object.entries(rows ?? {}).map(([outcome, count]) => `${count} ${outcome.replaceAll('_', ' ')}`);
  const counts =
    counted.length > 0 && run.reportOnly
      ? `Nothing was written; it would be ${counted.join(', ')}`
      : counted.join(', ');
  const sentences = [reason, [counts, run.orphans].filter(Boolean).join('; ')].flatMap((part) =>
    part ? endSentence(part) : [],
  );
  const page = run.status === 'refused' ? 'ERROR.txt' : run.kind === 'export' ? 'summary.json' : 'report.html';
  const report = run.reports === undefined ? [] : [`Report: ${path.join(run.reports, page)}`];
  const head = headline(run);
  return {
    id: randomUUID(),
    event: 'ended',
    job: run.job,
    at: new Date(at).toISOString(),
    text: [sentences.length > 0 ? `${head}: ${sentences.join(' ')}` : `${head}.`, ...report].join(' '),
    file: run.file,
    run: run.run,
    status: run.status,
    trigger: run.trigger,
    company: run.company,
    reason,
    rows,
    report_only: run.reportOnly || undefined,
    reports: run.reports,
  };
}

/** Without control characters: the text reaches chat tools and terminals. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return line.length > LONGEST_REASON ? `${line.slice(0, LONGEST_REASON - 1)}…` : line;
}

/**
 * Body of the webhook. Scripts read it: names are never changed, only added to. Times are ISO 8601 in UTC. Holds counts,
 * never rows or values. docs/operate/worker.md lists the fields; a test compares the two.
 */
export interface Notification {
  /** The same over all tries of one notification. */
  readonly id: string;
  readonly event: 'failing' | 'recovered' | 'ended';
  readonly job: string;
  readonly at: string;
  /** The whole in one sentence or two; chat tools show it as it is. */
  readonly text: string;
  readonly file?: string | undefined;
  readonly run?: string | undefined;
  readonly status: EndedRun['status'];
  readonly trigger: EndedRun['trigger'];
  readonly company?: number | undefined;
  readonly reason?: string | undefined;
  /** Rows per outcome, without the outcomes no row has. */
  readonly rows?: Readonly<Record<string, number>> | undefined;
  /** Nothing was written: the rows are those that would be. */
  readonly report_only?: true | undefined;
  /** Folder of the reports; of a dropped file, from the drop folder. */
  readonly reports?: string | undefined;
  /** Page of the run in the console. */
  readonly link?: string | undefined;
}

/** Answers that may be other ones a moment later, beside those of 500 and above. */
const TRANSIENT = new Set([408, 425, 429]);

export type Channel = 'webhook' | 'mail';

/** Why a try failed, and whether another one may not. Names the host at most: the rest of an address is often a secret. */
interface SendFailure {
  readonly fault: string;
  readonly again: boolean;
}

/** Where Teams takes messages: it shows cards, and nothing else. */
const TEAMS = /\.(webhook\.office|logic\.azure|powerplatform|powerautomate)\.com$/i;

/** What a webhook of that host is sent. */
export function bodyFor(host: string, notification: Notification): object {
  if (!TEAMS.test(host)) return notification;
  const body = [{ type: 'TextBlock', text: notification.text, wrap: true }];
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body,
  };
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] };
}

/** Sends the notification by POST. Any 2xx is success; a redirect is not followed. */
async function post(
  url: string,
  notification: Notification,
  timeoutMs: number,
  ending: AbortSignal,
): Promise<SendFailure | undefined> {
  const target = new URL(url);
  const { host, username, password } = target;
  target.username = '';
  target.password = '';
  const basic = Buffer.from(`${decodeOrKeep(username)}:${decodeOrKeep(password)}`).toString('base64');
  const dispatcher = proxyAgent(target.origin, { connect: { timeout: timeoutMs } });
  // A timer of our own: Node's `AbortSignal.timeout` is collected, and never fires, where only `AbortSignal.any` refers to it.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('time-out', 'TimeoutError')), timeoutMs);
  try {
    // Loaded for the first notification: most workers send none, and it is a tenth of what a start reads.
    const { request } = await import('undici');
    const answer = await request(target, {
      ...(dispatcher && { dispatcher }),
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'rowferry',
        ...(username && { authorization: `Basic ${basic}` }),
      },
      body: JSON.stringify(bodyFor(target.hostname, notification)),
      // Notifications are rare: no connection is kept for the next one.
      reset: true,
      signal: AbortSignal.any([ending, late.signal]),
    });
    // Its content is nobody's concern, but the connection is free only once it is read; a long one is cut.
    await answer.body.dump({ limit: 64 * 1024 }).catch(() => undefined);
    const { statusCode: status } = answer;
    if (status >= 200 && status < 300) return undefined;
    const fault = `${host} answered ${status}${status >= 300 && status < 400 ? ', which is not followed' : ''}`;
    return { fault, again: status >= 500 || TRANSIENT.has(status) };
  } catch (error) {
    const refusal = error instanceof Error ? proxyRefusal(error) : undefined;
    const fault = refusal ? `was not reached: ${refusal.words}` : `did not answer (${errorLabel(error)})`;
    return { fault: `${host} ${fault}`, again: true };
  } finally {
    clearTimeout(timer);
    await dispatcher?.destroy();
  }
}

/** Sends the end of a run as a mail of plain text. A password goes over TLS alone, except to this machine. */
async function postMail(
  { url, from = `rowferry@${hostname()}` }: { readonly url: string; readonly from?: string | undefined },
  to: readonly string[],
  subject: string,
  end: Notification,
  timeoutMs: number,
): Promise<SendFailure | undefined> {
  const { createTransport } = await import('nodemailer');
  const { protocol, hostname: rawHost, port, username, password } = new URL(url);
  const host = rawHost.replace(/^\[|\]$/g, '');
  const secure = protocol === 'smtps:';
  const auth = username && { user: decodeOrKeep(username), pass: decodeOrKeep(password) };
  const transport = createTransport({
    host,
    port: Number(port) || (secure ? 465 : 587),
    secure,
    ...(auth && { auth, requireTLS: !isLoopback(host) }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const { rejected } = await transport.sendMail({
      from,
      to: [...to],
      subject,
      text: `${end.text}\n\nJob: ${end.job}\n${end.run === undefined ? '' : `Run: ${end.run}\n`}`,
      // The same over the tries, by which a mailbox knows it again.
      messageId: `<${end.id}@rowferry>`,
    });
    return rejected.length > 0
      ? { fault: `${host} refused ${rejected.length} of ${to.length} addresses`, again: false }
      : undefined;
  } catch (error) {
    const answered = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : undefined;
    const fault = `${host} did not take the mail (${answered ?? errorLabel(error)})`;
    return { fault, again: answered === undefined || answered < 500 };
  } finally {
    transport.close();
  }
}

/** A code or a kind of error; messages may repeat the address. */
function errorLabel(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return 'time-out';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
