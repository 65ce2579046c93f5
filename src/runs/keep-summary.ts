import { join } from 'node:path';
import { writeSafely } from '../files/safe-write.js';
import { visibleJson } from '../model/visible.js';
import type { Summary } from '../report/summary.js';
import type { RunFolder } from './layout.js';

/** Where runs put their reports into one folder, they take the place of those before: how each ended is kept with the run. */
export async function keepSummary(folder: RunFolder, reportDir: string, summary: Summary): Promise<void> {
  if (reportDir === folder.dir) return;
  await writeSafely(join(folder.dir, 'summary.json'), (write) =>
    write(`${visibleJson(JSON.stringify(summary, null, 2))}\n`),
  );
}
