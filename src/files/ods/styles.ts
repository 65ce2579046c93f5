import { numberFormat } from '../number/number-format.js';
import { xmlAttributes, xmlText } from '../package/xml-scan.js';
import type { CellFormat } from '../xlsx/workbook.js';
import { DATA_STYLES, type DataStyle, type DataStylePart, formatCode } from './data-style.js';

/** Takes the elements that stand before the sheets, and answers what the sheets ask of them. */
export interface OdsStyles {
  open(bytes: Buffer, nameFrom: number, nameTo: number, to: number, empty: boolean): void;
  close(bytes: Buffer, nameFrom: number, nameTo: number): void;
  text(bytes: Buffer, from: number, to: number, raw: boolean): void;
  /** Whether sheets of this style are hidden. */
  hides(style: string): boolean;
  /** How cells of this style show their numbers; undefined for General. */
  format(style: string): CellFormat | undefined;
  dataStyle(name: string): DataStyle | undefined;
}

interface CellStyle {
  readonly data: string | undefined;
  readonly parent: string | undefined;
}

/** More styles than a workbook may have are not kept; their cells count as General. */
const MOST = 65_536;
const DEEPEST = 16;

/**
 * `part`: styles.xml holds the styles that have names of their own, and automatic ones of its pages, which are none of
 * ours; `content` is content.xml or a flat file. `common`: the styles of styles.xml, which those of content.xml build on.
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
  let shown: DataStylePart | undefined;
  let texts: { text: string } | undefined;

  function openPart(tag: string, attributes: ReadonlyMap<string, string>, empty: boolean): void {
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

  function resolve(of: string): CellFormat | undefined {
    let at: string | undefined = of;
    for (let depth = 0; at !== undefined && depth < DEEPEST; depth++) {
      const found: CellStyle | undefined = cells.get(at);
      if (!found) return common?.format(at);
      const numbers = found.data === undefined ? undefined : dataStyle(found.data);
      if (numbers) {
        const code = formatCode(numbers, dataStyle);
        const format = numberFormat(code);
        return format.kind === 'general' ? undefined : { code, format };
      }
      at = found.parent;
    }
    return undefined;
  }

  return {
    open(bytes, nameFrom, nameTo, to, empty) {
      const tag = bytes.toString('latin1', nameFrom, nameTo);
      if (foreignParts.includes(tag)) foreign = !empty;
      if (foreign) return;
      if (style) openPart(tag, xmlAttributes(bytes, nameTo, to), empty);
      else if (DATA_STYLES.has(tag)) {
        const attributes = xmlAttributes(bytes, nameTo, to);
        const made = { kind: tag, attributes, parts: [], maps: [] };
        if (data.size < MOST) data.set(attributes.get('name') ?? '', made);
        style = empty ? undefined : made;
      } else if (tag === 'style') {
        const attributes = xmlAttributes(bytes, nameTo, to);
        family = attributes.get('family') ?? '';
        name = attributes.get('name') ?? '';
        if (family === 'table-cell' && cells.size < MOST) {
          cells.set(name, { data: attributes.get('data-style-name'), parent: attributes.get('parent-style-name') });
        }
      } else if (tag === 'table-properties' && family === 'table') {
        if (xmlAttributes(bytes, nameTo, to).get('display') === 'false' && hidden.size < MOST) hidden.add(name);
      }
    },
    close(bytes, nameFrom, nameTo) {
      const tag = bytes.toString('latin1', nameFrom, nameTo);
      if (foreignParts.includes(tag)) foreign = false;
      else if (style && DATA_STYLES.has(tag)) style = undefined;
      else if (tag === 'style') family = '';
      texts = undefined;
    },
    text(bytes, from, to, raw) {
      if (texts && texts.text.length < 256) texts.text += xmlText(bytes, from, to, raw);
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
