import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cliPath } from '../support/build.js';

/**
 * Takes the lock again and again, and marks that it is inside with a file that must not be there; one of a process that is
 * gone was killed inside. Says `in` each time, and `double` where two are inside.
 */
const SCRIPT = `
import { existsSync, openSync, closeSync, writeSync, readFileSync, unlinkSync } from 'node:fs';
const [module, path] = process.argv.slice(2);
const { takeLock, LockedError } = await import(module);
const inside = path + '.inside';
const alive = (pid) => {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    // One that was killed ends its locks before it is gone, and does nothing more: it is exiting (bit 2 of its flags), or is
    // listed until its parent has asked after it.
    const [state, , , , , , flags] = readFileSync('/proc/' + pid + '/stat', 'latin1').replace(/^.*\\) /s, '').split(' ');
    return state !== 'Z' && (Number(flags) & 4) === 0;
  } catch (error) { return error.code === 'ENOENT' && !existsSync('/proc/self'); } };
const enter = () => {
  try {
    const file = openSync(inside, 'wx');
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST' || alive(Number(readFileSync(inside, 'utf8')))) return false;
    unlinkSync(inside);
    return enter();
  }
};
for (;;) {
  let release;
  try {
    release = await takeLock(path, 'It');
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    await new Promise((resolve) => setImmediate(resolve));
    continue;
  }
  process.stdout.write(enter() ? 'in\\n' : 'double\\n');
  await new Promise((resolve) => setImmediate(resolve));
  unlinkSync(inside);
  await release();
}
`;

let dir: string;
const children = new Set<ChildProcess>();
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-lock-'));
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

it('of processes that are killed while they hold it, one at a time holds a lock', async () => {
  const module = pathToFileURL(join(dirname(await cliPath()), '..', 'runs', 'run', 'lock.js')).href;
  let entered = 0;
  let said = '';
  const begin = () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, 'taker', module, join(dir, 'lock')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    const first = once(child.stdout, 'data');
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        const text = chunk.toString();
        entered += text.split('in\n').length - 1;
        said += text.replaceAll('in\n', '');
      });
    }
    return { child, first };
  };
  let takers = [begin(), begin(), begin()];
  for (let kill = 0; kill < 12; kill++) {
    // Whoever comes in holds the lock, or has just held it.
    const [victim, ...others] = takers as [ReturnType<typeof begin>, ...ReturnType<typeof begin>[]];
    await victim.first;
    victim.child.kill('SIGKILL');
    await once(victim.child, 'close');
    children.delete(victim.child);
    takers = [...others, begin()];
  }
  await Promise.all(takers.map(({ first }) => first));
  expect(said).toBe('');
  expect(entered).toBeGreaterThan(12);
});
