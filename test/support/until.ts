const OFTEN_MS = 15;
const SELDOM_MS = 60;

/**
 * Waits for a condition, looking often; throws when it does not come true in time. A look that takes long is taken less often,
 * or it would keep the processor from what is waited for. `restMs`: at least that long between looks.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  options: { readonly withinMs?: number; readonly what?: string; readonly restMs?: number } = {},
): Promise<void> {
  const { withinMs = 90_000, what = 'what was waited for', restMs = OFTEN_MS } = options;
  const end = performance.now() + withinMs;
  for (;;) {
    const began = performance.now();
    if (await condition()) return;
    const rest = Math.max(restMs, Math.min(SELDOM_MS, 4 * (performance.now() - began)));
    if (performance.now() > end) throw new Error(`${what} did not come within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, rest));
  }
}
