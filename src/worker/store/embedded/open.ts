import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { RunError } from '../../../model/error.js';
import { socketAddress } from './address.js';
import type { Engine } from './engine.js';
import { cannotOpen, type Notice, openFolder } from './folder.js';
import type { Link } from './link.js';
import { EmbeddedPool } from './pool.js';
import { RemoteLink } from './remote.js';
import { OwnerServer } from './server.js';
import { takeTenure } from './tenure.js';

export interface EmbeddedOptions {
  readonly notice: Notice;
  /** Ends waiting for another process; what is open stays open until `end`. */
  readonly signal: AbortSignal;
}

/** An owner that starts or ends does not answer yet or no more; longer than this is a fault. */
const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 20;
/** So long nobody has to answer before an owner whose process cannot be looked at is taken for gone. */
const SILENCE_MS = 2_000;

/**
 * Opens the queue of a home: PostgreSQL in this process (PGlite), or, where another process has it open, that one's,
 * through a socket. All of them see one queue, and whichever ends, another takes over. Data lies in `<home>/queue/`, the
 * socket is `<home>/queue.sock`, `<home>/queue.owner/` tells who has it open. One machine only. It does not flush to
 * the disk: after a power cut the journals are the truth. Throws a `RunError`.
 */
export async function openEmbedded(home: string, options: EmbeddedOptions): Promise<EmbeddedPool> {
  const absolute = resolve(home);
  const folder = join(absolute, 'queue');
  try {
    await mkdir(absolute, { recursive: true });
    const place: Place = { folder, tenures: join(absolute, 'queue.owner'), address: await socketAddress(absolute) };
    const pool = new EmbeddedPool(() => attach(place, options));
    await pool.ready();
    return pool;
  } catch (error) {
    if (error instanceof RunError || options.signal.aborted) throw error;
    throw cannotOpen(folder, error instanceof Error ? error.message : String(error), error);
  }
}

interface Place {
  readonly folder: string;
  readonly tenures: string;
  readonly address: string;
}

/** Somebody listens: its client. Nobody does, and nobody holds the tenure: the owner. Else look again. */
async function attach(place: Place, options: EmbeddedOptions): Promise<Link> {
  const until = Date.now() + PATIENCE_MS;
  let silent: { readonly number: number; readonly since: number } | undefined;
  for (;;) {
    options.signal.throwIfAborted();
    const link = await RemoteLink.open(place.address, options.signal);
    if (link) return link;
    const over = silent && Date.now() - silent.since > SILENCE_MS ? silent.number : undefined;
    const found = await takeTenure(place.tenures, over);
    if ('release' in found) return own(place, found.release, options.notice);
    if (found.known) silent = undefined;
    else if (silent?.number !== found.number) silent = { number: found.number, since: Date.now() };
    if (Date.now() > until) {
      throw new RunError(
        'failed',
        `The embedded queue in ${place.folder} is held by process ${found.pid}, which does not answer on ` +
          `${place.address}. Look what that process does, and end it if it hangs.`,
      );
    }
    await pause(LOOK_AGAIN_MS, undefined, { signal: options.signal });
  }
}

/** This process has the queue open from here on. */
async function own(place: Place, release: () => Promise<void>, notice: Notice): Promise<Link> {
  let begin: (engine: Promise<Engine>) => void = () => undefined;
  const opening = new Promise<Engine>((resolve) => {
    begin = resolve;
  });
  opening.catch(() => undefined);
  let server: OwnerServer | undefined;
  // Only once PGlite is closed may another process take over, and only once the address is free.
  const leave = async () => {
    await server?.close();
    await release();
  };
  try {
    server = await OwnerServer.listen(place.address, opening);
    begin(openFolder(place.folder, notice));
    const engine = await opening;
    const lost = engine.lost.then(async (error) => {
      await leave();
      return error;
    });
    const close = async () => {
      await engine.close();
      await lost;
    };
    return { owns: true, lost, close, session: (events, single) => engine.session(events, single) };
  } catch (error) {
    begin(Promise.reject(error));
    await leave();
    throw error;
  }
}
