import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Change } from '../../model/change.js';
import { parseJson, stringifyBody } from '../../model/json.js';
import type { SheetRow } from '../../model/row.js';
import type { Fields } from '../../model/value.js';
import type { MappingInput } from '../../pipeline/map/columns.js';
import type { Mapping } from '../../pipeline/map/map.js';
import { type ExportedRecord, editsOf, keepEdits } from '../../pipeline/plan/unchanged-cells.js';
import { decodeFields, encodeFields, type ResolvedRow, type StagedRow } from '../../pipeline/rows.js';
import type { Json } from '../../service/port.js';
import { type Database, openDatabase, type SqlValue } from '../../store/sqlite.js';
import { reached } from '../../trace/milestones.js';
import { type RunFolder, runFolder } from '../run/layout.js';
import type { Run } from '../run/run.js';
import type { StoredExport } from './run.js';

/**
 * What an editable export wrote, `base.db` in its run folder: by record id the texts of the columns that its import reads. An
 * import of the changed file sets only what differs from them. `held` and `sent`: what later imports found and sent there;
 * `held_before` and `sent_before`: as the last of them, `run`, found these, in case it is continued. All as JSON.
 */
const SCHEMA = `
  create table fields (names text not null) strict;
  create table record (
    id integer primary key, texts text not null, held text not null default '{}', sent text not null default '{}',
    run text, held_before text, sent_before text
  ) strict;
`;

const openBaseFile = (dir: string, durable: boolean): Database =>
  openDatabase(baseFile(dir), {
    label: 'The memory of an editable export',
    schema: SCHEMA,
    version: 1,
    durable,
    shared: true,
    remedy: 'Export again, and import the file that is written then.',
  });

const baseFile = (dir: string): string => join(dir, 'base.db');

/** What an import must have in common with the export. */
type BaseOwner = Pick<StoredExport, 'resource' | 'company' | 'service'>;

/** Remembers what `write` writes, once it has ended, in the place of an earlier try of the same run. */
export async function writeBase<T>(
  { dir }: RunFolder,
  fields: readonly string[],
  write: (add: (id: number, texts: readonly string[]) => void) => Promise<T>,
): Promise<T> {
  const base = openBaseFile(dir, true);
  try {
    base.begin();
    for (const table of ['fields', 'record']) base.prepare(`delete from ${table}`).run();
    base.prepare('insert into fields (names) values (?)').run(JSON.stringify(fields));
    const insert = base.prepare('insert or replace into record (id, texts) values (?, ?)');
    const result = await write((id, texts) => insert.run(id, JSON.stringify(texts)));
    base.end('commit');
    reached('base-kept');
    return result;
  } catch (error) {
    // Closing alone would keep it open, and its file held, as long as a statement of it is remembered.
    base.end('rollback');
    throw error;
  } finally {
    base.close();
  }
}

/**
 * What an export of this data folder wrote, for an import, which may be continued. `missing`: it is not there; `other`: it is
 * about other records.
 */
async function openBase(home: string, run: string, importing: string, owner: BaseOwner) {
  const { dir, request } = runFolder(home, run);
  const text = existsSync(baseFile(dir)) ? await readFile(request, 'utf8').catch(() => undefined) : undefined;
  if (text === undefined) return 'missing';
  const stored = JSON.parse(text) as Partial<StoredExport>;
  const { resource, company, service } = owner;
  if (stored.resource !== resource || stored.company !== company || stored.service !== service) return 'other';
  const base = openBaseFile(dir, false);
  const names = base.prepare('select names from fields').get()?.['names'];
  if (names === undefined) {
    base.close();
    return 'missing';
  }
  const select = base.prepare(
    `select texts, case run when ?1 then held_before else held end as held, case run when ?1 then sent_before else sent end as sent
       from record where id = ?2`,
  );
  const update = base.prepare(
    'update record set held = ?, sent = ?, run = ?, held_before = ?, sent_before = ? where id = ?',
  );
  return {
    /** Job names of the fields, in the order of the texts. */
    fields: JSON.parse(String(names)) as string[],
    /** Undefined where the export wrote no row for this record. */
    record(id: number): ExportedRecord | undefined {
      const found = select.get(importing, id);
      return (
        found && {
          texts: JSON.parse(String(found['texts'])) as string[],
          held: decodeFields(json(found['held'])),
          sent: decodeFields(json(found['sent'])),
        }
      );
    },
    /** What the import sends or tells of the record, for imports after it. */
    remember(id: number, edits: ReturnType<typeof editsOf>): void {
      const found = select.get(importing, id);
      if (!found) return;
      const { held = '{}', sent = '{}' } = found;
      const mergeFields = (before: SqlValue, more: Fields) => stringifyBody({ ...json(before), ...encodeFields(more) });
      update.run(mergeFields(held, edits.held), mergeFields(sent, edits.sent), importing, held, sent, id);
    },
    close: () => base.close(),
  };
}

const json = (text: SqlValue | undefined): Json => parseJson(String(text)) as Json;

export type EditedRows = NonNullable<Awaited<ReturnType<typeof openEditedRows>>>;

const OLDER_VALUES_TEXT = 'every cell counts, and older values are written back where somebody changed them since';

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
  if (typeof base === 'string') {
    const why =
      base === 'missing' ? 'this data folder does not have' : 'read other records (resource, company or service)';
    run.warn(`This job was written by the export ${from}, which ${why}: ${OLDER_VALUES_TEXT}. Look at the dry run.`);
    return undefined;
  }
  run.closers.push(async () => base.close());
  const keepRowEdits = keepEdits(input, mapping, base.fields, run.warn);
  let unknownCount = 0;
  return {
    /** `staged` are `rows` after mapping, in the same order. */
    keep(rows: readonly SheetRow[], staged: readonly StagedRow[]): readonly StagedRow[] {
      return staged.map((one, at) => {
        const { id } = one.set;
        if (typeof id !== 'number') return one;
        const written = base.record(id);
        if (written) return keepRowEdits(rows[at] as SheetRow, one, written);
        unknownCount++;
        return one;
      });
    },
    /** A row is about to be written, or its conflict is told: later imports compare with this. */
    saveEdits(row: ResolvedRow, change: Change): void {
      const { id } = row.set;
      if (typeof id === 'number') base.remember(id, editsOf(row, change));
    },
    /** Says what could not be compared; after the last row. */
    warnUnknown(): void {
      if (unknownCount > 0)
        run.warn(
          `Rows of the file that the export ${from}, which wrote this job, did not write: ${unknownCount}. Of them ${OLDER_VALUES_TEXT}. Look at the dry run.`,
        );
    },
  };
}
