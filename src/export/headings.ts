import { foldText } from '../pipeline/headings.js';
import type { ExportColumn } from './column.js';

/** A column that has no heading yet: it gets the first of these that is free. */
export type Unheaded = Omit<ExportColumn, 'heading'> & { readonly headings: readonly [string, ...string[]] };

/** Gives columns their headings: unique without regard to case, blanks and Unicode form, as imports compare them. */
export interface Headings {
  give(column: Unheaded): ExportColumn;
}

/** `columns`: those that have their headings already. */
export function headingsOf(columns: readonly ExportColumn[]): Headings {
  const taken = new Set(columns.map(({ heading }) => foldText(heading)));
  return {
    give({ headings, ...column }) {
      // A blank heading is no heading.
      const named = headings.filter((heading) => foldText(heading) !== '');
      const last = named.at(-1) ?? 'unnamed';
      let heading = named.find((one) => !taken.has(foldText(one))) ?? last;
      for (let number = 2; taken.has(foldText(heading)); number++) heading = `${last} (${number})`;
      taken.add(foldText(heading));
      return { ...column, heading };
    },
  };
}
