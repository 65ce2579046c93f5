import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { LoadedJob } from '../../runs/job-file.js';
import { runFolder, shareLikeFolder } from '../../runs/layout.js';
import { readRun, readSummary } from '../../runs/list.js';
import { brakeStop, rowsForPerson, rowsInPlace, type Summary } from '../../runs/present.js';
import { reached } from '../../trace/milestones.js';
import type { Claim } from '../inbox/claim.js';
import {
  type ClaimEnd,
  type ContentCheck,
  checkContent,
  type DropFolder,
  endClaim,
  endedFolder,
  type FirstRun,
  repeatedNote,
} from '../inbox/claim-run.js';

/** What the drop folder does for the run of a claimed file: the functions of `inbox/`, bound to one folder. */
export interface Claims {
  check(claim: Claim, job: LoadedJob, company: number): Promise<ContentCheck>;
  /** Texts beside the file name no path of this machine. */
  end(claim: Claim, end: ClaimEnd): Promise<string>;
  /** Where a claim of the job, or the first run of its content, has ended. */
  ended(claim: Pick<Claim, 'job' | 'run'>): Promise<string | undefined>;
  /** A folder as people see it who see the drop folder. */
  asSeen(folder: string): string;
}

/** `roots`: folders that people at the drop folder know nothing of. */
export function inboxClaims(inbox: DropFolder, roots: readonly string[] = []): Claims {
  const hidden = [inbox.dir, ...roots].sort((a, b) => b.length - a.length).map((root) => path.join(root, '/'));
  return {
    check: (claim, { sha256, job }, company) =>
      checkContent(inbox, claim, sha256, company, job.kind === 'reconcile' || job.repeat),
    end(claim, { note, ...end }) {
      if (!note) return endClaim(inbox, claim, end);
      // People know the file by the name it was dropped under.
      const named = note.text.replaceAll(claim.file, claim.name);
      const text = hidden.reduce((left, root) => left.replaceAll(root, ''), named);
      return endClaim(inbox, claim, { ...end, note: { ...note, text } });
    },
    ended: (claim) => endedFolder(inbox, claim),
    asSeen: (folder) => path.relative(inbox.dir, folder).replaceAll(path.sep, '/'),
  };
}

/** The summary of the first run, for a file that was not run again. */
export type RepeatedSummary = Partial<Summary> &
  Pick<Summary, 'run' | 'job' | 'status'> & { readonly repeated_of: string };

/** Puts a claim away after its run and returns the summary as it then stands. */
export async function endAfterRun(
  claims: Claims,
  claim: Claim,
  home: string,
  summary: Summary,
): Promise<{ readonly dir: string; readonly summary: Summary }> {
  const finished = summary.status === 'succeeded' || summary.status === 'partial';
  const dir = await claims.end(claim, {
    place: finished ? 'done' : 'failed',
    result: resultOf(summary),
    // A file of which no row is in is worth another try, with nothing in it changed.
    finished: finished && (rowsInPlace(summary.rows) > 0 || summary.rows.skipped > 0),
    ...(finished ? {} : { note: { name: 'ERROR.txt', text: stoppedText(claim, summary) } }),
  });
  return { dir, summary: (await moveReports(home, claim.run, dir)) ?? summary };
}

/** Puts a claim away that could not be run, or not to its end. `run`: the run that was begun. */
export async function endRefused(
  claims: Claims,
  claim: Claim,
  kind: RowsWord,
  reason: string,
  run?: string,
): Promise<string> {
  const what =
    run === undefined
      ? `${claim.name} was not ${WORDS[kind].done}, and nothing was sent.`
      : `The ${WORDS[kind].noun} of ${claim.name} (run ${run}) could not be brought to its end; some rows may be written.`;
  const next = `Correct what is said above and drop the file into ${claim.job}/ again: rows that are written already are left alone.`;
  const note = { name: 'ERROR.txt', text: `${what}\n\n${reason}\n\n${next}\n` } as const;
  return claims.end(claim, {
    place: 'failed',
    result: run === undefined ? 'refused' : 'stopped',
    finished: false,
    note,
  });
}

