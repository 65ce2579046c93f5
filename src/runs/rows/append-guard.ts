import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type RunError, usageError } from '../../model/error.js';
import { withHome } from '../../store/home.js';
import type { Database } from '../../store/sqlite.js';
import { jobKey, runFolder } from '../run/layout.js';
import { isResumable, readRun, undoneBy } from '../run/list.js';
import type { Run } from '../run/run.js';
import { contentHash, readAsOf } from '../run/table.js';

/** What a run may have done, or a retry of it will do. */
const APPENDED_ROWS = `kind in ('created', 'failed') or (op is not null and coalesce(kind, 'unknown') = 'unknown')`;

interface AppendGuard {
  /** @throws RunError `usage` where another run has appended the same rows for the same job, or still may. */
  assertNew(): Promise<void>;
  /** Keeps that this run appends its rows; to be called before the first of them is sent, by one writer at a time. */
  claim(): Promise<void>;
  /** At the end: a run that sent nothing, and of which nothing can be retried, has taken no rows. */
  releaseUnused(): Promise<void>;
}

/**
 * Rows that were appended: nothing in the service tells that they were, so it is remembered here which run has taken them: those
 * of a file by its content, those that a run handed back by that run. Contract, section 4. Undefined where rows have a key, and
 * where the job takes files again.
 */
export async function openAppendGuard(run: Run): Promise<AppendGuard | undefined> {
  const { job, request, settings, folder } = run;
  const repeats = job.kind === 'import' && job.repeat;
  if (job.match.key.length > 0 || repeats) return undefined;
  const { handedBackBy: by } = readAsOf(run.store);
  const rows = by ?? (await contentHash(run));
  const rowsKey = [jobKey(request.job, settings.home), request.company, request.service, rows] as const;
  // Workers of other data folders keep their job files elsewhere: by name it is the same job.
  const { name, path, sha256 } = request.job;
  const sharedRows = [path === '' ? sha256 : name, request.company, request.service, rows].join('\0');
  const sharedName = `appended.${createHash('sha256').update(sharedRows).digest('hex').slice(0, 32)}`;
  const shared = run.worker?.shared;

  const claimedBy = (home: Database): string | undefined =>
    home
      .prepare('select run from appended where job = ? and company = ? and service = ? and rows = ?')
      .get(...rowsKey)
      ?.['run']?.toString();

  async function assertNew(): Promise<void> {
    const earlier = withHome(settings.home, claimedBy) ?? ((await shared?.read(sharedName)) || undefined);
    if (earlier !== undefined && earlier !== folder.run) throw await appendedError(settings.home, earlier, by);
    if (run.corrected && by === undefined && !request.jsonRows) throw unknownOriginError();
    // Rows that it did not reach, or that failed, are in its rejected file, and are appended by it once it goes on.
    if (by !== undefined && (await mayGoOn(settings.home, by))) throw await appendedError(settings.home, by);
  }

  return {
    assertNew,
    async claim() {
      await assertNew();
      withHome(settings.home, (home) =>
        home
          .prepare('insert or ignore into appended (job, company, service, rows, run) values (?, ?, ?, ?, ?)')
          .run(...rowsKey, folder.run),
      );
      await shared?.update(sharedName, () => folder.run);
    },
    async releaseUnused() {
      if (request.dryRun) return;
      await run.store.flush();
      if (run.rowStore.count(APPENDED_ROWS) > 0) return;
      withHome(settings.home, (home) => home.prepare('delete from appended where run = ?').run(folder.run));
      await shared?.update(sharedName, (was) => (was === folder.run ? '' : undefined));
    },
  };
}

/** Whether a run appends what is left of its rows once it goes on. */
async function mayGoOn(home: string, run: string): Promise<boolean> {
  const entry = await readRun(home, run);
  return entry.status === 'running' || (isResumable(entry) && (await undoneBy(home, run)) === undefined);
}

function unknownOriginError(): RunError {
  return usageError(
    'The file has the columns of rejected rows, and no run of this data folder handed them back as they are now: without a key it cannot be told whether they are in already, as after `runs resume`. Nothing was sent. ' +
      'Import the rejected file that lies with that run now. If these rows are not in the service, delete the columns that begin with `_`, and import them again.',
  );
}

/** `handedBackBy`: the run of whose rejected rows it is about, not of a file. */
async function appendedError(home: string, run: string, handedBackBy?: string): Promise<RunError> {
  const entry = existsSync(runFolder(home, run).request) ? await readRun(home, run) : undefined;
  const [what, others] =
    handedBackBy === undefined
      ? ['The rows of this file', 'If all are meant once more, say `repeat: true` in the job.']
      : [
          `Rows that the run ${handedBackBy} handed back`,
          'Rows that it did not have are imported without the columns that begin with `_`.',
        ];
  const next =
    entry && (await mayGoOn(home, run))
      ? `Go on with it: rowferry runs resume ${run}`
      : `What it could not append is in its rejected file. ${others}`;
  return usageError(
    `${what} were appended by the run ${run}, which ${entry ? `is ${entry.status}` : 'lies in the data folder of another worker'}: they would be there twice. Nothing was sent. ${next}`,
  );
}
