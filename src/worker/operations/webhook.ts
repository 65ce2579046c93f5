import { request } from 'undici';

/** Why a notification could not be delivered, for the log: names the host at most, as the rest of an address is often a secret. */
export class NotDelivered extends Error {
  override readonly name = 'NotDelivered';
}

export interface WebhookTiming {
  /** A try that takes longer has failed. */
  readonly timeoutMs: number;
  /** Waits before the second and the third try. */
  readonly waitsMs: readonly number[];
}

const TIMING: WebhookTiming = { timeoutMs: 10_000, waitsMs: [1000, 5000] };

/** Answers that may be other ones a moment later. */
const PASSING = new Set([408, 425, 429]);

/**
 * Sends a JSON body by POST, three times at most. Any 2xx is success; a redirect is not followed. Throws `NotDelivered`.
 * The address is http or https; a user name and password in it go as basic authorisation.
 */
export async function postWebhook(
  url: string,
  body: unknown,
  options: { readonly userAgent: string; readonly signal: AbortSignal; readonly timing?: WebhookTiming },
): Promise<void> {
  const { timeoutMs, waitsMs } = options.timing ?? TIMING;
  const target = new URL(url);
  if (!/^https?:$/.test(target.protocol)) throw new NotDelivered('the address must begin with https:// or http://');
  const { username, password } = target;
  target.username = '';
  target.password = '';
  const text = JSON.stringify(body);

  for (let attempt = 0; ; attempt++) {
    const fault = await once();
    if (fault === undefined) return;
    const wait = waitsMs[attempt];
    if (!fault.passing || wait === undefined) {
      throw new NotDelivered(`${target.host} ${fault.text}${attempt > 0 ? ` (${attempt + 1} tries)` : ''}`);
    }
    await pause(wait, options.signal);
    if (options.signal.aborted) throw new NotDelivered(`${target.host} ${fault.text}; the worker is ending`);
  }

  async function once(): Promise<{ text: string; passing: boolean } | undefined> {
    try {
      const answer = await request(target, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': options.userAgent,
          ...(username && { authorization: `Basic ${basic(username, password)}` }),
        },
        body: text,
        // Notifications are rare: no connection is kept for the next one.
        reset: true,
        signal: AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]),
      });
      // Its content is nobody's concern, but the connection is free only once it is read; a long one is cut.
      await answer.body.dump({ limit: 64 * 1024 }).catch(() => undefined);
      const { statusCode: status } = answer;
      if (status >= 200 && status < 300) return undefined;
      const redirect = status >= 300 && status < 400 ? ', which is not followed' : '';
      return { text: `answered ${status}${redirect}`, passing: status >= 500 || PASSING.has(status) };
    } catch (error) {
      return { text: `did not answer (${reasonOf(error)})`, passing: !options.signal.aborted };
    }
  }
}

function basic(username: string, password: string): string {
  return Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
}

/** A code or a kind of error; messages may repeat the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return 'time-out';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Waits so long; ends early, without an error, at the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
