import { Decimal } from '../../model/decimal.js';
import type { Cell } from '../../model/row.js';
import type { NumberFormat } from './number-format.js';
import { isoOfSerial, serialOfIso } from './serial-date.js';

/** Numbers that are already in the form wanted, as long as they have at most 15 digits. */
const PLAIN = /^(?:[1-9]\d*|0)(?:\.\d*[1-9])?$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * A stored number in plain decimal notation with 15 significant digits, as many as spreadsheet programs keep; the
 * noise of binary fractions (4.1000000000000005) goes. Undefined for text that is no finite number.
 */
export function numberText(raw: string): string | undefined {
  if (raw.length <= 15 && PLAIN.test(raw)) return raw;
  if (!NUMBER.test(raw)) return undefined;
  const value = Number(raw);
  return Number.isFinite(value) ? Decimal.parse(value.toPrecision(15))?.text : undefined;
}

/** Cells that are kept, whatever the workbook has of styles and values. */
const CACHE = 16_384;

/** Turns numbers as they are stored into cells, by the style of the cell. Formatted ones are kept: they come again. */
export function createNumberReader(formats: readonly NumberFormat[], date1904: boolean) {
  const known = new Map<number, Map<string, Cell>>();
  let kept = 0;
  return (raw: string, style: number): Cell => {
    const format = formats[style];
    if (format?.code === undefined) {
      const value = numberText(raw);
      return value === undefined ? raw : { t: 'n', value, shown: value };
    }
    let cell = known.get(style)?.get(raw);
    if (cell !== undefined) return cell;
    cell = formatted(raw, format, date1904);
    if (kept++ >= CACHE) {
      known.clear();
      kept = 1;
    }
    const cells = known.get(style);
    if (cells) cells.set(raw, cell);
    else known.set(style, new Map([[raw, cell]]));
    return cell;
  };
}

function formatted(raw: string, format: NumberFormat, date1904: boolean): Cell {
  const value = numberText(raw);
  if (value === undefined) return raw;
  const shown = format.show(value, date1904);
  const date = format.isDate ? isoOfSerial(Number(raw), date1904) : undefined;
  // A number that is no day of the calendar stays a number; the field it goes to says what is wrong with it.
  return date === undefined
    ? numberCell(value, shown, format.code)
    : { t: 'd', value: date, shown, format: format.code! };
}

/** A zero that its format hides (`0;-0;;@`, `#,###`) is what whoever looks at the sheet takes it for: a blank cell. */
export function numberCell(value: string, shown: string, format: string | undefined): Cell {
  if (value === '0' && shown === '') return '';
  return format === undefined ? { t: 'n', value, shown } : { t: 'n', value, shown, format };
}

/** A cell of type `d`: ISO 8601 text, with or without a time; other text is undefined. */
export function isoCell(raw: string, format: NumberFormat | undefined): Cell | undefined {
  const match = /^(\d{4}-\d\d-\d\d)(?:T((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d))?(?:\.\d+)?Z?)?$/.exec(raw.trim());
  if (!match) return undefined;
  const time = match[2] ? `${match[2]}:${match[3] ?? '00'}` : '00:00:00';
  const value = time === '00:00:00' ? match[1]! : `${match[1]}T${time}`;
  const serial = serialOfIso(value);
  if (serial === undefined) return undefined;
  if (!format?.isDate) return { t: 'd', value, shown: value.replace('T', ' ') };
  return { t: 'd', value, shown: format.show(numberText(String(serial)) ?? value, false), format: format.code! };
}
