import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import { type BlankColumn, type ServiceNames, SHEET } from '../blank-workbook/columns.js';
import { isTemplateJob, jobText } from '../blank-workbook/job-text.js';
import { type BlankWorkbook, planWorkbook } from '../blank-workbook/plan.js';
import { writeBlankWorkbook } from '../blank-workbook/workbook.js';
import { openSource } from '../files/open.js';
import { RunError } from '../model/error.js';
import { isBlank } from '../model/row.js';
import type { Catalogue } from '../pipeline/map/targets.js';
import { resourceSpec } from '../resources/registry.js';
import { READ_ONLY, type ReferenceTarget, type ResourceName, type ResourceSpec, WRITABLE } from '../resources/spec.js';
import { serviceName } from '../service/address.js';
import { openService } from '../service/service.js';
import type { Notice } from './context.js';
import { didYouMean } from './job/shape.js';
import { checkJobText } from './job-file.js';
import { nameCompany, serviceOptions } from './open-service.js';
import { requireService, type Settings } from './settings.js';
import { type CustomChoice, chooseColumns, chooseCustom } from './template/custom.js';
import { readCatalogue, readNames } from './template/names.js';

export interface TemplateRequest {
  /** As the person wrote it. */
  readonly resource: string;
  /** The workbook to write, as the person wrote it: a path from `cwd`. */
  readonly file: string;
  readonly cwd: string;
  /** Fields or headings; all where absent. */
  readonly columns?: readonly string[];
  /** Name or id of a custom field template, or `none`; the first where absent. */
  readonly template?: string;
  /** Names or ids of custom forms, or `none`; all where absent. */
  readonly forms?: readonly string[];
  /** Where it was said for this workbook; else the settings' company counts, if the service is asked. */
  readonly company?: number;
}

interface TemplateContext {
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly notice: (notice: Notice) => void;
}

/** What was written. */
export interface TemplateResult {
  readonly resource: ResourceName;
  /** Paths as the person wrote them. */
  readonly file: string;
  readonly job: string;
  readonly sheet: string;
  readonly company?: number;
  readonly columns: readonly { readonly heading: string; readonly field: string; readonly required: boolean }[];
  readonly lists: readonly { readonly list: string; readonly values: number; readonly columns: readonly string[] }[];
  readonly warnings: readonly string[];
}

/**
 * Writes a blank workbook and the job that imports it: contract, section 3. With a service in the settings its names and
 * custom fields are in it, each list read once; nothing is ever written to the service.
 */
export async function writeTemplate(request: TemplateRequest, context: TemplateContext): Promise<TemplateResult> {
  const spec = resourceSpec(resourceOf(request.resource));
  const target = resolve(request.cwd, request.file);
  const job = await checkTarget(target, request.file, SHEET[spec.name]);
  const warnings: string[] = [];
  const warn = (text: string) => {
    warnings.push(text);
    context.notice({ level: 'warn', text });
  };
  for (const text of context.settings.warnings) warn(text);
  const made =
    context.settings.apiUrl === undefined
      ? withoutService(spec, request, warn)
      : await withService(spec, request, context, warn);
  const plan = planWorkbook(spec, made.columns, made.names);
  const [workbook, jobName] = [basename(target), basename(job)];
  const company = made.company === undefined ? {} : { company: made.company };
  const text = jobText(spec, plan.columns, { workbook, job: jobName, ...company });
  checkOwnJob(text);
  const origin = made.origin === undefined ? {} : { origin: made.origin };
  await writeBlankWorkbook(
    plan,
    { workbook, job: jobName, remarks: warnings, ...origin },
    { workbook: target, job, jobText: text },
  );
  return {
    resource: spec.name,
    file: request.file,
    job: beside(request, job),
    sheet: plan.sheet,
    ...company,
    columns: plan.columns.map(({ heading, field, need }) => ({ heading, field, required: need === 'always' })),
    lists: listsOf(plan),
    warnings,
  };
}

interface Made {
  readonly columns: readonly BlankColumn[];
  readonly names?: ServiceNames;
  readonly company?: number;
  readonly origin?: string;
}

