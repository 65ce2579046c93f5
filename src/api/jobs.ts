import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import { writeAtomically } from '../files/atomic-write.js';
import { RunError, usageError } from '../model/error.js';
import { checkJobText, type JobProblem, jobFileNames, jobNameOf, problemLine } from '../runs/job-file.js';
import { HOME, makeFolder } from '../runs/run/layout.js';
import { nextDue } from '../runs/schedule/slots.js';
import { RESERVED_FOLDERS } from '../worker/inbox/claim.js';
import { isIgnored } from '../worker/inbox/folders.js';
import { jobFileOf, type JobFile as ReadJob, takesFiles } from '../worker/job-files.js';
import { jobName } from '../worker/jobs/data.js';
import { openTurns } from '../worker/rights.js';
import type { ApiParts } from './app.js';
import { isDevice } from './files/uploads.js';
import { type Caller, etagOf, Fault, type Operation, operation } from './operation.js';
import { allRuns } from './runs/list.js';
import { type Job, type JobFile, type JobInput, jobChecked, jobFile, jobInput, jobs, type Run } from './schema.js';

/** What a job may be called that is made here: it names files and folders on every system. */
const JOB_NAME = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._-]{0,98}[\p{L}\p{M}\p{N}_-])?$/u;
/** A file system takes 255 for the name of a file; endings, and what is added while it is written, need some of them. */
const MOST_NAME_BYTES = 200;
/** A job file may have 1 MB; as JSON its text is longer. */
const MOST_BYTES = 4 * 1024 * 1024;

const params = z.object({ name: z.string() });

export function jobOperations(parts: ApiParts): Operation[] {
  const { settings, readJobs, audit } = parts;
  const { jobsDir } = settings;
  // A long one keeps the worker busy for seconds: nothing for those who only look.
  const writeInput = { role: 'operator', body: jobInput, atMost: [MOST_BYTES, 'A job file may have 1 MB.'] } as const;

  const lastRuns = async (): Promise<ReadonlyMap<string, Run>> =>
    // The newest comes last here, and stays.
    new Map((await allRuns(parts)).reverse().map(({ run }) => [run.job, run]));

  /** The file of a job that is there; undefined also for what is the name of no file in the folder. */
  async function fileOf(name: string): Promise<string | undefined> {
    const existing = await jobFileNames(jobsDir).catch((): string[] => []);
    const found = existing.find((file) => jobNameOf(file) === name);
    return found === undefined ? undefined : join(jobsDir, found);
  }

  async function read(name: string): Promise<JobFile | undefined> {
    const path = await fileOf(name);
    if (path === undefined) return undefined;
    const text = await readFile(path, 'utf8');
    const checked = checkJobText(text);
    const { notify: _n, schedule: _s, ...job } = checked.value ?? {};
    const info = await jobInfo(jobFileOf(name, checked), parts, await lastRuns());
    return { ...info, ...(checked.value && { job }), text, etag: etagOf(text) };
  }

  /** One at a time: between the look and the write nobody else writes here. */
  const turns = openTurns();

  /** `expected`: etag of what is replaced, `*` whatever is there; `fresh`: it may only be a new one. */
  async function write(name: string, text: string, expected: string | undefined, fresh: boolean, who: Caller) {
    const existing = await fileOf(name);
    if (existing === undefined && !isValidName(name)) {
      throw new Fault(
        422,
        'This is no name for a job: it begins with a letter or digit, has at most 100 letters, digits, blanks, dots, - and _, and is none that the system or the drop folder uses.',
      );
    }
    const bytes = Buffer.byteLength(name);
    if (existing === undefined && bytes > MOST_NAME_BYTES) {
      throw new Fault(
        422,
        `The name is too long for a file: it takes ${bytes} bytes, and may take at most ${MOST_NAME_BYTES}. Most letters beyond Latin, Greek and Cyrillic take three. Choose a shorter name.`,
      );
    }
    const before = existing === undefined ? undefined : await readFile(existing, 'utf8');
    if (before !== undefined && expected === undefined && !fresh) {
      throw new Fault(400, `There is a job ${name} already. Say what is replaced: If-Match with the etag of its file.`);
    }
    if (before !== undefined && fresh) throw new Fault(412, `There is a job ${name} already.`);
    if (expected !== undefined && (before === undefined || (expected !== '*' && expected !== etagOf(before)))) {
      throw new Fault(
        412,
        `The job ${name} was changed meanwhile, by somebody else or in its file. Look at it as it is now, and change that.`,
      );
    }
    const jobsFolder = { what: 'folder of the job files', namedBy: '--jobs-dir or ROWFERRY_JOBS_DIR' };
    await audit(who, 'job file written', { job: name });
    await makeFolder(jobsDir, { ...HOME, ...jobsFolder });
    await writeAtomically(existing ?? join(jobsDir, `${name}.yaml`), (put) => put(text));
    const now = await read(name);
    if (!now) throw new Fault(404, `The job ${name} was removed right after it was written.`);
    return now;
  }

  return [
    operation(
      'GET /jobs',
      {
        summary: 'The job files, with what is wrong with them, when they run next, and what waits for them.',
        answer: jobs,
      },
      async () => {
        const [files, last] = await Promise.all([readJobs(), lastRuns()]);
        return { jobs: await Promise.all([...files.values()].map((file) => jobInfo(file, parts, last))) };
      },
    ),
    operation(
      'GET /jobs/{name}',
      { summary: 'A job file as it is, with its faults.', params, answer: jobFile },
      async ({ params: { name } }, c) => {
        const found = await read(name);
        if (!found) throw new Fault(404, `There is no job ${name}.`);
        return c.json(found, 200, { etag: found.etag });
      },
    ),
    operation(
      'POST /jobs/check',
      { summary: 'Checks the text of a job file; nothing is written.', ...writeInput, answer: jobChecked },
      ({ body }) => {
        const text = jobText(body);
        const { kind = null, job, problems: found } = checkJobText(text);
        return { kind, resource: job?.resource ?? null, problems: found.map(problemInfo), text };
      },
    ),
    operation(
      'PUT /jobs/{name}',
      {
        summary:
          'Writes a job file. If-Match: the etag of what it replaces, or * for whatever is there; If-None-Match: * where it may only be a new one.',
        params,
        headers: z.object({ 'if-match': z.string().optional(), 'if-none-match': z.literal('*').optional() }),
        ...writeInput,
        answer: jobFile,
      },
      async ({ params: { name }, headers, body, who }, c) => {
        const text = jobText(body);
        const faults = checkJobText(text).problems.filter(({ severity }) => severity === 'error');
        if (faults.length > 0) {
          const lines = faults.map((one) => problemLine(`${name}.yaml`, one));
          throw new Fault(422, 'The job file was not written: it has faults.', lines);
        }
        const fresh = headers['if-none-match'] !== undefined;
        const now = await turns.take('write', () => write(name, text, headers['if-match'], fresh, who));
        return c.json(now, 200, { etag: now.etag });
      },
    ),
  ];
}

