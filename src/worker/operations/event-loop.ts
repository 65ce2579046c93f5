/** How long the event loop was blocked of late. While it is blocked nothing here answers at all. */
export interface EventLoopWatch {
  /** The longest block of the last 10 to 20 s, milliseconds; one that has just ended counts at once. */
  lagMs(): number;
  close(): void;
}

const TICK_MS = 100;
const WINDOW_MS = 10_000;

export function watchEventLoop(): EventLoopWatch {
  let tick = performance.now();
  let begun = tick;
  let longest = 0;
  let longestBefore = 0;

  const lag = () => performance.now() - tick - TICK_MS;
  const timer = setInterval(() => {
    longest = Math.max(longest, lag());
    tick = performance.now();
    if (tick - begun < WINDOW_MS) return;
    begun = tick;
    longestBefore = longest;
    longest = 0;
  }, TICK_MS).unref();

  return {
    lagMs: () => Math.round(Math.max(longestBefore, longest, lag(), 0)),
    close: () => clearInterval(timer),
  };
}
