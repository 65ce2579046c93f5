import { setTimeout as pause } from 'node:timers/promises';
import { errorText, isDiskFull, RunError, runFailure } from '../../model/error.js';
import type { StoreOptions } from './port.js';

/** What an error of a store's driver means. Redis tells by the first word of the message, PostgreSQL and Node by `code`. */
export interface StoreFault {
  /**
   * `away`: it may be there again in a moment. `full`: no room for more. `lost`: the queue has given the job to somebody
   * else. Of any other the driver's words tell: a wrong password, a right or a database that is missing.
   */
  readonly kind: 'away' | 'full' | 'lost' | 'other';
  /** In short, as in "(ECONNREFUSED)". */
  readonly reason: string;
}

const CUT_REASON = 'the connection was cut';

/**
 * Signs in the code, which comes first, and the message. The first that is found counts; the reason is the one given here, what
 * the sign captured, or the driver's own words. Codes of PostgreSQL: appendix A of its manual.
 */
const FAULT_PATTERNS: readonly (readonly [sign: RegExp, kind: StoreFault['kind'], reason?: string])[] = [
  // BullMQ.
  [/missing (?:lock|key) for job|could not renew lock|lock mismatch|is not in the active state/i, 'lost'],
  [/^(?:08|57P0|53300|25006)/, 'away'],
  // Before what a cluster says of nodes that refuse it: that would be waited for.
  [/^28(?:P01|000)|\b(?:NOAUTH|WRONGPASS)\b|invalid password|without any password/i, 'other'],
  [
    /^(?:\w*SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET)_)/,
    'other',
    'its TLS certificate is of an authority nobody knows; NODE_EXTRA_CA_CERTS names the file with those of a private one',
  ],
  // Redis goes on with the script that met it, another each time.
  [/^53[12]00|\b((?:OOM|MISCONF)\b[^.]*)/, 'full'],
  [
    /\b(ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EPIPE|ENOENT)\b/,
    'away',
  ],
  // Redis: loading its data, or a failover is going on.
  [/\b(LOADING|MASTERDOWN|CLUSTERDOWN|READONLY|TRYAGAIN)\b/, 'away'],
  [
    /connection is closed|connection (?:terminated|ended)|stream isn't writeable|all sentinels (?:are unreachable|failed)|failed to refresh slots|none of startup nodes|no available (?:node|connection)|cluster isn't ready|socket (?:timeout|closed)|max retries per request/i,
    'away',
    CUT_REASON,
  ],
  [/timed? ?out|timeout exceeded/i, 'away', 'no answer in time'],
];

/** An error that will pass by itself, in the form in which BullMQ takes it for a refused connection: it pauses then. */
export class Unavailable extends Error {
  readonly code = 'ECONNREFUSED';
}

/** No room for more, which passes by itself. */
class Full extends Unavailable {}

/** A fault of the file of an embedded queue: whatever it is, the file may be right again in a moment. */
export function storeFault(error: unknown): unknown {
  if (!(error instanceof RunError)) return error;
  const Fault = isDiskFull(error) ? Full : Unavailable;
  return new Fault(errorText(error.cause ?? error), { cause: error });
}

/** The store cannot be used now, and may be in a moment: what was asked of it is worth asking again. */
class StoreUnavailable extends RunError {
  constructor(message: string, cause: unknown) {
    super('failed', message, [], { cause, code: 'queue_unreachable' });
  }
}

/** Whether an error, of the store itself or of BullMQ on it, means that the store is away for now. */
export function isStoreUnavailable(error: unknown): boolean {
  if (error instanceof RunError) return error instanceof StoreUnavailable;
  const { kind } = classifyError(error);
  return kind === 'away' || kind === 'full';
}

