import { RunError } from '../model/error.js';
import { PAGE_SIZE, trustFilter } from '../pipeline/filter.js';
import type { Json, Page, Readable, Service } from '../service/port.js';
import { idOf } from '../service/transport/answer.js';
import { refused } from './choose.js';
import type { Exportable, ExportRecord } from './column.js';
import type { Ask, Condition, Query } from './condition.js';
import { formRowsOf } from './custom-cells.js';
import { type ExportFilter, filterOf } from './filter.js';
import { type Naming, UNLISTED } from './names.js';
import { isNothing, rawText } from './raw-text.js';

export interface ProveOptions {
  readonly service: Service;
  /** Page 1 of the list without any filter. */
  readonly first: Page;
  readonly toRecord: (json: Json) => ExportRecord;
  readonly naming: Naming & { readonly resource: Exclude<Exportable, 'customer'> };
}

/** A list of so many pages is read whole, and compared here: what a filter would save is not worth what it may leave out. */
const FEW_PAGES = 10;

/** Further pages of an answer that are read to find what must be in it. */
const MORE_PAGES = 4;

/**
 * The filter without what the service cannot be trusted with; its query may be sent. A service that compares texts otherwise
 * returns too much, which is checked again, or too little, which nothing would tell. So each parameter must have left
 * records out, found every record of page 1 that fits, and at least one that fits: one of those asked for, else a record of
 * page 1 (`trustFilter`). Costs two requests a condition, rarely up to six, and none where the list is short (`FEW_PAGES`).
 * Records of other pages whose stored text differs from the text asked for only in blanks or Unicode form are beyond what
 * this can establish: `remarks` says so.
 *
 * With `req` records lack members: what they do not show is believed where the service can be trusted with it and page 1 of
 * its answer holds nothing else; else a RunError is thrown. Call this before the query is sent, also where no parameter is asked for.
 */
export async function proveFilter(filter: ExportFilter, options: ProveOptions): Promise<ExportFilter> {
  const { first, naming } = options;
  const view: Query = filter.query['req'] === undefined ? {} : { req: filter.query['req'] };
  const short = first.count <= Math.max(first.results.length, PAGE_SIZE * FEW_PAGES);
  const hidden = await hiddenMembers(filter, view, options);
  const proved: Condition[] = [];
  const problems: string[] = [];
  for (const condition of filter.conditions) {
    const { ask, ...rest } = condition;
    const unseen = hidden.has(condition.member);
    if (!ask && !unseen) proved.push(condition);
    else if (ask && (!short || unseen) && (await isTrusted(condition, ask, unseen, options))) {
      proved.push(unseen ? { ...condition, unseen: true, keeps: () => true } : condition);
    } else if (unseen) problems.push(notShown(rest.described, view));
    else proved.push({ ...rest, unasked: short ? 'would save little' : 'could not be trusted to find every record' });
  }
  if (problems.length > 0) throw refused('--filter cannot be used.', problems);
  return filterOf(proved, view, naming);
}

function notShown(described: string, { req }: Query): string {
  const when = req === undefined ? '' : `With req = ${req}: `;
  return `${when}the service does not show what "${described}" asks for.`;
}

/** Members that the conditions look at and that records do not have: of a partial view (`req`), or not listed anyway. */
async function hiddenMembers(
  { conditions }: ExportFilter,
  view: Query,
  { service, first, naming }: ProveOptions,
): Promise<ReadonlySet<string>> {
  const partial = view['req'] !== undefined;
  const members = conditions.map(({ member }) => member).filter((member) => partial || UNLISTED.includes(member));
  if (members.length === 0) return new Set();
  const { results } = partial ? await service.page(naming.resource, 1, view) : first;
  if (results.length === 0) return new Set();
  return new Set(members.filter((member) => !results.some((record) => Object.hasOwn(record, member))));
}

/** `alone`: nothing checks its answer again, so that it must not return too much either. */
async function isTrusted(condition: Condition, ask: Ask, alone: boolean, options: ProveOptions): Promise<boolean> {
  try {
    return await isProved(condition, ask, alone, options);
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** The service does not take the parameter; a refused token and a service that wants to be left alone are other matters. */
function isRefusal(error: unknown): boolean {
  const status = error instanceof RunError ? (error.status ?? 0) : 0;
  return status >= 400 && status < 500 && status !== 401 && status !== 429;
}

async function isProved(condition: Condition, ask: Ask, alone: boolean, options: ProveOptions): Promise<boolean> {
  const { service, first, toRecord, naming } = options;
  const resource: Readable = naming.resource;
  const answer = await service.page(resource, 1, ask.query);
  if (answer.count >= first.count || (answer.count > 0 && answer.results.length === 0)) return false;
  // Where nothing else is to be had, a round number is no reason to have nothing.
  if (!alone && mayBeCut(answer)) return false;
  const fits = (json: Json) => condition.keeps(toRecord(json));
  const fitting = answer.results.filter(fits);
  if (alone && fitting.length < answer.results.length) return false;
  if (!(await holds(first.results.filter(fits), answer, ask.query, options))) return false;
  if (fitting.length > 0) return true;
  if (ask.field === undefined) return formsAreFound(options);
  const [parameter = ''] = Object.keys(ask.query);
  return trustFilter(service, { resource, parameter, field: ask.field }, first);
}

/** Round numbers of records: an answer that ends there may go on where the service stops counting. */
function mayBeCut({ count }: Page): boolean {
  return count >= PAGE_SIZE && /^(?:1|2|25|5)0*$/.test(String(count));
}

/** Whether all these records are in an answer, of which `first` is page 1. */
async function holds(
  records: readonly Json[],
  first: Page,
  query: Query,
  { service, naming }: ProveOptions,
): Promise<boolean> {
  const missing = new Set(records.map(idOf));
  let read = 0;
  let answer = first;
  for (let page = 1; ; page++) {
    for (const json of answer.results) missing.delete(idOf(json));
    read += answer.results.length;
    if (missing.size === 0) return true;
    if (page > MORE_PAGES || answer.results.length === 0 || read >= first.count) return false;
    answer = await service.page(naming.resource, page + 1, query);
  }
}

/** The positive control of custom forms: a row of a record on page 1 must be found, and others left out. */
async function formsAreFound({ service, first, naming }: ProveOptions): Promise<boolean> {
  for (const record of first.results) {
    for (const { id, data } of formRowsOf(record['custom_form']) ?? []) {
      const [column, value] =
        Object.entries(data).find(([, held]) => typeof held === 'string' && !isNothing(held)) ?? [];
      if (column === undefined) continue;
      const query = { custom_form_id: String(id), custom_form_name: column, custom_form_value: rawText(value) };
      const answer = await service.page(naming.resource, 1, query);
      if (answer.count >= first.count) return false;
      return answer.count > PAGE_SIZE || answer.results.some((found) => found['id'] === record['id']);
    }
  }
  return false;
}
