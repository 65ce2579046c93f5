import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileName } from '../../report/summary.js';
import { runFolder } from '../../runs/run/layout.js';
import { type RunEntry, readRun, runIds } from '../../runs/run/list.js';
import type { Run } from '../schema.js';

/** Folders that are looked at before others have their turn. */
const AT_ONCE = 32;
/** Who asks within this time of each other is given the same answer. */
const FRESH_MS = 250;

/**
 * The runs of a data folder. With thousands of them reading each takes seconds: one is read again only where something came or
 * went in its folder, and for as long as it has not ended.
 */
export class RunEntries {
  private known = new Map<string, { readonly version: string; readonly entry: RunEntry }>();
  private latest: { readonly at: number; readonly entries: Promise<readonly RunEntry[]> } | undefined;

  constructor(private readonly home: string) {}

  /** All of them, newest first. One whose own files cannot be read is left out. */
  list(): Promise<readonly RunEntry[]> {
    const now = performance.now();
    if (!this.latest || now - this.latest.at > FRESH_MS) this.latest = { at: now, entries: this.read() };
    return this.latest.entries;
  }

  private async read(): Promise<readonly RunEntry[]> {
    const ids = await runIds(this.home);
    const found: typeof this.known = new Map();
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      await Promise.all(
        ids.slice(at, at + AT_ONCE).map(async (run) => {
          const one = await this.look(run).catch(() => undefined);
          if (one) found.set(run, one);
        }),
      );
      await setImmediate();
    }
    this.known = found;
    return ids.flatMap((run) => found.get(run)?.entry ?? []);
  }

  private async look(run: string) {
    // Before it is read: a change meanwhile makes it another version.
    const { ino, mtimeMs } = statSync(runFolder(this.home, run).dir);
    const version = `${ino} ${mtimeMs}`;
    const before = this.known.get(run);
    const open = before?.entry.status === 'running' || before?.entry.status === 'unfinished';
    if (before?.version === version && !open) return before;
    return { version, entry: await readRun(this.home, run) };
  }
}

/** As lists of runs show it. */
export function runOf({ run, report_dir, reports_of, ...entry }: RunEntry): Run {
  return { rows: null, needs_person: null, outcomes: null, ...entry, id: run, file: fileName(entry.file) };
}
