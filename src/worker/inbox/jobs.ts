import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkJobFile, type JobKind, jobFiles, jobNameOf } from '../../runs/job-file.js';

/** What a folder's name stands for: a job of a kind; one whose file has a fault (the run says which). A name that is missing is no job's. */
export type JobState = JobKind | 'faulty';

/** The kinds of job that take dropped files. */
export type TakingKind = 'import' | 'reconcile';

export function takesFiles(state: JobState | undefined): state is TakingKind {
  return state === 'import' || state === 'reconcile';
}

export interface Jobs {
  readonly states: ReadonlyMap<string, JobState>;
  /** Names of the jobs that take files, for people. */
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
      ({ job }): JobState => job?.kind ?? 'faulty',
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
    return { states, names: [...states.keys()].filter((name) => takesFiles(states.get(name))).sort() };
  };
}

/**
 * The kind of run for a file that was dropped for a job, as its job file is now. One that cannot be read, or has faults,
 * is found to be so by the run.
 */
export async function kindForDropped(job: string, jobsDir: string): Promise<TakingKind> {
  const kind = await checkJobFile(job, { jobsDir }).then(
    (checked) => checked.kind,
    () => undefined,
  );
  return kind === 'reconcile' ? 'reconcile' : 'import';
}