const isValidName = (name: string): boolean =>
  JOB_NAME.test(name) &&
  jobName.safeParse(name).success &&
  !isDevice(name) &&
  // What runs without a job file are known by.
  name !== 'inline' &&
  !RESERVED_FOLDERS.some((place) => place === name) &&
  !isIgnored(name);

const problemInfo = ({ path: _, ...shown }: Omit<JobProblem, 'path'> & { readonly path?: unknown }) => shown;

function jobText(input: JobInput): string {
  if ('text' in input) return input.text;
  try {
    return stringify(input.job, { lineWidth: 0 });
  } catch (cause) {
    throw usageError('The job nests too deeply; a job has four levels.', [], { cause });
  }
}

async function jobInfo(file: ReadJob, { settings }: ApiParts, last: ReadonlyMap<string, Run>): Promise<Job> {
  const { name, kind = null, resource = null, schedule } = file;
  return {
    name,
    kind,
    resource,
    schedule: schedule
      ? { cron: schedule.cron, timezone: schedule.timezone, file: schedule.file ?? null, next: nextRun(schedule) }
      : null,
    inbox: takesFiles(file) ? await inboxOf(join(settings.inbox, name)) : null,
    last: last.get(name) ?? null,
    problems: file.problems.map(problemInfo),
  };
}

/** When a schedule is due next; null where it cannot be followed. */
export function nextRun(schedule: NonNullable<ReadJob['schedule']>): string | null {
  try {
    const slot = nextDue(schedule, Date.now());
    return slot ? new Date(slot.dueAt).toISOString() : null;
  } catch (error) {
    if (error instanceof RunError) return null;
    throw error;
  }
}

/** Null where there is no such folder: no worker has looked after it yet. */
async function inboxOf(folder: string): Promise<Job['inbox']> {
  const existing = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
  return existing ? { folder, waiting: existing.filter((one) => one.isFile() && !isIgnored(one.name)).length } : null;
}
