import { lstat, readFile, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { EDITABLE_MARK } from '../export/editable.js';
import { writeAtomically } from '../files/atomic-write.js';
import { openSource } from '../files/open.js';
import { RunError, usageError } from '../model/error.js';
import { targetsOf } from '../model/job.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../model/source.js';
import { loadDirectory } from '../pipeline/resolve/directory.js';
import { resourceSpec } from '../resources/registry.js';
import type { ReferenceTarget, ResourceSpec } from '../resources/spec.js';
import { jobText, tableText } from '../suggest/job-text.js';
import {
  type AskService,
  countFittingHeadings,
  type Suggestion,
  suggestJob,
  type WrittenBy,
} from '../suggest/suggest.js';
import { writableResource } from './job/shape.js';
import { checkJobText, problemLine } from './job-file.js';
import { isRunId, readRunSummary } from './run/list.js';
import { type Channel, openLists, withService } from './run/open-service.js';
import { relativePath } from './run/present.js';
import { customColumns, customSpec, readCatalogue } from './service-names.js';
import type { Settings } from './settings.js';

export { likelyResource } from '../suggest/suggest.js';

export interface MapRequest {
  /** Absolute path of the spreadsheet. */
  readonly file: string;
  readonly resource: string;
  /** Folder from which the commands in the job name files; absent: they name files without folders. */
  readonly cwd?: string;
  /** Absolute path of the job file to write; absent: nothing is written. */
  readonly output?: string;
  /** Replace a job file that is there. */
  readonly force?: boolean;
  /** The heading row and the like, where detection would be wrong. */
  readonly source?: Pick<SourceOptions, 'sheet' | 'encoding' | 'delimiter'> & { readonly header_row?: number | 'none' };
  /** Where they name a service, it is asked which names it knows. */
  readonly settings?: Settings;
  /** What the service is asked through; absent: it is opened for this. */
  readonly channel?: Channel;
}

export type MapResult = Awaited<ReturnType<typeof mapFile>>;

/**
 * Suggests a job file for a spreadsheet; there is always one, and `suggestion.next` says what is open. Throws `RunError`: `usage`
 * for an unknown resource, for an output that exists and for one that is the spreadsheet, `failed` for a file that cannot be read.
 */
export async function mapFile(request: MapRequest) {
  const { file, output, settings } = request;
  const resource = writableResource(request.resource, 'a job can be suggested');
  if (output !== undefined) await assertNotTheSheet(output, file);
  if (output !== undefined && request.force !== true) await assertNoFile(output);
  const spec = resourceSpec(resource);
  const source = await openBestSheet(file, request.source ?? {}, spec);
  const notes: string[] = [];
  const ask =
    settings?.apiUrl === undefined || settings.auth === undefined
      ? undefined
      : askService(spec, settings, notes, request.channel);
  const edited = settings && (await findEditableExport(file, source.meta, settings.home, resource));
  const written = edited?.written;
  if (edited && !written) notes.push(missingExportText(edited.run));
  const suggested = await suggestJob(spec, source, written ? undefined : ask, written);
  const suggestion = { ...suggested, warnings: [...suggested.warnings, ...notes] };
  const reason = unmappedReason(suggestion, source.meta.sheet);
  const displayName = (path: string) => (request.cwd === undefined ? basename(path) : relativePath(path, request.cwd));
  const names = { file: displayName(file), job: output === undefined ? 'JOB.yaml' : displayName(output) };
  const job = written ? edited.text : jobText(suggestion, source.meta, names);
  assertValid(job);
  if (output !== undefined) await writeAtomically(output, (write) => write(job));
  return {
    suggestion,
    /** The job file. */
    job,
    /** Why no column is mapped, where none is. */
    reason,
    /** For people: a line for each column. */
    table: tableText(suggestion),
    /** What `--json` prints. */
    summary: summaryOf(suggestion, source.meta, { file, job, output: output ?? null, reason: reason ?? null }),
  };
}

const missingExportText = (run: string) =>
  `The workbook was written to be changed by the export ${run}, which is not at hand with its job file. So every cell counts as it stands, also where somebody has changed the record since: look closely at the dry run, or export again.`;

/** Sheets of a workbook that are looked at for the one to map. */
const MAX_SHEETS = 20;

/** What opening a table says of a heading that is one by its place alone. */
const DATA_HEADING_WARNING = /taken as the heading because it is the first row, though it looks like data/;

/** The sheet whose headings mean the most fields, where none is named; of several the first. */
async function openBestSheet(
  file: string,
  stated: NonNullable<MapRequest['source']>,
  spec: ResourceSpec,
): Promise<OpenSource> {
  const first = await openSource(file, stated);
  let best = { source: first, fields: countFittingHeadings(spec, first.meta.headings) };
  if (
    stated.header_row === undefined &&
    best.fields < 2 &&
    first.meta.warnings.some((text) => DATA_HEADING_WARNING.test(text))
  ) {
    const { meta, rows } = await openSource(file, { ...stated, header_row: 'none' });
    const why =
      'The first row looks like data: the table is taken to have no headings. If it has, say so: --header-row 1.';
    return { meta: { ...meta, warnings: [why, ...meta.warnings] }, rows };
  }
  if (stated.sheet !== undefined) return best.source;
  for (const sheet of first.meta.sheets?.slice(0, MAX_SHEETS) ?? []) {
    if (sheet === first.meta.sheet) continue;
    // A chart, or a sheet without a table: it is not the one.
    const source = await openSource(file, { ...stated, sheet }).catch(() => undefined);
    const fields = source ? countFittingHeadings(spec, source.meta.headings) : 0;
    if (source && fields > best.fields) best = { source, fields };
  }
  if (best.source === first) return first;
  const { meta } = best.source;
  const why = `The sheet is "${meta.sheet}": its headings mean ${best.fields} fields of ${spec.name}, more than those of any other sheet.`;
  return { ...best.source, meta: { ...meta, evidence: [why, ...meta.evidence], warnings: [...meta.warnings, why] } };
}

/** The sheet of a workbook of ours that says where its records are from. */
const ABOUT_SHEET = 'About';

/**
 * The editable export that wrote a workbook, as its sheet About says, with the job that imports the changed file: it writes only
 * cells that were changed. Without `written` that export, or its job, is not at hand. Undefined where the workbook is none.
 */
async function findEditableExport(
  file: string,
  { sheets }: SourceMeta,
  home: string,
  resource: string,
): Promise<{ readonly run: string; readonly text: string; readonly written?: WrittenBy } | undefined> {
  const run = sheets?.includes(ABOUT_SHEET) ? await readExportRun(file) : undefined;
  if (run === undefined) return undefined;
  const path = (await readRunSummary(home, run).catch(() => undefined))?.target?.job;
  const text = (path && (await readFile(path, 'utf8').catch(() => undefined))) || '';
  const { job } = checkJobText(text.startsWith(EDITABLE_MARK) ? text : '');
  if (job?.kind !== 'import' || job.edited_from !== run) return { run, text };
  if (job.resource !== resource) return undefined;
  const fields = Object.entries(job.columns).flatMap(([heading, given]) =>
    targetsOf(given).map(({ field }) => [heading, field] as const),
  );
  return { run, text, written: { run, fields: new Map(fields) } };
}

async function readExportRun(file: string): Promise<string | undefined> {
  const { rows } = await openSource(file, { sheet: ABOUT_SHEET, header_row: 'none' });
  let isEditable = false;
  for await (const batch of rows())
    for (const { cells } of batch) {
      const [name, value] = cells;
      isEditable ||= name === 'Changing it';
      if (name === 'Run' && isEditable && typeof value === 'string' && isRunId(value)) return value;
    }
  return undefined;
}

/** What the service can list by name. */
const LISTED_TARGETS: ReadonlySet<ReferenceTarget> = new Set(['asset-owner', 'category', 'supplier', 'usage-status']);

/** Asks the service as an import would. Where it cannot be asked, that is a note and the suggestion does without. */
function askService(spec: ResourceSpec, settings: Settings, notes: string[], channel: Channel | undefined): AskService {
  return async (names) => {
    const listedNames = new Map([...names].filter(([to]) => LISTED_TARGETS.has(to)));
    const answer = withService(
      settings,
      { patienceMs: PATIENCE_MS, channel },
      async (service): ReturnType<AskService> => {
        const noneKnown = { ids: () => [], names: () => [], nameOf: () => undefined };
        const readAll = openLists(
          service,
          () => '',
          () => undefined,
        );
        const directory = await loadDirectory(listedNames, { service, known: noneKnown, readAll });
        // What a token may not read, the columns do without.
        const asking = { service, signal: new AbortController().signal, warn: () => undefined };
        const catalogue = await readCatalogue(spec, asking);
        const isKnown = catalogue.templates.length + catalogue.forms.length > 0;
        return {
          known: (to, name) => (listedNames.has(to) ? directory.lookup(to, name).kind !== 'missing' : undefined),
          customs: customColumns(spec, catalogue),
          canSet: (name) => !isKnown || customSpec(name, spec, catalogue) !== undefined,
        };
      },
    );
    return answer.catch((error: unknown) => {
      if (!(error instanceof RunError)) throw error;
      notes.push(`The service was not asked which names it knows: ${error.message}`);
      return undefined;
    });
  };
}

/** An import has more patience with a service that does not answer. */
const PATIENCE_MS = 5_000;

/** Also by another name of it: what a job may replace is a job, and the sheet may be the only copy. */
async function assertNotTheSheet(output: string, file: string): Promise<void> {
  const [place, sheet] = await Promise.all([output, file].map((path) => realpath(path).catch(() => undefined)));
  if (place !== undefined && place === sheet)
    throw usageError(`${output} is the spreadsheet itself; name the job file to write.`);
}

async function assertNoFile(output: string): Promise<void> {
  const existing = await lstat(output).catch(() => undefined);
  if (!existing) return;
  if (existing.isDirectory()) throw usageError(`${output} is a folder; name the job file to write.`);
  throw usageError(`${output} exists already. Name another file, or replace it with --force.`);
}

function unmappedReason({ columns, resource }: Suggestion, sheet: string | null): string | undefined {
  if (columns.some(({ field }) => field !== undefined)) return undefined;
  const where = sheet === null ? 'the file' : `the sheet "${sheet}"`;
  return `No heading of ${where} means a field of ${resource}: the job names every column, and maps none.`;
}

/** A job that the program itself would refuse is a fault of the program; where there is no key, once one is chosen. */
function assertValid(job: string): void {
  const chosen = job.replace(/^# (?=match: )/m, '');
  const errors = checkJobText(chosen).problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new Error(`the suggested job is not valid: ${errors.map((one) => problemLine('', one)).join('; ')}`);
}

function summaryOf(
  suggestion: Suggestion,
  meta: SourceMeta,
  { file, ...more }: Record<'file' | 'job', string> & Record<'output' | 'reason', string | null>,
) {
  const { resource, rows, columns, key, missing, next, warnings } = suggestion;
  const { format, encoding, delimiter, sheet, header_row } = meta;
  return {
    resource,
    file,
    source: { format, encoding, delimiter, sheet, header_row },
    rows,
    columns: columns.map(({ heading, index, field, confidence, evidence, remarks, why, alternatives }) => ({
      heading,
      /** From 1. */
      column: index + 1,
      field: field ?? null,
      confidence,
      evidence,
      remarks,
      /** Why it is not mapped. */
      why: field === undefined ? why : null,
      alternatives,
    })),
    key: key
      ? { field: key.field, heading: key.heading, blank: key.blank, repeats: key.repeats, fits: key.fits }
      : null,
    missing: missing.map(({ field }) => field),
    /** What a person must decide next. */
    next: next ?? null,
    warnings,
    ...more,
  };
}
