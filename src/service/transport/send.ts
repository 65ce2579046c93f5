import { type RunError, runFailure } from '../../model/error.js';
import { endSentence } from '../../model/issue.js';
import type { RequestCounts } from '../../model/progress.js';
import { scrub } from '../../model/secret-forms.js';
import { reached } from '../../trace/milestones.js';
import { type Address, readPath } from '../address.js';
import { unlessStopped, wait } from '../clock.js';
import type { Lane, Pass, Patience } from '../pace/gate.js';
import type { Log, ServiceMessage, WriteAnswer } from '../port.js';
import { classify, loadOf, messageLine, outageReason, readMessages, retryAfter, type Verdict } from './answer.js';
import type { ChannelParts } from './channel.js';
import type { Exchange, Http } from './http.js';
import type { TokenKeeper } from './token.js';

export interface Call {
  readonly kind: 'read' | 'write';
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** From the root of the service, with the query. */
  readonly path: string;
  readonly body?: string;
  readonly company: number;
  /** Of a writing request, as `Service.write` has it. */
  readonly isFresh?: () => boolean;
  readonly ahead?: boolean;
  /** Of a writing request: an earlier one was open. */
  readonly again?: boolean;
  /** Where the run can do without this read: whatever fails but the token ends it with `refused`, soon; status 0 is no answer. */
  readonly optional?: { readonly tries: number; readonly timeoutMs?: number };
  /** Reads: turns the JSON into the value; a `string` says why the answer makes no sense, and is treated as garbled. */
  readonly shape?: (json: unknown, text: string) => unknown;
  /** Reads: the value of a 2xx answer that is known by its text and not parsed; undefined for any other. */
  readonly known?: (text: string) => unknown;
}

export type Settled =
  | { readonly kind: 'ok'; readonly value: unknown }
  | { readonly kind: 'missing'; readonly words: string }
  | Exclude<WriteAnswer, { kind: 'done' }>;

/** One exchange with the service: what was asked, the status of its answer (undefined for none), and how long it took. */
export type Observe = (event: {
  readonly kind: 'read' | 'write';
  readonly status: number | undefined;
  readonly ms: number;
  readonly repetition: boolean;
}) => void;

/** `signal`: ends every wait of this run. */
interface SenderParts extends Omit<ChannelParts, 'http'> {
  readonly http: Pick<Http, 'exchange'>;
  readonly address: Address;
  /** This run's way through the gate. */
  readonly lane: Lane;
  readonly counts: RequestCounts;
  /** How long a service that is down, or throttles, is waited for: from a request's first such answer. */
  readonly patience: Pick<Patience, 'ms'>;
  readonly log: Log;
  readonly observe?: Observe;
  /** Whether this process may write at this very moment; asked directly before each try of a writing request. */
  readonly mayWrite?: () => boolean;
}

/** What was done about a refused token, and what a person can do. */
const TOKEN_REFUSED: Readonly<Record<TokenKeeper['kind'], { again: string; advice: string }>> = {
  token: { again: '', advice: 'Check ROWFERRY_API_TOKEN: it may have expired.' },
  file: {
    again: ', also after the token file was read again',
    advice: 'Check that the file of ROWFERRY_API_TOKEN_FILE holds a token that is still good.',
  },
  oauth: {
    again: ', also after a new one was fetched',
    advice: 'Check the ROWFERRY_OAUTH_… variables, and that this client may use the service.',
  },
};

/** Answers that are not JSON rarely pass by waiting: a login page or a wrong address does not go away. */
const MAX_GARBLED = 6;
/** A pause the service asks for is kept also by reads that are optional, but not for ever. */
const MAX_THROTTLED = 6;
const HEADERS = ['accept', 'application/json', 'accept-encoding', 'identity', 'user-agent', 'rowferry'];
const BODY_HEADERS = ['content-type', 'application/json'];
/** Short, as nothing but the answer itself is of interest. */
const PROBE_TIMEOUT_MS = 10_000;

type AttemptResult =
  | {
      readonly kind: 'tried';
      readonly exchange: Exchange;
      readonly sentAt: number;
      /** Milliseconds of a pause the service named, which the gate keeps. */
      readonly heldMs: number | undefined;
    }
  | { readonly kind: 'stopped' }
  | Settled;