function withoutService(spec: ResourceSpec, request: TemplateRequest, warn: (text: string) => void): Made {
  if (request.template !== undefined && request.template !== 'none') {
    throw new RunError(
      'usage',
      '--template names a custom field template, which the service alone knows. Set ROWFERRY_API_URL and ROWFERRY_API_TOKEN.',
    );
  }
  if (request.forms?.some((name) => name.trim().toLowerCase() !== 'none')) {
    throw new RunError(
      'usage',
      '--form names a custom form, which the service alone knows. Set ROWFERRY_API_URL and ROWFERRY_API_TOKEN.',
    );
  }
  const columns = chooseColumns(spec, { columns: [], warnings: [] }, request.columns, undefined);
  warn(
    "No service was asked (ROWFERRY_API_URL is not set): the workbook lacks the service's custom fields and the drop-down lists of its names, such as categories and owners. Set ROWFERRY_API_URL and ROWFERRY_API_TOKEN and make it anew to have them.",
  );
  return { columns, ...(request.company === undefined ? {} : { company: request.company }) };
}

/** A service that does not answer is waited for this long; an import has more patience. */
const PATIENCE_MS = 10_000;

async function withService(
  spec: ResourceSpec,
  request: TemplateRequest,
  { settings, signal, notice }: TemplateContext,
  warn: (text: string) => void,
): Promise<Made> {
  const { apiUrl } = requireService(settings);
  const company = request.company ?? settings.company;
  const patienceMs = Math.min(settings.patienceMs, PATIENCE_MS);
  const service = openService({ ...serviceOptions(settings, company), patienceMs, signal });
  try {
    const telling = { warn, info: (text: string) => notice({ level: 'info', text }) };
    const name = await nameCompany(
      service,
      { company, address: apiUrl, verb: 'Reading names of', mayBeArchived: true },
      telling,
    );
    const asking = { service, signal, warn };
    const catalogue: Catalogue = await readCatalogue(spec, asking);
    const custom: CustomChoice = chooseCustom(spec, catalogue, request);
    for (const text of custom.warnings) warn(text);
    const columns = chooseColumns(spec, custom, request.columns, catalogue);
    const targets = columns.flatMap(({ spec: { type } }): ReferenceTarget[] =>
      type.kind === 'reference' ? [type.to] : [],
    );
    const names = await readNames(targets, { home: settings.home, service: serviceName(apiUrl, company) }, asking);
    const today = new Date().toISOString().slice(0, 10);
    const origin = `${name === undefined ? '' : `"${name}", `}company ${company} at ${apiUrl}, read on ${today}`;
    return { columns, names, company, origin };
  } catch (error) {
    throw withoutResume(error);
  } finally {
    await service.close();
  }
}

/** There is no run to resume: a template is made anew. */
function withoutResume(error: unknown): unknown {
  if (!(error instanceof RunError)) return error;
  const text = error.message.replace(/, then resume the run\.$/, ', then make the template anew. Nothing was written.');
  if (text === error.message) return error;
  const { kind, details, status } = error;
  return new RunError(kind, text, details, { cause: error, ...(status === undefined ? {} : { status }) });
}

function resourceOf(text: string): ResourceName {
  const wanted = text.trim().toLowerCase();
  const found = WRITABLE.find((name) => name === wanted);
  if (found) return found;
  const all = WRITABLE.join(', ');
  if (READ_ONLY.some((name) => name === wanted)) {
    throw new RunError(
      'usage',
      `\`${text}\` records can only be read, so there is nothing to fill in. Templates are for: ${all}.`,
    );
  }
  throw new RunError(
    'usage',
    `There is no resource \`${text}\`${didYouMean(wanted, WRITABLE) || '.'} Templates are for: ${all}.`,
  );
}

/** The job beside a workbook must run as it is: anything else is a fault of this program, not of the person. */
function checkOwnJob(text: string): void {
  const [problem] = checkJobText(text).problems;
  if (problem) throw new Error(`the template's own job is not right: line ${problem.line}: ${problem.message}`);
}

/** The job's path as the person would write it. */
function beside({ cwd, file }: TemplateRequest, job: string): string {
  const near = relative(cwd, job);
  return near.startsWith('..') || resolve(file) === file ? file.replace(/\.xlsx$/i, '.yaml') : near;
}

