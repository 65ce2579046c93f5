import { resolve } from 'node:path';
import { type Exportable, isWritable } from '../../export/column.js';
import { exportColumns } from '../../export/columns.js';
import { conditionsOn, type Filter } from '../../export/filter.js';
import { chooseColumns, findColumn, type Naming } from '../../export/names.js';
import { exportOrder } from '../../export/order.js';
import { tableFormat } from '../../files/table-write.js';
import { RunError, usageError } from '../../model/error.js';
import type { ExportJob, KeyPath } from '../../model/job.js';
import { IMPORTABLE, withArticle } from '../../model/resource-names.js';
import { didYouMean } from '../../pipeline/map/headings.js';
import { resourceSpec } from '../../resources/registry.js';
import { NO_LEXICON, READ_ONLY, WRITABLE } from '../../resources/spec.js';
import type { ExportRequest } from '../export/run.js';
import { type LoadedExportJob, quoteValue } from './shape.js';
import { asObject, type Place, type RawObject, type Report, valueAt } from './yaml.js';

/**
 * What an export job says beyond its shape. Works on the plain data, so that its faults are found beside those of the
 * shape; whatever has the wrong shape is passed over, it is reported already.
 */
export function checkExport(job: RawObject, report: Report): void {
  checkFile(job['output'], ['output'], report);
  checkFile(asObject(job['schedule'])['file'], ['schedule', 'file'], report);
  if (job['schedule'] !== undefined && job['output'] === undefined && asObject(job['schedule'])['file'] === undefined) {
    report(['schedule'], 'the job has a schedule and names no file to write; add `output: exports/name-{date}.xlsx`');
  }
  const resource = [...WRITABLE, ...READ_ONLY].find((known) => known === job['resource']);
  if (!resource) return;
  if (job['editable'] === true && !IMPORTABLE.some((name) => name === resource))
    report(['editable'], `\`editable\` is for ${IMPORTABLE.join(', ')}: a ${resource} can only be read`);
  const naming = knownNames(resource);
  const spec = isWritable(resource) ? resourceSpec(resource) : undefined;
  /** Whether only the service can tell what the name means. */
  const isCustom = (name: string, place: Place): boolean => {
    const kind = /^\s*(template|form)\s*(?:\.|$)/i.exec(name)?.[1]?.toLowerCase();
    if (!spec || kind === undefined) return false;
    if (kind === 'form' && !spec.form) report(place, `\`${name}\`: ${withArticle(resource)} has no custom forms`);
    return true;
  };
  const isOpen = (name: string, place: Place): boolean =>
    isCustom(name, place) || (!spec && mayBeUnlisted(name, naming));
  for (const [i, column] of (Array.isArray(job['columns']) ? job['columns'] : []).entries()) {
    const place = valueAt(['columns', i]);
    if (typeof column !== 'string' || column === '' || isCustom(column, place) || mayBeUnlisted(column, naming))
      continue;
    reportRefusals(() => chooseColumns([column], naming), place, report);
  }
  checkConditions('filter', job['filter'], isOpen, naming, report);
  const { order } = job;
  const place = valueAt(['order']);
  if (typeof order === 'string' && order !== '' && !isOpen(order.replace(/^-/, ''), place))
    reportRefusals(() => exportOrder(order, naming), place, report);
}

/** Whether only the records can tell what the name means: they may show what the interface does not list. */
function mayBeUnlisted(name: string, naming: Naming): boolean {
  const headings = naming.columns.map(({ heading }) => heading);
  return findColumn(name, naming) === undefined && didYouMean(name, headings) === '';
}

function checkFile(file: unknown, path: KeyPath, report: Report): void {
  if (typeof file !== 'string' || file === '') return;
  for (const wrong of targetProblems(file)) {
    report(valueAt(path), `\`${path.join('.')}\` is ${quoteValue(file)}; ${wrong}`);
  }
}

/** Why a file cannot be the target of an export, going by its name alone, as written in a job: `{date}` may stand in it. */
export function targetProblems(file: string): string[] {
  const problems: string[] = [];
  if (/(^|[/\\])\.[^/\\]*$/.test(file)) problems.push('the name of the file must not begin with a dot');
  else problems.push(...formatProblems(file));
  for (const [found = '', inner = ''] of file.matchAll(/\{([^{}]*)\}/g)) {
    if (PLACEHOLDERS.some((known) => known === inner)) continue;
    problems.push(`${found} has no meaning there: {date} alone is replaced, by the calendar date as yyyy-MM-dd`);
  }
  return problems;
}

