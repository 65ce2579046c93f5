import { SWITCH_VALUES, type Switches } from '../../src/sandbox/index.js';
import type { Choice, Factors } from './pairs.js';

/** Numbers that a switch is tried with; every other switch is tried with all its values. */
const NUMBERS = { lag: [0, 90], cutsText: [0, 30] } as const;

const tried = <Name extends keyof Switches>(name: Name): readonly Switches[Name][] => {
  const values = SWITCH_VALUES[name];
  return values === 'number'
    ? (NUMBERS[name as keyof typeof NUMBERS] as readonly unknown[] as readonly Switches[Name][])
    : (values as readonly unknown[] as readonly Switches[Name][]);
};

/** Everything that is combined: what is imported, into how long a list, and each switch of the service. */
export const FACTORS = {
  sheet: ['asset, unique_field', 'asset', 'contract', 'supplier'],
  /** Records there besides: a long list is asked by filter and probe. */
  more: [0, 500],
  ...(Object.fromEntries(
    (Object.keys(SWITCH_VALUES) as (keyof Switches)[]).map((name) => [name, tried(name)]),
  ) as unknown as { readonly [Name in keyof Switches]: readonly Switches[Name][] }),
} as const satisfies Factors;

export type Combination = Choice<typeof FACTORS>;

export function switchesOf({ sheet: _sheet, more: _more, ...switches }: Combination): Switches {
  return switches;
}
