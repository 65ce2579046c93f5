import { join } from 'node:path';
import { makeFolder } from '../../files/make-folder.js';
import { usageError } from '../../model/error.js';
import { isEveryRowUnique } from '../../pipeline/apply/write.js';
import { resourceSpec } from '../../resources/registry.js';
import type { ResourceSpec } from '../../resources/spec.js';
import { serviceDir, serviceName } from '../../service/address.js';
import { wait } from '../../service/clock.js';
import { loadBehaviour } from '../../service/known-ids.js';
import type { ProbedBehaviour } from '../../service/port.js';
import { HOME } from '../run/layout.js';
import { isLocked, LockedError, takeLock } from '../run/lock.js';
import { openConnection, type ReadConnection } from '../run/open-service.js';
import type { RowsKind, Run } from '../run/run.js';
import { noteCreator, recentCreators, rememberAbandoned } from './just-created.js';

/** The service of a run of rows, and what is known of it. */
export interface Connection extends ReadConnection {
  readonly spec: ResourceSpec;
  readonly behaviour: ProbedBehaviour | undefined;
}

const VERBS: Readonly<Record<RowsKind, readonly [rehearsal: string, real: string]>> = {
  import: ['Rehearsing for', 'Importing into'],
  reconcile: ['Comparing with', 'Reconciling with'],
  undo: ['Rehearsing for', 'Putting back in'],
};

/** The same for a run of rows; its requests may be carried by other workers. */
export async function connect(run: Run): Promise<Connection> {
  const { settings, request } = run;
  const { company, dryRun, force } = request;
  const connection = await openConnection(
    run,
    { verb: VERBS[request.kind][dryRun ? 0 : 1], mayBeArchived: force },
    {
      mayWrite: () => mayWrite(run),
      onNames: (names) => run.store.addNames(names),
    },
  );
  const carrier = await run.worker?.carrier?.(run.folder.run, {
    log: run.log,
    signal: run.signal,
    company,
    resource: run.job.resource,
    now: run.now,
    mayWrite: () => mayWrite(run),
  });
  if (carrier) {
    run.closers.push(() => carrier.close());
    const { sent } = carrier;
    run.counters.push(() => ({ ...sent, total: sent.reads + sent.writes }));
  }
  run.carrier = carrier;
  const behaviour = loadBehaviour(settings.home, serviceName(settings.apiUrl, company));
  if (run.job.write.method === 'patch' && behaviour?.patch !== true) {
    throw usageError(
      behaviour?.patch === false
        ? 'The job asks for `write.method: patch`, and `rowferry doctor --probe` found that this service does not do what PATCH means. Use `put`, or probe again if the service has changed since.'
        : 'The job asks for `write.method: patch`, and it is not known whether this service understands PATCH: the interface does not describe its requests. `rowferry doctor --probe` finds out; until then use `put`.',
    );
  }
  return { ...connection, spec: resourceSpec(run.job.resource), behaviour };
}

/** A process that was paused may learn that its right is over only here; the run then stops before anything else is tried. */
function mayWrite(run: Run): boolean {
  if (run.rights.every(({ valid }) => valid)) return true;
  run.halt('the right to write was lost to another worker');
  return false;
}

/** How often a run looks whether the one before it has ended, in milliseconds. */
const POLL_MS = 200;

/**
 * One run at a time looks up and writes records of a kind for a service and company: two that look up the same key at the
 * same time would both find nothing and both create it. The second waits. Rehearsals write nothing and do not wait.
 */
export async function takeWriteLock(run: Run, connection: Connection): Promise<void> {
  await waitForTurn(run, connection);
  run.creators = recentCreators(run, connection.spec.name);
}

async function waitForTurn(run: Run, connection: Connection): Promise<void> {
  if (run.request.dryRun) return;
  const stopWaiting = run.clock.after(POLL_MS, () => run.progress('waiting for its turn', run.rows));
  try {
    await lockThisMachine(run, connection);
  } finally {
    stopWaiting();
  }
  // Customers that others created before it had its turn are known from there alone.
  connection.known.refresh();
  run.progress('looking up', 0);
}

