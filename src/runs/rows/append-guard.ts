import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type RunError, usageError } from '../../model/error.js';
import { displayText } from '../../model/row.js';
import type { OpenSource } from '../../model/source.js';
import { foldText } from '../../model/value.js';
import { withHome } from '../../store/home.js';
import type { Database } from '../../store/sqlite.js';
import { jobKey, runFolder } from '../run/layout.js';
import { isResumable, readRun, readRunInfo, runIds, undoneBy } from '../run/list.js';
import type { Run } from '../run/run.js';
import { contentHash, queryStore, readAsOf, rowNumber, sourceOf } from '../run/table.js';

/** What a run may have done, or a retry of it will do. */
const APPENDED_ROWS = `kind in ('created', 'failed') or (op is not null and coalesce(kind, 'unknown') = 'unknown')`;

interface AppendGuard {
  /** @throws RunError `usage` where another run has appended the rows of the same content for the same job, or still may. */
  assertNew(): Promise<void>;
  /** Keeps that this run appends the rows of its file; to be called before the first of them is sent, by one writer at a time. */
  claim(): Promise<void>;
  /** At the end: a run that sent nothing, and of which nothing can be retried, has not taken its file. */
  releaseUnused(): Promise<void>;
}

/**
 * Files whose rows were appended: nothing in the service tells that they were, so it is remembered here. Contract, section 4.
 * Undefined where rows have a key, and where the job takes files again.
 */
export async function openAppendGuard(run: Run): Promise<AppendGuard | undefined> {
  const { job, request, settings, folder } = run;
  const repeats = job.kind === 'import' && job.repeat;
  if (job.match.key.length > 0 || repeats) return undefined;
  if (request.lineage?.retries !== undefined) return retryGuard(run, request.lineage.retries);
  const content = await contentHash(run);
  const fileKey = [jobKey(request.job, settings.home), request.company, request.service, content] as const;
  // Workers of other data folders keep their job files elsewhere: by name it is the same job.
  const { name, path, sha256 } = request.job;
  const sharedContent = [path === '' ? sha256 : name, request.company, request.service, content].join('\0');
  const sharedName = `appended.${createHash('sha256').update(sharedContent).digest('hex').slice(0, 32)}`;
  const shared = run.worker?.shared;

  const claimedBy = (home: Database): string | undefined =>
    home
      .prepare('select run from appended where job = ? and company = ? and service = ? and sha256 = ?')
      .get(...fileKey)
      ?.['run']?.toString();

  async function assertNew(): Promise<void> {
    const earlier = withHome(settings.home, claimedBy) ?? ((await shared?.read(sharedName)) || undefined);
    if (earlier !== undefined && earlier !== folder.run) throw await alreadyAppendedError(settings.home, earlier);
    // Rows that it did not reach, or that failed, are in its rejected file, and are appended by it once it goes on.
    const { handedBackBy: by } = readAsOf(run.store);
    if (by === undefined) {
      if (run.corrected && !request.jsonRows) throw unknownOriginError();
      return;
    }
    if (await mayGoOn(settings.home, by)) throw await alreadyAppendedError(settings.home, by);
    const before = await appendedRows(run, by);
    if (before.size === 0) return;
    const again: number[] = [];
    for await (const [row, of] of originalRows(run.source)) if (before.has(of)) again.push(row);
    if (again.length > 0) throw appendedTwiceError(again, [...new Set(before.values())]);
  }

  return {
    assertNew,
    async claim() {
      await assertNew();
      withHome(settings.home, (home) =>
        home
          .prepare('insert or ignore into appended (job, company, service, sha256, run) values (?, ?, ?, ?, ?)')
          .run(...fileKey, folder.run),
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

/** Two retries of a run may begin at the same time, and both find its rows as it left them: what the first has sent the second does not. */
function retryGuard({ rowStore, settings, folder }: Run, of: string): AppendGuard {
  const nothing = async () => undefined;
  return {
    assertNew: nothing,
    releaseUnused: nothing,
    async claim() {
      // Those that were open before are not sent.
      const own = rowStore.rowNumbers('op is null');
      for (const id of await runIds(settings.home)) {
        const other = runFolder(settings.home, id);
        if (id === folder.run || readRunInfo(other).lineage?.retries !== of) continue;
        const again = queryStore(other, ({ rows }) =>
          [...rows.rowNumbers(APPENDED_ROWS)].filter((row) => own.has(row)),
        );
        if (again?.length) throw appendedTwiceError(again, [id]);
      }
    },
  };
}

/** Whether a run appends what is left of its rows once it goes on. */
async function mayGoOn(home: string, run: string): Promise<boolean> {
  const entry = await readRun(home, run);
  return entry.status === 'running' || (isResumable(entry) && (await undoneBy(home, run)) === undefined);
}

/** The rows of a run that corrected files of it, and those of what they left, have appended, each with the run that did. */
async function appendedRows(run: Run, by: string): Promise<ReadonlyMap<number, string>> {
  const { home } = run.settings;
  const found = new Map<number, string>();
  for (const id of await runIds(home)) {
    const folder = runFolder(home, id);
    const { job, dryRun } = id > by && id !== run.folder.run ? readRunInfo(folder) : {};
    // Rows come back to their own job.
    if (job?.name !== run.request.job.name || dryRun) continue;
    const takenRows = queryStore(folder, (store) =>
      readAsOf(store).handedBackBy === by ? store.rows.rowNumbers(APPENDED_ROWS) : undefined,
    );
    if (!takenRows) continue;
    const later = await appendedRows(run, id);
    const source = takenRows.size + later.size > 0 ? await sourceOf(home, id) : undefined;
    if (!source) continue;
    for await (const [row, of] of originalRows(source)) {
      const taker = takenRows.has(row) ? id : later.get(row);
      if (taker !== undefined) found.set(of, taker);
    }
  }
  return found;
}

/** Each of the corrected rows that is of an earlier file, with its number there. */
async function* originalRows(source: OpenSource): AsyncGenerator<readonly [row: number, of: number]> {
  const at = source.meta.headings.map(foldText).lastIndexOf('_row');
  for await (const batch of source.rows()) {
    for (const { row, cells } of batch) {
      const of = rowNumber(displayText(cells[at]));
      if (of !== undefined) yield [row, of];
    }
  }
}

function appendedTwiceError(rows: readonly number[], runs: readonly string[]): RunError {
  const listed = rows.slice(0, 20).join(', ') + (rows.length > 20 ? ', …' : '');
  return usageError(
    `Rows of this file were appended by the run ${runs.join(', ')} already, and would be there twice (${rows.length}): ${listed}. Nothing was sent. Delete them from the file and import it again.`,
  );
}

function unknownOriginError(): RunError {
  return usageError(
    'The file has the columns of rejected rows, and no run of this data folder handed them back as they are now: without a key it cannot be told whether they are in already, as after `runs resume`. Nothing was sent. ' +
      'Import the rejected file that lies with that run now. If these rows are not in the service, delete the columns that begin with `_`, and import them again.',
  );
}

async function alreadyAppendedError(home: string, run: string): Promise<RunError> {
  const entry = existsSync(runFolder(home, run).request) ? await readRun(home, run) : undefined;
  const next =
    entry && (await mayGoOn(home, run))
      ? `Go on with it: rowferry runs resume ${run}`
      : 'What it could not append is in its rejected file. If all are meant once more, say `repeat: true` in the job.';
  return usageError(
    `The rows of this file were appended by the run ${run}, which ${entry ? `is ${entry.status}` : 'lies in the data folder of another worker'}: they would all be there twice. Nothing was sent. ${next}`,
  );
}
