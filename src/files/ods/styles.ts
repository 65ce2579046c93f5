import { type NumberFormat, numberFormat } from '../number/number-format.js';
import type { XmlTag } from '../package/xml-scan.js';

type Attributes = ReadonlyMap<string, string>;

/** Takes the elements that stand before the sheets, and answers what the sheets ask of them. */
export interface OdsStyles {
  open(tag: XmlTag): void;
  close(name: string): void;
  text(text: string): void;
  /** Whether sheets of this style are hidden. */
  hides(style: string): boolean;
  /** How cells of this style show their numbers; undefined for General. */
  format(style: string): NumberFormat | undefined;
  dataStyle(name: string): DataStyle | undefined;
}

/** A part of a data style of OpenDocument: `number:day`, `number:text` and their like. */
interface DataStylePart {
  readonly name: string;
  readonly attributes: Attributes;
  text: string;
  /** Texts within the digits of a number, by their distance from its decimal point. */
  readonly embedded: { readonly position: number; text: string }[];
}

/** A data style: how numbers, dates or texts are shown. `maps` names the styles that stand in for it on a condition. */
export interface DataStyle {
  readonly kind: string;
  readonly attributes: Attributes;
  readonly parts: DataStylePart[];
  readonly maps: { readonly condition: string; readonly name: string }[];
}

/** Local names of the elements that are data styles. */
const DATA_STYLES: ReadonlySet<string> = new Set([
  'number-style',
  'currency-style',
  'percentage-style',
  'date-style',
  'time-style',
  'boolean-style',
  'text-style',
]);

interface CellStyle {
  readonly data: string | undefined;
  readonly parent: string | undefined;
}

/** More styles than a workbook may have are not kept; their cells count as General. */
const MOST = 65_536;
const DEEPEST = 16;

/**
 * `part`: styles.xml holds the styles that have names of their own, and automatic ones of its pages, which are none of
 * ours; `content` is content.xml. `common`: the styles of styles.xml, which those of content.xml build on.
 */
