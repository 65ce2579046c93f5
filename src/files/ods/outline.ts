import { asciiText } from '../encoding/byte-text.js';
import { createXmlScanner, type XmlScanner } from '../package/xml-scan.js';

/**
 * What of an OpenDocument spreadsheet is told: its sheets, their columns, rows, cells and paragraphs. `from` and `to`
 * are the range of an element's attributes.
 */
export interface OdsEvents {
  /** Elements before the sheets: styles. */
  head: {
    open(bytes: Buffer, nameFrom: number, nameTo: number, to: number, empty: boolean): void;
    close(bytes: Buffer, nameFrom: number, nameTo: number): void;
    text(bytes: Buffer, from: number, to: number, raw: boolean): void;
  };
  sheet(bytes: Buffer, from: number, to: number): void;
  sheetEnd(): void;
  column(bytes: Buffer, from: number, to: number): void;
  row(bytes: Buffer, from: number, to: number): void;
  rowEnd(): void;
  /** `covered`: hidden under a merged cell. */
  cell(bytes: Buffer, from: number, to: number, covered: boolean): void;
  cellEnd(): void;
  paragraph(): void;
  /** Text of the paragraph. */
  text(bytes: Buffer, from: number, to: number, raw: boolean): void;
  /** Characters that stand as elements: blanks, a tab, a line break. */
  characters(text: string): void;
  blanks(bytes: Buffer, from: number, to: number): void;
}

enum At {
  head,
  sheets,
  sheet,
  row,
  cell,
  paragraph,
  end,
}

/** Elements that stand around columns and rows without a meaning of their own here. */
const GROUPS: ReadonlySet<string> = new Set([
  'table-columns',
  'table-header-columns',
  'table-column-group',
  'table-rows',
  'table-header-rows',
  'table-row-group',
]);

/** Elements of a paragraph whose text is not text of the cell. */
const ASIDES: ReadonlySet<string> = new Set([
  'annotation',
  'note',
  'ruby-text',
  'tracked-changes',
  'frame',
  'custom-shape',
  'g',
  'rect',
  'line',
  'polyline',
  'polygon',
  'regular-polygon',
  'path',
  'circle',
  'ellipse',
  'connector',
  'caption',
  'measure',
  'control',
  'scene',
  'object',
]);

const T = 0x74;
const P = 0x70;
const S = 0x73;

/**
 * Scans content.xml or a flat spreadsheet. Only sheets that stand directly in the spreadsheet count, only rows that
 * stand directly in them or in their groups, only paragraphs that stand directly in a cell: what tracked changes, notes,
 * shapes, charts and copies of other files hold is passed over with them.
 */
export function createOdsOutline(what: string, events: OdsEvents): XmlScanner {
  let at = At.head;
  /** Depth within an element that is passed over, and within the elements of a paragraph. */
  let passed = 0;
  let inner = 0;

  return createXmlScanner(what, {
    open(bytes, nameFrom, nameTo, to, empty) {
      const length = nameTo - nameFrom;
      if (passed > 0) {
        if (!empty) passed++;
        return isPicture(bytes, nameFrom, length);
      }
      switch (at) {
        case At.row: {
          const covered = length === 18 && asciiText(bytes, nameFrom, nameTo) === 'covered-table-cell';
          if (covered || (length === 10 && bytes[nameFrom] === T && bytes[nameTo - 1] === 0x6c)) {
            events.cell(bytes, nameTo, to, covered);
            if (empty) events.cellEnd();
            else at = At.cell;
          } else if (!empty) passed = 1;
          return;
        }
        case At.cell:
          if (length === 1 && bytes[nameFrom] === P) {
            events.paragraph();
            if (!empty) at = At.paragraph;
          } else if (!empty) passed = 1;
          return;
        case At.paragraph:
          if (length === 1 && bytes[nameFrom] === S) events.blanks(bytes, nameTo, to);
          else if (length > 1) {
            const name = asciiText(bytes, nameFrom, nameTo);
            if (name === 'tab') events.characters('\t');
            else if (name === 'line-break') events.characters('\n');
            else if (ASIDES.has(name)) {
              if (!empty) passed = 1;
              return;
            }
          }
          if (!empty) inner++;
          return;
        case At.sheet: {
          const name = asciiText(bytes, nameFrom, nameTo);
          if (name === 'table-row') {
            events.row(bytes, nameTo, to);
            if (empty) events.rowEnd();
            else at = At.row;
          } else if (name === 'table-column') {
            events.column(bytes, nameTo, to);
            if (!empty) passed = 1;
          } else if (!GROUPS.has(name) && !empty) passed = 1;
          return;
        }
        case At.sheets:
          if (asciiText(bytes, nameFrom, nameTo) === 'table') {
            events.sheet(bytes, nameTo, to);
            if (empty) events.sheetEnd();
            else at = At.sheet;
          } else if (!empty) passed = 1;
          return;
        case At.head:
          if (length === 11 && asciiText(bytes, nameFrom, nameTo) === 'spreadsheet') {
            at = empty ? At.end : At.sheets;
            return;
          }
          events.head.open(bytes, nameFrom, nameTo, to, empty);
          return isPicture(bytes, nameFrom, length);
      }
    },
    close(bytes, nameFrom, nameTo) {
      if (passed > 0) {
        passed--;
        return;
      }
      switch (at) {
        case At.paragraph:
          if (inner > 0) inner--;
          else at = At.cell;
          return;
        case At.cell:
          at = At.row;
          events.cellEnd();
          return;
        case At.row:
          at = At.sheet;
          events.rowEnd();
          return;
        case At.sheet:
          if (GROUPS.has(asciiText(bytes, nameFrom, nameTo))) return;
          at = At.sheets;
          events.sheetEnd();
          return;
        case At.sheets:
          at = At.end;
          return;
        case At.head:
          events.head.close(bytes, nameFrom, nameTo);
          return;
      }
    },
    text(bytes, from, to, raw) {
      if (passed > 0) return;
      if (at === At.paragraph) events.text(bytes, from, to, raw);
      else if (at === At.head) events.head.text(bytes, from, to, raw);
    },
  });
}

/** Pictures of a flat file, as long as they like. */
function isPicture(bytes: Buffer, from: number, length: number): boolean {
  return length === 11 && bytes[from] === 0x62 && asciiText(bytes, from, from + length) === 'binary-data';
}
