import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { RunError } from '../../model/error.js';
import { createText, textOf } from '../inbox/disk.js';
import type { Store } from '../store/port.js';

const ID = /^[0-9a-f]{16}$/;

/**
 * What the workers on a queue know of each other's data folders, oldest first, in one text of the store. A worker lives on
 * one while the lease `home.<id>` is held.
 */
const homes = z.array(
  z.object({
    id: z.string().regex(ID),
    /** Folders that its worker may read: its working folder may be another than that of whoever enqueues, or of the others. */
    roots: z.array(z.string().min(1)).max(1_000),
    /** Address of its service. */
    service: z.string(),
  }),
);
type Home = z.output<typeof homes>[number];

/** Data folders that are remembered; the oldest go. */
const MOST_HOMES = 200;
const NAME = 'homes';

async function homesIn(store: Pick<Store, 'read'>): Promise<Home[]> {
  return parse(await store.read(NAME));
}

/** What cannot be read counts as none. */
function parse(text: string | undefined): Home[] {
  try {
    return homes.parse(JSON.parse(text ?? ''));
  } catch {
    return [];
  }
}

/**
 * The worker tells at its start what is to be known of its data folder. Workers on one queue take turns, and share one ceiling,
 * by the address of their service: two spellings of it would be two services.
 * @throws RunError `usage` where a worker lives that names another service.
 */
export async function tellHome(store: Pick<Store, 'swap' | 'read' | 'leased'>, home: Home): Promise<void> {
  const { service } = home;
  for (const other of await homesIn(store)) {
    if (other.service === service || !(await store.leased(`home.${other.id}`))) continue;
    throw new RunError(
      'usage',
      `Another worker on this queue serves ${other.service}, and ROWFERRY_API_URL of this one is ${service}. Workers on one queue must name the service by the very same address: they take turns by it. ` +
        `Correct it, or give this service a queue of its own. A worker that has just ended counts for the seconds of ROWFERRY_LEASE.`,
    );
  }
  // What it replaced shows the later of two that join at the same time whom it left out.
  let expected = await store.read(NAME);
  let known = parse(expected);
  for (;;) {
    const text = JSON.stringify([...known.filter(({ id }) => id !== home.id), home].slice(-MOST_HOMES));
    const replaced = await store.swap(NAME, text);
    if (replaced === expected) return;
    known = [...known, ...parse(replaced).filter(({ id }) => !known.some((one) => one.id === id))];
    expected = text;
  }
}

/** Folders that the last worker on a data folder could read; undefined where there was none. */
export async function toldRoots(store: Pick<Store, 'read'>, homeId: string): Promise<readonly string[] | undefined> {
  return (await homesIn(store)).find(({ id }) => id === homeId)?.roots;
}

/** Whether a worker of another data folder lives that may read a file, going by its path alone. */
export async function readElsewhere(
  store: Pick<Store, 'read' | 'leased'>,
  homeId: string,
  file: string,
): Promise<boolean> {
  if (!path.isAbsolute(file)) return false;
  for (const { id, roots } of await homesIn(store)) {
    if (id === homeId || !roots.some((root) => isBelow(file, root))) continue;
    if (await store.leased(`home.${id}`)) return true;
  }
  return false;
}

function isBelow(file: string, root: string): boolean {
  const near = path.relative(root, path.normalize(file));
  return near !== '' && near !== '..' && !near.startsWith(`..${path.sep}`) && !path.isAbsolute(near);
}

/**
 * What tells this data folder from those of other machines: a random number kept in `<home>/home-id`. The folder exists.
 * A file that was damaged is written anew: runs begun before then count as those of another home.
 */
export async function homeId(home: string): Promise<string> {
  const file = path.join(home, 'home-id');
  for (;;) {
    const kept = await textOf(file).catch(() => undefined);
    if (kept !== undefined && ID.test(kept.trim())) return kept.trim();
    if (kept !== undefined) await rm(file, { force: true });
    // It appears with its content, and of two workers that begin at the same time one is first.
    await createText(file, `${randomBytes(8).toString('hex')}\n`);
  }
}
