import { hostname } from 'node:os';
import { request } from 'undici';
import { isLoopback, proxyAgent, proxyRefusal } from '../../runs/settings-address.js';
import type { EndedRun } from '../jobs/state.js';

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
  /** Name of the file that the run was about. */
  readonly file?: string | undefined;
  readonly run?: string | undefined;
  readonly status: EndedRun['status'];
  readonly trigger: EndedRun['trigger'];
  readonly company?: number | undefined;
  /** When the first of the failing runs ended. */
  readonly since?: string;
  /** Runs that failed one after another. */
  readonly failures?: number;
  /** Why the run failed. */
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
const PASSING = new Set([408, 425, 429]);

/** The ways out. */
export type Channel = 'webhook' | 'mail';

/** Why a try failed, and whether another one may not. Names the host at most: the rest of an address is often a secret. */
export interface Missed {
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
export async function post(
  url: string,
  notification: Notification,
  timeoutMs: number,
  ending: AbortSignal,
): Promise<Missed | undefined> {
  const target = new URL(url);
  const { host, username, password } = target;
  target.username = '';
  target.password = '';
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  const dispatcher = proxyAgent(target.origin, { connect: { timeout: timeoutMs } });
  // A timer of our own: Node's `AbortSignal.timeout` is collected, and never fires, where only `AbortSignal.any` refers to it.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException('time-out', 'TimeoutError')), timeoutMs);
  try {
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
    return { fault, again: status >= 500 || PASSING.has(status) };
  } catch (error) {
    const refusal = error instanceof Error ? proxyRefusal(error) : undefined;
    const fault = refusal ? `was not reached: ${refusal.words}` : `did not answer (${codeOf(error)})`;
    return { fault: `${host} ${fault}`, again: true };
  } finally {
    clearTimeout(timer);
    await dispatcher?.destroy();
  }
}

/** Sends the end of a run as a mail of plain text. A password goes over TLS alone, except to this machine. */
export async function postMail(
  { url, from = `rowferry@${hostname()}` }: { readonly url: string; readonly from?: string | undefined },
  to: readonly string[],
  end: Notification,
  timeoutMs: number,
): Promise<Missed | undefined> {
  const { createTransport } = await import('nodemailer');
  const { protocol, hostname: named, port, username, password } = new URL(url);
  const host = named.replace(/^\[|\]$/g, '');
  const secure = protocol === 'smtps:';
  const auth = username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
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
  const lines = Object.entries(end.rows ?? {}).map(([outcome, count]) => `  ${outcome.replaceAll('_', ' ')}: ${count}`);
  const about = [
    `Job: ${end.job}`,
    ...(end.run === undefined ? [] : [`Run: ${end.run}`]),
    ...(lines.length > 0 ? [end.report_only ? 'Rows (nothing was written; what would be):' : 'Rows:', ...lines] : []),
  ];
  try {
    const { rejected } = await transport.sendMail({
      from,
      to: [...to],
      subject: `${end.file ?? end.job}: ${SUBJECTS[end.status]}`,
      text: [end.text, '', ...about, ''].join('\n'),
      // The same over the tries, by which a mailbox knows it again.
      messageId: `<${end.id}@rowferry>`,
    });
    return rejected.length > 0
      ? { fault: `${host} refused ${rejected.length} of ${to.length} addresses`, again: false }
      : undefined;
  } catch (error) {
    const answered = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : undefined;
    const fault = `${host} did not take the mail (${answered ?? codeOf(error)})`;
    return { fault, again: answered === undefined || answered < 500 };
  } finally {
    transport.close();
  }
}

const SUBJECTS: Record<Notification['status'], string> = {
  failed: 'failed',
  braked: 'stopped by a brake',
  refused: 'refused',
  interrupted: 'interrupted',
  succeeded: 'done',
  partial: 'done, some rows need a person',
};

/** A code or a kind of error; messages may repeat the address. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return 'time-out';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
