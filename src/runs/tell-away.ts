import { type Clock, systemClock } from '../service/clock.js';
import type { OnAway } from '../service/pace/breaker.js';

/** A long outage is spoken of this often. */
const EVERY_MS = 60_000;

/** Says that the service does not answer, now and then while that lasts, and once that it is back. */
export function tellAway(info: (text: string) => void, clock: Clock = systemClock): OnAway {
  let toldAt: number | undefined;
  return (news) => {
    if (!news) {
      if (toldAt !== undefined) info('The service answers again: the run goes on.');
      toldAt = undefined;
      return;
    }
    const now = clock.now();
    if (toldAt !== undefined && now - toldAt < EVERY_MS) return;
    toldAt = now;
    info(news.text);
  };
}
