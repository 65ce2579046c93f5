import type { IssueCode } from '../../model/issue.js';
import { type Cell, displayText } from '../../model/row.js';
import type { SourceFormat } from '../../model/source.js';

/** Why a cell cannot be converted: the code, and what to say after the cell has been quoted. */
export interface Refusal {
  readonly refused: IssueCode;
  readonly why: string;
}

export function refuse(refused: IssueCode, why: string): Refusal {
  return { refused, why };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}

/** At the end from the first one only, so that a long run in the middle costs no more than its length. */
const OUTER = /^[\s\u00ad\u200b\u2060\ufeff]+|(?<![\s\u00ad\u200b\u2060\ufeff])[\s\u00ad\u200b\u2060\ufeff]+$/gu;
/** What a spreadsheet program leaves of a long code when it saves it as text: `1.23457E+11`. */
const SHORTENED = /^-?\d[.,]\d+E\+\d{2,3}$/;
/** A spreadsheet program keeps this many significant digits of a number. */
const MAX_DIGITS = 15;

/** The text without outer blanks and invisible characters; inner ones stay as they are. */
export function trimText(text: string): string {
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  // Nearly every cell begins and ends with visible ASCII.
  return first > 32 && first < 127 && last > 32 && last < 127 ? text : text.replace(OUTER, '');
}

/**
 * The cell as text for a field that holds text, a name or a code: what the person sees, so leading zeros of a number format
 * stay. Numbers whose digits the spreadsheet program has dropped are refused.
 * @param exact numbers carry all their digits (NDJSON), so none is refused
 */
export function cellText(cell: Cell, exact: boolean): string | Refusal {
  if (typeof cell === 'string') {
    const text = trimText(cell);
    return SHORTENED.test(text) ? precisionLost('was shortened to scientific notation by a spreadsheet program') : text;
  }
  if (cell.t !== 'n' || exact) return trimText(displayText(cell));
  if (significantDigits(cell.value) > MAX_DIGITS)
    return precisionLost(`has more than ${MAX_DIGITS} digits, which a spreadsheet program does not keep`);
  // A number format may hide the number; it is there nevertheless.
  if (!/\dE[+-]?\d/i.test(cell.shown)) return trimText(cell.shown) || cell.value;
  // In a cell without a number format the notation is for display only: the digits are all there.
  if (cell.format === undefined || /^(General|@)?$/i.test(cell.format)) return cell.value;
  return precisionLost('is a number in scientific notation, so the text that was typed is not known');
}

function precisionLost(what: string): Refusal {
  return refuse(
    'number_precision_lost',
    `${what}. Format the column as text and enter the value again from its source.`,
  );
}

function significantDigits(plain: string): number {
  return plain.replace(/^-?[0.]*/, '').replace('.', '').length;
}

/** What a spreadsheet program takes for a number: also `00123`, `+123`, `1.10` and `12E4`. */
const TYPED_NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?$/i;
/** What it writes of one: no zeros or plus that mean nothing. */
const SAVED_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$|E/i;

/** Where a spreadsheet program takes a text for a number, the one that it keeps; else the text. */
export const savedForm = (text: string): string =>
  TYPED_NUMBER.test(text) ? String(Number(Number(text).toPrecision(MAX_DIGITS))) : text;

/**
 * Whether a cell may be what a program has saved of a text that it took for a number: in its own form, with no more digits than
 * binary numbers keep. In workbooks and JSON text stays text.
 */
export function isSavedForm(cell: Cell, text: string, format: SourceFormat): boolean {
  const typed = typeof cell === 'object' && cell.t === 'n' ? cell.value : undefined;
  const saved = typeof cell === 'string' && format === 'csv' ? cell : typed;
  if (saved === undefined || saved === text || !SAVED_NUMBER.test(saved) || !TYPED_NUMBER.test(text)) return false;
  return [Number(text), Number(savedForm(text))].includes(Number(saved));
}
