import { type ExportColumn, isWritable, recordHabits } from '../../export/column.js';
import { exportColumns, KNOWN_FROM } from '../../export/columns.js';
import { extraColumns } from '../../export/extra-columns.js';
import { exportFilter } from '../../export/filter.js';
import { chooseColumns, type Naming } from '../../export/names.js';
import { exportOrder } from '../../export/order.js';
import { isRefused } from '../../model/error.js';
import type { ReadAll } from '../../pipeline/match/match.js';
import { decodeFields } from '../../pipeline/rows.js';
import { isObject } from '../../resources/path.js';
import type { ReadRecord } from '../../resources/read.js';
import { recordId } from '../../resources/read-value.js';
import { MAX_PASSES, readWholeList, type WholeList } from '../../service/lists/whole-list.js';
import type { Json, KnownIds, Readable, Service } from '../../service/port.js';
import { learnNames, type ReadConnection } from '../run/open-service.js';
import type { ExportRun } from './run.js';

/** The run, its service, and what is known before the first record is read. */
export type ExportPlan = Awaited<ReturnType<typeof planExport>>;

/** Columns, filter and order; what cannot be done is refused before the list is read. */
export async function planExport(run: ExportRun, connection: ReadConnection) {
  const { lexicon, readAll } = connection;
  const { resource, columns: wanted, filter } = run.request;
  if (isWritable(resource)) {
    await warnIfRefused('custom field templates', lexicon.loadTemplates(), run);
    await warnIfRefused('custom forms', lexicon.loadForms(), run);
  }
  const { templates, forms } = lexicon;
  const context = { lexicon, templates, forms };
  const baseColumns = exportColumns(resource, context);
  const extras = extraColumns(resource, baseColumns, context);
  const resolveNames = (columns: readonly ExportColumn[]) => {
    const naming: Naming = { ...context, resource, columns };
    if (wanted) chooseColumns(wanted, naming);
    return { filter: exportFilter(filter, naming), order: exportOrder(run.request.order, naming) };
  };
  let resolved: ReturnType<typeof resolveNames>;
  try {
    resolved = resolveNames(baseColumns);
  } catch (error) {
    if (resource === 'customer') throw error;
    // What nobody described must stand in some record of page 1: a slip is not to cost the reading of the whole list.
    for (const record of (await readAll.first(resource)).results) extras.see(record);
    resolved = resolveNames([...baseColumns, ...extras.columns()]);
  }
  const naming: Naming = { ...context, resource, columns: baseColumns };
  // Extras and habits see every record as it is read.
  return { run, ...connection, naming, ...resolved, extras, habits: recordHabits(resource) };
}