function listsOf({ columns, lists, subcategories }: BlankWorkbook): TemplateResult['lists'] {
  const found = [...new Set(lists.values())].map((list) => ({
    list: list.title,
    values: list.values.length,
    columns: columns.filter(({ field }) => lists.get(field) === list).map(({ heading }) => heading),
  }));
  if (subcategories.size === 0) return found;
  const values = [...subcategories.values()].reduce((sum, parts) => sum + parts.length, 0);
  const of = columns.filter(({ field }) => field === 'category.subcategory').map(({ heading }) => heading);
  return [...found, { list: 'Subcategories', values, columns: of }];
}

/**
 * Refuses a target that cannot or must not be written, before anything is. Returns the path of the job file beside it.
 * `shown` is the file as the person named it; `sheet` the one that is filled in.
 */
export async function checkTarget(target: string, shown: string, sheet: string): Promise<string> {
  if (!/[^/\\]\.xlsx$/i.test(target)) {
    throw new RunError(
      'usage',
      `The template is a workbook, and ${shown} does not end in .xlsx. Name a file such as assets.xlsx.`,
    );
  }
  const folder = await stat(dirname(target)).catch(() => undefined);
  if (!folder?.isDirectory()) {
    throw new RunError(
      'usage',
      `${shown}: the folder ${dirname(target)} ${folder ? 'is a file' : 'does not exist. Create it first'}.`,
    );
  }
  const job = target.replace(/\.xlsx$/i, '.yaml');
  await checkJob(job);
  const there = await stat(target).catch(() => undefined);
  if (there && !there.isFile()) {
    throw new RunError('usage', `${shown} is ${there.isDirectory() ? 'a folder' : 'no plain file'}. Name a file.`);
  }
  if (there && there.size > 0) await checkWorkbook(target, shown, sheet);
  return job;
}

async function checkJob(job: string): Promise<void> {
  const there = await stat(job).catch(() => undefined);
  if (!there) return;
  if (there.isFile() && isTemplateJob(await readFile(job, 'utf8'))) return;
  throw new RunError(
    'usage',
    `The template's job file would be ${job}, and ${there.isFile() ? 'the one there was not written by `rowferry template`' : 'that is no plain file'}. Nothing was written. Name another workbook, or move that file.`,
  );
}

/**
 * Only an untouched template is written over. A workbook that somebody has filled in is not, and neither is a file that
 * cannot be read as one: protected by a password, cut off, of another program, or a workbook of somebody's own.
 */
async function checkWorkbook(target: string, shown: string, sheet: string): Promise<void> {
  const [first, ...others] = [...new Set([sheet, ...Object.values(SHEET)])];
  let blank: Looked | undefined;
  let unreadable: string | undefined;
  for (const name of [first ?? sheet, ...others]) {
    const looked = await lookAt(target, name);
    if (looked.kind === 'filled') {
      throw new RunError(
        'usage',
        `${shown} is there already and holds rows that somebody filled in (row ${looked.row} of "${name}"). Nothing was written. Name another file, or move this one.`,
      );
    }
    if (looked.kind === 'blank') blank = looked;
    else unreadable ??= looked.why;
  }
  const help = blank ? await lookAt(target, HELP) : undefined;
  if (blank && help?.kind !== 'unreadable') return;
  const why = blank ? `it has no sheet "${HELP}"` : unreadable;
  throw new RunError(
    'usage',
    `${shown} is there already, and it is not a blank workbook of \`rowferry template\`: ${why}${/[.!?]$/.test(why ?? '') ? '' : '.'} Nothing was written. Name another file, or move this one.`,
  );
}

/** A sheet of every template. */
const HELP = 'Help';

type Looked =
  | { readonly kind: 'blank' }
  | { readonly kind: 'filled'; readonly row: number }
  | { readonly kind: 'unreadable'; readonly why: string };

async function lookAt(target: string, sheet: string): Promise<Looked> {
  try {
    const source = await openSource(target, { format: 'xlsx', sheet, header_row: 1 });
    for await (const batch of source.rows()) {
      const filled = batch.find(({ cells }) => !cells.every(isBlank));
      if (filled) return { kind: 'filled', row: filled.row };
    }
    return { kind: 'blank' };
  } catch (error) {
    if (error instanceof RunError) return { kind: 'unreadable', why: withoutPath(error.message, target) };
    throw error;
  }
}

const withoutPath = (text: string, path: string) => text.replace(`${path}: `, '').replace(/ Nothing was sent\.$/, '');
