import { parseAddress } from '../../runs/settings-address.js';
import type { EmbeddedStore, SharedStore, StoreOptions } from './port.js';

/**
 * Opens the queue: on Redis or PostgreSQL where an address is given, else embedded in the home folder. Waits, for
 * `patienceMs`, while the server is away or another process has the embedded queue open.
 */
export async function openStore(options: StoreOptions): Promise<SharedStore | EmbeddedStore> {
  // Each store brings drivers along that the others have no use for.
  if (options.url === undefined) {
    const { openEmbedded } = await import('./embedded.js');
    return openEmbedded(options);
  }
  const address = parseAddress(options.url);
  if (address.kind === 'redis') {
    const { openRedis } = await import('./redis.js');
    return openRedis(address, options);
  }
  const { openPostgres } = await import('./postgres.js');
  return openPostgres(address, options);
}
