/** Bounds on what a file may ask of the process. Everything above is refused in words, never tried. */
export interface SourceLimits {
  /** Columns of a table. */
  readonly columns: number;
  /** Characters of a cell; the limit of spreadsheet programs. */
  readonly cellCharacters: number;
  /** Bytes of one CSV record or NDJSON line. */
  readonly recordBytes: number;
  /** Bytes of one unpacked file or zip entry. */
  readonly unpackedBytes: number;
  /** Unpacked size over packed size, looked at only above `ratioFromBytes`. */
  readonly ratio: number;
  readonly ratioFromBytes: number;
  /** Entries of a zip file. */
  readonly zipEntries: number;
  /** Bytes of a workbook part that is read whole (workbook, styles, relations). */
  readonly partBytes: number;
  /** Bytes of the shared strings of a workbook. */
  readonly sharedStringBytes: number;
  /** Bytes of them that are kept in memory; beyond that they go to a file. */
  readonly sharedStringMemory: number;
  /** Folder of that file, instead of the system's folder for temporary files. */
  readonly spillFolder?: string;
  /** Bytes of a gzipped workbook, which is unpacked into memory. */
  readonly gzippedWorkbookBytes: number;
}

const MB = 1024 * 1024;

export const DEFAULT_LIMITS: SourceLimits = {
  columns: 1_000,
  cellCharacters: 32_767,
  recordBytes: 4 * MB,
  unpackedBytes: 8 * 1024 * MB,
  ratio: 300,
  ratioFromBytes: 64 * MB,
  zipEntries: 10_000,
  partBytes: 32 * MB,
  sharedStringBytes: 4 * 1024 * MB,
  sharedStringMemory: 64 * MB,
  gzippedWorkbookBytes: 256 * MB,
};
