import { RunError } from '../../model/error.js';

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
export class StoreAway extends RunError {
  constructor(message: string, cause: unknown) {
    super('failed', message, [], { cause });
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
