import type { SourceOptions } from '../model/source.js';

/** What a job states about files of other formats: one job may serve for several, so it is said and left at that. */
export function withoutMeaning(
  options: SourceOptions,
  names: readonly (keyof SourceOptions)[],
  what: string,
): string[] {
  return names
    .filter((name) => options[name] !== undefined && options[name] !== 'auto')
    .map((name) => `source.${name} is stated; ${what} has none, so it has no meaning here.`);
}
