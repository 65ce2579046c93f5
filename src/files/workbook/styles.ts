import type { TableKind } from '../../model/table.js';
import { MAIN, XML } from './xml-text.js';

/*
 * The styles of a workbook of ours: a fixed list, so that the number of a style is known before the first row. Cells of
 * columns that are for information have the same formats in grey, `READ_ONLY` styles further on.
 */

/** Most digits after the point that a money format shows; a number with more is written as text. */
export const MONEY_SCALE = 15;

/** Numbers of cell formats, built in or ours. */
const FORMAT = { general: 0, whole: 1, money: 4, text: 49, date: 164, boolean: 165 };

function moneyOfScale(scale: number): number {
  return FORMAT.boolean + scale - 2;
}

const FONTS = [
  font(),
  font('<color rgb="FF7F7F7F"/>'),
  font('<color rgb="FFFFFFFF"/>', '<b/>'),
  font('<color rgb="FF595959"/>', '<b/><i/>'),
  font('', '<b/>', 16),
  font('', '<b/>'),
];

const FILLS = [
  '<fill><patternFill patternType="none"/></fill>',
  '<fill><patternFill patternType="gray125"/></fill>',
  solid('FF1F4E78'),
  solid('FFD9D9D9'),
];

const BORDERS = [
  '<border><left/><right/><top/><bottom/><diagonal/></border>',
  `<border><left style="thin"><color rgb="FFFFFFFF"/></left><right style="thin"><color rgb="FFFFFFFF"/></right><top/><bottom/><diagonal/></border>`,
  `<border><left/><right/><top/><bottom style="thin"><color rgb="FFD9D9D9"/></bottom><diagonal/></border>`,
];

interface CellStyle {
  readonly format?: number;
  readonly font?: number;
  readonly fill?: number;
  readonly border?: number;
  readonly alignment?: string;
  readonly quoted?: boolean;
}

const TOP = '<alignment vertical="top"/>';
const TOP_WRAPPED = '<alignment vertical="top" wrapText="1"/>';
const TOP_CENTERED = '<alignment horizontal="center" vertical="top"/>';
const MIDDLE = '<alignment vertical="center"/>';

/** Styles of data cells, in the order of their numbers from `FIRST` on; `PLACE` says what each is for. */
const DATA: readonly CellStyle[] = [
  { format: FORMAT.text, alignment: TOP },
  { format: FORMAT.text, alignment: TOP, quoted: true },
  { format: FORMAT.text, alignment: TOP_WRAPPED },
  { format: FORMAT.text, alignment: TOP_WRAPPED, quoted: true },
  { format: FORMAT.whole, alignment: TOP },
  { format: FORMAT.general, alignment: TOP },
  { format: FORMAT.date, alignment: TOP },
  { format: FORMAT.boolean, alignment: TOP_CENTERED },
  { format: FORMAT.money, alignment: TOP },
  ...Array.from({ length: MONEY_SCALE - 2 }, (_, i) => ({ format: moneyOfScale(i + 3), alignment: TOP })),
];
const PLACE = { text: 0, quoted: 1, lines: 2, quotedLines: 3, whole: 4, general: 5, date: 6, boolean: 7, money: 8 };

const FIRST = 1;
const READ_ONLY = FIRST + DATA.length;
const OTHERS = READ_ONLY + DATA.length;

const CELL_STYLES: readonly CellStyle[] = [
  {},
  ...DATA,
  ...DATA.map((style) => ({ ...style, font: 1 })),
  { format: FORMAT.text, font: 2, fill: 2, border: 1, alignment: MIDDLE },
  { format: FORMAT.text, font: 3, fill: 3, border: 1, alignment: MIDDLE },
  { format: FORMAT.text, font: 4 },
  { format: FORMAT.text, font: 5, alignment: TOP },
  { format: FORMAT.text, alignment: TOP_WRAPPED },
  { format: FORMAT.text, border: 2, alignment: TOP_WRAPPED },
  { format: FORMAT.text, font: 1, border: 2, alignment: TOP_WRAPPED },
];

