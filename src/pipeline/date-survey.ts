import type { SheetRow } from '../model/row.js';
import { trimText } from './cell-text.js';
import { type DateOrder, type DateOrders, numericReadings, writingOf } from './date-text.js';
import { excerpt } from './nearest.js';

interface Sighting {
  readonly text: string;
  readonly row: number;
}

/** What the cells of a date column say about the order of day and month. */
export interface DateSurvey {
  /** The orders that are proven. */
  readonly orders: DateOrders;
  /** What spoke for them, one sentence each. */
  readonly evidence: readonly string[];
  /** Where dates stay in doubt: which, and the format that other cells show. */
  readonly warnings: readonly string[];
}

/** Fewer cells than these prove nothing: a few dates may have been typed in another way than the rest. */
const PROOF = 5;
const PROOF_SHARE = 0.1;

/** Dates of one way of writing, e.g. `//yyyy`. */
interface Group {
  count: number;
  /** Cells that can be read in several ways. */
  open: number;
  firstOpen: Sighting | undefined;
  /** By format, the cells that fit it alone. */
  readonly shown: Map<string, { count: number; first: Sighting }>;
}

/**
 * Looks at a date column without stated formats. Where at least 5 cells and a tenth of the dates of one way of writing can
 * be read in one order only, such as 25/12/2024, and none in the other, that order is proven for the rest of them.
 * Otherwise dates with two readings are refused, and the warning names the format that other cells show, if any.
 */
export function surveyDateOrder(
  column: { readonly heading: string; readonly index: number },
  sample: readonly SheetRow[],
): DateSurvey {
  const groups = groupsOf(column.index, sample);
  const orders = new Map<string, DateOrder>();
  const evidence: string[] = [];
  const warnings: string[] = [];
  for (const [writing, group] of groups) {
    if (!group.firstOpen) continue;
    const [only, ...others] = [...group.shown];
    const proven = only && others.length === 0 && only[1].count >= PROOF && only[1].count >= group.count * PROOF_SHARE;
    if (proven && /^[dM]/.test(only[0])) {
      const [format, { count, first }] = only;
      const which = `of ${group.count} dates in the first ${sample.length} rows ${count} can be read in this order only, such as ${cite(first)}, and none in the other`;
      orders.set(writing, { first: format.startsWith('d') ? 'd' : 'M', why: which });
      evidence.push(
        `"${excerpt(column.heading)}": dates such as ${cite(group.firstOpen)} are read as \`${format}\`: ${which}.`,
      );
    } else warnings.push(doubt(column.heading, group, group.firstOpen, sample.length));
  }
  return { orders, evidence, warnings };
}

function groupsOf(index: number, sample: readonly SheetRow[]): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const { row, cells } of sample) {
    const cell = cells[index];
    if (typeof cell !== 'string' || cell === '') continue;
    const text = trimText(cell);
    const readings = numericReadings(text);
    const [first] = readings ?? [];
    if (!readings || !first) continue;
    const writing = writingOf(first.format);
    const group = groups.get(writing) ?? { count: 0, open: 0, firstOpen: undefined, shown: new Map() };
    groups.set(writing, group);
    group.count++;
    if (readings.length > 1) {
      group.open++;
      group.firstOpen ??= { text, row };
    } else if (isTelling(text)) {
      const shown = group.shown.get(first.format);
      if (shown) shown.count++;
      else group.shown.set(first.format, { count: 1, first: { text, row } });
    }
  }
  return groups;
}

function doubt(heading: string, { open, shown }: Group, first: Sighting, rows: number): string {
  const refused = `"${excerpt(heading)}": in ${open} of the first ${rows} rows day and month cannot be told apart, as in ${cite(first)}; such rows are refused.`;
  const [only, ...others] = [...shown];
  if (!only) return `${refused} State the format in the job: \`dates: [dd/MM/yyyy]\`.`;
  return others.length === 0
    ? `${refused} Other rows, such as ${cite(only[1].first)}, are written \`${only[0]}\`: if all are, state \`dates: [${only[0]}]\` in the job.`
    : `${refused} Other rows show several formats: ${[only, ...others].map(([format, at]) => `\`${format}\` in ${at.count} such as ${cite(at.first)}`).join(', ')}.`;
}

/** Where day and month are the same number, either format fits. */
function isTelling(text: string): boolean {
  const [first, second] = text.split(/\D/);
  return Number(first) !== Number(second);
}

function cite({ text, row }: Sighting): string {
  return `"${excerpt(text)}" (row ${row})`;
}
