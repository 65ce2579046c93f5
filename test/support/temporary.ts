import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NAME = 'rowferry-tests-';
/** What the suites hold at a time, and as much again. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Takes the temporary files of this run of the tests into memory where the system has room for them: each flush of a database
 * to a disk costs processor time too, and what a killed process has written outlives it here as well.
 */
export function keepTemporaryInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return;
  for (const name of readdirSync(MEMORY)) {
    // Of a run that was killed.
    const gone = name.startsWith(NAME) && !existsSync(`/proc/${name.slice(NAME.length)}`);
    if (gone) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
  const folder = join(MEMORY, `${NAME}${process.pid}`);
  mkdirSync(folder);
  // A PostgreSQL that is started by root runs as another user.
  chmodSync(folder, 0o711);
  process.env['TMPDIR'] = folder;
  // A browser that is ending may still write into it.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const mounted = new RegExp(`^\\S+ ${MEMORY} tmpfs (?!\\S*noexec)`, 'm').test(readFileSync('/proc/mounts', 'utf8'));
    return mounted && bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}
