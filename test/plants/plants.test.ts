import { writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { linesOf, type Violation } from '../invariants/check.js';
import { type Plant, patched, plantedCopy } from './plant.js';
import { PLANTS } from './plants.js';
import { playScenario } from './scenario.js';
import { SCENARIOS } from './scenarios/all.js';
import { tableOf } from './table.js';

/**
 * `PLANTS=name,name` plays these alone. `PLANTS_EVERYWHERE=1` plays every plant in every scenario. `PLANTS_TABLE=path`
 * writes what caught what.
 */
const { PLANTS: names, PLANTS_EVERYWHERE: everywhere, PLANTS_TABLE: tablePath } = process.env;
const plants = PLANTS.filter(({ name }) => names === undefined || names.split(',').includes(name));
const found = new Map<string, Map<string, readonly Violation[]>>();

async function play(plant: Plant): Promise<ReadonlyMap<string, readonly Violation[]>> {
  const byScenario = new Map<string, readonly Violation[]>();
  found.set(plant.name, byScenario);
  const copy = await plantedCopy(plant);
  try {
    for (const scenario of SCENARIOS) {
      if (!everywhere && scenario.name !== plant.scenario) continue;
      byScenario.set(scenario.name, await playScenario(scenario, copy.dist));
    }
  } finally {
    await copy.remove();
  }
  return byScenario;
}

afterAll(() => {
  if (tablePath) writeFileSync(tablePath, tableOf(plants, found));
});

describe('a bug that is planted is caught', { timeout: everywhere ? 1_800_000 : 240_000 }, () => {
  it.concurrent.each(plants.map((plant) => [plant.name, plant] as const))('%s', async (_, plant) => {
    const byScenario = await play(plant);
    const lines = linesOf(byScenario.get(plant.scenario) ?? []);
    expect(lines).not.toEqual([]);
    // A plant that keeps the program from working at all proves nothing.
    expect(lines.join('\n')).not.toContain('this is a bug in rowferry');
  });
});

describe('the list of plants', () => {
  it('has at least 25, each with a name of its own and a scenario that there is', () => {
    expect(PLANTS.length).toBeGreaterThanOrEqual(25);
    expect(new Set(PLANTS.map(({ name }) => name)).size).toBe(PLANTS.length);
    const scenarios = SCENARIOS.map(({ name }) => name);
    expect(PLANTS.filter(({ scenario }) => !scenarios.includes(scenario))).toEqual([]);
  });

  it('refuses a place that is not there, or not once', () => {
    const patch = { file: 'a.js', find: 'b', replace: 'c' };
    expect(patched('abd', patch)).toBe('acd');
    expect(() => patched('ad', patch)).toThrow('"b" stands not in dist/a.js');
    expect(() => patched('abb', patch)).toThrow('2 times');
  });
});
