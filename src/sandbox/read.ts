import { type Answer, json, oneFault, refuse, refuseFields } from './answer.js';
import { showDate } from './calendar.js';
import { filtered, isInteger, matches, ordered, probed, type SortMemory, serialNumbers } from './filters.js';
import { JsonSyntaxError, parseJson } from './json.js';
import type { WritableName } from './kinds.js';
import type { License, LookupName } from './lookups.js';
import { quote } from './render.js';
import type { World } from './world.js';

/** The reads of the interface: lists with their filters, and single records (sections 4.1, 4.4 and 8). */

export type ReadName = Exclude<WritableName, 'customer'> | Exclude<LookupName, 'business-unit' | 'hardware-model'>;

export interface ReadRequest {
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

export function read(world: World, request: ReadRequest, memory: SortMemory): Answer {
  const format = world.switches.errorFormat;
  const company = companyOf(world, request);
  if (typeof company !== 'number') return company;
  if (request.id !== undefined) return single(world, request, company);
  switch (request.resource) {
    case 'asset':
      return assets(world, request, company, memory);
    case 'contract':
    case 'supplier':
      return records(world, request, filtered(world, request.resource, company, request.query), (id) =>
        recordText(world, request.resource as WritableName, id),
      );
    case 'license':
      return records(world, request, world.lookups.list('license', company), (item) => licenseText(world, item));
    case 'category':
      return records(world, request, categories(world, request, company), JSON.stringify);
    case 'usage-status':
      return records(world, request, usageStatuses(world, request, company), JSON.stringify);
    case 'user':
    case 'company':
    case 'asset-owner':
    case 'custom-field-template':
    case 'custom-form-template':
      return records(world, request, world.lookups.list(request.resource, company), JSON.stringify);
    default:
      return refuse(404, 'Not found.', format);
  }
}

function companyOf(world: World, { resource, query }: ReadRequest): number | Answer {
  if (WITHOUT_COMPANY.includes(resource)) return 0;
  const format = world.switches.errorFormat;
  const given = query.get('company');
  if (given === null || given === '') return refuseFields(oneFault('company', 'This field is required.'), format);
  if (!isInteger(given)) return refuseFields(oneFault('company', 'A valid integer is required.'), format);
  const company = Number(given);
  return world.lookups.get('company', company, 0) ? company : refuse(404, 'Company not found.', format);
}

function recordText(world: World, resource: WritableName, id: number): string {
  return world.show(resource, world.listed(resource).get(id)!);
}

function single(world: World, { resource, id, query }: ReadRequest, company: number): Answer {
  const text = singleText(world, resource, id!, company, query);
  if (text === undefined) return refuse(404, 'Not found.', world.switches.errorFormat);
  return json(200, world.switches.wraps ? `{"count":1,"next":null,"previous":null,"results":[${text}]}` : text);
}

function singleText(world: World, resource: ReadName, id: number, company: number, query: URLSearchParams) {
  if (resource === 'asset' || resource === 'contract' || resource === 'supplier') {
    const record = world.table(resource).get(id);
    if (!record || record.company !== company) return undefined;
    const view = query.get('req');
    if (resource === 'asset' && (view === 'warranty' || view === 'support')) return world.showAssetView(view, record);
    return world.show(resource, record);
  }
  if (resource === 'license') return undefined;
  const item = world.lookups.get(resource, id, company);
  return item && JSON.stringify(item);
}

/** One page of a list. */
function records<T>(world: World, request: ReadRequest, items: readonly T[], text: (item: T) => string): Answer {
  const given = request.query.get('page') ?? '1';
  const pages = Math.max(1, Math.ceil(items.length / PAGE_SIZE));
  const page = isInteger(given) ? Number(given) : 0;
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

function assets(world: World, request: ReadRequest, company: number, memory: SortMemory): Answer {
  const { query } = request;
  const format = world.switches.errorFormat;
  if (query.get('serial_number') === 'list' && world.switches.probe !== 'plain') return probe(world, request, company);
  const view = query.get('req');
  if (view !== null && view !== 'warranty' && view !== 'support') {
    return refuseFields(oneFault('req', `"${view}" is not a valid choice. Choose one of: warranty, support.`), format);
  }
  let ids: readonly number[] | undefined = filtered(world, 'asset', company, query);
  const ordering = query.get('ordering');
  if (ordering) ids = ordered(world, ids, ordering, memory);
  if (!ids) return refuseFields(oneFault('ordering', `"${ordering}" is not a valid ordering.`), format);
  if (view === null) return records(world, request, ids, (id) => recordText(world, 'asset', id));
  return records(world, request, ids, (id) => world.showAssetView(view, world.listed('asset').get(id)!));
}

/** `serial_number=list`: serial numbers only, of the assets named in the body. All hits come in one page. */
function probe(world: World, request: ReadRequest, company: number): Answer {
  const show = (serial: string) => `{"serial_number":${quote(serial)}}`;
  if (world.switches.probe === 'ignored' || !request.body?.length) {
    return records(world, request, serialNumbers(world, company), show);
  }
  const wanted = serialList(request.body);
  if (typeof wanted === 'string') return refuseFields(oneFault('list', wanted), world.switches.errorFormat);
  const found = probed(world, company, wanted);
  return json(200, `{"count":${found.length},"next":null,"previous":null,"results":[${found.map(show).join(',')}]}`);
}

/** The list of the body, or what is wrong with it. */
function serialList(body: Buffer): string[] | string {
  try {
    const value = parseJson(body.toString('utf8'));
    const list = value instanceof Map ? value.get('list') : undefined;
    if (!Array.isArray(list)) return 'Expected a list of items.';
    return list.every((item) => typeof item === 'string') ? (list as string[]) : 'Not a valid string.';
  } catch (error) {
    if (error instanceof JsonSyntaxError) return `JSON parse error - ${error.message}`;
    throw error;
  }
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
  return all.filter((item) => (isInteger(name) ? item.id === Number(name) : matches(item.name, name, filters)));
}

function licenseText(world: World, item: License): string {
  const shown = (date: string | null) => date && showDate(date, world.switches.dates);
  return JSON.stringify({
    ...item,
    issued_date: shown(item.issued_date),
    activation_date: shown(item.activation_date),
    claimed_date: shown(item.claimed_date),
    expiry_date: shown(item.expiry_date),
  });
}