function formatProblems(file: string): string[] {
  try {
    tableFormat(file);
    return [];
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    // The place of the problem names the file already.
    return [error.message.replace(`${file}: `, '').replace(/\.$/, '')];
  }
}

/** What names can mean, as far as that is known without the service. */
export function knownNames(resource: Exportable): Naming {
  const context = { lexicon: NO_LEXICON, templates: [], forms: [] };
  return { ...context, resource, columns: exportColumns(resource, context) };
}

/** Reports what a run would say of a filter or scope. `isOpen`: whether the run alone can tell what a name means. */
export function checkConditions(
  section: 'filter' | 'scope',
  given: unknown,
  isOpen: (name: string, place: Place) => boolean,
  naming: Naming,
  report: Report,
): void {
  // What has another shape is reported already.
  const plain = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
  const filter: Filter = Object.fromEntries(
    Object.entries(asObject(given))
      .filter(([name]) => !isOpen(name, [section, name]))
      .map(([name, value]) => [name, Array.isArray(value) ? value.map(plain) : plain(value)]),
  );
  for (const { name, index, message } of conditionsOn(filter, naming).problems) {
    const path = [section, name];
    const value = valueAt(Array.isArray(filter[name]) && index !== undefined ? [...path, index] : path);
    report(index === undefined ? path : value, `${section}: ${message.replace(/\.$/, '')}`);
  }
}

/** Reports what the export would refuse. */
function reportRefusals(work: () => unknown, place: Place, report: Report): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    // The place says what cannot be used.
    const messages =
      error.details.length > 0 ? error.details : [error.message.replace(/^[^.]* cannot be (?:used|chosen so)\. /, '')];
    for (const message of messages) report(place, message.replace(/\.$/, ''));
  }
}

/** What was said beside the job, and wins over it. `target` is absolute. */
export type ExportOverrides = Partial<Omit<ExportRequest, 'resource' | 'job'>>;

/** Where and when an export is begun. */
export interface ExportOccasion {
  /** A relative `output` is meant below this folder. Absolute. */
  readonly cwd: string;
  /** Milliseconds since 1970; now, where absent. */
  readonly now?: number;
}

/**
 * The request of an export job. `overrides.filter` stands in place of the whole filter of the job.
 * @throws RunError `usage` where neither the job nor `overrides` names a file.
 */
export function exportRequest(
  loaded: LoadedExportJob,
  overrides: ExportOverrides,
  occasion: ExportOccasion,
): ExportRequest {
  const { job, name, path, sha256, warnings } = loaded;
  const { cwd, now = Date.now() } = occasion;
  const stated = overrides.target ?? outputOf(job);
  if (stated === undefined) {
    throw usageError(
      `The job ${name} does not say which file to write. Name one with -o, or give the job a line such as \`output: exports/${job.resource}s-{date}.xlsx\`.`,
    );
  }
  const { columns, order, company, concurrency, run } = { ...job, ...overrides };
  return {
    resource: job.resource,
    target: overrides.target ?? resolve(cwd, withDate(stated, localDate(now, job.schedule?.timezone))),
    ...{ columns, order, company, concurrency, run },
    filter: overrides.filter ?? job.filter,
    editable: overrides.editable ?? job.editable,
    job: { name, path, sha256 },
    notes: [...(overrides.notes ?? []), ...warnings],
  };
}

/** The file that the job names, as it is written there. That of its schedule is meant for the schedule's runs. */
export function outputOf({ output, schedule }: ExportJob): string | undefined {
  return output ?? schedule?.file;
}

/** What may stand in curly brackets in `output`. */
const PLACEHOLDERS = ['date'] as const;

/** Puts a date in the place of every `{date}`. */
export function withDate(file: string, date: string): string {
  return file.replaceAll('{date}', date);
}

/** The calendar date, yyyy-MM-dd, that the clocks of a zone show; those of this machine where no zone is stated. */
export function localDate(at: number, timeZone?: string): string {
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', ...(timeZone !== undefined && { timeZone }) }).format(
    at,
  );
}
