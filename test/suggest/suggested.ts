import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportJob } from '../../src/model/job.js';
import { checkJobText } from '../../src/runs/job-file.js';
import { type MapResult, mapFile } from '../../src/runs/map-file.js';
import type { SuggestedColumn } from '../../src/suggest/suggest.js';
import { csv } from '../support/desk.js';

/** What `map` makes of a table; the first row holds the headings. */
export async function suggested(
  resource: string,
  table: readonly (readonly (string | number)[])[] | string | Buffer,
): Promise<MapResult & { column(heading: string): SuggestedColumn; fields: Record<string, string> }> {
  const dir = await mkdtemp(join(tmpdir(), 'rowferry-map-'));
  try {
    const file = join(dir, 'table.csv');
    await writeFile(file, typeof table === 'string' || Buffer.isBuffer(table) ? table : csv(table));
    const result = await mapFile({ file, resource });
    return {
      ...result,
      column(heading) {
        const found = result.suggestion.columns.find((one) => one.heading === heading);
        if (!found) throw new Error(`no column ${heading}`);
        return found;
      },
      fields: Object.fromEntries(result.suggestion.columns.map(({ heading, field }) => [heading, field ?? '~'])),
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** A column of `count` values under its heading, beside a name column that makes the job valid. */
export function beside(name: string, heading: string, values: readonly (string | number)[]): (string | number)[][] {
  return [[name, heading], ...values.map((value, at) => [`Thing ${String.fromCharCode(65 + (at % 26))}${at}`, value])];
}

/** The job as the program reads it; throws with its faults where it is none. */
export function read(text: string | undefined): ImportJob {
  const { job, problems } = checkJobText(text ?? '');
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (job?.kind !== 'import' || errors.length > 0) throw new Error(`no import job: ${JSON.stringify(errors)}`);
  return job;
}
