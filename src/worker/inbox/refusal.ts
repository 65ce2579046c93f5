import type { BigIntStats } from 'node:fs';
import { type Claim, shown } from './claim.js';
import { type Jobs, takesFiles } from './jobs.js';

/** Why a claim is not offered, as ERROR.txt says it; undefined where nothing speaks against it. Nothing is opened. */
export function refusalOf(claim: Claim, info: BigIntStats, jobs: Jobs): string | undefined {
  const reason = kindFault(info) ?? jobFault(claim.job, jobs);
  if (reason === undefined) return undefined;
  const done = jobs.states.get(claim.job) === 'reconcile' ? 'reconciled' : 'imported';
  return `"${shown(claim.name)}" was not ${done}. Nothing was read and nothing was sent.\n\n${reason}\n`;
}

function kindFault(info: BigIntStats): string | undefined {
  if (info.isSymbolicLink()) {
    return 'It is a symbolic link, and links are never followed: they may lead to any file of this machine.\nCopy the file itself into the drop folder.';
  }
  if (info.isFIFO()) return 'It is a named pipe, not a file. Put a file into the drop folder.';
  if (info.isSocket()) return 'It is a socket, not a file. Put a file into the drop folder.';
  if (info.isDirectory()) return 'It is a folder, not a file. Put the files themselves into the drop folder.';
  if (!info.isFile()) return 'It is a device, not a file. Put a file into the drop folder.';
  if (info.nlink > 1n) {
    return (
      `The file has ${info.nlink} names (hard links): it lies in another place as well, and may be changed there while it is read.\n` +
      'Copy the file into the drop folder instead of linking it.'
    );
  }
  return undefined;
}

function jobFault(job: string, jobs: Jobs): string | undefined {
  const state = jobs.states.get(job);
  if (takesFiles(state) || state === 'faulty') return undefined;
  const there =
    jobs.names.length > 0
      ? `Jobs that take files:\n${jobs.names.map((name) => `  ${shown(name)}`).join('\n')}\nPut the file into the folder of one of them.`
      : `There is no job that takes files. Ask whoever runs rowferry in your house.`;
  if (state === 'export')
    return `The job "${shown(job)}" is an export, and takes no files from the drop folder.\n${there}`;
  return `The folder "${shown(job)}" belongs to no job: a folder of the drop folder has the name of a job.\n${there}`;
}
