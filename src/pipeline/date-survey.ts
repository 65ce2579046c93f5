import type { SheetRow } from '../model/row.js';
import { trimText } from './cell-text.js';
import { numericReadings } from './date-text.js';
import { excerpt } from './nearest.js';

interface Sighting {
  readonly text: string;
  readonly row: number;
}

/**
 * Looks at a date column without stated formats. Dates with two readings are refused whatever this finds; the warning names the
 * format that other cells of the column show, so that the person can state it at once.
 */
export function surveyDates(
  column: { readonly heading: string; readonly index: number },
  sample: readonly SheetRow[],
): string | undefined {
  let open: Sighting | undefined;
  let count = 0;
  const shown = new Map<string, Sighting>();
  for (const { row, cells } of sample) {
    const cell = cells[column.index];
    if (typeof cell !== 'string' || cell === '') continue;
    const text = trimText(cell);
    const readings = numericReadings(text);
    const [first] = readings ?? [];
    if (!readings || !first) continue;
    if (readings.length > 1) {
      count++;
      open ??= { text, row };
    } else if (isTelling(text) && !shown.has(first.format)) shown.set(first.format, { text, row });
  }
  if (!open) return undefined;
  const refused = `"${excerpt(column.heading)}": in ${count} of the first ${sample.length} rows day and month cannot be told apart, as in ${cite(open)}; such rows are refused.`;
  const [only, ...others] = [...shown];
  if (!only) return `${refused} State the format in the job: \`dates: [dd/MM/yyyy]\`.`;
  return others.length === 0
    ? `${refused} Other rows, such as ${cite(only[1])}, are written \`${only[0]}\`: if all are, state \`dates: [${only[0]}]\` in the job.`
    : `${refused} Other rows show several formats: ${[only, ...others].map(([format, at]) => `\`${format}\` in ${cite(at)}`).join(', ')}.`;
}

/** Where day and month are the same number, either format fits. */
function isTelling(text: string): boolean {
  const [first, second] = text.split(/\D/);
  return Number(first) !== Number(second);
}

function cite({ text, row }: Sighting): string {
  return `"${excerpt(text)}" (row ${row})`;
}
