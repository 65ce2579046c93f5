import { formatNumber } from '../../model/count-text.js';
import { runFailure } from '../../model/error.js';
import { type Cell, isBlank, type RowFault } from '../../model/row.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';
import { textFault, truncatedText } from '../cell-faults.js';
import type { SourceLimits } from '../limits.js';
import { createXmlScanner, type XmlScanner, type XmlTag, xmlText } from '../package/xml-scan.js';
import type { WorkbookFile } from '../package/zip.js';
import { type CellRange, SHEET_COLUMNS, SHEET_ROWS } from '../table/cell-range.js';
import { type BookSheet, openSheet, type SheetScan, type StoredRow } from '../table/open-sheet.js';
import { odsCell } from './cell.js';

/**
 * Opens one sheet of an OpenDocument spreadsheet (.ods, .ots). All sheets lie in one part, which is scanned once to its
 * end before anything else: the sheets are listed, and a damaged file is refused before a row is handed out. Memory
 * holds a row. Throws `RunError`.
 */
export async function openOds(
  { path, gzip, archive }: WorkbookFile,
  options: SourceOptions,
  limits: SourceLimits,
): Promise<OpenSource> {
  if (!archive.has(CONTENT)) {
    throw runFailure(
      `${path}: the OpenDocument file lacks its part ${CONTENT}. It was refused whole, nothing was sent. Save it again.`,
    );
  }
  const index = new OdsScan({ what: `${path}: ${CONTENT}`, limits });
  for await (const chunk of archive.stream(CONTENT)) index.push(chunk);
  index.finish();
  if (index.sheets.length === 0) {
    throw runFailure(`${path}: this OpenDocument file holds no sheet. Save the table again as .ods or .xlsx.`);
  }
  const book = {
    path,
    format: 'ods' as const,
    gzip,
    limits,
    sheets: index.sheets,
    evidence: [],
    stream: () => pieces(archive.stream(CONTENT)),
    scan: ({ name, place }: BookSheet, onRow: (row: StoredRow) => void) =>
      new OdsScan({ what: `${path}: sheet "${name}"`, limits, place, onRow }),
  };
  return openSheet(book, options);
}

const PIECE = 32 * 1024;

/** Few bytes may stand for many cells, so that rows are handed on after few bytes. */
async function* pieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE) yield chunk.subarray(at, at + PIECE);
  }
}

/** The part of the file that holds all sheets. */
const CONTENT = 'content.xml';
const MOST_SHEETS = 10_000;
/** Of the one sheet that is read. */
const MAX_MERGES = 1_000;

/** Copies of cells of other files, which formulas refer to; no program shows them. */
const COPY_OF_OTHER_FILE = /^'.+'#\$/;

type Attributes = ReadonlyMap<string, string>;

/** Where the scan is; in a paragraph also within its elements. */
type ScanState = 'head' | 'spreadsheet' | 'sheet' | 'row' | 'cell' | 'paragraph';

/** Elements that stand around columns and rows without a meaning of their own here. */
const GROUPS = /^table-(?:(?:header-)?(?:columns|rows)|(?:column|row)-group)$/;
/** Elements of a paragraph whose text is not text of the cell. */
const ASIDES =
  /^(?:annotation|note|ruby-text|tracked-changes|frame|custom-shape|g|rect|line|polyline|polygon|regular-polygon|path|circle|ellipse|connector|caption|measure|control|scene|object)$/;

interface OdsScanOptions {
  /** File and sheet, for messages. */
  readonly what: string;
  readonly limits: SourceLimits;
  /** The one sheet that is read, by its place, copies of other files included; without it all are gone through and listed. */
  readonly place?: number;
  /** Told of every row that holds a filled cell. */
  readonly onRow?: (row: StoredRow) => void;
}

/**
 * Scans content.xml. Only sheets that stand directly in the spreadsheet count, only rows that stand directly in them or in
 * their groups, only paragraphs that stand directly in a cell: what tracked changes, notes, shapes, charts and copies of
 * other files hold is passed over with them.
 */
class OdsScan implements SheetScan {
  skim = false;
  /** The end of the sheet that is read. */
  ended = false;
  hiddenRows = 0;
  mergeCount = 0;
  readonly mergedRanges: CellRange[] = [];
  readonly sheets: BookSheet[] = [];
  readonly push: XmlScanner['push'];
  readonly finish: XmlScanner['finish'];
  readonly #options: OdsScanOptions;
  readonly #path: ScanState[] = [];
  /** Depth within an element that is passed over. */
  #passed = 0;
  /** Styles of hidden sheets, which stand before the sheets, and the last style of sheets. */
  readonly #hiding = new Set<string>();
  #sheetStyle = '';

