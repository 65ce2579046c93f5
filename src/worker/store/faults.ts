import { setTimeout as pause } from 'node:timers/promises';
import { RunError } from '../../model/error.js';
import type { StoreOptions } from './port.js';

/** What an error of a store's driver means. Redis tells by the first word of the message, PostgreSQL and Node by `code`. */
export interface Fault {
  /**
   * `away`: it may be there again in a moment. `refused`: user or password. `forbidden`: a right is missing. `full`: no
   * room for more. `missing`: no such database.
   */
  readonly kind: 'away' | 'refused' | 'forbidden' | 'full' | 'missing' | 'other';
  /** In short, as in "(ECONNREFUSED)". */
  readonly reason: string;
}

const NETWORK =
  /\b(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EPIPE|ENOENT)\b/;
/** Redis: loading its data, or a failover is going on. */
const AWAY_WORD = /\b(LOADING|MASTERDOWN|CLUSTERDOWN|READONLY|TRYAGAIN)\b/;
const CUT =
  /connection is closed|connection (?:terminated|ended)|stream isn't writeable|all sentinels (?:are unreachable|failed)|failed to refresh slots|none of startup nodes|no available (?:node|connection)|cluster isn't ready|socket (?:timeout|closed)|max retries per request/i;
const SLOW = /timed? ?out|timeout exceeded/i;

/** PostgreSQL, appendix A of its manual. 08…: connection. */
const AWAY_CODES: Readonly<Record<string, string>> = {
  '57P01': 'it is shutting down',
  '57P02': 'it has crashed',
  '57P03': 'it is starting up',
  '53300': 'it has too many connections',
  '25006': 'it is read-only, as a standby is',
};
const CODES: Readonly<Record<string, Fault['kind']>> = {
  '28P01': 'refused',
  '28000': 'refused',
  '3D000': 'missing',
  '42501': 'forbidden',
  '53100': 'full',
  '53200': 'full',
};

/** An error that will pass by itself, in the form in which BullMQ takes it for a refused connection: it pauses then. */
export class Away extends Error {
  readonly code = 'ECONNREFUSED';
}

/** The store cannot be used now, and may be in a moment: what was asked of it is worth asking again. */
class StoreAway extends RunError {
  constructor(message: string, cause: unknown) {
    super('failed', message, [], { cause, code: 'queue_unreachable' });
  }
}

/** Whether an error, of the store itself or of BullMQ on it, means that the store is away for now. */
export function isAway(error: unknown): boolean {
  if (error instanceof RunError) return error instanceof StoreAway;
  // A file that is missing is no store that is away.
  if (error instanceof Error && 'path' in error && 'syscall' in error && error.syscall !== 'connect') return false;
  const { kind } = faultOf(error);
  return kind === 'away' || kind === 'full';
}

export function faultOf(error: unknown): Fault {
  if (error instanceof Away) return { kind: 'away', reason: error.message };
  const [code, message] = tell(error);
  const known = AWAY_CODES[code];
  if (known !== undefined) return { kind: 'away', reason: known };
  const kind = CODES[code];
  if (kind !== undefined) return { kind, reason: firstLine(message) };
  if (/^08/.test(code)) return { kind: 'away', reason: firstLine(message) };
  if (/\b(NOAUTH|WRONGPASS)\b|invalid password|without any password/i.test(message)) {
    return { kind: 'refused', reason: firstLine(message) };
  }
  if (/\bNOPERM\b/.test(message)) return { kind: 'forbidden', reason: firstLine(message) };
  if (/\b(OOM|MISCONF)\b/.test(message)) return { kind: 'full', reason: firstLine(message) };
  const network = NETWORK.exec(code) ?? NETWORK.exec(message) ?? AWAY_WORD.exec(message);
  if (network?.[1] !== undefined) return { kind: 'away', reason: network[1] };
  if (CUT.test(message)) return { kind: 'away', reason: 'the connection was cut' };
  if (SLOW.test(message)) return { kind: 'away', reason: 'no answer in time' };
  return { kind: 'other', reason: firstLine(message) };
}

/** The inner ones tell more: a cluster's last node, the addresses of a name that were all tried. */
function tell(error: unknown): [code: string, message: string] {
  if (!(error instanceof Error)) return ['', String(error)];
  const inner: unknown =
    ('lastNodeError' in error && error.lastNodeError) || (error instanceof AggregateError && error.errors[0]);
  const [innerCode, innerMessage] = inner instanceof Error ? tell(inner) : ['', ''];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : innerCode;
  return [code, [error.message, innerMessage].filter((text) => text !== '').join(': ')];
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.trim().slice(0, 300) ?? '';
}

