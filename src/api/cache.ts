/** What is found out once for all who ask, by a key; of more than `most` the one that was asked for longest ago is let go. */
export class Cache<T> {
  private readonly entries = new Map<string, { readonly found: Promise<T>; until: number }>();

  constructor(
    private readonly most: number,
    private readonly release: (found: T) => unknown = () => undefined,
  ) {}

  /** `freshMs`: for how long it is good, once found; for ever, where absent. What could not be found out is asked for anew. */
  get(key: string, find: () => Promise<T>, freshMs?: (found: T) => number): Promise<T> {
    const cached = this.entries.get(key);
    const isFresh = cached !== undefined && performance.now() < cached.until;
    const entry = isFresh ? cached : { found: find(), until: Number.POSITIVE_INFINITY };
    this.entries.delete(key);
    this.entries.set(key, entry);
    if (!isFresh)
      entry.found.then(
        (found) => {
          if (freshMs) entry.until = performance.now() + freshMs(found);
        },
        () => this.entries.get(key) === entry && this.entries.delete(key),
      );
    for (const oldest of [...this.entries.keys()].slice(0, -this.most)) void this.forget(oldest);
    return entry.found;
  }

  /** Lets all of it go. */
  async close(): Promise<void> {
    await Promise.all([...this.entries.keys()].map((key) => this.forget(key)));
  }

  private async forget(key: string): Promise<void> {
    const found = this.entries.get(key)?.found;
    this.entries.delete(key);
    await found?.then(this.release, () => undefined);
  }
}