/** The names of custom fields are a convenience: values are shown without them, too. */
async function warnIfRefused(what: string, loading: Promise<void>, run: ExportRun): Promise<void> {
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

/**
 * Reads every record that the filter lets through, again until it is established that none is missing. `onFirstPass`: as for
 * `readWholeList`.
 */
export async function readRecords(plan: ExportPlan, onFirstPass: (list: Records) => void): Promise<Records> {
  const { run, known, readAll } = plan;
  const { resource } = run.request;
  const records =
    resource === 'customer' ? await readCustomers(known, readAll) : await readList(plan, resource, onFirstPass);
  run.closers.push(() => records.close());
  const { consistency, problems, passes } = records;
  if (consistency === 'partial' && !records.neverComplete) {
    const why =
      passes < MAX_PASSES
        ? `The list held still while it was read ${passes} times, and yet it does not add up`
        : `The list changed while it was read ${passes} times, and no two passes agreed`;
    run.warn(
      `${why}: it could not be established that no record is missing. Every record that was seen in any pass is in the file. ` +
        (passes < MAX_PASSES ? 'Ask those who run the service.' : 'Export again when fewer changes are made.'),
    );
  }
  for (const text of problems) (consistency === 'partial' ? run.warn : run.info)(text);
  return records;
}

async function readList(
  { run, service, known, extras, habits, filter: { ids } }: ExportPlan,
  resource: Readable,
  onFirstPass: (list: Records) => void,
): Promise<Records> {
  const see = (record: Json) => {
    extras.see(record);
    habits.observe(record);
    learnNames(resource, record, known);
  };
  if (ids && ids.length <= MAX_IDS) return readByIds(service, resource, ids, see);
  return readWholeList(service, resource, {
    file: run.folder.records,
    onProgress: (done, total, pass) => run.progress(pass === 1 ? 'reading' : 'reading again', done, total),
    onRecords: (records) => records.forEach(see),
    onFirstPass,
  });
}

/** Records asked for one by one that may be held in memory. */
const MAX_IDS = 1_000;

/** A few records by their ids: nothing else can be in the list, so nothing can be missed while it changes. */
async function readByIds(
  service: Service,
  resource: Readable,
  ids: readonly number[],
  see: (record: Json) => void,
): Promise<Records> {
  const sorted = [...new Set(ids)].sort((a, b) => a - b);
  const answers = await Promise.all(sorted.map((id) => service.get(resource, id)));
  const records = new Map<number, Json>();
  for (const [at, id] of sorted.entries()) {
    const record = answers[at];
    if (record === undefined) continue;
    records.set(id, record);
    see(record);
  }
  return {
    consistency: 'verified',
    problems: [],
    ...recordsAtHand([...records.keys()], (id) => records.get(id) as Json),
  };
}

/** A list that needs no reading: its ids are known, ascending, and what each record is. */
function recordsAtHand(ids: readonly number[], recordOf: (id: number) => Json) {
  async function* read(wanted: Iterable<number> = ids): ReturnType<Records['read']> {
    for (const id of wanted) yield [recordOf(id)];
  }
  return { passes: 1, records: ids.length, ids: () => ids, read, close: async () => undefined };
}

/**
 * The customers that can be known: the service has no list of them (interface, section 4.1). Contracts and assets are read
 * for the customers they name, some by id alone; of those that this data folder wrote the whole record is known.
 */
async function readCustomers(known: KnownIds, readAll: ReadAll): Promise<Records> {
  const found = new Set<number>();
  for (const resource of ['contract', 'asset'] as const) {
    await readAll(resource, (records) => {
      for (const { customer: shown } of records) {
        const id = recordId(isObject(shown) ? shown['id'] : shown);
        if (id !== undefined) found.add(id);
      }
    });
  }
  for (const name of known.names('customer')) for (const id of known.ids('customer', name)) found.add(id);
  const ids = [...found].sort((a, b) => a - b);
  return {
    consistency: 'partial',
    neverComplete: true,
    problems: [
      'The service has no list of customers. The file holds those that rowferry wrote from this data folder, whole, and ' +
        'those that contracts and assets name, by id and name alone (or by id alone: the name is blank); others may exist.',
    ],
    ...recordsAtHand(ids, (id) => customerRecord(id, known)),
  };
}

/** Read form of a customer as far as it is known, and how it came to be known. */
function customerRecord(id: number, known: KnownIds): Json {
  const written = known.lastWritten('customer', id) !== undefined;
  return {
    id,
    name: known.nameOf('customer', id) ?? '',
    [KNOWN_FROM]: written ? 'written by rowferry' : 'named by a contract or asset',
  };
}

/** In canonical form: what our last write left, or the name alone. */
export function readCustomer(record: Json, known: KnownIds): ReadRecord {
  const id = Number(record['id']);
  const written = known.lastWritten('customer', id);
  const fields = written ? decodeFields(written) : { name: String(record['name']) };
  return { id, fields, losses: [], unknown: [] };
}

/** Whether the whole record is known, so that a changed row can be imported. */
export function isFullyKnown(record: Json): boolean {
  return record[KNOWN_FROM] === 'written by rowferry';
}

/** What was read, on disk; each record once. */
export interface Records extends WholeList {
  /** Customers: that the list is never whole is said, and is no fault of this run. */
  readonly neverComplete?: true;
}
