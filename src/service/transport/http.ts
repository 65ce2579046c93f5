import { isUtf8 } from 'node:buffer';
import type { Client, Dispatcher } from 'undici';
import { reachedSoon } from '../../trace/milestones.js';
import { type Clock, systemClock } from '../clock.js';
import { type Connections, openConnections } from './connections.js';
import { decode } from './content-encoding.js';
import { openDeadlines, type Timed } from './deadlines.js';

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

/** What came of it. Never thrown: an exchange that fails is a value, and `classify.ts` says what it means. */
export type Exchange =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string;
      readonly retryAfter?: string | undefined;
      readonly location?: string | undefined;
      /** The `Date` header: what time it is for the service. */
      readonly date?: string | undefined;
      /** Decoded, and UTF-8. */
      readonly bytes: Buffer;
      readonly text: string;
    }
  | {
      readonly kind: 'fault';
      /** False: not one byte of the request has left. */
      readonly sent: boolean;
      readonly cause: 'connect' | 'timeout' | 'cut' | 'too_large' | 'not_text';
      /** Of a status line that did arrive. */
      readonly status?: number;
      readonly reason: string;
    };

export interface HttpOptions {
  readonly origin: string;
  readonly connections: number;
  readonly connectMs: number;
  /** Total time of a request, from the hand-over to the last byte of its answer. */
  readonly requestMs: number;
  readonly maxAnswerBytes: number;
  readonly clock?: Clock;
}

export interface Http {
  exchange(request: HttpRequest): Promise<Exchange>;
  /** Waits for what is in flight; after so many milliseconds what is left is cut off. */
  close(withinMs?: number): Promise<void>;
}

/**
 * HTTP to one origin over kept-alive connections. Nothing is repeated and no redirect is followed here: a request goes
 * out at most once. Never sends anything to another origin.
 */
