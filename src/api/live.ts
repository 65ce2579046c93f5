import type { Progress } from '../runs/run/context.js';
import type { RunProgress } from './schema.js';

type RunPhases = NonNullable<RunProgress['phases']>;

/** Of a run that goes back and forth between phases the last of them are told. */
const MOST_PHASES = 50;

/** The runs that are at work in this process, and how far each has come. */
export class LiveRuns {
  private readonly runs = new Map<string, { readonly latest: Progress; readonly phases: RunPhases }>();

  /** `heldMs`: for how long the service has asked for a pause. */
  constructor(private readonly heldMs: () => number) {}

  note(progress: Progress): void {
    const { run, phase } = progress;
    const phases = this.runs.get(run)?.phases ?? [];
    const began = phases.at(-1)?.phase === phase ? [] : [{ phase, at: new Date().toISOString() }];
    this.runs.set(run, { latest: progress, phases: [...phases, ...began].slice(-MOST_PHASES) });
  }

  ended(run: string | undefined): void {
    if (run !== undefined) this.runs.delete(run);
  }

  of(run: string): RunProgress | undefined {
    const found = this.runs.get(run);
    if (!found) return undefined;
    const { phase, done, total = null, outcomes, requests } = found.latest;
    // In whole seconds: the same pause is the same state.
    const until = Math.ceil((Date.now() + this.heldMs()) / 1_000) * 1_000;
    return {
      ...{ phase, done, total, outcomes: { ...outcomes }, phases: found.phases },
      ...(requests && {
        requests: { made: requests.made, left: requests.left, at_most: requests.atMost ?? false },
      }),
      ...(this.heldMs() > 0 && { paused_until: new Date(until).toISOString() }),
    };
  }
}
