/** Whoever wants the one connection: a session. Only its identity counts. */
export type Party = object;

/**
 * PGlite works on this thread, and its answers come without the event loop turning once: after so long sockets and timers
 * get their turn. Else a flood keeps others out, and one who asks again as soon as there is an answer stops every timer.
 */
const BREATH_MS = 5;

interface Turn {
  /** Never throws; true: the party keeps the connection, as its transaction is open. */
  readonly run: () => Promise<boolean>;
  readonly refuse: (error: Error) => void;
}

/**
 * The queue before a connection that only one may use at a time. Parties take turns, one piece of work each, so that
 * nobody's thousand statements keep another's one waiting. A party whose transaction is open keeps the connection:
 * nobody's work comes between its statements.
 *
 * free → a party's turn → free, or kept (only that party's work runs) → … → free.
 */
export class Gate {
  readonly #lines = new Map<Party, Turn[]>();
  #keeper: Party | undefined;
  #running = false;
  #refusal: Error | undefined;
  #broken = false;
  #idle: (() => void)[] = [];
  /** When the first statement ran since the event loop last turned. */
  #since: number | undefined;

  /** The party whose transaction is open. */
  get keeper(): Party | undefined {
    return this.#keeper;
  }

  /** Nothing runs, nothing waits, no transaction is open. */
  get free(): boolean {
    return !this.#running && this.#keeper === undefined && this.#lines.size === 0;
  }

  /** Runs the work at this party's turn; `keeps` is asked right after it. */
  run<T>(party: Party, work: () => Promise<T>, keeps: () => boolean): Promise<T> {
    if (this.#refusal) return Promise.reject(this.#refusal);
    return new Promise<T>((resolve, reject) => {
      const run = async () => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
        return keeps();
      };
      const line = this.#lines.get(party);
      if (line) line.push({ run, refuse: reject });
      else this.#lines.set(party, [{ run, refuse: reject }]);
      void this.#serve();
    });
  }

  /** Refuses what this party still waits for. */
  drop(party: Party, error: Error): void {
    const line = this.#lines.get(party);
    this.#lines.delete(party);
    for (const turn of line ?? []) turn.refuse(error);
  }

  /** Takes no more work; resolves when what was taken has run. The work that ends an open transaction is given before. */
  async drain(refusal: Error): Promise<void> {
    this.#refusal ??= refusal;
    if (this.free) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Refuses everything, now and from now on. */
  break(refusal: Error): void {
    this.#refusal = refusal;
    this.#broken = true;
    this.#keeper = undefined;
    for (const party of [...this.#lines.keys()]) this.drop(party, refusal);
    this.#settle();
  }

  async #serve(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (;;) {
      await this.#breathe();
      const party = this.#keeper ?? this.#lines.keys().next().value;
      const line = party && this.#lines.get(party);
      const turn = line?.shift();
      if (!party || !line || !turn) break;
      // To the end of the round; a keeper's place does not matter while it keeps.
      this.#lines.delete(party);
      if (line.length > 0) this.#lines.set(party, line);
      const keeps = await turn.run();
      this.#keeper = keeps && !this.#broken ? party : undefined;
    }
    this.#running = false;
    this.#settle();
  }

  /** Reckoned over pauses between pieces of work too: they are none where each answer brings the next question. */
  async #breathe(): Promise<void> {
    if (this.#since === undefined) {
      this.#since = performance.now();
      setImmediate(() => {
        this.#since = undefined;
      });
    } else if (performance.now() - this.#since > BREATH_MS) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #settle(): void {
    if (!this.free) return;
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }
}
