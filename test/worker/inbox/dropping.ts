import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { type Claim, claimOf } from '../../../src/worker/inbox/claim.js';
import { DropFolder } from '../../../src/worker/inbox/drop-folder.js';
import { type Inbox, type InboxOptions, openInbox } from '../../../src/worker/inbox/inbox.js';
import { openJobFiles } from '../../../src/worker/job-files.js';
import { cliPath } from '../../support/build.js';

export const JOB =
  'kind: import\nresource: asset\nmatch: { key: serial_number }\ncolumns: { Serial: serial_number, Name: name }\n';

/** A drop folder with jobs, and what is opened on it; all of it goes away at the end. */
export interface Place {
  readonly root: string;
  readonly dir: string;
  /** The same, as runs see it. */
  readonly folder: DropFolder;
  readonly jobsDir: string;
  readonly claims: Claim[];
  readonly notices: string[];
  readonly logged: string[];
  open(options?: Partial<InboxOptions>): Promise<Inbox>;
  /** Runs one of the programs beside this file; resolves to its lines as they come. */
  start(program: 'inbox-process' | 'writer-process', options: object): Promise<Program>;
  drop(path: string, text?: string): Promise<string>;
  close(): Promise<void>;
}

export interface Program {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<void>;
}

export async function makePlace(jobs: Readonly<Record<string, string>> = { assets: JOB }): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'rowferry-inbox-')));
  const [dir, jobsDir] = [join(root, 'inbox'), join(root, 'jobs')];
  await mkdir(jobsDir);
  for (const [name, text] of Object.entries(jobs)) await writeFile(join(jobsDir, `${name}.yaml`), text);
  const inboxes: Inbox[] = [];
  const programs: Program[] = [];
  const [claims, notices, logged]: [Claim[], string[], string[]] = [[], [], []];
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });

  return {
    root,
    dir,
    folder: new DropFolder(dir),
    jobsDir,
    claims,
    notices,
    logged,
    async open(options = {}) {
      const inbox = await openInbox({
        folder: new DropFolder(dir),
        jobsDir,
        jobs: openJobFiles(jobsDir),
        scheduled: () => [],
        quietMs: 80,
        log,
        notice: (level, text) => void notices.push(`${level} ${text}`),
        queue: queueOf((claim) => void claims.push(claim), dir),
        ...options,
      });
      inboxes.push(inbox);
      return inbox;
    },
    async start(program, options) {
      const dist = dirname(dirname(await cliPath()));
      const path = fileURLToPath(new URL(`./${program}.mjs`, import.meta.url));
      const given = JSON.stringify({ dist, dir, jobsDir, quietMs: 80, ...options });
      const child = spawn(process.execPath, [path, given], { stdio: ['ignore', 'pipe', 'inherit'] });
      const lines: string[] = [];
      let rest = '';
      child.stdout.on('data', (chunk: Buffer) => {
        const parts = `${rest}${chunk.toString('utf8')}`.split('\n');
        rest = parts.pop() ?? '';
        lines.push(...parts);
      });
      const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
      const started = { child, lines, ended };
      programs.push(started);
      return started;
    },
    async drop(path, text = `Serial,Name\n${path},x\n`) {
      const target = join(dir, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text);
      return target;
    },
    async close() {
      for (const { child } of programs) child.kill('SIGKILL');
      await Promise.all(programs.map(({ ended }) => ended));
      await Promise.all(inboxes.map((inbox) => inbox.close()));
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** What takes each claim once. */
export function queueOf(taken: (claim: Claim) => void, dir: string): InboxOptions['queue'] {
  const ids = new Set<string>();
  return {
    getJob: async (id: string) => (ids.has(id) ? { id } : undefined),
    add: async (_: string, { job, file }: { job: string; file: string }, { jobId }: { jobId: string }) => {
      if (!ids.has(jobId)) taken(claimOf(dir, job, basename(dirname(file)), basename(file)));
      ids.add(jobId);
    },
  } as unknown as InboxOptions['queue'];
}

/** Waits for a condition, and fails where it does not come. */
export async function until(what: string, passes: () => boolean | Promise<boolean>, ms = 60_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await passes())) {
    if (performance.now() > end) throw new Error(`waited in vain for: ${what}`);
    await pause(15);
  }
}

/** Names in a folder, sorted; none where it is not there. */
export async function names(...path: string[]): Promise<string[]> {
  return (await readdir(join(...path)).catch((): string[] => [])).sort();
}

/** The one folder below a folder. */
export async function only(...path: string[]): Promise<string> {
  const there = await names(...path);
  if (there.length !== 1 || there[0] === undefined)
    throw new Error(`${join(...path)} holds ${there.join(', ') || 'nothing'}`);
  return join(...path, there[0]);
}
