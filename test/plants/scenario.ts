import type { SandboxOptions } from '../../src/sandbox/index.js';
import type { Violation } from '../invariants/check.js';
import { openStage, type Stage } from './stage.js';

/** A play for a compiled program: it sets the scene, and what does not hold stands in `stage.found`. */
export interface Scenario {
  readonly name: string;
  /** What happens in it, with the numbers of the faults. */
  readonly title: string;
  /** The service it is played against. */
  readonly service?: () => SandboxOptions;
  /** Its commands have to be processes of their own. */
  readonly apart?: true;
  readonly play: (stage: Stage) => Promise<void>;
}

/** What a program does wrong in a scenario. `dist`: where it is compiled. */
export async function playScenario(scenario: Scenario, dist: string): Promise<readonly Violation[]> {
  const stage = await openStage(dist, { apart: scenario.apart, service: scenario.service?.() });
  try {
    await scenario.play(stage);
    return stage.found;
  } finally {
    await stage.close();
  }
}
