import type { BigIntStats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { lookAtEntry } from './disk.js';

/** A file, or what else may be one, in a folder where people drop. */
export interface Dropped {
  /** Absolute, byte for byte: names need not be UTF-8. */
  readonly path: Buffer;
  readonly raw: Buffer;
  /** For people, and to compare with names from elsewhere. */
  readonly name: string;
  readonly info: BigIntStats;
  /** Its `.ready` marker. */
  readonly ready?: Buffer;
}

export interface FolderLook {
  readonly files: readonly Dropped[];
  readonly folders: readonly { readonly name: string; readonly identity: bigint }[];
}

/** Names that no file to be imported has: marks and unfinished files of other programs, and our own README. */
const IGNORED = /^(?:~\$|\.)|\.(?:tmp|part|crdownload|filepart|ready)$|^(?:thumbs\.db|desktop\.ini|readme\.txt)$/i;

export function isIgnored(name: string): boolean {
  return IGNORED.test(name);
}

/** Most looks at once: a network share answers many in the time of one. */
const BATCH = 64;

/** What lies in a folder, without what is ignored. Rejects where the folder cannot be read. */
export async function lookInto(folder: string): Promise<FolderLook> {
  const raws = await readdir(folder, { encoding: 'buffer' });
  // As Latin-1 every byte is one character: names compare byte for byte.
  const names = new Set(raws.map((raw) => raw.toString('latin1')));
  const wanted = raws.filter((raw) => !isIgnored(raw.toString('utf8')));
  const files: Dropped[] = [];
  const folders: { name: string; identity: bigint }[] = [];
  for (let at = 0; at < wanted.length; at += BATCH) {
    const batch = wanted.slice(at, at + BATCH);
    const infos = await Promise.all(batch.map((raw) => lookAtEntry(below(folder, raw))));
    for (const [i, raw] of batch.entries()) {
      const info = infos[i];
      // Gone between the two looks: taken by another worker, or by whoever put it there.
      if (!info) continue;
      const name = raw.toString('utf8');
      if (info.isDirectory()) {
        folders.push({ name, identity: identityOf(info) });
        continue;
      }
      const marker = markerOf(raw.toString('latin1'), names);
      const ready = marker === undefined ? undefined : below(folder, Buffer.from(marker, 'latin1'));
      files.push({ path: below(folder, raw), raw, name, info, ...(ready && { ready }) });
    }
  }
  return { files, folders };
}

/** Tells a folder from one that was made in its place: the system gives the number of a deleted one away again. */
export function identityOf({ ino, birthtimeNs }: BigIntStats): bigint {
  return (birthtimeNs << 64n) | ino;
}

/** `assets.csv.ready`, or `assets.ready` where that is not the marker of a file `assets`. */
function markerOf(name: string, names: ReadonlySet<string>): string | undefined {
  if (names.has(`${name}.ready`)) return `${name}.ready`;
  const stem = name.replace(/(?!^)\.[^.]*$/, '');
  return !names.has(stem) && names.has(`${stem}.ready`) ? `${stem}.ready` : undefined;
}

function below(folder: string, raw: Buffer): Buffer {
  return Buffer.concat([Buffer.from(join(folder, '/')), raw]);
}
