import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { unzipSync } from 'node:zlib';
import type { Dispatcher, Pool } from 'undici';
import { reachedSoon } from '../../trace/milestones.js';
import { type Clock, systemClock } from '../clock.js';
import { proxyAgent, proxyRefusal } from './proxy.js';

/** One request to the configured origin. `headers` is flat: name, value, name, value. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** Path and query, from `/`. */
  readonly path: string;
  readonly headers: readonly string[];
  readonly body?: string | undefined;
  /** Where this request is given less time than the others. */
  readonly timeoutMs?: number | undefined;
  /** Asked when there is a connection, right before the first byte: false, and the request is not sent. */
  readonly mayStart?: () => boolean;
}

/** What came of it. Never thrown: an exchange that fails is a value, and `answer.ts` says what it means. */
export type Exchange =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string;
      readonly retryAfter?: string | undefined;
      readonly location?: string | undefined;
      /** The `Date` header: what time it is for the service. */
      readonly date?: string | undefined;
      /** Decoded from UTF-8. */
      readonly text: string;
    }
  | {
      readonly kind: 'fault';
      /** False: not one byte of the request has left. */
      readonly sent: boolean;
      /** `proxy`: it leads nobody there, or not this user. `nobody`: no such service is there, and none ever was. Another try would end the same. */
      readonly cause: 'connect' | 'proxy' | 'nobody' | 'timeout' | 'cut' | 'too_large' | 'not_text';
      /** Of a status line that did arrive. */
      readonly status?: number;
      readonly reason: string;
    };

interface HttpOptions {
  readonly origin: string;
  readonly connections: number;
  readonly connectMs: number;
  /** Total time of a request, from the hand-over to the last byte of its answer. */
  readonly requestMs: number;
  readonly maxAnswerBytes: number;
  readonly clock?: Clock;
}

/**
 * HTTP to one origin over kept-alive connections. Nothing is repeated and no redirect is followed here: a request goes
 * out at most once. Never sends anything to another origin.
 */
export function openHttp(options: HttpOptions) {
  const clock = options.clock ?? systemClock;
  const { connections, proxied } = openConnections(options.origin, options.connections, options.connectMs);
  const active = new Set<ActiveExchange>();
  const shared = { ...options, proxied, hasAnswered: false };
  let closed = false;

  function exchange(owner: object, request: HttpRequest): Promise<Exchange> {
    if (closed) return Promise.reject(new Error(CLOSED));
    const one = new ActiveExchange(owner, request, shared, clock, active);
    active.add(one);
    one.dispatch(connections);
    return one.done;
  }

  return {
    /** Whether anything was answered yet, whatever. */
    get hasAnswered(): boolean {
      return shared.hasAnswered;
    },
    exchange: (request: HttpRequest) => exchange(active, request),
    /** One user's share of the connections: after its `close`, which waits for its own requests alone, it sends nothing more. */
    share() {
      const owner = { closed: false };
      return {
        exchange: (request: HttpRequest) =>
          owner.closed ? Promise.reject(new Error(CLOSED)) : exchange(owner, request),
        async close(): Promise<void> {
          owner.closed = true;
          await Promise.all([...active].map((one) => one.owner === owner && one.done));
        },
      };
    },
    /** Waits for what is in flight; after so many milliseconds what is left is cut off. */
    async close(withinMs?: number): Promise<void> {
      closed = true;
      const cutAll = (): void => {
        for (const one of active) one.cut();
      };
      const cancel = withinMs === undefined || active.size === 0 ? undefined : clock.after(withinMs, cutAll);
      await Promise.all([...active].map(({ done }) => done));
      cancel?.();
      // Every exchange has ended; what is left are idle connections and such that were never finished.
      await connections.destroy();
    },
  };
}

export type Http = ReturnType<typeof openHttp>;

const CLOSED = 'the connection to the service is closed';

/** What sends requests: a pool of undici's, or its agent for proxies. */
type Connections = Pick<Dispatcher, 'dispatch' | 'destroy'>;

/**
 * Kept-alive connections to one origin, each for one request at a time. undici's front door, behind which fetch, WebSocket
 * and caches stand, takes longer to load than all of the code here: the inner path is why package.json names one version of it.
 */
