import { join } from 'node:path';
import { makeFolder } from '../../files/make-folder.js';
import type { ReconcileJob } from '../../model/job.js';
import { PAGE_SIZE } from '../../pipeline/match/filter.js';
import type { ReadAll } from '../../pipeline/match/match.js';
import { serviceDir } from '../../service/address.js';
import { openMirror } from '../../service/lists/mirror.js';
import type { Mirror, Readable } from '../../service/port.js';
import { learnNames } from '../connect.js';
import { HOME } from '../layout.js';
import { LockHeld, takeLock } from '../lock.js';
import type { Run } from '../run.js';
import type { Staged } from '../stage-rows.js';

/** Reads what the service holds of the job's resource: once a run, whoever wants to know of it. */
export async function openList(run: Run, job: ReconcileJob, { service, spec, known }: Staged): Promise<Mirror> {
  const resource = spec.name as Readable;
  const dir = await mirrorFolder(run, resource);
  run.progress('looking up', 0);
  const mirror = await openMirror(service, resource, {
    dir,
    fullEvery: job.read.full_every,
    now: run.now,
    parallel: run.request.concurrency,
    onRecords(records) {
      for (const record of records) learnNames(spec.name, record, known);
    },
  });
  run.closers.push(() => mirror.close());
  return mirror;
}

/** What was read last time lies in the data folder; while another run uses it, this one reads for itself. */
async function mirrorFolder(run: Run, resource: string): Promise<string> {
  const { home } = run.settings;
  const kept = join(serviceDir(home, run.request.service, run.request.company), 'mirror', resource);
  await makeFolder(kept, HOME);
  try {
    run.closers.push(await takeLock(join(kept, 'lock'), `The list of ${resource} records`));
    return kept;
  } catch (error) {
    if (!(error instanceof LockHeld)) throw error;
    const own = join(run.folder.dir, 'work', 'mirror');
    await makeFolder(own, HOME);
    return own;
  }
}

/** The same lists, but for the one that was read already. */
export function withList(readAll: ReadAll, resource: Readable, mirror: Mirror): ReadAll {
  const all: (...given: Parameters<ReadAll>) => ReturnType<ReadAll> = async (wanted, visit, options) => {
    if (wanted !== resource) return readAll(wanted, visit, options);
    for await (const batch of mirror.records()) {
      for (const { record, readAt } of batch) await visit([record], readAt);
    }
    return { certified: mirror.certified, confirm: async () => mirror.certified };
  };
  return Object.assign(all, {
    async first(wanted: Readable) {
      if (wanted !== resource) return readAll.first(wanted);
      for await (const batch of mirror.records()) {
        return { count: mirror.count, results: batch.slice(0, PAGE_SIZE).map(({ record }) => record) };
      }
      return { count: 0, results: [] };
    },
    has: (wanted: Readable) => wanted === resource || readAll.has(wanted),
  });
}
