import type { Progress } from '../runs/run/context.js';
import type { RunProgress } from './schema.js';

/** The runs that are at work in this process, and how far each has come. */
export class LiveRuns {
  private readonly progress = new Map<string, Progress>();
  private readonly carried = new Set<Promise<unknown>>();

  note(progress: Progress): void {
    this.progress.set(progress.run, progress);
  }

  ended(run: string | undefined): void {
    if (run !== undefined) this.progress.delete(run);
  }

  of(run: string): RunProgress | undefined {
    const found = this.progress.get(run);
    return (
      found && { phase: found.phase, done: found.done, total: found.total ?? null, outcomes: { ...found.outcomes } }
    );
  }

  /** A run that nobody waits for; `close` does. */
  carry(run: Promise<unknown>): void {
    const ended = run.catch(() => undefined).finally(() => this.carried.delete(ended));
    this.carried.add(ended);
  }

  /** Once this process was told to end: until what is carried out here has ended. */
  async close(): Promise<void> {
    await Promise.all(this.carried);
  }
}
