import { join } from 'node:path';
import { writeSafely } from '../../files/safe-write.js';
import { writeTable } from '../csv-table.js';
import type { Summary } from '../summary.js';
import type { Comparison } from './comparison.js';
import type { Found } from './found.js';
import type { ReconcileInput } from './input.js';
import { ORPHAN_COLUMNS, orphanLine } from './orphan-lines.js';

/** Ids of orphans that a run has, or may have, changed. */
export type WrittenOrphans = ReadonlySet<number>;

/** orphans.csv; the orphans are looked at for the page on the way. */
export async function writeOrphans(
  dir: string,
  input: ReconcileInput,
  comparison: Comparison,
): Promise<WrittenOrphans> {
  const written = new Set<number>();
  await writeTable(join(dir, 'orphans.csv'), ORPHAN_COLUMNS, async (add) => {
    for await (const batch of input.orphans()) {
      for (const orphan of batch) {
        comparison.addOrphan(orphan);
        if (orphan.outcome === 'updated' || orphan.outcome === 'unknown') written.add(orphan.id);
      }
      await add(batch.map(orphanLine));
    }
  });
  return written;
}

/** reconcile.xlsx. */
export async function writeFound(dir: string, summary: Summary, found: Found): Promise<void> {
  const { writeBook } = await import('./workbook.js');
  await writeSafely(join(dir, 'reconcile.xlsx'), (write) => writeBook({ write }, summary, found));
}
