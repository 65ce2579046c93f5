import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { runFolder } from '../../runs/run/layout.js';
import { readRun, readSummary, undoneBy } from '../../runs/run/list.js';
import { brakeStop, rowsForPerson, rowsInPlace, type Summary, stopCause } from '../../runs/run/present.js';
import { reached } from '../../trace/milestones.js';
import { type Claim, displayName } from '../inbox/claim.js';
import { isFolder, replaceText } from '../inbox/disk.js';
import { type ClaimEnd, contentHash, type DropFolder, type FirstRun } from '../inbox/drop-folder.js';
import type { FileJobKind } from '../job-files.js';

/** The summary of the first run, for a file that was not run again. */
export type RepeatedSummary = Partial<Summary> &
  Pick<Summary, 'run' | 'job' | 'status'> & { readonly repeated_of: string };

/** Where a claim lies after its end, and the summary of its run there. */
interface Archived {
  readonly dir: string;
  readonly summary?: Summary | undefined;
}

/** Where the file of a job goes, with what its run left. */
export class ClaimArchive {
  constructor(
    private readonly folder: DropFolder,
    private readonly claim: Claim,
    private readonly home: string,
  ) {}

  /** The run came to its end. */
  async end(summary: Summary): Promise<Archived & { readonly warning?: string | undefined }> {
    const { claim } = this;
    const finished = summary.status === 'succeeded' || summary.status === 'partial';
    // Whoever dropped it may have had it open still, and gone on writing after it was read.
    const read = summary.source?.sha256;
    const changed = read !== undefined && (await contentHash(claim).catch(() => read)) !== read;
    const warning = changed ? changedText(claim, summary) : undefined;
    const note = (finished ? '' : stoppedText(claim, summary)) + (warning === undefined ? '' : `\n${warning}\n`);
    const end: ClaimEnd = {
      place: finished ? 'done' : 'failed',
      result: `${resultText(summary)}${changed ? ', file changed since' : ''}`,
      // A file of which no row is in is worth another try, with nothing in it changed.
      finished: finished && (rowsInPlace(summary.rows) > 0 || summary.rows.skipped > 0),
      ...(note !== '' && { note: { name: finished ? 'NOTE.txt' : 'ERROR.txt', text: note.trimStart() } }),
    };
    return { ...(await this.move(end, warning)), warning };
  }

  /** It could not be run, or not to its end. `begun`: its run was. */
  refuse(kind: FileJobKind, reason: string, begun: boolean): Promise<Archived> {
    const { name, job, run } = this.claim;
    const what = begun
      ? `The ${KIND_WORDS[kind].noun} of ${name} (run ${run}) could not be brought to its end; some rows may be written.`
      : `${name} was not ${KIND_WORDS[kind].done}.`;
    const again = `Correct what is said above and drop the file into ${job}/ again`;
    const next = begun
      ? `${again}: rows that are written already are left alone.`
      : `No row of it was written. ${again}.`;
    const note = { name: 'ERROR.txt', text: `${what}\n\n${reason}\n\n${next}\n` } as const;
    return this.move({ place: 'failed', result: begun ? 'stopped' : 'refused', finished: false, note });
  }

  /** Its content was run before. */
  async endRepeated(first: FirstRun): Promise<{ readonly dir: string; readonly summary: RepeatedSummary }> {
    const { folder, claim, home } = this;
    const earlier = await readRun(home, first.run).catch(() => undefined);
    const ended = await folder.endFolder({ job: claim.job, run: first.run });
    const reports = earlier && (await isFolder(earlier.report_dir)) ? earlier.report_dir : ended;
    const undone = await undoneBy(home, first.run).catch(() => undefined);
    const note = repeatedNote(claim, first, ended && folder.sharePath(ended), undone);
    const dir = await folder.end(claim, { place: 'done', result: 'imported before', finished: false, note });
    const summary = reports === undefined ? undefined : await readSummary(reports).catch(() => undefined);
    const own = summary?.run === first.run ? summary : undefined;
    return { dir, summary: { run: first.run, job: claim.job, status: 'succeeded', ...own, repeated_of: first.run } };
  }

  /** Where an earlier delivery of the job put it without coming to say so; undefined where none did. */
  async find(): Promise<Archived | undefined> {
    const { folder, claim, home } = this;
    const dir = (await isFolder(claim.dir)) ? undefined : await folder.endFolder(claim);
    return dir === undefined ? undefined : { dir, summary: await updatePaths(home, claim.run, dir) };
  }

  private async move(end: ClaimEnd, warning?: string): Promise<Archived> {
    const dir = await this.folder.end(this.claim, end);
    return { dir, summary: await updatePaths(this.home, this.claim.run, dir, warning) };
  }
}

