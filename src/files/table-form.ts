import type { TableKind } from '../model/table.js';

/*
 * Whether the text of a cell has the form of its kind: `model/table.ts`. What does not is written as text, so that no
 * format changes it.
 */

/** `-0` is no canonical number: as a number it would come back as `0`. */
const DECIMAL = /^(?:-(?!0(?:\.0*)?$))?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const INTEGER = /^(?:-(?!0$))?(?:0|[1-9]\d*)$/;

export function isIntegerText(text: string): boolean {
  return INTEGER.test(text);
}

export function isDecimalText(text: string): boolean {
  return DECIMAL.test(text);
}

/** A list or an object, as JSON. */
export function isJsonText(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What a column of a kind holds, in words for people. */
export const KIND_WORDS: Readonly<Record<TableKind, string>> = {
  text: 'Text',
  id: 'Id (whole number)',
  integer: 'Whole number',
  decimal: 'Number',
  money: 'Amount',
  date: 'Date',
  boolean: 'TRUE or FALSE',
  json: 'List (JSON)',
};
