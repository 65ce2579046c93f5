import { type Cell, type SheetRow, shownText } from '../model/row.js';
import { trimText } from '../pipeline/cell-text.js';

/** The cells of one column in the sample, blank ones left out. */
export interface SampledColumn {
  readonly heading: string;
  readonly index: number;
  readonly cells: readonly SampledCell[];
}

export interface SampledCell {
  readonly row: number;
  /** Text is trimmed. */
  readonly cell: Cell;
  readonly text: string;
}

export function sampledColumn(heading: string, index: number, sample: readonly SheetRow[]): SampledColumn {
  const cells: SampledCell[] = [];
  for (const { row, cells: all } of sample) {
    const cell = all[index];
    if (cell === undefined) continue;
    const trimmed = typeof cell === 'string' ? trimText(cell) : cell;
    if (trimmed === '') continue;
    cells.push({ row, cell: trimmed, text: shownText(trimmed) });
  }
  return { heading, index, cells };
}

export type Shape = 'email' | 'url' | 'phone' | 'number' | 'date' | 'text';

const EMAIL = /^[^\s@<>(),;]+@[^\s@<>(),;.]+(?:\.[^\s@<>(),;.]+)+$/u;
const URL_LIKE = /^(?:https?:\/\/|www\.)\S+$|^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,12}(?:\/\S*)?$/i;
const PHONE = /^(?:\+|00|\()?[\d\s().\-/+]{5,24}(?:\s*(?:ext|x|ext\.|extn|durchwahl)\.?\s*\d{1,6})?$/i;
const DATE = /^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T].*)?$/;
const NUMBER = /^[^\p{L}\p{N}]{0,3}\d[\d.,' ]*[^\p{L}\p{N}]{0,3}$/u;

/** What a text looks like, the narrowest first. */
export function shapeOf(text: string): Shape {
  if (text.length > 300) return 'text';
  if (EMAIL.test(text)) return 'email';
  if (DATE.test(text)) return 'date';
  if (isPhone(text)) return 'phone';
  if (NUMBER.test(text)) return 'number';
  return URL_LIKE.test(text) ? 'url' : 'text';
}

/** Written like a telephone number: enough digits, and marks that amounts do not have, or a leading zero or plus. */
function isPhone(text: string): boolean {
  if (!PHONE.test(text)) return false;
  const digits = text.replace(/\D/g, '').length;
  return digits >= 6 && digits <= 20 && /^[+(0]|[\s()\-/]/.test(text) && !/^\d{1,3}([ .]\d{3})+$/.test(text);
}

/** A telephone number may also be typed as digits alone. */
export function mayBePhone(text: string): boolean {
  return isPhone(text) || (/^\d{6,15}$/.test(text) && !DATE.test(text));
}

/** Cells of one shape among all; `share` is 0 where there are none. */
export function shareOf(column: SampledColumn, test: (cell: SampledCell) => boolean): { count: number; share: number } {
  let count = 0;
  for (const cell of column.cells) if (test(cell)) count++;
  return { count, share: column.cells.length === 0 ? 0 : count / column.cells.length };
}

/** Whole numbers that go up by the same step from 0 or 1 on: the numbers of the rows, not of the records. */
export function countsRows(column: SampledColumn): boolean {
  const numbers = column.cells.slice(0, 200).map(({ text }) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN));
  if (numbers.length < 3 || numbers[0]! > 1) return false;
  const step = numbers[1]! - numbers[0]!;
  return step > 0 && numbers.every((number, at) => at === 0 || number - numbers[at - 1]! === step);
}
