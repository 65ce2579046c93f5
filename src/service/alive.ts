import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Tells machines and containers apart that share a folder: a process number means something only on its own. */
export const MACHINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);

/**
 * Whether a process with this number lives, and is the one that began at `start` (`startOf`), where that is told: the number
 * may have been given to another one since. A killed process that its parent has not asked after yet is still listed, and
 * does nothing more.
 */
export function isAlive(pid: number, start = ''): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // It lives, and belongs to somebody else.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const stat = statOf(pid);
  if (stat[STATE] === 'Z') return false;
  const now = stat[START] ?? '';
  return start === '' || now === '' || start === now;
}

/** When a process began, in ticks since the machine did; '' where the system does not tell. */
export function startOf(pid: number): string {
  return statOf(pid)[START] ?? '';
}

const STATE = 0;
const START = 19;

/** Fields of /proc/<pid>/stat from the third on, the state; empty where the system has no such file. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field, the name of the program, may hold blanks.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}
