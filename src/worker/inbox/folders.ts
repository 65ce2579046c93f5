import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { PLACES, shown } from './claim.js';
import { codeOf, lookAtEntry, makeFolders, reasonOf, writeShared } from './disk.js';
import { identityOf, isIgnored, lookInto } from './dropped.js';
import { type Jobs, type TakingKind, takesFiles } from './jobs.js';
import { readmeText } from './readme.js';
import type { Scheduled } from './scheduled.js';
import type { Troubles } from './trouble.js';
import type { Candidate } from './waiting.js';

export interface Around {
  readonly candidates: readonly Candidate[];
  /** Folders to be watched, and what tells them from others of that name. */
  readonly folders: ReadonlyMap<string, bigint>;
}

/** Keeps the folders of the inbox in order, and looks at what was dropped. Undefined where the inbox cannot be used. */
export function openFolders(
  dir: string,
  troubles: Troubles,
  log: Logger,
): (jobs: Jobs, scheduled: Scheduled) => Promise<Around | undefined> {
  const readmes = new Set<string>();
  let device: bigint | undefined;

  async function prepare(): Promise<bigint | undefined> {
    try {
      let info = await statOf(dir);
      // Nothing is made in the place of a disk that is away: it would vanish from sight when the disk is back.
      if (await isAway(info)) throw new Error('its disk is away');
      if (!info) {
        await makeFolders(dir);
        info = await stat(dir, { bigint: true });
        if (device !== undefined) troubles.tell('deleted', `The drop folder ${dir} was deleted. It was made again.`);
        readmes.clear();
      } else troubles.over('deleted');
      if (!info.isDirectory()) throw new Error('it is no folder');
      for (const place of [...PLACES, '.ledger']) await makeFolders(join(dir, place));
      device = info.dev;
      troubles.over('dir', `The drop folder ${dir} can be used again.`);
      return identityOf(info);
    } catch (error) {
      const again = 'Nothing is taken; it is looked at again every few seconds.';
      troubles.tell('dir', `The drop folder ${dir} cannot be used: ${reasonOf(error)}. ${again}`, true);
      return undefined;
    }
  }

  /** Whether the disk of the folder went: with the folder, or leaving an empty one where it had been mounted. */
  async function isAway(info: BigIntStats | undefined): Promise<boolean> {
    if (device === undefined || info?.dev === device) return false;
    const above = await deviceAbove(dir);
    return info ? info.dev === above : above !== device;
  }

  /** Makes the folder of a job, with its README. */
  async function prepareJob(job: string, kind: TakingKind): Promise<void> {
    const folder = join(dir, job);
    const key = `job:${job}`;
    if (PLACES.some((place) => place === job) || isIgnored(job)) {
      troubles.tell(
        key,
        `The job "${shown(job)}" has no drop folder: ${folder} has another purpose. Rename the job file.`,
      );
      return;
    }
    try {
      const info = await lookAtEntry(folder);
      if (info && !info.isDirectory()) {
        troubles.tell(
          key,
          `${folder} must be a folder, no link and no file: nothing is taken for the job "${shown(job)}".`,
        );
        return;
      }
      if (!info) await makeFolders(folder);
      if (!info || !readmes.has(job)) await writeOnce(join(folder, 'README.txt'), readmeText(job, kind));
      readmes.add(job);
      troubles.over(key);
    } catch (error) {
      troubles.tell(
        key,
        `The drop folder of the job "${shown(job)}", ${folder}, cannot be made ready (made, or given its README.txt): ${reasonOf(error)}. It is tried again.`,
      );
    }
  }

  async function lookIntoJob(job: string, jobs: Jobs, scheduled: Scheduled): Promise<Candidate[]> {
    const folder = join(dir, job);
    const look = await lookInto(folder).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOENT') {
        troubles.tell(
          `read:${job}`,
          `The folder ${shown(folder)} cannot be read: ${reasonOf(error)}. Nothing is taken from it.`,
        );
      }
      return undefined;
    });
    if (!look) return [];
    troubles.over(`read:${job}`);
    for (const { name } of look.folders) {
      troubles.tell(
        `folder:${job}/${name}`,
        `There is a folder "${shown(name)}" in ${folder}. Folders are left alone: put the files themselves into ${folder}.`,
      );
    }
    const files = look.files.filter(({ name }) => !scheduled.has(folder, name));
    if (!jobs.states.has(job) && scheduled.within(folder)) {
      if (files.length > 0) {
        troubles.tell(
          `scheduled:${job}`,
          `${folder} holds files that no schedule reads, such as "${shown(files[0]?.name ?? '')}". They are left alone: no job has the name of that folder.`,
        );
      }
      return [];
    }
    return files.map((file) => ({ ...file, job, key: file.path.toString('latin1') }));
  }

  function tellOfLoose(names: readonly string[], jobs: Jobs): void {
    const [name] = names;
    if (name === undefined) {
      troubles.over('loose');
      return;
    }
    const where = jobs.names.length > 0 ? `, one of: ${jobs.names.slice(0, 20).map(shown).join(', ')}` : '';
    troubles.tell(
      'loose',
      `${names.length === 1 ? 'A file lies' : `${names.length} files lie`} directly in the drop folder ${dir}, such as "${shown(name)}". ` +
        `Nothing happens there: put files into the folder of a job${where}.`,
    );
  }

  return async (jobs, scheduled) => {
    const identity = await prepare();
    if (identity === undefined) return undefined;
    for (const [job, state] of jobs.states) {
      if (takesFiles(state)) await prepareJob(job, state);
      if (state !== 'faulty') troubles.over(`faulty:${job}`);
      else
        troubles.tell(
          `faulty:${job}`,
          `The job file of "${shown(job)}" has faults: \`rowferry check ${shown(job)}\` lists them.`,
        );
    }
    const top = await lookInto(dir).catch((error: unknown) => log.debug({ err: error }, 'inbox.look'));
    if (!top) return undefined;
    const loose = top.files.filter(({ name }) => !jobs.states.has(name) && !scheduled.has(dir, name));
    tellOfLoose(
      loose.map(({ name }) => name),
      jobs,
    );
    const folders = new Map([[dir, identity]]);
    const candidates: Candidate[] = [];
    for (const { name, identity: number } of top.folders) {
      if (PLACES.some((place) => place === name)) continue;
      folders.set(join(dir, name), number);
      candidates.push(...(await lookIntoJob(name, jobs, scheduled)));
    }
    return { candidates, folders };
  };
}

async function writeOnce(path: string, text: string): Promise<void> {
  await writeShared(path, text).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}

/** Undefined where there is nothing. A link to a folder is that folder. */
async function statOf(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/** The device of the nearest folder above that is there. */
async function deviceAbove(dir: string): Promise<bigint | undefined> {
  for (let at = dirname(dir); ; at = dirname(at)) {
    const info = await stat(at, { bigint: true }).catch(() => undefined);
    if (info || dirname(at) === at) return info?.dev;
  }
}
