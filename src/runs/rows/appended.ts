import { RunError } from '../../model/error.js';
import { inHome } from '../../store/home.js';
import { jobKey } from '../run/layout.js';
import type { Run } from '../run/run.js';

/** Files whose rows were appended: nothing in the service tells that they were, so it is remembered here. Contract, section 4. */

/** Whether the rows of a run are new records, one and all, and its file is not to be taken a second time. */
function isOnce({ job, request }: Run): boolean {
  const takesAgain = job.kind === 'import' && job.repeat;
  return job.match.key.length === 0 && !takesAgain && request.lineage?.retries === undefined;
}

const placeOf = ({ request, settings: { home } }: Run) =>
  [jobKey(request.job, home), request.company, request.service, request.sha256] as const;

/** @throws RunError `usage` where another run has appended the rows of the same content for the same job. */
export function assertNotAppended(run: Run): void {
  if (!isOnce(run)) return;
  const found = inHome(run.settings.home, (home) =>
    home
      .prepare('select run from appended where job = ? and company = ? and service = ? and sha256 = ?')
      .get(...placeOf(run)),
  );
  const earlier = found?.['run'];
  if (earlier === undefined || earlier === run.folder.run) return;
  throw new RunError(
    'usage',
    `The rows of this file were appended by the run ${String(earlier)}: they would all be there twice. Nothing was sent. If that is meant, say \`repeat: true\` in the job.`,
  );
}

/** Keeps that this run appends the rows of its file; to be called before the first of them is sent, by one writer at a time. */
export function noteAppended(run: Run): void {
  if (!isOnce(run)) return;
  assertNotAppended(run);
  inHome(run.settings.home, (home) =>
    home
      .prepare('insert or ignore into appended (job, company, service, sha256, run) values (?, ?, ?, ?, ?)')
      .run(...placeOf(run), run.folder.run),
  );
}
