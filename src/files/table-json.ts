import type { TableColumn, TableKind } from '../model/table.js';
import { isDecimalText, isIntegerText, isJsonText } from './table-form.js';

/**
 * Turns rows into NDJSON: one object a line, the headings as keys in their order, LF. Blank cells are null; numbers are
 * bare with exactly their digits; text without the form of its kind is a string. No key is special (`__proto__`).
 */
export function ndjsonEncoder(columns: readonly TableColumn[]): (rows: readonly (readonly string[])[]) => Buffer {
  const keys = columns.map(({ heading }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(heading)}:`);
  const values = columns.map(({ kind }) => VALUE[kind]);
  return (rows) => {
    let lines = '';
    for (const row of rows) {
      for (let i = 0; i < keys.length; i++) {
        const text = row[i]!;
        lines += text === '' ? `${keys[i]}null` : keys[i]! + values[i]!(text);
      }
      lines += '}\n';
    }
    return Buffer.from(lines, 'utf8');
  };
}

const integer = (text: string) => (isIntegerText(text) ? text : JSON.stringify(text));
const decimal = (text: string) => (isDecimalText(text) ? text : JSON.stringify(text));

/** The JSON of a cell that is not blank. */
const VALUE: Readonly<Record<TableKind, (text: string) => string>> = {
  text: JSON.stringify,
  date: JSON.stringify,
  id: integer,
  integer,
  decimal,
  money: decimal,
  boolean: (text) => (text === 'true' || text === 'false' ? text : JSON.stringify(text)),
  // As it is, so that no number in it is rounded. Line ends can stand only between its values, where a blank is as good.
  json: (text) => (isJsonText(text) ? text.replace(/[\r\n]+/g, ' ') : JSON.stringify(text)),
};
