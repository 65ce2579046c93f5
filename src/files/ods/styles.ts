import { type NumberFormat, numberFormat } from '../number/number-format.js';
import type { XmlTag } from '../package/xml-scan.js';

/** Takes the elements that stand before the sheets, and answers what the sheets ask of them. */
export interface OdsStyles {
  open(tag: XmlTag): void;
  close(name: string): void;
  text(text: string): void;
  /** Whether sheets of this style are hidden. */
  hides(style: string): boolean;
  /** How cells of this style show their numbers; undefined for General. */
  format(style: string): CellFormat | undefined;
  dataStyle(name: string): DataStyle | undefined;
}

/** `format`: absent where the form is one that only the text of the cell shows. */
export interface CellFormat {
  readonly format?: NumberFormat;
}

/** A data style of numbers as a number format code, as far as that says it. */
interface DataStyle {
  readonly kind: string;
  code: string;
  /** Something in it has no code here: fractions, exponents, texts between digits. */
  open: boolean;
  /** The style that stands in for it, for numbers that are not negative. */
  positive: string | undefined;
}

const DATA_STYLE = /^(?:number|currency|percentage|date|time|boolean|text)-style$/;
/** Parts of dates, short and long. */
const DATE_PARTS: Readonly<Record<string, readonly [short: string, long: string]>> = {
  day: ['d', 'dd'],
  month: ['m', 'mm'],
  year: ['yy', 'yyyy'],
  'day-of-week': ['ddd', 'dddd'],
  hours: ['h', 'hh'],
  minutes: ['m', 'mm'],
  seconds: ['s', 'ss'],
  'am-pm': ['AM/PM', 'AM/PM'],
};

interface CellStyle {
  readonly data: string | undefined;
  readonly parent: string | undefined;
}

/** More styles than a workbook may have are not kept; their cells count as General. */
const MOST = 65_536;
const DEEPEST = 16;
const LONGEST_CODE = 256;

/**
 * `part`: styles.xml holds the styles that have names of their own, and automatic ones of its pages, which are none of
 * ours; `content` is content.xml. `common`: the styles of styles.xml, which those of content.xml build on.
 */
export function createOdsStyles(part: 'styles' | 'content', common?: OdsStyles): OdsStyles {
  const foreignParts = part === 'styles' ? ['automatic-styles', 'master-styles'] : ['master-styles'];
  const hidden = new Set<string>();
  const cells = new Map<string, CellStyle>();
  const data = new Map<string, DataStyle>();
  const formats = new Map<string, CellFormat | undefined>();
  let family = '';
  let name = '';
  /** Styles of pages and of headers and footers: they share names with those of the sheets. */
  let foreign = false;
  let style: DataStyle | undefined;
  let inText = false;

  function openPart({ name: tag, empty }: XmlTag, attributes: ReadonlyMap<string, string>, to: DataStyle): void {
    const long = attributes.get('style') === 'long';
    const dated = DATE_PARTS[tag]?.[long ? 1 : 0];
    if (dated) to.code += tag === 'month' && attributes.get('textual') === 'true' ? (long ? 'mmmm' : 'mmm') : dated;
    else if (tag === 'number') to.code += numberCode(attributes);
    else if (tag === 'text' || tag === 'currency-symbol') inText = !empty;
    else if (tag === 'map') {
      if (/^value\(\)\s*>=?\s*0$/.test(attributes.get('condition') ?? ''))
        to.positive ??= attributes.get('apply-style-name');
    } else if (tag !== 'text-properties' && tag !== 'fill-character') to.open = true;
  }

  const dataStyle = (of: string): DataStyle | undefined => data.get(of) ?? common?.dataStyle(of);

  function resolve(of: string): CellFormat | undefined {
    let at: string | undefined = of;
    for (let depth = 0; at !== undefined && depth < DEEPEST; depth++) {
      const found: CellStyle | undefined = cells.get(at);
      if (!found) return common?.format(at);
      const numbers = found.data === undefined ? undefined : dataStyle(found.data);
      if (numbers) {
        const positive = numbers.positive === undefined ? undefined : dataStyle(numbers.positive);
        if (numbers.open || positive?.open) return {};
        const code = positive ? `${positive.code};${numbers.code}` : numbers.code;
        const format = numberFormat(code.slice(0, LONGEST_CODE));
        return format.kind === 'general' ? undefined : { format };
      }
      at = found.parent;
    }
    return undefined;
  }

  return {
    open(given) {
      const { name: tag, empty } = given;
      if (foreignParts.includes(tag)) foreign = !empty;
      if (foreign) return;
      if (style) openPart(given, given.attributes(), style);
      else if (DATA_STYLE.test(tag)) {
        const made = { kind: tag, code: '', open: /^(?:boolean|text)-/.test(tag), positive: undefined };
        if (data.size < MOST) data.set(given.attributes().get('name') ?? '', made);
        style = empty ? undefined : made;
      } else if (tag === 'style') {
        const attributes = given.attributes();
        family = attributes.get('family') ?? '';
        name = attributes.get('name') ?? '';
        if (family === 'table-cell' && cells.size < MOST) {
          cells.set(name, { data: attributes.get('data-style-name'), parent: attributes.get('parent-style-name') });
        }
      } else if (tag === 'table-properties' && family === 'table') {
        if (given.attributes().get('display') === 'false' && hidden.size < MOST) hidden.add(name);
      }
    },
    close(tag) {
      if (foreignParts.includes(tag)) foreign = false;
      else if (style && DATA_STYLE.test(tag)) style = undefined;
      else if (tag === 'style') family = '';
      inText = false;
    },
    text(text) {
      if (!inText || !style || style.code.length > LONGEST_CODE) return;
      if (style.kind === 'percentage-style') style.code += text.split('%').map(literal).join('%');
      else style.code += /^(?:date|time)-/.test(style.kind) && /^[-/., :]*$/.test(text) ? text : literal(text);
    },
    dataStyle,
    hides: (of) => hidden.has(of) || (common?.hides(of) ?? false),
    format(of) {
      if (formats.has(of)) return formats.get(of);
      const format = resolve(of);
      if (formats.size < MOST) formats.set(of, format);
      return format;
    },
  };
}

/** Quoted, unless it is made of characters that stand for themselves in every code. */
function literal(text: string): string {
  if (/^[-$: ()]*$/.test(text)) return text;
  return text
    .split('"')
    .map((piece) => (piece === '' ? '' : `"${piece}"`))
    .join('\\"');
}

function numberCode(attributes: ReadonlyMap<string, string>): string {
  const count = (name: string) => Math.min(Number(attributes.get(name)) || 0, 20);
  const whole = '0'.repeat(count('min-integer-digits')) || '#';
  const grouped = attributes.get('grouping') === 'true';
  if (attributes.get('decimal-places') === undefined && !grouped && whole.length === 1) return 'General';
  const [most, least] = [count('decimal-places'), attributes.get('min-decimal-places')];
  const fixed = least === undefined ? most : Math.min(Number(least) || 0, most);
  const decimals = most === 0 ? '' : `.${'0'.repeat(fixed)}${'#'.repeat(most - fixed)}`;
  const padded = whole.padStart(4, '#');
  return `${grouped ? `${padded.slice(0, -3)},${padded.slice(-3)}` : whole}${decimals}`;
}
