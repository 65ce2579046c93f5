import { escapeXml, listElement, MAIN_NAMESPACE, XML_HEADER } from './xml.js';

/** How a cell looks; a workbook keeps each look once. Colours are `RRGGBB`. */
export interface Look {
  /** Code of a number format; General unless stated. */
  readonly format?: string;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly color?: string;
  readonly fill?: string;
  readonly border?: keyof typeof BORDERS;
  readonly horizontal?: 'center';
  readonly vertical?: 'top' | 'center';
  readonly wrapped?: boolean;
  /** Text that begins like a formula: programs show that it is text and keep it so when it is edited. */
  readonly quoted?: boolean;
}

export const TEXT = '@';
export const DATE = 'yyyy\\-mm\\-dd';
export const MONEY = '#,##0.00';

const BLUE = '1F4E78';

/** Looks of whatever is no data. */
export const LOOKS = {
  heading: { format: TEXT, bold: true, color: 'FFFFFF', fill: BLUE, border: 'sides', vertical: 'center' },
  readOnlyHeading: {
    ...{ format: TEXT, bold: true, italic: true, color: '595959', fill: 'D9D9D9', border: 'sides' },
    vertical: 'center',
  },
  /** Where a fill says that something is wrong. */
  plainHeading: { format: TEXT, bold: true, border: 'section', vertical: 'center' },
  ownHeading: { format: TEXT, bold: true, italic: true, color: '595959', border: 'section', vertical: 'center' },
  /** A sentence that runs on over the empty cells beside it. */
  aside: { format: TEXT, color: '595959', vertical: 'center' },
} as const satisfies Readonly<Record<string, Look>>;

/** What the look of a data cell says: `soft` is for information, `cleared` becomes none. */
export type Tone = 'plain' | 'soft' | 'cleared' | 'fault';

export const TONES: Readonly<Record<Tone, Look>> = {
  plain: {},
  soft: { color: '7F7F7F' },
  cleared: { fill: 'FBE0D6' },
  fault: { fill: 'FFC7CE' },
};

const NO_BORDER = '<left/><right/><top/><bottom/><diagonal/>';
const edge = (side: string, style: string, color: string) =>
  `<${side} style="${style}"><color rgb="FF${color}"/></${side}>`;
const BORDERS = {
  sides: `${edge('left', 'thin', 'FFFFFF')}${edge('right', 'thin', 'FFFFFF')}<top/><bottom/><diagonal/>`,
  section: `<left/><right/><top/>${edge('bottom', 'medium', BLUE)}<diagonal/>`,
  form: `<left/>${edge('right', 'hair', '8EA9DB')}<top/>${edge('bottom', 'thin', BLUE)}<diagonal/>`,
};

/** Formats that every program knows by number. */
const BUILT_IN: Readonly<Record<string, number>> = { General: 0, '0': 1, [MONEY]: 4, [TEXT]: 49 };
const FIRST_OWN = 164;

export type Styles = ReturnType<typeof createStyles>;

/** The looks of a workbook, numbered as cells refer to them; written when all are known. */
export function createStyles() {
  const formats = new Map<string, number>();
  const fonts = numbered([font({})]);
  const fills = numbered(['none', 'gray125'].map((pattern) => `<fill><patternFill patternType="${pattern}"/></fill>`));
  const borders = numbered([`<border>${NO_BORDER}</border>`]);
  const cells = numbered(['<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>']);

  const formatOf = (code: string) => {
    const number = BUILT_IN[code] ?? formats.get(code) ?? FIRST_OWN + formats.size;
    if (number >= FIRST_OWN) formats.set(code, number);
    return number;
  };
  return {
    of(look: Look): number {
      const { format = 'General', fill, border } = look;
      const parts = {
        numFmt: formatOf(format),
        font: fonts.of(font(look)),
        fill: fill === undefined ? 0 : fills.of(solid(fill)),
        border: border === undefined ? 0 : borders.of(`<border>${BORDERS[border]}</border>`),
      };
      const ids = Object.entries(parts).map(([name, number]) => `${name}Id="${number}"`);
      const applied = [
        ...(look.quoted ? ['quotePrefix="1"'] : []),
        ...(parts.numFmt > 0 ? ['applyNumberFormat="1"'] : []),
        ...(parts.font > 0 ? ['applyFont="1"'] : []),
        ...(parts.fill > 0 ? ['applyFill="1"'] : []),
        ...(parts.border > 0 ? ['applyBorder="1"'] : []),
      ];
      const alignment = alignmentOf(look);
      const attributes = [...ids, 'xfId="0"', ...applied].join(' ');
      return cells.of(
        alignment === '' ? `<xf ${attributes}/>` : `<xf ${attributes} applyAlignment="1"><alignment${alignment}/></xf>`,
      );
    },
    /** The part `xl/styles.xml`. */
    part(): string {
      const own = [...formats].map(([code, id]) => `<numFmt numFmtId="${id}" formatCode="${escapeXml(code)}"/>`);
      return (
        `${XML_HEADER}<styleSheet xmlns="${MAIN_NAMESPACE}">` +
        listElement('numFmts', own) +
        listElement('fonts', fonts.all()) +
        listElement('fills', fills.all()) +
        listElement('borders', borders.all()) +
        listElement('cellStyleXfs', ['<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>']) +
        listElement('cellXfs', cells.all()) +
        listElement('cellStyles', ['<cellStyle name="Normal" xfId="0" builtinId="0"/>']) +
        '<dxfs count="0"/><tableStyles count="0"/></styleSheet>'
      );
    },
  };
}

/** Numbers each text once, in the order in which they come. */
function numbered(first: readonly string[]) {
  const numbers = new Map(first.map((text, at) => [text, at]));
  return {
    of(text: string): number {
      const number = numbers.get(text) ?? numbers.size;
      numbers.set(text, number);
      return number;
    },
    all: () => [...numbers.keys()],
  };
}

function alignmentOf({ horizontal, vertical, wrapped }: Look): string {
  return [
    horizontal && ` horizontal="${horizontal}"`,
    vertical && ` vertical="${vertical}"`,
    wrapped && ' wrapText="1"',
  ]
    .filter(Boolean)
    .join('');
}

function font({ bold, italic, color }: Look): string {
  const weight = `${bold ? '<b/>' : ''}${italic ? '<i/>' : ''}`;
  const tint = color === undefined ? '' : `<color rgb="FF${color}"/>`;
  return `<font>${weight}<sz val="11"/>${tint}<name val="Calibri"/><family val="2"/></font>`;
}

function solid(rgb: string): string {
  return `<fill><patternFill patternType="solid"><fgColor rgb="FF${rgb}"/><bgColor indexed="64"/></patternFill></fill>`;
}
