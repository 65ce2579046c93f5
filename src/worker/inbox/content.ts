import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { RunError } from '../../model/error.js';
import { type Claim, shown } from './claim.js';
import { readClaimNote, replaceClaimNote } from './claim-note.js';
import { openPlain, reasonOf } from './disk.js';
import { enter } from './ledger.js';

/** The run that had the same content first. */
export interface FirstRun {
  readonly run: string;
  /** Name of its file as it was dropped. */
  readonly file: string;
  /** When it was begun, ISO 8601. */
  readonly at: string;
}

export type ContentCheck =
  | { readonly verdict: 'run'; readonly sha256: string }
  | { readonly verdict: 'repeated' | 'wait'; readonly sha256: string; readonly first: FirstRun };

/**
 * Before a claim is run: `run` (also where this very claim had begun before), `repeated` where its content was run to the
 * end with the same job and company, `wait` while another claim with that content is being run: ask again in a while.
 * `repeat`: the job's own; then always `run`.
 * @throws RunError `failed` where the file cannot be read or is none, or the ledger cannot be written.
 */
export async function checkContent(
  dir: string,
  claim: Claim,
  jobSha256: string,
  company: number,
  repeat: boolean,
): Promise<ContentCheck> {
  const sha256 = await hashOf(claim);
  if (repeat) return { verdict: 'run', sha256 };
  const purpose = createHash('sha256').update(`${jobSha256}\0${company}`).digest('hex').slice(0, 16);
  const key = `${sha256}-${purpose}.json`;
  try {
    const note = await readClaimNote(claim.dir);
    // Before the entry is made, so that whoever ends this claim finds the entry, wherever a crash falls.
    if (note === undefined || note === 'torn' || note.ledger !== key) {
      const file = claim.file.slice(join(claim.dir, '/').length);
      await replaceClaimNote(claim.dir, { v: 1, name: claim.name, file, ledger: key });
    }
    const first = await enter(dir, claim, key);
    if (!first) return { verdict: 'run', sha256 };
    return {
      verdict: first.state === 'finished' ? 'repeated' : 'wait',
      sha256,
      first: { run: first.run, file: first.file, at: first.at },
    };
  } catch (error) {
    throw new RunError(
      'failed',
      `Whether "${shown(claim.name)}" was imported before cannot be found out: in the drop folder ${dir}, ${reasonOf(error)}. ` +
        'Nothing was sent. Put that right and drop the file again.',
      [],
      { cause: error },
    );
  }
}

/** NOTE.txt of a claim that is not run because of `first`, whose reports lie in a folder of the drop folder. */
export function repeatedNote(
  claim: Claim,
  first: FirstRun,
  reports: string | undefined,
): { name: 'NOTE.txt'; text: string } {
  const text = [
    `The file "${shown(claim.name)}" was not imported: its content has been imported before, by the same job.`,
    '',
    `First imported:  ${first.at}, as "${shown(first.file)}"`,
    `Run:             ${first.run}`,
    `Its reports:     ${reports ?? 'they are not in the drop folder any more'}`,
    '',
    'Nothing was sent to the service this time. To import new data, change the file and drop it again.',
    `To import the same content every time it is dropped, put the line "repeat: true" into the job file of "${shown(claim.job)}".`,
    '',
  ];
  return { name: 'NOTE.txt', text: text.join('\n') };
}

async function hashOf(claim: Claim): Promise<string> {
  try {
    const handle = await openPlain(claim.file);
    try {
      if (!(await handle.stat()).isFile()) throw new Error('it is no plain file');
      const hash = createHash('sha256');
      const buffer = Buffer.allocUnsafe(256 * 1024);
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
        if (bytesRead === 0) return hash.digest('hex');
        hash.update(buffer.subarray(0, bytesRead));
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new RunError(
      'failed',
      `The file ${shown(claim.file)} cannot be read: ${reasonOf(error)}. Nothing was sent. Drop the file again.`,
      [],
      { cause: error },
    );
  }
}
