import { asciiText } from '../encoding/byte-text.js';
import { type AttributeRange, nextAttribute, xmlText } from '../package/xml-scan.js';
import type { OdsCell } from './cell.js';

const range: AttributeRange = { nameFrom: 0, nameTo: 0, valueFrom: 0, valueTo: 0 };

/** A cell's own attributes and how often it stands side by side. */
export interface OdsCellTag extends OdsCell {
  style: string;
  repeated: number;
  /** Columns and rows of a merged range of which it is the top left cell. */
  columns: number;
  rows: number;
}

export function blankCellTag(): OdsCellTag {
  return {
    type: '',
    value: undefined,
    dateValue: undefined,
    timeValue: undefined,
    booleanValue: undefined,
    stringValue: undefined,
    formula: undefined,
    text: undefined,
    style: '',
    repeated: 1,
    columns: 1,
    rows: 1,
  };
}

/** Reads the attributes of a cell straight from its bytes, by their lengths: they are most of such a file. */
export function readCellTag(bytes: Buffer, from: number, to: number, cell: OdsCellTag): void {
  cell.type = '';
  cell.value = undefined;
  cell.dateValue = undefined;
  cell.timeValue = undefined;
  cell.booleanValue = undefined;
  cell.stringValue = undefined;
  cell.formula = undefined;
  cell.text = undefined;
  cell.style = '';
  cell.repeated = 1;
  cell.columns = 1;
  cell.rows = 1;
  for (let at = nextAttribute(bytes, from, to, range); at >= 0; at = nextAttribute(bytes, at, to, range)) {
    const first = bytes[range.nameFrom];
    switch (range.nameTo - range.nameFrom) {
      case 5: // value
        if (first === 0x76) cell.value = ascii(bytes);
        break;
      case 7: // formula
        if (first === 0x66) cell.formula = text(bytes);
        break;
      case 10: // value-type, date-value, time-value, style-name
        if (first === 0x76) {
          // office:value-type and calcext:value-type agree, except for errors, which only the second knows.
          const type = ascii(bytes);
          if (cell.type !== 'error') cell.type = type;
        } else if (first === 0x64) cell.dateValue = ascii(bytes);
        else if (first === 0x74) cell.timeValue = ascii(bytes);
        else if (first === 0x73) cell.style = text(bytes);
        break;
      case 12: // string-value
        if (first === 0x73) cell.stringValue = text(bytes);
        break;
      case 13: // boolean-value
        if (first === 0x62) cell.booleanValue = ascii(bytes);
        break;
      case 19: // number-rows-spanned
        if (first === 0x6e) cell.rows = times(bytes);
        break;
      case 22: // number-columns-spanned
        if (first === 0x6e) cell.columns = times(bytes);
        break;
      case 23: // number-columns-repeated
        if (first === 0x6e) cell.repeated = times(bytes);
        break;
    }
  }
}

/** Attributes of columns and rows. */
export interface OdsLineTag {
  repeated: number;
  hidden: boolean;
  /** The style of its cells that have none of their own. */
  style: string;
}

export function readLineTag(bytes: Buffer, from: number, to: number): OdsLineTag {
  const line: OdsLineTag = { repeated: 1, hidden: false, style: '' };
  for (let at = nextAttribute(bytes, from, to, range); at >= 0; at = nextAttribute(bytes, at, to, range)) {
    const name = asciiText(bytes, range.nameFrom, range.nameTo);
    if (name === 'number-rows-repeated' || name === 'number-columns-repeated') line.repeated = times(bytes);
    else if (name === 'visibility') line.hidden = /^(?:collapse|filter)$/.test(ascii(bytes));
    else if (name === 'default-cell-style-name') line.style = text(bytes);
  }
  return line;
}

function ascii(bytes: Buffer): string {
  return asciiText(bytes, range.valueFrom, range.valueTo);
}

function text(bytes: Buffer): string {
  return xmlText(bytes, range.valueFrom, range.valueTo);
}

const MOST_TIMES = 2 ** 31;

/** A count from 1; what is none counts as 1. */
function times(bytes: Buffer): number {
  const count = Number(ascii(bytes));
  return count >= 1 && Number.isInteger(count) ? Math.min(count, MOST_TIMES) : 1;
}

/** The `c` of `<text:s text:c="3"/>`, at most `most`. */
export function blanksOf(bytes: Buffer, from: number, to: number, most: number): number {
  for (let at = nextAttribute(bytes, from, to, range); at >= 0; at = nextAttribute(bytes, at, to, range)) {
    if (range.nameTo - range.nameFrom === 1 && bytes[range.nameFrom] === 0x63) return Math.min(times(bytes), most);
  }
  return 1;
}
