import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { RunError } from '../../model/error.js';
import type { Store } from '../store/port.js';

const folders = z.array(z.string().min(1)).max(1_000);

const homes = z.array(z.string().regex(/^[0-9a-f]{16}$/));
/** Data folders that are remembered; the oldest go. */
const MOST_HOMES = 200;

/**
 * The worker tells at its start which folders it may read: its working folder may be another than that of whoever enqueues,
 * or of the other workers.
 */
export async function tellRoots(
  store: Pick<Store, 'swap' | 'read'>,
  homeId: string,
  roots: readonly string[],
): Promise<void> {
  await store.swap(`roots.${homeId}`, JSON.stringify(roots));
  // Of two that join at the same time, the later one sees in what it replaced whom it left out, and puts that one back.
  let known = listed(await store.read('homes'));
  while (!known.includes(homeId)) {
    const mine = [...known, homeId].slice(-MOST_HOMES);
    const replaced = listed(await store.swap('homes', JSON.stringify(mine)));
    const lost = replaced.filter((one) => !mine.includes(one));
    known = lost.length === 0 ? mine : [...mine.filter((one) => one !== homeId), ...lost];
  }
}

/**
 * Workers on one queue take turns, and share one ceiling, by the address of their service: two spellings of it would be two
 * services. Throws `RunError('usage')` where a worker lives that names another one.
 */
export async function tellService(
  store: Pick<Store, 'swap' | 'read' | 'leased'>,
  homeId: string,
  service: string,
): Promise<void> {
  const before = await store.swap(`service.${homeId}`, service);
  for (const other of listed(await store.read('homes'))) {
    const named = other === homeId ? before : await store.read(`service.${other}`);
    if (named === undefined || named === service || !(await store.leased(`home.${other}`))) continue;
    if (other === homeId) await store.swap(`service.${homeId}`, named);
    throw new RunError(
      'usage',
      `Another worker on this queue serves ${named}, and ROWFERRY_API_URL of this one is ${service}. Workers on one queue must name the service by the very same address: they take turns by it. ` +
        `Correct it, or give this service a queue of its own. A worker that has just ended counts for the seconds of ROWFERRY_LEASE.`,
    );
  }
}

/** Whether a worker of another data folder lives that may read a file, going by its path alone. */
export async function readElsewhere(
  store: Pick<Store, 'read' | 'leased'>,
  homeId: string,
  file: string,
): Promise<boolean> {
  if (!path.isAbsolute(file)) return false;
  for (const other of listed(await store.read('homes'))) {
    if (other === homeId) continue;
    const roots = (await toldRoots(store, other)) ?? [];
    if (roots.some((root) => isBelow(file, root)) && (await store.leased(`home.${other}`))) return true;
  }
  return false;
}

function isBelow(file: string, root: string): boolean {
  const near = path.relative(root, path.normalize(file));
  return near !== '' && near !== '..' && !near.startsWith(`..${path.sep}`) && !path.isAbsolute(near);
}

function listed(text: string | undefined): readonly string[] {
  try {
    return text === undefined ? [] : homes.parse(JSON.parse(text));
  } catch {
    return [];
  }
}

/** What the last worker on a data folder told; undefined where there was none. */
export async function toldRoots(store: Pick<Store, 'read'>, homeId: string): Promise<readonly string[] | undefined> {
  const text = await store.read(`roots.${homeId}`);
  if (text === undefined) return undefined;
  try {
    return folders.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const ID = /^[0-9a-f]{16}$/;

/**
 * What tells this data folder from those of other machines: a random number kept in `<home>/home-id`. The folder exists.
 * A file that was damaged is written anew: runs begun before then count as those of another home.
 */
export async function homeId(home: string): Promise<string> {
  const file = path.join(home, 'home-id');
  for (;;) {
    const kept = await readFile(file, 'utf8').catch(() => undefined);
    if (kept !== undefined && ID.test(kept.trim())) return kept.trim();
    if (kept !== undefined) await rm(file, { force: true });
    // It appears with its content, and of two workers that begin at the same time one is first.
    const own = `${file}.${randomBytes(6).toString('hex')}`;
    await writeFile(own, `${randomBytes(8).toString('hex')}\n`);
    try {
      await link(own, file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    } finally {
      await rm(own, { force: true });
    }
  }
}
