/** Waits for a condition, looking often; throws when it does not come true in time. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  options: { readonly withinMs?: number; readonly what?: string } = {},
): Promise<void> {
  const { withinMs = 90_000, what = 'what was waited for' } = options;
  const end = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${what} did not come within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