/**
 * Sends one request until it has come to something.
 *
 *   withheld? unsent → pass the gate → wait for the token → withheld? → exchange → tell the pace → classify →
 *     ok, missing, refused, open: settled · refresh: once more with a new token, a second 401 stops the run
 *     again: back off (or wait out Retry-After) and repeat, until patience is over:
 *       then a write is `unsent`, a read stops the run · stop: RunError
 *     an optional read is `refused` instead, after its few tries · away for longer than the patience: as if it was over
 *
 * Repetition is decided by the verdict alone: a write gets `again` only where the service cannot have executed it.
 * While the service is away the gate lets one probe through at a time. A read goes itself. A write must not, as its failure
 * would leave its effect open, nor a read that is optional: a small read goes in its place, and they wait on.
 *
 * Throws RunError('failed'): unreachable for too long (reads), token refused, access denied, redirect, answer too large.
 */
export function openSender(parts: SenderParts): (call: Call) => Promise<Settled> {
  const { http, address, tokens, pacer, lane, clock, counts, log, signal } = parts;
  /** While the service is away this small read asks whether it is back, in the place of what must not go itself. */
  const probePath = `${address.root}${readPath('company')}?page=1`;
  const probe: Call = { kind: 'read', method: 'GET', path: probePath, company: 0 };

  async function send(call: Call): Promise<Settled> {
    const { optional, method, path } = call;
    let firstTrouble: number | undefined;
    let refusals = 0;
    let garbled = 0;
    let throttled = 0;
    let failed = 0;
    for (let attempt = 0; ; attempt++) {
      // What may not go is not to wait first.
      const early = withheld(call);
      if (early) return early;
      const entered = lane.enter(attempt > 0 || call.ahead === true);
      const pass = entered === true || (await awaitPass(call, entered));
      if (pass === false) return stopped(call);
      if (pass === 'away') {
        const { reason = 'no answer', since = clock.now() } = pacer.outage ?? {};
        if (optional) return skipOptional(call, { kind: 'fault', sent: false, cause: 'connect', reason });
        return giveUp(call, reason, clock.now() - since);
      }
      const attempted = await sendOnce(call, attempt > 0 || call.again === true, pass === 'probe', optional?.timeoutMs);
      if (attempted.kind === 'stopped') return stopped(call);
      if (attempted.kind !== 'tried') return attempted;
      const { exchange, sentAt, heldMs } = attempted;
      const verdict = judge(call, exchange);

      switch (verdict.kind) {
        case 'ok':
          return { kind: 'ok', value: verdict.json };
        case 'missing':
          return { kind: 'missing', words: wordsOf(exchange) };
        case 'refused':
          return { kind: 'refused', status: verdict.status, messages: messagesOf(exchange) };
        case 'open':
          log('warn', 'service.open', { method, path, reason: redact(verdict.reason) });
          return { ...verdict, reason: redact(verdict.reason) };
        case 'stop':
          if (optional) return skipOptional(call, exchange);
          throw stopError(call, verdict.why, exchange);
        case 'refresh':
          refusals++;
          if (refusals > 1) throw tokenRefused(call, exchange);
          log('info', 'service.token_refused', { method, path });
          continue;
        case 'again': {
          refusals = 0;
          const now = clock.now();
          firstTrouble ??= sentAt;
          const exhausted =
            verdict.why === 'throttled' ? ++throttled >= MAX_THROTTLED : ++failed >= (optional?.tries ?? 0);
          const patienceOver = now - firstTrouble >= parts.patience.ms;
          if (optional && (exhausted || patienceOver)) return skipOptional(call, exchange);
          if (verdict.why === 'garbled' && ++garbled >= MAX_GARBLED) throw garbledError(call, verdict.reason);
          if (patienceOver) return giveUp(call, verdict.reason, now - firstTrouble);
          const patienceLeft = firstTrouble + parts.patience.ms - now;
          const delay = heldMs ?? Math.min(pacer.backoff(attempt + 1), patienceLeft);
          log('warn', 'service.retry', {
            method,
            path,
            attempt: attempt + 1,
            reason: redact(verdict.reason),
            wait_ms: Math.round(delay),
          });
          // A stated pause is kept by the gate, for everybody.
          if (heldMs === undefined && !(await wait(clock, delay, signal))) return stopped(call);
        }
      }
    }
  }

  async function awaitPass(call: Call, entered: Promise<Pass>): Promise<Pass> {
    let pass = await entered;
    while (pass === 'probe' && (call.kind === 'write' || call.optional)) {
      await sendOnce(probe, true, true, PROBE_TIMEOUT_MS);
      pass = await lane.enter(true);
    }
    return pass;
  }

  /** Beyond the gate. Throws RunError where no token can be had. */
  async function sendOnce(
    call: Call,
    repetition: boolean,
    probe: boolean,
    timeoutMs: number | undefined,
  ): Promise<AttemptResult> {
    const { kind, method, body } = call;
    const enteredAt = clock.now();
    let exchanged = false;
    try {
      const current = tokens.current();
      // It is fetched for everybody; a run that is stopped does not wait for it.
      const token = current instanceof Promise ? await unlessStopped(current, signal) : current;
      if (token === undefined || signal.aborted) return { kind: 'stopped' };
      // The process may have been paused, or the gate held, for longer than what was true before is true.
      const late = withheld(call);
      if (late) return late;
      count(kind, repetition, 1);
      const sentAt = clock.now();
      if (kind === 'write') reached('before-send');
      const exchange = await http.exchange({
        method,
        path: call.path,
        headers: [...HEADERS, 'authorization', token.header, ...(body === undefined ? [] : BODY_HEADERS)],
        body,
        timeoutMs,
        mayStart: () => withheld(call) === undefined,
      });
      // The connection may have taken long to be made.
      const lateWithheld = exchange.kind === 'fault' && !exchange.sent ? withheld(call) : undefined;
      if (lateWithheld) {
        count(kind, repetition, -1);
        return lateWithheld;
      }
      exchanged = true;
      if (kind === 'write') reached('answer-read');
      // Before anybody else is let in: the next one is not to go out with this token.
      if (exchange.status === 401) tokens.refused(token);
      const heldMs = pauseOf(exchange, call);
      if (heldMs !== undefined) pacer.hold(heldMs);
      pacer.leave(loadOf(exchange), sentAt, {
        probe,
        isolated: call.optional !== undefined,
        outageReason: outageReason(exchange),
      });
      parts.observe?.({ kind, status: exchange.status, ms: clock.now() - sentAt, repetition });
      return { kind: 'tried', exchange, sentAt, heldMs };
    } finally {
      if (!exchanged) pacer.leave('unsent', enteredAt, { probe });
    }
  }

  function count(kind: Call['kind'], repetition: boolean, by: 1 | -1): void {
    counts.total += by;
    counts[kind === 'read' ? 'reads' : 'writes'] += by;
    if (repetition) counts.retries += by;
  }

  function pauseOf(exchange: Exchange, { optional }: Call): number | undefined {
    if (exchange.kind === 'fault') return undefined;
    // A service that is down only for an optional read must not make the others wait.
    if (exchange.status !== 429 && (exchange.status !== 503 || optional)) return undefined;
    return retryAfter(exchange.retryAfter, exchange.date, clock);
  }

  function judge(call: Call, exchange: Exchange): Verdict {
    if (call.known && exchange.kind === 'answer' && exchange.status >= 200 && exchange.status < 300) {
      const json = call.known(exchange.text);
      if (json !== undefined) return { kind: 'ok', json };
    }
    const verdict = classify(call.kind, exchange);
    if (verdict.kind !== 'ok' || !call.shape || exchange.kind !== 'answer') return verdict;
    const value = call.shape(verdict.json, exchange.text);
    return typeof value === 'string' ? { kind: 'again', why: 'garbled', reason: value } : { kind: 'ok', json: value };
  }

  function skipOptional({ method, path }: Call, exchange: Exchange): Settled {
    const messages = messagesOf(exchange);
    const reason = exchange.kind === 'fault' ? exchange.reason : messageLine(messages);
    const status = exchange.status ?? 0;
    log('warn', 'service.done_without', { method, path, status, reason: redact(reason) });
    return { kind: 'refused', status, messages };
  }

  function messagesOf(exchange: Exchange): readonly ServiceMessage[] {
    return exchange.kind === 'answer' ? readMessages(exchange.status, exchange.text, tokens.secrets) : [];
  }

  function wordsOf(exchange: Exchange): string {
    return exchange.kind === 'answer' && exchange.text.trim()
      ? `The service says: ${endSentence(messageLine(messagesOf(exchange)))} `
      : '';
  }

  function redact(text: string): string {
    return scrub(text, tokens.secrets);
  }

  function withheld(call: Call): Settled | undefined {
    if (call.kind === 'write' && parts.mayWrite?.() === false) {
      const reason = 'the right to write was lost before the request was sent';
      return { kind: 'unsent', reason, withheld: 'no_right' };
    }
    if (call.isFresh?.() !== false) return undefined;
    const reason = 'too much time passed between reading the record and sending the request';
    return { kind: 'unsent', reason, withheld: 'stale' };
  }

  function stopped(call: Call): Settled {
    const reason = 'the run was stopped before the request was sent';
    if (call.kind === 'write') return { kind: 'unsent', reason };
    throw runFailure(`Stopped: ${reason}.`, [], { code: 'interrupted' });
  }

  function giveUp(call: Call, reason: string, ms: number): Settled {
    const waited = ms < 90_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
    if (call.kind === 'write') return { kind: 'unsent', reason: `${redact(reason)}; waited ${waited}` };
    throw unreachable(call, `did not succeed within ${waited}: ${redact(reason)}`);
  }

  function unreachable({ method, path }: Call, what: string): RunError {
    const advice = 'Check the address in ROWFERRY_API_URL and that the service is up.';
    const text = `service unreachable: ${method} ${address.origin}${path} ${what}. ${advice}`;
    return runFailure(text, [], { code: 'service_unreachable' });
  }

  function garbledError(call: Call, reason: string): RunError {
    return runFailure(
      `${call.method} ${address.origin}${call.path} was answered ${MAX_GARBLED} times with something that makes no sense: ${redact(reason)}. ` +
        'Check that ROWFERRY_API_URL is the address of the service itself.',
    );
  }

  function tokenRefused(call: Call, exchange: Exchange): RunError {
    const { again, advice } = TOKEN_REFUSED[tokens.kind];
    return runFailure(
      `The token was refused (401) for ${call.method} ${call.path}${again}. ${wordsOf(exchange)}${advice}`,
      [],
      { status: 401 },
    );
  }

  function stopError(call: Call, why: (Verdict & { kind: 'stop' })['why'], exchange: Exchange): RunError {
    const status = exchange.status ?? 0;
    const reason = exchange.kind === 'fault' ? exchange.reason : undefined;
    if (why === 'nobody') return unreachable(call, `cannot succeed: ${redact(reason ?? '')}`);
    const location = exchange.kind === 'answer' ? exchange.location : undefined;
    const target = location ? `to ${redact(location).slice(0, 300)}` : 'without saying where to';
    const lost = call.kind === 'write' ? ' Following it would lose the body or send it to another place.' : '';
    const request = `${call.method} ${call.path} for company ${call.company}`;
    const texts: Readonly<Record<typeof why, string>> = {
      forbidden:
        `Access was denied (${status}) to ${request}. ${wordsOf(exchange)}` +
        'Check that the token belongs to a user who may do this for this company.',
      proxy:
        `${request} was not sent: ${redact(reason ?? 'a proxy wants a user name and password (407)')}. ` +
        'Correct HTTPS_PROXY, or name the host of the service in NO_PROXY.',
      redirect:
        `${request} was redirected (${status}) ${target}; redirects are never followed.${lost} ` +
        'Set ROWFERRY_API_URL to the address the service really has (https, right host, no path it does not need).',
      too_large: `${request}: ${reason}. A page holds 25 records; this is no answer of the service.`,
      refused: `The service refused ${request} (status ${status}). ${wordsOf(exchange)}`.trim(),
    };
    return runFailure(texts[why], [], { status });
  }

  return send;
}
