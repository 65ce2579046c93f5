import { describe, it } from 'vitest';
import { DEFAULT_SWITCHES } from '../../src/sandbox/index.js';
import { type Combination, FACTORS } from './factors.js';
import { allPairs } from './pairs.js';
import { tryOut } from './trial.js';

const DEFAULTS: Combination = { sheet: 'asset, unique_field', more: 500, ...DEFAULT_SWITCHES, responses: 'bare' };

/** What differs from the defaults, for the title of a test. */
function titleOf(combination: Combination): string {
  const differs = Object.entries(combination).filter(([name, value]) => value !== DEFAULTS[name as keyof Combination]);
  return differs.map(([name, value]) => `${name}=${value}`).join(' ') || 'the defaults';
}

const cases = (combinations: readonly Combination[]) => combinations.map((one) => [titleOf(one), one] as const);

describe.concurrent('the import, whatever the service makes of what its interface leaves open', () => {
  it.each(cases(FACTORS.sheet.map((sheet) => ({ ...DEFAULTS, sheet }))))('with the defaults, %s (27, 28)', (_, one) =>
    tryOut(one),
  );

  const deviations = Object.entries(FACTORS).flatMap(([name, values]) =>
    values
      .filter((value) => name !== 'sheet' && value !== DEFAULTS[name as keyof Combination])
      .map((value) => ({ ...DEFAULTS, [name]: value }) as Combination),
  );
  it.each(cases(deviations))('with %s alone (27, 28)', (_, one) => tryOut(one));

  describe('any two of them together', () => {
    it.each(cases(allPairs(FACTORS, 6)))('with %s (27, 28)', (_, one) => tryOut(one));
  });
});
