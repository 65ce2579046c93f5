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
 * Cells that show both signs decide nothing: then only cells with one reading are read; neither do some such as `12,5` among
 * more such as `1,234`, which are whole numbers if those few are mistyped. Without any cell that shows its
 * sign, `1,234` is a whole number, as nobody writes amounts with three decimals in every cell; `1.234` may be either, so
 * it is refused.
 */
export function surveyDecimals(
  columns: readonly { readonly heading: string; readonly index: number }[],
  sample: readonly SheetRow[],
): DecimalSurvey {
  const seen: Record<'.' | ',' | 'open' | 'none', { first?: Sighting; count: number }> = {
    '.': { count: 0 },
    ',': { count: 0 },
    open: { count: 0 },
    none: { count: 0 },
  };
  let openPoint: Sighting | undefined;
  /** Cells such as `1.234,5` show their sign by two marks: no slip of the finger does. */
  let certain = false;
  /** Cells such as `1,234`, by their mark. */
  const marked: Record<'.' | ',', { first?: Sighting; count: number }> = { '.': { count: 0 }, ',': { count: 0 } };
  for (const { row, cells } of sample) {
    for (const { heading, index } of columns) {
      const text = cells[index];
      if (typeof text !== 'string' || text === '') continue;
      const amount = stripAmount(text);
      const shown = amount && signShown(amount.body);
      if (shown === undefined) continue;
      seen[shown].count++;
      seen[shown].first ??= { text, row, heading };
      certain ||= shown !== 'open' && shown !== 'none' && /\d[.,' ]\d{2,3}[.,]\d|(?:[.,]\d{2,3}){2}/.test(amount!.body);
      if (shown !== 'open') continue;
      const mark = text.includes('.') ? '.' : ',';
      marked[mark].count++;
      marked[mark].first ??= { text, row, heading };
      if (mark === '.') openPoint ??= { text, row, heading };
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
  const amounts = seen['.'].count + seen[','].count + seen.open.count + seen.none.count;
  if (dot || comma) {
    const sign = dot ? '.' : ',';
    const first = (dot ?? comma)!;
    const { count } = seen[sign];
    const { first: doubted, count: alike } = marked[sign];
    if (doubted && !certain && alike > count) {
      const cells = `${count} ${count === 1 ? 'cell' : 'cells'}`;
      const why = `only ${cells} of the first ${sample.length} rows, such as ${cite(first)}, ${count === 1 ? 'shows' : 'show'} "${sign}" as the decimal sign, and ${cite(doubted)} may be a whole or a decimal number`;
      return {
        rule: { sign: 'each', why },
        warning: `The decimal sign could not be told: ${why}. Cells that can be read in one way only are imported, others such as ${doubted.text.trim()} are refused. To settle it, ${HOW_TO_STATE}`,
      };
    }
    const silent = amounts - count;
    const others = silent === 0 ? '' : `, ${silent} ${silent === 1 ? 'says' : 'say'} nothing`;
    return {
      rule: { sign, why: `cells such as ${cite(first)} show it` },
      evidence: `The decimal sign is "${sign}": ${cite(first)}; ${count} ${count === 1 ? 'cell' : 'cells'} of the first ${sample.length} rows ${count === 1 ? 'shows' : 'show'} it${others}.`,
    };
  }
  if (openPoint) {
    const why = `no cell of the first ${sample.length} rows shows the decimal sign, and ${cite(openPoint)} may be a whole or a decimal number`;
    return {
      rule: { sign: 'each', why },
      warning: `The decimal sign could not be told: ${why}. Cells that can be read in one way only are imported, others such as ${openPoint.text.trim()} are refused. To settle it, ${HOW_TO_STATE}`,
    };
  }
  return {
    rule: { sign: '.', why: `no cell of the first ${sample.length} rows shows another` },
    ...(open
      ? {
          warning: `No cell shows the decimal sign for certain. "." is taken as the decimal sign and "," as the thousands sign, so ${cite(open)} is read as a whole number. If that is wrong, ${HOW_TO_STATE}`,
        }
      : {}),
  };
}

function cite({ text, row, heading }: Sighting): string {
  return `"${excerpt(text)}" (row ${row}, ${excerpt(heading)})`;
}
