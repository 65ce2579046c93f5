import type { ResourceSpec } from '../../resources/spec.js';
import type { RunFolder } from '../layout.js';
import { undoRows } from './rows.js';
import type { WrittenRecord } from './what-was-written.js';

/** What an undo has to deal with, found in one look over its rows. */
export interface Survey {
  readonly rows: number;
  /** Ids of the records, for those that have one. */
  readonly ids: ReadonlySet<number>;
  /** Rows whose records were created; true where the id is known. */
  readonly created: ReadonlyMap<number, boolean>;
  /** Fields in which the service was seen to tidy values up. */
  readonly tidied: ReadonlySet<string>;
  /** Whether the records held custom fields, or were given some. */
  readonly templates: boolean;
  readonly forms: boolean;
}

export async function survey(folder: RunFolder, spec: ResourceSpec): Promise<Survey> {
  let rows = 0;
  const ids = new Set<number>();
  const created = new Map<number, boolean>();
  const tidied = new Set<string>();
  const uses = { templates: false, forms: false };
  for await (const record of undoRows(folder)) {
    rows++;
    if (record.id !== undefined) ids.add(record.id);
    if (record.outcome === 'created') created.set(record.row, record.id !== undefined);
    for (const field of record.normalised) tidied.add(field);
    uses.templates ||= holdsCustom(record, 'template.', spec.template.read);
    uses.forms ||= holdsCustom(record, 'form.', spec.form?.read);
  }
  return { rows, ids, created, tidied, ...uses };
}

function holdsCustom({ diff, before }: WrittenRecord, prefix: string, read: string | undefined): boolean {
  const shown = read === undefined ? undefined : (before?.record as Record<string, unknown> | undefined)?.[read];
  const isThere = shown !== undefined && shown !== null && !(Array.isArray(shown) && shown.length === 0);
  const fields = [...diff.map(({ field }) => field), ...Object.keys(before?.set ?? {})];
  return isThere || fields.some((field) => field.startsWith(prefix));
}
