import type { ColumnTarget, RowsJob } from '../model/job.js';
import type { SheetRow } from '../model/row.js';
import type { SourceMeta } from '../model/source.js';
import type { ResourceSpec } from '../resources/spec.js';
import type { Catalogue } from './custom-names.js';
import { foldText, indexHeadings, isOwnHeading } from './headings.js';
import { findTarget, type Target } from './targets.js';

export interface MappingInput {
  readonly job: RowsJob;
  readonly meta: SourceMeta;
  readonly spec: ResourceSpec;
  readonly catalogue: Catalogue;
  /** The first rows of the file: they show the decimal sign and how dates are written. */
  readonly sample: readonly SheetRow[];
  /** The rows were handed over as JSON: none of them need have every key. */
  readonly jsonRows?: boolean;
}

/** A column whose field is found. `index`: -1 where the file may lack the heading, and does. */
export interface Placed extends Target {
  readonly heading: string;
  readonly index: number;
  readonly options: ColumnTarget;
  /** The key in the job file. */
  readonly where: string;
}

/** What a column of the job sets, also where the file lacks the heading. */
export type Meant = Pick<Placed, 'field' | 'where'>;

/** How many headings a file must have for a job, and how many of them it lacks. */
export function headingsNeeded({ columns }: RowsJob, headings: readonly string[]): { needed: number; missing: number } {
  const there = new Set(headings.map(foldText));
  const needed = Object.entries(columns).flatMap(([heading, target]) =>
    target === null || (typeof target !== 'string' && target.optional) ? [] : [foldText(heading)],
  );
  return { needed: needed.length, missing: needed.filter((heading) => !there.has(heading)).length };
}

/** Finds heading and field of every mapped column, and the headings nobody speaks of. */
export function place(
  { job, meta, spec, catalogue, jsonRows = false }: MappingInput,
  problems: string[],
): { placed: Placed[]; unmapped: string[]; meant: Meant[] } {
  const headings = indexHeadings(meta.headings);
  const placed: Placed[] = [];
  const meant: Meant[] = [];
  const spokenOf = new Map<string, string>();
  for (const [heading, target] of Object.entries(job.columns)) {
    const where = `columns.${heading}`;
    const before = spokenOf.get(foldText(heading));
    if (before !== undefined)
      problems.push(`${where}: the same heading as "${before}" but for case and blanks; delete one of them`);
    spokenOf.set(foldText(heading), heading);
    if (target === null || before !== undefined) continue;
    const options = typeof target === 'string' ? { field: target } : target;
    const found = findTarget(options.field, job, spec, catalogue);
    if ('problem' in found) problems.push(`${where}: ${found.problem}`);
    else meant.push({ field: found.field, where });
    const [index, ...further] = headings.positions(heading);
    if (isOwnHeading(heading))
      problems.push(`${where}: columns whose heading begins with "_" are never imported; rename the heading`);
    else if (index === undefined) {
      if (!jsonRows && !options.optional)
        problems.push(
          `${where}: the file has no such heading; ${headings.missing(heading)} Correct the heading, delete this line from the job, or give it \`optional: true\`.`,
        );
      else if (!('problem' in found)) placed.push({ ...found, heading, index: -1, options, where });
    } else if (further.length > 0) {
      const places = [index, ...further].map((at) => `"${meta.headings[at]?.trim()}" (column ${at + 1})`);
      problems.push(
        `${where}: several columns of the file have this heading: ${places.join(', ')}; rename or delete all but one`,
      );
    } else if (!('problem' in found)) placed.push({ ...found, heading: meta.headings[index]!, index, options, where });
  }
  const unmapped = meta.headings.filter((heading) => {
    const folded = foldText(heading);
    return folded !== '' && !folded.startsWith('_') && !spokenOf.has(folded);
  });
  return { placed, meant, unmapped: [...new Set(unmapped)] };
}
