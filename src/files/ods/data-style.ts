/** A part of a data style of OpenDocument: `number:day`, `number:text` and their like. */
export interface DataStylePart {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  text: string;
  /** Texts within the digits of a number, by their distance from its decimal point. */
  readonly embedded: { readonly position: number; text: string }[];
}

/** A data style: how numbers, dates or texts are shown. `maps` names the styles that stand in for it on a condition. */
export interface DataStyle {
  readonly kind: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly parts: DataStylePart[];
  readonly maps: { readonly condition: string; readonly name: string }[];
}

/** Local names of the elements that are data styles. */
export const DATA_STYLES: ReadonlySet<string> = new Set([
  'number-style',
  'currency-style',
  'percentage-style',
  'date-style',
  'time-style',
  'boolean-style',
  'text-style',
]);

/**
 * The number format code of a data style, as workbooks of the other kind write it, so that a report can show the cell
 * as it was. A date or a time keeps one even where the style says what no code can.
 */
export function formatCode(style: DataStyle, find: (name: string) => DataStyle | undefined): string {
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

function digits(attributes: ReadonlyMap<string, string>): string {
  return '0'.repeat(Math.min(Number(attributes.get('min-integer-digits')) || 0, 20)) || '#';
}

function decimals(attributes: ReadonlyMap<string, string>): string {
  const most = Math.min(Number(attributes.get('decimal-places')) || 0, 20);
  if (most === 0) return '';
  const replaced = attributes.get('decimal-replacement') === '';
  const least = attributes.get('min-decimal-places');
  const fixed = least === undefined ? (replaced ? 0 : most) : Math.min(Number(least) || 0, most);
  return `.${'0'.repeat(fixed)}${'#'.repeat(most - fixed)}`;
}

function numberCode(attributes: ReadonlyMap<string, string>, embedded: DataStylePart['embedded']): string {
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
