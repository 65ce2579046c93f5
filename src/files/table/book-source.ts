import type { Cell, RowFault } from '../../model/row.js';
import type { SourceFormat } from '../../model/source.js';
import type { SourceLimits } from '../limits.js';
import type { XmlScanner } from '../package/xml-scan.js';

/** A sheet as its workbook lists it. */
export interface BookSheet {
  readonly name: string;
  /** The part of the file that holds its cells; undefined for chart and dialogue sheets, which hold none. */
  readonly part: string | undefined;
  readonly state: 'visible' | 'hidden' | 'veryHidden';
  /** Known to hold no filled cell. */
  readonly blank?: boolean;
}

/** What is to be said of a sheet besides its cells. */
export interface SheetFacts {
  /** How many hidden rows stand after a row. */
  hiddenAfter(row: number): number;
  readonly hiddenColumns: number;
  /** References of merged ranges (`B5:D5`), at most 1,000; `merges` counts all. */
  readonly mergedRanges: readonly string[];
  readonly merges: number;
}

/** A row of a sheet as it is stored: cells by column, without those beyond the last one that is stored. */
export interface BookRow {
  readonly row: number;
  readonly cells: Cell[];
  readonly faults: RowFault[] | undefined;
  /** A filled cell beyond the limit of columns. */
  readonly beyond: boolean;
  /** It stands in the sheet so many times, one below the other; once where that is absent. */
  readonly times?: number;
}

/** A scan of one sheet. Its facts are known at the end. */
export interface BookScan extends XmlScanner, SheetFacts {
  /** While true, rows are only counted and checked, their cells are not read. */
  skim: boolean;
  /** Nothing that follows is of concern, though the file goes on. */
  readonly ended?: boolean;
}

/** What a workbook of any format offers to the choice of a sheet, the search for its heading and its rows. */
export interface Book<Sheet extends BookSheet = BookSheet> {
  readonly path: string;
  readonly format: SourceFormat;
  readonly gzip: boolean;
  readonly limits: SourceLimits;
  readonly sheets: readonly Sheet[];
  /** What is said about the whole workbook, after the evidence for sheet and heading. */
  readonly evidence: readonly string[];
  /** A scan of one sheet, from its beginning; `stream` hands out the bytes it is fed with. */
  scan(sheet: Sheet, onRow: (row: BookRow) => void): BookScan;
  stream(sheet: Sheet): AsyncIterable<Buffer>;
}
