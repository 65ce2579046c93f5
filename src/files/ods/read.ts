import { RunError } from '../../model/error.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';
import { fileBytes } from '../bytes.js';
import type { SourceLimits } from '../limits.js';
import type { WorkbookFile } from '../package/workbook-file.js';
import { createXmlScanner } from '../package/xml-scan.js';
import type { Archive } from '../package/zip.js';
import type { Book } from '../table/book-source.js';
import { openSheet } from '../table/open-sheet.js';
import { createOdsIndex, type OdsSheet } from './index.js';
import { createOdsRows } from './rows.js';
import { createOdsStyles, type OdsStyles } from './styles.js';

const CONTENT = 'content.xml';
const STYLES = 'styles.xml';

/**
 * Opens one sheet of an OpenDocument spreadsheet (.ods, .ots). All sheets lie in one part, which is scanned once to its
 * end before anything else: the sheets are listed, and a damaged file is refused before a row is handed out. Memory
 * holds a row and the styles. Throws `RunError`.
 */
export async function openOds(
  file: WorkbookFile & { readonly archive: Archive },
  options: SourceOptions,
  limits: SourceLimits,
): Promise<OpenSource> {
  const { path, archive } = file;
  if (!archive.has(CONTENT)) {
    throw new RunError(
      'failed',
      `${path}: the OpenDocument file lacks its part ${CONTENT}. It was refused whole, nothing was sent. Save it again.`,
    );
  }
  const common = archive.has(STYLES) ? await commonStyles(`${path}: ${STYLES}`, archive.stream(STYLES)) : undefined;
  const content = () => archive.stream(CONTENT);
  return openSheet(await bookOf(file, CONTENT, content, common, limits), options);
}

/** Opens one sheet of a flat OpenDocument spreadsheet (.fods): the same in one XML file. Throws `RunError`. */
export async function openFlatOds(
  file: WorkbookFile,
  options: SourceOptions,
  limits: SourceLimits,
): Promise<OpenSource> {
  const content = () => fileBytes(file.path, file.gzip, limits);
  return openSheet(await bookOf(file, 'XML', content, undefined, limits), options);
}

async function commonStyles(what: string, bytes: AsyncIterable<Buffer>): Promise<OdsStyles> {
  const styles = createOdsStyles('styles');
  const scanner = createXmlScanner(what, {
    open: (...tag) => {
      styles.open(...tag);
      return undefined;
    },
    close: styles.close,
    text: styles.text,
  });
  for await (const chunk of bytes) scanner.push(chunk);
  scanner.finish();
  return styles;
}

async function bookOf(
  { path, gzip }: WorkbookFile,
  part: string,
  content: () => AsyncIterable<Buffer>,
  common: OdsStyles | undefined,
  limits: SourceLimits,
): Promise<Book<OdsSheet>> {
  const styles = createOdsStyles('content', common);
  const index = createOdsIndex(`${path}: ${part}`, part, styles);
  for await (const chunk of content()) index.push(chunk);
  index.finish();
  if (index.sheets.length === 0) {
    throw new RunError(
      'failed',
      `${path}: this OpenDocument file holds no sheet. Save the table again as .ods or .xlsx.`,
    );
  }
  return {
    path,
    format: 'ods',
    gzip,
    limits,
    sheets: index.sheets,
    evidence: [],
    stream: () => pieces(content()),
    scan({ name, place, facts }, onRow) {
      const rows = createOdsRows({ what: `${path}: sheet "${name}"`, place, styles, limits, onRow });
      return {
        // The file is known to be whole: once nobody wants a row of it, it need not be read on.
        skim: false,
        push: rows.push,
        finish: rows.finish,
        get ended() {
          return rows.ended || this.skim;
        },
        hiddenAfter: facts.hiddenAfter,
        hiddenColumns: facts.hiddenColumns,
        mergedRanges: facts.mergedRanges,
        merges: facts.merges,
      };
    },
  };
}

const PIECE = 32 * 1024;

/** Few bytes may stand for many cells, so that rows are handed on after few bytes. */
async function* pieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE) yield chunk.subarray(at, at + PIECE);
  }
}
