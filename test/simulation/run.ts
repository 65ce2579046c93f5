import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { installDisk } from './disk.js';
import { installMachine } from './machine.js';
import { type Scenario, scenarios } from './scenario.js';
import type { WorkerScenario } from './workers.js';
import type { Played } from './world.js';

/**
 * Plays scenarios until so many rows have been simulated, or time is up. Each line on stdout is a JSON object: `violation` for each
 * scenario that broke a promise, `progress` now and then, `total` at the end.
 *
 *   --seed S        the first scenario is that of seed S, the next that of S + 1 …
 *   --rows N        stop after so many rows       --seconds N   stop after so many seconds
 *   --only N        play so many scenarios        --most N      rows of a file at the most
 *   --file PATH     play the scenarios of a list  --shrink N    seconds for making a violating scenario smaller
 *   --verbose       a line for every scenario
 *   --workers       worlds of two workers on a queue and a drop folder
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    rows: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
    most: { type: 'string', default: '600' },
    file: { type: 'string' },
    shrink: { type: 'string', default: '0' },
    verbose: { type: 'boolean', default: false },
    workers: { type: 'boolean', default: false },
  },
});

installMachine();
installDisk();
const { leave } = await import('./world.js');
const { play } = await import('./play.js');
const { playWorkers, workerScenarios } = await import('./workers.js');
// What runs load on their way: to load it takes true time, in which the simulated world would stand still.
await Promise.all([
  import('../../src/files/csv/read.js'),
  import('../../src/report/reconcile/workbook.js'),
  import('../../src/files/ndjson.js'),
  import('../../src/runs/reconcile.js'),
  import('csv-parse/sync'),
]);

interface Listed {
  readonly scenario?: Scenario;
  readonly workers?: WorkerScenario;
}

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'rowferry-sim-'));
const sums = { scenarios: 0, runs: 0, kills: 0, rows: 0, commits: 0, events: 0, violating: 0 };
const began = performance.now();
const seconds = () => (performance.now() - began) / 1000;

function count(played: Played): void {
  sums.scenarios++;
  sums.runs += played.runs;
  sums.kills += played.kills;
  sums.rows += played.rows;
  sums.commits += played.commits;
  sums.events += played.events;
}

/** Scenarios of a kind: how one is drawn, and played. */
interface Game<S> {
  readonly drawn: fc.Arbitrary<S>;
  play(scenario: S): Promise<Played>;
}
const ofRuns: Game<Scenario> = {
  drawn: scenarios(Number(values.most)),
  play: (scenario) => safely(() => play(scenario, folder)),
};
const ofWorkers: Game<WorkerScenario> = {
  drawn: workerScenarios,
  play: (scenario) => safely(() => playWorkers(scenario, folder)),
};

/** A fault of the simulation itself is a violation, too, and leaves nothing behind. */
async function safely(playing: () => Promise<Played>): Promise<Played> {
  try {
    return await playing();
  } catch (error) {
    const text = String((error as Error).stack ?? error);
    const nothing = { rows: 0, runs: 0, kills: 0, events: 0, ms: 0, commits: 0, digest: '' };
    return { violations: [{ rule: 'simulation', text }], ...nothing };
  } finally {
    leave();
  }
}

async function one<S>(seed: number, game: Game<S>): Promise<void> {
  let last: { scenario: S; played: Played } | undefined;
  const property = fc.asyncProperty(game.drawn, async (scenario) => {
    const played = await game.play(scenario);
    last ??= { scenario, played };
    return played.violations.length === 0;
  });
  await fc.check(property, { seed, numRuns: 1, endOnFailure: true });
  if (!last) return;
  count(last.played);
  const { violations, ...facts } = last.played;
  if (values.verbose) say({ kind: 'scenario', seed, ...facts });
  if (violations.length === 0) return;
  sums.violating++;
  say({ kind: 'violation', seed, violations: violations.slice(0, 8), scenario: last.scenario });
  if (Number(values.shrink) > 0) await shrink(seed, game);
}

/** The smallest scenario found that breaks the same rule. */
async function shrink<S>(seed: number, game: Game<S>): Promise<void> {
  let least: { scenario: S; played: Played } | undefined;
  let rule: string | undefined;
  const property = fc.asyncProperty(game.drawn, async (scenario) => {
    const played = await game.play(scenario);
    rule ??= played.violations[0]?.rule;
    if (!played.violations.some((one) => one.rule === rule)) return true;
    least = { scenario, played };
    return false;
  });
  const interruptAfterTimeLimit = Number(values.shrink) * 1000;
  await fc.check(property, { seed, numRuns: 1, interruptAfterTimeLimit });
  if (least) say({ kind: 'smallest', seed, violations: least.played.violations.slice(0, 8), scenario: least.scenario });
}

try {
  if (values.file !== undefined) {
    const listed = JSON.parse(readFileSync(values.file, 'utf8')) as readonly Listed[];
    for (const [index, { scenario, workers }] of listed.entries()) {
      const played = await (workers ? ofWorkers.play(workers) : ofRuns.play(scenario as Scenario));
      count(played);
      if (played.violations.length > 0) sums.violating++;
      say({ kind: 'played', index, ...played, violations: played.violations.slice(0, 8) });
    }
  } else {
    const most = Number(values.only ?? Number.POSITIVE_INFINITY);
    const rows = Number(values.rows ?? Number.POSITIVE_INFINITY);
    const limit = Number(values.seconds ?? Number.POSITIVE_INFINITY);
    let told = 0;
    for (let n = 0; n < most && sums.rows < rows && seconds() < limit; n++) {
      const seed = Number(values.seed) + n;
      await (values.workers ? one(seed, ofWorkers) : one(seed, ofRuns));
      if (seconds() - told < 10) continue;
      told = seconds();
      say({ kind: 'progress', seed, ...sums, seconds: Math.round(told) });
    }
  }
  say({ kind: 'total', seed: Number(values.seed), ...sums, seconds: Number(seconds().toFixed(1)) });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = sums.violating > 0 ? 1 : 0;