  #place = -1;
  /** Whether the cells of the sheet count. */
  #active = false;
  #name = '';
  #style = '';
  #width = 0;
  /** The column after the last that is described. */
  #described = 0;
  readonly #hiddenColumns: (readonly [number, number])[] = [];

  #row = 1;
  #times = 1;
  #rowHidden = false;
  #cells: Cell[] = [];
  #faults: RowFault[] | undefined;
  #beyond = false;

  #column = 0;
  #cell: Attributes = new Map();
  #covered = false;
  #text: string | undefined;

  constructor(options: OdsScanOptions) {
    this.#options = options;
    const scanner = createXmlScanner(options.what, {
      open: (tag) => {
        const at = this.#passed > 0 ? undefined : this.#enter(tag);
        if (tag.empty) {
          if (at) this.#leave(at);
        } else if (at) this.#path.push(at);
        else this.#passed++;
        return undefined;
      },
      close: () => {
        if (this.#passed > 0) this.#passed--;
        else this.#leave(this.#path.pop());
      },
      text: (bytes, from, to, form) => {
        if (this.#passed > 0) return;
        // Also where nobody reads it: an entity that XML does not define is found before the first row is handed out.
        if (this.#path.at(-1) === 'paragraph') this.#add(xmlText(bytes, from, to, form));
      },
    });
    this.push = scanner.push;
    this.finish = scanner.finish;
  }

  get hiddenColumns(): number {
    return this.#hiddenColumns.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, this.#width) - from), 0);
  }

  /** What an element is where it stands; undefined for one that is passed over with all it holds. */
  #enter(tag: XmlTag): ScanState | undefined {
    const { name } = tag;
    switch (this.#path.at(-1)) {
      case undefined:
      case 'head':
        if (name === 'spreadsheet') return 'spreadsheet';
        if (this.#options.place === undefined) this.#noteHiding(tag);
        return 'head';
      case 'spreadsheet':
        if (name !== 'table') return undefined;
        this.#openSheet(tag.attributes());
        return 'sheet';
      case 'sheet':
        if (GROUPS.test(name)) return 'sheet';
        if (name === 'table-column') this.#addColumn(tag.attributes());
        if (name !== 'table-row') return undefined;
        this.#openRow(tag.attributes());
        return 'row';
      case 'row':
        if (name !== 'table-cell' && name !== 'covered-table-cell') return undefined;
        this.#covered = name !== 'table-cell';
        this.#cell = tag.attributes();
        this.#text = undefined;
        return 'cell';
      case 'cell':
        if (name !== 'p') return undefined;
        this.#text = this.#text === undefined ? '' : `${this.#text}\n`;
        return 'paragraph';
      case 'paragraph':
        if (ASIDES.test(name)) return undefined;
        if (name === 'tab') this.#add('\t');
        else if (name === 'line-break') this.#add('\n');
        else if (name === 's')
          this.#add(' '.repeat(Math.min(repeatCount(tag.attributes(), 'c'), this.#options.limits.cellCharacters + 1)));
        return 'paragraph';
    }
  }

  #leave(at: ScanState | undefined): void {
    if (at === 'cell') this.#closeCell();
    else if (at === 'row') this.#closeRow();
    else if (at === 'sheet' && this.#path.at(-1) === 'spreadsheet') this.#closeSheet();
  }

  #noteHiding(tag: XmlTag): void {
    if (tag.name !== 'style' && tag.name !== 'table-properties') return;
    const attributes = tag.attributes();
    if (tag.name === 'style')
      this.#sheetStyle = attributes.get('family') === 'table' ? (attributes.get('name') ?? '') : '';
    else if (attributes.get('display') === 'false' && this.#hiding.size < MOST_SHEETS)
      this.#hiding.add(this.#sheetStyle);
  }

  #openSheet(attributes: Attributes): void {
    const { what, place } = this.#options;
    this.#name = attributes.get('name') ?? '';
    this.#style = attributes.get('style-name') ?? '';
    this.#place++;
    this.#active = place === undefined || place === this.#place;
    if (this.#place >= MOST_SHEETS) {
      throw runFailure(`${what}: holds more than ${formatNumber(MOST_SHEETS)} sheets.`);
    }
    if (!this.#active) return;
    this.#described = 0;
    this.#row = 0;
    this.#times = 1;
    this.#width = 0;
  }

  #closeSheet(): void {
    if (this.#options.place === undefined && !COPY_OF_OTHER_FILE.test(this.#name)) {
      const state = this.#style !== '' && this.#hiding.has(this.#style) ? 'hidden' : 'visible';
      this.sheets.push({ name: this.#name, part: CONTENT, place: this.#place, state, blank: this.#width === 0 });
    }
    this.ended ||= this.#options.place === this.#place;
    this.#active = false;
  }

  #addColumn(attributes: Attributes): void {
    const from = this.#described;
    if (!this.#active || from > this.#options.limits.columns) return;
    this.#described += repeatCount(attributes, 'number-columns-repeated');
    if (isHidden(attributes)) this.#hiddenColumns.push([from, this.#described]);
  }

  #openRow(attributes: Attributes): void {
    this.#row += this.#times;
    this.#times = repeatCount(attributes, 'number-rows-repeated');
    this.#rowHidden = isHidden(attributes);
    this.#column = 0;
    this.#cells = [];
    this.#faults = undefined;
    this.#beyond = false;
  }

  #closeRow(): void {
    if (this.#cells.length === 0 && !this.#beyond) return;
    const end = this.#row + this.#times;
    if (end - 1 > SHEET_ROWS) {
      throw runFailure(
        `${this.#options.what}: the sheet "${this.#name}" has filled cells below row ${formatNumber(SHEET_ROWS)}, ` +
          'the last one that is read. Split the table into several files.',
      );
    }
    if (this.#rowHidden) this.hiddenRows += this.#times;
    const [cells, faults, tooWide] = [this.#cells, this.#faults, this.#beyond];
    this.#options.onRow?.({ row: this.#row, cells, faults, tooWide, repeat: this.#times });
  }

  #closeCell(): void {
    const repeat = repeatCount(this.#cell, 'number-columns-repeated');
    if (this.#active) {
      this.#noteMerge();
      if (!this.#covered && !this.skim) this.#put(this.#checked(odsCell(this.#cell, this.#text), repeat), repeat);
      else if (!this.#covered && (this.#cell.has('value-type') || this.#text)) this.#put('x', repeat);
    }
    this.#column += repeat;
  }

  #noteMerge(): void {
    const [columns, rows] = [
      repeatCount(this.#cell, 'number-columns-spanned'),
      repeatCount(this.#cell, 'number-rows-spanned'),
    ];
    if (this.#covered || this.#options.place === undefined || (columns === 1 && rows === 1)) return;
    this.mergeCount++;
    if (this.mergedRanges.length >= MAX_MERGES) return;
    const right = Math.min(this.#column + columns, SHEET_COLUMNS) - 1;
    const left = Math.min(this.#column, SHEET_COLUMNS - 1);
    this.mergedRanges.push({ top: this.#row, bottom: this.#row + rows - 1, left, right });
  }

  /** The cell, or what is kept of one with a fault: what a number or an error shows is text, too. */
  #checked(cell: Cell, repeat: number): Cell {
    const { cellCharacters, columns } = this.#options.limits;
    const text = typeof cell === 'string' ? cell : (this.#text ?? '');
    if (!textFault(text, 0, cellCharacters)) return cell;
    this.#faults ??= [];
    for (let at = this.#column; at < Math.min(this.#column + repeat, columns); at++)
      this.#faults.push(textFault(text, at, cellCharacters)!);
    return truncatedText(text, cellCharacters);
  }

  #put(cell: Cell, repeat: number): void {
    if (cell === '') return;
    const { columns } = this.#options.limits;
    if (!isBlank(cell)) this.#width = Math.max(this.#width, this.#column + repeat);
    if (this.#column + repeat > columns && !isBlank(cell)) this.#beyond = true;
    while (this.#cells.length < Math.min(this.#column, columns)) this.#cells.push('');
    for (let at = this.#column; at < Math.min(this.#column + repeat, columns); at++) this.#cells.push(cell);
  }

  #add(piece: string): void {
    // A text that is too long is refused; one character more than may be shows that it is.
    if (this.#active && (this.#text ?? '').length <= this.#options.limits.cellCharacters) this.#text += piece;
  }
}

const MOST_TIMES = 2 ** 31;

/** A count from 1; what is none counts as 1. */
function repeatCount(attributes: Attributes, name: string): number {
  const count = Number(attributes.get(name) ?? 1);
  return count >= 1 && Number.isInteger(count) ? Math.min(count, MOST_TIMES) : 1;
}

function isHidden(attributes: Attributes): boolean {
  return /^(?:collapse|filter)$/.test(attributes.get('visibility') ?? '');
}
