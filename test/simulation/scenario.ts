import fc from 'fast-check';
import type { Switches } from '../../src/sandbox/switches.js';
import { FAULTS, type Weather } from './network.js';
import { KINDS, type Kind } from './table.js';

/** Where a run is cut off: at the n-th event, write that took effect or milestone of its process, and so many events later. */
export interface Cut {
  readonly at: 'event' | 'commit' | 'milestone';
  readonly nth: number;
  readonly plus: number;
  /** `power`: what was not flushed is lost as well. `signal`: it is asked to stop, as by SIGTERM. */
  readonly how: 'kill' | 'power' | 'signal';
}

/** One step of a scenario. Runs of the same scenario import the same file. */
export type Step =
  | { readonly do: 'import'; readonly cut?: Cut | undefined }
  /** Takes up the latest run that did not finish; of one that did, the reports are written again. */
  | { readonly do: 'resume'; readonly cut?: Cut | undefined }
  /**
   * Takes up what failed, or was left unknown, in the latest run that has such rows; where there is none, in an import
   * during which nothing gets through for a minute, so many milliseconds after it began.
   */
  | { readonly do: 'retry'; readonly away: number; readonly cut?: Cut | undefined }
  | { readonly do: 'reconcile'; readonly apply: boolean; readonly cut?: Cut | undefined }
  /** Two machines import at once. The right of the first to write may end after so many milliseconds. */
  | { readonly do: 'two'; readonly apart: number; readonly loseAfter?: number | undefined }
  /** A run is delivered a second time while it works. */
  | { readonly do: 'again'; readonly after: number }
  /** Others edit records, at once and over the next runs. */
  | { readonly do: 'edit'; readonly records: number; readonly over: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'clock'; readonly ms: number }
  | { readonly do: 'full'; readonly after: number; readonly ms: number };

/** What is done once every run of the steps has come to its end, in the same weather. */
export type After =
  /** The run that wrote most is undone, or the undo before. */
  | (Meanwhile & {
      readonly do: 'undo';
      readonly of: 'run' | 'undo';
      /** Which field created records are given a value in. */
      readonly retire?: 'mapped' | 'unmapped' | undefined;
    })
  | (Meanwhile & { readonly do: 'export' })
  /** An editable file is exported, a person changes so many cells, and it is imported. */
  | (Meanwhile & { readonly do: 'edited'; readonly cells: number })
  /** The file is reconciled, and what it does not hold is retired. `approved`: by the plan of a run before that only reports. */
  | (Meanwhile & { readonly do: 'night'; readonly approved?: boolean });

/** Where it is cut off, and what others do meanwhile: records that they edit, add and remove, over so many milliseconds. */
export interface Meanwhile {
  readonly cut?: Cut | undefined;
  /** So many milliseconds later the file is imported once more beside it. */
  readonly beside?: number | undefined;
  readonly edits: number;
  readonly adds: number;
  readonly removes: number;
  readonly over: number;
}

export interface Scenario {
  /** Of everything that is not in the scenario: table, latencies, lots of faults. */
  readonly seed: number;
  readonly kind: Kind;
  readonly size: number;
  /** Records that the file does not mean. */
  readonly others: number;
  readonly blank: 'keep' | 'clear';
  readonly existing: 'update' | 'skip' | 'fail';
  readonly concurrency: number;
  readonly patienceMs: number;
  readonly switches: Partial<Switches>;
  readonly weather: Weather;
  readonly tokenChanges: readonly number[];
  readonly steps: readonly Step[];
  readonly after?: readonly After[];
}

export const cut = fc.record({
  at: fc.constantFrom('event' as const, 'commit' as const, 'milestone' as const),
  nth: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 150 }), fc.integer({ min: 1, max: 3_000 })),
  plus: fc.integer({ min: 0, max: 6 }),
  how: fc.constantFrom('kill' as const, 'power' as const, 'signal' as const),
});
export const maybeCut = fc.option(cut, { nil: undefined });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('import' as const), cut: maybeCut }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('resume' as const), cut: maybeCut }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('retry' as const),
      away: fc.integer({ min: 0, max: 4_000 }),
      cut: maybeCut,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('reconcile' as const), apply: fc.boolean(), cut: maybeCut }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('two' as const),
      apart: fc.integer({ min: 0, max: 5_000 }),
      loseAfter: fc.option(fc.integer({ min: 100, max: 30_000 }), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), after: fc.integer({ min: 0, max: 8_000 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('edit' as const),
      records: fc.integer({ min: 1, max: 20 }),
      over: fc.integer({ min: 0, max: 60_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 120_000 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('clock' as const), ms: fc.integer({ min: -7_200_000, max: 7_200_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('full' as const),
      after: fc.integer({ min: 0, max: 5_000 }),
      ms: fc.integer({ min: 100, max: 60_000 }),
    }),
  },
);

const meanwhile = {
  beside: fc.option(fc.integer({ min: 0, max: 3_000 }), { nil: undefined, freq: 3 }),
  edits: fc.constantFrom(0, 0, 5, 30),
  adds: fc.constantFrom(0, 0, 4, 30),
  removes: fc.constantFrom(0, 0, 4, 30),
  // Some within the one moment in which a list is read.
  over: fc.oneof(
    fc.integer({ min: 0, max: 200 }),
    fc.integer({ min: 0, max: 3_000 }),
    fc.integer({ min: 0, max: 60_000 }),
  ),
  cut: maybeCut,
};
const after: fc.Arbitrary<After> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('undo' as const),
      of: fc.constantFrom('run' as const, 'run' as const, 'undo' as const),
      retire: fc.constantFrom(undefined, 'mapped' as const, 'unmapped' as const),
      ...meanwhile,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('export' as const), ...meanwhile }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('edited' as const),
      cells: fc.integer({ min: 1, max: 60 }),
      ...meanwhile,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('night' as const), approved: fc.boolean(), ...meanwhile }),
  },
);

