/** Cases that a script of their own measures: it runs as a process, and the JSON line it prints is read. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BENCH = fileURLToPath(new URL('..', import.meta.url));

/** The last line of the script's output that is JSON. It may end with 1 where a goal is not met: that is for the table to say. */
export async function scriptResult(name, argv, env = {}) {
  return lastJson(process.execPath, [join(BENCH, name), ...argv], env);
}

export async function lastJson(command, argv, env = {}) {
  const child = spawn(command, argv, {
    cwd: join(BENCH, '..'),
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  const code = await new Promise((done, fail) => child.on('close', done).on('error', fail));
  const line = out.split('\n').findLast((text) => text.startsWith('{') && text.endsWith('}'));
  if (line === undefined) throw new Error(`${argv.join(' ')} ended with ${code} and no result: ${err.slice(-1_000)}`);
  return JSON.parse(line);
}
