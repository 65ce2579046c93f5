import { basename } from 'node:path';
import { describeHabits, type ExportColumn, type ExportRecord, exportRecord, isWritable } from '../../export/column.js';
import {
  editableColumns,
  editableJob,
  importedFields,
  loadReferenceTexts,
  ReferenceCollector,
  type ReferenceTexts,
  withLastWritten,
} from '../../export/editable.js';
import { chooseColumns } from '../../export/names.js';
import { createSorter } from '../../export/order.js';
import { DATA_ROWS, tableFormat } from '../../files/table-write.js';
import { isRefused, usageError } from '../../model/error.js';
import type { TableAbout } from '../../model/table.js';
import type { ReferenceNames } from '../../pipeline/resolve/directory.js';
import { formatNumber } from '../../report/summary.js';
import { resourceSpec } from '../../resources/registry.js';
import type { ReferenceTarget, ResourceName } from '../../resources/spec.js';
import { MAX_PASSES } from '../../service/lists/whole-list.js';
import type { Json } from '../../service/port.js';
import { recordIdOf } from '../../service/transport/answer.js';
import { type ExportPlan, isFullyKnown, type Records, readCustomer } from './read.js';
import { type ExportRun, jobFileBeside } from './run.js';

/** The table before its first row. */
export interface Layout {
  readonly columns: readonly ExportColumn[];
  readonly selection: Selection;
  readonly about: TableAbout;
  /** Text of the job file beside the file; `sheet`: of a workbook, the sheet with the data. */
  readonly job?: (sheet: string | undefined) => string;
  /** Editable files: the fields that their import sets, and where in a row they stand. */
  readonly imported?: ReturnType<typeof importedFields>;
}

/** What only the records tell: how dates are meant, further columns, which records the filter keeps, and their order. */
export async function createLayout(plan: ExportPlan, list: Records): Promise<Layout> {
  const { run, lexicon, naming } = plan;
  const { resource, editable, columns: wanted } = run.request;
  const habits = plan.habits.conclude();
  lexicon.useHabits(habits);
  const unclear = describeHabits(habits);
  if (unclear) run.warn(unclear);

  const all = [...naming.columns, ...plan.extras.columns()];
  const columns = wanted ? withId(chooseColumns(wanted, { ...naming, columns: all }), all, editable) : all;
  const selection = await selectRecords(plan, list);
  if (tableFormat(run.request.file).format === 'xlsx' && selection.rows > DATA_ROWS) {
    throw usageError(
      `There are ${selection.rows} records, more than a sheet holds (${DATA_ROWS}). Name a .csv file, or choose with --filter.`,
    );
  }
  const layout = { columns, selection, about: aboutFile(plan, list, selection.rows) };
  return editable && isWritable(resource) ? editableLayout(plan, resource, layout) : layout;
}

/** A changed row is matched by its id. */
function withId(
  columns: readonly ExportColumn[],
  all: readonly ExportColumn[],
  editable: boolean,
): readonly ExportColumn[] {
  const id = all.find(({ heading }) => heading === 'id');
  return !editable || !id || columns.includes(id) ? columns : [id, ...columns];
}

async function editableLayout(plan: ExportPlan, resource: ResourceName, layout: Layout): Promise<Layout> {
  const { folder, request } = plan.run;
  const { columns, selection } = layout;
  const { format } = tableFormat(request.file);
  const { templates, forms } = plan.lexicon;
  const catalogue = { templates, forms };
  const references = await referenceTextsOf(plan, selection.names);
  return {
    ...layout,
    columns: editableColumns(resource, columns, catalogue, references),
    imported: importedFields(resource, columns, catalogue),
    job: (sheet) =>
      editableJob(resource, columns, {
        company: request.company,
        format,
        ...(sheet === undefined ? {} : { sheet }),
        file: basename(request.file),
        job: basename(jobFileBeside(request.file)),
        catalogue,
        run: folder.run,
      }),
  };
}

/** Names of each target for itself: of a list that may not be read, references stand as ids. */
async function referenceTextsOf(plan: ExportPlan, names: ReferenceNames): Promise<ReferenceTexts> {
  const loaded = new Map<ReferenceTarget, ReferenceTexts>();
  const withoutList = await loadReferenceTexts(new Map(), plan);
  // Learned names first: what is read for them may be wanted again.
  const targets = [...names].sort(([a], [b]) => Number(isLearned(b)) - Number(isLearned(a)));
  for (const [target, wanted] of targets) {
    try {
      loaded.set(target, await loadReferenceTexts(new Map([[target, wanted]]), plan));
    } catch (error) {
      if (!isRefused(error)) throw error;
      plan.run.warn(
        `The names of ${target} records could not be read (${error.status}): the file says \`id:17\` in place of each, which an import reads as well.`,
      );
    }
  }
  return (target, ref, subcategory) => (loaded.get(target) ?? withoutList)(target, ref, subcategory);
}

const isLearned = (target: ReferenceTarget): boolean => target === 'customer' || target === 'business-unit';

