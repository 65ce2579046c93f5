import type { Violation } from '../invariants/check.js';
import type { Plant } from './plant.js';

/** Rules that are no invariants: by what else a plant may show. */
const LAYERS: Readonly<Record<string, string>> = {
  outcome: 'another outcome than the only right one',
  traffic: 'what the service saw',
  run: 'a crash, a wrong exit code, no report',
};

type Found = ReadonlyMap<string, ReadonlyMap<string, readonly Violation[]>>;

/** What caught what, as a Markdown table; the scenario that is named by the plant comes first. */
export function tableOf(plants: readonly Plant[], found: Found): string {
  const lines = plants.map((plant) => {
    const byScenario = found.get(plant.name) ?? new Map<string, readonly Violation[]>();
    const own = byScenario.get(plant.scenario) ?? [];
    const rules = [...new Set(own.map(({ rule }) => rule))];
    const invariants = rules.filter((rule) => !(rule in LAYERS));
    const layers = rules.filter((rule) => rule in LAYERS);
    const others = [...byScenario]
      .filter(([name, all]) => name !== plant.scenario && all.length > 0)
      .map(([name]) => name);
    const cells = [plant.name, plant.scenario, invariants.join(', '), layers.join(', '), others.join(', ')];
    return `| ${cells.map((cell) => cell || '–').join(' | ')} |`;
  });
  const legend = Object.entries(LAYERS).map(([layer, words]) => `\`${layer}\`: ${words}`);
  return [
    '| plant | scenario | invariants that catch it | also seen by | other scenarios |',
    '|---|---|---|---|---|',
    ...lines,
    '',
    `${legend.join(' · ')}`,
    '',
  ].join('\n');
}
