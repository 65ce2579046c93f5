import { importJob, type RowsJob } from '../../model/job.js';
import type { LoadedJob } from '../job-file.js';

/** What records that a run created are to be given, by field as job files name it. */
export type RetireValues = NonNullable<RowsJob['retire']>;

/**
 * The job of an undo: it meets records by their ids, changes what is there, and writes as the run did that is undone. It has
 * no brakes: what is written is what that run wrote.
 */
export function undoJob(loaded: LoadedJob, retire: RetireValues | undefined): LoadedJob {
  const { resource, company, write, source } = loaded.job;
  const job = importJob.parse({
    kind: 'import',
    resource,
    ...(company === undefined ? {} : { company }),
    source: { format: 'ndjson', encoding: 'utf-8', ...(source.dates ? { dates: source.dates } : {}) },
    match: { key: 'id', existing: 'update', missing: 'fail' },
    columns: { id: 'id', row: null, key: null, run_outcome: null, fields: null },
    write,
    brakes: { min_rows: 0 },
    ...(retire === undefined ? {} : { retire }),
  });
  return { ...loaded, job, warnings: [] };
}
