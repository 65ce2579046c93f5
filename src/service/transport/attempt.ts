import { reached } from '../../trace/milestones.js';
import { type Address, readPath } from '../address.js';
import { type Clock, unlessStopped } from '../clock.js';
import type { Lane, Pacer } from '../pace/gate.js';
import type { Pass } from '../pace/lines.js';
import type { RequestCounts } from '../port.js';
import { outage, overload, retryAfter } from './classify.js';
import type { Exchange, Http, HttpRequest } from './http.js';
import type { Token, TokenKeeper } from './token.js';

/** One exchange with the service: what was asked, the status of its answer (undefined for none), and how long it took. */
export type Observe = (event: {
  readonly kind: 'read' | 'write';
  readonly status: number | undefined;
  readonly ms: number;
  readonly repetition: boolean;
}) => void;

/** What goes out, once. */
export interface Outgoing {
  readonly kind: 'read' | 'write';
  readonly method: HttpRequest['method'];
  /** With the prefix, from `/`. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** Passes the gate before requests that were not held up yet. */
  readonly ahead: boolean;
  /** The run can do without it: that it fails says nothing of the service, and nobody waits for the pause it is told. */
  readonly optional: boolean;
}

/** `withheld`: the caller's own reason not to send it, found after the wait. */
export type Tried<W> =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'withheld'; readonly withheld: W }
  /** Longer than the run's patience. */
  | { readonly kind: 'away'; readonly reason: string; readonly ms: number }
  | {
      readonly kind: 'tried';
      readonly exchange: Exchange;
      readonly sentAt: number;
      /** Milliseconds of a pause the service named, which the gate keeps. */
      readonly heldMs: number | undefined;
    };

export interface AttemptParts {
  readonly http: Http;
  readonly address: Address;
  readonly tokens: TokenKeeper;
  readonly pacer: Pacer;
  /** This run's way through the gate. */
  readonly lane: Lane;
  readonly clock: Clock;
  readonly counts: RequestCounts;
  readonly userAgent: string;
  readonly observe?: Observe;
  readonly signal?: AbortSignal;
}

export interface Attempts {
  /** `withheld` is asked directly before the request goes out, after every wait. Throws RunError where no token can be had. */
  once<W>(request: Outgoing, repetition: boolean, withheld: () => W | undefined): Promise<Tried<W>>;
}

/** Short, as nothing but the answer itself is of interest. */
const PROBE_TIMEOUT_MS = 10_000;

/**
 * One try of a request: pass the gate → wait for the token → withheld? → exchange → tell the pace.
 *
 * While the service is away the gate lets one probe through at a time. A read goes itself. A write must not: that it fails
 * would leave its effect open; so a small read goes in its place, and the write waits on.
 */
export function openAttempts(parts: AttemptParts): Attempts {
  const { http, address, tokens, pacer, lane, clock, counts } = parts;
  const fixed = ['accept', 'application/json', 'accept-encoding', 'identity', 'user-agent', parts.userAgent];
  let prepared: { token: Token; bare: readonly string[]; withBody: readonly string[] } | undefined;
  const probe: Outgoing = {
    kind: 'read',
    method: 'GET',
    path: `${address.root}${readPath('company')}?page=1`,
    timeoutMs: PROBE_TIMEOUT_MS,
    ahead: false,
    optional: false,
  };

  function once<W>(request: Outgoing, repetition: boolean, withheld: () => W | undefined): Promise<Tried<W>> {
    const pass = lane.enter(repetition || request.ahead);
    return pass === true ? go(request, repetition, false, withheld) : afterWait(pass, request, repetition, withheld);
  }

  async function afterWait<W>(
    waiting: Promise<Pass>,
    request: Outgoing,
    repetition: boolean,
    withheld: () => W | undefined,
  ): Promise<Tried<W>> {
    let pass = await waiting;
    while (pass === 'probe' && (request.kind === 'write' || request.optional)) {
      await go(probe, true, true, () => undefined);
      pass = await lane.enter(true);
    }
    if (pass === 'away') {
      const { reason = 'no answer', since = clock.now() } = pacer.away ?? {};
      return { kind: 'away', reason, ms: clock.now() - since };
    }
    return pass ? go(request, repetition, pass === 'probe', withheld) : { kind: 'stopped' };
  }

  /** Beyond the gate. */
  async function go<W>(
    request: Outgoing,
    repetition: boolean,
    isProbe: boolean,
    withheld: () => W | undefined,
  ): Promise<Tried<W>> {
    const enteredAt = clock.now();
    const unsent = (): void => pacer.leave('unsent', enteredAt, { probe: isProbe });
    let token: Token | undefined;
    try {
      const current = tokens.current();
      // It is fetched for everybody; a run that is stopped does not wait for it.
      token = current instanceof Promise ? await unlessStopped(current, parts.signal) : current;
    } catch (error) {
      unsent();
      throw error;
    }
    if (token === undefined || parts.signal?.aborted) {
      unsent();
      return { kind: 'stopped' };
    }
    // The process may have been paused, or the gate held, for longer than what was true before is true.
    const late = withheld();
    if (late !== undefined) {
      unsent();
      return { kind: 'withheld', withheld: late };
    }
    const { kind, method, path, body, timeoutMs } = request;
    counts.total++;
    if (kind === 'read') counts.reads++;
    else counts.writes++;
    if (repetition) counts.retries++;
    const sentAt = clock.now();
    const headers = headersWith(token, body !== undefined);
    if (kind === 'write') reached('before-send');
    let exchange: Exchange;
    try {
      exchange = await http.exchange({
        method,
        path,
        headers,
        body,
        timeoutMs,
        mayStart: () => withheld() === undefined,
      });
    } catch (error) {
      unsent();
      throw error;
    }
    // The connection may have taken long to be made.
    const atTheDoor = exchange.kind === 'fault' && !exchange.sent ? withheld() : undefined;
    if (atTheDoor !== undefined) {
      counts.total--;
      if (kind === 'read') counts.reads--;
      else counts.writes--;
      if (repetition) counts.retries--;
      unsent();
      return { kind: 'withheld', withheld: atTheDoor };
    }
    if (kind === 'write') reached('answer-read');
    // Before anybody else is let in: the next one is not to go out with this token.
    if (exchange.status === 401) tokens.refused(token);
    const heldMs = pauseOf(exchange, request);
    if (heldMs !== undefined) pacer.hold(heldMs);
    const down = outage(exchange);
    pacer.leave(overload(exchange), sentAt, { probe: isProbe, aside: request.optional, outage: down });
    parts.observe?.({ kind, status: exchange.status, ms: clock.now() - sentAt, repetition });
    return { kind: 'tried', exchange, sentAt, heldMs };
  }

  /** The same two lists for all requests that go out with a token. */
  function headersWith(token: Token, hasBody: boolean): readonly string[] {
    if (token !== prepared?.token) {
      const bare = [...fixed, 'authorization', token.header];
      prepared = { token, bare, withBody: [...bare, 'content-type', 'application/json'] };
    }
    return hasBody ? prepared.withBody : prepared.bare;
  }

  function pauseOf(exchange: Exchange, { optional }: Outgoing): number | undefined {
    if (exchange.kind === 'fault') return undefined;
    // A service that is down only for an optional read must not make the others wait.
    if (exchange.status !== 429 && (exchange.status !== 503 || optional)) return undefined;
    return retryAfter(exchange.retryAfter, exchange.date, clock);
  }

  return { once };
}
