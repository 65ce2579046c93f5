import type { WritableName } from './kinds.js';
import { json, oneFault, quote, refuse, refuseFields, type ServiceResponse } from './render.js';
import type { FormRow, License, LookupName, StoredRecord, Value } from './stored-record.js';
import type { Switches } from './switches.js';
import { readJson, showDate } from './values.js';
import type { Table, World } from './world.js';

/** The reads of the interface: lists with their filters, and single records (sections 4.1, 4.4 and 8). */

export type ReadName = Exclude<WritableName, 'customer'> | Exclude<LookupName, 'business-unit' | 'hardware-model'>;

interface ReadRequest {
  readonly resource: ReadName;
  readonly id: number | undefined;
  readonly query: URLSearchParams;
  /** The address of the list without its query, for `next` and `previous`. */
  readonly address: string;
  /** A GET of serial numbers may have a body. */
  readonly body: Buffer | undefined;
}

const PAGE_SIZE = 25;
/** Belong to the whole account: read without `company`. */
const WITHOUT_COMPANY: readonly ReadName[] = ['user', 'company'];

export function read(world: World, request: ReadRequest, cache: SortCache): ServiceResponse {
  const format = world.switches.errorFormat;
  const company = companyOf(world, request);
  if (typeof company !== 'number') return company;
  if (request.id !== undefined) return single(world, request, company);
  switch (request.resource) {
    case 'asset':
      return listAssets(world, request, company, cache);
    case 'contract':
    case 'supplier': {
      const { resource } = request;
      return listPage(world, request, filtered(world, resource, company, request.query), (id) =>
        world.show(resource, world.listTable(resource).get(id)!),
      );
    }
    case 'license':
      return listPage(world, request, world.lookups.list('license', company), (item) => licenseText(world, item));
    case 'category':
      return listPage(world, request, categories(world, request, company), JSON.stringify);
    case 'usage-status':
      return listPage(world, request, usageStatuses(world, request, company), JSON.stringify);
    case 'user':
    case 'company':
    case 'asset-owner':
    case 'custom-field-template':
    case 'custom-form-template':
      return listPage(world, request, world.lookups.list(request.resource, company), JSON.stringify);
    default:
      return refuse(404, 'Not found.', format);
  }
}

function companyOf(world: World, { resource, query }: ReadRequest): number | ServiceResponse {
  if (WITHOUT_COMPANY.includes(resource)) return 0;
  const format = world.switches.errorFormat;
  const companyText = query.get('company');
  if (companyText === null || companyText === '')
    return refuseFields(oneFault('company', 'This field is required.'), format);
  if (!isInteger(companyText)) return refuseFields(oneFault('company', 'A valid integer is required.'), format);
  const company = Number(companyText);
  return world.lookups.get('company', company, 0) ? company : refuse(404, 'Company not found.', format);
}

function single(world: World, { resource, id }: ReadRequest, company: number): ServiceResponse {
  const text = singleText(world, resource, id!, company);
  if (text === undefined) return refuse(404, 'Not found.', world.switches.errorFormat);
  return json(200, world.switches.wraps ? `{"count":1,"next":null,"previous":null,"results":[${text}]}` : text);
}

function singleText(world: World, resource: ReadName, id: number, company: number) {
  if (resource === 'asset' || resource === 'contract' || resource === 'supplier') {
    const record = world.table(resource).get(id);
    return record?.company === company ? world.show(resource, record) : undefined;
  }
  if (resource === 'license') return undefined;
  const item = world.lookups.get(resource, id, company);
  return item && JSON.stringify(item);
}

/** One page of a list. */
function listPage<T>(
  world: World,
  request: ReadRequest,
  items: readonly T[],
  text: (item: T) => string,
): ServiceResponse {
  const pageText = request.query.get('page') ?? '1';
  const pages = Math.max(1, Math.ceil(items.length / PAGE_SIZE));
  const page = isInteger(pageText) ? Number(pageText) : 0;
  if (page < 1 || (page > pages && world.switches.pastEnd === 'not_found')) {
    return refuse(404, 'Invalid page.', world.switches.errorFormat);
  }
  const from = (page - 1) * PAGE_SIZE;
  const next = page < pages ? addressOf(request, page + 1) : 'null';
  const previous = page > 1 ? addressOf(request, Math.min(page - 1, pages)) : 'null';
  let body = `{"count":${items.length},"next":${next},"previous":${previous},"results":[`;
  for (let index = from; index < Math.min(from + PAGE_SIZE, items.length); index++) {
    if (index > from) body += ',';
    body += text(items[index]!);
  }
  return json(200, `${body}]}`);
}

