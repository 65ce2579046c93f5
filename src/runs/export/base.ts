import { existsSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tried } from '../../compact/scratch-file.js';
import type { Change } from '../../model/change.js';
import { diskWords, RunError } from '../../model/error.js';
import type { SheetRow } from '../../model/row.js';
import { decodeFields, encodeFields } from '../../pipeline/codec.js';
import type { MappingInput } from '../../pipeline/map/columns.js';
import { type ExportedRecord, editsOf, keepEdits } from '../../pipeline/map/edited.js';
import type { Mapping } from '../../pipeline/map/map.js';
import type { ResolvedRow } from '../../pipeline/resolve/resolve.js';
import type { StagedRow } from '../../pipeline/rows.js';
import { beginSnapshot, openSnapshot } from '../../service/lists/snapshot.js';
import type { Json } from '../../service/port.js';
import { reached } from '../../trace/milestones.js';
import { type RunFolder, runFolder } from '../run/layout.js';
import type { Run } from '../run/run.js';
import type { StoredExport } from './request.js';

/**
 * What an editable export wrote, `base.ndjson` in its run folder: by record id the texts of the columns that its import
 * reads. An import of the changed file sets only what differs from them. In memory about 200 bytes a record.
 */

/** No record has this id: the line that names the fields, in the order of the texts. */
const HEAD = 0;

/** What an import must have in common with the export. */
type BaseOf = Pick<StoredExport, 'resource' | 'company' | 'service'>;

/**
 * Remembers what `write` writes. The base appears complete once `write` has ended; before that, an earlier try of the
 * same run is forgotten.
 */
export async function writeBase<T>(
  { dir }: RunFolder,
  fields: readonly string[],
  write: (add: (id: number, texts: readonly string[]) => void) => Promise<T>,
): Promise<T> {
  const path = baseFile(dir);
  const making = join(dir, 'work', 'base.ndjson');
  await rm(path, { force: true });
  const at = Date.now();
  const snapshot = await beginSnapshot(making);
  const add = (id: number, record: Json) =>
    tried(
      (error) => diskFault(making, error),
      () => snapshot.add(id, record, '', at),
    );
  let result: T;
  try {
    add(HEAD, { fields });
    result = await write((id, texts) => add(id, { texts }));
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
async function openBase(home: string, run: string, importing: string, wanted: BaseOf) {
  const { dir, request } = runFolder(home, run);
  const path = baseFile(dir);
  const text = existsSync(path) ? await readFile(request, 'utf8').catch(() => undefined) : undefined;
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
  const storedOf = async (id: number): Promise<Stored | undefined> => {
    const record = id === HEAD ? undefined : ((await snapshot.get(id))?.record as Partial<Remembered> | undefined);
    if (record?.texts === undefined) return undefined;
    const { texts, ...left } = record;
    return { texts, ...(record.before?.run === importing ? record.before : left) };
  };
  return {
    /** Job names of the fields, in the order of the texts. */
    fields: fields.map(String),
    /** Undefined where the export wrote no row for this record. */
    async record(id: number): Promise<ExportedRecord | undefined> {
      const { texts, held = {}, sent = {} } = (await storedOf(id)) ?? {};
      return texts && { texts, held: decodeFields(held), sent: decodeFields(sent) };
    },
    /** What the import sends or tells of the record, for imports after it. */
    async remember(id: number, edits: ReturnType<typeof editsOf>): Promise<void> {
      const { texts = [], held = {}, sent = {} } = (await storedOf(id)) ?? {};
      const remembered: Remembered = {
        texts,
        held: { ...held, ...encodeFields(edits.held) },
        sent: { ...sent, ...encodeFields(edits.sent) },
        before: { run: importing, held, sent },
      };
      tried(
        (error) => diskFault(path, error),
        () => snapshot.add(id, { ...remembered }, '', Date.now()),
      );
    },
    close: () => snapshot.close(),
  };
}

/** A record in the file, its values as `encodeFields` makes them. */
interface Stored {
  readonly texts: readonly string[];
  readonly held?: Json;
  readonly sent?: Json;
}

/** `before`: as the last import that set something of it found it, in case it is continued. */
interface Remembered extends Stored {
  readonly before?: Omit<Stored, 'texts'> & { readonly run: string };
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

export type EditedRows = NonNullable<Awaited<ReturnType<typeof openEditedRows>>>;

const OLDER = 'every cell counts, and older values are written back where somebody changed them since';

/**
 * Rows of a file that an export wrote, without what nobody has changed since. Undefined where the job was not written by an
 * export, or what that export wrote is not at hand; that is warned of.
 */
export async function openEditedRows(run: Run, input: MappingInput, mapping: Mapping) {
  const { job } = run;
  if (job.kind !== 'import' || job.edited_from === undefined) return undefined;
  const { edited_from: from, resource } = job;
  const { company, service } = run.request;
  const base = await openBase(run.settings.home, from, run.folder.run, { resource, company, service });
  if (base === 'missing') {
    run.warn(
      `This job was written by the export ${from}, which this data folder does not have: ${OLDER}. Look at the dry run.`,
    );
    return undefined;
  }
  if (base === 'other') {
    run.warn(
      `This job was written by the export ${from}, which read other records (resource, company or service): ${OLDER}. Look at the dry run.`,
    );
    return undefined;
  }
  run.closers.push(() => base.close());
  const keep = keepEdits(input, mapping, base.fields);
  let strange = 0;
  return {
    /** `staged` are `rows` after mapping, in the same order. */
    async keep(rows: readonly SheetRow[], staged: readonly StagedRow[]): Promise<readonly StagedRow[]> {
      // All at once: the system reads them together.
      const records = await Promise.all(
        staged.map(({ set }) => (typeof set['id'] === 'number' ? base.record(set['id']) : undefined)),
      );
      const kept: StagedRow[] = [];
      for (const [at, one] of staged.entries()) {
        const sheetRow = rows[at];
        const written = records[at];
        const id = one.set['id'];
        if (sheetRow && written && typeof id === 'number') {
          kept.push(keep(sheetRow, one, written));
          continue;
        }
        if (typeof id === 'number') strange++;
        kept.push(one);
      }
      return kept;
    },
    /** A row is about to be written, or its conflict is told: later imports compare with this. */
    async settled(row: ResolvedRow, change: Change): Promise<void> {
      const { id } = row.set;
      if (typeof id === 'number') await base.remember(id, editsOf(row, change));
    },
    /** Says what could not be compared; after the last row. */
    tell(): void {
      if (strange > 0)
        run.warn(
          `The export ${from}, which wrote this job, did not write ${strange === 1 ? 'one row' : `${strange} rows`} of the file: ${OLDER}. Look at the dry run.`,
        );
    },
  };
}