export function createOdsStyles(part: 'styles' | 'content', common?: OdsStyles): OdsStyles {
  const foreignParts = part === 'styles' ? ['automatic-styles', 'master-styles'] : ['master-styles'];
  const hidden = new Set<string>();
  const cells = new Map<string, CellStyle>();
  const data = new Map<string, DataStyle>();
  const formats = new Map<string, NumberFormat | undefined>();
  let family = '';
  let name = '';
  /** Styles of pages and of headers and footers: they share names with those of the sheets. */
  let foreign = false;
  let style: DataStyle | undefined;
  let shown: DataStylePart | undefined;
  let texts: { text: string } | undefined;

  function openPart({ name: tag, empty }: XmlTag, attributes: Attributes): void {
    if (tag === 'embedded-text' && shown) {
      const embedded = { position: Number(attributes.get('position')) || 0, text: '' };
      if (shown.embedded.length < 20) shown.embedded.push(embedded);
      texts = empty ? undefined : embedded;
    } else if (tag === 'map') {
      if (style!.maps.length < 4) {
        style!.maps.push({
          condition: attributes.get('condition') ?? '',
          name: attributes.get('apply-style-name') ?? '',
        });
      }
    } else if (style!.parts.length < 64) {
      shown = { name: tag, attributes, text: '', embedded: [] };
      style!.parts.push(shown);
      texts = empty ? undefined : shown;
    }
  }

  const dataStyle = (of: string): DataStyle | undefined => data.get(of) ?? common?.dataStyle(of);

  function resolve(of: string): NumberFormat | undefined {
    let at: string | undefined = of;
    for (let depth = 0; at !== undefined && depth < DEEPEST; depth++) {
      const found: CellStyle | undefined = cells.get(at);
      if (!found) return common?.format(at);
      const numbers = found.data === undefined ? undefined : dataStyle(found.data);
      if (numbers) {
        const format = numberFormat(formatCode(numbers, dataStyle));
        return format.kind === 'general' ? undefined : format;
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
      if (style) openPart(given, given.attributes());
      else if (DATA_STYLES.has(tag)) {
        const attributes = given.attributes();
        const made = { kind: tag, attributes, parts: [], maps: [] };
        if (data.size < MOST) data.set(attributes.get('name') ?? '', made);
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
      else if (style && DATA_STYLES.has(tag)) style = undefined;
      else if (tag === 'style') family = '';
      texts = undefined;
    },
    text(text) {
      if (texts && texts.text.length < 256) texts.text += text;
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

/**
 * The number format code of a data style, as workbooks of the other kind write it, so that a report can show the cell
 * as it was. A date or a time keeps one even where the style says what no code can.
 */
function formatCode(style: DataStyle, find: (name: string) => DataStyle | undefined): string {
  const base = sectionCode(style);
  const mapped = style.maps.flatMap(({ condition, name }) => {
    const to = find(name);
    return to ? [{ condition: condition.replace(/\s/g, ''), code: sectionCode(to) }] : [];
  });
  const [first, second] = mapped;
  if (style.kind === 'text-style') return '@';
  if (first?.condition === 'value()>=0') return `${first.code};${base}`;
  if (first?.condition === 'value()>0' && second?.condition === 'value()<0') {
    return `${first.code};${second.code};${base}`;
  }
  return base;
}

function sectionCode(style: DataStyle): string {
  const codes = style.parts.map((part) => partCode(part, style));
  if (!codes.includes(undefined)) return codes.join('') || '""';
  if (style.kind === 'date-style') return 'yyyy-mm-dd';
  return style.kind === 'time-style' ? 'hh:mm:ss' : 'General';
}

function partCode({ name, attributes, text, embedded }: DataStylePart, style: DataStyle): string | undefined {
  const long = attributes.get('style') === 'long';
  const count = (attribute: string) => Math.min(Number(attributes.get(attribute)) || 0, 20);
  switch (name) {
    case 'text':
      return style.kind === 'percentage-style' && text.includes('%')
        ? text.split('%').map(literal).join('%')
        : /^[-/., :]*$/.test(text) && /^(?:date|time)-/.test(style.kind)
          ? text
          : literal(text);
    case 'currency-symbol':
      return literal(text);
    case 'fill-character':
    case 'text-properties':
      return '';
    case 'number':
      return numberCode(attributes, embedded);
    case 'scientific-number':
      return `${digits(attributes)}${decimals(attributes)}E+${'0'.repeat(Math.max(1, count('min-exponent-digits')))}`;
    case 'fraction': {
      const bottom = attributes.get('denominator-value');
      return `# ${'?'.repeat(Math.max(1, count('min-numerator-digits')))}/${
        bottom && /^\d{1,5}$/.test(bottom) ? bottom : '?'.repeat(Math.max(1, count('min-denominator-digits')))
      }`;
    }
    case 'boolean':
      return 'General';
    case 'text-content':
      return '@';
    case 'day':
      return long ? 'dd' : 'd';
    case 'month':
      if (attributes.get('textual') === 'true') return long ? 'mmmm' : 'mmm';
      return long ? 'mm' : 'm';
    case 'year':
      return long ? 'yyyy' : 'yy';
    case 'day-of-week':
      return long ? 'dddd' : 'ddd';
    case 'hours': {
      const hours = long ? 'hh' : 'h';
      return style.attributes.get('truncate-on-overflow') === 'false' ? `[${hours}]` : hours;
    }
    case 'minutes':
      return long ? 'mm' : 'm';
    case 'seconds':
      return (long ? 'ss' : 's') + decimals(attributes);
    case 'am-pm':
      return 'AM/PM';
    default:
      return undefined;
  }
}

/** Quoted, unless it is made of characters that stand for themselves in every code. */
function literal(text: string): string {
  if (/^[-$: ()]*$/.test(text)) return text;
  return text
    .split('"')
    .map((piece) => (piece === '' ? '' : `"${piece}"`))
    .join('\\"');
}

function digits(attributes: Attributes): string {
  return '0'.repeat(Math.min(Number(attributes.get('min-integer-digits')) || 0, 20)) || '#';
}

function decimals(attributes: Attributes): string {
  const most = Math.min(Number(attributes.get('decimal-places')) || 0, 20);
  if (most === 0) return '';
  const replaced = attributes.get('decimal-replacement') === '';
  const least = attributes.get('min-decimal-places');
  const fixed = least === undefined ? (replaced ? 0 : most) : Math.min(Number(least) || 0, most);
  return `.${'0'.repeat(fixed)}${'#'.repeat(most - fixed)}`;
}

function numberCode(attributes: Attributes, embedded: DataStylePart['embedded']): string {
  const grouped = attributes.get('grouping') === 'true';
  const whole = digits(attributes);
  if (attributes.get('decimal-places') === undefined && !grouped && whole.length === 1 && embedded.length === 0) {
    return 'General';
  }
  const thousands = Math.round(Math.log10(Number(attributes.get('display-factor')) || 1) / 3);
  return (grouped ? groupedDigits(whole) : withTexts(whole, embedded)) + decimals(attributes) + ','.repeat(thousands);
}

function groupedDigits(whole: string): string {
  const padded = whole.padStart(4, '#');
  return `${padded.slice(0, -3)},${padded.slice(-3)}`;
}

/** `0000-00`: a text at position 2 stands before the last two digits. */
function withTexts(whole: string, embedded: DataStylePart['embedded']): string {
  let code = whole;
  for (const { position, text } of [...embedded].sort((a, b) => b.position - a.position).reverse()) {
    const at = whole.length - position;
    if (at > 0) code = code.slice(0, at) + literal(text) + code.slice(at);
  }
  return code;
}
