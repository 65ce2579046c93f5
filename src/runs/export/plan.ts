import { checkColumns } from '../../export/choose.js';
import { exportColumns } from '../../export/columns.js';
import { type ExtraColumns, extraColumns } from '../../export/extra-columns.js';
import { type ExportFilter, exportFilter } from '../../export/filter.js';
import { type RecordHabits, recordHabits } from '../../export/habits.js';
import type { Naming } from '../../export/names.js';
import { type ExportOrder, exportOrder } from '../../export/order.js';
import { proveFilter } from '../../export/prove-filter.js';
import { exportRecord, isWritable } from '../../export/record.js';
import { RunError } from '../../model/error.js';
import type { ReadConnection } from './connect.js';
import type { ExportRun } from './run.js';

/** What is known before the first record is read. */
export interface ExportPlan {
  readonly naming: Naming;
  readonly filter: ExportFilter;
  readonly order: ExportOrder;
  /** Of every page of the list. */
  readonly query: Readonly<Record<string, string>>;
  /** Ids ascend in the list. */
  readonly ordered: boolean;
  /** Both see every record as it is read. */
  readonly extras: ExtraColumns;
  readonly habits: RecordHabits;
}

/** Columns, filter and order; what cannot be done is refused before the list is read. */
export async function planExport(run: ExportRun, { lexicon, service }: ReadConnection): Promise<ExportPlan> {
  const { resource, columns: wanted, editable } = run.request;
  if (isWritable(resource)) {
    await lexicon.loadTemplates();
    await lexicon.loadForms();
  }
  const { templates, forms } = lexicon;
  const context = { lexicon, templates, forms };
  const naming: Naming = { ...context, resource, columns: exportColumns(resource, context) };
  if (wanted) checkColumns(wanted, naming);
  const asked = exportFilter(run.request.filter, naming);
  const order = exportOrder(run.request.order, naming);
  if (editable && asked.partialRecords) {
    throw new RunError(
      'usage',
      '--editable needs whole records, and `req` shows a part of each. Leave one of the two out.',
    );
  }
  const filter =
    resource === 'customer' || !asked.conditions.some(({ ask }) => ask)
      ? asked
      : await proveFilter(asked, {
          service,
          first: await service.page(resource, 1),
          toRecord: (json) => exportRecord(resource, json, context),
          naming: { ...naming, resource },
        });
  return {
    naming,
    filter,
    order,
    query: { ...filter.query, ...order.query },
    ordered: !order.serviceOrder,
    extras: extraColumns(resource, naming.columns, context),
    habits: recordHabits(resource),
  };
}
