import type { SheetRow } from '../model/row.js';
import { type DecimalRule, HOW_TO_STATE, signShown, stripAmount } from './amount.js';
import { excerpt } from './nearest.js';

/** What a look at the first rows said about the decimal sign of a file. */
export interface DecimalSurvey {
  readonly rule: DecimalRule;
  readonly evidence?: string;
  readonly warning?: string;
}

interface Sighting {
  readonly text: string;
  readonly row: number;
  readonly heading: string;
}

/**
 * Decides `decimal: auto` for all number columns together: a cell such as `1.234,56` or `0,5` shows its sign, `1,234` does not.
 * Without any such cell `.` is taken as the decimal sign and `,` as the thousands sign.
 */
export function surveyDecimals(
  columns: readonly { readonly heading: string; readonly index: number }[],
  sample: readonly SheetRow[],
): DecimalSurvey {
  const seen: Record<'.' | ',' | 'open', { first?: Sighting; count: number }> = {
    '.': { count: 0 },
    ',': { count: 0 },
    open: { count: 0 },
  };
  for (const { row, cells } of sample) {
    for (const { heading, index } of columns) {
      const text = cells[index];
      if (typeof text !== 'string' || text === '') continue;
      const amount = stripAmount(text);
      const shown = amount && signShown(amount.body);
      if (shown === undefined || shown === 'none') continue;
      seen[shown].count++;
      seen[shown].first ??= { text, row, heading };
    }
  }
  const [dot, comma, open] = [seen['.'].first, seen[','].first, seen.open.first];
  if (dot && comma) {
    const why = `the file writes both ${cite(dot)} and ${cite(comma)}`;
    return {
      rule: { sign: 'each', why },
      warning: `The decimal sign could not be told: ${why}. Cells that can be read in one way only are imported, others such as 1,234 are refused. To settle it, ${HOW_TO_STATE}`,
    };
  }
  if (dot || comma) {
    const sign = dot ? '.' : ',';
    const first = (dot ?? comma)!;
    return {
      rule: { sign, why: `cells such as ${cite(first)} show it` },
      evidence: `The decimal sign is "${sign}": ${cite(first)}; ${seen[sign].count} ${seen[sign].count === 1 ? 'cell' : 'cells'} of the first ${sample.length} rows show it.`,
    };
  }
  return {
    rule: { sign: '.', why: `no cell of the first ${sample.length} rows shows another` },
    ...(open
      ? {
          warning: `No cell shows the decimal sign for certain. "." is taken as the decimal sign and "," as the thousands sign, so ${cite(open)} is read as ${open.text.includes(',') ? 'a whole number' : 'a decimal number'}. If that is wrong, ${HOW_TO_STATE}`,
        }
      : {}),
  };
}

function cite({ text, row, heading }: Sighting): string {
  return `"${excerpt(text)}" (row ${row}, ${excerpt(heading)})`;
}