export function classifyError(error: unknown): StoreFault {
  if (error instanceof Unavailable) return { kind: error instanceof Full ? 'full' : 'away', reason: error.message };
  const [code, message] = errorParts(error);
  // A file that is missing is no store that is away.
  if (error instanceof Error && 'path' in error && 'syscall' in error && error.syscall !== 'connect')
    return { kind: 'other', reason: firstLine(message) };
  for (const [sign, kind, reason] of FAULT_PATTERNS) {
    const found = sign.exec(`${code} ${message}`);
    if (found) return { kind, reason: reason ?? found[1] ?? firstLine(message) };
  }
  return { kind: 'other', reason: firstLine(message) };
}

/** An error that says nothing but that the connection is gone. */
export const isConnectionCut = (error: unknown): boolean => classifyError(error).reason === CUT_REASON;

/** The inner ones tell more: a cluster's last node, the addresses of a name that were all tried. */
function errorParts(error: unknown): [code: string, message: string] {
  if (!(error instanceof Error)) return ['', String(error)];
  const inner: unknown =
    ('lastNodeError' in error && error.lastNodeError) || (error instanceof AggregateError && error.errors[0]);
  const [innerCode, innerMessage] = inner instanceof Error ? errorParts(inner) : ['', ''];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : innerCode;
  return [code, [error.message, innerMessage].filter((text) => text !== '').join(': ')];
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.trim().slice(0, 300) ?? '';
}

export type Reports = ReturnType<typeof openReports>;

/** Whether the queue has forgotten the job, or has given it to somebody else: what becomes of it is not for this delivery to say. */
export const isJobLost = (error: unknown): boolean => classifyError(error).kind === 'lost';

const REPEAT_AFTER_MS = 10_000;
/** Different texts remembered; they come from outside. */
const MOST_TEXTS = 100;

const FAULT_TEXTS: Readonly<Record<StoreFault['kind'], readonly [fault: string, advice: string]>> = {
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
  const lastReported = new Map<string, number>();
  let isDown = false;

  const faultText = ({ kind, reason }: StoreFault, advice = `.${FAULT_TEXTS[kind][1]}`): string =>
    `The queue at ${address}${FAULT_TEXTS[kind][0]} (${reason})${advice}`;

  return {
    /** An error nobody waits for: of a connection, of a worker that looks for jobs. */
    reportError(error: unknown): void {
      const fault = classifyError(error);
      if (fault.kind === 'away') isDown = true;
      const text = faultText(fault, fault.kind === 'away' ? ': waiting until it is there.' : undefined);
      const now = performance.now();
      if (now - (lastReported.get(text) ?? Number.NEGATIVE_INFINITY) < REPEAT_AFTER_MS) return;
      if (lastReported.size >= MOST_TEXTS) lastReported.clear();
      lastReported.set(text, now);
      notice('warn', text);
    },
    /** The store has answered: told once where it was away. */
    noteAnswer(): void {
      if (!isDown) return;
      isDown = false;
      lastReported.clear();
      notice('info', `The queue at ${address} is there again.`);
    },
    /** The same error as a `RunError`. */
    explain(error: unknown): RunError {
      if (error instanceof RunError) return error;
      const fault = classifyError(error);
      const text = faultText(fault);
      return fault.kind === 'away' || fault.kind === 'full'
        ? new StoreUnavailable(text, error)
        : runFailure(text, [], { cause: error });
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
export async function connectWithRetry<T>(
  attempt: () => Promise<T>,
  { patienceMs, signal }: Pick<StoreOptions, 'patienceMs' | 'signal'>,
  reports: Reports,
): Promise<T> {
  const until = performance.now() + patienceMs;
  for (let tries = 0; ; tries++) {
    signal.throwIfAborted();
    try {
      const found = await attempt();
      reports.noteAnswer();
      return found;
    } catch (error) {
      const remainingMs = until - performance.now();
      if (error instanceof RunError || classifyError(error).kind !== 'away' || remainingMs <= 0)
        throw reports.explain(error);
      reports.reportError(error);
      const delay = Math.min(LEAST_PAUSE_MS * 2 ** Math.min(tries, 10), MOST_PAUSE_MS, remainingMs);
      await pause(delay, undefined, { signal });
    }
  }
}
