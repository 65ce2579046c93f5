import { type Cell, type SheetRow, shownText } from '../../model/row.js';

/** Amounts as millionths, so that sums are exact; undefined where the text is no plain amount. */
interface Readings {
  /** With `.` as the decimal sign. */
  readonly point: bigint | undefined;
  /** With `,` as the decimal sign. */
  readonly comma: bigint | undefined;
}

const DIGITS = 6;

function readings(cell: Cell | undefined): Readings | undefined {
  if (cell === undefined || cell === '') return undefined;
  if (typeof cell === 'object' && cell.t === 'n') {
    const value = millionths(cell.value, '.');
    return value === undefined ? undefined : { point: value, comma: value };
  }
  const text = shownText(cell).replace(/[\s\u00a0\u202f'’]|\p{Sc}|\b[A-Z]{3}\b/gu, '');
  if (!/^\(?[-+−]?[\d.,]*\d[.,]?-?\)?$/.test(text)) return undefined;
  const negative = /^\(|[-−]/.test(text);
  const body = text.replace(/[()+−-]/g, '');
  const [point, comma] = [millionths(body, '.'), millionths(body, ',')];
  if (point === undefined && comma === undefined) return undefined;
  const signed = (value: bigint | undefined) => (value === undefined || !negative ? value : -value);
  return { point: signed(point), comma: signed(comma) };
}

/** Groups of digits are parted by the other mark, in front of the decimal sign only. */
const PLAIN = {
  '.': /^(-?)(\d{1,30}|\d{1,3}(?:,\d{2,3})+)?(?:\.(\d{0,20}))?$/,
  ',': /^(-?)(\d{1,30}|\d{1,3}(?:\.\d{2,3})+)?(?:,(\d{0,20}))?$/,
};

function millionths(text: string, sign: '.' | ','): bigint | undefined {
  const parts = PLAIN[sign].exec(text);
  if (!parts) return undefined;
  const whole = (parts[2] ?? '0').replace(/\D/g, '');
  const value = BigInt(whole + (parts[3] ?? '').padEnd(DIGITS, '0').slice(0, DIGITS));
  return parts[1] ? -value : value;
}

/**
 * Columns in which a row holds the sum of the rows before it, rounded to the digits the row shows. At least two amounts
 * must add up, and the sum must not be 0. Reads `rows` once.
 * @param outside numbers of rows that do not count: the footer itself, subtotals
 */
export async function sumColumns(
  total: SheetRow,
  rows: AsyncIterable<readonly SheetRow[]> | Iterable<readonly SheetRow[]>,
  outside: ReadonlySet<number>,
): Promise<readonly number[]> {
  const wanted = total.cells.flatMap((cell, index) => {
    const found = readings(cell);
    if (!found) return [];
    const sums: { point: bigint | undefined; comma: bigint | undefined } = { point: 0n, comma: 0n };
    return [{ index, found, slack: slackOf(cell), sums, count: 0 }];
  });
  for await (const batch of rows) {
    for (const { row, cells } of batch) {
      if (row >= total.row || outside.has(row)) continue;
      for (const column of wanted) {
        const one = readings(cells[column.index]);
        if (!one) continue;
        column.count++;
        column.sums.point = plus(column.sums.point, one.point);
        column.sums.comma = plus(column.sums.comma, one.comma);
      }
    }
  }
  return wanted.flatMap(({ index, found, slack, sums, count }) => {
    const isSum = (sum: bigint | undefined, stated: bigint | undefined) =>
      sum !== undefined && stated !== undefined && stated !== 0n && sum - stated <= slack && stated - sum <= slack;
    return count >= 2 && (isSum(sums.point, found.point) || isSum(sums.comma, found.comma)) ? [index] : [];
  });
}

/** A column has a sum only where every amount of it can be read. */
const plus = (a: bigint | undefined, b: bigint | undefined) => (a === undefined || b === undefined ? undefined : a + b);

/** Half a unit of the last digit shown, in millionths. */
function slackOf(cell: Cell | undefined): bigint {
  const digits = Math.min(DIGITS, /[.,](\d{1,2})\D*$/.exec(shownText(cell))?.[1]?.length ?? 0);
  return 10n ** BigInt(DIGITS - digits) / 2n;
}
