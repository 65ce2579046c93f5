import { normaliseName } from '../model/value.js';
import { didYouMean, excerpt } from '../pipeline/nearest.js';
import { readOnlySpec } from '../resources/registry.js';
import { refused } from './choose.js';
import type { ExportRecord } from './column.js';
import type { Condition, Problem, Query } from './condition.js';
import { conditionOn } from './filter-condition.js';
import { type Asked, isFormParameter, takeFormParameters } from './filter-form.js';
import { columnOf, type Naming } from './names.js';
import { isWritable } from './record.js';

/** `--filter k=v …`: a record must fit all of them. */
export interface ExportFilter {
  /**
   * To be sent with the list, so that it is shorter. Only what `proveFilter` has let through may be sent: a service that
   * understands a filter otherwise may leave records out.
   */
  readonly query: Query;
  /** Whether ids ascend in the answers to the query. */
  readonly ordered: boolean;
  /** The whole condition, checked here whatever the service left out. Texts compare as keys do, the rest by value. */
  keeps(record: ExportRecord): boolean;
  /** One sentence for each condition, with who checks it. */
  readonly described: readonly string[];
  /** What people should know before they rely on the result; sentences. */
  readonly remarks: readonly string[];
  /** The service leaves fields out of the records (`req`): no file to be imported again. */
  readonly partialRecords: boolean;
  readonly conditions: readonly Condition[];
  /** Only records with these ids can fit: they can be read one by one. Absent where the interface reads no single record. */
  readonly ids?: readonly number[];
}

/** Parameters of lists that are no filters, and what stands for them. */
const NO_FILTERS: Readonly<Record<string, string>> = {
  page: 'is no filter: all pages are read',
  ordering: 'is no filter; use --order',
  company: 'is no filter: an export is of one company; use --company',
};

/** In words why the key is no filter. A resource may have a column of the same name. */
function noFilter(key: string, naming: Naming): string | undefined {
  const no = Object.hasOwn(NO_FILTERS, key.toLowerCase()) ? NO_FILTERS[key.toLowerCase()] : undefined;
  return columnOf(key, naming) ? undefined : no;
}

const VIEWS = ['warranty', 'support'];

/**
 * What is asked for with `--filter`: fields by heading, name or alias (`manufacturer=Dell`, `supplier.name=Acme`,
 * `template.Finance.Cost Centre=4711`), columns of custom forms (`form.Data centre.Rack=A1`: in any row), and the service's
 * own parameters (interface, section 4.4). `a=` means blank; a field that is named several times must have one of the values,
 * and is then checked here alone, as the service takes one value at a time: so the same filter twice reads the whole list.
 * Throws a RunError that lists every fault.
 */
export function exportFilter(filters: readonly string[], naming: Naming): ExportFilter {
  const problems: string[] = [];
  const asked: Asked = new Map();
  for (const filter of filters) {
    const pair = split(filter, naming);
    if (!pair) problems.push(`"${excerpt(filter)}" is not of the form field=value`);
    else {
      const { key, values } = asked.get(pair.key.toLowerCase()) ?? { key: pair.key, values: [] };
      asked.set(pair.key.toLowerCase(), { key, values: [...values, pair.value] });
    }
  }
  const view = naming.resource === 'asset' ? takeView(asked, problems) : {};
  const conditions: Condition[] = [];
  const add = (condition: Condition | Problem | undefined): void => {
    if (condition && 'problem' in condition) problems.push(condition.problem);
    else if (condition) conditions.push(condition);
  };
  if (naming.resource === 'asset') add(takeFormParameters(asked, naming));
  for (const { key, values } of asked.values()) {
    const no = noFilter(key, naming);
    add(no === undefined ? conditionOn(key, values, naming) : { problem: `"${key}" ${no}.` });
  }
  if (problems.length > 0) throw refused('--filter cannot be used.', problems);
  return filterOf(onceAsked(conditions), view, naming);
}

/** The filter that sends what its conditions ask the service for. */
export function filterOf(conditions: readonly Condition[], view: Query, naming: Naming): ExportFilter {
  const single = isWritable(naming.resource)
    ? naming.resource !== 'customer'
    : readOnlySpec(naming.resource).itemPath !== undefined;
  const ids = single ? conditions.find((condition) => condition.ids)?.ids : undefined;
  return {
    query: Object.assign({}, view, ...conditions.map(({ ask }) => ask?.query)) as Query,
    ordered: true,
    keeps: (record) => conditions.every((condition) => condition.keeps(record)),
    described: [
      ...Object.entries(view).map(([name, value]) => `${name} = ${value} (the service shows only these details)`),
      ...conditions.map((condition) => `${condition.described} (${whoChecks(condition)})`),
    ],
    remarks: conditions.filter(({ ask, ids }) => ask && !ids).map(mayMiss),
    partialRecords: 'req' in view,
    conditions,
    ...(ids ? { ids } : {}),
  };
}

/** What no trial can establish of a service's own comparison: how it takes texts that it was not asked for. */
const LOOSE = 'records whose stored text differs only in blanks or Unicode form';

function mayMiss({ described, unseen }: Condition): string {
  const way = unseen ? '' : ' To read the whole list and compare here, give the same filter twice.';
  return `${described}: found by the filter of the service, so ${LOOSE} may be missing.${way}`;
}

function whoChecks({ ask, unasked, unseen, ids }: Condition): string {
  if (ids) return 'each asked for by its id';
  if (ask)
    return `asked of the service${unseen ? '; the records do not show it' : ', and checked here'}; ${LOOSE} may be missing`;
  return `checked here: ${unasked === undefined ? 'the service has no filter for it' : `the filter of the service ${unasked}`}`;
}

/** Names may hold `=`: the first cut whose left side names something, else the first. */
function split(filter: string, naming: Naming): { readonly key: string; readonly value: string } | undefined {
  const cuts = [...filter.matchAll(/=/g)].map(({ index }) => ({
    key: filter.slice(0, index).trim(),
    value: filter.slice(index + 1),
  }));
  const named = cuts.find(({ key }) => isName(key, naming)) ?? cuts[0];
  return named && named.key !== '' ? named : undefined;
}

function isName(key: string, naming: Naming): boolean {
  if (noFilter(key, naming) !== undefined) return true;
  if (naming.resource === 'asset' && (key.toLowerCase() === 'req' || isFormParameter(key))) return true;
  const condition = conditionOn(key, [''], naming);
  return !('problem' in condition);
}

function takeView(asked: Asked, problems: string[]): Query {
  const values = asked.get('req')?.values;
  asked.delete('req');
  if (!values) return {};
  const [view = '', ...others] = new Set(values.map((value) => normaliseName(value).toLowerCase()));
  if (others.length > 0) problems.push('"req" can be given once only');
  if (VIEWS.includes(view)) return { req: view };
  problems.push(`"req" must be ${VIEWS.join(' or ')}.${didYouMean(view, VIEWS)}`);
  return {};
}

/** A query has room for one value of each parameter; further conditions on it are checked here. */
function onceAsked(conditions: readonly Condition[]): readonly Condition[] {
  const taken = new Set<string>();
  return conditions.map((condition) => {
    const names = Object.keys(condition.ask?.query ?? {});
    if (!names.some((name) => taken.has(name))) {
      for (const name of names) taken.add(name);
      return condition;
    }
    const { ask: _, ...rest } = condition;
    return { ...rest, unasked: 'takes one value at a time' };
  });
}
