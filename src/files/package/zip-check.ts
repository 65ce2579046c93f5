import yauzl, { type Entry } from 'yauzl';
import { RunError } from '../../model/error.js';
import { type SourceLimits, sizeText } from '../limits.js';

/** A part of a zip file under its name as it is looked up. */
export interface ZipPart {
  readonly name: string;
  readonly entry: Entry;
}

export function damaged(path: string, reason: string): RunError {
  return new RunError(
    'failed',
    `${path}: the zip file is damaged or cut off (${reason}). It was refused whole, nothing was sent. ` +
      'Fetch it again, or open it in the spreadsheet program and save it as .xlsx.',
  );
}

/** What the zip reader complains of, in words of ours where it has many. */
export function zipReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (text.startsWith('End of central directory')) return 'its list of parts is missing';
  if (text.startsWith('Invalid comment length')) return 'there are bytes behind its end';
  if (error instanceof RangeError) return 'a part begins beyond its end';
  return text.replace(/\s+/g, ' ').slice(0, 120);
}

/**
 * The name of an entry: slashes the usual way round, none before it. A name that would leave the archive is refused,
 * although nothing is ever written under it.
 */
export function partName(path: string, entry: Entry): string {
  const raw = yauzl.getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false);
  const name = raw.replace(/^\/+/, '');
  if (/^[a-z]:/i.test(name) || name.split('/').includes('..') || name.includes('\0')) {
    const shown = JSON.stringify(raw.slice(0, 80));
    throw new RunError(
      'failed',
      `${path}: the zip file holds a part named ${shown}, a name that leads out of it, as files made to attack a ` +
        'computer do. It was refused. Open it in the spreadsheet program and save it as .xlsx.',
    );
  }
  return name;
}

/** Parts that share bytes unpack to more than the file could hold: no program writes them. */
export function assertApart(path: string, parts: readonly ZipPart[]): void {
  const ordered = [...parts].sort((a, b) => startOf(a) - startOf(b));
  for (const [i, { name, entry }] of ordered.entries()) {
    const next = ordered[i + 1];
    // 30 bytes and the name stand before the bytes of a part.
    const end = entry.relativeOffsetOfLocalHeader + 30 + entry.fileNameRaw.length + entry.compressedSize;
    if (next && startOf(next) < end) throw damaged(path, `the parts ${name} and ${next.name} share bytes`);
  }
}

const startOf = ({ entry }: ZipPart) => entry.relativeOffsetOfLocalHeader;

/** The limits of one part hold for all of them together, so that many bombs are not better than one. */
export function assertTogether(path: string, parts: readonly ZipPart[], limits: SourceLimits): void {
  let packed = 0;
  let unpacked = 0;
  for (const { entry } of parts) {
    packed += entry.compressedSize;
    unpacked += entry.uncompressedSize;
  }
  const least = limits.ratioFromBytes * 2;
  if (unpacked <= least || unpacked <= packed * limits.ratio) return;
  throw new RunError(
    'failed',
    `${path}: its parts unpack to ${sizeText(unpacked)}, more than ${limits.ratio} times their size, as files made to ` +
      'exhaust a computer do. It was refused. If it is genuine, save the table as .csv.',
  );
}
