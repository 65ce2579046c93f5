import { resolve } from 'node:path';
import { RunError } from '../../model/error.js';
import type { ExportJob } from '../../model/job.js';
import type { ExportRequest } from '../export/request.js';
import type { LoadedExportJob } from './shape.js';

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
    throw new RunError(
      'usage',
      `The job ${name} does not say which file to write. Name one with -o, or give the job a line such as \`output: exports/${job.resource}s-{date}.xlsx\`.`,
    );
  }
  const { columns, order, company, concurrency, run } = { ...job, ...overrides };
  return {
    resource: job.resource,
    target: overrides.target ?? resolve(cwd, withDate(stated, dateOf(now, job.schedule?.timezone))),
    ...(columns !== undefined && { columns }),
    filter: overrides.filter ?? filterTexts(job.filter),
    ...(order !== undefined && { order }),
    editable: overrides.editable ?? job.editable,
    ...(company !== undefined && { company }),
    ...(concurrency !== undefined && { concurrency }),
    job: { name, path, sha256 },
    ...(run !== undefined && { run }),
    notes: [...(overrides.notes ?? []), ...warnings],
  };
}

/** The file that the job names, as it is written there. That of its schedule is meant for the schedule's runs. */
export function outputOf({ output, schedule }: ExportJob): string | undefined {
  return output ?? schedule?.file;
}

/** What may stand in curly brackets in `output`. */
export const PLACEHOLDERS = ['date'] as const;

/** Puts a date in the place of every `{date}`. */
export function withDate(file: string, date: string): string {
  return file.replaceAll('{date}', date);
}

/** The calendar date, yyyy-MM-dd, that the clocks of a zone show; those of this machine where no zone is stated. */
export function dateOf(at: number, timeZone?: string): string {
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', ...(timeZone !== undefined && { timeZone }) }).format(
    at,
  );
}

/** `field=value`, one for each value; of none, `field=`. */
function filterTexts(filter: ExportJob['filter']): string[] {
  return Object.entries(filter).flatMap(([field, values]) =>
    (Array.isArray(values) ? values : [values]).map((value) => `${field}=${value ?? ''}`),
  );
}
