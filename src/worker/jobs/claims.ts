import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { LoadedJob } from '../../runs/job-file.js';
import { runFolder } from '../../runs/layout.js';
import { readRun, readSummary } from '../../runs/list.js';
import { brakeStop, rowsInPlace, type Summary } from '../../runs/present.js';
import type { Claim } from '../inbox/claim.js';
import { type ContentCheck, checkContent, type FirstRun, repeatedNote } from '../inbox/content.js';
import { type ClaimEnd, endClaim } from '../inbox/end.js';
import { moveReports } from './move-reports.js';

/** What the drop folder does for the run of a claimed file: the functions of `inbox/`, bound to one folder. */
export interface Claims {
  check(claim: Claim, job: LoadedJob, company: number): Promise<ContentCheck>;
  end(claim: Claim, end: ClaimEnd): Promise<string>;
  repeatedNote(claim: Claim, first: FirstRun): ClaimEnd['note'];
}

export function inboxClaims(inbox: string): Claims {
  return {
    check: (claim, { sha256, job }, company) =>
      checkContent(inbox, claim, sha256, company, job.kind === 'reconcile' || job.repeat),
    end: (claim, end) => endClaim(inbox, claim, end),
    repeatedNote: (claim, first) => repeatedNote(inbox, claim, first),
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
  // People know the file by the name it was dropped under.
  const text = `${what}\n\n${reason.replaceAll(claim.file, claim.name)}\n\n${next}\n`;
  return claims.end(claim, { place: 'failed', finished: false, note: { name: 'ERROR.txt', text } });
}

/** Puts a claim away whose content was run before. */
export async function endRepeated(
  claims: Claims,
  claim: Claim,
  home: string,
  first: FirstRun,
): Promise<{ readonly dir: string; readonly summary: RepeatedSummary }> {
  const earlier = await readRun(home, first.run).catch(() => undefined);
  const beside = path.join(path.dirname(path.dirname(path.dirname(claim.dir))), 'done', claim.job, first.run);
  const reports = earlier && (await isFolder(earlier.reportDir)) ? earlier.reportDir : beside;
  const note = claims.repeatedNote(claim, first);
  const dir = await claims.end(claim, { place: 'done', finished: false, ...(note && { note }) });
  const summary = await readSummary(reports).catch(() => undefined);
  const own = summary?.run === first.run ? summary : undefined;
  return { dir, summary: { run: first.run, job: claim.job, status: 'succeeded', ...own, repeated_of: first.run } };
}

/**
 * The claim was put away by an earlier delivery of its job that did not come to say so: its folder and summary, with
 * the places named in them made right. Undefined where it was not.
 */
export async function alreadyEnded(
  claim: Claim,
  home: string,
): Promise<{ readonly dir: string; readonly summary?: Summary } | undefined> {
  if (await isFolder(claim.dir)) return undefined;
  const inbox = path.dirname(path.dirname(path.dirname(claim.dir)));
  for (const place of ['done', 'failed']) {
    const dir = path.join(inbox, place, claim.job, claim.run);
    if (!(await isFolder(dir))) continue;
    const summary = await moveReports(home, claim.run, dir);
    return summary ? { dir, summary } : { dir };
  }
  return undefined;
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
