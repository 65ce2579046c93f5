import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkJobFile, jobFiles, jobNameOf } from '../../runs/job-file.js';

/**
 * What a folder's name stands for: a job that imports; one whose file has a fault (the run says which); a job of another
 * kind. A name that is missing is no job's.
 */
export type JobState = 'import' | 'faulty' | 'other';

export interface Jobs {
  readonly states: ReadonlyMap<string, JobState>;
  /** Names of the jobs that import, for people. */
  readonly names: readonly string[];
  /** Why the jobs folder cannot be read, as the file system says it; then nothing is known of any folder. */
  readonly fault?: unknown;
}

interface Known {
  readonly version: string;
  readonly state: JobState;
}

/** A file that an editor is just replacing is not there for a moment. */
const GONE_AFTER_MS = 10_000;

/** Reads the jobs folder, again and again: job files come and go while the worker runs. */
export function openJobs(jobsDir: string): () => Promise<Jobs> {
  const known = new Map<string, Known>();
  const last = new Map<string, { state: JobState; seen: number }>();

  async function stateOf(path: string): Promise<JobState | undefined> {
    const info = await stat(path).catch(() => undefined);
    if (!info) return undefined;
    const version = `${info.ino} ${info.size} ${info.mtimeMs}`;
    const before = known.get(path);
    if (before?.version === version) return before.state;
    const state = await checkJobFile(path, { jobsDir }).then(
      ({ job, problems }): JobState =>
        job?.kind === 'import' ? 'import' : job || problems.some((problem) => problem.later) ? 'other' : 'faulty',
      (): JobState => 'faulty',
    );
    known.set(path, { version, state });
    return state;
  }

  return async () => {
    let files: string[];
    try {
      files = await jobFiles(jobsDir);
    } catch (error) {
      return { states: new Map(), names: [], fault: error };
    }
    const now = performance.now();
    const found = new Set<string>();
    for (const file of files) {
      const name = jobNameOf(file);
      if (found.has(name)) continue;
      const state = await stateOf(join(jobsDir, file));
      if (state === undefined) continue;
      found.add(name);
      last.set(name, { state, seen: now });
    }
    for (const [name, { seen }] of last) if (!found.has(name) && now - seen > GONE_AFTER_MS) last.delete(name);
    const states = new Map([...last].map(([name, { state }]) => [name, state]));
    return { states, names: [...states.keys()].filter((name) => states.get(name) === 'import').sort() };
  };
}