function addressOf(request: ReadRequest, page: number): string {
  const query = new URLSearchParams(request.query);
  query.set('page', String(page));
  return quote(`${request.address}?${query}`);
}

function listAssets(world: World, request: ReadRequest, company: number, cache: SortCache): ServiceResponse {
  const { query } = request;
  const format = world.switches.errorFormat;
  if (query.get('serial_number') === 'list' && world.switches.probe !== 'plain') return probe(world, request, company);
  let ids: readonly number[] | undefined = filtered(world, 'asset', company, query);
  const ordering = query.get('ordering');
  if (ordering) ids = ordered(world, ids, ordering, cache);
  if (!ids) return refuseFields(oneFault('ordering', `"${ordering}" is not a valid ordering.`), format);
  return listPage(world, request, ids, (id) => world.show('asset', world.listTable('asset').get(id)!));
}

/** `serial_number=list`: serial numbers only, of the assets named in the body. All hits come in one page. */
function probe(world: World, request: ReadRequest, company: number): ServiceResponse {
  const show = (serial: string) => `{"serial_number":${quote(serial)}}`;
  if (world.switches.probe === 'ignored' || !request.body?.length) {
    return listPage(world, request, serialNumbers(world, company), show);
  }
  const wanted = serialList(request.body);
  if (typeof wanted === 'string') return refuseFields(oneFault('list', wanted), world.switches.errorFormat);
  const table = world.listTable('asset');
  // One for each asset that has it.
  const found = [...new Set(wanted)].flatMap((serial) =>
    table
      .lookUp('serial_number', serial)
      .filter((id) => table.get(id)!.company === company)
      .map(() => show(serial)),
  );
  return json(200, `{"count":${found.length},"next":null,"previous":null,"results":[${found.join(',')}]}`);
}

/** The list of the body, or what is wrong with it. */
function serialList(body: Buffer): string[] | string {
  const read = readJson(body);
  if (typeof read === 'string') return read;
  const list = read.value instanceof Map ? read.value.get('list') : undefined;
  if (!Array.isArray(list)) return 'Expected a list of items.';
  return list.every((item) => typeof item === 'string') ? list : 'Not a valid string.';
}

function categories(world: World, { query }: ReadRequest, company: number) {
  const { filters } = world.switches;
  const name = query.get('name');
  const subcategory = query.get('subcategory');
  return world.lookups.list('category', company).filter((item) => {
    if (name && !matches(item.category, name, filters)) return false;
    return (
      !subcategory || filters === 'ignored' || item.subcategories?.some((one) => matches(one, subcategory, filters))
    );
  });
}

/** `name` is declared as an int (section 4.1): a number is taken as the id, anything else as the name. */
function usageStatuses(world: World, { query }: ReadRequest, company: number) {
  const { filters } = world.switches;
  const name = query.get('name');
  const all = world.lookups.list('usage-status', company);
  if (!name || filters === 'ignored') return all;
  return all.filter((item) => (isInteger(name) ? item.id === Number(name) : matches(item.name ?? '', name, filters)));
}

function licenseText(world: World, item: License): string {
  const displayDate = (date: string | null) => date && showDate(date, world.switches.dates);
  return JSON.stringify({
    ...item,
    issued_date: displayDate(item.issued_date),
    activation_date: displayDate(item.activation_date),
    claimed_date: displayDate(item.claimed_date),
    expiry_date: displayDate(item.expiry_date),
  });
}

/** Query parameters of lists and the stored text fields they filter. Interface, sections 4.1 and 4.4. */
const TEXT_FILTERS: Readonly<Record<WritableName, Readonly<Record<string, string>>>> = {
  asset: { name: 'name', serial_number: 'serial_number', manufacturer_name: 'manufacturer', asset_tag: 'asset_tag' },
  contract: { name: 'name', contract_no: 'number' },
  supplier: {},
  customer: {},
};

type Matching = Switches['filters'];

/** Whether a text passes a filter, as the service's filters match. */
function matches(text: string, wanted: string, matching: Matching): boolean {
  if (matching === 'ignored') return true;
  if (matching === 'contains') return text.includes(wanted);
  if (matching === 'ignore_case') return text.toLowerCase() === wanted.toLowerCase();
  return text === wanted;
}