function openConnections(origin: string, connections: number, connectMs: number) {
  // The deadline of a request covers all of it; a slow drip would never trip timers that restart with each byte.
  const timeless = { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 };
  const agent = proxyAgent(origin, { connect: { timeout: connectMs }, ...timeless });
  if (agent) return { connections: agent, proxied: true };
  const require = createRequire(import.meta.url);
  const UndiciPool = require('undici/lib/dispatcher/pool.js') as typeof Pool;
  return { connections: new UndiciPool(origin, { connectTimeout: connectMs, ...timeless }), proxied: false };
}

type Fault = Exchange & { kind: 'fault' };

const NO_BYTES = Buffer.alloc(0);

/**
 * One request from the hand-over to its end, as the one object that undici calls. Ends once. It has the methods that undici
 * calls by itself; those with a controller are called by way of a wrapper that makes an object of all headers.
 */
class ActiveExchange implements Dispatcher.DispatchHandler {
  readonly done: Promise<Exchange>;
  private end: (result: Exchange) => void = () => undefined;
  private settled = false;
  private abort: ((error: Error) => void) | undefined;
  private status = 0;
  private headers: readonly Buffer[] = [];
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private readonly cancelDeadline: () => void;

  constructor(
    readonly owner: object,
    private readonly request: HttpRequest,
    private readonly options: HttpOptions & { readonly proxied: boolean; hasAnswered: boolean },
    clock: Clock,
    private readonly active: Set<ActiveExchange>,
  ) {
    this.done = new Promise((resolve) => {
      this.end = resolve;
    });
    const ms = Math.min(options.requestMs, request.timeoutMs ?? Number.POSITIVE_INFINITY);
    const onDeadline = (): void => this.fail('timeout', `no complete answer within ${ms / 1000} s`);
    this.cancelDeadline = clock.after(ms, onDeadline);
  }

  dispatch(connections: Connections): void {
    const { method, path, headers, body } = this.request;
    const { origin } = this.options;
    connections.dispatch({ origin, method, path, headers: headers as string[], body: body ?? null }, this);
  }

  cut(): void {
    this.fail('cut', 'given up, as the connection had to be closed');
  }

  onConnect(abort: (error?: Error) => void): void {
    // Called right before the first byte is written; a request given up before that is never written.
    if (!this.settled && this.request.mayStart?.() === false)
      this.fail('connect', 'withheld when the connection was made');
    if (this.settled) {
      abort(new Error('given up before it was sent'));
      return;
    }
    this.abort = abort;
    if (this.request.method !== 'GET') reachedSoon('sent');
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    this.status = status;
    this.headers = headers;
    this.options.hasAnswered = true;
    if (Number(headerOf(headers, 'content-length')) > this.options.maxAnswerBytes) this.tooLarge();
    return true;
  }

  onData(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > this.options.maxAnswerBytes) this.tooLarge();
    else this.chunks.push(chunk);
    return true;
  }

  onComplete(): void {
    const { chunks, status, headers } = this;
    const received = chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? NO_BYTES);
    const encoding = (headerOf(headers, 'content-encoding') ?? '').trim().toLowerCase();
    const bytes = decode(encoding, received, this.options.maxAnswerBytes);
    if (bytes === 'too_large') this.tooLarge();
    else if (typeof bytes === 'string') {
      this.fail('not_text', `the answer (status ${status}) is encoded as "${bytes.slice(0, 40)}" and cannot be read`);
    } else if (!isUtf8(bytes)) this.fail('not_text', `the answer (status ${status}) is not UTF-8 text`);
    else this.settle(answerOf(status, headers, bytes));
  }

  onError(error: Error): void {
    const refusal = proxyRefusal(error);
    if (refusal) this.fail(refusal.final ? 'proxy' : 'connect', refusal.words);
    else if (this.abort !== undefined) this.fail('cut', describe(error));
    else
      this.fail(
        !this.options.hasAnswered && isLasting(error) ? 'nobody' : 'connect',
        `${describe(error)}${this.options.proxied ? ', by way of the proxy of the environment (unless NO_PROXY names the host)' : ''}`,
      );
  }

  private tooLarge(): void {
    const limit = `${Math.round(this.options.maxAnswerBytes / 1024 / 1024)} MB`;
    this.fail('too_large', `the answer (status ${this.status}) is larger than the limit of ${limit}`);
  }

  private fail(cause: Fault['cause'], reason: string): void {
    const { status, abort } = this;
    this.settle({ kind: 'fault', sent: abort !== undefined, cause, reason, ...(status ? { status } : {}) });
    abort?.(new Error(reason));
  }

  private settle(result: Exchange): void {
    if (this.settled) return;
    this.settled = true;
    this.cancelDeadline();
    this.active.delete(this);
    this.end(result);
  }
}

