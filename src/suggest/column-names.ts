import { columnName } from '../files/table/cell-range.js';
import { foldText } from '../model/value.js';
import { indexHeadings, isOwnHeading } from '../pipeline/map/headings.js';

/** As a job names the columns of these headings; undefined where none can. */
export function columnNames(headings: readonly string[]): (string | undefined)[] {
  const { positions } = indexHeadings(headings);
  const seen = new Map<string, number>();
  return headings.map((heading, index) => {
    const folded = foldText(heading);
    const nth = (seen.get(folded) ?? 0) + 1;
    seen.set(folded, nth);
    if (isOwnHeading(heading) || heading === '__proto__') return undefined;
    const plain = heading.replace(/\s+/gu, ' ').trim();
    const name = folded === '' ? columnName(index) : positions(heading).length > 1 ? `${plain} #${nth}` : plain;
    // Another column may bear the very name.
    const [found, other] = positions(name);
    return found === index && other === undefined ? name : undefined;
  });
}
