import { type ChildProcess, spawn } from 'node:child_process';
import { lstat, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cliPath } from './build.js';

/**
 * For Node.js processes of tests, most of which live for seconds: WebAssembly (the reader of HTTP answers)
 * is compiled once and quickly, and on Node.js 20, whose only optimising compiler is a slow one, what is called often is
 * optimised later than usual. Both take such a process much of its processor time.
 */
export const QUICK = ['--liftoff-only', ...(/^v20\./.test(process.version) ? ['--interrupt-budget=1000000'] : [])];

/** A `rowferry` process of its own. */
export interface Started {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
  /** Resolves once the text so far passes; rejects if the process ends first. */
  until(passes: (out: string, err: string) => boolean): Promise<void>;
  /** Exit code, or the name of the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

/** Starts the compiled command with a clean environment: nothing of the machine's own settings reaches it. */
export async function start(
  argv: readonly string[],
  options: { cwd: string; env?: Readonly<Record<string, string>>; umask?: string },
): Promise<Started> {
  const command = [process.execPath, ...QUICK, await cliPath(), ...argv];
  const under = options.umask === undefined ? [] : ['sh', '-c', `umask ${options.umask}; exec "$@"`, 'sh'];
  const [file = '', ...args] = [...under, ...command];
  const child = spawn(file, args, {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'] ?? '', TMPDIR: tmpdir(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  const watchers = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8');
    for (const watch of watchers) watch();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString('utf8');
    for (const watch of watchers) watch();
  });
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  return {
    child,
    out: () => out,
    err: () => err,
    ended,
    until: (passes) =>
      new Promise((resolve, reject) => {
        const watch = () => {
          if (!passes(out, err)) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
        void ended.then((code) => reject(new Error(`ended with ${code} before that: ${out}\n${err}`)));
      }),
  };
}

/** Paths in a folder, itself included, that others than its user may reach; none on a system without such rights. */
export async function openToOthers(folder: string): Promise<string[]> {
  const names = ['', ...(await readdir(folder, { recursive: true }))];
  const modes = await Promise.all(names.map(async (name) => [name, (await lstat(join(folder, name))).mode] as const));
  return modes.flatMap(([name, mode]) => (mode & 0o077 ? [`${name || '.'} ${(mode & 0o777).toString(8)}`] : []));
}

/** Starts it and waits for its end. */
export async function run(
  argv: readonly string[],
  options: { cwd: string; env?: Readonly<Record<string, string>>; umask?: string },
): Promise<{ code: number | NodeJS.Signals | null; out: string; err: string }> {
  const started = await start(argv, options);
  const code = await started.ended;
  return { code, out: started.out(), err: started.err() };
}
