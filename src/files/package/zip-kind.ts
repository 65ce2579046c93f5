import { RunError } from '../../model/error.js';
import { fileBytes } from '../bytes.js';
import { type SourceLimits, sizeText } from '../limits.js';
import { type Archive, openArchive } from './zip.js';

const ODF = 'application/vnd.oasis.opendocument.';

/** OpenDocument files that hold no spreadsheet. */
const DOCUMENTS: Readonly<Record<string, string>> = {
  text: 'an OpenDocument text document (.odt)',
  'text-master': 'an OpenDocument master document (.odm)',
  'text-web': 'an OpenDocument web page (.oth)',
  presentation: 'an OpenDocument presentation (.odp)',
  graphics: 'an OpenDocument drawing (.odg)',
  chart: 'an OpenDocument chart (.odc)',
  formula: 'an OpenDocument formula (.odf)',
  base: 'an OpenDocument database (.odb)',
  database: 'an OpenDocument database (.odb)',
};

/**
 * Which workbook a zip file is. Throws `RunError('failed')` that names what else it is and says what to do; a zip file
 * that nothing is known of counts as .xlsx, whose reader says what it lacks.
 */
export async function workbookKind(path: string, archive: Archive): Promise<'xlsx' | 'ods'> {
  const refuse = (what: string, todo: string) => new RunError('failed', `${path}: this is ${what}. ${todo}`);
  const table = 'Copy the table into a spreadsheet and save it as .xlsx or .csv.';
  if (archive.has('xl/workbook.bin')) {
    throw refuse(
      'a binary workbook (.xlsb), which is not read',
      'Open it in Excel or LibreOffice and save it as .xlsx (Excel: File, Save As, "Excel Workbook").',
    );
  }
  if (archive.has('Index/Document.iwa') || archive.has('Index.zip') || archive.has('index.apxl')) {
    throw refuse(
      'an Apple Numbers, Pages or Keynote document, which is not read',
      'Open it in Numbers and choose File, Export To, Excel or CSV.',
    );
  }
  if (archive.has('word/document.xml')) throw refuse('a Word document, not a table', table);
  if (archive.has('ppt/presentation.xml')) throw refuse('a PowerPoint presentation, not a table', table);
  if (archive.has('xl/workbook.xml') || !archive.has('META-INF/manifest.xml')) return 'xlsx';

  const manifest = (await archive.whole('META-INF/manifest.xml')).toString('latin1');
  const type = await documentType(archive, manifest);
  if (type?.startsWith('application/vnd.sun.xml.')) {
    throw refuse(
      'a document of the first OpenOffice (.sxc, .sxw), which is not read',
      'Open it in LibreOffice and save it as .ods or .xlsx.',
    );
  }
  if (!type?.startsWith(ODF)) return 'xlsx';
  const kind = type.slice(ODF.length).replace(/-template$/, '');
  if (kind !== 'spreadsheet') {
    throw refuse(`${DOCUMENTS[kind] ?? 'an OpenDocument file without a spreadsheet'}, not a table`, table);
  }
  if (/<(?:[\w.-]+:)?encryption-data[\s>]/.test(manifest) || archive.has('encrypted-package')) {
    throw refuse(
      'a spreadsheet protected by a password, so it cannot be read',
      'Open it in the spreadsheet program, save it without the password (LibreOffice: File, Save As, clear ' +
        '"Save with password") and send that file.',
    );
  }
  return 'ods';
}

/** The media type of the document: from the part made for that, else from the list of parts. */
async function documentType(archive: Archive, manifest: string): Promise<string | undefined> {
  if (archive.has('mimetype')) return (await archive.whole('mimetype')).toString('latin1', 0, 200).trim();
  const root = /<(?:[\w.-]+:)?file-entry\s[^>]*full-path="\/"[^>]*>/.exec(manifest)?.[0];
  return root === undefined ? undefined : /media-type="([^"]*)"/.exec(root)?.[1];
}

/** A workbook file that is to be opened; `gzip` where it is packed once more as a whole. */
export interface WorkbookFile {
  readonly path: string;
  readonly gzip: boolean;
}

/** The zip file that a workbook is. */
export async function workbookArchive({ path, gzip }: WorkbookFile, limits: SourceLimits): Promise<Archive> {
  return openArchive(path, gzip ? await unpackedWhole(path, limits) : path, limits);
}

async function unpackedWhole(path: string, limits: SourceLimits): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of fileBytes(path, true, limits)) {
    parts.push(chunk);
    size += chunk.length;
    if (size > limits.gzippedWorkbookBytes) {
      throw new RunError(
        'failed',
        `${path}: the gzipped workbook unpacks to more than ${sizeText(limits.gzippedWorkbookBytes)}. Unpack it first.`,
      );
    }
  }
  return Buffer.concat(parts);
}
