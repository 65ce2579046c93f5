import type { TableKind } from '../../model/table.js';
import { MAIN, XML } from './xml-text.js';

/*
 * The styles of a workbook of ours: a fixed list, so that the number of a style is known before the first row. Data
 * cells have the same formats in every tone, one block of styles a tone.
 */

/** What the look of a data cell says: `soft` is for information; `changed` and `cleared` become another value or none. */
export type Tone = 'plain' | 'soft' | 'changed' | 'cleared';

/**
 * Kinds of cells: those of tables, and of reports: `instant` is a point in time (UTC, ISO 8601), shown to the minute; `day` a
 * date and `number` a whole number that stand at the left, because they name something; `count` an amount of things.
 */
export type CellKind = TableKind | 'instant' | 'day' | 'number' | 'count';

/** Most digits after the point that a money format shows; a number with more is written as text. */
export const MONEY_SCALE = 15;

/** Numbers of cell formats, built in or ours. */
const FORMAT = { general: 0, whole: 1, grouped: 3, money: 4, text: 49, date: 164, boolean: 165, instant: 180 };

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
  font('<color rgb="FF1F4E78"/>', '<b/>', 13),
  font('<color rgb="FF0563C1"/>', '<u/>'),
  font('<color rgb="FF9C1C14"/>', '<b/>'),
  font('<color rgb="FF1C4F8F"/>', '<b/>'),
  font('<color rgb="FF15703F"/>', '<b/>'),
  font('<color rgb="FF595959"/>'),
];
const FONT = {
  grey: 1,
  white: 2,
  headingSoft: 3,
  title: 4,
  bold: 5,
  section: 6,
  link: 7,
  bad: 8,
  info: 9,
  good: 10,
  soft: 11,
};

const FILLS = [
  '<fill><patternFill patternType="none"/></fill>',
  '<fill><patternFill patternType="gray125"/></fill>',
  solid('FF1F4E78'),
  solid('FFD9D9D9'),
  solid('FFDDEFD9'),
  solid('FFFBE0D6'),
  solid('FFFCE9E7'),
  solid('FFE6EFFA'),
  solid('FFE5F4EA'),
];
const FILL = { heading: 2, headingSoft: 3, changed: 4, cleared: 5, bad: 6, info: 7, good: 8 };

const BORDERS = [
  '<border><left/><right/><top/><bottom/><diagonal/></border>',
  `<border><left style="thin"><color rgb="FFFFFFFF"/></left><right style="thin"><color rgb="FFFFFFFF"/></right><top/><bottom/><diagonal/></border>`,
  `<border><left/><right/><top/><bottom style="thin"><color rgb="FFD9D9D9"/></bottom><diagonal/></border>`,
  `<border><left/><right/><top/><bottom style="medium"><color rgb="FF1F4E78"/></bottom><diagonal/></border>`,
];
const BORDER = { heading: 1, line: 2, section: 3 };

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
const TOP_RIGHT = '<alignment horizontal="right" vertical="top" indent="1"/>';
const TOP_LEFT = '<alignment horizontal="left" vertical="top"/>';
const INDENTED = '<alignment horizontal="left" vertical="center" indent="2"/>';
const MIDDLE_WRAPPED = '<alignment vertical="center" wrapText="1"/>';
const RIGHT = '<alignment horizontal="right" vertical="center" indent="1"/>';
const REMARK = '<alignment horizontal="left" vertical="center" wrapText="1" indent="1"/>';
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
  { format: FORMAT.instant, alignment: TOP_LEFT },
  { format: FORMAT.date, alignment: TOP_LEFT },
  { format: FORMAT.whole, alignment: TOP_LEFT },
  { format: FORMAT.grouped, alignment: TOP_RIGHT },
];
const PLACE = {
  text: 0,
  quoted: 1,
  lines: 2,
  quotedLines: 3,
  whole: 4,
  general: 5,
  date: 6,
  boolean: 7,
  money: 8,
  instant: 9 + MONEY_SCALE - 2,
  day: 10 + MONEY_SCALE - 2,
  number: 11 + MONEY_SCALE - 2,
  count: 12 + MONEY_SCALE - 2,
};

