import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeSafely } from '../../files/safe-write.js';
import type { ReconcileFacts } from '../../model/reconcile.js';
import { reached } from '../../trace/milestones.js';
import type { RunFolder } from '../layout.js';

/** What a run found out before its first write; a run that is taken up again goes by it. */
export interface Stored {
  readonly facts: ReconcileFacts;
  /** A brake tripped: where the run went on nevertheless, somebody let it pass. */
  readonly tripped: boolean;
  /** Whether the absences of this run count. */
  readonly certain: boolean;
  /** Of the records that were absent before: those that a row of the file means. */
  readonly found: readonly number[];
  /** Headings by field, for the reports. */
  readonly columns: Readonly<Record<string, string>>;
}

const pathIn = (folder: RunFolder) => join(folder.dir, 'work', 'facts.json');

export async function keepFacts(folder: RunFolder, stored: Stored): Promise<void> {
  await writeSafely(pathIn(folder), (write) => write(`${JSON.stringify(stored)}\n`));
  reached('facts-kept');
}

/** Undefined where the run did not come so far. */
export async function readFacts(folder: RunFolder): Promise<Stored | undefined> {
  const text = await readFile(pathIn(folder), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Stored);
}
