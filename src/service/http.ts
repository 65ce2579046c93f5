import { isUtf8 } from 'node:buffer';
import { type Dispatcher, Pool } from 'undici';
import { type Clock, systemClock } from './clock.js';

/** One request to the configured origin. `headers` is flat: name, value, name, value. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** Path and query, from `/`. */
  readonly path: string;
  readonly headers: readonly string[];
  readonly body?: string;
  /** Where this request is given less time than the others. */
  readonly timeoutMs?: number;
}

/** What came of it. Never thrown: an exchange that fails is a value, and `classify.ts` says what it means. */
export type Exchange =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string;
      readonly retryAfter?: string;
      readonly location?: string;
      /** The `Date` header: what time it is for the service. */
      readonly date?: string;
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
  /** One for each request in flight; it ends the request now. */
  const live = new Set<() => void>();
  let onIdle: (() => void)[] = [];
  const pool = new Pool(options.origin, {
    connections: options.connections,
    pipelining: 1,
    connect: { timeout: options.connectMs },
    // The deadline below covers the whole request; a slow drip would never trip timers that restart with each byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  function exchange(request: HttpRequest): Promise<Exchange> {
    if (closed) return Promise.reject(new Error('the connection to the service is closed'));
    return new Promise((resolve) => {
      let controller: Dispatcher.DispatchController | undefined;
      let settled = false;
      let status = 0;
      let headers: Readonly<Record<string, string | string[] | undefined>> = {};
      const chunks: Buffer[] = [];
      let size = 0;

      const settle = (result: Exchange): void => {
        if (settled) return;
        settled = true;
        live.delete(cut);
        cancelDeadline();
        resolve(result);
        if (live.size > 0) return;
        for (const idle of onIdle) idle();
        onIdle = [];
      };
      const fail = (cause: (Exchange & { kind: 'fault' })['cause'], reason: string): void => {
        settle({ kind: 'fault', sent: controller !== undefined, cause, reason, ...(status ? { status } : {}) });
        controller?.abort(new Error(reason));
      };
      const cut = (): void => fail('cut', 'given up, as the connection had to be closed');
      live.add(cut);
      const allowedMs = Math.min(options.requestMs, request.timeoutMs ?? Number.POSITIVE_INFINITY);
      const cancelDeadline = clock.after(allowedMs, () =>
        fail('timeout', `no complete answer within ${allowedMs / 1000} s`),
      );

      pool.dispatch(
        {
          method: request.method,
          path: request.path,
          headers: request.headers as string[],
          body: request.body ?? null,
        },
        {
          onRequestStart(given) {
            // Called right before the first byte is written; a request given up before that is never written.
            if (settled) given.abort(new Error('given up before it was sent'));
            else controller = given;
          },
          onResponseStart(_controller, code, received) {
            status = code;
            headers = received;
            if (Number(received['content-length']) > options.maxAnswerBytes) tooLarge();
          },
          onResponseData(_controller, chunk) {
            size += chunk.length;
            if (size > options.maxAnswerBytes) tooLarge();
            else chunks.push(chunk);
          },
          onResponseEnd() {
            const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
            if (!isUtf8(bytes)) {
              fail('not_text', `the answer (status ${status}) is not UTF-8 text`);
              return;
            }
            const { 'retry-after': retryAfter, location, date } = headers;
            settle({
              kind: 'answer',
              status,
              contentType: String(headers['content-type'] ?? '').toLowerCase(),
              text: bytes.toString('utf8'),
              ...(retryAfter === undefined ? {} : { retryAfter: String(retryAfter) }),
              ...(location === undefined ? {} : { location: String(location) }),
              ...(date === undefined ? {} : { date: String(date) }),
            });
          },
          onResponseError(_controller, error) {
            fail(controller === undefined ? 'connect' : 'cut', describe(error));
          },
        },
      );

      function tooLarge(): void {
        const limit = `${Math.round(options.maxAnswerBytes / 1024 / 1024)} MB`;
        fail('too_large', `the answer (status ${status}) is larger than the limit of ${limit}`);
      }
    });
  }

  async function close(withinMs?: number): Promise<void> {
    closed = true;
    if (live.size > 0) {
      const ended = new Promise<void>((resolve) => {
        onIdle.push(resolve);
      });
      const cutAll = (): void => {
        for (const cut of [...live]) cut();
      };
      const cancel = withinMs === undefined ? undefined : clock.after(withinMs, cutAll);
      await ended;
      cancel?.();
    }
    // Every exchange has ended; what is left are idle connections and such that were never finished.
    await pool.destroy();
  }

  return { exchange, close };
}

/** One user's share of a connection: after its `close`, which waits for its own requests alone, it sends nothing more. */
export function shareHttp(http: Http): Http {
  let closed = false;
  const live = new Set<Promise<Exchange>>();
  return {
    exchange(request) {
      if (closed) return Promise.reject(new Error('the connection to the service is closed'));
      const exchange = http.exchange(request);
      live.add(exchange);
      const done = (): void => {
        live.delete(exchange);
      };
      exchange.then(done, done);
      return exchange;
    },
    async close() {
      closed = true;
      await Promise.allSettled(live);
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