/** Numbers of the styles of headings and of the cover. */
export const STYLE = {
  heading: OTHERS,
  headingReadOnly: OTHERS + 1,
  title: OTHERS + 2,
  label: OTHERS + 3,
  fact: OTHERS + 4,
  listed: OTHERS + 5,
  listedReadOnly: OTHERS + 6,
} as const;

/** Numbers of the styles that the cells of a column may have. */
export interface ColumnStyles {
  readonly text: number;
  /** Text that begins like a formula: programs show that it is text and keep it so when it is edited. */
  readonly quoted: number;
  /** Text of several lines, the second for such as begins like a formula. */
  readonly lines: number;
  readonly quotedLines: number;
  /** Values that have the form of the column's kind. Money with more than two decimals: `moneyOfScale`. */
  readonly value: number;
  /** Money with 3 to 15 digits after the point, all of which are shown. */
  moneyOfScale(scale: number): number;
}

const VALUE_STYLE: Readonly<Record<TableKind, number>> = {
  text: PLACE.text,
  id: PLACE.text,
  json: PLACE.text,
  integer: PLACE.whole,
  decimal: PLACE.general,
  date: PLACE.date,
  boolean: PLACE.boolean,
  money: PLACE.money,
};

export function columnStyles(kind: TableKind, readOnly: boolean): ColumnStyles {
  const first = readOnly ? READ_ONLY : FIRST;
  return {
    text: first + PLACE.text,
    quoted: first + PLACE.quoted,
    lines: first + PLACE.lines,
    quotedLines: first + PLACE.quotedLines,
    value: first + VALUE_STYLE[kind],
    moneyOfScale: (scale) => first + PLACE.money + scale - 2,
  };
}

/** The part `xl/styles.xml`. */
export function stylesPart(): string {
  const formats = [
    `<numFmt numFmtId="${FORMAT.date}" formatCode="yyyy\\-mm\\-dd"/>`,
    // LibreOffice shows 1 and 0 in some places without it; others ignore it in a boolean cell.
    `<numFmt numFmtId="${FORMAT.boolean}" formatCode="&quot;TRUE&quot;;&quot;TRUE&quot;;&quot;FALSE&quot;"/>`,
    ...Array.from({ length: MONEY_SCALE - 2 }, (_, i) => {
      const scale = i + 3;
      return `<numFmt numFmtId="${moneyOfScale(scale)}" formatCode="#,##0.${'0'.repeat(scale)}"/>`;
    }),
  ];
  return (
    `${XML}<styleSheet xmlns="${MAIN}">` +
    list('numFmts', formats) +
    list('fonts', FONTS) +
    list('fills', FILLS) +
    list('borders', BORDERS) +
    list('cellStyleXfs', ['<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>']) +
    list('cellXfs', CELL_STYLES.map(cellFormat)) +
    list('cellStyles', ['<cellStyle name="Normal" xfId="0" builtinId="0"/>']) +
    '<dxfs count="0"/><tableStyles count="0"/></styleSheet>'
  );
}

function cellFormat({ format = 0, font = 0, fill = 0, border = 0, alignment, quoted }: CellStyle): string {
  const attributes =
    `numFmtId="${format}" fontId="${font}" fillId="${fill}" borderId="${border}" xfId="0"` +
    (quoted ? ' quotePrefix="1"' : '') +
    (format ? ' applyNumberFormat="1"' : '') +
    (font ? ' applyFont="1"' : '') +
    (fill ? ' applyFill="1"' : '') +
    (border ? ' applyBorder="1"' : '');
  return alignment ? `<xf ${attributes} applyAlignment="1">${alignment}</xf>` : `<xf ${attributes}/>`;
}

function list(name: string, items: readonly string[]): string {
  return `<${name} count="${items.length}">${items.join('')}</${name}>`;
}

function font(color = '', weight = '', size = 11): string {
  return `<font>${weight}<sz val="${size}"/>${color}<name val="Calibri"/><family val="2"/></font>`;
}

function solid(rgb: string): string {
  return `<fill><patternFill patternType="solid"><fgColor rgb="${rgb}"/><bgColor indexed="64"/></patternFill></fill>`;
}
