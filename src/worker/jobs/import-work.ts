import { importFile } from '../../runs/import.js';
import { loadJob } from '../../runs/job-file.js';
import type { FitData } from './check-data.js';
import type { Work } from './delivery.js';
import { rowsWork } from './rows-work.js';

/** An import: what is not asked to be a dry run writes. */
export function importWork({ ok: data, inline }: Extract<FitData, { readonly kind: 'import' }>): Work {
  return rowsWork(data, {
    kind: 'import',
    anewText: 'Rows that it wrote are unchanged here; its own reports lie there, if anywhere.',
    deathAdvice:
      'import the file by itself: rowferry import FILE --job JOB. What was written stays written; importing the file again repeats nothing.',
    inline,
    load: loadJob,
    dryRun: () => data.options?.dry_run ?? false,
    begin: importFile,
  });
}