async function lockThisMachine(run: Run, connection: Connection): Promise<void> {
  const { spec } = connection;
  await lockAllMachines(run, spec.name);
  const dir = serviceDir(run.settings.home, run.request.service, run.request.company);
  await makeFolder(dir, HOME);
  const lock = join(dir, `writing-${spec.name}.lock`);
  let isAnnounced = false;
  let abandonedAt: number | undefined;
  let abandonedBy: string | undefined;
  while (!run.signal.aborted) {
    try {
      const what = `Writing ${spec.name} records of company ${run.request.company}`;
      const onAbandoned = (at: number, owner: string | undefined) => {
        [abandonedAt, abandonedBy] = [at, owner];
      };
      const release = await takeLock(lock, what, onAbandoned, run.folder.run);
      // Who is interrupted while it waits leaves the waiting to the next.
      let isOver = false;
      run.closers.push(() => release(run.open.abandoned || !isOver ? 'abandon' : undefined));
      run.closers.push(async () => noteCreator(run, spec.name));
      // Its own open requests are given their time where they are looked for.
      const isOwn = run.past.begun && abandonedBy === run.folder.run;
      isOver = isOwn || (await waitForAbandoned(abandonedAt, run, connection));
      if (abandonedBy !== undefined && !isOwn) rememberAbandoned(run, abandonedBy, connection);
      return;
    } catch (error) {
      if (!(error instanceof LockedError)) throw error;
      if (!isAnnounced)
        run.info(
          `Another run writes ${spec.name} records of this company (process ${error.pid}). This one goes on when it has ended.`,
        );
      isAnnounced = true;
      do await wait(run.clock, POLL_MS, run.signal);
      while (!run.signal.aborted && isLocked(lock));
    }
  }
}

/**
 * A run that was killed, or left requests open, may have sent what takes effect only now: another one waits before it looks
 * up, as the resumption of that run itself does. False where this run is stopped before.
 */
async function waitForAbandoned(abandonedAt: number | undefined, run: Run, connection: Connection): Promise<boolean> {
  if (abandonedAt === undefined) return true;
  const rest = remainingWindow(run, connection, abandonedAt);
  if (rest <= 0) return true;
  run.info(
    `The run that wrote these records before ended without a word: what it sent may still take effect. This one goes on in ${Math.ceil(rest / 1000)} s.`,
  );
  return wait(run.clock, rest, run.signal);
}

/** The lock file holds on one machine; workers on several machines agree through their queue. */
async function lockAllMachines(run: Run, resource: string): Promise<void> {
  const service = serviceDir('', run.request.service, run.request.company);
  const right = await run.worker?.exclusive(`writing.${service}.${resource}`, run.signal);
  if (!right) return;
  // Where its release cannot be told, it ends by itself.
  run.closers.push(() =>
    right.release(run.open.abandoned).catch((error: unknown) => run.log.warn({ err: error }, 'right.not_released')),
  );
  run.rights.push(right);
  right.lost.addEventListener('abort', () => run.halt('the right to write was lost to another worker'), { once: true });
  if (right.lost.aborted) run.halt('the right to write was lost to another worker');
}

/** A holder of a lock may have lived so long after it last touched it, in milliseconds. */
const TOUCHED_MS = 5_000;

/**
 * Milliseconds within which requests of a process that was killed may still take effect: the settle window after its end.
 * Where the service guards every row, its last but one look is enough: what comes later than that is refused there. `abandonedAt`:
 * when the process last showed that it lived; undefined: up to now, for all that is known.
 */
export function remainingWindow(
  { settings, clock, job }: Pick<Run, 'settings' | 'clock' | 'job'>,
  { spec, behaviour }: Pick<Connection, 'spec' | 'behaviour'>,
  abandonedAt: number | undefined,
): number {
  const { settleWindowMs } = settings;
  const enough =
    (isEveryRowUnique(job.match, spec, behaviour) ? settleWindowMs.at(-2) : undefined) ?? settleWindowMs.at(-1) ?? 0;
  if (abandonedAt === undefined) return enough;
  // Never more than the whole: a time ahead of now says that the clock was put back, not how long ago it was.
  return Math.min(enough, abandonedAt + TOUCHED_MS + enough - clock.wall());
}