export function openHttp(options: HttpOptions): Http {
  const clock = options.clock ?? systemClock;
  let closed = false;
  /**
   * Requests in flight, each at its `place`. No Set: it leaves a table behind whenever it has been filled, and one that has
   * grown old keeps all that it held from a quick collection.
   */
  const live: Underway[] = [];
  let onIdle: (() => void)[] = [];
  const connections = openConnections(options.origin, options.connections, options.connectMs);

  const deadlines = openDeadlines(live, clock);

  function ended(one: Underway): void {
    const last = live.pop();
    if (last && last !== one) {
      live[one.place] = last;
      last.place = one.place;
    }
    if (live.length > 0) return;
    deadlines.rest();
    for (const idle of onIdle) idle();
    onIdle = [];
  }

  function exchange(request: HttpRequest): Promise<Exchange> {
    if (closed) return Promise.reject(new Error('the connection to the service is closed'));
    return new Promise((resolve) => {
      const one = new Underway(request, options, clock, connections, (result) => {
        ended(one);
        resolve(result);
      });
      one.place = live.push(one) - 1;
      deadlines.watch(one.deadline);
      connections.take((connection) => one.go(connection));
    });
  }

  async function close(withinMs?: number): Promise<void> {
    closed = true;
    if (live.length > 0) {
      const idle = new Promise<void>((resolve) => {
        onIdle.push(resolve);
      });
      const cutAll = (): void => {
        for (const one of [...live]) one.cut();
      };
      const cancel = withinMs === undefined ? undefined : clock.after(withinMs, cutAll);
      await idle;
      cancel?.();
    }
    // Every exchange has ended; what is left are idle connections and such that were never finished.
    await connections.destroy();
  }

  return { exchange, close };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;
type Controller = Dispatcher.DispatchController;

/** A complete answer. Its text is made when it is first asked for: what is known by its bytes is never read. */
class Answer {
  readonly kind = 'answer';
  private read: string | undefined;

  constructor(
    readonly status: number,
    private readonly headers: Headers,
    readonly bytes: Buffer,
  ) {}

  get text(): string {
    this.read ??= this.bytes.toString('utf8');
    return this.read;
  }

  get contentType(): string {
    return (this.header('content-type') ?? '').toLowerCase();
  }

  get retryAfter(): string | undefined {
    return this.header('retry-after');
  }

  get location(): string | undefined {
    return this.header('location');
  }

  get date(): string | undefined {
    return this.header('date');
  }

  private header(name: string): string | undefined {
    const value = this.headers[name];
    return value === undefined ? undefined : String(value);
  }
}

/** One request from the hand-over to its end, as the one object that undici calls. Ends once. */
class Underway implements Dispatcher.DispatchHandler, Timed {
  /** Among the requests in flight. */
  place = 0;
  private connection: Client | undefined;
  private controller: Controller | undefined;
  private settled = false;
  private status = 0;
  private headers: Headers = {};
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private readonly allowedMs: number;
  readonly deadline: number;

  constructor(
    private readonly request: HttpRequest,
    private readonly options: HttpOptions,
    clock: Clock,
    private readonly connections: Pick<Connections, 'giveBack'>,
    private readonly done: (result: Exchange) => void,
  ) {
    this.allowedMs = Math.min(options.requestMs, request.timeoutMs ?? Number.POSITIVE_INFINITY);
    this.deadline = clock.now() + this.allowedMs;
  }

  go(connection: Client): void {
    this.connection = connection;
    const { method, path, headers, body } = this.request;
    connection.dispatch({ method, path, headers: headers as string[], body: body ?? null }, this);
  }

  late(): void {
    this.fail('timeout', `no complete answer within ${this.allowedMs / 1000} s`);
  }

  /** Ends it now. */
  cut(): void {
    this.fail('cut', 'given up, as the connection had to be closed');
  }

  onRequestStart(given: Controller): void {
    // Called right before the first byte is written; a request given up before that is never written.
    if (!this.settled && this.request.mayStart?.() === false)
      this.fail('connect', 'withheld when the connection was made');
    if (this.settled) {
      given.abort(new Error('given up before it was sent'));
      return;
    }
    this.controller = given;
    if (this.request.method !== 'GET') reachedSoon('sent');
  }

  onResponseStart(_controller: Controller, code: number, received: Headers): void {
    this.status = code;
    this.headers = received;
    if (Number(received['content-length']) > this.options.maxAnswerBytes) this.tooLarge();
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > this.options.maxAnswerBytes) this.tooLarge();
    else this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.leave();
    const { chunks, status, headers } = this;
    const received = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    const decoded = decode(String(headers['content-encoding'] ?? ''), received, this.options.maxAnswerBytes);
    if (decoded.kind === 'too_large') {
      this.tooLarge();
    } else if (decoded.kind === 'unreadable') {
      const coding = decoded.coding.slice(0, 40);
      this.fail('not_text', `the answer (status ${status}) is encoded as "${coding}" and cannot be read`);
    } else if (!isUtf8(decoded.bytes)) {
      this.fail('not_text', `the answer (status ${status}) is not UTF-8 text`);
    } else {
      this.settle(new Answer(status, headers, decoded.bytes));
    }
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.leave();
    this.fail(this.controller === undefined ? 'connect' : 'cut', describe(error));
  }

  /** undici is done with the request, also where it was given up long before. */
  private leave(): void {
    if (this.connection) this.connections.giveBack(this.connection);
    this.connection = undefined;
  }

  private tooLarge(): void {
    const limit = `${Math.round(this.options.maxAnswerBytes / 1024 / 1024)} MB`;
    this.fail('too_large', `the answer (status ${this.status}) is larger than the limit of ${limit}`);
  }

  private fail(cause: (Exchange & { kind: 'fault' })['cause'], reason: string): void {
    const { status, controller } = this;
    this.settle({ kind: 'fault', sent: controller !== undefined, cause, reason, ...(status ? { status } : {}) });
    controller?.abort(new Error(reason));
  }

  private settle(result: Exchange): void {
    if (this.settled) return;
    this.settled = true;
    this.done(result);
  }
}

/** One user's share of a connection: after its `close`, which waits for its own requests alone, it sends nothing more. */
export function shareHttp(http: Http): Http {
  let closed = false;
  let live = 0;
  let onIdle: (() => void)[] = [];
  const done = (): void => {
    live--;
    if (live > 0) return;
    for (const idle of onIdle) idle();
    onIdle = [];
  };
  return {
    exchange(request) {
      if (closed) return Promise.reject(new Error('the connection to the service is closed'));
      const exchange = http.exchange(request);
      live++;
      exchange.then(done, done);
      return exchange;
    },
    async close() {
      closed = true;
      if (live > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    },
  };
}

const WORDS: Readonly<Record<string, string>> = {
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
  DEPTH_ZERO_SELF_SIGNED_CERT: "the service's TLS certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the service's TLS certificate chain is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the service's TLS certificate cannot be verified",
  ERR_TLS_CERT_ALTNAME_INVALID: "the service's TLS certificate is for another host",
};

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const words = code === undefined ? undefined : WORDS[code];
  if (words) return `${words} (${code})`;
  return code?.startsWith('HPE_') ? `the answer is not HTTP (${code})` : error.message || (code ?? 'unknown fault');
}
