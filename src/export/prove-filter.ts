import { PAGE_SIZE, trustFilter } from '../pipeline/filter.js';
import type { Json, Page, Readable, Service } from '../service/port.js';
import type { Exportable, ExportRecord } from './column.js';
import type { Ask, Condition, Query } from './condition.js';
import { formRowsOf } from './custom-cells.js';
import { type ExportFilter, filterOf } from './filter.js';
import type { Naming } from './names.js';
import { isNothing, rawText } from './raw-text.js';

export interface ProveOptions {
  readonly service: Service;
  /** Page 1 of the list without any filter. */
  readonly first: Page;
  readonly toRecord: (json: Json) => ExportRecord;
  readonly naming: Naming & { readonly resource: Exclude<Exportable, 'customer'> };
}

/**
 * The filter without what the service cannot be trusted with; its query may be sent. A service that compares texts otherwise
 * returns too much, which is checked again, or too little, which nothing would tell. So each parameter must have left
 * records out and found one that fits: one of those asked for, else a record of page 1 (`trustFilter`). Costs at most two
 * requests a condition, and none where the whole list is one page. Records whose stored text differs from the text asked for
 * only in blanks or Unicode form are beyond what this can establish.
 */
export async function proveFilter(filter: ExportFilter, options: ProveOptions): Promise<ExportFilter> {
  const { conditions, query } = filter;
  if (!conditions.some(({ ask }) => ask)) return filter;
  const view: Query = query['req'] === undefined ? {} : { req: query['req'] };
  const whole = options.first.count <= Math.max(options.first.results.length, PAGE_SIZE);
  const proved: Condition[] = [];
  for (const condition of conditions) {
    const { ask, ...rest } = condition;
    if (!ask) proved.push(condition);
    else if (whole) proved.push({ ...rest, unasked: 'would save nothing' });
    else if (await isTrusted(condition, ask, options)) proved.push(condition);
    else proved.push({ ...rest, unasked: 'could not be trusted to find every record' });
  }
  return filterOf(proved, view, options.naming);
}

async function isTrusted(condition: Condition, ask: Ask, options: ProveOptions): Promise<boolean> {
  const { service, first, toRecord, naming } = options;
  const resource: Readable = naming.resource;
  const answer = await service.page(resource, 1, ask.query);
  if (answer.count >= first.count) return false;
  if (answer.results.some((json) => condition.keeps(toRecord(json)))) return true;
  if (ask.field === undefined) return formsAreFound(options);
  const [parameter = ''] = Object.keys(ask.query);
  return trustFilter(service, { resource, parameter, field: ask.field }, first);
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
