import { RunError } from '../../model/error.js';
import { fileBytes } from '../bytes.js';
import { type SourceLimits, sizeText } from '../limits.js';
import { type Archive, openArchive } from './zip.js';

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