/** Puts a claim away whose content was run before. */
export async function endRepeated(
  claims: Claims,
  claim: Claim,
  home: string,
  first: FirstRun,
): Promise<{ readonly dir: string; readonly summary: RepeatedSummary }> {
  const earlier = await readRun(home, first.run).catch(() => undefined);
  const ended = await claims.ended({ job: claim.job, run: first.run });
  const reports = earlier && (await isFolder(earlier.reportDir)) ? earlier.reportDir : ended;
  const note = repeatedNote(claim, first, ended && claims.asSeen(ended));
  const dir = await claims.end(claim, { place: 'done', result: 'imported before', finished: false, note });
  const summary = reports === undefined ? undefined : await readSummary(reports).catch(() => undefined);
  const own = summary?.run === first.run ? summary : undefined;
  return { dir, summary: { run: first.run, job: claim.job, status: 'succeeded', ...own, repeated_of: first.run } };
}

/**
 * The claim was put away by an earlier delivery of its job that did not come to say so: its folder and summary, with
 * the places named in them made right. Undefined where it was not.
 */
export async function alreadyEnded(
  claims: Claims,
  claim: Claim,
  home: string,
): Promise<{ readonly dir: string; readonly summary?: Summary } | undefined> {
  const dir = (await isFolder(claim.dir)) ? undefined : await claims.ended(claim);
  if (dir === undefined) return undefined;
  const summary = await moveReports(home, claim.run, dir);
  return summary ? { dir, summary } : { dir };
}

/** What became of a file, for the name of its folder. */
function resultOf({ status, kind, rows }: Summary): string {
  if (status === 'braked') return 'stopped by a brake';
  if (status !== 'succeeded' && status !== 'partial') return 'stopped';
  const open = rowsForPerson(rows);
  if (kind === 'reconcile') return open > 0 || status === 'partial' ? `${open || 'something'} to look at` : 'compared';
  return open > 0 ? `${open} to correct` : 'imported';
}

/** Whether a run was begun in this data folder, so that it can be continued here. */
export async function isHere(home: string, run: string): Promise<boolean> {
  return stat(runFolder(home, run).request).then(
    (info) => info.isFile(),
    () => false,
  );
}

function stoppedText({ name, job }: Claim, summary: Summary): string {
  const { status, reason, run, rows, requests, dry_run: dryRun } = summary;
  const written = dryRun ? 0 : rows.created + rows.updated;
  const what =
    written > 0
      ? `${written} of ${rows.total} rows were written.`
      : requests.writes > 0
        ? 'Writing requests were sent; the reports say what for.'
        : 'Nothing was written.';
  const kind = summary.kind === 'reconcile' ? 'reconcile' : 'import';
  const anyway =
    kind === 'reconcile' && brakeStop(summary) === 'plan'
      ? `have just that plan carried out with: rowferry runs approve ${run} --by NAME`
      : `have it run again with: rowferry enqueue ${kind} --job ${job} --file FILE --force`;
  const next =
    status === 'braked'
      ? `Check the file; if its numbers are meant, ${anyway}`
      : `When the cause is gone, drop the file into ${job}/ again: rows that are written already are left alone.`;
  const how = status === 'braked' ? 'A brake of the job stopped' : 'A fault stopped';
  return `${how} the ${WORDS[kind].noun} of ${name}. ${what}\n\n${reason ?? ''}\n\n${next}\nThe reports of run ${run} lie beside this note.\n`;
}

type RowsWord = 'import' | 'reconcile';

const WORDS: Readonly<Record<RowsWord, { readonly noun: string; readonly done: string }>> = {
  import: { noun: 'import', done: 'imported' },
  reconcile: { noun: 'reconciliation', done: 'reconciled' },
};

async function isFolder(dir: string): Promise<boolean> {
  return stat(dir).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

/**
 * After the reports of a run and its file were moved together to another folder: `run.json` and `summary.json` name their
 * new places. Can be called again. Returns the summary; undefined where the folder holds none.
 */
export async function moveReports(home: string, run: string, to: string): Promise<Summary | undefined> {
  await change(runFolder(home, run).request, (request) => ({
    ...request,
    reportDir: to,
    ...(typeof request['file'] === 'string' && { file: path.join(to, path.basename(request['file'])) }),
  }));
  await change(path.join(to, 'summary.json'), (summary) => {
    const source = summary['source'];
    if (typeof source !== 'object' || source === null || !('path' in source)) return summary;
    return { ...summary, source: { ...source, path: path.join(to, path.basename(String(source.path))) } };
  });
  reached('reports-moved');
  return readSummary(to);
}

/** Rewrites a JSON file in one step; one that is not there is left so. */
async function change(
  file: string,
  edit: (value: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    await writeFile(temporary, `${JSON.stringify(edit(JSON.parse(text)), null, 2)}\n`, { flush: true });
    await shareLikeFolder(temporary);
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}
