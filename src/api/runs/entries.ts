import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileName } from '../../report/summary.js';
import { runFolder } from '../../runs/run/layout.js';
import { type RunEntry, readRun, runIds } from '../../runs/run/list.js';
import type { Run } from '../schema.js';

/** Folders that are looked at before others have their turn. */
const AT_ONCE = 32;

/**
 * The runs of a data folder. With thousands of them reading each takes seconds: one is read again only where something came or
 * went in its folder, and for as long as it has not ended.
 */
export class RunEntries {
  private readonly cache = new Map<string, { readonly version: string; readonly entry: RunEntry }>();

  constructor(private readonly home: string) {}

  /** All of them, newest first. One whose own files cannot be read is left out. */
  async list(): Promise<readonly RunEntry[]> {
    const ids = await runIds(this.home);
    const existing = new Set(ids);
    for (const run of this.cache.keys()) if (!existing.has(run)) this.cache.delete(run);
    return this.first(ids, Number.POSITIVE_INFINITY);
  }

  /** So many of the first of these runs, or somewhat more. */
  async first(runs: readonly string[], count: number): Promise<RunEntry[]> {
    const found: RunEntry[] = [];
    for (let at = 0; at < runs.length && found.length < count; at += AT_ONCE) {
      const some = await Promise.all(
        runs.slice(at, at + AT_ONCE).map((run) => this.readEntry(run).catch(() => undefined)),
      );
      found.push(...some.filter((entry) => entry !== undefined));
      await setImmediate();
    }
    return found;
  }

  private async readEntry(run: string): Promise<RunEntry> {
    // Before it is read: a change meanwhile makes it another version.
    const { ino, mtimeMs } = statSync(runFolder(this.home, run).dir);
    const version = `${ino} ${mtimeMs}`;
    const cached = this.cache.get(run);
    const open = cached?.entry.status === 'running' || cached?.entry.status === 'unfinished';
    if (cached?.version === version && !open) return cached.entry;
    const entry = await readRun(this.home, run);
    this.cache.set(run, { version, entry });
    return entry;
  }
}

/** As lists of runs show it. */
export function runOf({ run, report_dir, reports_of, ...entry }: RunEntry): Run {
  return { rows: null, needs_person: null, outcomes: null, ...entry, id: run, file: fileName(entry.file) };
}
