import { nearestNames } from '../pipeline/map/headings.js';

/** `, did you mean \`columns\`?`, or '' where no name is near. */
export function didYouMean(text: string, names: Iterable<string>): string {
  const [near] = nearestNames(text, names);
  return near === undefined ? '' : `, did you mean \`${near}\`?`;
}
