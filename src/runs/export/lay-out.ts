import { basename } from 'node:path';
import type { ExportColumn, ExportRecord } from '../../export/column.js';
import { isWritable } from '../../export/column.js';
import { editableColumns, editableJob, importedFields } from '../../export/editable.js';
import { describeHabits } from '../../export/habits.js';
import { chooseColumns } from '../../export/names.js';
import { loadReferenceTexts, type ReferenceNames, type ReferenceTexts } from '../../export/reference-text.js';
import { DATA_ROWS, tableFormat } from '../../files/table-write.js';
import { RunError } from '../../model/error.js';
import type { TableAbout, TableColumn } from '../../model/table.js';
import type { ReferenceTarget, ResourceName } from '../../resources/spec.js';
import { aboutFile } from './about.js';
import type { ReadConnection } from './connect.js';
import { type ExportPlan, isRefused } from './plan.js';
import type { Records } from './records.js';
import type { ExportRun } from './run.js';
import { type Selection, selectRecords } from './select.js';
import { jobFileBeside } from './target.js';

/** The table before its first row. */
export interface Layout {
  readonly columns: readonly TableColumn[];
  readonly cells: readonly ((record: ExportRecord) => string)[];
  readonly selection: Selection;
  readonly about: TableAbout;
  /** Text of the job file beside the file; `sheet`: of a workbook, the sheet with the data. */
  readonly job?: (sheet: string | undefined) => string;
  /** Editable files: the fields that their import sets, and where in a row they stand. */
  readonly imported?: ReturnType<typeof importedFields>;
}

/** What only the records tell: how dates are meant, further columns, which records the filter keeps, and their order. */
export async function layOut(
  run: ExportRun,
  connection: ReadConnection,
  plan: ExportPlan,
  list: Records,
): Promise<Layout> {
  const { resource, editable, columns: wanted } = run.request;
  const { lexicon } = connection;
  const habits = plan.habits.conclude(lexicon);
  lexicon.useHabits(habits);
  for (const sentence of describeHabits(habits)) run.warn(sentence);

  const all = [...plan.naming.columns, ...plan.extras.columns()];
  const columns = wanted ? withId(chooseColumns(wanted, { ...plan.naming, columns: all }), all, editable) : all;
  const selection = await selectRecords(run, connection, plan, list);
  const about = aboutFile(run, connection, plan, list, selection.rows);
  if (editable && isWritable(resource)) return editableLayout(run, connection, resource, columns, selection, about);
  return { columns, cells: columns.map((column) => (record) => column.text(record)), selection, about };
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

async function editableLayout(
  run: ExportRun,
  connection: ReadConnection,
  resource: ResourceName,
  columns: readonly ExportColumn[],
  selection: Selection,
  about: TableAbout,
): Promise<Layout> {
  const { request } = run;
  const { format } = tableFormat(request.file);
  if (format === 'xlsx' && selection.rows > DATA_ROWS) {
    throw new RunError(
      'usage',
      `There are ${selection.rows} records, more than one sheet holds (${DATA_ROWS}), and an import reads one sheet. Name a .csv file, or choose with --filter.`,
    );
  }
  const { templates, forms } = connection.lexicon;
  const catalogue = { templates, forms };
  const references = await referenceTextsOf(run, connection, selection.names);
  const shown = editableColumns(resource, columns, catalogue, references);
  return {
    columns: shown,
    cells: shown.map((column) => (record) => column.text(record)),
    selection,
    about,
    imported: importedFields(resource, columns, catalogue),
    job: (sheet) =>
      editableJob(resource, columns, {
        company: request.company,
        format,
        ...(sheet === undefined ? {} : { sheet }),
        file: basename(request.file),
        job: basename(jobFileBeside(request.file)),
        catalogue,
        run: run.folder.run,
      }),
  };
}

/** What a target is called in a sentence, where it is not its own name. */
const LISTS: Partial<Record<ReferenceTarget, string>> = {
  category: 'categories',
  customer: 'contracts and assets, which name customers',
  'business-unit': 'contracts and assets, which name business units',
  'usage-status': 'usage statuses',
};

/** Names of each target for itself: of a list that may not be read, references stand as ids. */
async function referenceTextsOf(
  run: ExportRun,
  connection: ReadConnection,
  names: ReferenceNames,
): Promise<ReferenceTexts> {
  const loaded = new Map<ReferenceTarget, ReferenceTexts>();
  const withoutList = await loadReferenceTexts(new Map(), connection);
  // Learned names first: what is read for them may be wanted again.
  const targets = [...names].sort(([a], [b]) => Number(isLearned(b)) - Number(isLearned(a)));
  for (const [target, wanted] of targets) {
    try {
      loaded.set(target, await loadReferenceTexts(new Map([[target, wanted]]), connection));
    } catch (error) {
      if (!isRefused(error)) throw error;
      const list = LISTS[target] ?? `${target.replaceAll('-', ' ')}s`;
      run.warn(
        `The list of ${list} could not be read (${error.status}): where the file refers to one, it says \`id:17\` in place of the name, which an import reads as well.`,
      );
    }
  }
  return { text: (target, ref, sub) => (loaded.get(target) ?? withoutList).text(target, ref, sub) };
}

const isLearned = (target: ReferenceTarget): boolean => target === 'customer' || target === 'business-unit';