/** The value of a header, `name` in lower case; undefined where there is none. `headers`: name, value, name, value. */
function headerOf(headers: readonly Buffer[], name: string): string | undefined {
  let found: string | undefined;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const own = headers[at] as Buffer;
    if (own.length !== name.length || own.toString('latin1').toLowerCase() !== name) continue;
    const value = (headers[at + 1] as Buffer).toString();
    found = found === undefined ? value : `${found},${value}`;
  }
  return found;
}

function answerOf(status: number, headers: readonly Buffer[], bytes: Buffer): Exchange {
  return {
    kind: 'answer',
    status,
    contentType: (headerOf(headers, 'content-type') ?? '').toLowerCase(),
    retryAfter: headerOf(headers, 'retry-after'),
    location: headerOf(headers, 'location'),
    date: headerOf(headers, 'date'),
    text: bytes.toString('utf8'),
  };
}

const UNZIPPED: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate']);

/**
 * Undoes the `Content-Encoding` of an answer. Requests ask for none; a gateway may compress all the same. Never makes more
 * than `maxBytes`: 10 MB of gzip can hold 10 GB. Else the coding that is not what it says it is, or was never asked for.
 */
function decode(encoding: string, bytes: Buffer, maxBytes: number): Buffer | string {
  // An empty answer (204, or a write without a body) holds nothing to undo.
  if (encoding === '' || encoding === 'identity' || bytes.length === 0) return bytes;
  if (!UNZIPPED.has(encoding)) return encoding;
  try {
    return unzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : encoding;
  }
}

const EXTRA_CERTS = 'NODE_EXTRA_CA_CERTS names the file with the certificates of a private authority';

const NO_TLS = 'nothing speaks TLS at this port; is it http://?';

const ERROR_TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name could not be looked up',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while sending',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'no connection within the time allowed',
  UND_ERR_SOCKET: 'the connection was closed before the answer was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is shorter or longer than it said',
  CERT_HAS_EXPIRED: "the service's TLS certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: `the service's TLS certificate is self-signed; ${EXTRA_CERTS}`,
  SELF_SIGNED_CERT_IN_CHAIN: `the service's TLS certificate chain is self-signed; ${EXTRA_CERTS}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `the service's TLS certificate cannot be verified; ${EXTRA_CERTS}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `nobody known has issued the service's TLS certificate; ${EXTRA_CERTS}`,
  ERR_TLS_CERT_ALTNAME_INVALID: "the service's TLS certificate is for another host",
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
};

/** Faults of certificates and of a wrong port, which do not pass by waiting, unlike those of a name that is not known yet. */
function isLasting(error: Error): boolean {
  const code = codeOf(error) ?? '';
  return /CERT|LEAF_SIGNATURE/.test(code) || ERROR_TEXTS[code] === NO_TLS;
}

const codeOf = (error: Error): string | undefined =>
  'code' in error && typeof error.code === 'string' ? error.code : undefined;

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  const words = code === undefined ? undefined : ERROR_TEXTS[code];
  if (words) return `${words} (${code})`;
  // OpenSSL says it in several lines, with the places in its source.
  if (code?.startsWith('ERR_SSL_')) return `TLS could not be agreed on (${code})`;
  return code?.startsWith('HPE_') ? `the answer is not HTTP (${code})` : error.message || (code ?? 'unknown fault');
}
