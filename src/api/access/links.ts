import { hostname } from 'node:os';
import { isAlive } from '../../runs/run/lock.js';
import { homeExists, withHome } from '../../store/home.js';
import { digest, randomSecret } from './credentials.js';

/**
 * One-time keys in links, and where the consoles of a data folder are. Both lie in its database, so that whoever may write there,
 * and nobody else, can make a link to a console that runs already.
 */

const LINK_MS = 10 * 60_000;

/** A key that signs in once, within 10 minutes. */
export function makeLinkKey(home: string, now = Date.now()): string {
  const key = randomSecret();
  withHome(home, (database) => {
    database.prepare('delete from sign_in_link where until < ?').run(now);
    database.prepare('insert into sign_in_link values (?, ?)').run(digest(key), now + LINK_MS);
  });
  return key;
}

/** Whether the key is good; it is not afterwards. */
export function consumeLinkKey(home: string, key: string, now = Date.now()): boolean {
  return withHome(home, (database) => {
    const taken = database.prepare('delete from sign_in_link where sha256 = ? and until >= ?').run(digest(key), now);
    return Number(taken.changes) > 0;
  });
}

/** Notes that this process serves the console of a data folder at `url`. Returns what takes the note away. */
export function registerConsole(home: string, url: string): () => void {
  const own = [hostname(), process.pid] as const;
  withHome(home, (database) => database.prepare('insert or replace into console values (?, ?, ?)').run(...own, url));
  return () => {
    withHome(home, (database) => database.prepare('delete from console where host = ? and pid = ?').run(...own));
  };
}

const ANSWER_MS = 2_000;

/** Where a process of this machine serves the console of a data folder; undefined where none does, or none that answers. */
export async function findConsole(home: string): Promise<string | undefined> {
  if (!homeExists(home)) return undefined;
  const registered = withHome(home, (database) =>
    database.prepare('select pid, url from console where host = ?').all(hostname()),
  );
  for (const { pid, url } of registered) {
    // What answers at the address of a process that is gone is somebody else's, and is told no key.
    if (!isAlive(Number(pid))) continue;
    const answer = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer) return String(url);
  }
  return undefined;
}
