/** Processes of a measurement: every figure is one, so that no heap, cache or compiled code carries over. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ON_EXIT = fileURLToPath(new URL('./on-exit.mjs', import.meta.url));

/**
 * Runs `node ...argv` to its end. `seconds` from its start to its end, `peak` in MB (VmHWM of the process, or its
 * resource usage where /proc is none). Exit codes beyond `codes` throw, with what it said on stderr.
 */
export async function timed(argv, { env = {}, cwd, codes = [0] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'rowferry-bench-'));
  const note = join(folder, 'peak.json');
  const child = spawn(process.execPath, ['--import', ON_EXIT, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], BENCH_PEAK_FILE: note, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const from = performance.now();
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += chunk));
  child.stderr.on('data', (chunk) => (err += chunk));
  try {
    const code = await new Promise((done, fail) => child.on('close', done).on('error', fail));
    const seconds = (performance.now() - from) / 1000;
    if (!codes.includes(code))
      throw new Error(`node ${argv.join(' ')}\nended with ${code}: ${err.slice(-2_000) || out.slice(-500)}`);
    return { seconds, out, code, ...JSON.parse(readFileSync(note, 'utf8')) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Starts a server that prints {"port": n}; it is ended by `stop`. */
export async function serve(path, ...argv) {
  const child = spawn(process.execPath, [path, ...argv.map(String)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done) => child.on('close', done));
  let out = '';
  const port = await new Promise((done, fail) => {
    child.stdout.on('data', (chunk) => {
      out += chunk;
      if (out.includes('\n')) done(JSON.parse(out).port);
    });
    ended.then((code) => fail(new Error(`${path} ended with ${code} before it listened`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Runs a program to its end, quietly; throws with what it said where it fails. */
export async function run(command, argv) {
  const child = spawn(command, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.on('data', (chunk) => (said += chunk));
  const code = await new Promise((done, fail) => child.on('close', done).on('error', fail));
  if (code !== 0) throw new Error(`${command} ${argv.join(' ')} ended with ${code}: ${said.slice(-1_000)}`);
}