/** Names of the sheets: what the records are, for people. */
const SHEET_TITLES: Readonly<Record<ExportRun['request']['resource'], string>> = {
  asset: 'Assets',
  contract: 'Contracts',
  supplier: 'Suppliers',
  customer: 'Customers',
  license: 'Licenses',
  company: 'Companies',
  user: 'Users',
  category: 'Categories',
  'usage-status': 'Usage statuses',
  'asset-owner': 'Asset owners',
  'custom-field-template': 'Custom field templates',
  'custom-form-template': 'Custom form templates',
};

/** What a workbook says of itself on its last sheet. */
export function aboutFile({ run, companyName, filter, order }: ExportPlan, list: Records, rows: number): TableAbout {
  const { request, folder } = run;
  const company = companyName === undefined ? String(request.company) : `${companyName} (${request.company})`;
  const filters = filter.described;
  return {
    title: SHEET_TITLES[request.resource],
    facts: [
      ['Source', request.service],
      ['Company', company],
      ['Resource', request.resource],
      ['Read', `${request.startedAt.slice(0, 16).replace('T', ' ')} UTC`],
      ['Records', formatNumber(rows)],
      ...(filters.length > 0 ? [['Records read', formatNumber(list.records)] as const] : []),
      ['Filters', filters.length > 0 ? filters.join('; ') : 'none'],
      ['Order', order.described],
      ['Consistency', consistencyText(list)],
      ...(request.editable ? EDITABLE_FACTS : []),
      ['Run', folder.run],
    ],
  };
}

const EDITABLE_FACTS = [
  ['Changing it', 'Change cells and import this file with the job file beside it. Grey columns are for information.'],
  ['Empty cells', 'A cell that you empty keeps its value in the service, unless the job says `blank: clear`.'],
] as const;

function consistencyText({ consistency: found, passes, neverComplete }: Records): string {
  if (neverComplete) return 'partial: the service has no list of customers; these are the ones that are known';
  if (found === 'verified' && passes === 1) return 'verified: each record was asked for by its id';
  return found === 'verified'
    ? `verified: read ${passes} times, and the last two agree`
    : passes < MAX_PASSES
      ? `partial: read ${passes} times, it held still and yet does not add up; a record may be missing`
      : `partial: read ${passes} times, and no two agreed; a record may be missing`;
}

/** The records that the file is to hold. */
interface Selection {
  /** In the order of the file; absent: all, in the order of the list. */
  readonly ids?: Iterable<number>;
  readonly rows: number;
  /** Names that they refer to; collected for editable files alone. */
  readonly names: ReferenceNames;
}

/** Turns a record of the service into what columns show. */
export function recordMapper({ run, lexicon, known }: ExportPlan): (json: Json) => ExportRecord {
  const { resource, editable } = run.request;
  if (resource === 'customer') return (json) => ({ json, read: readCustomer(json, known) });
  if (!editable || !isWritable(resource)) return (json) => exportRecord(resource, json, { lexicon });
  return (json) => {
    const record = exportRecord(resource, json, { lexicon });
    const { read } = record;
    return read ? { json, read: withLastWritten(resource, read, known.lastWritten(resource, read.id)) } : record;
  };
}

/** Goes through the records once more where filter, order or references ask for it; they are on this machine's disk. */
async function selectRecords(plan: ExportPlan, list: Records): Promise<Selection> {
  const { run, filter, order } = plan;
  const { resource, editable } = run.request;
  const { by } = order;
  const keys = by && createSorter(by.column.kind, by.descending);
  const references = editable && isWritable(resource) ? new ReferenceCollector(resourceSpec(resource)) : undefined;
  const names: ReferenceNames = references?.names ?? new Map();
  const filtered = filter.conditions.length > 0;
  if (!filtered && !keys && !references) return { rows: list.records, names };
  const toRecord = recordMapper(plan);
  const ids: number[] = [];
  let partlyKnown = 0;
  let withoutId = 0;
  let done = 0;
  for await (const batch of list.read()) {
    for (const json of batch) {
      const record = toRecord(json);
      if (filtered && !filter.matches(record)) continue;
      if (references && resource === 'customer' && !isFullyKnown(json)) {
        partlyKnown++;
        continue;
      }
      if (record.read) references?.add(record.read);
      const id = recordIdOf(json);
      if (id === undefined) {
        withoutId++;
        continue;
      }
      if (by) keys?.add(id, by.column.text(record));
      ids.push(id);
    }
    done += batch.length;
    run.progress('looking up', done, list.records);
  }
  if (partlyKnown > 0) {
    run.warn(
      `Customers that are known by name or id alone and are not in the file: ${formatNumber(partlyKnown)}. A changed row of theirs could not be imported, because an update replaces the whole record.`,
    );
  }
  if (withoutId > 0) {
    run.warn(
      `${withoutId} records came without an id and are not in the file: they can be neither ordered nor found again. Export without --order, --filter and --editable to have them.`,
    );
  }
  return { ids: keys ? keys.sorted() : ids, rows: ids.length, names };
}