function changedText({ name, job }: Claim, { kind, rows }: Summary): string {
  const done = KIND_WORDS[kind === 'reconcile' ? 'reconcile' : 'import'].done;
  return (
    `${name} was written on after it had been read: the file that lies here is not the one that was ${done} (${rows.total} rows). ` +
    `Drop it into ${job}/ again when nobody writes it any more; rows that are in already are left alone.`
  );
}

/** NOTE.txt of a claim that is not run because of `first`, whose reports lie in a folder of the drop folder. */
function repeatedNote(claim: Claim, first: FirstRun, reports: string | undefined, undone: string | undefined) {
  const job = displayName(claim.job);
  const next =
    undone === undefined
      ? 'To import new data, change the file and drop it again.'
      : `What that run wrote has been put back since, by the run ${undone}. To import it anew: rowferry enqueue import --job ${job} --file FILE`;
  const text = `The file "${displayName(claim.name)}" was not imported: its content has been imported before, by the same job.

First imported:  ${first.at}, as "${displayName(first.file)}"
Run:             ${first.run}
Its reports:     ${reports ?? 'they are not in the drop folder any more'}

Nothing was sent to the service this time. ${next}
To import the same content every time it is dropped, put the line "repeat: true" into the job file of "${job}".
`;
  return { name: 'NOTE.txt', text } as const;
}

/** What became of a file, for the name of its folder. */
function resultText({ status, kind, rows }: Summary): string {
  if (status === 'braked') return 'stopped by a brake';
  if (status !== 'succeeded' && status !== 'partial') return 'stopped';
  const needPerson = rowsForPerson(rows);
  if (kind === 'import' && needPerson > 0) return `${needPerson} to correct`;
  if (status === 'partial') return `${needPerson || 'something'} to look at`;
  return kind === 'reconcile' ? 'compared' : 'imported';
}

function stoppedText({ name, job }: Claim, summary: Summary): string {
  const { status, run, rows, requests, dry_run: dryRun } = summary;
  const written = dryRun ? 0 : rows.created + rows.updated;
  const what =
    written > 0
      ? `${written} of ${rows.total} rows were written.`
      : requests.writes > 0
        ? 'Writing requests were sent; the reports say what for.'
        : 'Nothing was written.';
  const kind = summary.kind === 'reconcile' ? 'reconcile' : 'import';
  const wayOn =
    brakeStop(summary) === 'plan'
      ? `have just that plan carried out with: rowferry runs approve ${run} --by NAME`
      : `have it run again with: rowferry enqueue ${kind} --job ${job} --file FILE --force`;
  const again = `drop the file into ${job}/ again: rows that are written already are left alone.`;
  const next =
    status === 'braked'
      ? `Check the file; if its numbers are meant, ${wayOn}`
      : status === 'interrupted'
        ? `Go on with it in the console or with: rowferry runs resume ${run}\nOr ${again}`
        : `When the cause is gone, ${again}`;
  const cause = stopCause(summary);
  const who =
    status === 'braked'
      ? 'A brake of the job stopped'
      : status === 'interrupted'
        ? 'Somebody stopped'
        : 'A fault stopped';
  return `${who} the ${KIND_WORDS[kind].noun} of ${name}. ${what}\n\n${cause === undefined ? '' : `${cause}\n\n`}${next}\nThe reports of run ${run} lie beside this note. Where somebody went on with it since, they say how that ended.\n`;
}

const KIND_WORDS: Readonly<Record<FileJobKind, { readonly noun: string; readonly done: string }>> = {
  import: { noun: 'import', done: 'imported' },
  reconcile: { noun: 'reconciliation', done: 'reconciled' },
};

/**
 * After the reports of a run and its file were moved together to another folder: `run.json` and `summary.json` name their
 * new places, and `warning` joins its warnings. Can be called again. Returns the summary; undefined where the folder holds none.
 */
async function updatePaths(home: string, run: string, to: string, warning?: string): Promise<Summary | undefined> {
  await rewriteJson(runFolder(home, run).request, (request) => ({
    ...request,
    reportDir: to,
    ...(typeof request['file'] === 'string' && { file: path.join(to, path.basename(request['file'])) }),
  }));
  await rewriteJson(path.join(to, 'summary.json'), (summary) => {
    const { source, warnings } = summary;
    if (typeof source !== 'object' || source === null || !('path' in source)) return summary;
    const withWarning = warning !== undefined && Array.isArray(warnings) && { warnings: [...warnings, warning] };
    return {
      ...summary,
      ...withWarning,
      source: { ...source, path: path.join(to, path.basename(String(source.path))) },
    };
  });
  reached('reports-moved');
  return readSummary(to);
}

/** Rewrites a JSON file in one step; one that is not there is left so. */
async function rewriteJson(
  file: string,
  edit: (value: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text !== undefined)
    await replaceText(file, `${JSON.stringify(edit(JSON.parse(text)), null, 2)}\n`, { flush: true });
}