const weather: fc.Arbitrary<Weather> = fc
  .record({
    latency: fc.constantFrom<readonly [number, number]>([5, 40], [1, 2], [50, 2_000]),
    faulty: fc.constantFrom(0, 0.02, 0.1, 0.25),
    faults: fc.subarray([...FAULTS], { minLength: 1 }),
    maxRps: fc.constantFrom(undefined, undefined, undefined, 5, 40),
    outages: fc.array(
      fc.record({
        at: fc.integer({ min: 0, max: 200_000 }),
        ms: fc.integer({ min: 500, max: 90_000 }),
        how: fc.constantFrom('refused' as const, 'busy' as const, 'silent' as const),
      }),
      { maxLength: 2 },
    ),
  })
  .map(({ maxRps, ...rest }) => ({ ...rest, ...(maxRps === undefined ? {} : { maxRps }) }));

const switches: fc.Arbitrary<Partial<Switches>> = fc.record({
  filters: fc.constantFrom('exact' as const, 'contains' as const, 'ignore_case' as const, 'ignored' as const),
  responses: fc.constantFrom('full' as const, 'bare' as const),
  uniqueField: fc.constantFrom('rejects' as const, 'ignored' as const),
  omittedOnPut: fc.constantFrom('nulled' as const, 'kept' as const),
  errorFormat: fc.constantFrom(
    'fields' as const,
    'detail' as const,
    'errors' as const,
    'message' as const,
    'text' as const,
    'html' as const,
  ),
  probe: fc.constantFrom('answers' as const, 'ignored' as const, 'plain' as const),
  pastEnd: fc.constantFrom('not_found' as const, 'empty' as const),
  lag: fc.constantFrom(0, 0, 0, 300, 2_500),
  writeStatus: fc.constantFrom('default' as const, 200 as const, 204 as const),
  wraps: fc.boolean(),
});

/** `most`: rows of a file at the most. */
export function scenarios(most: number): fc.Arbitrary<Scenario> {
  const drawn = fc.record({
    seed: fc.nat({ max: 0x7fffffff }),
    kind: fc.constantFrom(...KINDS),
    size: fc.oneof(
      { weight: 4, arbitrary: fc.integer({ min: 1, max: 40 }) },
      { weight: 4, arbitrary: fc.integer({ min: 20, max: Math.max(20, Math.min(most, 300)) }) },
      { weight: 1, arbitrary: fc.integer({ min: 20, max: Math.max(20, most) }) },
    ),
    others: fc.constantFrom(0, 3, 30, 120),
    blank: fc.constantFrom('keep' as const, 'clear' as const),
    existing: fc.constantFrom(
      'update' as const,
      'update' as const,
      'update' as const,
      'skip' as const,
      'fail' as const,
    ),
    concurrency: fc.constantFrom(1, 4, 16),
    patienceMs: fc.constantFrom(3_000, 300_000),
    switches,
    weather,
    tokenChanges: fc.array(fc.integer({ min: 0, max: 120_000 }), { maxLength: 2 }),
    steps: fc.array(step, { minLength: 1, maxLength: 7 }),
    after: fc.array(after, { maxLength: 3 }),
  });
  return drawn.map(possible);
}

/** What the program does not promise is not asked of it. */
function possible(scenario: Scenario): Scenario {
  const { kind, switches: given, blank } = scenario;
  const keeps = given.omittedOnPut === 'kept';
  const guarded = kind === 'supplier';
  return {
    ...scenario,
    // Where a right is lost, a request of the one who had it may still be under way when the next one looks.
    steps: scenario.steps.map((one) => (one.do === 'two' && !guarded ? { ...one, loseAfter: undefined } : one)),
    // A service that keeps what a PUT leaves out cannot be made to clear a value: a run says so, and stops.
    blank: keeps ? 'keep' : blank,
    // Nor can a blank be put back there.
    after: (scenario.after ?? []).filter((one) => one.do !== 'undo' || !keeps),
    // Two runs at once that look up what the other has just written: a service whose lists lag must guard the key itself.
    switches: { ...given, lag: guarded ? (given.lag ?? 0) : 0 },
  };
}
