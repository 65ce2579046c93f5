import { MAX_RECORD_BYTES } from '../../model/row.js';
import { readAddress } from '../address.js';
import { anySignal, type Clock, systemClock } from '../clock.js';
import { openPacer, type Pacer, type PacerOptions } from '../pace/gate.js';
import { openHttp } from './http.js';
import { openToken, type TokenSource } from './token.js';

/** `maxInFlight`: of all runs of this channel together. */
export interface ChannelOptions extends Omit<PacerOptions, 'clock' | 'random' | 'signal'> {
  /** `{base_url}`, without /api/v2. */
  readonly baseUrl: string;
  readonly token: TokenSource;
  /** Default: 10 s to connect, 60 s for a whole request. */
  readonly timeouts?: { readonly connectMs?: number; readonly requestMs?: number };
  /** How long a token service that is down is waited for; default 15 min. */
  readonly patienceMs?: number;
  /** Default `MAX_RECORD_BYTES`. */
  readonly maxAnswerBytes?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Ends every wait of every run and lets nothing new out; what is in flight is finished, its answer is needed. */
  readonly signal?: AbortSignal;
}

/**
 * What all runs of a process share for one service address: connections, the gate, the token. Throws RunError('usage') where `{base_url}` is not a plain http(s) address.
 * Opens no connection yet.
 */
export function openChannel(options: ChannelOptions) {
  const address = readAddress(options.baseUrl);
  const { signal, stop, release } = anySignal(options.signal);
  const clock = options.clock ?? systemClock;
  const connectMs = options.timeouts?.connectMs ?? 10_000;
  const requestMs = options.timeouts?.requestMs ?? 60_000;
  const patienceMs = options.patienceMs ?? 15 * 60_000;
  const http = openHttp({
    origin: address.origin,
    connections: Math.max(1, options.maxInFlight),
    connectMs,
    requestMs,
    maxAnswerBytes: options.maxAnswerBytes ?? MAX_RECORD_BYTES,
    clock,
  });
  const pacer = openPacer({ ...options, clock, random: options.random ?? Math.random, signal });
  const tokens = openToken(options.token, { connectMs, requestMs, patienceMs }, clock, signal);

  return {
    address,
    /** The state of the gate at this moment. */
    gauges: pacer as Gauges,
    /**
     * Lets nothing new out and waits for what is in flight, each request for its own time at most. What is left after
     * `withinMs` milliseconds is cut off: such a write is `open`.
     */
    async close(withinMs?: number): Promise<void> {
      release();
      stop();
      await http.close(withinMs);
    },
    /** For services opened on this channel. `signal`: given once nothing new may go out. */
    parts: { http, pacer, tokens, clock, signal },
  };
}

type Gauges = Omit<Pacer, 'enter' | 'lane' | 'leave' | 'hold' | 'backoff' | 'outage'>;
export type Channel = ReturnType<typeof openChannel>;
export type ChannelParts = Channel['parts'];
