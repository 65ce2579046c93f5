import { access, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diskWords, RunError } from '../../model/error.js';
import type { ExportedTexts } from '../../pipeline/map/edited.js';
import { beginSnapshot, openSnapshot } from '../../service/lists/snapshot.js';
import type { Snapshot } from '../../service/port.js';
import { reached } from '../../trace/milestones.js';
import { type RunFolder, runFolder } from '../layout.js';
import type { StoredExport } from './request.js';

/**
 * What an editable export wrote, `base.ndjson` in its run folder: by record id the texts of the columns that its import
 * reads. An import of the changed file sets only what differs from them. In memory about 200 bytes a record.
 */

/** No record has this id: the line that names the fields, in the order of the texts. */
const HEAD = 0;

/** Takes the texts of a record, in the order of the fields. */
export interface BaseWriter {
  add(id: number, texts: readonly string[]): Promise<void>;
}

/** The texts that an export wrote. */
export interface Base {
  /** Job names of the fields, in the order of the texts. */
  readonly fields: readonly string[];
  /** Undefined where the export wrote no row for this record. */
  texts(id: number): Promise<ExportedTexts | undefined>;
  /** What the import sets is no longer what the export wrote, for imports after it. `changed`: positions in the texts. */
  forget(id: number, changed: readonly number[]): Promise<void>;
  close(): Promise<void>;
}

/** What an import must have in common with the export. */
export type BaseOf = Pick<StoredExport, 'resource' | 'company' | 'service'>;

/**
 * Remembers what `write` writes. The base appears complete once `write` has ended; before that, an earlier try of the
 * same run is forgotten.
 */
export async function writeBase<T>(
  { dir }: RunFolder,
  fields: readonly string[],
  write: (base: BaseWriter) => Promise<T>,
): Promise<T> {
  const path = baseFile(dir);
  const making = join(dir, 'work', 'base.ndjson');
  await rm(path, { force: true });
  const at = Date.now();
  const snapshot = await beginSnapshot(making);
  const add = (id: number, record: Parameters<Snapshot['add']>[1]) =>
    snapshot.add(id, record, '', at).catch((error: unknown) => {
      throw diskFault(making, error);
    });
  let result: T;
  try {
    await add(HEAD, { fields });
    result = await write({ add: (id, texts) => add(id, { texts }) });
  } catch (error) {
    await snapshot.close().catch(() => undefined);
    throw error;
  }
  try {
    await snapshot.close();
    const file = await open(making, 'r+');
    await file.sync().finally(() => file.close());
    await rename(making, path);
    reached('base-kept');
  } catch (error) {
    throw diskFault(path, error);
  }
  return result;
}

/**
 * What an export of this data folder wrote, for an import, which may be continued. `missing`: it is not there; `other`: it is
 * about other records.
 */
export async function openBase(
  home: string,
  run: string,
  importing: string,
  wanted: BaseOf,
): Promise<Base | 'missing' | 'other'> {
  const { dir, request } = runFolder(home, run);
  const path = baseFile(dir);
  const there = await access(path).then(
    () => true,
    () => false,
  );
  const text = there ? await readFile(request, 'utf8').catch(() => undefined) : undefined;
  if (text === undefined) return 'missing';
  const stored = JSON.parse(text) as Partial<StoredExport>;
  const { resource, company, service } = wanted;
  if (stored.resource !== resource || stored.company !== company || stored.service !== service) return 'other';
  const snapshot = await openSnapshot(path);
  const fields = (await snapshot.get(HEAD))?.record['fields'];
  if (!Array.isArray(fields)) {
    await snapshot.close();
    return 'missing';
  }
  const textsOf = async (id: number): Promise<ExportedTexts | undefined> => {
    const record = id === HEAD ? undefined : ((await snapshot.get(id))?.record as Partial<Remembered> | undefined);
    return record?.before?.run === importing ? record.before.texts : record?.texts;
  };
  return {
    fields: fields.map(String),
    texts: textsOf,
    async forget(id, changed) {
      const texts = (await textsOf(id)) ?? [];
      const left = texts.map((text, at) => (changed.includes(at) ? null : text));
      const remembered: Remembered = { texts: left, before: { run: importing, texts } };
      await snapshot.add(id, { ...remembered }, '', Date.now()).catch((error: unknown) => {
        throw diskFault(path, error);
      });
    },
    close: () => snapshot.close(),
  };
}

/** A record in the file. `before`: as the last import that set something of it found it, in case it is continued. */
interface Remembered {
  readonly texts: ExportedTexts;
  readonly before?: { readonly run: string; readonly texts: ExportedTexts };
}

function baseFile(dir: string): string {
  return join(dir, 'base.ndjson');
}

function diskFault(path: string, error: unknown): RunError {
  return new RunError(
    'failed',
    `${path}: could not be written: ${diskWords(error)}. Free space and export again.`,
    [],
    {
      cause: error,
    },
  );
}