/** Ids of a company's records that pass the filters of the query, ascending. */
function filtered(world: World, resource: WritableName, company: number, query: URLSearchParams): readonly number[] {
  const table = world.listTable(resource);
  const matching = world.switches.filters;
  let ids = table.ids(company);
  for (const [parameter, field] of Object.entries(TEXT_FILTERS[resource])) {
    const wanted = query.get(parameter);
    if (wanted === null || wanted === '' || matching === 'ignored') continue;
    ids = applyFilter(table, ids, company, field, wanted, matching);
  }
  return resource === 'asset' ? byCustomForm(world, table, ids, query) : ids;
}

function applyFilter(
  table: Table,
  ids: readonly number[],
  company: number,
  field: string,
  wanted: string,
  matching: Matching,
): readonly number[] {
  if (matching === 'exact' && table.indexed.includes(field)) {
    const hits = table.lookUp(field, wanted).filter((id) => table.get(id)!.company === company);
    return ids === table.ids(company) ? hits : hits.filter((id) => ids.includes(id));
  }
  return ids.filter((id) => {
    const text = table.get(id)!.values[field];
    return typeof text === 'string' && matches(text, wanted, matching);
  });
}

/** `custom_form_id`, `custom_form_name` (a column), `custom_form_value`. */
function byCustomForm(world: World, table: Table, ids: readonly number[], query: URLSearchParams): readonly number[] {
  const form = query.get('custom_form_id');
  const column = query.get('custom_form_name');
  const wanted = query.get('custom_form_value');
  if ((form === null && column === null && wanted === null) || world.switches.filters === 'ignored') return ids;
  const passes = (record: StoredRecord, row: FormRow): boolean => {
    if (form !== null && String(row.form) !== form) return false;
    const formFields = world.lookups.get('custom-form-template', row.form, record.company)?.fields ?? [];
    if (column === null && wanted === null) return true;
    return row.values.some(([id, value]) => {
      const name = formFields.find((one) => one.id === id)?.name;
      if (column !== null && name !== column) return false;
      return wanted === null || (value !== null && matches(String(value), wanted, world.switches.filters));
    });
  };
  return ids.filter((id) => {
    const record = table.get(id)!;
    return ((record.values['form_template'] ?? []) as readonly FormRow[]).some((row) => passes(record, row));
  });
}

const ORDERINGS = [
  'asset_id',
  'asset_name',
  'created_date',
  'modified_date',
  'support_start_date',
  'support_end_date',
  'warranty_start_date',
  'warranty_end_date',
];

interface SortedIds {
  readonly source: readonly number[];
  readonly version: number;
  readonly ids: readonly number[];
}

/** Sorted lists are kept until the table changes: a walk over thousands of pages sorts once. */
export type SortCache = Map<string, SortedIds>;

/** The ids in the order asked for; undefined for an unknown ordering. Empty values come last, also descending. */
function ordered(
  world: World,
  ids: readonly number[],
  ordering: string,
  cache: SortCache,
): readonly number[] | undefined {
  const descending = ordering.startsWith('-');
  const by = descending ? ordering.slice(1) : ordering;
  if (!ORDERINGS.includes(by)) return undefined;
  const table = world.listTable('asset');
  const cached = cache.get(ordering);
  if (cached && cached.source === ids && cached.version === table.version) return cached.ids;
  const keyOf = orderKey(by);
  const keyed = ids.map((id) => ({ id, key: keyOf(table.get(id)!) }));
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.key === b.key) return a.id - b.id;
    if (a.key === null) return 1;
    if (b.key === null) return -1;
    return a.key < b.key ? -sign : sign;
  });
  const sorted = keyed.map(({ id }) => id);
  cache.set(ordering, { source: ids, version: table.version, ids: sorted });
  return sorted;
}

function orderKey(by: string): (record: StoredRecord) => string | number | null {
  if (by === 'asset_id') return (record) => record.id;
  if (by === 'created_date') return (record) => record.created;
  if (by === 'modified_date') return (record) => record.modified;
  const field = by === 'asset_name' ? 'name' : by;
  return (record) => (record.values[field] ?? null) as string | null;
}

/** Every serial number of a company, by asset id ascending. */
function serialNumbers(world: World, company: number): string[] {
  const table = world.listTable('asset');
  const isText = (value: Value | undefined): value is string => typeof value === 'string' && value !== '';
  return table
    .ids(company)
    .map((id) => table.get(id)!.values['serial_number'])
    .filter(isText);
}

const isInteger = (text: string): boolean => /^-?\d{1,15}$/.test(text);
