import path from 'node:path';
import { type Claim, droppedName } from '../inbox/claim.js';
import type { Trigger } from '../operations/ended.js';
import { safeName } from '../schedule/slot-job.js';
import type { JobKind, RunData } from './data.js';

/** Where a job of the queue came from, as its id tells. */
export interface Origin {
  readonly trigger: Trigger;
  /** Set where the id names the run. */
  readonly run?: string;
  readonly claim?: Claim;
  /** A file taken from the drop folder of another worker, under a path that is not this worker's: left to that one. */
  readonly elsewhere?: true;
}

const RUN = String.raw`\d{8}T\d{9}Z-[0-9a-f]+`;
const DROP = new RegExp(`^drop\\.(.+)\\.(${RUN})$`, 's');
const AGAIN = new RegExp(`^again\\.(${RUN})$`);
const NIGHT = /^night\.(.+)\.[^.]+$/s;

/**
 * Reads a job's id: `drop.<job>.<run id>`, `night.<job>.<slot>`, `again.<run id>` or anybody's own. An id of ours over
 * data that do not fit it proves nothing, and the job counts as anybody's. No export reads what is dropped.
 */
export function originOf(id: string | undefined, kind: JobKind, data: RunData, inbox: string): Origin {
  const again = AGAIN.exec(id ?? '')?.[1];
  if (again !== undefined) return { trigger: 'queue', run: again };
  if (typeof data.job !== 'string') return { trigger: 'queue' };
  const { job } = data;
  const named = (found: string | undefined) => found === job || found === safeName(job);
  const [, dropped, run] = DROP.exec(id ?? '') ?? [];
  if (kind !== 'export' && run !== undefined && named(dropped) && data.file !== undefined) {
    const dir = path.join(inbox, 'processing', job, run);
    const file = path.resolve(dir, data.file);
    if (path.dirname(file) === dir)
      return { trigger: 'drop', run, claim: { job, run, dir, file, name: droppedName(path.basename(file)) } };
    if (data.file.endsWith(path.join('processing', job, run, path.basename(data.file))))
      return { trigger: 'drop', run, elsewhere: true };
  }
  return { trigger: named(NIGHT.exec(id ?? '')?.[1]) ? 'schedule' : 'queue' };
}