export type Reports = ReturnType<typeof openReports>;

/** BullMQ's words for it. */
const LOCK_LOST = /missing (lock|key) for job|could not renew lock|lock mismatch|is not in the active state/i;

/** Whether the queue has forgotten the job, or has given it to somebody else: what becomes of it is not for this delivery to say. */
export const isJobLost = (error: unknown): boolean => error instanceof Error && LOCK_LOST.test(error.message);

const QUIET_MS = 10_000;
/** Different texts remembered; they come from outside. */
const MOST_TEXTS = 100;

/** Turns a driver's errors into words for people, and tells of each at most every ten seconds. */
export function openReports(what: { readonly name: string; readonly address: string }, notice: StoreOptions['notice']) {
  const told = new Map<string, number>();
  let away = false;

  const words = (error: unknown): string => {
    const { kind, reason } = faultOf(error);
    const place = `The queue at ${what.address}`;
    switch (kind) {
      case 'away':
        return `${place} cannot be reached (${reason}).`;
      case 'refused':
        return `${place} refuses the user or the password (${reason}). Look at ROWFERRY_QUEUE_URL.`;
      case 'forbidden':
        return `${place} does not allow its user what a queue needs (${reason}). Give the user that right.`;
      case 'missing':
        return `${place} does not exist (${reason}). Create the database, or correct ROWFERRY_QUEUE_URL.`;
      case 'full':
        return (
          `${place} is full: ${what.name} takes no more data (${reason}). ` +
          'Give it more memory or disk, or remove old jobs; nothing is lost, work goes on when there is room.'
        );
      default:
        if (LOCK_LOST.test(reason))
          return `${place}: a job's lock had ended before its work did (${reason}). The job is taken up again; nothing is sent twice.`;
        return `${place} answered with an error: ${reason}`;
    }
  };

  return {
    /** An error nobody waits for: of a connection, of a worker that looks for jobs. */
    heard(error: unknown): void {
      const { kind } = faultOf(error);
      if (kind === 'away') away = true;
      const text = kind === 'away' ? `${words(error)} Trying again until it is there.` : words(error);
      const now = performance.now();
      if (now - (told.get(text) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
      if (told.size >= MOST_TEXTS) told.clear();
      told.set(text, now);
      notice('warn', text);
    },
    /** The store has answered: told once where it was away. */
    answered(): void {
      if (!away) return;
      away = false;
      told.clear();
      notice('info', `The queue at ${what.address} is there again.`);
    },
    /** The same error as a `RunError`. */
    explain(error: unknown): RunError {
      if (error instanceof RunError) return error;
      const { kind } = faultOf(error);
      const text = words(error);
      return kind === 'away' || kind === 'full'
        ? new StoreAway(text, error)
        : new RunError('failed', text, [], { cause: error });
    },
  };
}

const NOTICE_MS = 10_000;
const LEAST_PAUSE_MS = 200;
const MOST_PAUSE_MS = 2_000;

/**
 *   try → there: done
 *       → away: told at once and every ten seconds, tried again after a pause, until patience ends
 *       → anything else (password, rights, settings of the server): thrown, no waiting
 */
export async function whenThere<T>(
  address: string,
  attempt: () => Promise<T>,
  options: Pick<StoreOptions, 'patienceMs' | 'notice' | 'signal'>,
  explain: (error: unknown) => RunError,
): Promise<T> {
  const began = performance.now();
  let told: number | undefined;
  for (let tries = 0; ; tries++) {
    options.signal.throwIfAborted();
    try {
      const found = await attempt();
      if (told !== undefined) options.notice('info', `The queue at ${address} is there.`);
      return found;
    } catch (error) {
      const { kind, reason } = faultOf(error);
      if (error instanceof RunError || kind !== 'away') throw explain(error);
      const now = performance.now();
      const left = options.patienceMs - (now - began);
      if (left <= 0) {
        throw new RunError(
          'failed',
          `The queue at ${address} cannot be reached (${reason}); waited ${Math.round((now - began) / 1000)} s. ` +
            'Is the server running, and is ROWFERRY_QUEUE_URL right?',
          [],
          { cause: error },
        );
      }
      if (told === undefined || now - told >= NOTICE_MS) {
        told = now;
        options.notice('warn', `The queue at ${address} cannot be reached (${reason}): waiting until it is there.`);
      }
      const delay = Math.min(LEAST_PAUSE_MS * 2 ** Math.min(tries, 10), MOST_PAUSE_MS, left);
      await pause(delay, undefined, { signal: options.signal });
    }
  }
}
