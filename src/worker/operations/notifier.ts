import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { shareLikeFolder } from '../../runs/layout.js';
import type { EndedRun } from './ended.js';
import { FAILING, noteRun } from './job-state.js';
import { noteNight } from './night-state.js';
import {
  failingNotification,
  type Notification,
  nightNotification,
  recoveredNotification,
  scheduleNotification,
} from './notification.js';
import type { Notifier, NotifierState, ScheduleEvent } from './notifier-port.js';
import { NotDelivered, postWebhook, type WebhookTiming } from './webhook.js';

export interface NotifierOptions {
  /** `Settings.worker.notifyUrl`. */
  readonly url?: string;
  /** `Settings.worker.notifyFile`. */
  readonly file?: string;
  readonly state: NotifierState;
  readonly log: Logger;
  readonly userAgent: string;
  /** Whether there is a job file of the name: of others, whose names are anybody's, one failure a day is told, as `unknown`. */
  readonly known?: (job: string) => boolean;
  /** Takes secrets out of a text: reasons leave this process. */
  readonly clean?: (text: string) => string;
  /** Told of every notification that went out or was given up. */
  readonly notified?: (channel: 'webhook' | 'file', ok: boolean) => void;
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
  readonly timing?: WebhookTiming;
}

/** What waits to go out; beyond it a webhook that is down for long would fill the memory. */
const MOST_WAITING = 1000;
/** So many go out at once, and then one a minute. */
const MOST_AT_ONCE = 50;

/** Without an address and a file nothing is told and nothing is kept. */
export function openNotifier(options: NotifierOptions): Notifier {
  const { url, file, state, log, userAgent } = options;
  const clean = options.clean ?? ((text: string) => text);
  const now = options.now ?? Date.now;
  const ending = new AbortController();
  const silent = url === undefined && file === undefined;
  // One after another: what happened first is told first.
  let chain = Promise.resolve();
  let waiting = 0;
  let allowance = MOST_AT_ONCE;
  let allowedAt = now();

  /** What is held back here is told by the next run of the job that ends the same way. */
  function mayGoOut({ job, event }: Notification): boolean {
    const at = now();
    allowance = Math.min(MOST_AT_ONCE, allowance + Math.max(0, at - allowedAt) / 60_000);
    allowedAt = at;
    if (allowance < 1) {
      log.warn({ job, event }, 'A notification was dropped: too many went out of late.');
      return false;
    }
    allowance--;
    return true;
  }

  function enqueue(job: string, work: () => Promise<void>): void {
    if (silent) return;
    if (ending.signal.aborted || waiting >= MOST_WAITING) {
      log.warn({ job }, 'A notification was dropped: too many are waiting, or the worker is ending.');
      return;
    }
    waiting++;
    chain = chain
      .then(work)
      .catch((error: unknown) => log.warn({ job }, `A notification could not be made: ${clean(messageOf(error))}`))
      .finally(() => waiting--);
  }

  /** True where every way took it. */
  async function send(notification: Notification): Promise<boolean> {
    if (!mayGoOut(notification)) return false;
    const ways: Promise<boolean>[] = [];
    if (file !== undefined) ways.push(attempt('file', notification, () => append(file, notification)));
    if (url !== undefined) {
      const post = () => postWebhook(url, notification, { userAgent, signal: ending.signal, ...timing() });
      ways.push(attempt('webhook', notification, post));
    }
    return (await Promise.all(ways)).every(Boolean);
  }

  const timing = () => (options.timing ? { timing: options.timing } : {});

  async function attempt(channel: 'webhook' | 'file', { job, event }: Notification, work: () => Promise<void>) {
    try {
      await work();
      options.notified?.(channel, true);
      return true;
    } catch (error) {
      options.notified?.(channel, false);
      const why = error instanceof NotDelivered ? error.message : `${file} (${codeOf(error)})`;
      log.warn({ job, event, channel }, `The notification could not be delivered: ${why}.`);
      return false;
    }
  }

  async function tellUnknown(run: EndedRun, at: number): Promise<void> {
    const day = new Date(at).toISOString().slice(0, 10);
    if ((await state.swap('notify.unknown', day)) === day) return;
    await send(failingNotification(randomUUID(), at, run, { since: at, failures: 1 }));
  }

  return {
    ended(run: EndedRun) {
      // Whoever put a job with its own data on the queue gets its result there; its name is no job's.
      if (run.inline || run.dryRun) return;
      const at = run.endedAt ?? now();
      const told = run.reason === undefined ? run : { ...run, reason: clean(run.reason) };
      if (options.known?.(run.job) === false) {
        if (FAILING[run.status]) enqueue('unknown', () => tellUnknown({ ...told, job: 'unknown' }, at));
        return;
      }
      enqueue(run.job, async () => {
        const change = await noteRun(state, run, at);
        if (!change) return;
        const make = change.event === 'failing' ? failingNotification : recoveredNotification;
        if (await send(make(randomUUID(), at, told, change.failing))) await change.told();
      });
      if (run.kind !== 'reconcile') return;
      enqueue(run.job, async () => {
        for (const news of await noteNight(state, run, at)) {
          if (await send(nightNotification(randomUUID(), at, run, news))) await news.told();
        }
      });
    },
    schedule(event: ScheduleEvent) {
      enqueue(event.job, async () => {
        const before = await state.swap(`notify.${event.event}.${event.job}`, event.slot);
        if (before !== event.slot) await send(scheduleNotification(randomUUID(), now(), event));
      });
    },
    async close(patienceMs = 10_000) {
      if (ending.signal.aborted) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, patienceMs);
      });
      await Promise.race([chain, late]);
      clearTimeout(timer);
      ending.abort();
    },
  };
}

async function append(file: string, notification: Notification): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const isNew = !(await stat(file).catch(() => undefined));
  // One call, opened to append: lines of several workers do not mix.
  await appendFile(file, `${JSON.stringify(notification)}\n`, { mode: 0o640 });
  if (isNew) await shareLikeFolder(file, 0o640);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
