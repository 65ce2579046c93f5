import { lstat } from 'node:fs/promises';
import { basename, isAbsolute, relative } from 'node:path';
import { openSource } from '../files/open.js';
import { writeSafely } from '../files/safe-write.js';
import { RunError } from '../model/error.js';
import type { SourceMeta } from '../model/source.js';
import { resourceSpec } from '../resources/registry.js';
import { READ_ONLY, type ResourceName, WRITABLE } from '../resources/spec.js';
import { jobText, tableText } from '../suggest/job-text.js';
import { type SuggestedColumn, type Suggestion, suggestJob } from '../suggest/suggest.js';
import { didYouMean } from './job/shape.js';
import { checkJobText, problemLine } from './job-file.js';

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
  readonly source?: { readonly sheet?: string | number; readonly header_row?: number };
}

export interface MapResult {
  readonly suggestion: Suggestion;
  /** The job file; undefined where nothing can be mapped, and `reason` says why. */
  readonly job?: string;
  readonly reason?: string;
  /** For people: a line for each column. */
  readonly table: string;
  /** What `--json` prints. */
  readonly summary: MapSummary;
}

interface MapSummary {
  readonly resource: ResourceName;
  readonly file: string;
  readonly source: Pick<SourceMeta, 'format' | 'encoding' | 'delimiter' | 'sheet' | 'header_row'>;
  readonly rows: number;
  readonly columns: readonly {
    readonly heading: string;
    /** From 1. */
    readonly column: number;
    readonly field: string | null;
    readonly confidence: SuggestedColumn['confidence'];
    readonly evidence: readonly string[];
    readonly remarks: readonly string[];
    /** Why the column is not mapped; null for a mapped one. */
    readonly why: string | null;
    readonly alternatives: SuggestedColumn['alternatives'];
  }[];
  readonly key: {
    readonly field: string;
    readonly heading: string;
    readonly blank: number;
    readonly repeats: number;
    readonly fits: boolean;
  } | null;
  readonly missing: readonly string[];
  readonly warnings: readonly string[];
  /** The text of the job file. */
  readonly job: string | null;
  /** Where it was written. */
  readonly output: string | null;
  readonly reason: string | null;
}

/**
 * Suggests a job file for a spreadsheet. Needs no service. Throws `RunError`: `usage` for an unknown resource and for an
 * output that exists, `failed` for a file that cannot be read.
 */
export async function mapFile(request: MapRequest): Promise<MapResult> {
  const { file, output } = request;
  const resource = writableResource(request.resource);
  if (output !== undefined && request.force !== true) await refuseExisting(output);
  const source = await openSource(file, request.source ?? {});
  const suggestion = await suggestJob(resourceSpec(resource), source);
  const reason = whyNothing(suggestion, source.meta.sheet);
  const job =
    reason === undefined && suggestion.key
      ? jobText(suggestion, suggestion.key, source.meta, {
          file: named(file, request.cwd),
          job: output === undefined ? 'JOB.yaml' : named(output, request.cwd),
        })
      : undefined;
  if (job !== undefined) {
    assertFit(job);
    if (output !== undefined) await writeSafely(output, (write) => write(job));
  }
  const written = job === undefined ? undefined : output;
  return {
    suggestion,
    ...(job === undefined ? {} : { job }),
    ...(reason === undefined ? {} : { reason }),
    table: tableText(suggestion),
    summary: summaryOf(suggestion, source.meta, { file, job, reason, output: written }),
  };
}

/** The path as it works from the working folder, short where it lies below. */
function named(path: string, cwd: string | undefined): string {
  if (cwd === undefined) return basename(path);
  const near = relative(cwd, path);
  return near.startsWith('..') || isAbsolute(near) ? path : near;
}

function writableResource(given: string): ResourceName {
  const wanted = given.trim().toLowerCase();
  const found = WRITABLE.find((name) => name === wanted || `${name}s` === wanted);
  if (found) return found;
  if (READ_ONLY.some((name) => name === wanted)) {
    throw new RunError(
      'usage',
      `${wanted} records can only be read, so there is no import to suggest a job for. Name one of: ${WRITABLE.join(', ')}.`,
    );
  }
  throw new RunError(
    'usage',
    `There is no resource \`${given}\`${didYouMean(wanted, WRITABLE) || '.'} A job can be suggested for: ${WRITABLE.join(', ')}.`,
  );
}

async function refuseExisting(output: string): Promise<void> {
  const there = await lstat(output).catch(() => undefined);
  if (!there) return;
  if (there.isDirectory()) throw new RunError('usage', `${output} is a folder; name the job file to write.`);
  throw new RunError('usage', `${output} exists already. Name another file, or replace it with --force.`);
}

function whyNothing({ columns, key, resource }: Suggestion, sheet: string | null): string | undefined {
  if (columns.every(({ field }) => field === undefined)) {
    const where = sheet === null ? 'the file' : `the sheet "${sheet}"`;
    const elsewhere = sheet === null ? '' : ' If the table stands on another sheet, name it with --sheet.';
    return `No heading of ${where} means a field of ${resource}, so there is no job to suggest.${elsewhere}`;
  }
  if (key) return undefined;
  return resource === 'customer'
    ? 'No column holds the name of the customer, and customers can be matched by nothing else, so no job can be made.'
    : `No mapped column can tell one ${resource} from another, so no job can be made.`;
}

/** A job that the program itself would refuse is a fault of the program. */
function assertFit(job: string): void {
  const errors = checkJobText(job).problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new Error(`the suggested job is not valid: ${errors.map((one) => problemLine('', one)).join('; ')}`);
}

function summaryOf(
  suggestion: Suggestion,
  meta: SourceMeta,
  more: {
    readonly file: string;
    readonly job: string | undefined;
    readonly reason: string | undefined;
    readonly output: string | undefined;
  },
): MapSummary {
  const { resource, rows, columns, key, missing, warnings } = suggestion;
  const { format, encoding, delimiter, sheet, header_row } = meta;
  return {
    resource,
    file: more.file,
    source: { format, encoding, delimiter, sheet, header_row },
    rows,
    columns: columns.map(({ heading, index, field, confidence, evidence, remarks, why, alternatives }) => ({
      heading,
      column: index + 1,
      field: field ?? null,
      confidence,
      evidence,
      remarks,
      why: field === undefined ? why : null,
      alternatives,
    })),
    key: key
      ? {
          field: key.field,
          heading: key.heading,
          blank: key.blank,
          repeats: key.repeats,
          fits: key.fits,
        }
      : null,
    missing: missing.map(({ field }) => field),
    warnings,
    job: more.job ?? null,
    output: more.output ?? null,
    reason: more.reason ?? null,
  };
}
