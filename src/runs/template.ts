import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import {
  type BlankColumn,
  blankColumns,
  COMMON_FIELDS,
  type CustomColumn,
  type DropDown,
  dropDowns,
  type ServiceNames,
  SHEET_NAME,
} from '../blank-workbook/columns.js';
import { jobText, writeBlankWorkbook } from '../blank-workbook/workbook.js';
import { usageError } from '../model/error.js';
import { resourceSpec } from '../resources/registry.js';
import type { ResourceSpec } from '../resources/spec.js';
import { serviceName } from '../service/address.js';
import { writableResource } from './job/shape.js';
import type { Notice } from './run/context.js';
import { announceCompany, withService } from './run/open-service.js';
import { customColumns, readCatalogue, readNames } from './service-names.js';
import { requireService, type Settings } from './settings.js';

export interface TemplateRequest {
  /** As the person wrote it. */
  readonly resource: string;
  /** The workbook to write, as the person wrote it: a path from `cwd`. */
  readonly file: string;
  readonly cwd: string;
  /** Every field, the service's custom ones too. */
  readonly all?: boolean;
  /** Where it was said for this workbook; else the settings' company counts, if the service is asked. */
  readonly company?: number;
}

interface TemplateContext {
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly notice: (notice: Notice) => void;
}

export type TemplateResult = Awaited<ReturnType<typeof writeTemplate>>;

/**
 * Writes a blank workbook and the job that imports it: contract, section 3. With a service in the settings its names and
 * custom fields are in it, each list read once; nothing is ever written to the service.
 */
export async function writeTemplate(request: TemplateRequest, context: TemplateContext) {
  const spec = resourceSpec(writableResource(request.resource, 'a template can be made'));
  const target = resolve(request.cwd, request.file);
  const job = await checkTarget(target, request.file);
  const warnings: string[] = [];
  const warn = (text: string) => {
    warnings.push(text);
    context.notice({ level: 'warn', text });
  };
  for (const text of context.settings.warnings) warn(text);
  let { company } = request;
  let content: TemplateContent;
  if (context.settings.apiUrl === undefined) {
    warn(
      "No service was asked (ROWFERRY_API_URL is not set): the workbook lacks the service's custom fields and the drop-down lists of its names, such as categories and owners. Set ROWFERRY_API_URL and ROWFERRY_API_TOKEN and make it anew to have them.",
    );
    content = { ...columnsOf(spec, [], request), names: new Map() };
  } else {
    company ??= context.settings.company;
    content = await askService(spec, { ...request, company }, context, warn);
  }
  const { columns, more } = content;
  const lists = dropDowns(columns, content.names);
  const about = { workbook: basename(target), job: basename(job), ...(company === undefined ? {} : { company }) };
  await writeBlankWorkbook({ spec, columns, lists }, { workbook: target, job, jobText: jobText(spec, columns, about) });
  const near = relative(request.cwd, job);
  return {
    resource: spec.name,
    /** Paths as the person wrote them. */
    file: request.file,
    job: near.startsWith('..') || target === request.file ? request.file.replace(/\.xlsx$/i, '.yaml') : near,
    sheet: SHEET_NAME[spec.name],
    ...(company === undefined ? {} : { company }),
    columns: columns.map(({ heading, field, required }) => ({ heading, field, required })),
    /** Fields that `all` would add. */
    more,
    lists: listsOf(columns, lists),
    warnings,
  };
}

/** What there is to be filled in, as far as it is known. */
interface TemplateContent {
  readonly columns: readonly BlankColumn[];
  /** Columns that were left to `--all`. */
  readonly more: number;
  readonly names: ServiceNames;
}

/** A service that does not answer is waited for this long; an import has more patience. */
const PATIENCE_MS = 10_000;

async function askService(
  spec: ResourceSpec,
  request: TemplateRequest & { readonly company: number },
  { settings, signal, notice }: TemplateContext,
  warn: (text: string) => void,
): Promise<TemplateContent> {
  const { company } = request;
  const { apiUrl } = requireService(settings);
  return withService(settings, { company, patienceMs: PATIENCE_MS, signal }, async (service) => {
    await announceCompany(
      service,
      { company, address: apiUrl, verb: 'Reading names of', mayBeArchived: true },
      { warn, info: (text) => notice({ level: 'info', text }) },
    );
    const asking = { service, signal, warn };
    const chosen = columnsOf(spec, customColumns(spec, await readCatalogue(spec, asking)), request);
    const targets = chosen.columns.flatMap(({ spec: { type } }) => (type.kind === 'reference' ? [type.to] : []));
    const names = await readNames(targets, { home: settings.home, service: serviceName(apiUrl, company) }, asking);
    return { ...chosen, names };
  });
}

function columnsOf(spec: ResourceSpec, custom: readonly CustomColumn[], { all }: TemplateRequest) {
  const allColumns = blankColumns(spec, custom);
  const columns = all ? allColumns : allColumns.slice(0, COMMON_FIELDS[spec.name].length);
  return { columns, more: allColumns.length - columns.length };
}

function listsOf(columns: readonly BlankColumn[], lists: ReadonlyMap<string, DropDown>) {
  return [...new Set(lists.values())].map((list) => ({
    list: list.title,
    values: list.values.length,
    columns: columns.filter(({ field }) => lists.get(field) === list).map(({ heading }) => heading),
  }));
}

/** Refuses a target that cannot be written, or that is there already, before anything is. Returns the path of the job file beside it. */
async function checkTarget(target: string, fileName: string): Promise<string> {
  if (!/[^/\\]\.xlsx$/i.test(target)) {
    throw usageError(
      `The template is a workbook, and ${fileName} does not end in .xlsx. Name a file such as assets.xlsx.`,
    );
  }
  const folder = await stat(dirname(target)).catch(() => undefined);
  if (!folder?.isDirectory()) {
    throw usageError(
      `${fileName}: the folder ${dirname(target)} ${folder ? 'is a file' : 'does not exist. Create it first'}.`,
    );
  }
  const job = target.replace(/\.xlsx$/i, '.yaml');
  for (const path of [target, job]) {
    if (!(await lstat(path).catch(() => undefined))) continue;
    throw usageError(
      `${path} is there already, and may hold what somebody filled in. Nothing was written. Name another workbook, or remove that file.`,
    );
  }
  return job;
}
