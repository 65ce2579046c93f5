import { type ExportColumn, isWritable } from '../../export/column.js';
import { exportColumns } from '../../export/columns.js';
import { type ExtraColumns, extraColumns } from '../../export/extra-columns.js';
import { type ExportFilter, exportFilter } from '../../export/filter.js';
import { recordHabits } from '../../export/habits.js';
import { chooseColumns, type Naming } from '../../export/names.js';
import { type ExportOrder, exportOrder } from '../../export/order.js';
import { RunError } from '../../model/error.js';
import type { HabitSurvey } from '../../resources/read-habits.js';
import type { ReadConnection } from '../run/open-service.js';
import type { ExportRun } from './run.js';

/** What is known before the first record is read. */
export interface ExportPlan {
  readonly naming: Naming;
  readonly filter: ExportFilter;
  readonly order: ExportOrder;
  /** Both see every record as it is read. */
  readonly extras: ExtraColumns;
  readonly habits: HabitSurvey;
}

/** Columns, filter and order; what cannot be done is refused before the list is read. */
export async function planExport(run: ExportRun, { lexicon, readAll }: ReadConnection): Promise<ExportPlan> {
  const { resource, columns: wanted } = run.request;
  if (isWritable(resource)) {
    await unlessRefused('custom field templates', lexicon.loadTemplates(), run);
    await unlessRefused('custom forms', lexicon.loadForms(), run);
  }
  const { templates, forms } = lexicon;
  const context = { lexicon, templates, forms };
  const known = exportColumns(resource, context);
  const extras = extraColumns(resource, known, context);
  const named = (columns: readonly ExportColumn[]) => {
    const naming: Naming = { ...context, resource, columns };
    if (wanted) chooseColumns(wanted, naming);
    return { filter: exportFilter(run.request.filter, naming), order: exportOrder(run.request.order, naming) };
  };
  let asked: ReturnType<typeof named>;
  try {
    asked = named(known);
  } catch (error) {
    if (resource === 'customer') throw error;
    // What nobody described must stand in some record of page 1: a slip is not to cost the reading of the whole list.
    for (const record of (await readAll.first(resource)).results) extras.see(record);
    asked = named([...known, ...extras.columns()]);
  }
  const { filter, order } = asked;
  return {
    naming: { ...context, resource, columns: known },
    filter,
    order,
    extras,
    habits: recordHabits(resource),
  };
}

/** The names of custom fields are a convenience: values are shown without them, too. */
async function unlessRefused(what: string, loading: Promise<void>, run: ExportRun): Promise<void> {
  try {
    await loading;
  } catch (error) {
    if (!isRefused(error)) throw error;
    const editable = run.request.editable
      ? ' Columns of theirs are for information; and an import needs the list, too, because an update sends a record whole, with its custom values.'
      : '';
    run.warn(
      `The ${what} could not be read (${error.status}): custom values stand under the keys that the records show, without the names of the service's list.${editable} Ask those who run the service for the right to read the list.`,
    );
  }
}

/** Whether a list is there but not for this token, or is not there at all. */
export function isRefused(error: unknown): error is RunError & { readonly status: 403 | 404 } {
  return error instanceof RunError && (error.status === 403 || error.status === 404);
}
