const MB = 1024 * 1024;

/** Bounds on what a file may ask of the process. Everything above is refused in words, never tried. */
export const DEFAULT_LIMITS = {
  /** Columns of a table. */
  columns: 1_000,
  /** Characters of a cell; the limit of spreadsheet programs. */
  cellCharacters: 32_767,
  /** Bytes of one CSV record or NDJSON line. */
  recordBytes: 4 * MB,
  /** Bytes of one unpacked file or zip entry. */
  unpackedBytes: 8 * 1024 * MB,
  /** Unpacked size over packed size, looked at only above `ratioFromBytes`. */
  ratio: 300,
  ratioFromBytes: 64 * MB,
  /** Entries of a zip file. */
  zipEntries: 10_000,
  /** Bytes of a workbook part that is read whole (workbook, styles, relations). */
  partBytes: 32 * MB,
  /** Bytes of the shared strings of a workbook. */
  sharedStringBytes: 512 * MB,
  /** Bytes of them that are kept as strings; beyond that they are packed. */
  sharedStringMemory: 64 * MB,
  /** Bytes of a gzipped workbook, which is unpacked into memory. */
  gzippedWorkbookBytes: 256 * MB,
};

export type SourceLimits = Readonly<typeof DEFAULT_LIMITS>;
