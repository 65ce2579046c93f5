import type { RunFolder } from '../layout.js';
import { orphanFolder } from '../reconcile/write-orphans.js';
import type { RunLogs } from './what-was-written.js';

/** Where a run noted what it wrote: for the rows of its file, then for records that no row speaks of. */
export function runLogs(folder: RunFolder): readonly RunLogs[] {
  const orphans = orphanFolder(folder);
  return [
    { journal: folder.journal, before: folder.before },
    { journal: orphans.journal, before: orphans.before },
  ];
}
