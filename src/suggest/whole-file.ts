import type { SheetRow } from '../model/row.js';
import { surveyDecimals } from '../pipeline/decimal-sign.js';
import type { Assigned } from './assign.js';
import type { Suggestion } from './suggestion.js';

/**
 * The formats to state for the whole file: those of its date columns where all agree that state any, and no other date
 * column holds text. Otherwise each column states its own, and this is empty.
 */
export function sharedDates(assigned: readonly Assigned[]): readonly string[] {
  const columns = assigned.flatMap(({ mapped, column }) => {
    const text = column.sampled.cells.some(({ cell }) => typeof cell === 'string');
    return mapped?.fit.dates && text ? [mapped.fit.dates] : [];
  });
  const [first, ...others] = columns;
  if (!first || first.formats.length === 0) return [];
  const same = others.every(
    ({ formats }) =>
      formats.length === first.formats.length && formats.every((format) => first.formats.includes(format)),
  );
  return same ? first.formats : [];
}

/** The decimal sign of the amounts of the file; `sign` is undefined where the columns differ or none shows it. */
export function decimalOf(assigned: readonly Assigned[], sample: readonly SheetRow[]): Suggestion['decimal'] {
  const columns = assigned.flatMap(({ mapped, column }) =>
    mapped && mapped.field.type.kind === 'decimal' ? [column.sampled] : [],
  );
  if (columns.length === 0) return undefined;
  const { rule, evidence, warning } = surveyDecimals(columns, sample);
  if (evidence !== undefined && rule.sign !== 'each') return { sign: rule.sign, why: looked(evidence) };
  return warning === undefined ? undefined : { sign: undefined, why: looked(warning) };
}

/** The rows looked at are spread over the file. */
function looked(text: string): string {
  return text.replace(/of the first (\d+) rows/, 'of the $1 rows looked at');
}
