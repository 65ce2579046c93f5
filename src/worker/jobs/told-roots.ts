import { z } from 'zod';
import type { Store } from '../store/port.js';

const folders = z.array(z.string().min(1)).max(1_000);

/** The worker tells at its start which folders it may read: its working folder may be another than that of whoever enqueues. */
export async function tellRoots(store: Pick<Store, 'swap'>, homeId: string, roots: readonly string[]): Promise<void> {
  await store.swap(`roots.${homeId}`, JSON.stringify(roots));
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
