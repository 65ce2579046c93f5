import { randomBytes } from 'node:crypto';
import { constants, readFileSync, readlinkSync } from 'node:fs';
import { copyFile, link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The right to open the data folder. Two processes on one folder destroy it. */
export interface Tenure {
  release(): Promise<void>;
}

/** Somebody else's tenure, as far as it can be told from here. */
export interface Tenant {
  readonly pid: number;
  /** False: it is of another container or of a time before a restart; its process number says nothing here. */
  readonly known: boolean;
  /** Which tenure; a new one has another number. */
  readonly number: number;
}

/** In the file of a tenure that was given back. */
const OVER = 'over';

/**
 * Tenures are numbered files that are made once and never replaced; the highest number counts. Whoever finds that the
 * highest one's process is gone makes the next number: of several only one can. So nobody ever takes away a lock that
 * has just changed hands, as may happen where a lock file is removed and made anew by more than two processes at once.
 * A tenure given back stays as a file that names nobody.
 *
 * `presume`: the number of a tenure whose holder is not known here, and which the caller has found to be over.
 */
export async function takeTenure(folder: string, presume?: number): Promise<Tenure | Tenant> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (;;) {
    const highest = await highestIn(folder);
    const tenant = await tenantOf(folder, highest);
    if (tenant && !(tenant.number === presume && !tenant.known)) return tenant;
    const number = highest + 1;
    if (!(await make(folder, number))) continue;
    // A higher one means that this number was over long ago, and its file cleared away.
    if ((await highestIn(folder)) !== number) {
      await rm(join(folder, String(number)), { force: true });
      continue;
    }
    await clear(folder, number);
    const path = join(folder, String(number));
    return { release: () => giveBack(path) };
  }
}

async function tenantOf(folder: string, number: number): Promise<Tenant | undefined> {
  if (number === 0) return undefined;
  const path = join(folder, String(number));
  const content = await readFile(path, 'utf8').catch(() => undefined);
  // Cleared away meanwhile: a higher one is there, and the next look finds it.
  if (content === undefined) return { pid: 0, known: true, number };
  if (content === OVER) return undefined;
  const [pid = '', start = '', space = ''] = content.split(' ');
  // Without the time of its start a number may have been given to another process since.
  const known = start !== '' && space === spaceOfNumbers();
  const tenant = { pid: Number.parseInt(pid, 10), known, number };
  if (!known) return tenant;
  return lives(pid, start) ? tenant : undefined;
}

/** False: somebody else was first. The file appears with its content. */
async function make(folder: string, number: number): Promise<boolean> {
  const own = join(folder, `.${randomBytes(6).toString('hex')}`);
  const path = join(folder, String(number));
  await writeFile(own, `${ownNumber()} ${spaceOfNumbers()}`, { mode: 0o600 });
  try {
    await link(own, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw error;
      // A file system without links: here the file is empty for an instant, and says nothing yet.
      return copyFile(own, path, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(own, { force: true });
  }
}

async function giveBack(path: string): Promise<void> {
  const nobody = `${path}.over`;
  await writeFile(nobody, OVER, { mode: 0o600 });
  await rename(nobody, path);
}

/** The highest number; 0 where there is none. */
async function highestIn(folder: string): Promise<number> {
  const numbers = (await readdir(folder)).filter((name) => /^\d+$/.test(name)).map(Number);
  return Math.max(0, ...numbers);
}

async function clear(folder: string, below: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (/^\d+$/.test(name) && Number(name) < below) await rm(join(folder, name), { force: true });
  }
}

function ownNumber(): string {
  return `${process.pid} ${statOf('self')[19] ?? ''}`;
}

/** A killed process whose parent has not asked after it yet is still listed, as a zombie, and does nothing more. */
function lives(pid: string, start: string): boolean {
  const stat = statOf(pid);
  return stat[19] === start && stat[0] !== 'Z';
}

/** Fields of /proc/<pid>/stat from the third on, the state; empty where the system has no such file. */
function statOf(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** Where process numbers mean the same: one start of one machine, one container. '' where the system does not tell. */
function spaceOfNumbers(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}
