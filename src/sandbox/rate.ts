/** A bucket of tokens: so many requests a second, and a tenth of a second's worth at once. */
export interface RateLimit {
  /** Takes a token; the milliseconds until the next one where there is none. */
  take(): number;
  /** `undefined`: no limit. */
  set(perSecond: number | undefined): void;
}

export function createRateLimit(initial: number | undefined, now: () => number): RateLimit {
  let rate = initial;
  let tokens = 0;
  let filledAt = 0;
  const capacity = () => Math.max(1, (rate ?? 0) / 10);
  const set = (perSecond: number | undefined): void => {
    rate = perSecond;
    tokens = capacity();
    filledAt = now();
  };
  set(initial);
  return {
    set,
    take() {
      if (rate === undefined) return 0;
      const moment = now();
      tokens = Math.min(capacity(), tokens + ((moment - filledAt) / 1000) * rate);
      filledAt = moment;
      if (tokens < 1) return Math.ceil(((1 - tokens) / rate) * 1000);
      tokens--;
      return 0;
    },
  };
}
