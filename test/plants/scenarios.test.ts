import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../invariants/check.js';
import { cliPath } from '../support/build.js';
import { playScenario } from './scenario.js';
import { SCENARIOS } from './scenarios/all.js';

describe('the program as it is keeps the promise', { timeout: 240_000 }, () => {
  it.concurrent.each(SCENARIOS.map((one) => [one.title, one] as const))('%s', async (_, scenario) => {
    const dist = dirname(dirname(await cliPath()));
    expect(linesOf(await playScenario(scenario, dist))).toEqual([]);
  });
});
