import type { Clock } from '../clock.js';
import { scrub } from '../transport/messages.js';
import type { Log } from '../transport/send.js';
import type { Away } from './breaker.js';

/** Word of a service that does not answer, for people. */
export interface AwayNews {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Milliseconds until it is asked again. */
  readonly nextMs: number;
  /** What came in place of an answer; without secrets. */
  readonly reason: string;
  /** "The service does not answer (connection refused …); waiting since 02:14:07 UTC, next try in 8 s." */
  readonly text: string;
}

/** Undefined: it is back. */
export type OnAway = (news: AwayNews | undefined) => void;

export interface OutageTellerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly secrets: () => readonly string[];
  readonly onAway?: OnAway;
}

/** Turns the state of the breaker into log lines and news: `service.away` at each change, `service.back` once. */
export function outageTeller(options: OutageTellerOptions): (away: Away | undefined) => void {
  const { clock, log, onAway } = options;
  let since: number | undefined;
  return (away) => {
    const now = clock.now();
    if (!away) {
      if (since === undefined) return;
      log('info', 'service.back', { away_s: Math.round((now - since) / 1000) });
      since = undefined;
      onAway?.(undefined);
      return;
    }
    since = away.since;
    const began = clock.wall() - (now - away.since);
    const nextMs = Math.max(0, away.nextAt - now);
    const reason = scrub(away.reason, options.secrets());
    log('warn', 'service.away', { since: new Date(began).toISOString(), next_ms: Math.round(nextMs), reason });
    const at = new Date(began).toISOString().slice(11, 19);
    const text = `The service does not answer (${reason}); waiting since ${at} UTC, next try in ${Math.ceil(nextMs / 1000)} s.`;
    onAway?.({ since: began, nextMs, reason, text });
  };
}
