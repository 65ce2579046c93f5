import { extname } from 'node:path';
import { RunError } from '../model/error.js';

/** What the name of a file says about its form. */
export interface TableFormat {
  readonly format: 'csv' | 'xlsx' | 'ndjson';
  readonly gzip: boolean;
}

const FORMS = 'Tables are written as .csv, .xlsx or .ndjson, each also with .gz (assets.csv.gz).';

/** What people ask for by other names, and what to take for it. */
const INSTEAD: Readonly<Record<string, string>> = {
  '.json': 'Use .ndjson: one JSON object a line.',
  '.jsonl': 'Use .ndjson: the same under its other name, one JSON object a line.',
  '.xls': 'Use .xlsx: every spreadsheet program that opens .xls opens it.',
  '.xlsm': 'Use .xlsx: there are no macros in a table.',
  '.xlsb': 'Use .xlsx: every spreadsheet program opens it.',
  '.ods': 'Use .xlsx: LibreOffice opens it and can save it as .ods.',
  '.tsv': 'Use .csv: its cells are parted by commas.',
  '.txt': 'Use .csv.',
  '.zip': 'Use .gz for a packed file (assets.csv.gz); an .xlsx is packed already.',
};

/** Format by name. Throws `RunError('usage')` for a name that says none, naming those there are. */
export function tableFormat(path: string): TableFormat {
  const gzip = /\.gz$/i.test(path);
  const end = extname(gzip ? path.slice(0, -3) : path).toLowerCase();
  switch (end) {
    case '.csv':
    case '.xlsx':
    case '.ndjson':
      return { format: end.slice(1) as TableFormat['format'], gzip };
  }
  const found = end === '' ? 'the name has no ending that says its form' : `${end} is not written`;
  const instead = Object.hasOwn(INSTEAD, end) ? ` ${INSTEAD[end]}` : '';
  throw new RunError('usage', `${path}: ${found}. ${FORMS}${instead}`);
}

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
