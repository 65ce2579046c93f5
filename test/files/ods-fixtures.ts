import { type ZipPart, zipOf } from './fixtures.js';

const NAMESPACES = [
  ['office', 'urn:oasis:names:tc:opendocument:xmlns:office:1.0'],
  ['table', 'urn:oasis:names:tc:opendocument:xmlns:table:1.0'],
  ['text', 'urn:oasis:names:tc:opendocument:xmlns:text:1.0'],
  ['style', 'urn:oasis:names:tc:opendocument:xmlns:style:1.0'],
  ['number', 'urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0'],
  ['draw', 'urn:oasis:names:tc:opendocument:xmlns:drawing:1.0'],
  ['calcext', 'urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0'],
]
  .map(([prefix, uri]) => `xmlns:${prefix}="${uri}"`)
  .join(' ');

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

export interface OdsSpec {
  /** What stands in `office:spreadsheet`. */
  readonly body: string;
  /** What stands in `office:automatic-styles`. */
  readonly styles?: string;
  readonly type?: string;
  readonly manifest?: string;
  readonly replace?: Readonly<Record<string, Partial<ZipPart>>>;
}

const TYPE = 'application/vnd.oasis.opendocument.spreadsheet';

/** An OpenDocument spreadsheet with the least it needs. */
export function odsOf({ body, styles = '', type = TYPE, manifest = '', replace = {} }: OdsSpec): Buffer {
  const parts: ZipPart[] = [
    { name: 'mimetype', data: type, stored: true },
    {
      name: 'content.xml',
      data:
        `${HEAD}<office:document-content ${NAMESPACES}><office:automatic-styles>${styles}</office:automatic-styles>` +
        `<office:body><office:spreadsheet>${body}</office:spreadsheet></office:body></office:document-content>`,
    },
    {
      name: 'META-INF/manifest.xml',
      data: `${HEAD}<manifest:manifest xmlns:manifest="m"><manifest:file-entry manifest:full-path="/" manifest:media-type="${type}"/>${manifest}</manifest:manifest>`,
    },
  ];
  return zipOf(parts.map((part) => ({ ...part, ...replace[part.name] })));
}

export const sheetXml = (name: string, rows: string, attributes = '') =>
  `<table:table table:name="${name}"${attributes}>${rows}</table:table>`;

export const rowXml = (cells: string, attributes = '') => `<table:table-row${attributes}>${cells}</table:table-row>`;

/** A cell of a type; `paragraphs` is what stands in it. */
export const cellXml = (paragraphs: string, attributes = '') =>
  paragraphs === ''
    ? `<table:table-cell${attributes}/>`
    : `<table:table-cell${attributes}>${paragraphs}</table:table-cell>`;

export const typed = (type: string, value: string, shown: string, more = '') => {
  const name = { date: 'date-value', time: 'time-value', boolean: 'boolean-value' }[type] ?? 'value';
  return cellXml(
    shown === '' ? '' : `<text:p>${shown}</text:p>`,
    ` office:value-type="${type}" office:${name}="${value}"${more}`,
  );
};

export const textCell = (text: string, more = '') =>
  cellXml(`<text:p>${text}</text:p>`, ` office:value-type="string"${more}`);

/** Rows of texts. */
export const textSheet = (rows: readonly (readonly string[])[]) =>
  rows.map((cells) => rowXml(cells.map((text) => (text === '' ? cellXml('') : textCell(text))).join(''))).join('');
