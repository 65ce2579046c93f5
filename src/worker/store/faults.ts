import { setTimeout as pause } from 'node:timers/promises';
import { RunError } from '../../model/error.js';
import type { StoreOptions } from './port.js';

/** What an error of a store's driver means. Redis tells by the first word of the message, PostgreSQL and Node by `code`. */
export interface Fault {
  /**
   * `away`: it may be there again in a moment. `full`: no room for more. `lost`: the queue has given the job to somebody
   * else. Of any other the driver's words tell: a wrong password, a right or a database that is missing.
   */
  readonly kind: 'away' | 'full' | 'lost' | 'other';
  /** In short, as in "(ECONNREFUSED)". */
  readonly reason: string;
}

const CUT = 'the connection was cut';

/**
 * Signs in the code, which comes first, and the message. The first that is found counts; the reason is the one given here, what
 * the sign captured, or the driver's own words. Codes of PostgreSQL: appendix A of its manual.
 */
const SIGNS: readonly (readonly [sign: RegExp, kind: Fault['kind'], reason?: string])[] = [
  // BullMQ.
  [/missing (?:lock|key) for job|could not renew lock|lock mismatch|is not in the active state/i, 'lost'],
  [/^(?:08|57P0|53300|25006)/, 'away'],
  // Before what a cluster says of nodes that refuse it: that would be waited for.
  [/^28(?:P01|000)|\b(?:NOAUTH|WRONGPASS)\b|invalid password|without any password/i, 'other'],
  [/^53[12]00|\b(?:OOM|MISCONF)\b/, 'full'],
  [
    /\b(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EPIPE|ENOENT)\b/,
    'away',
  ],
  // Redis: loading its data, or a failover is going on.
  [/\b(LOADING|MASTERDOWN|CLUSTERDOWN|READONLY|TRYAGAIN)\b/, 'away'],
  [
    /connection is closed|connection (?:terminated|ended)|stream isn't writeable|all sentinels (?:are unreachable|failed)|failed to refresh slots|none of startup nodes|no available (?:node|connection)|cluster isn't ready|socket (?:timeout|closed)|max retries per request/i,
    'away',
    CUT,
  ],
  [/timed? ?out|timeout exceeded/i, 'away', 'no answer in time'],
];

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
  for (const [sign, kind, reason] of SIGNS) {
    const found = sign.exec(`${code} ${message}`);
    if (found) return { kind, reason: reason ?? found[1] ?? firstLine(message) };
  }
  return { kind: 'other', reason: firstLine(message) };
}

/** An error that says nothing but that the connection is gone. */
export const isCut = (error: unknown): boolean => faultOf(error).reason === CUT;

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

/** Whether the queue has forgotten the job, or has given it to somebody else: what becomes of it is not for this delivery to say. */
export const isJobLost = (error: unknown): boolean => faultOf(error).kind === 'lost';

const QUIET_MS = 10_000;
/** Different texts remembered; they come from outside. */
const MOST_TEXTS = 100;

const WORDS: Readonly<Record<Fault['kind'], readonly [fault: string, advice: string]>> = {
  away: [' cannot be reached', ' Is the server running, and is ROWFERRY_QUEUE_URL right?'],
  full: [
    ' is full',
    ' Give it more memory or disk, or remove old jobs; nothing is lost, work goes on when there is room.',
  ],
  lost: [": a job's lock had ended before its work did", ' The job is taken up again; nothing is sent twice.'],
  other: [' answered with an error', ' Look at ROWFERRY_QUEUE_URL, and at the rights of its user.'],
};

/** Turns a driver's errors into words for people, and tells of each at most every ten seconds. */
export function openReports(address: string, notice: StoreOptions['notice']) {
  const told = new Map<string, number>();
  let away = false;

  const words = ({ kind, reason }: Fault, advice = `.${WORDS[kind][1]}`): string =>
    `The queue at ${address}${WORDS[kind][0]} (${reason})${advice}`;

  return {
    /** An error nobody waits for: of a connection, of a worker that looks for jobs. */
    heard(error: unknown): void {
      const fault = faultOf(error);
      if (fault.kind === 'away') away = true;
      const text = words(fault, fault.kind === 'away' ? ': waiting until it is there.' : undefined);
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
      notice('info', `The queue at ${address} is there again.`);
    },
    /** The same error as a `RunError`. */
    explain(error: unknown): RunError {
      if (error instanceof RunError) return error;
      const fault = faultOf(error);
      const text = words(fault);
      return fault.kind === 'away' || fault.kind === 'full'
        ? new StoreAway(text, error)
        : new RunError('failed', text, [], { cause: error });
    },
  };
}

const LEAST_PAUSE_MS = 200;
const MOST_PAUSE_MS = 2_000;

/**
 *   try → there: done
 *       → away: told, tried again after a pause, until patience ends
 *       → anything else (password, rights, settings of the server): thrown, no waiting
 */
export async function whenThere<T>(
  attempt: () => Promise<T>,
  { patienceMs, signal }: Pick<StoreOptions, 'patienceMs' | 'signal'>,
  reports: Reports,
): Promise<T> {
  const until = performance.now() + patienceMs;
  for (let tries = 0; ; tries++) {
    signal.throwIfAborted();
    try {
      const found = await attempt();
      reports.answered();
      return found;
    } catch (error) {
      const left = until - performance.now();
      if (error instanceof RunError || faultOf(error).kind !== 'away' || left <= 0) throw reports.explain(error);
      reports.heard(error);
      const delay = Math.min(LEAST_PAUSE_MS * 2 ** Math.min(tries, 10), MOST_PAUSE_MS, left);
      await pause(delay, undefined, { signal });
    }
  }
}
