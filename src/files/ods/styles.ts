import type { XmlTag } from '../package/xml-scan.js';

/** Takes the elements that stand before the sheets, and answers what the sheets ask of them. */
export interface OdsStyles {
  open(tag: XmlTag): void;
  close(name: string): void;
  /** Whether sheets of this style are hidden. */
  hides(style: string): boolean;
  /** Whether cells of this style show their numbers otherwise than General, whose text may be cut to the width of its column. */
  formats(style: string): boolean;
  /** Whether the numbers of a data style look so; undefined where it is not known. */
  dataFormats(name: string): boolean | undefined;
}

const DATA_STYLE = /^(?:number|currency|percentage|date|time|boolean|text)-style$/;

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
  const data = new Map<string, boolean>();
  let family = '';
  let name = '';
  /** Styles of pages and of headers and footers: they share names with those of the sheets. */
  let foreign = false;
  /** The data style that is open. */
  let style: string | undefined;

  return {
    open(tag) {
      const { name: element, empty } = tag;
      if (foreignParts.includes(element)) foreign = !empty;
      if (foreign) return;
      const attributes = tag.attributes();
      if (style !== undefined) {
        if (element !== 'text-properties' && !(element === 'number' && isPlain(attributes))) data.set(style, true);
      } else if (DATA_STYLE.test(element)) {
        const of = attributes.get('name') ?? '';
        if (data.size < MOST) data.set(of, element !== 'number-style');
        style = empty ? undefined : of;
      } else if (element === 'style') {
        family = attributes.get('family') ?? '';
        name = attributes.get('name') ?? '';
        if (family === 'table-cell' && cells.size < MOST)
          cells.set(name, { data: attributes.get('data-style-name'), parent: attributes.get('parent-style-name') });
      } else if (element === 'table-properties' && family === 'table') {
        if (attributes.get('display') === 'false' && hidden.size < MOST) hidden.add(name);
      }
    },
    close(element) {
      if (foreignParts.includes(element)) foreign = false;
      else if (DATA_STYLE.test(element)) style = undefined;
      else if (element === 'style') family = '';
    },
    dataFormats: (of) => data.get(of) ?? common?.dataFormats(of),
    hides: (of) => hidden.has(of) || (common?.hides(of) ?? false),
    formats(of) {
      let at: string | undefined = of;
      for (let depth = 0; at !== undefined && depth < DEEPEST; depth++) {
        const found: CellStyle | undefined = cells.get(at);
        if (!found) return common?.formats(at) ?? false;
        const known: boolean | undefined = found.data === undefined ? undefined : this.dataFormats(found.data);
        if (known !== undefined) return known;
        at = found.parent;
      }
      return false;
    },
  };
}

/** A number as General shows it. */
function isPlain(attributes: ReadonlyMap<string, string>): boolean {
  return (
    attributes.get('decimal-places') === undefined &&
    attributes.get('grouping') !== 'true' &&
    Number(attributes.get('min-integer-digits') ?? 1) <= 1
  );
}
