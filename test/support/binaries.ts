import { execFile } from 'node:child_process';
import { access, constants, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Servers that suites start for themselves, and libraries that they put under processes. */
export type Found = { readonly path: string } | { readonly missing: string };

const run = promisify(execFile);
// One for all runs of the tests, wherever each has its temporary files.
const LOCK = '/tmp/rowferry-test-install.lock';
/** An installation that takes longer has died. */
const STALE_MS = 5 * 60_000;

/** `redis-server`, installed where it is missing and that is allowed. */
export async function redisServer(): Promise<Found> {
  return find('redis-server', 'redis-server', () => firstOf(onPath('redis-server')));
}

/** `postgres`; `initdb` lies beside it. */
export async function postgresServer(): Promise<Found> {
  return find('postgres', 'postgresql', async () => firstOf([...onPath('postgres'), ...(await debianFolders())]));
}

/** The library that makes a process see another time of day: `test/clock/wall-clock.ts`. */
export async function fakeTime(): Promise<Found> {
  return find('libfaketime', 'libfaketime', async () => firstOf(await libraryPaths(), constants.R_OK));
}

/** A browser of the system, driven over its own protocol: none is downloaded. */
export async function chromium(): Promise<Found> {
  return find('chromium', 'chromium', () => firstOf([...onPath('chromium'), ...onPath('chromium-browser')]));
}

async function libraryPaths(): Promise<string[]> {
  const roots = ['/usr/lib', '/usr/local/lib', '/usr/lib64'];
  const below = await Promise.all(
    roots.map(async (root) => (await readdir(root).catch(() => [])).map((name) => path.join(root, name))),
  );
  return [...roots, ...below.flat()].map((folder) => path.join(folder, 'faketime', 'libfaketimeMT.so.1'));
}

function onPath(name: string): string[] {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => path.join(folder, name));
}

async function debianFolders(): Promise<string[]> {
  const root = '/usr/lib/postgresql';
  const versions = (await readdir(root).catch(() => [])).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => path.join(root, version, 'bin', 'postgres'));
}

async function firstOf(candidates: readonly string[], mode = constants.X_OK): Promise<string | undefined> {
  for (const one of candidates) {
    if (
      await access(one, mode).then(
        () => true,
        () => false,
      )
    ) {
      return one;
    }
  }
  return undefined;
}

async function find(name: string, packageName: string, look: () => Promise<string | undefined>): Promise<Found> {
  const there = await look();
  if (there !== undefined) return { path: there };
  const root = process.getuid?.() === 0;
  if ((await firstOf(onPath('apt-get'))) === undefined || !(root || process.env['CI'] === 'true')) {
    return { missing: `${name} is not installed (a package of most systems: ${packageName})` };
  }
  return oneAtATime(async () => {
    const meanwhile = await look();
    if (meanwhile !== undefined) return { path: meanwhile };
    try {
      await install(packageName, root);
    } catch (error) {
      return { missing: `${name} could not be installed: ${String(error).split('\n', 1)[0]}` };
    }
    const installed = await look();
    return installed === undefined ? { missing: `${packageName} holds no ${name}` } : { path: installed };
  });
}

async function install(packageName: string, root: boolean): Promise<void> {
  const apt = async (...args: string[]) => {
    const [command = '', ...rest] = [...(root ? [] : ['sudo', '-n']), 'apt-get', '-qq', ...args];
    // Without a run level the packages start no service of their own.
    await run(command, rest, {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
      timeout: STALE_MS,
    });
  };
  await apt('update');
  await apt('install', '-y', '--no-install-recommends', packageName);
}

/** Suites run beside each other; a folder can be made once. */
async function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const mine = await mkdir(LOCK).then(
      () => true,
      () => false,
    );
    if (mine) break;
    const since = await stat(LOCK).then(
      (info) => info.mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - since > STALE_MS) await rm(LOCK, { recursive: true, force: true });
    else await pause(500);
  }
  try {
    return await work();
  } finally {
    await rm(LOCK, { recursive: true, force: true });
  }
}
