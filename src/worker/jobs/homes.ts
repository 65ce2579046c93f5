import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { RunError } from '../../model/error.js';
import { inHome } from '../../store/home.js';
import type { Store } from '../store/port.js';

/**
 * What the workers on a queue know of each other's data folders, oldest first, in one text of the store. A worker lives on
 * one while the lease `home.<id>` is held.
 */
const homes = z.array(
  z.object({
    id: z.string().regex(/^[0-9a-f]{16}$/),
    /** Folders that its worker may read: its working folder may be another than that of whoever enqueues. */
    roots: z.array(z.string().min(1)).max(1_000),
    /** Address of its service. */
    service: z.string(),
  }),
);
type Home = z.output<typeof homes>[number];

/** Data folders that are remembered; the oldest go. */
const MOST_HOMES = 200;
const NAME = 'homes';

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
  let expected = await store.read(NAME);
  let known = parse(expected);
  for (const other of known) {
    if (other.service === service || !(await store.leased(`home.${other.id}`))) continue;
    throw new RunError(
      'usage',
      `Another worker on this queue serves ${other.service}, and ROWFERRY_API_URL of this one is ${service}. Workers on one queue must name the service by the very same address: they take turns by it. ` +
        `Correct it, or give this service a queue of its own. A worker that has just ended counts for the seconds of ROWFERRY_LEASE.`,
    );
  }
  // What it replaced shows the later of two that join at the same time whom it left out.
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
  return parse(await store.read(NAME)).find(({ id }) => id === homeId)?.roots;
}

/** What tells this data folder from those of other machines: a random number, kept in it. The folder exists. */
export function homeId(home: string): string {
  return inHome(home, (db) => {
    db.prepare('insert into identity select ? where not exists (select 1 from identity)').run(
      randomBytes(8).toString('hex'),
    );
    return String(db.prepare('select id from identity').get()?.['id']);
  });
}
