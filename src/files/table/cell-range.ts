/** Rows and columns of a sheet of a workbook. */
export const SHEET_ROWS = 1_048_576;
export const SHEET_COLUMNS = 16_384;

/** `A`, `B`, …, `AA`: the column of a 0-based position. */
export function columnName(index: number): string {
  let name = '';
  for (let n = index + 1; n > 0; n = Math.floor((n - 1) / 26)) {
    name = String.fromCharCode(65 + ((n - 1) % 26)) + name;
  }
  return name;
}

/** The 0-based position of a column: `A` is 0. */
export function columnAt(name: string): number {
  let at = 0;
  for (const letter of name) at = at * 26 + letter.charCodeAt(0) - 64;
  return at - 1;
}

/** A rectangle of cells: rows from 1, columns from 0, the last ones included. */
export interface CellRange {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** `B5:D5`; undefined for what is no range. */
export function rangeOf(name: string): CellRange | undefined {
  const parts = /^([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})$/.exec(name);
  if (!parts) return undefined;
  const [, left = '', top, right = '', bottom] = parts;
  return { top: Number(top), bottom: Number(bottom), left: columnAt(left), right: columnAt(right) };
}

export function rangeName({ top, bottom, left, right }: CellRange): string {
  return `${columnName(left)}${top}:${columnName(right)}${bottom}`;
}
