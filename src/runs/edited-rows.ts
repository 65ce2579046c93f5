import type { SheetRow } from '../model/row.js';
import type { MappingInput } from '../pipeline/map/columns.js';
import { keepEdits } from '../pipeline/map/edited.js';
import type { Mapping } from '../pipeline/map/map.js';
import type { ResolvedRow } from '../pipeline/resolve/resolve.js';
import type { StagedRow } from '../pipeline/rows.js';
import { openBase } from './export/base.js';
import type { Run } from './run.js';

/** Rows of a file that an export wrote, without what nobody has changed since. */
export interface EditedRows {
  /** `staged` are `rows` after mapping, in the same order. */
  keep(rows: readonly SheetRow[], staged: readonly StagedRow[]): Promise<readonly StagedRow[]>;
  /** Says what could not be compared; after the last row. */
  tell(): void;
  /** A row is about to be written, or its conflict is told: to later imports what the export wrote counts no more. */
  settled(row: Pick<ResolvedRow, 'set' | 'edited'>): Promise<void>;
}

const OLDER = 'every cell counts, and older values are written back where somebody changed them since';

/** Undefined where the job was not written by an export, or what that export wrote is not at hand; that is warned of. */
export async function openEditedRows(run: Run, input: MappingInput, mapping: Mapping): Promise<EditedRows | undefined> {
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
    async keep(rows, staged) {
      // All at once: the system reads them together.
      const texts = await Promise.all(
        staged.map(({ set }) => (typeof set['id'] === 'number' ? base.texts(set['id']) : undefined)),
      );
      const kept: StagedRow[] = [];
      for (const [at, one] of staged.entries()) {
        const sheetRow = rows[at];
        const written = texts[at];
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
    async settled({ set: { id }, edited = {} }) {
      if (typeof id === 'number')
        await base.forget(
          id,
          Object.values(edited).map(({ at }) => at),
        );
    },
    tell() {
      if (strange > 0)
        run.warn(
          `The export ${from}, which wrote this job, did not write ${strange === 1 ? 'one row' : `${strange} rows`} of the file: ${OLDER}. Look at the dry run.`,
        );
    },
  };
}
