import type { z } from 'zod';
import { RunError } from '../../src/model/error.js';
import type { Issue } from '../../src/model/issue.js';
import { importJob, targetsOf } from '../../src/model/job.js';
import type { Cell, RowFault, SheetRow } from '../../src/model/row.js';
import type { SourceFormat, SourceMeta } from '../../src/model/source.js';
import { compileMapping, type Mapping } from '../../src/pipeline/map/map.js';
import type { Catalogue } from '../../src/pipeline/map/targets.js';
import { resourceSpec } from '../../src/resources/registry.js';
import type { CustomField, CustomTemplate } from '../../src/resources/spec.js';

/** Builds mappings for tests from little: a job in the form of a job file, headings and cells. */

export type JobText = Partial<z.input<typeof importJob>> & Pick<z.input<typeof importJob>, 'columns'>;

const field = (id: number, name: string, dataType: CustomField['dataType'], active = true): CustomField => ({
  id,
  name,
  dataType,
  active,
});

const template = (
  id: number,
  name: string,
  resource: string,
  fields: CustomField[],
  active = true,
): CustomTemplate => ({
  id,
  name,
  resource,
  active,
  fields,
});

export const CATALOGUE: Catalogue = {
  templates: [
    template(3, 'Finance', 'asset', [
      field(31, 'Cost Centre', 'text'),
      field(32, 'Budget', 'money'),
      field(33, 'Booked on', 'date'),
      field(34, 'Old code', 'text', false),
      field(35, 'Heads', 'number'),
      field(36, 'Approval v1.2', 'text'),
    ]),
    template(4, 'Finance', 'contract', [field(41, 'Cost Centre', 'text')]),
    template(5, 'Retired', 'asset', [field(51, 'Note', 'text')], false),
    template(6, 'Twin', 'asset', [field(61, 'A', 'text')]),
    template(7, 'Twin', 'asset', [field(71, 'A', 'text')]),
    template(8, 'Net. Terms', 'asset', [field(81, 'Days', 'number')]),
    template(9, 'Vendor data', 'supplier', [field(91, 'Rating', 'number')]),
    template(10, 'Logistics', 'asset', [field(101, 'Dock', 'text')]),
  ],
  forms: [
    template(20, 'Data centre', 'asset', [field(201, 'Rack', 'text'), field(202, 'Plan', 'attachment')]),
    template(21, 'Approvals', 'contract', [field(211, 'Signed by', 'text')]),
  ],
};

export function metaOf(headings: readonly string[], format: SourceFormat = 'csv'): SourceMeta {
  return {
    format,
    gzip: false,
    encoding: 'utf-8',
    delimiter: ',',
    sheet: null,
    header_row: 1,
    headings,
    newline: '\n',
    evidence: [],
    warnings: [],
  };
}

export function mappingOf(
  job: JobText,
  headings: readonly string[],
  more: { sample?: readonly SheetRow[]; format?: SourceFormat; meta?: Partial<SourceMeta> } = {},
): Mapping {
  const [first = null] = Object.values(job.columns);
  const key = targetsOf(first as Parameters<typeof targetsOf>[0])[0]?.field ?? 'name';
  const parsed = importJob.parse({ kind: 'import', resource: 'asset', match: { key }, ...job });
  const meta = { ...metaOf(headings, more.format), ...more.meta };
  return compileMapping({
    job: parsed,
    meta,
    spec: resourceSpec(parsed.resource),
    catalogue: CATALOGUE,
    sample: { rows: more.sample ?? [], delimiter: meta.delimiter },
  });
}

export function row(cells: readonly Cell[], faults?: readonly RowFault[]): SheetRow {
  return { row: 2, cells, ...(faults ? { faults } : {}) };
}

/** Value or fault code of one cell under `target`, in a row whose key is filled. */
export function convertCell(
  target: z.input<typeof importJob>['columns'][string],
  cell: Cell,
  more: Partial<JobText> & { format?: SourceFormat; sample?: readonly SheetRow[] } = {},
): unknown {
  const { format, sample, ...job } = more;
  const columns = { Key: job.resource === 'contract' ? 'number' : 'name', Cell: target };
  const mapping = mappingOf({ ...job, columns, match: { key: columns.Key } }, ['Key', 'Cell'], {
    ...(format ? { format } : {}),
    ...(sample ? { sample } : {}),
  });
  const staged = mapping.mapRow(row(['k', cell]));
  const [issue] = staged.issues;
  if (issue) return issue.code;
  const set = mapping.fields[1];
  return set === undefined ? undefined : staged.set[set];
}

export function issuesOf(mapping: Mapping, cells: readonly Cell[], faults?: readonly RowFault[]): readonly Issue[] {
  return mapping.mapRow(row(cells, faults)).issues;
}

/** The faults a job is refused with; fails where it is accepted. */
export function refusals(job: JobText, headings: readonly string[]): readonly string[] {
  try {
    mappingOf(job, headings);
  } catch (error) {
    if (error instanceof RunError && error.kind === 'usage') return error.details;
    throw error;
  }
  throw new Error('the job was accepted');
}