/** What the styles of a tone have besides the format, in the order of the blocks. */
const TONES: Readonly<Record<Tone, Partial<CellStyle>>> = {
  plain: {},
  soft: { font: FONT.grey },
  changed: { fill: FILL.changed },
  cleared: { fill: FILL.cleared },
};

const FIRST = 1;
const OTHERS = FIRST + DATA.length * Object.keys(TONES).length;

function firstOf(tone: Tone): number {
  return FIRST + DATA.length * Object.keys(TONES).indexOf(tone);
}

const CELL_STYLES: readonly CellStyle[] = [
  {},
  ...Object.values(TONES).flatMap((tone) => DATA.map((style) => ({ ...style, ...tone }))),
  { format: FORMAT.text, font: 2, fill: 2, border: 1, alignment: MIDDLE },
  { format: FORMAT.text, font: 3, fill: 3, border: 1, alignment: MIDDLE },
  { format: FORMAT.text, font: 4 },
  { format: FORMAT.text, font: 5, alignment: TOP },
  { format: FORMAT.text, alignment: TOP_WRAPPED },
  { format: FORMAT.text, border: 2, alignment: TOP_WRAPPED },
  { format: FORMAT.text, font: 1, border: 2, alignment: TOP_WRAPPED },
  { format: FORMAT.text, font: FONT.section, border: BORDER.section },
  { format: FORMAT.text, font: FONT.bold, alignment: MIDDLE_WRAPPED },
  { format: FORMAT.text, font: FONT.bad, fill: FILL.bad, alignment: MIDDLE_WRAPPED },
  { format: FORMAT.text, font: FONT.info, fill: FILL.info, alignment: MIDDLE_WRAPPED },
  { format: FORMAT.text, font: FONT.good, fill: FILL.good, alignment: MIDDLE_WRAPPED },
  { format: FORMAT.text, font: FONT.soft, alignment: REMARK },
  { format: FORMAT.text, alignment: INDENTED },
  { format: FORMAT.grouped, font: FONT.bold, alignment: RIGHT },
  { format: FORMAT.grouped, alignment: RIGHT },
  { format: FORMAT.grouped, font: FONT.bad, alignment: RIGHT },
  { format: FORMAT.text, font: FONT.link, alignment: MIDDLE },
  { format: FORMAT.text, font: FONT.white, fill: FILL.heading, border: BORDER.heading, alignment: RIGHT },
  { format: FORMAT.text, font: FONT.soft, alignment: MIDDLE },
  { format: FORMAT.text, font: FONT.bold, alignment: MIDDLE },
  { format: FORMAT.text, alignment: REMARK },
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
  section: OTHERS + 7,
  lead: OTHERS + 8,
  bad: OTHERS + 9,
  info: OTHERS + 10,
  good: OTHERS + 11,
  remark: OTHERS + 12,
  indented: OTHERS + 13,
  count: OTHERS + 14,
  minorCount: OTHERS + 15,
  badCount: OTHERS + 16,
  link: OTHERS + 17,
  headingRight: OTHERS + 18,
  /** A sentence that runs on over the empty cells beside it. */
  aside: OTHERS + 19,
  name: OTHERS + 20,
  said: OTHERS + 21,
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

const VALUE_STYLE: Readonly<Record<CellKind, number>> = {
  text: PLACE.text,
  id: PLACE.text,
  json: PLACE.text,
  integer: PLACE.whole,
  decimal: PLACE.general,
  date: PLACE.date,
  boolean: PLACE.boolean,
  money: PLACE.money,
  instant: PLACE.instant,
  day: PLACE.day,
  number: PLACE.number,
  count: PLACE.count,
};

export function columnStyles(kind: CellKind, tone: Tone): ColumnStyles {
  const first = firstOf(tone);
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
    `<numFmt numFmtId="${FORMAT.instant}" formatCode="yyyy\\-mm\\-dd\\ hh:mm"/>`,
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
